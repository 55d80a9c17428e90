//! Bridges of flows, as workers see them, and what each worker remembers of them.
//!
//! ```text
//!  control side ── Published FlowBridges: tables, numbers of ports ──▶ every worker
//!  a worker's nodes ◀── Handed FlowState: what tables came to, of each bridge ──▶ each other
//! ```
//! Tables are shared and never changed: a change is another value, that shares what stayed.

use crate::interface::Exporter;
use crate::tables::{BridgeId, BridgePort, FlowPort};
use conntrack::{Table, Timeouts};
use flow::{Cache, CameBy, InTunnel, Key, Remembered, Snapshot};
use packet::prefetch_read;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Where packets for a number of a bridge go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowRow {
    /// The interface.
    pub interface: u16,
    /// It is the router's own there.
    pub is_own: bool,
}

/// A bridge of flows.
#[derive(Clone, Debug, Default)]
pub struct FlowBridge {
    /// Its tables.
    pub snapshot: Snapshot,
    /// Its ports by number.
    pub rows: Arc<BTreeMap<u16, FlowRow>>,
    /// Those of them that are tunnels, as their packets tell flows.
    pub tunnels: Arc<BTreeMap<u16, CameBy>>,
    /// Connections, where its flows ask for them.
    pub tracking: Option<Arc<Tracking>>,
    /// Who is told of what its flows sample, by number.
    pub collectors: Arc<BTreeMap<u32, Arc<Exporter>>>,
}

impl FlowBridge {
    /// The tunnel that a port is, if it is one.
    #[inline]
    pub fn tunnel(&self, port: u16) -> Option<&CameBy> {
        if self.tunnels.is_empty() { None } else { self.tunnels.get(&port) }
    }

    /// Makes a key that of a packet that came by a port, for what is known of tunnels; `own`: what
    /// the packet says where its tunnel does not.
    #[inline]
    pub fn tell_tunnel(&self, port: u16, own: InTunnel, key: &mut Key) {
        match self.tunnel(port) {
            Some(tunnel) => tunnel.tell(own, key),
            None => key.forget_tunnel(),
        }
    }
}

/// Connections that flows know: those of all bridges, told apart by zones.
#[derive(Debug)]
pub struct Tracking {
    /// Which there are.
    pub table: Table,
    /// For how long they are kept.
    pub timeouts: Timeouts,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub struct FlowBridges(Vec<Option<Arc<FlowBridge>>>);

impl FlowBridges {
    /// One.
    #[inline]
    pub fn get(&self, bridge: BridgeId) -> Option<&Arc<FlowBridge>> {
        self.0.get(usize::from(bridge.0))?.as_ref()
    }

    /// The one that an interface is a port of, and as what.
    #[inline]
    pub fn of(&self, port: &BridgePort) -> Option<(FlowPort, &Arc<FlowBridge>)> {
        let flow = port.flow?;
        Some((flow, self.get(flow.bridge)?))
    }

    /// The same with another one, or without it.
    #[must_use]
    pub fn with(&self, bridge: BridgeId, value: Option<FlowBridge>) -> Self {
        let (mut all, at) = (self.0.clone(), usize::from(bridge.0));
        if all.len() <= at {
            all.resize(at + 1, None);
        }
        all[at] = value.map(Arc::new);
        Self(all)
    }
}

/// The time that flows count by: nanoseconds since the router began, from 1 on.
#[derive(Clone, Debug)]
pub enum FlowClock {
    /// The machine's.
    Machine(Instant),
    /// Somebody else's, in nanoseconds.
    Given(Arc<AtomicU64>),
}

impl Default for FlowClock {
    fn default() -> Self {
        Self::Machine(Instant::now())
    }
}

impl FlowClock {
    /// Now.
    pub fn now_ns(&self) -> u64 {
        1 + match self {
            Self::Machine(start) => start.elapsed().as_nanos() as u64,
            Self::Given(ns) => ns.load(Ordering::Relaxed),
        }
    }
}

/// Megaflows that a worker remembers of a bridge, at most: about 1 kB each.
pub const MOST_MEGAFLOWS: usize = 1 << 16;

/// What a worker remembers.
#[derive(Default)]
pub struct FlowState {
    caches: Vec<Option<Box<Cache>>>,
}

impl FlowState {
    /// What it remembers of a bridge.
    #[inline]
    pub fn cache(&mut self, bridge: BridgeId) -> &mut Cache {
        let at = usize::from(bridge.0);
        if self.caches.len() <= at {
            self.caches.resize_with(at + 1, || None);
        }
        self.caches[at].get_or_insert_with(|| Box::new(Cache::new(MOST_MEGAFLOWS)))
    }

    /// Whether packets of some bridge were not counted yet.
    pub fn is_dirty(&self) -> bool {
        self.caches.iter().flatten().any(|cache| cache.is_dirty())
    }

    /// Counts them.
    pub fn flush(&mut self, now_ns: u64) {
        self.caches.iter_mut().flatten().for_each(|cache| cache.flush(now_ns, prefetch_read));
    }

    /// Has what is of bridges as they are, counted.
    pub fn follow(&mut self, bridges: &FlowBridges, now_ns: u64) {
        self.flush(now_ns);
        self.retain(|bridge| bridges.get(bridge).is_some());
        for (at, cache) in self.caches.iter_mut().enumerate() {
            if let (Some(cache), Some(bridge)) = (cache, bridges.get(BridgeId(at as u16))) {
                cache.follow(bridge.snapshot.generation, now_ns);
            }
        }
    }

    /// Tells of megaflows of all bridges, from a bridge and a place on, so many at most: where to
    /// go on, if there are more.
    pub fn tell(
        &self,
        from: (usize, usize),
        most: usize,
        tell: &mut dyn FnMut(BridgeId, Remembered),
    ) -> Option<(usize, usize)> {
        let (at, place) = from;
        let cache = self.caches.get(at)?;
        let id = BridgeId(at as u16);
        let next = cache.as_ref().and_then(|cache| cache.tell(place, most, &mut |it| tell(id, it)));
        Some(next.map_or((at + 1, 0), |place| (at, place)))
    }

    /// Forgets bridges that are gone.
    pub fn retain(&mut self, is_there: impl Fn(BridgeId) -> bool) {
        for (at, cache) in self.caches.iter_mut().enumerate() {
            if !is_there(BridgeId(at as u16)) {
                *cache = None;
            }
        }
    }
}
