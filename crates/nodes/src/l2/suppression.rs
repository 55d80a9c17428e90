//! What answers in a bridge stand on: who has which address, where that station is, and what tells
//! of it.
//!
//! ```text
//!  bindings ─▶ stations: is it behind another port? ─▶ the answer        what passes ─▶ punts, so many a second
//! ```

use crate::tables::{
    BindingHeard, Bindings, Bound, BridgeId, Punt, RateLimit, Setup, SlowPath, Stations,
};
use fib::mac::MacKey;
use graph::{Context, Published};
use std::net::IpAddr;

/// Bindings told a second, worker and node.
const PUNTS_PER_SECOND: u32 = 1000;

/// See the module.
pub struct Suppression {
    bindings: Published<Bindings>,
    stations: Stations,
    slow_path: SlowPath,
    limit: RateLimit,
}

/// The same for one call of a node.
pub struct Heeded<'a> {
    bindings: &'a Bindings,
    stations: &'a Stations,
    slow_path: &'a SlowPath,
    limit: &'a mut RateLimit,
    now_tsc: u64,
}

impl Suppression {
    /// With all bindings and stations there are.
    pub fn new(setup: &Setup) -> Self {
        Self {
            bindings: setup.shared.bindings.clone(),
            stations: setup.shared.stations.clone(),
            slow_path: setup.shared.slow_path.clone(),
            limit: RateLimit::new(PUNTS_PER_SECOND),
        }
    }

    /// As of now.
    pub fn heed<'a, 'call: 'a>(&'a mut self, context: &Context<'call>) -> Heeded<'a> {
        let Self { bindings, stations, slow_path, limit } = self;
        let (bindings, now_tsc) = (bindings.get(context), context.now_tsc);
        Heeded { bindings, stations, slow_path, limit, now_tsc }
    }
}

impl Heeded<'_> {
    /// Whoever has `address`.
    pub fn bound(&self, bridge: BridgeId, address: IpAddr) -> Option<Bound> {
        self.bindings.get(bridge, address)
    }

    /// Whoever has `address`, if that station is not behind the port `rx` itself, and known
    /// where the binding was heard.
    pub fn elsewhere(&self, bridge: BridgeId, address: IpAddr, rx: u16) -> Option<Bound> {
        self.bound(bridge, address).filter(|bound| {
            let key = MacKey::new(bridge.0, bound.mac);
            let behind = self.stations.table.lookup(key, self.stations.now());
            behind.map_or(bound.is_fixed, |station| station.port != u32::from(rx))
        })
    }

    /// Tells the control thread of a binding that it does not have so. What is missed now is heard
    /// again.
    pub fn tell(&mut self, punt: BindingHeard) {
        let known = self.bound(punt.bridge, punt.address);
        let is_news = known.is_none_or(|known| !known.is_fixed && known != punt.bound);
        if is_news && self.limit.take(self.now_tsc) {
            let _missed = self.slow_path.tell(Punt::Binding(punt));
        }
    }
}
