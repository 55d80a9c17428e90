//! What a sparse flow suffers beside greedy ones: the full buffer in a FIFO, next to nothing where
//! flows are told apart.

use sched::units::Rate;
use sched::{Config, Next, Packet, Shape, build};

const LINK: Rate = Rate(10_000_000);
const SPARSE: u64 = 1 << 63;

/// The 99th percentile of the sparse flow's delay in ns: 100 bytes every 20 ms beside four flows
/// that offer 12 Mbit/s.
fn sparse_p99_ns(shape: Shape) -> u64 {
    let mut scheduler = build::<u64>(&Config::of(shape)).unwrap();
    let mut delays = Vec::new();
    let (mut next_bulk, mut next_sparse, mut free_ns) = (0u64, 0u64, 0u64);
    let mut bulk = 0;
    while free_ns < 20_000_000_000 {
        // Whatever arrives before the link is free again is offered at its own time.
        while next_bulk.min(next_sparse) <= free_ns {
            let now_ns = next_bulk.min(next_sparse);
            let packet = if next_sparse <= next_bulk {
                next_sparse += 20_000_000;
                Packet::new(SPARSE | now_ns, 100, 99)
            } else {
                next_bulk += 1_000_000;
                bulk += 1;
                Packet::new(0, 1500, bulk % 4)
            };
            let _ = scheduler.enqueue(now_ns, packet, &mut |_| {});
        }
        match scheduler.dequeue(free_ns, &mut |_| {}) {
            Next::Packet(sent) => {
                free_ns += u64::from(sent.length_bytes) * 8_000_000_000 / LINK.0;
                if sent.handle & SPARSE != 0 {
                    delays.push(free_ns - (sent.handle & !SPARSE));
                }
            }
            Next::Wait(until_ns) => free_ns = until_ns,
            Next::Empty => free_ns = next_bulk.min(next_sparse),
        }
    }
    delays.sort_unstable();
    delays[delays.len() * 99 / 100]
}

#[test]
fn a_sparse_flow_waits_for_the_buffer_in_a_fifo_and_for_a_packet_in_fair_queues() {
    // 500 packets of 1500 bytes take 600 ms.
    assert!(sparse_p99_ns(Shape::pfifo(500)) > 550_000_000);
    for shape in [Shape::fq_codel(), Shape::sfq()] {
        let (kind, p99_ns) = (shape.kind(), sparse_p99_ns(shape));
        // The target is 5 ms; a turn of the other flows takes 4.8.
        assert!(p99_ns < 7_500_000, "{kind}: {p99_ns}");
    }
}
