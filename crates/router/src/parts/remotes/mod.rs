//! Tunnels with several remotes: an interface of its own for each.
//!
//! ```text
//!  vx0 ┬ row of vx0              packets of remotes that are not known
//!      ├ row for 192.0.2.2       in the bridge; configured: what is flooded goes there
//!      └ row for 192.0.2.3       in the bridge; of a fixed station, or learned: its stations' frames alone
//! ```
//! A learned remote is forgotten when it has had no station for a while. How many there may be, and
//! who makes room for whom, stands in `room.rs`.

mod left;
mod room;

use crate::core::Core;
use crate::interfaces::{LearnedRemote, OpenPort, Remote};
use crate::left::OfParts;
use crate::part::{Hears, Leaves, Part};
use control::config::objects::port::PortName;
use control::config::objects::port_kind::ends;
use nodes::tables::{BridgePort, Interface, Link, MOST_INTERFACES, Mode, RemoteHeard};
use room::{Bound, Learned};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// How long a learned remote may have no station.
const IDLE: Duration = Duration::from_secs(60);
/// Between two looks for such.
const LOOK_PERIOD: Duration = Duration::from_secs(10);
/// Between two tales of one tunnel that learns no more.
const TELL_PERIOD: Duration = Duration::from_secs(10);

/// See the module. Which a tunnel has stands in its port.
#[derive(Default)]
pub(crate) struct Remotes {
    next_look: Option<Instant>,
    /// Of tunnels that were told to have no room, when that was, and how many were refused since.
    refused: BTreeMap<PortName, (Instant, u64)>,
    /// What a router before left, until workers know its remotes: then their stations are learned.
    left: Vec<state::remotes::Remote>,
}

impl Part for Remotes {
    /// Gives tunnels an interface for each remote that the configuration names, and takes those
    /// away that it names no more. Says what there was no room for.
    fn settle(&mut self, core: &mut Core) {
        let tunnels = core.ports.iter().filter(|(_, port)| port.config.kind.has_remotes());
        for name in tunnels.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            settle_or_tell(core, &name);
        }
    }

    fn leaves(&self, core: &Core) -> Option<Leaves> {
        Some(left::leaves(core))
    }

    fn take_over(&mut self, core: &mut Core, left: &OfParts) {
        self.left = left::take_over(core, &left.remotes);
    }

    fn published(&mut self, core: &mut Core) {
        left::stations(core, &std::mem::take(&mut self.left));
    }

    /// Forgets learned remotes without stations, and heeds what routing daemons tell of others.
    fn turn(&mut self, core: &mut Core, now: Instant) -> bool {
        for name in core.take_retold() {
            settle_or_tell(core, &name);
        }
        if self.next_look.is_none_or(|next| now >= next) {
            self.next_look = Some(now + LOOK_PERIOD);
            forget_idle(core, now);
            self.refused.retain(|name, _| core.ports.get(name).is_some());
        }
        false
    }
}

/// A remote that sent to a tunnel which learns them is taken in, if it has a place.
impl Hears<RemoteHeard> for Remotes {
    fn hear(&mut self, core: &mut Core, punt: RemoteHeard) {
        let RemoteHeard { interface: tunnel, underlay, remote: address } = punt;
        let Some((name, port)) = core.port_of(tunnel) else { return };
        if port.remotes.contains_key(&address) {
            return;
        }
        let (name, seen) = (name.clone(), core.clock.now());
        let new = Learned { tunnel, underlay, address, seen };
        if let Err(full) = take_in(core, &name, &new) {
            self.refuse(core, &name, &new, full);
        }
    }
}

/// A remote gets a place of those that are learned, or nobody makes room for it.
fn take_in(core: &mut Core, name: &PortName, new: &Learned) -> Result<(), Bound> {
    let Learned { underlay, address, seen, .. } = *new;
    for it in room::room(&all_learned(core), new, core.ports.free_count())? {
        let Some((of, _)) = core.port_of(it.tunnel) else { continue };
        let of = of.clone();
        core.end_remote(&of, it.address);
    }
    let id = core.free_id().ok_or(Bound::All)?;
    let learned = Some(LearnedRemote { seen, underlay });
    core.ports.set_remote(name, address, Remote { id, floods: false, learned });
    core.touch_rows();
    Ok(())
}

fn all_learned(core: &Core) -> Vec<Learned> {
    let of_port = |port: &OpenPort| {
        let tunnel = port.id;
        let learned = port.remotes.iter().filter_map(move |(address, remote)| {
            let LearnedRemote { seen, underlay } = remote.learned?;
            Some(Learned { tunnel, underlay, address: *address, seen })
        });
        learned.collect::<Vec<_>>()
    };
    core.ports.values().flat_map(of_port).collect()
}

impl Remotes {
    /// There is no place for a remote: that is told now and then.
    fn refuse(&mut self, core: &Core, name: &PortName, new: &Learned, full: Bound) {
        let (told, count) = self.refused.get(name).copied().unzip();
        let count = count.unwrap_or(0) + 1;
        if let Some(told) = told.filter(|told| new.seen.duration_since(*told) < TELL_PERIOD) {
            self.refused.insert(name.clone(), (told, count));
            return;
        }
        self.refused.insert(name.clone(), (new.seen, 0));
        let underlay = core.port_of(new.underlay).map_or("", |(name, _)| name.as_str());
        tracing::warn!(
            fault = "remotes-full",
            port = name.as_str(),
            underlay,
            remote = %new.address,
            full = full.word(),
            most = full.most(),
            refused = count,
            "a tunnel has no place for a remote that was heard"
        );
    }
}

impl Remotes {
    /// Makes of a tunnel's row those of its remotes, and of the row itself that of remotes which
    /// are not known.
    pub(crate) fn rows(port: &OpenPort, row: &mut Interface) -> Vec<(u16, Interface)> {
        if !port.config.kind.has_remotes() {
            return Vec::new();
        }
        let Link::Tunnel(tunnel) = row.link else { return Vec::new() };
        let to = |address: &IpAddr, remote: &Remote| {
            let mut tunnel = tunnel;
            tunnel.key.ends = tunnel.key.ends.with_remote(*address)?;
            let mut row = Interface { link: Link::Tunnel(tunnel), ..row.clone() };
            if let Mode::Bridged(bridged) = &mut row.mode {
                *bridged = BridgePort {
                    tunnel: Some(port.id),
                    flood_unknown: bridged.flood_unknown && remote.floods,
                    flood_groups: bridged.flood_groups && remote.floods,
                    ..*bridged
                };
            }
            Some((remote.id, row))
        };
        let rows =
            port.remotes.iter().filter_map(|(address, remote)| to(address, remote)).collect();
        row.mode = Mode::Routed;
        rows
    }
}

fn settle_or_tell(core: &mut Core, name: &PortName) {
    let is_there = core.ports.get(name).is_some_and(|port| port.config.kind.has_remotes());
    if is_there && settle(core, name).is_none() {
        tracing::warn!(
            fault = "remotes-full",
            "port {name}: more than {MOST_INTERFACES} ports and remotes"
        );
    }
}

/// None if there are no more numbers.
fn settle(core: &mut Core, name: &PortName) -> Option<()> {
    let wanted = core.ports.get(name).map(wanted_of)?;
    let port = core.ports.get(name)?;
    let gone: Vec<IpAddr> =
        port.remotes.keys().copied().filter(|it| !wanted.contains_key(it)).collect();
    gone.into_iter().for_each(|remote| core.end_remote(name, remote));
    for (address, floods) in wanted {
        let known = core.ports.get(name).and_then(|port| port.remotes.get(&address)).copied();
        let id = match known {
            Some(known) => known.id,
            None => core.free_id()?,
        };
        let learned = known.and_then(|known| known.learned).filter(|_| !floods);
        core.ports.set_remote(name, address, Remote { id, floods, learned });
    }
    core.touch_rows();
    Some(())
}

/// The remotes of a tunnel, and whether flooding reaches them: its own, those of fixed stations,
/// those that a routing daemon tells, and those learned so far.
fn wanted_of(port: &OpenPort) -> BTreeMap<IpAddr, bool> {
    let Some(ends) = port.config.kind.ends() else { return BTreeMap::new() };
    let ends::Remotes::Several { flood, learn } = &ends.remotes else { return BTreeMap::new() };
    let learned = port.remotes.iter().filter(|(_, remote)| *learn && remote.learned.is_some());
    let mut wanted: BTreeMap<IpAddr, bool> =
        learned.map(|(address, _)| (*address, false)).collect();
    wanted.extend(port.fixed_remotes.iter().map(|remote| (*remote, false)));
    let told = port.told_remotes.iter().map(|(remote, floods)| (*remote, *floods));
    wanted.extend(told.filter(|(remote, _)| remote.is_ipv4() == ends.local().is_ipv4()));
    wanted.extend(flood.iter().map(|remote| (*remote, true)));
    wanted
}

fn forget_idle(core: &mut Core, now: Instant) {
    let learned = |port: &OpenPort| port.remotes.values().any(|remote| remote.learned.is_some());
    if !core.ports.values().any(learned) {
        return;
    }
    let stations = &core.dataplane.stations;
    let mut busy = BTreeSet::new();
    stations.table.for_each(stations.now(), |_, entry, _| _ = busy.insert(entry.port as u16));
    let mut idle = Vec::new();
    for (name, port) in core.ports.iter_mut() {
        for (address, remote) in &mut port.remotes {
            let Some(learned) = &mut remote.learned else { continue };
            if busy.contains(&remote.id) {
                learned.seen = now;
            } else if now.duration_since(learned.seen) >= IDLE {
                idle.push((name.clone(), *address));
            }
        }
    }
    idle.iter().for_each(|(name, address)| core.end_remote(name, *address));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::Router;
    use control::config::field::Field;
    use control::config::{Config, Host, Source, parse};
    use control::engine::Engine;
    use control::view::{Answer, StationFilter, Stations};
    use nodes::tables::{Interface, Punt};
    use std::sync::Arc;

    const START: &str = r#"
workers = { mode = "single-thread" }
memory = { buffers = 4096, hugepages = "never" }
port.p1 = { kind = "memory", addresses = ["192.0.2.1/24"] }
bridge.lan.ports = ["vx0"]
"#;

    fn config(rest: &str) -> Config {
        let text = format!("{START}{rest}");
        parse(&Source::new("router.toml", &text), &Host::any()).unwrap()
    }

    fn apply(router: &mut Router, old: &Config, new: &Config) {
        router.apply(old, new, &Config::diff(old, new)).unwrap();
    }

    /// Remotes that workers know of, and whether flooding reaches them.
    fn remotes(router: &Router) -> Vec<(String, bool)> {
        let remote = |row: &Interface| match (row.link, row.mode) {
            (Link::Tunnel(tunnel), Mode::Bridged(port)) => {
                Some((tunnel.key.ends.remote().to_string(), port.flood_groups))
            }
            _ => None,
        };
        router.core.dataplane.interfaces().all().filter_map(remote).collect()
    }

    #[test]
    fn a_tunnel_has_an_interface_for_each_remote() {
        let start = config(
            "port.vx0 = { kind = \"vxlan\", vni = 5, local = \"192.0.2.1\", remotes = [\"192.0.2.7\", \"192.0.2.8\"], learn_remotes = true }\n",
        );
        let mut router = Router::start(&start, Arc::new(|| ())).unwrap();
        let empty = Config {
            workers: start.workers.clone(),
            memory: start.memory.clone(),
            ..Config::default()
        };
        apply(&mut router, &empty, &start);
        let (seven, eight) = (("192.0.2.7".to_owned(), true), ("192.0.2.8".to_owned(), true));
        assert_eq!(remotes(&router), [seven.clone(), eight.clone()]);

        let hub = router.core.ports.id_of(&PortName::from_text("vx0").unwrap()).unwrap();
        for _ in 0..2 {
            let remote = "192.0.2.9".parse().unwrap();
            let heard = RemoteHeard { interface: hub, underlay: 0, remote };
            router.parts.hear(&mut router.core, Punt::RemoteHeard(heard));
        }
        router.settle();
        let nine = ("192.0.2.9".to_owned(), false);
        assert_eq!(remotes(&router), [seven.clone(), eight.clone(), nine.clone()]);

        let mut fixed = start.clone();
        let edit = "mac add lan 06:00:00:00:00:01 port vx0 remote 192.0.2.10\n";
        fixed =
            control::config::edit(&fixed, &Source::new("commands", edit), &Host::any()).unwrap();
        apply(&mut router, &start, &fixed);
        let ten = ("192.0.2.10".to_owned(), false);
        assert_eq!(remotes(&router), [seven, eight, nine, ten]);
        let stations =
            Answer::<Stations>::answer(&mut router, &StationFilter::default()).unwrap().whole();
        assert_eq!(stations.stations[0].remote.as_deref(), Some("192.0.2.10"));
        apply(&mut router, &fixed, &empty);
        assert_eq!(remotes(&router), []);
    }

    /// A router with two tunnels that learn, and their interfaces.
    fn learning() -> (Router, Config, [u16; 2]) {
        let start = config(
            "bridge.other.ports = [\"vx1\"]\n\
             port.vx0 = { kind = \"vxlan\", vni = 5, local = \"192.0.2.1\", remotes = [\"192.0.2.7\"], learn_remotes = true }\n\
             port.vx1 = { kind = \"vxlan\", vni = 6, local = \"192.0.2.1\", remotes = [\"192.0.2.7\"], learn_remotes = true }\n",
        );
        let mut router = Router::start(&start, Arc::new(|| ())).unwrap();
        let empty = Config {
            workers: start.workers.clone(),
            memory: start.memory.clone(),
            ..Config::default()
        };
        apply(&mut router, &empty, &start);
        let id = |name| router.core.ports.id_of(&PortName::from_text(name).unwrap()).unwrap();
        let ids = ["vx0", "vx1"].map(id);
        (router, start, ids)
    }

    fn hear(router: &mut Router, interface: u16, underlay: u16, remote: u32) {
        let remote = std::net::Ipv4Addr::from(remote).into();
        let heard = RemoteHeard { interface, underlay, remote };
        router.parts.hear(&mut router.core, Punt::RemoteHeard(heard));
    }

    fn learned(router: &Router) -> Vec<Learned> {
        all_learned(&router.core)
    }

    #[test]
    fn a_flood_of_spoofed_remotes_leaves_another_tunnel_and_port_their_places() {
        let (mut router, _, [vx0, vx1]) = learning();
        for network in 0..1000 {
            hear(&mut router, vx0, 0, 0x0a00_0000 + (network << 8));
        }
        assert_eq!(learned(&router).len(), 192);
        // The same port has some for the other tunnel, another port has all.
        for network in 0..100 {
            hear(&mut router, vx1, 0, 0x0b00_0000 + (network << 8));
        }
        assert_eq!(learned(&router).len(), 256);
        hear(&mut router, vx0, 9, 0x0b00_0001);
        hear(&mut router, vx1, 9, 0x0b00_0002);
        assert_eq!(learned(&router).len(), 258);
        let refused: u64 = router.parts.remotes.refused.values().map(|(_, count)| *count).sum();
        assert_eq!(refused, 807 + 35, "one of each tunnel was told, the others are counted");
        // Those that have long had no station make room; the youngest stay.
        let name = PortName::from_text("vx0").unwrap();
        let early = Instant::now().checked_sub(room::SPARE).unwrap();
        let first: IpAddr = [10, 0, 0, 0].into();
        for (address, remote) in &mut router.core.ports.get_mut(&name).unwrap().remotes {
            if let Some(learned) = remote.learned.as_mut().filter(|_| *address == first) {
                learned.seen = early;
            }
        }
        hear(&mut router, vx0, 0, 0x0c00_0001);
        let there = |address: [u8; 4]| {
            learned(&router).iter().any(|it| it.address == IpAddr::from(address))
        };
        assert!(there([12, 0, 0, 1]) && !there([10, 0, 0, 0]) && there([10, 0, 1, 0]));
        router.settle();
        assert_eq!(remotes(&router).iter().filter(|(_, floods)| *floods).count(), 2);
    }

    #[test]
    fn what_is_configured_has_room_though_remotes_were_learned_first() {
        let (mut router, start, [vx0, _]) = learning();
        let name = PortName::from_text("vx0").unwrap();
        let mut last = 0_u32;
        while let Some(id) = router.core.ports.free_id() {
            let learned = Some(LearnedRemote { seen: Instant::now(), underlay: 0 });
            let remote = Remote { id, floods: false, learned };
            last += 1;
            router.core.ports.set_remote(&name, std::net::Ipv4Addr::from(last).into(), remote);
        }
        let before = learned(&router).len();
        hear(&mut router, vx0, 3, 0x0c00_0001);
        assert_eq!(learned(&router).len(), before, "no number is free, and all are new");
        let edit = "port add p2 memory\n";
        let more =
            control::config::edit(&start, &Source::new("commands", edit), &Host::any()).unwrap();
        apply(&mut router, &start, &more);
        assert_eq!(learned(&router).len(), before - 1);
        assert!(learned(&router).iter().all(|it| it.address != IpAddr::from([0, 0, 0, 1])));
    }
}
