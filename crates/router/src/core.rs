//! What all parts stand on: ports, tables, neighbours, workers and the clock. It knows no part.

use crate::cleared::Cleared;
use crate::devices::{Device, Devices};
use crate::flow_connections::FlowConnections;
use crate::interfaces::OpenPort;
use crate::neighborhood::{Neighborhood, told_full};
use crate::open_ports::OpenPorts;
use crate::parts::nat::timeouts_of;
use crate::reflected::Reflected;
use crate::routing::{LinkOf, Routes};
use crate::vrf_numbers::VrfNumbers;
use crate::world::Clock;
use control::config::objects::connections::Connections;
use control::config::objects::export::ExportName;
use control::config::objects::port::{Port, PortName};
use control::engine::{ApplyError, EngineError};
use dataplane::{Dataplane, PortQueues, Waiting};
use fib::FibError;
use fib::adjacency::AdjacencyId;
use fib::mac::MacFlush;
use fib::neighbor::{Action, Need, NeighborKey, Neighbors, ShareView};
use graph::Worker;
use kernel::Waker;
use nodes::interface::Exporter;
use nodes::tables::{EchoHeard, Injected, VrfId};
use packet::Pool;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long workers may take to give queues back: a stalled machine included.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long one turn of the worker may keep the control thread, where one thread does all.
const LOCAL_TURN: Duration = Duration::from_micros(500);
/// The same where time stands meanwhile: so many passes.
const LOCAL_PASSES: usize = 16;
/// Between two looks whether a worker has answered.
const LOOK: Duration = Duration::from_micros(100);

/// See the module.
pub(crate) struct Core {
    pub(crate) dataplane: Dataplane,
    pub(crate) devices: Arc<Devices>,
    pub(crate) pool: Arc<dyn Pool>,
    pub(crate) ports: OpenPorts,
    pub(crate) routing: Routes,
    pub(crate) vrfs: VrfNumbers,
    pub(crate) neighborhood: Neighborhood,
    pub(crate) clock: Clock,
    /// What flows know of connections.
    pub(crate) flow_connections: Arc<FlowConnections>,
    /// Exporters that flows may sample to, with the numbers that those call them by.
    pub(crate) flow_collectors: BTreeMap<ExportName, (u32, Arc<Exporter>)>,
    /// Ports whose access lists keep connections.
    pub(crate) reflected: Reflected,
    /// Has the router looked after soon; may be called from any thread.
    pub(crate) wake: Arc<dyn Fn() + Send + Sync>,
    /// What workers wake the kernel's twins with.
    pub(crate) waker: Waker,
    pub(crate) local: Option<Worker>,
    pub(crate) cleared: Cleared,
    /// Answers to our own echo requests that came in pieces.
    pub(crate) echoes_heard: Vec<EchoHeard>,
    /// Routes that a router before this one left, while they are taken over.
    pub(crate) recalled: Option<Arc<state::routes::Routes>>,
    /// It stands in for a router that ended a moment ago, until its configuration is applied: what
    /// that one has sent, nobody sends again.
    pub(crate) stands_in: bool,
    /// How zebra's routes are preferred, where it may tell some.
    pub(crate) fpm_preference: Option<u8>,
    /// A change that failed is being taken back: what was there comes back by all means.
    pub(crate) is_undoing: bool,
    /// Who tells routes by FPM, if anybody does.
    pub(crate) route_feed: Option<RouteFeed>,
    /// VRFs of the kernel's that stand for ours.
    pub(crate) vrf_twins: BTreeMap<VrfId, VrfTwin>,
    /// Tunnels whose remotes were told otherwise.
    retold: BTreeSet<PortName>,
    /// Ports that parts are to follow: their addresses, or what stands on them, changed.
    touched: BTreeSet<PortName>,
    /// Interfaces that are gone, whose rows workers have still.
    gone: BTreeSet<u16>,
    /// Rows may differ from what workers have.
    rows_differ: bool,
}

/// A VRF of the kernel's that stands for one of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VrfTwin {
    /// The network namespace that it is in, if that is not our own.
    pub(crate) netns: Option<String>,
    /// Its table.
    pub(crate) table: u32,
    /// Its number there.
    pub(crate) link: u32,
}

/// A routing daemon that tells routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RouteFeed {
    /// The network namespace that it runs in, if that is not our own.
    pub(crate) netns: Option<String>,
    /// Which session it is.
    pub(crate) session: u64,
    /// When it was last heard, until it has told what it had.
    pub(crate) heard: Instant,
    /// It has told the routes that it had when it began.
    pub(crate) has_told: bool,
}

impl Core {
    /// Nothing configured yet.
    pub(crate) fn new(
        mut dataplane: Dataplane,
        devices: Devices,
        pool: Arc<dyn Pool>,
        neighborhood: Neighborhood,
        wake: Arc<dyn Fn() + Send + Sync>,
        waker: Waker,
        clock: Clock,
    ) -> Result<Self, fib::FibError> {
        let limits = Connections::default();
        let seed = clock.given_chance().unwrap_or_else(|| RandomState::new().hash_one("flows"));
        let known = FlowConnections::new(limits.max as usize, timeouts_of(&limits), seed);
        Ok(Self {
            flow_connections: Arc::new(known),
            flow_collectors: BTreeMap::new(),
            reflected: Reflected::default(),
            routing: Routes::new(&dataplane)?,
            local: dataplane.take_local_worker(),
            dataplane,
            devices: Arc::new(devices),
            pool,
            ports: OpenPorts::default(),
            vrfs: VrfNumbers::default(),
            neighborhood,
            clock,
            wake,
            waker,
            cleared: Cleared::default(),
            echoes_heard: Vec::new(),
            recalled: None,
            stands_in: false,
            fpm_preference: None,
            is_undoing: false,
            route_feed: None,
            vrf_twins: BTreeMap::new(),
            retold: BTreeSet::new(),
            touched: BTreeSet::new(),
            gone: BTreeSet::new(),
            rows_differ: false,
        })
    }

    /// Time on the clock of neighbours.
    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// How many workers there are.
    pub(crate) fn workers(&self) -> usize {
        self.dataplane.worker_cores().len()
    }

    /// The port of an interface, its own or that of a remote.
    pub(crate) fn port_of(&self, id: u16) -> Option<(&PortName, &OpenPort)> {
        self.ports.owner(id)
    }

    /// Parts are to follow a port, and its row is to be written, before the turn or change ends.
    pub(crate) fn touch(&mut self, port: PortName) {
        self.touched.insert(port);
        self.rows_differ = true;
    }

    /// The ports [touched](Self::touch) since the last call.
    pub(crate) fn take_touched(&mut self) -> BTreeSet<PortName> {
        std::mem::take(&mut self.touched)
    }

    /// Rows are to be written before the turn or change ends.
    pub(crate) fn touch_rows(&mut self) {
        self.rows_differ = true;
    }

    /// Whether rows are to be written, once.
    pub(crate) fn take_rows_differ(&mut self) -> bool {
        std::mem::take(&mut self.rows_differ)
    }

    /// An interface is gone: its row goes when rows are written, those behind it at once, so that
    /// who gets its number finds nobody's neighbours.
    pub(crate) fn end_interface(&mut self, id: u16) {
        self.gone.insert(id);
        self.rows_differ = true;
        self.forget_stations_behind(id);
        self.with_neighbors(|neighbors, now_ns, out| neighbors.interface_down(now_ns, id, out));
    }

    /// The interfaces that are gone and whose numbers nobody has taken since, once.
    pub(crate) fn take_gone(&mut self) -> Vec<u16> {
        let gone = std::mem::take(&mut self.gone);
        gone.into_iter().filter(|id| self.ports.owner(*id).is_none()).collect()
    }

    /// A number for a new interface, which has counted nothing yet. The row of who had it before,
    /// workers have no more. A remote that was learned makes room: what is configured goes before.
    pub(crate) fn free_id(&mut self) -> Option<u16> {
        if self.ports.free_id().is_none()
            && let Some((name, address)) = self.ports.idlest_remote()
        {
            self.end_remote(&name, address);
        }
        let id = self.ports.free_id()?;
        if self.gone.contains(&id) {
            let gone = self.take_gone();
            self.dataplane.set_interfaces(gone.into_iter().map(|id| (id, None)).collect());
        }
        self.clear_interface(id);
        Some(id)
    }

    /// Takes a tunnel's interface for a remote away.
    pub(crate) fn end_remote(&mut self, name: &PortName, address: IpAddr) {
        if let Some(remote) = self.ports.remove_remote(name, address) {
            self.end_interface(remote.id);
        }
    }

    /// A routing daemon tells which remotes a tunnel has, and which of them flooding reaches.
    pub(crate) fn tell_remotes(&mut self, name: &PortName, remotes: BTreeMap<IpAddr, bool>) {
        let Some(port) = self.ports.get_mut(name) else { return };
        if port.told_remotes != remotes {
            port.told_remotes = remotes;
            self.retold.insert(name.clone());
        }
    }

    /// The tunnels whose remotes were told otherwise since the last call.
    pub(crate) fn take_retold(&mut self) -> BTreeSet<PortName> {
        std::mem::take(&mut self.retold)
    }

    /// A neighbour's MAC address is given, and need not be asked for.
    pub(crate) fn fix_neighbor(&mut self, key: NeighborKey, mac: [u8; 6]) -> Result<(), FibError> {
        let adjacency = self.adjacency(key)?;
        let mut outcome = Ok(());
        self.with_neighbors(|neighbors, now_ns, out| {
            outcome = neighbors.add_static(now_ns, key, mac, out).and_then(|()| {
                let Some(id) = adjacency else { return Ok(()) };
                neighbors.need(now_ns, key, id, Need::Route, out)
            });
        });
        outcome
    }

    /// It is to be asked for again.
    pub(crate) fn free_neighbor(&mut self, key: NeighborKey) {
        self.with_neighbors(|neighbors, now_ns, out| {
            neighbors.remove_static(now_ns, key, out);
        });
    }

    /// The adjacency of a neighbour; none if its interface is gone.
    pub(crate) fn adjacency(&mut self, key: NeighborKey) -> Result<Option<AdjacencyId>, FibError> {
        let port = self.ports.of_id(key.interface);
        let own = port.map(|port| (port.link_header(), port.config.mtu));
        self.routing.adjacency(key, &|_| own)
    }

    /// Forgets which stations of bridges were behind an interface.
    pub(crate) fn forget_stations_behind(&self, id: u16) {
        let table = &self.dataplane.stations.table;
        if !table.is_empty() {
            table.flush(MacFlush::Port(id.into()));
        }
    }

    /// The VRF that a port names.
    pub(crate) fn vrf_of(&self, config: &Port) -> VrfId {
        self.vrfs.of(config.vrf.as_ref())
    }

    /// The kernel's VRF in a namespace that stands for that of a port.
    pub(crate) fn vrf_link(&self, config: &Port, netns: Option<&str>) -> Option<u32> {
        let twin = self.vrf_twins.get(&self.vrf_of(config))?;
        (twin.netns.as_deref() == netns).then_some(twin.link)
    }

    /// The ports that name a VRF.
    pub(crate) fn ports_in(&self, id: VrfId) -> Vec<PortName> {
        let inside = self.ports.iter().filter(|(_, port)| self.vrf_of(&port.config) == id);
        inside.map(|(name, _)| name.clone()).collect()
    }

    /// The port of a name.
    pub(crate) fn port_named(&self, name: &str) -> Result<&OpenPort, EngineError> {
        let found = self.ports.iter().find(|(known, _)| known.as_str() == name);
        let there = || self.ports.iter().map(|(known, _)| known.as_str());
        found.map(|(_, port)| port).ok_or_else(|| EngineError::unknown("port", name, there()))
    }

    /// The VRF of a name.
    pub(crate) fn vrf_named(&self, name: &str) -> Result<VrfId, EngineError> {
        let is_there =
            |id: &VrfId| self.vrfs.name(*id) == name && self.routing.ip4.vrf(*id).is_some();
        let unknown = || {
            let there = self.vrfs.all().filter(|id| self.routing.ip4.vrf(*id).is_some());
            EngineError::unknown("vrf", name, there.map(|id| self.vrfs.name(id)))
        };
        self.vrfs.all().find(is_there).ok_or_else(unknown)
    }

    /// Changes routes, then asks the neighbours what that takes.
    pub(crate) fn change_routes<T>(
        &mut self,
        change: impl FnOnce(&mut Routes, LinkOf<'_>) -> T,
    ) -> T {
        let now_ns = self.now_ns();
        let Self { routing, neighborhood, ports, .. } = self;
        let link = |id: u16| {
            let port = ports.of_id(id)?;
            Some((port.link_header(), port.config.mtu))
        };
        let outcome = change(routing, &link);
        let (wishes, room) = routing.take_wishes(&link);
        neighborhood.wish(now_ns, wishes);
        room.unwrap_or_else(|error| told_full(&error));
        self.begin_next_hops();
        outcome
    }

    /// Settles a slice of the routes that changes have left, if there are any; true if there were.
    pub(crate) fn settle_routes(&mut self) -> bool {
        let settles = self.routing.is_settling();
        if settles {
            let settled = self.change_routes(|routes, link| routes.settle_more(link));
            if let Err(error) = settled {
                tracing::warn!(fault = "routes-full", %error, "a route has no room in a table");
            }
        }
        settles
    }

    /// Calls the neighbour machine.
    pub(crate) fn with_neighbors(
        &mut self,
        call: impl FnOnce(&mut Neighbors, u64, &mut Vec<Action>),
    ) {
        let now_ns = self.now_ns();
        self.neighborhood.call(now_ns, call);
    }

    /// Carries out what neighbours are owed now.
    pub(crate) fn settle_neighbors(&mut self) {
        self.neighborhood.send_owed();
        self.tick_neighbors();
    }

    /// The same in the middle of a change: what is to be said of addresses whose rows workers do
    /// not have yet is said later.
    pub(crate) fn tick_neighbors(&mut self) {
        let now_ns = self.now_ns();
        let Self { routing, neighborhood, ports, dataplane, .. } = self;
        let link = |id: u16| ports.of_id(id).map(|port| (port.link_header(), port.config.mtu));
        let source = |id: u16, neighbor: IpAddr| {
            let port = ports.of_id(id).filter(|port| port.carries())?;
            let row = dataplane.interfaces().get(id)?;
            let own = match neighbor {
                IpAddr::V4(to) => row.ip4_towards(to.into()).map(|own| Ipv4Addr::from(own).into()),
                IpAddr::V6(to) => row.ip6_towards(to.into()).map(|own| Ipv6Addr::from(own).into()),
            };
            Some((port.mac, own?))
        };
        neighborhood.settle(now_ns, routing, &link, &source);
        for crowded in neighborhood.take_crowded(now_ns) {
            let port = ports.owner(crowded.share.interface);
            let port = port.map_or("", |(name, _)| name.as_str());
            let ShareView { neighbors, unresolved, evicted, refused, .. } = crowded;
            let family = if crowded.share.is_ip6 { "IPv6" } else { "IPv4" };
            tracing::warn!(
                fault = "neighbors-crowded",
                port,
                family,
                neighbors,
                unresolved,
                evicted,
                refused,
                "more neighbours than a port has places: those that do not answer give way"
            );
        }
    }

    /// Turns the local worker, where there is one, for a moment; says whether it was busy.
    pub(crate) fn turn_local(&mut self) -> bool {
        let Some(worker) = &mut self.local else { return false };
        if let Some(tsc) = self.clock.given_tsc() {
            return (0..LOCAL_PASSES).all(|_| worker.turn_at(tsc) != 0);
        }
        let start = Instant::now();
        while start.elapsed() < LOCAL_TURN {
            if worker.turn().is_some() {
                return false;
            }
        }
        true
    }

    /// Turns the worker, or waits for those that turn by themselves, while the data plane asks
    /// them.
    pub(crate) fn with_workers<T>(
        &mut self,
        call: impl FnOnce(&mut Dataplane, &mut Waiting<'_>) -> T,
    ) -> T {
        let Self { dataplane, local, clock, .. } = self;
        let mut turn = || match (&mut *local, clock.given_tsc()) {
            (Some(worker), Some(tsc)) => _ = worker.turn_at(tsc),
            (Some(worker), None) => _ = worker.turn(),
            (None, _) => std::thread::sleep(LOOK),
        };
        call(dataplane, &mut Waiting { patience: PATIENCE, turn: &mut turn })
    }

    /// Lets what was injected leave.
    pub(crate) fn await_injected(&mut self) {
        let left = Arc::new(AtomicBool::new(false));
        if self.dataplane.injector.send(Injected::Fence(Arc::clone(&left))).is_err() {
            let what = "workers have too much to send: what a port said last may be lost";
            tracing::warn!(fault = "injection-full", "{what}");
            return;
        }
        let start = Instant::now();
        self.with_workers(|_, waiting| {
            while !left.load(Ordering::Acquire) && start.elapsed() < waiting.patience {
                (waiting.turn)();
            }
        });
    }

    /// Takes a port's queues from the workers, and its device from the port: it is closed by
    /// whoever drops them.
    pub(crate) fn take_device(&mut self, name: &PortName) -> Option<(PortQueues, Option<Device>)> {
        let port = self.ports.get_mut(name)?;
        let (id, device) = (port.id, port.device.take());
        port.unread.clear();
        port.link = crate::interfaces::Link::default();
        let detached = |dataplane: &mut Dataplane, waiting: &mut Waiting<'_>| {
            dataplane.detach_port(id, id, waiting.patience, &mut *waiting.turn)
        };
        Some((self.with_workers(detached), device))
    }
}

/// Why a field of the configuration cannot be had.
pub(crate) fn fault(field: &str, message: String) -> ApplyError {
    ApplyError { field: field.to_owned(), message, suggestion: None }
}
