//! `[bridge.NAME]`: ports that are one Ethernet network.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use wire::MacAddr;

use super::bridge_behind;
use super::bridge_controller::{self, Controller, Datapath, Protocol};
use super::bridge_evpn::Evpn;
use super::bridge_rstp::{self, Rstp};
use super::bridge_snooping::{self, FixedGroup, RouterPort, Snooping};
use super::bridge_tables::{self, FlowTable};
use super::export::ExportName;
use super::name::name_field;
use super::port::{Port, Ports, check_exists};
use super::port_export;
use super::port_kind::PortKind;
use super::port_name::PortName;
use super::xconnect::PortPair;
use super::{Command, Config, Object};
use crate::config::declare::{Declared, as_field, flat, object};
use crate::config::field::{duration_text, word_field};
use crate::config::host::Host;
use crate::config::listed::{Listed, row_mut};
use crate::config::order::{Flat, Order};
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;
use crate::config::write::Fields;

/// Split-horizon groups there are.
pub(crate) const MAX_GROUP: u16 = 63;
/// Highest number of a port of a bridge of flows, but for that of its own.
const MAX_NUMBER: u16 = 0xfeff;
/// The number of a bridge's own port.
const LOCAL: u16 = 0xfffe;
/// Longest that a station may be remembered.
const MAX_AGEING: Duration = Duration::from_secs(2 * 3600);

name_field! {
    /// A bridge's name.
    BridgeName = "a bridge name" of "bridge"
}

word_field! {
    /// Who says where a bridge's frames go.
    BridgeMode {
        /// The bridge itself, by the stations that it has heard.
        Learning = "learning",
        /// Flows, as controllers put them in by OpenFlow.
        Flow = "flow",
    }
}

word_field! {
    /// What a bridge of flows does before anybody has told it anything, and when no controller is
    /// left.
    FailMode {
        /// What a learning one does.
        Standalone = "standalone",
        /// Nothing.
        Secure = "secure",
    }
}

object! {
    /// What may be done: by a bridge, and by a port in it; what is off for the bridge is off for
    /// all
    #[derive(Copy)]
    pub struct Flags {
        /// Stations are learned
        pub learn: bool = true,
        /// Frames are forwarded
        pub forward: bool = true,
        /// Frames to stations that are not known are sent everywhere
        pub flood_unknown: bool = true,
        /// Broadcasts and multicasts are sent everywhere
        pub flood_groups: bool = true,
    }
}
flat!(Flags);

object! {
    /// A port in a bridge
    pub struct Member {
        /// Which port
        pub port: PortName as "lan1",
        /// Ports of the same split-horizon group do not reach each other
        pub group: Option<u16> as "1" [1..=MAX_GROUP] = None,
        /// Its number in a bridge of flows; else one that is free. 65534 is the bridge's own
        pub number: Option<u16> as "1" [1..=LOCAL] = None,
        /// It does not reach other isolated ports
        pub isolated: bool = false,
        /// Most frames (of each worker) that are flooded from it; 0: any number
        pub storm_pps: u32 = 0,
        /// Whether a router that forwards groups is behind it, with `snooping`
        pub multicast_router: RouterPort = RouterPort::Learned,
        /// Whether it is not asked whether others stay when it leaves a group, with `snooping`
        pub fast_leave: bool = false,
        /// Whether it takes part in the spanning tree, with `rstp`; else it always forwards
        pub spanning: bool = true,
        /// What the way by it costs there, with `rstp`; by its speed when left out
        pub path_cost: Option<u32> as "20000" [1..=200_000_000] = None,
        /// The lower, the sooner it is chosen, by sixteens, with `rstp`
        pub port_priority: u8 [0..=240] = 128,
        /// Its number in the spanning tree, with `rstp`; one that is free when left out
        pub port_number: Option<u16> as "1" [1..=4_095] = None,
        /// Whether it begins as one that leads to hosts alone, with `rstp`
        pub admin_edge: bool = false,
        /// Whether it is found out that it leads to hosts alone, with `rstp`
        pub auto_edge: bool = true,
        /// Whether no more than one other bridge is behind it, with `rstp`
        pub point_to_point: bool = true,
        /// Set, it finds out anew whether its neighbour speaks the rapid protocol, with `rstp`
        pub mcheck: bool = false,
        /// What it may do
        pub flags: Flags = Flags::default(),
    }
}
as_field!(Member or port: PortName => Member::new);

object! {
    /// A station's address that need not be heard
    #[derive(Copy)]
    pub struct BoundAddress {
        /// The address
        pub address: IpAddr as "10.0.0.9",
        /// The station that has it
        pub mac: MacAddr as "02:00:00:00:00:09",
        /// Of an IPv6 address, whether the station is a router
        pub router: bool = false,
    }
}
as_field!(BoundAddress table);

object! {
    /// Ports that are one Ethernet network
    pub struct Bridge {
        /// Its ports
        pub ports: Vec<Member> as "lan1" = Vec::new(),
        /// Who has which address, beside what is heard
        pub bindings: Vec<BoundAddress> as "10.0.0.9 02:00:00:00:00:09" = Vec::new(),
        /// Whether it answers ARP requests for stations that it knows, and does not flood them then
        pub answer_arp: bool = false,
        /// The same with neighbour solicitations
        pub answer_nd: bool = false,
        /// How long a station is remembered that is not heard any more
        pub ageing: Duration as "30s" = Duration::from_secs(300),
        /// Most stations it remembers
        pub mac_limit: u32 [1..=16_777_216] = 16_384,
        /// How a routing daemon tells it of stations beyond its tunnel, and is told of its own; not
        /// at all when left out
        pub evpn: Option<Box<Evpn>> as "on" = None,
        /// How it listens to who listens to groups, which go to those alone; not at all when left
        /// out
        pub snooping: Option<Box<Snooping>> as "on" = None,
        /// How it agrees with other bridges on one way between any two of them; not at all when
        /// left out
        pub rstp: Option<Box<Rstp>> as "on" = None,
        /// The bridge whose spanning tree its ports are part of: the one whose VLAN it is
        pub tree: Option<BridgeName> as "lan" = None,
        /// The bridge of flows whose ports its ports are, or VLANs of these: what flows there leave
        /// to NORMAL goes on here
        pub behind: Option<BridgeName> as "lan" = None,
        /// Groups that somebody listens to and does not tell, with `snooping`
        pub groups: Vec<FixedGroup> as "239.1.1.1 lan1" = Vec::new(),
        /// What all its ports may do
        pub flags: Flags = Flags::default(),
        /// Who is told of what its ports receive
        pub export: Vec<ExportName> as "flows" = Vec::new(),
        /// Who is told of what its flows sample, with `mode = "flow"`
        pub samples: Vec<ExportName> as "sampled" = Vec::new(),
        /// Who says where frames go
        pub mode: BridgeMode = BridgeMode::Learning,
        /// Where OpenFlow's tools find it, with `mode = "flow"`
        pub management: Option<PathBuf> as "/var/run/openvswitch/lan.mgmt" = None,
        /// What it does while nobody tells it anything, with `mode = "flow"`
        pub fail_mode: FailMode = FailMode::Standalone,
        /// Who tells it by OpenFlow, with `mode = "flow"`
        pub controllers: Vec<Controller> as "tcp:127.0.0.1:6653" = Vec::new(),
        /// The versions of OpenFlow that it agrees to, with `mode = "flow"`; all when left out
        pub protocols: Vec<Protocol> as "OpenFlow13" = Vec::new(),
        /// What is said of its tables, with `mode = "flow"`
        pub tables: Vec<FlowTable> as "0 name acl" = Vec::new(),
        /// The number by which they know it; one of its own when left out
        pub datapath: Option<Datapath> as "0000020000000001" = None,
    }
}

impl Flags {
    /// What both allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            learn: self.learn && other.learn,
            forward: self.forward && other.forward,
            flood_unknown: self.flood_unknown && other.flood_unknown,
            flood_groups: self.flood_groups && other.flood_groups,
        }
    }
}

impl Bridge {
    /// The port's place in it.
    pub fn member(&self, port: &PortName) -> Option<&Member> {
        self.ports.iter().find(|member| member.port == *port)
    }

    /// Whether flows say where its frames go.
    pub fn has_flows(&self) -> bool {
        self.mode == BridgeMode::Flow
    }

    fn check_flows(&self, name: &BridgeName, ports: &Ports, report: &mut Report) {
        let is_own = |member: &Member| {
            let port = ports.get(&member.port).filter(|_| self.has_flows());
            port.is_some_and(|port| port.kind == PortKind::Bvi)
        };
        let number = |member| if is_own(member) { Some(LOCAL) } else { member.number };
        let numbers = self.ports.iter().map(number);
        for (index, number) in numbers.clone().enumerate() {
            let Some(number) = number else { continue };
            if number > MAX_NUMBER && number != LOCAL {
                let message = format!("no port can have the number {number}");
                let field = format!("bridge.{name}.ports[{index}].number");
                report.push(Problem::new(field, message).expected("1 to 65279, or 65534"));
            }
            if numbers.clone().take(index).any(|other| other == Some(number)) {
                let message = format!("the number {number} is another port's");
                let field = format!("bridge.{name}.ports[{index}].number");
                report.push(Problem::new(field, message).expected("each number once"));
            }
        }
        if !self.has_flows() && !self.samples.is_empty() {
            let message = format!("{name} is no bridge of flows, which `samples` is for");
            let problem = Problem::new(format!("bridge.{name}.samples"), message);
            report.push(problem.expected("`samples` with `mode = \"flow\"`"));
        }
        if !self.has_flows() && self.management.is_some() {
            let message = format!("{name} is no bridge of flows, which `management` is for");
            let problem = Problem::new(format!("bridge.{name}.management"), message);
            report.push(problem.expected("`management` with `mode = \"flow\"`"));
        }
    }

    /// Whether it answers for an address, if it knows who has it.
    pub fn answers_for(&self, address: IpAddr) -> bool {
        if address.is_ipv4() { self.answer_arp } else { self.answer_nd }
    }
}

impl BoundAddress {
    fn check(self, field: &str, report: &mut Report) {
        let Self { address, mac, router } = self;
        let is_broadcast = address == IpAddr::V4(Ipv4Addr::BROADCAST);
        if address.is_unspecified() || address.is_multicast() || is_broadcast {
            let problem = Problem::new(field, format!("{address} is not the address of one host"));
            report.push(problem.expected("the address of one host"));
        }
        if !mac.is_unicast() {
            let problem = Problem::new(field, format!("{mac} is not the address of one station"));
            report.push(problem.expected("the address of one station"));
        }
        if router && address.is_ipv4() {
            let message = format!("ARP does not tell whether {address} is a router's");
            report.push(Problem::new(field, message).expected("`router` with an IPv6 address"));
        }
    }
}

/// Who has a port already.
enum User<'a> {
    Pair(&'a PortPair),
    Bridge(&'a BridgeName),
}

impl User<'_> {
    fn shares(&self, bridge: &BridgeName, config: &Config) -> bool {
        matches!(self, Self::Bridge(other) if bridge_behind::may_share(config, bridge, other))
    }
}

impl fmt::Display for User<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pair(pair) => write!(f, "the xconnect {pair}"),
            Self::Bridge(name) => write!(f, "the bridge {name}"),
        }
    }
}

impl Row for Bridge {
    const KIND: &'static str = "bridge";
}

/// Bridges by name.
pub type Bridges = Table<BridgeName, Bridge>;

impl Listed for Bridge {
    type Key = BridgeName;

    const IS_LIST: bool = true;
}

impl Object for Bridges {
    const MORE: &'static [Command] = &[
        Command::of::<Join>(),
        Command::of::<Leave>(),
        Command::of::<Bind>(),
        Command::of::<Unbind>(),
    ];

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let mut used: HashMap<&PortName, User<'_>> = HashMap::new();
        for (pair, _) in config.xconnects.iter() {
            used.extend(pair.ports().map(|port| (port, User::Pair(pair))));
        }
        for (name, bridge) in self.iter() {
            let second = Duration::from_secs(1);
            if !(second..=MAX_AGEING).contains(&bridge.ageing) {
                let message = format!("stations remembered for {}", duration_text(bridge.ageing));
                let problem = Problem::new(format!("bridge.{name}.ageing"), message);
                report.push(problem.expected("\"1s\" to \"2h\""));
            }
            if let Some(evpn) = &bridge.evpn {
                evpn.check(name, bridge, config, report);
            }
            for (index, binding) in bridge.bindings.iter().enumerate() {
                let field = format!("bridge.{name}.bindings[{index}]");
                binding.check(&field, report);
                if bridge.bindings[..index].iter().any(|it| it.address == binding.address) {
                    let message = format!("{} is listed twice", binding.address);
                    report.push(Problem::new(&field, message).expected("each address once"));
                }
            }
            bridge.check_flows(name, &config.ports, report);
            port_export::check(&format!("bridge.{name}.export"), &bridge.export, config, report);
            let field = format!("bridge.{name}.samples");
            port_export::check_samples(&field, &bridge.samples, config, report);
            bridge_controller::check(name, bridge, report);
            bridge_snooping::check(name, bridge, report);
            bridge_rstp::check(name, bridge, self, report);
            bridge_behind::check(name, bridge, config, report);
            bridge_tables::check(name, bridge, report);
            for (index, member) in bridge.ports.iter().enumerate() {
                let (field, port) = (format!("bridge.{name}.ports[{index}]"), &member.port);
                check_exists(&field, port, &config.ports, report);
                if let Some(other) = used.get(port).filter(|it| !it.shares(name, config)) {
                    let problem = Problem::new(&field, format!("{port} is in {other} already"));
                    report.push(problem.expected("each port in one bridge or xconnect"));
                }
                // Of two that share it, the one behind flows is the one that others may not be.
                if bridge.behind.is_some() || !used.contains_key(port) {
                    used.insert(port, User::Bridge(name));
                }
                if config.ports.get(port).is_some_and(|port| port.kind.is_point_to_point()) {
                    let message = format!("{port} carries IP packets, not Ethernet frames");
                    report.push(
                        Problem::new(&field, message)
                            .expected("a port that carries Ethernet frames"),
                    );
                }
                if config.ports.get(port).is_some_and(|port| port.kind.is_for_copies()) {
                    let message = format!("{port} carries a mirror's copies alone");
                    report.push(
                        Problem::new(&field, message)
                            .expected("a port that carries Ethernet frames"),
                    );
                }
                let own = |it: &&Port| !matches!(it.kind, PortKind::Bvi);
                if let Some(why) = config.ports.get(port).filter(own).and_then(Port::why_it_routes)
                {
                    let message = format!("{port} {why} and is in a bridge");
                    report.push(
                        Problem::new(&field, message)
                            .expected("a port that either routes or is bridged")
                            .help("a port of the kind `bvi` in the bridge may have addresses"),
                    );
                }
            }
        }
    }
}

object! {
    /// Take a port into a bridge, or change what it may do there
    struct Join {
        /// The bridge
        name: BridgeName as "lan",
        /// The port
        member: Flat<Member>,
    }
}

impl Order for Join {
    const NOUN: &'static str = "bridge";
    const VERB: &'static str = "join";
    const FIRST: usize = 2;

    fn before(&self, config: &Config) -> Option<Fields> {
        let member = config.bridges.get(&self.name)?.member(&self.member.0.port)?;
        Some(member.write(Fields::new()))
    }

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let (bridge, Flat(member)) = (row_mut(&mut config.bridges, &self.name)?, self.member);
        match bridge.ports.iter_mut().find(|other| other.port == member.port) {
            Some(place) => *place = member,
            None => bridge.ports.push(member),
        }
        Ok(())
    }
}

object! {
    /// Take a port out of its bridge
    struct Leave {
        /// The bridge
        name: BridgeName as "lan",
        /// The port
        port: PortName as "lan1",
    }
}

impl Order for Leave {
    const NOUN: &'static str = "bridge";
    const VERB: &'static str = "leave";
    const FIRST: usize = 2;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let Self { name, port } = self;
        let bridge = row_mut(&mut config.bridges, &name)?;
        if bridge.member(&port).is_none() {
            let message = format!("{port} is not in bridge {name}");
            return Err(Problem::new(format!("bridge.{name}.ports"), message));
        }
        bridge.ports.retain(|member| member.port != port);
        Ok(())
    }
}

object! {
    /// Tell a bridge that answers ARP or ND who has an address
    struct Bind {
        /// The bridge
        name: BridgeName as "lan",
        /// The address
        bound: Flat<BoundAddress>,
    }
}

impl Order for Bind {
    const NOUN: &'static str = "bridge";
    const VERB: &'static str = "bind";
    const FIRST: usize = 3;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let (bridge, Flat(bound)) = (row_mut(&mut config.bridges, &self.name)?, self.bound);
        bridge.bindings.retain(|binding| binding.address != bound.address);
        bridge.bindings.push(bound);
        Ok(())
    }
}

object! {
    /// Forget who has an address, and learn it again
    struct Unbind {
        /// The bridge
        name: BridgeName as "lan",
        /// The address
        address: IpAddr as "10.0.0.9",
    }
}

impl Order for Unbind {
    const NOUN: &'static str = "bridge";
    const VERB: &'static str = "unbind";
    const FIRST: usize = 2;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let Self { name, address } = self;
        let bridge = row_mut(&mut config.bridges, &name)?;
        if bridge.bindings.iter().all(|binding| binding.address != address) {
            let message = format!("{address} is not bound in bridge {name}");
            return Err(Problem::new(format!("bridge.{name}.bindings"), message));
        }
        bridge.bindings.retain(|binding| binding.address != address);
        Ok(())
    }
}
