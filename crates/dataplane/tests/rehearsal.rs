//! What is said of a frame is what becomes of it, and saying it changes nothing.
#![expect(
    clippy::unwrap_used,
    reason = "all of it is test; clippy only knows of #[test] functions"
)]

use dataplane::{Dataplane, PortQueues, Rehearsed, Settings};
use fib::adjacency::{Adjacency, AdjacencyId, MAX_REWRITE};
use fib::mac::MacKey;
use fib::pages::PageSize;
use fib::{Forward, Ip4Prefix};
use graph::Worker;
use nodes::tables::{BridgeId, BridgePort, Interface, Kind, Mode};
use packet::{HeapPool, MemorySink, MemorySource, Recorded, Repeat};
use sched::{Config, Shape};
use std::sync::Arc;
use wire::craft;

const PORT_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const HOST_MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];
const HOST: [u8; 4] = [192, 0, 2, 9];
const BRIDGE: BridgeId = BridgeId(1);

/// Ports 0 and 1 are routed, 2 to 4 are bridged; 10.0.0.0/8 leads out of 1.
struct World {
    dataplane: Dataplane,
    worker: Worker,
    sent: Vec<Recorded>,
    to_gateway: AdjacencyId,
}

impl World {
    fn new() -> Self {
        let mut settings = Settings::new(Arc::new(HeapPool::new(512, 9216).unwrap()));
        settings.page_size = PageSize::Small;
        settings.ip4.page_size = PageSize::Small;
        let mut dataplane = Dataplane::start(&settings).unwrap();
        let worker = dataplane.take_local_worker().unwrap();
        for id in 0..5 {
            let mut row = Interface::new(&format!("p{id}"), id);
            row.mac = PORT_MAC;
            if id >= 2 {
                row.mode = Mode::Bridged(BridgePort::new(BRIDGE));
            } else {
                row.ip4 = vec![(u32::from_be_bytes([192, 0, 2, 1]), 24)];
            }
            dataplane.set_interface(id, Some(row));
        }
        let mut rewrite = [0; MAX_REWRITE];
        rewrite[..14].copy_from_slice(&[4, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 1, 8, 0]);
        let next_hop = [198, 51, 100, 7].into();
        let adjacency = Adjacency { interface: 1, mtu: 1500, next_hop, rewrite, rewrite_len: 14 };
        let to_gateway = dataplane.adjacencies.allocate(&adjacency).unwrap();
        dataplane.adjacencies.complete(to_gateway, [4, 0, 0, 0, 0, 7]);
        let way = Forward::new(Kind::Rewrite as u8, to_gateway.0);
        dataplane.ip4.insert(Ip4Prefix::new(10 << 24, 8).unwrap(), way).unwrap();
        let sent: Vec<Recorded> = (0..5).map(|_| Recorded::default()).collect();
        for (id, recorded) in (0..).zip(&sent) {
            let tx = Box::new(MemorySink::recording(Arc::clone(recorded)));
            let queues = PortQueues { rx: Vec::new(), tx: vec![tx] };
            dataplane.attach_port(id, id, queues).unwrap();
        }
        Self { dataplane, worker, sent, to_gateway }
    }

    /// What would become of a frame.
    fn asked(&self, interface: u16, frame: &[u8]) -> (Rehearsed, Vec<String>) {
        let mut told = Vec::new();
        let mut stage = self.dataplane.stage().unwrap().rehearsal().unwrap();
        let seen = stage.run(interface, frame, |punt| told.push(format!("{punt:?}")));
        (seen, told)
    }

    /// What becomes of it: the frames that leave, with their ports.
    fn done(&mut self, interface: u16, frame: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let queue = MemorySource::new(vec![frame.to_vec()], Repeat::Once);
        self.dataplane.attach_rx(interface, vec![Box::new(queue)]);
        (0..4).for_each(|_| _ = self.worker.turn());
        let take = |(id, recorded): (u16, &Recorded)| {
            let frames: Vec<_> = recorded.lock().unwrap().drain(..).collect();
            frames.into_iter().map(move |frame| (id, frame))
        };
        (0..).zip(&self.sent).flat_map(take).collect()
    }

    fn counted(&self) -> u64 {
        let nodes = self.dataplane.node_totals(None).iter().map(|node| node.packets).sum::<u64>();
        let ports = (0..5).map(|id| self.dataplane.interface_totals(id));
        let ports = ports.map(|it| it.rx_packets + it.tx_packets).sum::<u64>();
        let drops = (0..5).map(|id| self.dataplane.drops_of(id).len() as u64).sum::<u64>();
        nodes + ports + drops + self.dataplane.last_dropped().len() as u64
    }

    fn nodes(&self, seen: &Rehearsed) -> Vec<&'static str> {
        seen.steps.iter().map(|step| self.dataplane.layout.nodes[step.slot].spec.name).collect()
    }
}

fn packet(to: [u8; 4], ttl: u8) -> Vec<u8> {
    craft::ethernet(HOST_MAC, PORT_MAC).ipv4(HOST, to).ttl(ttl).udp(1, 53).payload_len(40).build()
}

#[test]
fn frames_that_would_leave_are_those_that_do_and_asking_changes_nothing() {
    let mut world = World::new();
    let station = |last| [2, 0, 0, 0, 1, last];
    let bridged =
        |from, to| craft::ethernet(station(from), station(to)).ipv4(HOST, [10; 4]).build();
    for (interface, frame, expected) in [
        (0, packet([10, 0, 0, 1], 64), 1),
        (0, packet([10, 0, 0, 1], 1), 0),
        (0, packet([203, 0, 113, 1], 64), 0),
        (
            0,
            craft::ethernet(HOST_MAC, PORT_MAC).ipv4(HOST, [192, 0, 2, 1]).icmp_echo(1, 1).build(),
            0,
        ),
        (0, vec![7; 60], 0),
        (2, bridged(1, 2), 2),
        (3, bridged(2, 1), 1),
    ] {
        let before = world.counted();
        let (seen, _) = world.asked(interface, &frame);
        assert_eq!(world.counted(), before);
        assert!(!world.dataplane.adjacencies.take_used(world.to_gateway));
        let sent = world.done(interface, &frame);
        assert_eq!(seen.sent, sent, "{:?}", world.nodes(&seen));
        assert_eq!(sent.len(), expected, "{:?}", world.nodes(&seen));
        assert!(world.counted() > before);
        world.dataplane.adjacencies.take_used(world.to_gateway);
    }
    // The stations are known now, by what was done and not by what was asked.
    assert_eq!(world.dataplane.stations.table.len(), 2);
    let (seen, _) = world.asked(4, &bridged(3, 1));
    assert_eq!(seen.sent.len(), 1);
    assert!(world.dataplane.stations.table.lookup(MacKey::new(BRIDGE.0, station(3)), 0).is_none());
}

#[test]
fn what_the_control_thread_would_be_told_stays_untold() {
    let world = World::new();
    let incomplete = Forward::new(Kind::Glean as u8, 1);
    let here = Ip4Prefix::new(u32::from_be_bytes([192, 0, 2, 0]), 24).unwrap();
    world.dataplane.ip4.insert(here, incomplete).unwrap();
    let (seen, told) = world.asked(0, &packet([192, 0, 2, 77], 64));
    assert!(told.len() == 1 && told[0].contains("192.0.2.77"), "{told:?}");
    assert!(world.nodes(&seen).ends_with(&["ip-resolve"]), "{:?}", world.nodes(&seen));
    assert!(world.dataplane.events.next().is_none());
}

#[test]
fn packets_that_nodes_make_are_followed_from_where_they_are_made() {
    let world = World::new();
    let flooded = craft::ethernet(HOST_MAC, [0xff; 6]).ipv4(HOST, [255; 4]).build();
    let (seen, _) = world.asked(2, &flooded);
    assert_eq!(seen.sent.iter().map(|(port, _)| *port).collect::<Vec<_>>(), [3, 4]);
    let made: Vec<_> = seen.steps.iter().filter(|step| step.made).collect();
    assert!(!made.is_empty() && world.nodes(&seen).contains(&"l2-flood"));
    // Each has left by its port.
    let is_tx = |slot: usize| world.dataplane.layout.nodes[slot].spec.name == "port-tx";
    let mut left: Vec<_> = seen.steps.iter().filter(|it| is_tx(it.slot)).map(|it| it.tx).collect();
    left.sort_unstable();
    assert_eq!(left, [3, 4]);
}

#[test]
fn a_shaped_ports_scheduler_tells_which_class_it_was() {
    let mut world = World::new();
    let config = Config::of(Shape::pfifo(10));
    let mut waiting = dataplane::Waiting {
        patience: std::time::Duration::from_secs(60),
        turn: &mut || _ = world.worker.turn(),
    };
    world.dataplane.shape_port(1, &config, false, &mut waiting).unwrap();
    let mut stage = world.dataplane.stage().unwrap().rehearsal().unwrap();
    let free = stage.free_buffers();
    stage.shape(1, world.dataplane.shape_of(1).unwrap()).unwrap();
    let seen = stage.run(0, &packet([10, 0, 0, 1], 64), |_| ());
    assert_eq!(seen.sent.len(), 1);
    assert_eq!(stage.shaped(1).unwrap().counters.sent_packets, 1);
    assert_eq!(stage.free_buffers(), free, "a buffer that is lost keeps all of them");
}
