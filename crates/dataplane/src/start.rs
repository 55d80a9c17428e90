//! Making the tables and the workers, and what the control thread holds of them.

use fib::FibError;
use fib::adjacency::AdjacencyTable;
use fib::ecmp::EcmpTable;
use fib::ip4::{Ip4Layout, Ip4Nodes, Ip4Options, Ip4Table};
use fib::ip6::{Ip6Pool, Ip6Table};
use fib::mac::MacTable;
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use graph::{Graph, GraphSettings, Idle, Layout, LayoutError, Publisher, Worker, WorkerHandle};
use nodes::port::Shaped;
use nodes::tables::{
    Bindings, EchoIds, FlowBridges, FlowClock, FlowRules, FlowsTold, IcmpLimits, Injector,
    Interface, Interfaces, Ip4Rules, LastDropped, Lisp, Listeners, NextHopCounters, Punts,
    Reception, Setup, Shared, Stations, ToTwin, TwinLimits, VrfId, VrfTables, Vrfs, WorkerCounters,
    slow_path, twin_queue,
};
use packet::Pool;
use sched::{Config, WaitingRoom};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

/// Who runs the graphs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Threads {
    /// A thread for each entry, pinned to the core it names.
    Pinned(Vec<Option<usize>>),
    /// No thread of its own: the caller turns the one worker ([`Dataplane::take_local_worker`]).
    Caller,
}

/// How a data plane is made.
#[derive(Clone)]
pub struct Settings {
    /// Who runs it.
    pub threads: Threads,
    /// What workers do without packets.
    pub idle: Idle,
    /// Where packet buffers come from.
    pub pool: Arc<dyn Pool>,
    /// The IPv4 table.
    pub ip4: Ip4Options,
    /// Second-level nodes that IPv4 tables share.
    pub ip4_nodes: usize,
    /// Most IPv6 routes.
    pub ip6_routes: usize,
    /// The most that IPv6 tables may grow to.
    pub ip6_max_bytes: usize,
    /// Next hops in all: more than there are neighbours.
    pub adjacencies: usize,
    /// Stations of all bridges.
    pub stations: usize,
    /// Groups of next hops that share flows.
    pub groups: usize,
    /// Buckets of all groups: 16 or more a member.
    pub group_buckets: usize,
    /// Makes flows choose differently from those of the router before this one.
    pub flow_seed: u32,
    /// The time that bridges of flows count by.
    pub flow_clock: FlowClock,
    /// Pages of the tables.
    pub page_size: PageSize,
    /// ICMP errors a second, of each worker.
    pub icmp_errors_per_second: u32,
    /// Echo replies a second, of each worker; 0: none.
    pub icmp_echoes_per_second: u32,
    /// How packets are received.
    pub reception: Reception,
    /// Packets that may wait for the kernel's twins; of the control thread's, twice as many.
    pub slow_path_most: usize,
    /// What of each kind may wait for the control thread, of one interface and family.
    pub punts_most: usize,
    /// Called by workers when they have told the control thread something.
    pub wake: Arc<dyn Fn() + Send + Sync>,
    /// Called by workers when they have handed packets to the kernel's twins.
    pub wake_twins: Arc<dyn Fn() + Send + Sync>,
}

impl Settings {
    /// One worker turned by the caller, tables of usual size.
    pub fn new(pool: Arc<dyn Pool>) -> Self {
        Self {
            threads: Threads::Caller,
            idle: Idle::Adaptive,
            pool,
            ip4: Ip4Options::default(),
            ip4_nodes: 1 << 20,
            ip6_routes: 1 << 20,
            ip6_max_bytes: 1 << 30,
            adjacencies: 1 << 17,
            stations: 1 << 16,
            groups: 1 << 14,
            group_buckets: 1 << 20,
            flow_seed: 0,
            flow_clock: FlowClock::default(),
            page_size: PageSize::Huge,
            icmp_errors_per_second: 1000,
            icmp_echoes_per_second: 1_000_000,
            reception: Reception::default(),
            slow_path_most: 1024,
            punts_most: 256,
            wake: Arc::new(|| ()),
            wake_twins: Arc::new(|| ()),
        }
    }
}

/// Why there is no data plane.
#[derive(Debug, thiserror::Error)]
pub enum DataplaneError {
    /// The nodes make no graph: a fault in the program.
    #[error("the packet graph cannot be built: {0}")]
    Layout(#[from] LayoutError),
    /// A table cannot be made.
    #[error(transparent)]
    Table(#[from] FibError),
    /// A thread cannot be started.
    #[error("a worker thread cannot be started: {0}")]
    Thread(#[from] std::io::Error),
    /// A port has too few transmit queues.
    #[error("port {port} has {queues} transmit queues, and each of {workers} workers needs one")]
    TooFewQueues {
        /// Which port.
        port: u16,
        /// What it has.
        queues: usize,
        /// What it needs.
        workers: usize,
    },
}

/// The control thread's hold on the forwarding half.
pub struct Dataplane {
    /// The graph's shape, the same on each worker.
    pub layout: Arc<Layout<Setup>>,
    /// IPv4 routes of the default VRF, written by the control thread alone.
    pub ip4: Arc<Ip4Table>,
    /// Second-level nodes that all IPv4 tables share.
    pub ip4_nodes: Arc<Ip4Nodes>,
    /// The memory that all IPv6 tables share.
    pub ip6_pool: Arc<Ip6Pool>,
    /// IPv6 routes of the default VRF, written by the control thread alone.
    pub ip6: Arc<Ip6Table>,
    /// Link-local addresses by interface, written by the control thread alone.
    pub ip6_links: Arc<Ip6Table>,
    /// Next hops, written by the control thread alone.
    pub adjacencies: Arc<AdjacencyTable>,
    /// Stations of all bridges, learned by the workers, aged by the control thread.
    pub stations: Stations,
    /// Groups of next hops, written by the control thread alone.
    pub groups: Arc<EcmpTable>,
    /// How much ICMP each worker may send.
    pub icmp: Arc<IcmpLimits>,
    /// Which IPv4 addresses are hosts'.
    pub ip4_rules: Arc<Ip4Rules>,
    /// What tells flows apart.
    pub flows: Arc<FlowRules>,
    /// Whether packets are counted by next hop.
    pub counts_next_hops: Arc<AtomicBool>,
    /// Whether some interface's packets are routed by a policy.
    pub has_policies: Arc<AtomicBool>,
    /// Whose echo requests are under way, written by the control thread alone.
    pub echo_ids: Arc<EchoIds>,
    /// How much each worker may hand to the kernel's twins.
    pub twin_limits: Arc<TwinLimits>,
    /// What workers say.
    pub events: Punts,
    /// Packets to send, by way of the first worker.
    pub injector: Injector,
    pub(crate) interfaces: Publisher<Interfaces>,
    vrfs: Publisher<Vrfs>,
    bindings: Publisher<Bindings>,
    listeners: Publisher<Listeners>,
    lisp: Publisher<Lisp>,
    /// Bridges of flows: written by who speaks with their controllers.
    pub flow_bridges: Arc<Mutex<Publisher<FlowBridges>>>,
    /// The time that flows count by.
    pub flow_clock: FlowClock,
    pub(crate) workers: Vec<WorkerSlot>,
    /// Ports with a scheduler, and what that was made by.
    pub(crate) shaped: BTreeMap<u16, Config>,
    pub(crate) readers: Arc<Quiescence>,
    local: Option<Worker>,
    twin_packets: Option<Receiver<ToTwin>>,
}

pub(crate) struct WorkerSlot {
    pub(crate) handle: WorkerHandle,
    pub(crate) setup: Setup,
    pub(crate) core: Option<usize>,
}

impl Dataplane {
    /// Starts it: tables empty, no interface, workers idle.
    pub fn start(settings: &Settings) -> Result<Self, DataplaneError> {
        let layout = Arc::new(Layout::new(nodes::ALL)?);
        let readers = Quiescence::new();
        let interfaces = Publisher::new(Interfaces::default(), &readers);
        let bindings = Publisher::new(Bindings::default(), &readers);
        let listeners = Publisher::new(Listeners::default(), &readers);
        let lisp = Publisher::new(Lisp::default(), &readers);
        let flow_bridges = Publisher::new(FlowBridges::default(), &readers);
        let flow_clock = settings.flow_clock.clone();
        let ip4_nodes = Ip4Nodes::new(settings.ip4_nodes, settings.page_size, &readers)?;
        let ip6_pool = Ip6Pool::new(settings.ip6_max_bytes, settings.page_size, &readers)?;
        let ip4 = Arc::new(Ip4Table::new(&ip4_nodes, settings.ip4)?);
        let ip6 = Arc::new(Ip6Table::new(&ip6_pool, settings.ip6_routes));
        let tables = VrfTables { ip4: Arc::clone(&ip4), ip6: Arc::clone(&ip6) };
        let vrfs = Publisher::new(Vrfs::new(tables), &readers);
        let stations = MacTable::new(settings.stations, settings.page_size, &readers)?;
        let (slow_path, events) = slow_path(settings.punts_most, Arc::clone(&settings.wake));
        let (twins, twin_packets) =
            twin_queue(settings.slow_path_most, Arc::clone(&settings.wake_twins));
        let shared = Shared {
            interfaces: interfaces.published(),
            vrfs: vrfs.published(),
            bindings: bindings.published(),
            listeners: listeners.published(),
            lisp: lisp.published(),
            flow_bridges: flow_bridges.published(),
            flow_clock: flow_clock.clone(),
            ip6_links: Arc::new(Ip6Table::new(&ip6_pool, settings.adjacencies)),
            adjacencies: Arc::new(AdjacencyTable::new(settings.adjacencies, &readers)?),
            stations: Stations::new(stations),
            groups: Arc::new(EcmpTable::new(settings.groups, settings.group_buckets, &readers)?),
            flow_seed: settings.flow_seed,
            flows: Arc::default(),
            counts_next_hops: Arc::default(),
            has_policies: Arc::default(),
            slow_path,
            icmp: Arc::new(IcmpLimits {
                errors_per_second: settings.icmp_errors_per_second.into(),
                echoes_per_second: settings.icmp_echoes_per_second.into(),
                echoes_broadcasts: false.into(),
            }),
            ip4: Arc::default(),
            echo_ids: Arc::default(),
            twins,
            twin_limits: Arc::default(),
            reception: settings.reception,
            waiting_room: Arc::new(WaitingRoom::of_pool(settings.pool.usage().total)),
        };
        let (injector, injected) = Injector::new(settings.slow_path_most * 2);
        let mut dataplane = Self {
            layout,
            ip4,
            ip4_nodes,
            ip6_pool,
            ip6,
            ip6_links: Arc::clone(&shared.ip6_links),
            adjacencies: Arc::clone(&shared.adjacencies),
            stations: shared.stations.clone(),
            groups: Arc::clone(&shared.groups),
            icmp: Arc::clone(&shared.icmp),
            ip4_rules: Arc::clone(&shared.ip4),
            flows: Arc::clone(&shared.flows),
            counts_next_hops: Arc::clone(&shared.counts_next_hops),
            has_policies: Arc::clone(&shared.has_policies),
            echo_ids: Arc::clone(&shared.echo_ids),
            twin_limits: Arc::clone(&shared.twin_limits),
            events,
            injector,
            interfaces,
            vrfs,
            bindings,
            listeners,
            lisp,
            flow_bridges: Arc::new(Mutex::new(flow_bridges)),
            flow_clock,
            workers: Vec::new(),
            shaped: BTreeMap::new(),
            readers: Arc::clone(&readers),
            local: None,
            twin_packets: Some(twin_packets),
        };
        let mut injected = Some(injected);
        let cores = match &settings.threads {
            Threads::Pinned(cores) => cores.clone(),
            Threads::Caller => vec![None],
        };
        for (number, &core) in cores.iter().enumerate() {
            let setup = Setup {
                shared: shared.clone(),
                counters: Arc::new(WorkerCounters::new(&dataplane.layout.reasons)),
                dropped: Arc::new(LastDropped::new(&dataplane.layout.reasons)),
                next_hops: Arc::new(NextHopCounters::new(settings.adjacencies)?),
                flow: Default::default(),
                flow_asked: Default::default(),
                rx: Arc::default(),
                tx: Arc::default(),
                shape: Arc::default(),
                injected: Arc::new(Mutex::new(injected.take())),
            };
            dataplane.start_worker(number, core, setup, settings, &readers)?;
        }
        if let Some(injecting) = dataplane.workers.first() {
            dataplane.injector.rings(injecting.handle.doorbell());
        }
        Ok(dataplane)
    }

    fn start_worker(
        &mut self,
        number: usize,
        core: Option<usize>,
        setup: Setup,
        settings: &Settings,
        readers: &Arc<Quiescence>,
    ) -> Result<(), DataplaneError> {
        let (layout, of_worker) = (Arc::clone(&self.layout), setup.clone());
        let pool = Arc::clone(&settings.pool);
        let graph_settings = GraphSettings { worker: number as u16, ..GraphSettings::default() };
        let make = move || Graph::new(&layout, &of_worker, &*pool, graph_settings);
        let reader = readers.reader();
        let handle = match settings.threads {
            Threads::Caller => {
                let (worker, handle) = Worker::new(make(), reader, settings.idle);
                self.local = Some(worker);
                handle
            }
            Threads::Pinned(_) => {
                let name = format!("worker-{number}");
                WorkerHandle::spawn(&name, core, settings.idle, reader, make)?
            }
        };
        self.workers.push(WorkerSlot { handle, setup, core });
        Ok(())
    }

    /// The worker that the caller turns, once, where [`Threads::Caller`] was asked for.
    pub fn take_local_worker(&mut self) -> Option<Worker> {
        self.local.take()
    }

    /// What workers hand to the kernel's twins, once: for who writes to those.
    pub fn take_twin_packets(&mut self) -> Option<Receiver<ToTwin>> {
        self.twin_packets.take()
    }

    /// What each worker counts, for who reads it on another thread.
    pub fn worker_counters(&self) -> Vec<Arc<WorkerCounters>> {
        self.workers.iter().map(|worker| Arc::clone(&worker.setup.counters)).collect()
    }

    /// Asks every worker what it remembers of bridges of flows: by which ways they answer.
    pub fn ask_flows(&self) -> Vec<Receiver<FlowsTold>> {
        let ask = |worker: &WorkerSlot| {
            let answer = worker.setup.flow_asked.ask();
            worker.handle.doorbell().ring();
            answer
        };
        self.workers.iter().map(ask).collect()
    }

    /// How many workers, and the core of each.
    pub fn worker_cores(&self) -> Vec<Option<usize>> {
        self.workers.iter().map(|worker| worker.core).collect()
    }

    /// The hold on one worker.
    pub fn worker(&self, number: usize) -> Option<&WorkerHandle> {
        self.workers.get(number).map(|worker| &worker.handle)
    }

    /// Puts or removes an interface row. Whether it is shaped is not the row's to say: that goes by
    /// its port.
    pub fn set_interface(&mut self, id: u16, row: Option<Interface>) {
        self.set_interfaces(vec![(id, row)]);
    }

    /// Puts and removes interface rows, all at once for the workers.
    pub fn set_interfaces(&mut self, mut rows: Vec<(u16, Option<Interface>)>) {
        for row in rows.iter_mut().filter_map(|(_, row)| row.as_mut()) {
            row.put(self.shaped.contains_key(&row.port).then_some(Shaped));
        }
        let table = self.interfaces.with_rows(rows);
        self.interfaces.set(table);
    }

    /// Tables for one more VRF: small ones, that grow with its routes to as many as the default
    /// one's.
    pub fn make_vrf_tables(&self) -> Result<VrfTables, FibError> {
        let (layout, page_size) = (Ip4Layout::Compact, PageSize::Small);
        let options = Ip4Options { layout, page_size, max_routes: self.ip4.max_routes() };
        let ip4 = Arc::new(Ip4Table::new(&self.ip4_nodes, options)?);
        Ok(VrfTables { ip4, ip6: Arc::new(Ip6Table::new(&self.ip6_pool, self.ip6.max_routes())) })
    }

    /// Puts or removes a VRF; the default one stays.
    pub fn set_vrf(&mut self, id: VrfId, tables: Option<VrfTables>) {
        let vrfs = self.vrfs.with(id, tables);
        self.vrfs.set(vrfs);
    }

    /// The VRFs as workers see them.
    pub fn vrfs(&self) -> &Vrfs {
        &self.vrfs
    }

    /// The interface rows as workers see them.
    pub fn interfaces(&self) -> &Interfaces {
        &self.interfaces
    }

    /// Other map caches and locators of LISP.
    pub fn set_lisp(&mut self, lisp: Lisp) {
        self.lisp.set(lisp);
    }

    /// Tells workers who has which address in bridges.
    pub fn set_bindings(&mut self, bindings: Bindings) {
        self.bindings.set(bindings);
    }

    /// Tells workers who listens to which groups in bridges.
    pub fn set_listeners(&mut self, listeners: Listeners) {
        self.listeners.set(listeners);
    }

    /// Frees what workers have let go of. Call now and then.
    pub fn reclaim(&mut self) {
        self.interfaces.reclaim();
        self.vrfs.reclaim();
        self.bindings.reclaim();
        self.listeners.reclaim();
        self.lisp.reclaim();
        let flow_bridges = self.flow_bridges.lock();
        flow_bridges.unwrap_or_else(PoisonError::into_inner).reclaim();
    }
}
