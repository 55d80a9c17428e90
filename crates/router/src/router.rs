//! The router itself: all that the control thread owns, and its turn now and then.

use crate::access::AccessLists;
use crate::advertiser::Advertiser;
use crate::binding::Binding;
use crate::bridging::Bridging;
use crate::dad::Dad;
use crate::devices::{DeviceError, Devices};
use crate::fpm::Feed;
use crate::interfaces::{OpenPort, OpenPorts};
use crate::listening::Listening;
use crate::mirroring::Mirroring;
use crate::neighborhood::Neighborhood;
use crate::observing::Observing;
use crate::policing::Policers;
use crate::reassembling::Reassembling;
use crate::routing::Routes;
use crate::twins::Twinning;
use crate::vrfs::VrfNumbers;
use control::config::Config;
use control::config::objects::icmp::Icmp;
use control::config::objects::memory::Hugepages;
use control::config::objects::mirror::Direction;
use control::config::objects::port::PortName;
use control::config::objects::vrf;
use control::config::objects::workers::{Idle, MAX_VECTOR, Placement};
use dataplane::{
    BridgedTotals, Dataplane, DataplaneError, InterfaceTotals, MirroredTotals, NodeTotals,
    Settings, Threads, TwinnedTotals,
};
use fib::FibError;
use fib::neighbor::{Action, NeighborConfig, NeighborKey, Neighbors};
use fib::pages::PageSize;
use graph::Worker;
use kernel::Waker;
use nodes::filter::{
    acl_input::AclInput, acl_output::AclOutput, allow_input::AllowInput,
    policer_input::PolicerInput, policer_output::PolicerOutput, urpf_input::UrpfInput,
};
use nodes::interface::{mirror_input::MirrorInput, mirror_output::MirrorOutput};
use nodes::ip::redirect_input::{RedirectInput, Redirects};
use nodes::local::Twin;
use nodes::port::Shaped;
use nodes::tables::{ArpNews, Mode, Reception, SlowPathNews};
use packet::Pool;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two looks at the links.
const LINK_PERIOD: Duration = Duration::from_millis(200);
/// Between two attempts to open a device that went away.
const REOPEN_PERIOD: Duration = Duration::from_secs(1);
/// Longest that the router wants to be left alone.
const TICK_PERIOD: Duration = Duration::from_millis(20);
/// How long one turn of the worker may keep the control thread, where one thread does all.
const LOCAL_TURN: Duration = Duration::from_micros(500);
/// News taken in one turn.
const NEWS_A_TURN: usize = 4096;

/// Why the router does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No packets to be had.
    #[error(transparent)]
    Devices(#[from] DeviceError),
    /// No workers or tables.
    #[error(transparent)]
    Dataplane(#[from] DataplaneError),
    /// No routes.
    #[error(transparent)]
    Table(#[from] FibError),
    /// Nothing to wake the kernel's twins with.
    #[error("no event file: {0}")]
    Waker(#[from] std::io::Error),
    /// Neither kind of pool.
    #[error("there is no pool of packet buffers")]
    NoPool,
}

/// The running router. Implements [`control::engine::Engine`].
pub struct Router {
    /// First, so that it ends first: its thread uses buffers and queues.
    pub(crate) twinning: Twinning,
    pub(crate) dataplane: Dataplane,
    pub(crate) devices: Devices,
    pub(crate) pool: Arc<dyn Pool>,
    pub(crate) ports: OpenPorts,
    pub(crate) routing: Routes,
    pub(crate) vrfs: VrfNumbers,
    pub(crate) neighborhood: Neighborhood,
    pub(crate) dad: Dad,
    pub(crate) advertiser: Advertiser,
    pub(crate) listening: Listening,
    pub(crate) reassembling: Reassembling,
    pub(crate) bridging: Bridging,
    pub(crate) binding: Binding,
    pub(crate) mirroring: Mirroring,
    pub(crate) access: AccessLists,
    pub(crate) policers: Policers,
    pub(crate) feed: Feed,
    pub(crate) observing: Observing,
    pub(crate) cleared: Cleared,
    pub(crate) started: Instant,
    local: Option<Worker>,
    next_link_look: Instant,
    next_reopen: Instant,
    pub(crate) next_remote_look: Instant,
}

/// Counters as they stood when they were last cleared.
#[derive(Default)]
pub(crate) struct Cleared {
    pub(crate) nodes: Vec<NodeTotals>,
    pub(crate) interfaces: HashMap<u16, InterfaceTotals>,
    pub(crate) drops: HashMap<(u16, &'static str, String), u64>,
    pub(crate) bridged: HashMap<u16, BridgedTotals>,
    pub(crate) mirrored: HashMap<u16, MirroredTotals>,
    pub(crate) twinned: HashMap<u16, TwinnedTotals>,
}

impl Router {
    /// Starts workers and memory as `config` says; nothing else of it is applied yet. `wake` is
    /// called, from any thread, when [`control::engine::Engine::tick`] should be called soon.
    pub fn start(config: &Config, wake: Arc<dyn Fn() + Send + Sync>) -> Result<Self, StartError> {
        let devices = Devices::start(config)?;
        let pool = devices.pool().ok_or(StartError::NoPool)?;
        let (waker, mut settings) =
            (Waker::new()?, settings(config, Arc::clone(&pool), Arc::clone(&wake)));
        let wakes = waker.clone();
        settings.wake_twins = Arc::new(move || wakes.wake());
        let mut dataplane = Dataplane::start(&settings)?;
        let routing = Routes::new(&dataplane)?;
        let neighborhood = Neighborhood::new(
            neighbor_config(config),
            config.arp.hold_packets.into(),
            pool.cache(),
            dataplane.injector.clone(),
        );
        let local = dataplane.take_local_worker();
        let feed = Feed::new(Arc::clone(&wake));
        // Workers of their own find what is injected by themselves.
        let injected = if local.is_some() { wake } else { Arc::new(|| ()) };
        let twinning = Twinning::new(&mut dataplane, &pool, waker, injected);
        let now = Instant::now();
        Ok(Self {
            twinning,
            dataplane,
            devices,
            pool,
            ports: BTreeMap::new(),
            routing,
            vrfs: VrfNumbers::default(),
            neighborhood,
            dad: Dad::default(),
            advertiser: Advertiser::default(),
            listening: Listening::default(),
            reassembling: Reassembling::new(),
            bridging: Bridging::new(),
            binding: Binding::default(),
            mirroring: Mirroring::default(),
            access: AccessLists::default(),
            policers: Policers::default(),
            feed,
            observing: Observing::default(),
            cleared: Cleared::default(),
            started: now,
            local,
            next_link_look: now,
            next_reopen: now,
            next_remote_look: now,
        })
    }

    /// Time on the clock of neighbours.
    pub(crate) fn now_ns(&self) -> u64 {
        self.started.elapsed().as_nanos() as u64
    }

    /// The port of an interface id.
    pub(crate) fn port_of(&self, id: u16) -> Option<(&PortName, &OpenPort)> {
        self.ports.iter().find(|(_, port)| port.rows().any(|row| row == id))
    }

    /// Ids by name.
    pub(crate) fn ids(&self) -> HashMap<PortName, u16> {
        self.ports.iter().map(|(name, port)| (name.clone(), port.id)).collect()
    }

    /// Writes every port's row into the data plane's table, where it changed.
    pub(crate) fn publish_rows(&mut self) {
        let ids = self.ids();
        for (name, port) in &self.ports {
            let mut row = port.row(name, &ids);
            row.ip4.extend(port.borrowed(&self.ports));
            port.stand_on_others(&mut row, &ids, &self.ports, &self.vrfs);
            row.vrf = self.vrf_of(&port.config);
            row.put(self.dataplane.is_shaped(row.port).then_some(Shaped));
            row.set::<MirrorInput>(self.mirroring.of(name, &ids, Direction::Received));
            row.set::<MirrorOutput>(self.mirroring.of(name, &ids, Direction::Sent));
            let filters = &port.config.filters;
            row.set::<AclInput>(self.access.of(filters.acl_in.as_ref()));
            row.set::<AclOutput>(self.access.of(filters.acl_out.as_ref()));
            row.set::<UrpfInput>(filters.urpf.map(crate::access::reverse_check));
            let allowed =
                filters.allow.as_ref().map(|allow| crate::access::allowed(allow, &self.vrfs));
            row.set::<AllowInput>(allowed);
            let (received, sent) = self.policers.of(&port.config);
            row.set::<PolicerInput>(received);
            row.set::<RedirectInput>(port.config.redirects.then_some(Redirects));
            row.set::<PolicerOutput>(sent);
            row.put(self.twinning.has(name).then_some(Twin));
            if let Some(bridged) = self.bridging.port(name) {
                row.mode = Mode::Bridged(bridged);
                let bridge = self.bridging.name_of(bridged.bridge.0);
                row.bridge_name = bridge.map_or_else(String::new, ToString::to_string);
            }
            if row.mode == Mode::Routed {
                row.vrf_name = vrf::name_of(port.config.vrf.as_ref()).to_owned();
            }
            let mut rows = port.remote_rows(&mut row);
            rows.push((port.id, row));
            for (id, row) in rows {
                if self.dataplane.interfaces().get(id) != Some(&row) {
                    self.dataplane.set_interface(id, Some(row));
                }
            }
        }
        self.twinning.settle(&self.ports);
    }

    /// Carries out what neighbours are owed now.
    pub(crate) fn settle_neighbors(&mut self) {
        let now_ns = self.now_ns();
        let Self { routing, neighborhood, ports, dataplane, .. } = self;
        let by_id: HashMap<u16, &OpenPort> = ports.values().map(|port| (port.id, port)).collect();
        let link = |id: u16| by_id.get(&id).map(|port| (port.link_header(), port.config.mtu));
        let source = |id: u16, neighbor: IpAddr| {
            let port = by_id.get(&id).filter(|port| port.carries())?;
            let row = dataplane.interfaces().get(id)?;
            let own = match neighbor {
                IpAddr::V4(to) => row.ip4_towards(to.into()).map(|own| Ipv4Addr::from(own).into()),
                IpAddr::V6(to) => row.ip6_towards(to.into()).map(|own| Ipv6Addr::from(own).into()),
            };
            Some((port.mac, own?))
        };
        neighborhood.settle(now_ns, routing, &link, &source);
    }

    /// Turns the local worker, where there is one, for a moment; says whether it was busy.
    pub(crate) fn turn_local(&mut self) -> bool {
        let Some(worker) = &mut self.local else { return false };
        let start = Instant::now();
        while start.elapsed() < LOCAL_TURN {
            if worker.turn().is_some() {
                return false;
            }
        }
        true
    }

    /// The local worker, for who must turn it while the router is borrowed.
    pub(crate) fn take_local(&mut self) -> Option<Worker> {
        self.local.take()
    }

    /// Ends [`Router::take_local`].
    pub(crate) fn give_back_local(&mut self, worker: Option<Worker>) {
        self.local = worker;
    }

    /// Calls the neighbour machine.
    pub(crate) fn with_neighbors(
        &mut self,
        call: impl FnOnce(&mut Neighbors, u64, &mut Vec<Action>),
    ) {
        let now_ns = self.now_ns();
        self.neighborhood.call(now_ns, call);
    }

    /// One turn: news, neighbours, links, traces; says when the next is due.
    pub(crate) fn turn(&mut self) -> Duration {
        let busy = self.turn_local();
        self.read_news();
        let busy = self.hear_fpm() || busy;
        self.turn_ip6();
        self.turn_reassembly();
        self.settle_neighbors();
        self.look_at_links();
        self.age_stations();
        self.age_remotes(Instant::now());
        self.publish_bindings(Instant::now());
        self.observing.collect();
        if self.observing.capture_is_full() {
            self.observing.stop_capture(&self.dataplane);
        }
        self.dataplane.reclaim();
        match (busy, self.local.is_some()) {
            (true, _) => Duration::ZERO,
            (false, true) => Duration::from_millis(1),
            (false, false) => self.until_next_due(),
        }
    }

    fn until_next_due(&self) -> Duration {
        let due = [
            self.neighborhood.machine.next_due_ns(),
            self.dad.next_due_ns(),
            self.advertiser.next_due_ns(),
            self.listening.next_due_ns(),
            self.reassembling.next_due_ns(),
        ];
        let due_ns = due.into_iter().flatten().min().unwrap_or(u64::MAX);
        Duration::from_nanos(due_ns.saturating_sub(self.now_ns())).min(TICK_PERIOD)
    }

    fn read_news(&mut self) {
        for _ in 0..NEWS_A_TURN {
            let Some(news) = self.dataplane.events.next() else { return };
            let now_ns = self.now_ns();
            match news {
                SlowPathNews::Moved(moved) => self.station_moved(&moved),
                SlowPathNews::Binding(news) => self.binding_heard(&news),
                SlowPathNews::RemoteHeard { interface, remote } => {
                    self.remote_heard(interface, remote);
                }
                SlowPathNews::ListenersWanted { interface, within_ms } => {
                    self.listening.asked(now_ns, interface, within_ms);
                }
                SlowPathNews::Piece { scope, packet } => self.piece_came(now_ns, scope, packet),
                SlowPathNews::BetterWay(way) => self.redirect(&way),
                SlowPathNews::Arp(news) => self.hear(now_ns, &news),
                SlowPathNews::Nd(news) => self.hear_nd(now_ns, &news),
                SlowPathNews::Unresolved { next_hop, interface, packet, .. } => {
                    let key = NeighborKey { interface, address: next_hop };
                    let port = self.ports.values().find(|port| port.id == interface);
                    let own = port.map(|port| (port.link_header(), port.config.mtu));
                    match self.routing.adjacency(key, &|_| own) {
                        Ok(Some(id)) => self.neighborhood.hold(now_ns, key, id, packet),
                        Ok(None) | Err(_) => self.neighborhood.discard(packet),
                    }
                }
            }
        }
    }

    /// Believes what ARP says of neighbours; a claim on an address of ours is told and answered.
    fn hear(&mut self, now_ns: u64, news: &ArpNews) {
        let port = self.ports.values().find(|port| port.id == news.interface);
        let row = self.dataplane.interfaces().get(news.interface);
        let own = port.filter(|_| row.is_some_and(|row| row.has_ip4(news.address)));
        match own.map(|port| port.mac) {
            Some(mac) => {
                let own = Ipv4Addr::from(news.address).into();
                self.neighborhood.defend(now_ns, news.interface, own, news.mac, mac);
            }
            None => self.neighborhood.heard(now_ns, news),
        }
    }

    /// Notices links that went or came, and devices to be opened again.
    fn look_at_links(&mut self) {
        let now = Instant::now();
        if now < self.next_link_look {
            return;
        }
        self.next_link_look = now + LINK_PERIOD;
        let reopen = now >= self.next_reopen;
        if reopen {
            self.next_reopen = now + REOPEN_PERIOD;
        }
        let names: Vec<PortName> = self.ports.keys().cloned().collect();
        for name in names {
            self.look_at_link(&name, reopen);
        }
        self.look_after_twins(reopen);
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let names: Vec<PortName> = self.ports.keys().cloned().collect();
        names.iter().for_each(|name| self.end_advertising(name));
    }
}

/// What can be configured fits the engine's frames.
const _: () = assert!(MAX_VECTOR as usize == packet::VECTOR);

fn settings(config: &Config, pool: Arc<dyn Pool>, wake: Arc<dyn Fn() + Send + Sync>) -> Settings {
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

/// Echo replies a second: none where they are switched off.
pub(crate) fn echoes_pps(icmp: &Icmp) -> u32 {
    if icmp.echo { icmp.echo_pps } else { 0 }
}

/// What IPv6 tables may grow to: several times what real routes take, whatever those are like.
const IP6_ROUTE_BYTES: usize = 1024;
/// Widest nodes of a table of a few routes, and of the tables of VRFs.
const IP6_LEAST_BYTES: usize = 64 << 20;

fn neighbor_config(config: &Config) -> NeighborConfig {
    let arp = &config.arp;
    NeighborConfig {
        tries: arp.attempts.min(u16::from(u8::MAX)) as u8,
        retry_ns: arp.retry.as_nanos() as u64,
        reachable_ns: arp.lifetime.as_nanos() as u64,
        requests_per_s: arp.requests_pps,
        ..NeighborConfig::default()
    }
}
