//! A router on memory ports, turned by the test: frames in, frames out, and the books.

use dataplane::{Dataplane, DropCount, PortQueues, Settings, Waiting};
use fib::ip4::{Ip4Layout, Ip4Options};
use fib::pages::PageSize;
use graph::{Idle, Worker};
use nodes::tables::{
    BondMember, BondWays, BridgeId, BridgePort, Collects, DroppedPacket, Ends, Erspan,
    ErspanVersion, Inside, Interface, InterfaceId, Kind, Leftover, Link, Mode, Punt, Tunnel, Vlan,
    VlanTags, VrfId, VrfTables, Wrap, link_key,
};
use packet::{Burst, HeapPool, PacketBuf, PacketCache, Pool, RxQueue, TxQueue};
use sched::Replaced;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[path = "../../src/testing/topology.rs"]
mod topology;

pub(crate) use topology::*;

/// Punts and packets that may wait at a time.
pub(crate) const QUEUE: usize = 8;
pub(crate) const BUFFERS: usize = 1024;
/// What a worker may take to answer: it is turned by the one who waits.
const PATIENCE: Duration = Duration::from_secs(60);

/// A frame to be received.
pub(crate) struct Incoming {
    pub(crate) bytes: Vec<u8>,
    /// Buffers that it comes in: one or two.
    pub(crate) segments: u16,
    /// Bytes free in front of it.
    pub(crate) headroom: u16,
}

type Frames<T> = Arc<Mutex<VecDeque<T>>>;

struct Feed(Frames<Incoming>);

impl RxQueue for Feed {
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let mut waiting = self.0.lock().unwrap();
        let count = waiting.len().min(most);
        for frame in waiting.drain(..count) {
            let mut packet = cache.allocate_one().unwrap();
            assert!(packet.fill_behind(frame.headroom.into(), &frame.bytes));
            if frame.segments == 2 {
                packet.chain(cache.copy_of(b"the rest").unwrap()).unwrap();
            }
            into.push(packet);
        }
    }
}

/// Keeps copies of what it sends; takes at most `most` frames a burst.
struct Sink {
    sent: Frames<Vec<u8>>,
    most: usize,
}

impl TxQueue for Sink {
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        let taken = packets.take_front(self.most);
        self.sent.lock().unwrap().extend(taken.iter().map(|packet| packet.bytes().to_vec()));
        cache.release(taken);
    }
}

pub(crate) struct Rig {
    pub(crate) dataplane: Dataplane,
    pub(crate) pool: Arc<HeapPool>,
    worker: Worker,
    feeds: Vec<Frames<Incoming>>,
    sinks: Vec<Frames<Vec<u8>>>,
    injected: u64,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::with_settings(BUFFERS, |_| ())
    }

    pub(crate) fn with_settings(buffers: usize, change: impl FnOnce(&mut Settings)) -> Self {
        let pool = Arc::new(HeapPool::new(buffers, 2048).unwrap());
        let mut settings = Settings::new(Arc::clone(&pool) as Arc<dyn Pool>);
        let (layout, page_size) = (Ip4Layout::Compact, PageSize::Small);
        settings.ip4 = Ip4Options { layout, page_size, max_routes: 1000 };
        (settings.page_size, settings.idle) = (page_size, Idle::Poll);
        (settings.ip4_nodes, settings.adjacencies) = (4096, 64);
        (settings.slow_path_most, settings.punts_most) = (QUEUE, QUEUE);
        change(&mut settings);
        let mut dataplane = Dataplane::start(&settings).unwrap();
        let Dataplane { ip4, ip6, ip6_links, adjacencies, groups, .. } = &dataplane;
        add_routes(ip4, ip6, ip6_links, adjacencies, groups);
        for (id, row) in (0..).zip(rows()) {
            dataplane.set_interface(id, row);
        }
        let worker = dataplane.take_local_worker().unwrap();
        let (feeds, sinks) = (Vec::new(), Vec::new());
        let mut rig = Self { dataplane, pool, worker, feeds, sinks, injected: 0 };
        for id in 0..rows().len() as u16 {
            rig.attach(id, usize::MAX);
        }
        rig
    }

    /// Gives port `id` its queues.
    pub(crate) fn attach(&mut self, id: u16, most: usize) {
        let (feed, sent) = (Frames::default(), Frames::default());
        let rx: Vec<Box<dyn RxQueue>> = vec![Box::new(Feed(Arc::clone(&feed)))];
        let tx: Vec<Box<dyn TxQueue>> = vec![Box::new(Sink { sent: Arc::clone(&sent), most })];
        self.dataplane.attach_port(id, id, PortQueues { rx, tx }).unwrap();
        self.feeds.truncate(usize::from(id));
        self.sinks.truncate(usize::from(id));
        self.feeds.push(feed);
        self.sinks.push(sent);
    }

    /// Changes an interface's row.
    pub(crate) fn change_interface(&mut self, id: u16, change: impl FnOnce(&mut Interface)) {
        let mut row = self.dataplane.interfaces().get(id).cloned().unwrap();
        change(&mut row);
        self.dataplane.set_interface(id, Some(row));
    }

    /// Adds VRF 1, and puts interface 1 into it.
    pub(crate) fn add_vrf(&mut self) -> VrfTables {
        let tables = self.dataplane.make_vrf_tables().unwrap();
        self.dataplane.set_vrf(VrfId(1), Some(tables.clone()));
        self.change_interface(1, |row| row.vrf = VrfId(1));
        tables
    }

    /// Changes what an interface may do in its bridge.
    pub(crate) fn change_port(&mut self, id: u16, change: impl FnOnce(&mut BridgePort)) {
        self.change_interface(id, |row| {
            if let Mode::Bridged(port) = &mut row.mode {
                change(port);
            }
        });
    }

    /// Configures a station of the bridge behind a port.
    pub(crate) fn fix_station(&mut self, mac: [u8; 6], port: u32) {
        let table = &self.dataplane.stations.table;
        table.insert_static(fib::mac::MacKey::new(BRIDGE, mac), port).unwrap();
    }

    /// Has interface `id` receive `frame` when the graph runs next.
    pub(crate) fn receive(&mut self, id: u16, bytes: Vec<u8>) {
        self.receive_as(id, Incoming { bytes, segments: 1, headroom: 128 });
    }

    pub(crate) fn receive_as(&mut self, id: u16, frame: Incoming) {
        self.feeds[usize::from(id)].lock().unwrap().push_back(frame);
    }

    /// Gives port `port` a scheduler.
    pub(crate) fn shape(&mut self, port: u16, config: &sched::Config) -> Replaced {
        let Self { dataplane, worker, .. } = self;
        let mut turn = || _ = worker.turn();
        dataplane
            .shape_port(port, config, false, &mut Waiting { patience: PATIENCE, turn: &mut turn })
            .unwrap()
    }

    /// Takes it away again.
    pub(crate) fn unshape(&mut self, port: u16, leftover: Leftover) -> Replaced {
        let Self { dataplane, worker, .. } = self;
        let mut turn = || _ = worker.turn();
        let mut waiting = Waiting { patience: PATIENCE, turn: &mut turn };
        dataplane.unshape_port(port, leftover, &mut waiting).unwrap()
    }

    /// How its scheduler does.
    pub(crate) fn shaping_report(&mut self, port: u16) -> sched::Report {
        let Self { dataplane, worker, .. } = self;
        let mut turn = || _ = worker.turn();
        let mut waiting = Waiting { patience: PATIENCE, turn: &mut turn };
        dataplane.shaping_report(port, &mut waiting).unwrap()
    }

    /// Injects a packet of these bytes as `make` wishes.
    pub(crate) fn inject(
        &mut self,
        bytes: &[u8],
        make: impl FnOnce(PacketBuf) -> nodes::tables::Injected,
    ) {
        let packet = self.pool.cache().copy_of(bytes).unwrap();
        self.inject_packet(make(packet));
    }

    pub(crate) fn inject_packet(&mut self, injected: nodes::tables::Injected) {
        self.dataplane.injector.send(injected).unwrap();
        self.injected += 1;
    }

    /// Runs the graph until nothing is left to receive.
    pub(crate) fn run(&mut self) {
        while self.feeds.iter().any(|feed| !feed.lock().unwrap().is_empty()) {
            self.worker.turn();
        }
        self.worker.turn();
    }

    /// Runs it a number of times.
    pub(crate) fn turn(&mut self, times: usize) {
        for _ in 0..times {
            self.worker.turn();
        }
    }

    /// What interface `id` has sent since it was last asked.
    pub(crate) fn sent(&mut self, id: u16) -> Vec<Vec<u8>> {
        self.sinks[usize::from(id)].lock().unwrap().drain(..).collect()
    }

    /// Receives one frame and hands back what every interface sent for it.
    pub(crate) fn answer(&mut self, id: u16, frame: Vec<u8>) -> Vec<(u16, Vec<u8>)> {
        self.receive(id, frame);
        self.run();
        (0..self.sinks.len() as u16)
            .flat_map(|id| self.sent(id).into_iter().map(move |frame| (id, frame)))
            .collect()
    }

    /// The control thread's punts so far.
    pub(crate) fn punts(&mut self) -> Vec<Punt> {
        std::iter::from_fn(|| self.dataplane.events.next()).collect()
    }

    /// Hears the control thread's punts so far, and keeps no packet that came with them.
    pub(crate) fn hear(&mut self) {
        let mut cache = self.pool.cache();
        for punt in self.punts() {
            punt.into_packet().into_iter().for_each(|packet| cache.release_one(packet));
        }
    }

    /// All drops as `node/reason`, of all interfaces.
    pub(crate) fn drops(&self) -> Vec<(String, u64)> {
        self.counted(false)
    }

    /// Packets whose senders were told why they go no further: the reason, and how many.
    pub(crate) fn answered(&self) -> Vec<(String, u64)> {
        self.counted(true)
    }

    /// The packets kept of each reason, whole if they are short.
    pub(crate) fn last_dropped(&self) -> Vec<(String, Vec<u8>)> {
        let reasons = &self.dataplane.layout.reasons;
        let named = |(_, reason, packet): (usize, u16, DroppedPacket)| {
            let why = &reasons[usize::from(reason)];
            (format!("{}/{}", why.node, why.exit), packet.bytes().to_vec())
        };
        self.dataplane.last_dropped().into_iter().map(named).collect()
    }

    fn counted(&self, answered: bool) -> Vec<(String, u64)> {
        let named = |drop: DropCount| (format!("{}/{}", drop.node, drop.reason), drop.packets);
        let all = (0..64).flat_map(|id| self.dataplane.drops_of(id));
        all.filter(|drop| drop.answered == answered).map(named).collect()
    }

    /// Ends the router and checks its books: every packet that came in or was made was sent,
    /// dropped for a counted reason, or taken by a node that may; every buffer is back.
    pub(crate) fn settle(mut self) {
        self.run();
        let totals = self.dataplane.node_totals(None);
        let taken = |name: &str| totals.iter().find(|node| node.name == name).unwrap().taken;
        // Interfaces that stand on others count their frames once more.
        let received = totals.iter().find(|node| node.name == "port-rx").unwrap().packets;
        let more = |name: &str| {
            let node = totals.iter().find(|node| node.name == name).unwrap();
            node.exits.iter().sum::<u64>() - node.packets
        };
        let copying = [
            "flow-act",
            "ip4-fragment",
            "l2-flood",
            "l2-multicast",
            "mirror-input",
            "mirror-output",
            "nat64-cut",
        ];
        let pieces: u64 = copying.map(more).into_iter().sum();
        // What waited for its turn is no longer the engine's, and comes back.
        let waited = taken("shape");
        let known = [
            "port-tx",
            "drop",
            "arp-input",
            "icmp4-input",
            "icmp6-input",
            "nd-input",
            "mld-input",
            "bond-input",
            "l2-spanning",
            "lisp-control",
            "lisp-resolve",
            "ip-reassemble",
            "ip-resolve",
            "twin-output",
        ]
        .map(taken);
        assert_eq!(received + self.injected + pieces, known.iter().sum(), "{totals:?}");
        assert_eq!(totals.iter().map(|node| node.taken).sum::<u64>() - waited, known.iter().sum());
        let dropped: u64 = self.drops().iter().map(|drop| drop.1).sum();
        assert_eq!(dropped, taken("drop"), "{:?}", self.drops());
        self.hear();
        let mut cache = self.pool.cache();
        let twin_packets = self.dataplane.take_twin_packets().unwrap();
        twin_packets.try_iter().for_each(|to| cache.release_one(to.packet));
        let Self { dataplane, pool, worker, .. } = self;
        drop((cache, worker, dataplane));
        assert_eq!(pool.usage().free, pool.usage().total, "a buffer is lost");
    }
}
