//! What a router before this one left, taken over.
//!
//! ```text
//!  before packets are read   neighbours ─▶ words of the forwarding tables, straight from the log
//!  while they are forwarded  routes ─▶ RIB, a slice at a time: from then on they are like all others
//! ```
//! The words are what takes no time: a million of them are there in some tenths of a second. A
//! prefix of which the RIB knows a route by then keeps that.

use super::protocols::{FPM, protocol_of};
use super::route_log::Kept;
use crate::core::Core;
use crate::routing::{Foretold, InVrf, Routing};
use control::config::field::Field;
use control::config::objects::port::PortName;
use fib::mac::MacKey;
use fib::neighbor::{Need, NeighborKey};
use fib::rib::{NextHop, Route, SharedId, Source, Target};
use fib::{FibError, Prefix};
use nodes::tables::{Mode, VrfId};
use state::routes::{self, Routes};
use state::{neighbors::Neighbor, stations::Seen};
use std::sync::Arc;

/// Routes that go into the RIB in one turn.
const SLICE: usize = 1024;

/// Routes on their way into the RIB.
pub(super) struct Recall {
    routes: Arc<Routes>,
    /// Targets as this router has them; none of those over ports that are gone.
    targets: Vec<Option<Target>>,
    /// VRFs likewise.
    vrfs: Vec<Option<VrfId>>,
    /// How zebra's routes are preferred by now, if there is anybody to tell them.
    fpm: Option<u8>,
    at: (usize, usize),
    /// What did not find its place.
    pub(super) lost: usize,
}

/// What of a family is recalled.
pub(super) trait Recalled: Kept {
    fn all(routes: &Routes) -> &[routes::Route<Self>];
    fn routing(core: &mut crate::routing::Routes) -> &mut Routing<Self>;
    fn at(at: &mut (usize, usize)) -> &mut usize;
}

impl Recalled for u32 {
    fn all(routes: &Routes) -> &[routes::Route<Self>] {
        &routes.ip4
    }

    fn routing(routing: &mut crate::routing::Routes) -> &mut Routing<Self> {
        &mut routing.ip4
    }

    fn at(at: &mut (usize, usize)) -> &mut usize {
        &mut at.0
    }
}

impl Recalled for u128 {
    fn all(routes: &Routes) -> &[routes::Route<Self>] {
        &routes.ip6
    }

    fn routing(routing: &mut crate::routing::Routes) -> &mut Routing<Self> {
        &mut routing.ip6
    }

    fn at(at: &mut (usize, usize)) -> &mut usize {
        &mut at.1
    }
}

impl Recall {
    pub(super) fn new(core: &Core, routes: Arc<Routes>, fpm: Option<u8>) -> Self {
        let target = |target: &routes::Target| ours(core, target);
        let targets = routes.targets.iter().map(target).collect();
        let vrfs = routes.vrfs.iter().map(|name| core.vrf_named(name).ok()).collect();
        Self { routes, targets, vrfs, fpm, at: (0, 0), lost: 0 }
    }

    /// Writes the words of all routes, where no route says otherwise.
    pub(super) fn forward(&self, core: &mut Core) -> Result<(), FibError> {
        self.forward_family::<u32>(core).and(self.forward_family::<u128>(core))
    }

    fn forward_family<A: Recalled>(&self, core: &mut Core) -> Result<(), FibError> {
        let all = A::all(&self.routes);
        core.change_routes(|routing, link| {
            all.chunk_by(|one, next| one.0.vrf == next.0.vrf).try_for_each(|of_vrf| {
                let Some((first, _)) = of_vrf.first() else { return Ok(()) };
                let Some(vrf) = self.vrf(first.vrf) else { return Ok(()) };
                let Some(mut vrf) = A::routing(routing).in_vrf(vrf, link) else { return Ok(()) };
                self.forward_vrf(&mut vrf, of_vrf)
            })
        })
    }

    fn forward_vrf<A: Recalled>(
        &self,
        vrf: &mut InVrf<'_, A>,
        all: &[routes::Route<A>],
    ) -> Result<(), FibError> {
        let mut words = Foretold::default();
        for (key, number) in all {
            if self.source(key.preference, key.protocol).is_none() {
                continue;
            }
            let Some(target) = self.plain_target::<A>(key.vrf, *number) else { continue };
            let Ok(prefix) = Prefix::new(key.address, key.length) else { continue };
            vrf.foretell(prefix, (*number, target), &mut words)?;
        }
        Ok(())
    }

    /// Where a route leads, with the members of its group in the place of its number.
    fn plain_target<A: Recalled>(&self, vrf: u16, number: u32) -> Option<&Target> {
        match self.targets.get(number as usize)?.as_ref()? {
            Target::Shared(id) => {
                let number = self.routes.groups.get(&(A::BITS == 128, vrf, id.0))?;
                self.targets.get(*number as usize)?.as_ref()
            }
            target => Some(target),
        }
    }

    fn vrf(&self, number: u16) -> Option<VrfId> {
        self.vrfs.get(usize::from(number)).copied().flatten()
    }

    fn source(&self, preference: u8, protocol: u8) -> Option<Source> {
        let known = protocol_of(protocol)?;
        let preference = if protocol == FPM { self.fpm? } else { preference };
        Some(Source { preference, protocol: known })
    }

    /// Adds the next routes to the RIB; true if there are more.
    pub(super) fn learn_some(&mut self, core: &mut Core) -> bool {
        self.learn::<u32>(core) || self.learn::<u128>(core)
    }

    fn learn<A: Recalled>(&mut self, core: &mut Core) -> bool {
        let (routes, at) = (Arc::clone(&self.routes), *A::at(&mut self.at));
        let all = A::all(&routes);
        let Some((first, _)) = all.get(at) else { return false };
        let alike = |(key, _): &&routes::Route<A>| {
            (key.vrf, key.preference, key.protocol) == (first.vrf, first.preference, first.protocol)
        };
        let slice = &all[at..all.len().min(at + SLICE)];
        let slice = &slice[..slice.iter().take_while(alike).count()];
        *A::at(&mut self.at) = at + slice.len();
        let source = self.source(first.preference, first.protocol);
        let (Some(source), Some(vrf)) = (source, self.vrf(first.vrf)) else {
            self.lost += slice.len();
            return true;
        };
        let route = |(key, number): &routes::Route<A>| {
            let target = self.targets.get(*number as usize)?.clone()?;
            Some((Prefix::new(key.address, key.length).ok()?, Route { target }))
        };
        let new: Vec<_> = slice.iter().filter_map(route).collect();
        let groups = self.groups_of::<A>(first.vrf, &new);
        let prefixes: Vec<_> = new.iter().map(|(prefix, _)| *prefix).collect();
        let added = core.change_routes(|routing, link| {
            let mut vrf = A::routing(routing).in_vrf(vrf, link)?;
            for (id, target) in groups {
                told(vrf.share_first(id, target));
            }
            let (added, outcome) = vrf.add_all(new, source);
            told(outcome);
            if added < prefixes.len() {
                // Of words that were foretold none stays without its route.
                prefixes.iter().for_each(|prefix| told(vrf.follow_without_route(*prefix)));
            }
            Some(added)
        });
        self.lost += slice.len() - added.unwrap_or(0);
        true
    }

    /// The groups that some of these routes lead to.
    fn groups_of<A: Recalled>(
        &self,
        vrf: u16,
        routes: &[(Prefix<A>, Route)],
    ) -> Vec<(SharedId, Option<Target>)> {
        let id = |(_, route): &(_, Route)| match route.target {
            Target::Shared(id) => Some(id),
            _ => None,
        };
        let mut ids: Vec<SharedId> = routes.iter().filter_map(id).collect();
        ids.sort_unstable();
        ids.dedup();
        let target = |id: SharedId| {
            let number = self.routes.groups.get(&(A::BITS == 128, vrf, id.0))?;
            self.targets.get(*number as usize)?.clone()
        };
        ids.into_iter().map(|id| (id, target(id))).collect()
    }
}

fn told(outcome: Result<(), FibError>) {
    if let Err(error) = outcome {
        tracing::warn!(fault = "routes-full", %error, "a route that was left has no room in a table");
    }
}

/// A target by the numbers of this router's ports.
fn ours(core: &Core, target: &routes::Target) -> Option<Target> {
    let hop = |hop: &routes::Hop| {
        let interface = match &hop.port {
            Some(port) => Some(core.ports.id_of(&PortName::from_text(port).ok()?)?),
            None => None,
        };
        (interface.is_some() || hop.address.is_some()).then_some(NextHop {
            address: hop.address,
            interface,
            weight: hop.weight,
        })
    };
    Some(match target {
        routes::Target::Via(hops) => {
            let hops: Arc<[NextHop]> = hops.iter().filter_map(hop).collect();
            return (!hops.is_empty()).then_some(Target::Via(hops));
        }
        routes::Target::Shared(number) => Target::Shared(SharedId(*number)),
        routes::Target::Blackhole => Target::Blackhole,
        routes::Target::Unreachable => Target::Unreachable,
        routes::Target::Prohibit => Target::Prohibit,
    })
}

/// Neighbours of ports that carry packets are known again; the others wait for their port.
pub(super) fn neighbors(core: &mut Core, left: Vec<Neighbor>) -> Vec<Neighbor> {
    let mut later = Vec::new();
    for neighbor in left {
        let name = PortName::from_text(&neighbor.port).ok();
        let Some(port) = name.and_then(|name| core.ports.get(&name)) else { continue };
        if !port.carries() {
            later.push(neighbor);
            continue;
        }
        let key = NeighborKey { interface: port.id, address: neighbor.address };
        let (mac, age_ns) = (neighbor.mac, neighbor.age_ms.saturating_mul(1_000_000));
        core.with_neighbors(|machine, now_ns, out| machine.recall(now_ns, key, mac, age_ns, out));
        // Packets went there: the way is made before the next one comes.
        if neighbor.is_used
            && let Ok(Some(id)) = core.adjacency(key)
        {
            core.with_neighbors(|machine, now_ns, out| {
                if machine.get(key).is_some_and(|known| known.mac.is_some()) {
                    let needed = machine.need(now_ns, key, id, Need::Packet, out);
                    needed.unwrap_or_else(|error| crate::neighborhood::told_full(&error));
                }
            });
        }
    }
    later
}

/// Stations are behind their ports again.
pub(super) fn stations(core: &Core, left: &[Seen]) -> usize {
    let (interfaces, table) = (core.dataplane.interfaces(), &core.dataplane.stations.table);
    let now = (core.now_ns() / 1_000_000_000) as u32;
    let mut count = 0;
    for Seen { bridge, port, stations } in left {
        let id = PortName::from_text(port).ok().and_then(|name| core.ports.id_of(&name));
        let row = id.and_then(|id| Some((id, interfaces.get(id)?)));
        let Some((id, row)) = row.filter(|(_, row)| row.bridge_name == *bridge) else { continue };
        let Mode::Bridged(bridged) = &row.mode else { continue };
        for (mac, age_s) in stations {
            table.learn(MacKey::new(bridged.bridge.0, *mac), id.into(), now.wrapping_sub(*age_s));
            count += 1;
        }
    }
    count
}
