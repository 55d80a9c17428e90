//! Bonds: which members carry, as their links and the other end say, and what is told of it.
//!
//! ```text
//!  links of members ─┐
//!  LACP heard ───────┼─▶ look, 100 times a second ─▶ who carries ─▶ rows, the bond's link
//!  time ─────────────┘                           └─▶ LACP said; a new member: addresses announced
//! ```
//! A bond has the MAC of its first member, or the one that it is given. With another first member
//! it begins anew; whatever else changes, those that carry go on.

mod machine;

use crate::core::Core;
use crate::interfaces::{Link, OpenPort};
use crate::part::{Hears, Part};
use control::config::objects::port::PortName;
use control::config::objects::port_kind::PortKind;
use control::config::objects::port_kind::bond::{
    Bond as Config, BondHash, BondMode, LacpActivity, LacpRate,
};
use control::engine::ApplyError;
use control::view;
use machine::{Machine, Own};
use nodes::tables::{
    BondHash as Hash, BondMember, BondWays, Interface, InterfaceId, LacpHeard, Link as Stands, Mode,
};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Instant;
use wire::MacAddr;
use wire::lacp::state;

/// Between two looks at the links of members.
const LOOK_PERIOD_NS: u64 = 10_000_000;
/// The priority of all ports.
const PORT_PRIORITY: u16 = 0x8000;

/// See the module.
#[derive(Default)]
pub(crate) struct Bonds {
    bonds: BTreeMap<PortName, Bond>,
    /// When links are looked at next, on the core's clock.
    next_look_ns: u64,
}

/// What is known of a bond.
struct Bond {
    config: Config,
    /// Its members that are there, by the numbers of their interfaces, and whether they are up.
    links: BTreeMap<u16, Link>,
    lacp: Option<Machine>,
    /// The members that carry what it sends, and those that take in what is sent to it.
    carrying: Vec<u16>,
    collecting: BTreeSet<u16>,
    failovers: u64,
}

/// LACP numbers ports from 1.
fn number(interface: u16) -> u16 {
    interface + 1
}

impl Bond {
    fn new(config: &Config) -> Self {
        Self {
            config: config.clone(),
            links: BTreeMap::new(),
            lacp: None,
            carrying: Vec::new(),
            collecting: BTreeSet::new(),
            failovers: 0,
        }
    }

    /// Members that are up, in the order in which they are listed.
    fn up(&self, core: &Core) -> Vec<u16> {
        let ids = self.config.members.iter().filter_map(|member| core.ports.id_of(member));
        ids.filter(|id| self.links.get(id).is_some_and(|link| link.up)).collect()
    }

    /// Who carries now, and who takes in.
    fn judge(&self, core: &Core) -> (Vec<u16>, BTreeSet<u16>) {
        let up = self.up(core);
        match self.config.mode {
            BondMode::BalanceXor => (up.clone(), up.into_iter().collect()),
            BondMode::ActiveBackup => {
                let primary = self.config.primary.as_ref().and_then(|name| core.ports.id_of(name));
                let preferred = primary.into_iter().chain(self.carrying.first().copied());
                let stays = preferred.into_iter().find(|id| up.contains(id));
                let one: Vec<u16> = stays.or(up.first().copied()).into_iter().collect();
                (one.clone(), one.into_iter().collect())
            }
            BondMode::Lacp => {
                let known = |id: &u16| self.lacp.as_ref()?.member(number(*id));
                let carries = |id: &u16| known(id).is_some_and(machine::Member::distributes);
                let collects = |id: &u16| known(id).is_some_and(machine::Member::collects);
                let carrying = up.iter().copied().filter(carries).collect();
                (carrying, up.into_iter().filter(collects).collect())
            }
        }
    }

    /// What its members make of its link.
    fn link(&self) -> Link {
        let up = self.carrying.len() >= usize::from(self.config.min_links);
        let speeds = self.carrying.iter().filter_map(|id| self.links.get(id));
        let mbps = speeds.map(|link| link.mbps).fold(0, u32::saturating_add);
        Link { up, mbps: if up { mbps } else { 0 } }
    }

    /// What LACP says of it.
    fn own(&self, port: &OpenPort) -> Own {
        Own {
            system_priority: self.config.system_priority,
            system: port.mac,
            key: self.config.key.unwrap_or(number(port.id)),
            port_priority: PORT_PRIORITY,
            is_active: self.config.lacp == LacpActivity::Active,
            is_fast: self.config.lacp_rate == LacpRate::Fast,
        }
    }
}

impl Part for Bonds {
    fn follow(&mut self, core: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        if let Some(config) = core.ports.get(name).and_then(bond_of) {
            let bond = self.bonds.entry(name.clone()).or_insert_with(|| Bond::new(config));
            bond.config = config.clone();
        }
        Ok(())
    }

    fn close(&mut self, _: &mut Core, name: &PortName) -> Result<(), ApplyError> {
        self.bonds.remove(name);
        Ok(())
    }

    fn settle(&mut self, core: &mut Core) {
        self.look(core);
    }

    fn row(&self, core: &Core, name: &PortName, port: &OpenPort, row: &mut Interface) {
        if let Some(bond) = self.bonds.get(name) {
            row.link = Stands::Bond;
            // Fewer than it is to have carry nothing: whoever stands beside takes over.
            let members = if bond.link().up { bond.carrying.clone() } else { Vec::new() };
            let hash = match bond.config.hash {
                BondHash::Layer2 => Hash::Stations,
                BondHash::Layer34 => Hash::Flow,
            };
            row.put(Some(BondWays { members, hash }));
            return;
        }
        let owner = self.bonds.iter().find(|(_, bond)| bond.config.members.contains(name));
        if let Some((owner, bond)) = owner
            && let Some(id) = core.ports.id_of(owner)
        {
            row.mode = Mode::Member(BondMember {
                bond: InterfaceId(id),
                collects: bond.collecting.contains(&port.id),
                speaks: bond.config.mode == BondMode::Lacp,
            });
        }
    }

    fn turn(&mut self, core: &mut Core, _: Instant) -> bool {
        let now_ns = core.now_ns();
        if now_ns >= self.next_look_ns {
            self.next_look_ns = now_ns + LOOK_PERIOD_NS;
            self.look(core);
        }
        false
    }

    /// Whoever waits for a message of ours does not wait for a change of the configuration.
    fn beat(&mut self, core: &mut Core, _: Instant) {
        let now_ns = core.now_ns();
        for bond in self.bonds.values_mut() {
            speak(bond, core, now_ns);
        }
    }

    fn next_due_ns(&self) -> Option<u64> {
        (!self.bonds.is_empty()).then_some(self.next_look_ns)
    }
}

impl Hears<LacpHeard> for Bonds {
    fn hear(&mut self, core: &mut Core, heard: LacpHeard) {
        let of_it = |bond: &&mut Bond| bond.links.contains_key(&heard.interface);
        let bond = self.bonds.values_mut().find(of_it);
        if let Some(machine) = bond.and_then(|bond| bond.lacp.as_mut()) {
            machine.heard(core.now_ns(), number(heard.interface), &heard.pdu);
            self.next_look_ns = 0;
        }
    }
}

fn bond_of(port: &OpenPort) -> Option<&Config> {
    match &port.config.kind {
        PortKind::Bond(config) => Some(config),
        _ => None,
    }
}

/// Lets a bond's LACP go on, and says what it says.
fn speak(bond: &mut Bond, core: &mut Core, now_ns: u64) {
    let Some(machine) = &mut bond.lacp else { return };
    for (port, pdu) in machine.turn(now_ns) {
        let id = port - 1;
        let source = core.ports.of_id(id).map(|port| port.mac);
        if let Some(source) = source {
            core.neighborhood.send(id, &pdu.frame(source));
        }
    }
}

impl Bonds {
    /// Looks at links, lets LACP go on, and has rows say who carries from now on.
    fn look(&mut self, core: &mut Core) {
        let now_ns = core.now_ns();
        for (name, bond) in &mut self.bonds {
            let Some(port) = core.ports.get(name) else { continue };
            let is_up = port.config.up && !port.closing;
            let own = bond.own(port);
            let link = |member: &PortName| {
                let member = core.ports.get(member)?;
                let link = member.read_link();
                Some((member.id, Link { up: link.up && member.config.up && is_up, ..link }))
            };
            bond.links = bond.config.members.iter().filter_map(link).collect();
            if bond.config.mode == BondMode::Lacp {
                let machine = bond.lacp.get_or_insert_with(|| Machine::new(own));
                machine.set_own(own);
                let links = bond.links.iter().map(|(id, link)| (number(*id), link.up));
                machine.set_links(now_ns, &links.collect());
            } else {
                bond.lacp = None;
            }
            speak(bond, core, now_ns);
            let (carrying, collecting) = bond.judge(core);
            if (&carrying, &collecting) != (&bond.carrying, &bond.collecting) {
                let lost = bond.carrying.iter().any(|id| !carrying.contains(id));
                let moved = bond.config.mode == BondMode::ActiveBackup && !carrying.is_empty();
                bond.failovers += u64::from(lost);
                tell(core, name, &bond.carrying, &carrying);
                (bond.carrying, bond.collecting) = (carrying, collecting);
                core.touch_rows();
                if moved {
                    announce(core, name);
                }
            }
            let link = bond.link();
            if let Some(port) = core.ports.get_mut(name) {
                port.aggregate = link;
            }
        }
    }
}

/// Tells of members that carry no more, and of those that do now.
fn tell(core: &Core, bond: &PortName, before: &[u16], now: &[u16]) {
    let names = |ids: &[u16]| -> Vec<String> {
        ids.iter().filter_map(|id| Some(core.port_of(*id)?.0.to_string())).collect()
    };
    if before != now {
        let (before, carrying) = (names(before).join(" "), names(now).join(" "));
        tracing::info!(%bond, before, carrying, "other members of a bond carry");
    }
}

/// Another member carries: switches are told behind which port the bond's addresses are now, and
/// those of what stands on it.
fn announce(core: &mut Core, bond: &PortName) {
    let stands = |name: &PortName, port: &OpenPort| name == bond || port.parent() == Some(bond);
    let ports = core.ports.iter().filter(|(name, port)| stands(name, port) && port.carries());
    let mut announced: Vec<(u16, [u8; 6], IpAddr)> = Vec::new();
    for (_, port) in ports {
        let four = port.addresses().into_iter().map(|(own, _)| Ipv4Addr::from(own).into());
        let six = port.valid6.iter().map(|(own, _)| Ipv6Addr::from(*own).into());
        announced.extend(four.chain(six).map(|address| (port.id, port.mac, address)));
    }
    for (id, mac, address) in announced {
        core.neighborhood.announce(id, mac, address);
    }
}

impl Bonds {
    pub(crate) fn show(&self, core: &Core) -> Vec<view::Bond> {
        let of = |(name, bond): (&PortName, &Bond)| {
            let port = core.ports.get(name)?;
            let group = bond.lacp.as_ref().and_then(Machine::group);
            let system = |(priority, system, _): (u16, [u8; 6], u16)| {
                format!("{priority},{}", MacAddr(system))
            };
            Some(view::Bond {
                name: name.to_string(),
                mode: bond.config.mode.word().to_owned(),
                link_up: bond.link().up,
                carrying: bond.carrying.len() as u64,
                failovers: bond.failovers,
                partner: group.map(system),
                partner_key: group.map(|(.., key)| key),
                key: bond.lacp.as_ref().map(|_| bond.own(port).key),
                members: bond.config.members.iter().map(|it| bond.show(core, it)).collect(),
            })
        };
        self.bonds.iter().filter_map(of).collect()
    }
}

impl Bond {
    fn show(&self, core: &Core, name: &PortName) -> view::BondMember {
        let id = core.ports.id_of(name);
        let link_up = id.and_then(|id| self.links.get(&id)).is_some_and(|link| link.up);
        let member = id.and_then(|id| self.lacp.as_ref()?.member(number(id)));
        let carries = id.is_some_and(|id| self.carrying.contains(&id));
        let state = match (member, link_up) {
            (Some(member), true) => member.mux.word(),
            (_, false) => "down",
            (None, true) if carries => "carries",
            (None, true) => "stands by",
        };
        let words = |bits: u8| {
            let set = state::NAMES.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 != 0);
            set.map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
        };
        let partner = member.map(|it| it.partner).filter(|partner| partner.system != [0; 6]);
        view::BondMember {
            port: name.to_string(),
            link_up,
            state: state.to_owned(),
            heard: member.map(|it| it.receive.word().to_owned()),
            partner_port: partner.map(|it| it.port),
            partner_state: partner.map(|it| words(it.state)),
            lacp_received: member.map_or(0, |it| it.heard),
            lacp_sent: member.map_or(0, |it| it.sent),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::router::Router;
    use control::config::field::Field;
    use control::config::objects::port::PortName;
    use control::config::{Config, Host, Source, parse};
    use control::view;
    use nodes::tables::{BondMember, BondWays, Interface, LacpHeard, Mode};
    use std::sync::Arc;
    use wire::lacp::{End, Pdu};

    const PORTS: &str = "workers = { mode = \"single-thread\" }\n\
         memory = { buffers = 4096, hugepages = \"never\" }\n\
         port.p1 = { kind = \"memory\", mac = \"02:00:00:00:00:11\" }\n\
         port.v7 = { kind = \"vlan\", parent = \"b0\", vlan = 7, addresses = [\"10.7.0.1/24\"] }\n";

    fn text(second: &str, bond: &str) -> String {
        format!(
            "{PORTS}port.p2 = {{ kind = \"memory\", {second} }}\n\
             port.b0 = {{ kind = \"bond\", members = [\"p1\", \"p2\"], {bond} }}\n"
        )
    }

    fn config(second: &str, bond: &str) -> Config {
        parse(&Source::new("router.toml", text(second, bond)), &Host::any()).unwrap()
    }

    fn started(config: &Config) -> Router {
        let empty = Config::default();
        let mut router = Router::start(config, Arc::new(|| ())).unwrap();
        router.apply_all(&Config::diff(&empty, config)).unwrap();
        router
    }

    fn row<'a>(router: &'a Router, name: &str) -> &'a Interface {
        router.core.dataplane.interfaces().all().find(|row| row.name == name).unwrap()
    }

    /// The members that frames leave by, and those whose frames are taken in.
    fn carrying(router: &Router) -> (Vec<String>, Vec<&'static str>) {
        let ways = row(router, "b0").get::<BondWays>().unwrap();
        let name = |id: &u16| router.core.port_of(*id).unwrap().0.to_string();
        let collects = |name: &&str| {
            let mode = row(router, name).mode;
            matches!(mode, Mode::Member(BondMember { collects: true, .. }))
        };
        (
            ways.members.iter().map(name).collect(),
            ["p1", "p2"].into_iter().filter(collects).collect(),
        )
    }

    fn shown(router: &Router) -> view::Bond {
        router.parts.bonds.show(&router.core).remove(0)
    }

    fn link_is_up(router: &mut Router, name: &str) -> bool {
        let name = PortName::from_text(name).unwrap();
        // Links are looked at now and then.
        let period = std::time::Duration::from_millis(250);
        let end = std::time::Instant::now() + period;
        while std::time::Instant::now() < end {
            router.turn();
        }
        router.core.ports.get(&name).unwrap().link.up
    }

    #[test]
    fn members_carry_as_the_mode_says_and_the_bond_has_their_link_and_mac() {
        let both = config("", "mode = \"balance-xor\"");
        let mut router = started(&both);
        let members = || vec!["p1".to_owned(), "p2".to_owned()];
        assert_eq!(carrying(&router), (members(), vec!["p1", "p2"]));
        assert!(link_is_up(&mut router, "b0") && link_is_up(&mut router, "v7"));
        for name in ["b0", "v7"] {
            assert_eq!(row(&router, name).mac, [2, 0, 0, 0, 0, 0x11]);
        }
        // Of two that must carry, one is down: nothing leaves.
        let one = config("up = false", "mode = \"balance-xor\", min_links = 2");
        router.apply_all(&Config::diff(&both, &one)).unwrap();
        assert_eq!(carrying(&router), (Vec::new(), vec!["p1"]));
        assert!(!link_is_up(&mut router, "b0") && !link_is_up(&mut router, "v7"));
        assert_eq!((shown(&router).carrying, shown(&router).link_up), (1, false));
    }

    #[test]
    fn the_primary_carries_while_it_is_up_and_another_takes_over() {
        let backup = "mode = \"active-backup\", primary = \"p2\"";
        let (up, down) = (config("", backup), config("up = false", backup));
        let mut router = started(&up);
        assert_eq!(carrying(&router), (vec!["p2".to_owned()], vec!["p2"]));
        router.apply_all(&Config::diff(&up, &down)).unwrap();
        assert_eq!(carrying(&router), (vec!["p1".to_owned()], vec!["p1"]));
        assert_eq!(shown(&router).failovers, 1);
        router.apply_all(&Config::diff(&down, &up)).unwrap();
        assert_eq!(carrying(&router), (vec!["p2".to_owned()], vec!["p2"]));
        let states: Vec<_> = shown(&router).members.into_iter().map(|it| it.state).collect();
        assert_eq!(states, ["stands by", "carries"]);
        // Without a primary, who carries goes on.
        let free = "mode = \"active-backup\"";
        let (up, down) = (config("", free), config("up = false", free));
        let mut router = started(&down);
        router.apply_all(&Config::diff(&down, &up)).unwrap();
        assert_eq!(carrying(&router).0, ["p1"]);
    }

    #[test]
    fn with_lacp_nothing_is_carried_before_the_other_end_speaks_and_what_it_says_is_shown() {
        use crate::part::Hears;
        let mut router = started(&config("", "key = 9"));
        assert_eq!(carrying(&router), (Vec::new(), Vec::new()));
        assert!(!link_is_up(&mut router, "b0"));
        let name = PortName::from_text("p1").unwrap();
        let interface = router.core.ports.id_of(&name).unwrap();
        let actor = End { system: [6; 6], key: 3, port: 4, state: 0x05, ..End::default() };
        let pdu = Pdu { actor, partner: End::default() };
        router.parts.bonds.hear(&mut router.core, LacpHeard { interface, pdu });
        router.turn();
        let bond = shown(&router);
        assert_eq!(
            (bond.partner.as_deref(), bond.partner_key),
            (Some("0,06:06:06:06:06:06"), Some(3))
        );
        assert_eq!((bond.key, bond.members[0].state.as_str()), (Some(9), "waiting"));
        assert_eq!(bond.members[0].partner_state.as_deref(), Some("active aggregatable"));
        assert_eq!((bond.members[0].lacp_received, bond.members[1].lacp_received), (1, 0));
        assert!(bond.members.iter().all(|member| member.lacp_sent > 0));
        assert_eq!(bond.members[1].heard.as_deref(), Some("expired"));
        // Another setting leaves what is known of the other end; another first member does not.
        let (slow, fast) = (config("", "key = 9"), config("", "key = 9, lacp_rate = \"fast\""));
        router.apply_all(&Config::diff(&slow, &fast)).unwrap();
        assert_eq!(shown(&router).members[0].lacp_received, 1);
        let swapped = text("", "key = 9").replace("[\"p1\", \"p2\"]", "[\"p2\", \"p1\"]");
        let other = parse(&Source::new("router.toml", swapped), &Host::any()).unwrap();
        router.apply_all(&Config::diff(&fast, &other)).unwrap();
        assert_eq!(shown(&router).members[1].lacp_received, 0);
    }
}
