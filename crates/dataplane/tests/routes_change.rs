//! Routes come and go by the hundred thousand while packets flow over others: every packet arrives,
//! and where it should.
//!
//! ```text
//!  worker thread:  source ─▶ 10.0.n.9 ─▶ graph ─▶ sink of interface 1 (n even) or 2 (n odd)
//!  this thread:    255 000 routes in, out, in, out: covering those, inside them, elsewhere
//! ```
#![expect(
    clippy::unwrap_used,
    reason = "all of it is test; clippy only knows of #[test] functions"
)]

use dataplane::{Dataplane, PortQueues, Settings, Threads};
use fib::adjacency::{Adjacency, AdjacencyId, MAX_REWRITE};
use fib::{Forward, Ip4Prefix};
use nodes::tables::{Interface, Kind};
use packet::{Burst, HeapPool, PacketBuf, PacketCache, RxQueue, TxQueue};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wire::{MacAddr, craft};

const ROUTER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// Routes that come and go.
const ROUTES: u32 = 255_000;
/// Networks that packets go to.
const NETWORKS: u32 = 256;
/// For what takes no time on a machine that is not held up.
const PATIENCE: Duration = Duration::from_secs(60);

/// What source and sinks saw.
#[derive(Default)]
struct Seen {
    stop: AtomicBool,
    sent: AtomicU64,
    arrived: AtomicU64,
    astray: AtomicU64,
}

struct Source {
    seen: Arc<Seen>,
    next: u32,
}

impl RxQueue for Source {
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        if self.seen.stop.load(Ordering::Relaxed) {
            return;
        }
        let first = into.len();
        into.extend((0..most.min(64)).map_while(|_| {
            self.next += 1;
            let to = Ipv4Addr::from(0x0a00_0009 + ((self.next % NETWORKS) << 8));
            let frame = craft::ethernet(MacAddr([2; 6]), MacAddr(ROUTER_MAC))
                .ipv4(Ipv4Addr::new(192, 0, 2, 9), to)
                .udp(1, 2)
                .payload_len(18)
                .build();
            cache.copy_of(&frame)
        }));
        self.seen.sent.fetch_add((into.len() - first) as u64, Ordering::Relaxed);
    }
}

struct Sink {
    seen: Arc<Seen>,
    interface: u8,
}

impl TxQueue for Sink {
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        // The destination's third octet, behind 14 of Ethernet and 18 of IPv4.
        let expected = |packet: &PacketBuf| 1 + packet.bytes()[14 + 18] % 2;
        let right = packets.iter().filter(|packet| expected(packet) == self.interface).count();
        self.seen.arrived.fetch_add(right as u64, Ordering::Relaxed);
        self.seen.astray.fetch_add((packets.len() - right) as u64, Ordering::Relaxed);
        cache.release(packets.take_all());
    }
}

fn interface(id: u16) -> Interface {
    Interface { mac: ROUTER_MAC, ..Interface::new(&format!("p{id}"), id) }
}

fn adjacency(dataplane: &Dataplane, interface: u16) -> Forward {
    let mut rewrite = [0; MAX_REWRITE];
    rewrite[12] = 8;
    let next_hop = Ipv4Addr::new(192, 0, 2, interface as u8).into();
    let made = Adjacency { interface, mtu: 1500, next_hop, rewrite, rewrite_len: 14 };
    let AdjacencyId(id) = dataplane.adjacencies.allocate(&made).unwrap();
    dataplane.adjacencies.complete(AdjacencyId(id), [3; 6]);
    Forward::new(Kind::Rewrite as u8, id)
}

/// Routes that no packet should follow: what covers the packets' networks, halves of these where no
/// packet goes, and hosts and networks elsewhere.
fn others() -> Vec<Ip4Prefix> {
    let mut others: Vec<Ip4Prefix> =
        (1..=16).map(|length| Ip4Prefix::new(0x0a00_0000, length).unwrap()).collect();
    others.extend((0..NETWORKS).map(|n| Ip4Prefix::new(0x0a00_0080 + (n << 8), 25).unwrap()));
    let elsewhere = |n: u32| {
        let address = 0x1400_0000_u32.wrapping_add(n.wrapping_mul(0x9e37_79b1) >> 4);
        Ip4Prefix::new(address, [22, 24, 24, 24, 27, 32][n as usize % 6]).unwrap()
    };
    others.extend((0..ROUTES - others.len() as u32).map(elsewhere));
    others
}

fn until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "gave up");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn packets_on_other_routes_are_neither_lost_nor_led_astray() {
    let seen = Arc::new(Seen::default());
    let mut settings = Settings::new(Arc::new(HeapPool::new(4096, 2048).unwrap()));
    settings.threads = Threads::Pinned(vec![None]);
    let mut dataplane = Dataplane::start(&settings).unwrap();
    for id in 0..3 {
        let sink = Sink { seen: Arc::clone(&seen), interface: id as u8 };
        let queues = PortQueues { rx: Vec::new(), tx: vec![Box::new(sink)] };
        dataplane.attach_port(id, id, queues).unwrap();
        dataplane.set_interface(id, Some(interface(id)));
    }
    let ways = [1, 2].map(|interface| adjacency(&dataplane, interface));
    for n in 0..NETWORKS {
        let network = Ip4Prefix::new(0x0a00_0000 + (n << 8), 24).unwrap();
        dataplane.ip4.insert(network, ways[n as usize % 2]).unwrap();
    }
    // Whoever follows one of those arrives nowhere it should.
    let astray = adjacency(&dataplane, 0);
    let source = Source { seen: Arc::clone(&seen), next: 0 };
    dataplane.attach_rx(0, vec![Box::new(source)]);

    let others = others();
    for _ in 0..2 {
        for prefix in &others {
            dataplane.ip4.insert(*prefix, astray).unwrap();
        }
        let before = seen.arrived.load(Ordering::Relaxed);
        until(|| seen.arrived.load(Ordering::Relaxed) > before + 10_000);
        for prefix in &others {
            dataplane.ip4.remove(*prefix);
        }
    }
    seen.stop.store(true, Ordering::Relaxed);
    let sum = || seen.arrived.load(Ordering::Relaxed) + seen.astray.load(Ordering::Relaxed);
    until(|| sum() == seen.sent.load(Ordering::Relaxed));
    assert_eq!(seen.astray.load(Ordering::Relaxed), 0);
    assert!(seen.sent.load(Ordering::Relaxed) > 20_000);
    assert_eq!(dataplane.ip4.len(), NETWORKS as usize, "what came has gone");
    assert!((0..3).all(|id| dataplane.drops_of(id).is_empty()));
}
