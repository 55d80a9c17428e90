//! Tunnels with several remotes: an interface of its own for each.
//!
//! ```text
//!  vx0 ┬ row of vx0              packets of remotes that are not known
//!      ├ row for 192.0.2.2       in the bridge; configured: what is flooded goes there
//!      └ row for 192.0.2.3       in the bridge; of a fixed station, or learned: its stations' frames alone
//! ```
//! A learned remote is forgotten when it has had no station for a while.

use crate::interfaces::OpenPort;
use crate::router::Router;
use control::config::objects::port::PortName;
use control::config::objects::tunnel::Remotes;
use dataplane::{BridgedTotals, DropCount, InterfaceTotals};
use nodes::tables::{BridgePort, Interface, Link, MOST_INTERFACES, Mode};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Most remotes that one tunnel learns.
const MOST_LEARNED: usize = 256;
/// How long a learned remote may have no station.
const IDLE: Duration = Duration::from_secs(60);
/// Between two looks for such.
const LOOK_PERIOD: Duration = Duration::from_secs(10);

/// One of several remotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Remote {
    /// Its interface.
    pub(crate) id: u16,
    /// Frames to unknown stations and groups go there.
    floods: bool,
    /// When it last had a station, if it was learned.
    learned: Option<Instant>,
}

impl OpenPort {
    /// Its interfaces: its own, and those of its remotes.
    pub(crate) fn rows(&self) -> impl Iterator<Item = u16> {
        std::iter::once(self.id).chain(self.remotes.values().map(|remote| remote.id))
    }

    /// Makes of its row those of its remotes, and of the row itself that of remotes which are not
    /// known.
    pub(crate) fn remote_rows(&self, row: &mut Interface) -> Vec<(u16, Interface)> {
        if !self.config.kind.has_remotes() {
            return Vec::new();
        }
        let Link::Tunnel(tunnel) = row.link else { return Vec::new() };
        let to = |address: &IpAddr, remote: &Remote| {
            let mut tunnel = tunnel;
            tunnel.key.ends = tunnel.key.ends.with_remote(*address)?;
            let mut row = Interface { link: Link::Tunnel(tunnel), ..row.clone() };
            if let Mode::Bridged(port) = &mut row.mode {
                *port = BridgePort {
                    tunnel: Some(self.id),
                    flood_unknown: port.flood_unknown && remote.floods,
                    flood_groups: port.flood_groups && remote.floods,
                    ..*port
                };
            }
            Some((remote.id, row))
        };
        let rows =
            self.remotes.iter().filter_map(|(address, remote)| to(address, remote)).collect();
        row.mode = Mode::Routed;
        rows
    }
}

impl Router {
    /// A number for another interface.
    pub(crate) fn free_id(&self) -> Option<u16> {
        let taken: BTreeSet<u16> = self.ports.values().flat_map(OpenPort::rows).collect();
        (0..MOST_INTERFACES as u16).find(|id| !taken.contains(id))
    }

    /// The interfaces of each port.
    pub(crate) fn rows(&self) -> HashMap<PortName, Vec<u16>> {
        let rows = |(name, port): (&PortName, &OpenPort)| (name.clone(), port.rows().collect());
        self.ports.iter().map(rows).collect()
    }

    /// The interface behind which a station is that is fixed to a port, and there to a remote.
    pub(crate) fn row_of(&self, port: &PortName, remote: Option<IpAddr>) -> Option<u16> {
        let port = self.ports.get(port)?;
        match remote {
            None => Some(port.id),
            Some(remote) => port.remotes.get(&remote).map(|remote| remote.id),
        }
    }

    /// The remote of an interface, if it is that of one of several.
    pub(crate) fn remote_of(&self, row: u16) -> Option<IpAddr> {
        let (_, port) = self.port_of(row)?;
        let mut remotes = port.remotes.iter();
        remotes.find(|(_, remote)| remote.id == row).map(|(address, _)| *address)
    }

    /// Gives tunnels an interface for each remote that the configuration names, and takes those
    /// away that it names no more. Says what there was no room for.
    pub(crate) fn settle_remotes(&mut self) -> Result<(), String> {
        let names: Vec<PortName> = self.ports.keys().cloned().collect();
        for name in names {
            let Some(port) = self.ports.get(&name) else { continue };
            let wanted = self.wanted_remotes(&name, port);
            let gone: Vec<IpAddr> =
                port.remotes.keys().copied().filter(|it| !wanted.contains_key(it)).collect();
            gone.iter().for_each(|remote| self.remove_remote(&name, *remote));
            for (address, floods) in wanted {
                let known =
                    self.ports.get(&name).and_then(|port| port.remotes.get(&address)).copied();
                let id = match known {
                    Some(known) => known.id,
                    None => self.free_id().ok_or_else(|| {
                        format!("port {name}: more than {MOST_INTERFACES} ports and remotes")
                    })?,
                };
                let learned = known.and_then(|known| known.learned).filter(|_| !floods);
                if let Some(port) = self.ports.get_mut(&name) {
                    port.remotes.insert(address, Remote { id, floods, learned });
                }
            }
        }
        Ok(())
    }

    /// The remotes of a tunnel, and whether flooding reaches them: its own, those of fixed
    /// stations, and those learned so far.
    fn wanted_remotes(&self, name: &PortName, port: &OpenPort) -> BTreeMap<IpAddr, bool> {
        let Some(ends) = port.config.kind.ends() else { return BTreeMap::new() };
        let Remotes::Several { flood, learn } = &ends.remotes else { return BTreeMap::new() };
        let fixed = self.bridging.fixed.values().filter(|station| station.port == *name);
        let learned = port.remotes.iter().filter(|(_, remote)| *learn && remote.learned.is_some());
        let mut wanted: BTreeMap<IpAddr, bool> =
            learned.map(|(address, _)| (*address, false)).collect();
        wanted.extend(fixed.filter_map(|station| station.remote).map(|remote| (remote, false)));
        wanted.extend(flood.iter().map(|remote| (*remote, true)));
        wanted
    }

    fn remove_remote(&mut self, name: &PortName, address: IpAddr) {
        let removed = self.ports.get_mut(name).and_then(|port| port.remotes.remove(&address));
        if let Some(remote) = removed {
            self.dataplane.set_interface(remote.id, None);
            self.forget_stations_behind(remote.id);
        }
    }

    /// Takes in a remote that sent to a tunnel which learns them.
    pub(crate) fn remote_heard(&mut self, interface: u16, address: IpAddr) {
        let Some(name) = self.port_of(interface).map(|(name, _)| name.clone()) else { return };
        let Some(id) = self.free_id() else { return };
        let Some(port) = self.ports.get_mut(&name) else { return };
        let learned = port.remotes.values().filter(|remote| remote.learned.is_some()).count();
        if learned < MOST_LEARNED && !port.remotes.contains_key(&address) {
            let remote = Remote { id, floods: false, learned: Some(Instant::now()) };
            port.remotes.insert(address, remote);
            self.publish_rows();
        }
    }

    /// Forgets learned remotes without stations.
    pub(crate) fn age_remotes(&mut self, now: Instant) {
        if now < self.next_remote_look {
            return;
        }
        self.next_remote_look = now + LOOK_PERIOD;
        let learned =
            |port: &OpenPort| port.remotes.values().any(|remote| remote.learned.is_some());
        if !self.ports.values().any(learned) {
            return;
        }
        let stations = &self.dataplane.stations;
        let mut busy = BTreeSet::new();
        stations.table.for_each(stations.now(), |_, entry, _| _ = busy.insert(entry.port as u16));
        let mut idle = Vec::new();
        for (name, port) in &mut self.ports {
            for (address, remote) in &mut port.remotes {
                let Some(seen) = &mut remote.learned else { continue };
                if busy.contains(&remote.id) {
                    *seen = now;
                } else if now.duration_since(*seen) >= IDLE {
                    idle.push((name.clone(), *address));
                }
            }
        }
        idle.iter().for_each(|(name, address)| self.remove_remote(name, *address));
    }
}

impl Router {
    /// What a port carried since counters were cleared, over all its interfaces.
    pub(crate) fn carried(&self, port: &OpenPort) -> InterfaceTotals {
        let mut sum = InterfaceTotals::default();
        for id in port.rows() {
            let now = self.dataplane.interface_totals(id);
            let then = self.cleared.interfaces.get(&id).copied().unwrap_or_default();
            sum.rx_packets += now.rx_packets - then.rx_packets;
            sum.rx_bytes += now.rx_bytes - then.rx_bytes;
            sum.tx_packets += now.tx_packets - then.tx_packets;
            sum.tx_bytes += now.tx_bytes - then.tx_bytes;
        }
        sum
    }

    /// What it taught its bridge.
    pub(crate) fn taught(&self, port: &OpenPort) -> BridgedTotals {
        let mut sum = BridgedTotals::default();
        for id in port.rows() {
            let now = self.dataplane.bridged_totals(id);
            let then = self.cleared.bridged.get(&id).copied().unwrap_or_default();
            sum.learned += now.learned - then.learned;
            sum.moved += now.moved - then.moved;
            sum.not_learned += now.not_learned - then.not_learned;
        }
        sum
    }

    /// What of its packets was dropped: of each reason of each of its interfaces, how many.
    pub(crate) fn dropped(&self, port: &OpenPort) -> Vec<DropCount> {
        let since = |mut count: DropCount| {
            let key = (count.interface, count.node, count.reason.clone());
            count.packets -= self.cleared.drops.get(&key).copied().unwrap_or_default();
            (count.packets != 0).then_some(count)
        };
        port.rows().flat_map(|id| self.dataplane.drops_of(id)).filter_map(since).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::Router;
    use control::config::field::Field;
    use control::config::{Config, Host, Source, parse};
    use control::engine::Engine;
    use control::view::{Answer, StationFilter, Stations};
    use nodes::tables::Interface;
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
        router.dataplane.interfaces().all().filter_map(remote).collect()
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

        let hub = router.row_of(&PortName::from_text("vx0").unwrap(), None).unwrap();
        router.remote_heard(hub, "192.0.2.9".parse().unwrap());
        router.remote_heard(hub, "192.0.2.9".parse().unwrap());
        let nine = ("192.0.2.9".to_owned(), false);
        assert_eq!(remotes(&router), [seven.clone(), eight.clone(), nine.clone()]);

        let mut fixed = start.clone();
        let edit = "mac add lan 06:00:00:00:00:01 port vx0 remote 192.0.2.10\n";
        fixed =
            control::config::edit(&fixed, &Source::new("commands", edit), &Host::any()).unwrap();
        apply(&mut router, &start, &fixed);
        let ten = ("192.0.2.10".to_owned(), false);
        assert_eq!(remotes(&router), [seven, eight, nine, ten]);
        let stations = Answer::<Stations>::answer(&mut router, &StationFilter::default()).unwrap();
        assert_eq!(stations.stations[0].remote.as_deref(), Some("192.0.2.10"));
        apply(&mut router, &fixed, &empty);
        assert_eq!(remotes(&router), []);
    }
}
