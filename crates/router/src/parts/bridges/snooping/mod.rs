//! Bridges that know who listens to groups: heard by IGMP and MLD, or configured; and asked for,
//! where nobody else does (RFC 4541).
//!
//! ```text
//!  configuration ─┐                       ┌─ twenty times a second, and before it is shown, what changed ─▶ workers
//!  workers' punts ┴▶ Family, IPv4 and IPv6 ┤
//!  clock ──────────▶ of each bridge        └─ questions ─▶ the bridge's ports
//! ```

mod family;
mod questions;
mod show;

use crate::core::Core;
use control::config::objects::bridge::{Bridge, BridgeName};
use control::config::objects::bridge_snooping::{FixedGroup, RouterPort, Snooping, Unknown};
use control::config::objects::port::PortName;
use control::config::objects::port_kind::PortKind;
use family::{Ask, Behind, Family, Rules};
use nodes::tables::{BridgeId, GroupsSaid, Heeding, Link, Listeners, is_of_link};
use questions::Asker;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};
use wire::listeners::{Seen, look};
use wire::{MacAddr, ipv6};

/// Between two looks at what time has done, and two publications.
const PERIOD: Duration = Duration::from_millis(50);

/// All bridges that know who listens.
#[derive(Default)]
pub(super) struct Snoopings {
    bridges: BTreeMap<BridgeId, Listening>,
    changed: bool,
    next: Option<Instant>,
}

/// One that does.
struct Listening {
    name: BridgeName,
    config: Snooping,
    members: HashMap<PortName, MemberRules>,
    fixed: Vec<FixedGroup>,
    families: [Family; 2],
    /// Questions sent, of each family.
    asked: [u64; 2],
}

#[derive(Clone, Copy)]
struct MemberRules {
    router: RouterPort,
    fast_leave: bool,
}

impl Snoopings {
    /// Makes a bridge listen as its configuration says, or no longer.
    pub(super) fn set(
        &mut self,
        core: &Core,
        id: BridgeId,
        name: &BridgeName,
        config: Option<&Bridge>,
    ) {
        self.changed = true;
        let wanted = config.and_then(|config| Some((config, config.snooping.as_deref()?)));
        let Some((config, snooping)) = wanted else {
            self.bridges.remove(&id);
            return;
        };
        let members = config.ports.iter().map(|member| {
            let (router, fast_leave) = (member.multicast_router, member.fast_leave);
            (member.port.clone(), MemberRules { router, fast_leave })
        });
        let had = self.bridges.remove(&id);
        let (mut families, asked) =
            had.map_or_else(Default::default, |had| (had.families, had.asked));
        families.iter_mut().for_each(|family| family.ask_soon(core.now_ns()));
        let listening = Listening {
            name: name.clone(),
            config: snooping.clone(),
            members: members.collect(),
            fixed: config.groups.clone(),
            families,
            asked,
        };
        self.bridges.insert(id, listening);
    }

    /// Interfaces have the numbers that they have now: what was behind those that are gone is
    /// forgotten.
    pub(super) fn published(&mut self, core: &Core) {
        for (id, listening) in &mut self.bridges {
            let there: BTreeSet<u16> =
                core.dataplane.interfaces().members(*id).iter().copied().collect();
            listening.families.iter_mut().for_each(|family| {
                family.keep_ports(|port| there.contains(&port));
            });
            self.changed = true;
        }
    }

    /// A link is back: who is behind it now is asked.
    pub(super) fn link_up(&mut self, core: &Core, port: &PortName) {
        for listening in self.bridges.values_mut().filter(|it| it.members.contains_key(port)) {
            listening.families.iter_mut().for_each(|family| family.ask_soon(core.now_ns()));
        }
    }

    /// A link is gone, and who was behind it.
    pub(super) fn link_down(&mut self, core: &Core, port: &PortName) {
        let Some(port) = core.ports.get(port) else { return };
        let rows: BTreeSet<u16> = port.rows().collect();
        for listening in self.bridges.values_mut() {
            listening.families.iter_mut().for_each(|family| {
                family.keep_ports(|port| !rows.contains(&port));
            });
        }
    }

    /// Takes in what somebody said.
    pub(super) fn hear(&mut self, core: &mut Core, said: GroupsSaid) {
        let GroupsSaid { bridge, interface, packet } = said;
        if let Some(listening) = self.bridges.get_mut(&bridge) {
            listening.hear(core, bridge, interface, packet.bytes());
        }
        core.neighborhood.release_buffer(packet);
    }

    /// Lets time pass: forgets, asks, and tells workers.
    pub(super) fn turn(&mut self, core: &mut Core, now: Instant) {
        if self.next.is_some_and(|next| now < next) {
            return;
        }
        self.next = Some(now + PERIOD);
        for (id, listening) in &mut self.bridges {
            listening.turn(core, *id);
        }
        self.publish(core);
    }

    /// Workers get what changed, if anything did.
    fn publish(&mut self, core: &mut Core) {
        let families = self.bridges.values_mut().flat_map(|it| &mut it.families);
        let now_ns = core.now_ns();
        let changed = families.fold(false, |any, family| any | family.take_change(now_ns));
        if changed || self.changed {
            self.changed = false;
            core.dataplane.set_listeners(self.listeners(core));
        }
    }

    /// What workers are to know.
    fn listeners(&self, core: &Core) -> Listeners {
        let mut all = Listeners::default();
        for (id, listening) in &self.bridges {
            let routers = [0, 1].map(|which| listening.routers(core, &listening.families[which]));
            let heeding = |which: usize| Heeding {
                routers: routers[which].iter().copied().collect(),
                is_asked: listening.families[which].is_asked,
                floods_unknown: listening.config.unknown == Unknown::Flood,
            };
            all.bridges.insert(*id, [heeding(0), heeding(1)]);
            let own: Vec<u16> = own_stations(core, *id).collect();
            for (group, mut ports) in listening.groups(core) {
                ports.extend(&routers[usize::from(group.is_ipv6())]);
                // What neighbour discovery stands on: the router's own does not tell all of it.
                ports.extend(own.iter().filter(|_| is_of_link(group)));
                all.groups.insert((*id, group), ports.into_iter().collect());
            }
        }
        all
    }
}

/// The router's own stations in a bridge.
fn own_stations(core: &Core, id: BridgeId) -> impl Iterator<Item = u16> {
    let interfaces = core.dataplane.interfaces();
    let is_own = |id: &u16| interfaces.get(*id).is_some_and(|row| row.link == Link::Bridge);
    interfaces.members(id).iter().copied().filter(is_own)
}

impl Listening {
    fn hear(&mut self, core: &Core, bridge: BridgeId, interface: u16, frame: &[u8]) {
        let Seen::Said { source, message, .. } = look(frame) else { return };
        let Some((name, port)) = core.port_of(interface) else { return };
        let member = self.members.get(name).copied();
        let behind = Behind {
            port: interface,
            is_own: port.config.kind == PortKind::Bvi,
            learns_routers: member.is_none_or(|it| it.router == RouterPort::Learned),
            fast_leave: self.config.fast_leave || member.is_some_and(|it| it.fast_leave),
        };
        let which = usize::from(source.is_ipv6());
        let rules = self.rules(self.asker(core, bridge), which);
        self.families[which].hear(core.now_ns(), &rules, behind, source, message);
    }

    fn turn(&mut self, core: &mut Core, id: BridgeId) {
        let asker = self.asker(core, id);
        for which in [0, 1] {
            let rules = self.rules(asker, which);
            let asks = self.families[which].turn(core.now_ns(), &rules);
            for ask in asks {
                self.ask(core, id, asker, &ask, which);
            }
        }
    }

    fn ask(&mut self, core: &mut Core, id: BridgeId, asker: Asker, ask: &Ask, which: usize) {
        let interval_ns = self.config.interval.as_nanos() as u64;
        let frame = questions::frame(asker, ask, which == 1, interval_ns);
        let own: BTreeSet<u16> = own_stations(core, id).collect();
        let members = core.dataplane.interfaces().members(id);
        let ports = members.iter().filter(|port| ask.port.is_none_or(|only| only == **port));
        let ports: Vec<u16> = ports.copied().filter(|port| !own.contains(port)).collect();
        for port in ports {
            core.neighborhood.send(port, &frame);
            self.asked[which] += 1;
        }
    }

    /// Whom questions are from: the router's own station, where it is in the bridge; else they are
    /// nobody's, by the address of one of the ports.
    fn asker(&self, core: &Core, id: BridgeId) -> Asker {
        let members = || core.dataplane.interfaces().members(id).iter();
        let own = own_stations(core, id).next();
        let station = own.and_then(|id| core.port_of(id));
        let any = || members().find_map(|id| core.port_of(*id));
        let mac = station.or_else(any).map_or([2, 0, 0, 0, 0, 0], |(_, port)| port.mac);
        let ip4 = station.and_then(|(_, port)| port.addresses().first().copied());
        let link = |(_, port): (&PortName, &crate::interfaces::OpenPort)| {
            port.valid6.iter().map(|(own, _)| *own).find(|own| ipv6::is_link_local(*own))
        };
        let ip6 = station.and_then(link).unwrap_or_else(|| ipv6::link_local_of(MacAddr(mac)));
        let ip4 = ip4.map_or(Ipv4Addr::UNSPECIFIED, |(own, _)| own.into());
        Asker { mac, ip4, ip6: ip6.into() }
    }

    fn rules(&self, asker: Asker, which: usize) -> Rules {
        let config = &self.config;
        let ns = |time: Duration| time.as_nanos() as u64;
        Rules {
            querier: config.querier,
            own: asker.of(which == 1),
            interval_ns: ns(config.interval),
            response_ns: ns(config.response),
            listens_ns: ns(config.listens_for()),
            asks_ns: ns(config.asks_for()),
            most: config.groups_limit as usize,
            most_of_port: config.port_limit as usize,
        }
    }

    /// The ports behind which routers are, heard or configured.
    fn routers(&self, core: &Core, family: &Family) -> BTreeSet<u16> {
        let router_of = |id: &u16| {
            let (name, _) = core.port_of(*id)?;
            self.members.get(name).map(|member| member.router)
        };
        let learned = family.routers.keys().copied();
        let learned = learned.filter(|id| router_of(id) != Some(RouterPort::Never));
        let always = self.members.iter().filter(|(_, it)| it.router == RouterPort::Always);
        let always = always.filter_map(|(name, _)| core.ports.get(name));
        learned.chain(always.flat_map(|port| port.rows().collect::<Vec<_>>())).collect()
    }

    /// Every group, and the ports behind which somebody listens to it, heard or configured.
    fn groups(&self, core: &Core) -> BTreeMap<IpAddr, BTreeSet<u16>> {
        let mut all: BTreeMap<IpAddr, BTreeSet<u16>> = BTreeMap::new();
        for (group, ports) in self.families.iter().flat_map(|family| &family.groups) {
            all.entry(*group).or_default().extend(ports.keys());
        }
        for FixedGroup { group, port } in &self.fixed {
            let rows = core.ports.get(port).map(|port| port.rows().collect::<Vec<_>>());
            all.entry(*group).or_default().extend(rows.unwrap_or_default());
        }
        all
    }
}
