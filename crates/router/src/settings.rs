//! What of the configuration is settled at the start: workers, memory, timers.

use crate::parts::icmp::echoes_pps;
use control::config::Config;
use control::config::objects::arp::Arp;
use control::config::objects::memory::Hugepages;
use control::config::objects::workers::{Idle, MAX_VECTOR, Placement};
use dataplane::{Settings, Threads};
use fib::neighbor::NeighborConfig;
use fib::pages::PageSize;
use nodes::tables::Reception;
use packet::Pool;
use std::hash::BuildHasher;
use std::sync::Arc;

/// What can be configured fits the engine's frames.
const _: () = assert!(MAX_VECTOR as usize == packet::VECTOR);

/// What the data plane is started with.
pub(crate) fn settings(
    config: &Config,
    pool: Arc<dyn Pool>,
    wake: Arc<dyn Fn() + Send + Sync>,
) -> Settings {
    let mut settings = Settings::new(pool);
    settings.threads = match &config.workers.placement {
        Placement::Cores(cores) => {
            Threads::Pinned(cores.iter().map(|&core| Some(usize::from(core))).collect())
        }
        Placement::Count(count) => Threads::Pinned(vec![None; usize::from(*count).max(1)]),
        Placement::SingleThread => Threads::Caller,
    };
    settings.idle = match config.workers.idle {
        Idle::Adaptive => graph::Idle::Adaptive,
        Idle::Poll => graph::Idle::Poll,
    };
    settings.page_size = match config.memory.hugepages {
        Hugepages::Never => PageSize::Small,
        Hugepages::Auto | Hugepages::Require => PageSize::Huge,
    };
    settings.ip4.page_size = settings.page_size;
    settings.ip4.max_routes = config.memory.routes as usize;
    settings.stations = config.memory.macs as usize;
    // A route longer than /24 takes at most two nodes: the routes' own limit is met first.
    settings.ip4_nodes = settings.ip4.max_routes * 2;
    settings.ip6_routes = config.memory.ip6_routes as usize;
    settings.ip6_max_bytes = IP6_LEAST_BYTES + settings.ip6_routes * IP6_ROUTE_BYTES;
    settings.icmp_errors_per_second = config.icmp.errors_pps;
    settings.icmp_echoes_per_second = echoes_pps(&config.icmp);
    settings.reception = Reception {
        vector_packets: usize::from(config.workers.vector_packets),
        burn_cycles: config.workers.burn_cycles,
    };
    settings.flow_seed = std::hash::RandomState::new().hash_one(0) as u32;
    settings.wake = wake;
    settings
}

/// What IPv6 tables may grow to: several times what real routes take, whatever those are like.
const IP6_ROUTE_BYTES: usize = 1024;
/// Widest nodes of a table of a few routes, and of the tables of VRFs.
const IP6_LEAST_BYTES: usize = 64 << 20;

/// How neighbours are asked and forgotten.
pub(crate) fn neighbor_config(arp: &Arp) -> NeighborConfig {
    NeighborConfig {
        tries: arp.attempts.min(u16::from(u8::MAX)) as u8,
        retry_ns: arp.retry.as_nanos() as u64,
        reachable_ns: arp.lifetime.as_nanos() as u64,
        keep: arp.keep,
        requests_per_s: arp.requests_pps,
        ..NeighborConfig::default()
    }
}
