//! Neighbours of the configuration, and what workers hear of IPv4 neighbours and want to know of
//! all.

use crate::core::{Core, fault};
use crate::neighborhood::told_full;
use crate::part::{Hears, Makes, Part};
use crate::settings::neighbor_config;
use control::config::Delta;
use control::config::change::Replaced;
use control::config::objects::arp::Arp;
use control::config::objects::neighbor::{Neighbor, NeighborKey as Key};
use control::config::objects::port::PortName;
use control::engine::ApplyError;
use fib::neighbor::{Need, NeighborKey};
use nodes::tables::{ArpHeard, Unresolved};
use std::net::Ipv4Addr;

/// See the module. The neighbours themselves are the core's: routes lead over them.
#[derive(Default)]
pub(crate) struct StaticNeighbors;

impl Part for StaticNeighbors {
    fn link_down(&mut self, core: &mut Core, port: &PortName) {
        let Some(id) = core.ports.id_of(port) else { return };
        core.with_neighbors(|neighbors, now_ns, out| neighbors.interface_down(now_ns, id, out));
    }

    fn link_up(&mut self, core: &mut Core, port: &PortName) {
        let Some(id) = core.ports.id_of(port) else { return };
        core.with_neighbors(|neighbors, now_ns, out| neighbors.flush(now_ns, Some(id), out));
    }
}

/// Timers change for what is asked and heard from now on.
impl Makes<Replaced<Arp>> for StaticNeighbors {
    fn make(&mut self, core: &mut Core, change: &Replaced<Arp>) -> Result<(), ApplyError> {
        let arp = &change.new;
        core.neighborhood.set_config(neighbor_config(arp), arp.hold_packets.into());
        Ok(())
    }
}

impl Makes<Delta<Key, Neighbor>> for StaticNeighbors {
    fn make(&mut self, core: &mut Core, change: &Delta<Key, Neighbor>) -> Result<(), ApplyError> {
        let (key, wanted) = change.outcome();
        let field = format!("neighbor {}", key.address);
        let Some(interface) = core.ports.id_of(&key.port) else {
            return Err(fault(&field, format!("there is no port `{}`", key.port)));
        };
        let neighbor = NeighborKey { interface, address: key.address };
        let Some(wanted) = wanted else {
            core.with_neighbors(|neighbors, now_ns, out| {
                neighbors.remove_static(now_ns, neighbor, out);
            });
            return Ok(());
        };
        let (mac, mut outcome) = (wanted.mac.0, Ok(()));
        let adjacency = adjacency(core, neighbor);
        core.with_neighbors(|neighbors, now_ns, out| {
            outcome = neighbors.add_static(now_ns, neighbor, mac, out).and_then(|()| {
                let Some(id) = adjacency? else { return Ok(()) };
                neighbors.need(now_ns, neighbor, id, Need::Route, out)
            });
        });
        outcome.map_err(|error| fault(&field, error.to_string()))
    }
}

/// A packet waits until its next hop's MAC is known.
impl Hears<Unresolved> for StaticNeighbors {
    fn hear(&mut self, core: &mut Core, punt: Unresolved) {
        let Unresolved { next_hop, interface, packet, .. } = punt;
        let key = NeighborKey { interface, address: next_hop };
        let now_ns = core.now_ns();
        match adjacency(core, key) {
            Ok(Some(id)) => core.neighborhood.hold(now_ns, key, id, packet),
            // Its interface is gone by now.
            Ok(None) => core.neighborhood.discard(packet),
            Err(error) => {
                told_full(&error);
                core.neighborhood.discard(packet);
            }
        }
    }
}

/// ARP is believed; a claim on an address of ours is told and answered.
impl Hears<ArpHeard> for StaticNeighbors {
    fn hear(&mut self, core: &mut Core, punt: ArpHeard) {
        let (port, now_ns) = (core.ports.of_id(punt.interface), core.now_ns());
        let row = core.dataplane.interfaces().get(punt.interface);
        let own = port.filter(|_| row.is_some_and(|row| row.has_ip4(punt.address)));
        match own.map(|port| port.mac) {
            Some(mac) => {
                let own = Ipv4Addr::from(punt.address).into();
                core.neighborhood.defend(now_ns, punt.interface, own, punt.mac, mac);
            }
            None => core.neighborhood.heard(now_ns, &punt),
        }
    }
}

fn adjacency(
    core: &mut Core,
    key: NeighborKey,
) -> Result<Option<fib::adjacency::AdjacencyId>, fib::FibError> {
    let port = core.ports.of_id(key.interface);
    let own = port.map(|port| (port.link_header(), port.config.mtu));
    core.routing.adjacency(key, &|_| own)
}
