//! Bonds: which members carry, as their links and the other end say, and what is told of it.
//!
//! ```text
//!  links of members ─┐
//!  LACP heard ───────┼─▶ look, 100 times a second ─▶ who carries ─▶ rows, the bond's link
//!  time ─────────────┘                           └─▶ LACP said; a new member: addresses announced,
//!                                                    and stations of the bond's bridges
//! ```
//! A bond has the MAC of its first member, or the one that it is given. With another first member
//! it begins anew; whatever else changes, those that carry go on.

mod delays;
mod learning;
mod machine;
mod shares;

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
use delays::{Delayed, Delays};
use learning::Learning;
use machine::{Machine, Own, Receive};
use nodes::tables::{
    BondHash as Hash, BondMember, BondWays, Collects, Interface, InterfaceId, LacpHeard,
    Link as Stands, Mode,
};
use shares::Shares;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::{Duration, Instant};
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
    /// What of their links counts.
    delayed: Delayed,
    lacp: Option<Machine>,
    now: Carriers,
    /// Which stations switches are to be told of still.
    learning: Learning,
    /// Whose loads are evened, in balance-slb.
    shares: Option<Shares>,
    failovers: u64,
}

/// What members do.
#[derive(Clone, Default, PartialEq, Eq)]
struct Carriers {
    /// Those that carry what the bond sends, and those that take in what is sent to it.
    carrying: Vec<u16>,
    collecting: BTreeSet<u16>,
    /// The one that takes in what is for all, where the other end knows of no bond.
    active: Option<u16>,
    /// One carries though the other end does not speak LACP.
    falls_back: bool,
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
            delayed: Delayed::default(),
            lacp: None,
            now: Carriers::default(),
            learning: Learning::default(),
            shares: None,
            failovers: 0,
        }
    }

    /// Members that are up, in the order in which they are listed.
    fn up(&self, core: &Core) -> Vec<u16> {
        let ids = self.config.members.iter().filter_map(|member| core.ports.id_of(member));
        ids.filter(|id| self.links.get(id).is_some_and(|link| link.up)).collect()
    }

    /// Who carries now, and who takes in.
    fn judge(&self, core: &Core) -> Carriers {
        let up = self.up(core);
        // Who was it goes on as long as it is up.
        let first_of = |preferred: &[Option<u16>]| {
            let stays = preferred.iter().flatten().find(|id| up.contains(id));
            stays.or(up.first()).copied()
        };
        let one_of = |preferred: &[Option<u16>]| {
            let one = first_of(preferred);
            let (carrying, collecting) = (one.into_iter().collect(), one.into_iter().collect());
            Carriers { carrying, collecting, ..Carriers::default() }
        };
        let carried = self.now.carrying.first().copied();
        match self.config.mode {
            BondMode::BalanceXor => Carriers {
                collecting: up.iter().copied().collect(),
                carrying: up,
                ..Carriers::default()
            },
            BondMode::BalanceSlb => Carriers {
                active: first_of(&[self.now.active]),
                collecting: up.iter().copied().collect(),
                carrying: up,
                falls_back: false,
            },
            BondMode::ActiveBackup => {
                let primary = self.config.primary.as_ref().and_then(|name| core.ports.id_of(name));
                one_of(&[primary, carried])
            }
            BondMode::Lacp => {
                let known = |id: &u16| self.lacp.as_ref()?.member(number(*id));
                let carries = |id: &u16| known(id).is_some_and(machine::Member::distributes);
                let collects = |id: &u16| known(id).is_some_and(machine::Member::collects);
                let is_silent =
                    |id: &u16| known(id).is_some_and(|it| it.receive == Receive::Defaulted);
                let agreed: Vec<u16> = up.iter().copied().filter(carries).collect();
                // Once it has, one goes on until both ends agree of others.
                let falls_back = self.config.fallback
                    && agreed.is_empty()
                    && (self.now.falls_back || up.iter().all(is_silent));
                if falls_back && !up.is_empty() {
                    return Carriers { falls_back, ..one_of(&[carried]) };
                }
                Carriers {
                    carrying: agreed,
                    collecting: up.iter().copied().filter(collects).collect(),
                    ..Carriers::default()
                }
            }
        }
    }

    /// Which frames of a member are the bond's.
    fn collects(&self, member: u16) -> Collects {
        match self.config.mode {
            _ if !self.now.collecting.contains(&member) => Collects::Nothing,
            BondMode::BalanceSlb if self.now.active == Some(member) => Collects::StationsAndGroups,
            BondMode::BalanceSlb => Collects::Stations,
            BondMode::BalanceXor | BondMode::ActiveBackup | BondMode::Lacp => Collects::All,
        }
    }

    /// By which members frames leave.
    fn ways(&self) -> BondWays {
        // Fewer than it is to have carry nothing: whoever stands beside takes over.
        let members = if self.link().up { self.now.carrying.clone() } else { Vec::new() };
        let by = |hash: Hash| BondWays { members: members.clone(), hash, loads: None };
        match (self.config.mode, self.config.hash) {
            (BondMode::BalanceSlb, _) => match &self.shares {
                Some(shares) => shares.ways(&members),
                None => BondWays::by_source(&members),
            },
            (_, BondHash::Layer2) => by(Hash::Stations),
            (_, BondHash::Layer34) => by(Hash::Flow),
        }
    }

    /// Evens what its members carry, if it is to; whether other members carry something now.
    fn evens(&mut self, workers: usize, now_ns: u64) -> bool {
        let period_ns = self.config.rebalance.as_nanos() as u64;
        if self.config.mode != BondMode::BalanceSlb || period_ns == 0 {
            return self.shares.take().is_some();
        }
        let is_new = self.shares.is_none();
        let shares = self.shares.get_or_insert_with(|| Shares::new(workers, now_ns + period_ns));
        shares.look(now_ns, period_ns, &self.now.carrying) || is_new
    }

    /// What its members make of its link.
    fn link(&self) -> Link {
        let up = self.now.carrying.len() >= usize::from(self.config.min_links);
        let speeds = self.now.carrying.iter().filter_map(|id| self.links.get(id));
        let mbps = speeds.map(|link| link.mbps).fold(0, u32::saturating_add);
        Link { up, mbps: if up { mbps } else { 0 } }
    }

    fn delays(&self) -> Delays {
        let nanoseconds = |time: Duration| time.as_nanos() as u64;
        let Config { up_delay, down_delay, .. } = self.config;
        Delays { up_ns: nanoseconds(up_delay), down_ns: nanoseconds(down_delay) }
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
            row.put(Some(bond.ways()));
            return;
        }
        let owner = self.bonds.iter().find(|(_, bond)| bond.config.members.contains(name));
        if let Some((owner, bond)) = owner
            && let Some(id) = core.ports.id_of(owner)
        {
            row.mode = Mode::Member(BondMember {
                bond: InterfaceId(id),
                collects: bond.collects(port.id),
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
            let members = bond.config.members.iter().filter_map(|name| core.ports.get(name));
            let links: Vec<_> = members.map(|it| (it.id, it.read_link(), it.config.up)).collect();
            let seen = links.iter().map(|(id, link, _)| (*id, link.up)).collect();
            bond.delayed.look(now_ns, &seen, bond.delays());
            // What somebody configured counts at once.
            let counts = |&(id, link, is_on): &(u16, Link, bool)| {
                (id, Link { up: bond.delayed.is_up(id) && is_on && is_up, ..link })
            };
            bond.links = links.iter().map(counts).collect();
            if bond.config.mode == BondMode::Lacp {
                let machine = bond.lacp.get_or_insert_with(|| Machine::new(own));
                machine.set_own(own);
                let links = bond.links.iter().map(|(id, link)| (number(*id), link.up));
                machine.set_links(now_ns, &links.collect());
            } else {
                bond.lacp = None;
            }
            speak(bond, core, now_ns);
            let now = bond.judge(core);
            if now == bond.now {
                // Workers know by now who carries.
                bond.learning.go_on(core, name);
            } else {
                let lost = bond.now.carrying.iter().any(|id| !now.carrying.contains(id));
                let mode = bond.config.mode;
                let is_told =
                    matches!(mode, BondMode::ActiveBackup | BondMode::BalanceSlb) || now.falls_back;
                bond.failovers += u64::from(lost);
                tell(core, name, &bond.now.carrying, &now.carrying);
                bond.now = now;
                core.touch_rows();
                if is_told && !bond.now.carrying.is_empty() {
                    announce(core, name);
                    bond.learning.begin();
                }
            }
            let workers = core.workers();
            if bond.evens(workers, now_ns) {
                core.touch_rows();
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
                carrying: bond.now.carrying.len() as u64,
                failovers: bond.failovers,
                shares_moved: bond.shares.as_ref().map_or(0, |shares| shares.moves),
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
        let carries = id.is_some_and(|id| self.now.carrying.contains(&id));
        let is_active = id.is_some() && id == self.now.active;
        let state = match (member, link_up) {
            (Some(_), true) if carries && self.now.falls_back => "carries",
            (Some(member), true) => member.mux.word(),
            (_, false) => "down",
            (None, true) if is_active => "active",
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
mod tests;
