//! What this router leaves to the one that is started after it, and what it takes over itself.
//!
//! ```text
//!  started   Left ─▶ neighbours, words, stations, counters, what is other parts' ─▶ packets are read
//!                                                                            ─▶ routes ─▶ RIB
//!  runs      routes: as they come and go      all else, other parts' too: once a second
//! ```
//! The control thread hands bytes, or what makes them, to a thread that writes ([`state::Keeper`]);
//! workers notice nothing. What a killed router leaves is so of routes up to the turn before, of
//! the rest up to a second and a half before. Packets that waited are lost.

mod counting;
pub(crate) mod protocols;
mod recall;
mod route_log;
#[cfg(test)]
mod tests;

use crate::core::Core;
use crate::left::{Left, OfParts};
use crate::neighborhood::told_full;
use crate::part::{Leaves, Part};
use control::config::objects::port::PortName;
use control::engine::ApplyError;
use counting::Counting;
use fib::neighbor::NeighborView;
use nodes::tables::Mode;
use recall::Recall;
use route_log::RouteLog;
use state::neighbors::Neighbor;
use state::stations::Seen;
use state::{Keeper, Table};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Between two snapshots of what is not written as it happens.
const PERIOD: Duration = Duration::from_secs(1);
/// How long neighbours wait for the link of their port, when the router starts.
const LINKS_COME: Duration = Duration::from_secs(10);

/// See the module.
#[derive(Default)]
pub(crate) struct Keeping {
    /// Until it is taken over.
    left: Option<Left>,
    recall: Option<Recall>,
    /// Neighbours behind ports that have no link yet.
    later: Vec<Neighbor>,
    /// What other parts are to take over.
    of_parts: Option<OfParts>,
    kept: Option<Kept>,
    /// Other parts are to say what they would leave.
    asks_parts: bool,
    counting: Counting,
    next: Option<Instant>,
}

struct Kept {
    keeper: Keeper,
    log: RouteLog,
}

impl Keeping {
    /// What is to be taken over, once the configuration runs.
    pub(crate) fn find(&mut self, left: Left) {
        self.left = Some(left);
    }

    /// Adds some of the routes that were left to the RIB; true if there are more.
    pub(crate) fn learn_some(&mut self, core: &mut Core) -> bool {
        let Some(recall) = &mut self.recall else { return false };
        let more = recall.learn_some(core);
        // They stand in the log that they come from, and nobody brings others meanwhile.
        drop((core.routing.ip4.take_journals(), core.routing.ip6.take_journals()));
        if more {
            return true;
        }
        let lost = std::mem::take(&mut recall.lost);
        (self.recall, core.recalled) = (None, None);
        if lost > 0 {
            tracing::info!(
                routes = lost,
                "routes that were left have no place in this configuration"
            );
            // They stand in the log still.
            if let Some(kept) = &mut self.kept {
                kept.log.begin_anew();
            }
        }
        false
    }

    /// Takes over what makes packets go where they went.
    fn take_over(&mut self, core: &mut Core, mut left: Left) {
        left.tell();
        self.later = recall::neighbors(core, std::mem::take(&mut left.neighbors));
        let stations = recall::stations(core, &left.stations);
        counting::go_on(core, &left.counters);
        self.of_parts = Some(std::mem::take(&mut left.parts));
        let read = left.routes.take();
        let routes = read.as_ref().map_or(0, |(routes, _)| routes.len());
        if let Some((routes, _)) = &read {
            let recall = Recall::new(core, routes.clone(), core.fpm_preference);
            recall.forward(core).unwrap_or_else(|error| told_full(&error));
            self.recall = Some(recall);
        }
        core.stands_in = false;
        if let Some(age) = left.age {
            let age_ms = age.as_millis() as u64;
            tracing::info!(routes, stations, age_ms, "took over what a router before left");
        }
        let Some(folder) = left.folder.take() else { return };
        match Keeper::start(folder) {
            Ok(keeper) => {
                let read = read.as_ref().map(|(routes, end)| (&**routes, *end));
                let log = RouteLog::new(core, read, &keeper);
                self.kept = Some(Kept { keeper, log });
            }
            Err(error) => {
                tracing::warn!(fault = "state-folder", %error, "no thread keeps state");
            }
        }
    }

    /// Keeps all that is not written as it happens.
    fn snapshot(&self, core: &Core) {
        let Some(Kept { keeper, .. }) = &self.kept else { return };
        let ports: HashMap<u16, String> =
            core.ports.iter().map(|(name, port)| (port.id, name.to_string())).collect();
        let (now_ns, list) = (core.now_ns(), core.neighborhood.machine.unsorted());
        let names = ports.clone();
        keeper.snapshot(Table::Neighbors, move || {
            let neighbor = |it: NeighborView| {
                let is_learned = it.state != fib::neighbor::NeighborState::Static;
                Some(Neighbor {
                    port: names.get(&it.key.interface)?.clone(),
                    address: it.key.address,
                    mac: it.mac.filter(|_| is_learned)?,
                    age_ms: now_ns.saturating_sub(it.heard_ns) / 1_000_000,
                    is_used: it.adjacency.is_some(),
                })
            };
            state::neighbors::write(list.into_iter().filter_map(neighbor))
        });
        let stations = core.dataplane.stations.clone();
        let bridges: HashMap<u16, String> = core
            .dataplane
            .interfaces()
            .all()
            .filter_map(|row| match &row.mode {
                Mode::Bridged(bridged) => Some((bridged.bridge.0, row.bridge_name.clone())),
                _ => None,
            })
            .collect();
        keeper.snapshot(Table::Stations, move || {
            let mut seen: HashMap<(u16, u32), Vec<_>> = HashMap::new();
            if !stations.table.is_empty() {
                stations.table.for_each(stations.now(), |key, entry, age| {
                    if !entry.is_static {
                        let of = seen.entry((key.domain(), entry.port)).or_default();
                        of.push((key.address(), age));
                    }
                });
            }
            let seen = seen.into_iter().filter_map(|((bridge, port), stations)| {
                let (bridge, port) = (bridges.get(&bridge)?, ports.get(&(port as u16))?);
                Some(Seen { bridge: bridge.clone(), port: port.clone(), stations })
            });
            state::stations::write(&seen.collect::<Vec<_>>())
        });
    }

    /// What other parts are to take over, once.
    pub(crate) fn take_of_parts(&mut self) -> Option<OfParts> {
        self.of_parts.take()
    }

    /// Whether other parts are to say what they would leave.
    pub(crate) fn take_asks_parts(&mut self) -> bool {
        std::mem::take(&mut self.asks_parts)
    }

    /// Keeps what other parts would leave.
    pub(crate) fn keep(&self, all: Vec<Leaves>) {
        let Some(Kept { keeper, .. }) = &self.kept else { return };
        all.into_iter().for_each(|(table, make)| keeper.snapshot(table, make));
    }

    /// Keeps the counters, if all are read by now.
    fn count(&mut self, core: &Core) -> bool {
        let (Some(kept), Some(counters)) = (&self.kept, self.counting.turn(core)) else {
            return false;
        };
        kept.keeper.snapshot(Table::Counters, move || counting::write(&counters));
        true
    }

    /// The last words: all is written when it goes.
    pub(crate) fn end(&mut self, core: &mut Core) {
        self.snapshot(core);
        while self.kept.is_some() && !self.count(core) {}
        if let Some(mut kept) = self.kept.take() {
            // A log that is being written anew is whole before it goes.
            while kept.log.turn(core, &kept.keeper) {}
        }
    }
}

impl Part for Keeping {
    /// Numbers of ports mean others by now.
    fn follow(&mut self, _: &mut Core, _: &PortName) -> Result<(), ApplyError> {
        if let Some(kept) = &mut self.kept {
            kept.log.ports_differ();
        }
        Ok(())
    }

    fn link_up(&mut self, core: &mut Core, _: &PortName) {
        if !self.later.is_empty() {
            self.later = recall::neighbors(core, std::mem::take(&mut self.later));
        }
    }

    /// Ports are there, and nothing is read from them yet.
    fn published(&mut self, core: &mut Core) {
        if let Some(left) = self.left.take() {
            self.take_over(core, left);
        }
    }

    fn turn(&mut self, core: &mut Core, now: Instant) -> bool {
        if core.now_ns() > LINKS_COME.as_nanos() as u64 {
            self.later = Vec::new();
        }
        let Some(kept) = &mut self.kept else { return false };
        let more = kept.log.turn(core, &kept.keeper);
        if self.next.is_none_or(|next| now >= next) && !kept.keeper.is_behind() {
            // With the last of the counters its time is over.
            if self.count(core) {
                self.next = Some(now + PERIOD);
                self.snapshot(core);
                self.asks_parts = true;
            }
        }
        more
    }
}
