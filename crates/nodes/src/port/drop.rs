//! Frees what nobody wants, and counts why: the cause of an edge to this node is the number of the
//! exit that led here. Of each reason it keeps the last few packets, for `volley why-dropped`.

use crate::tables::{DroppedPacket, Keeper, Setup, WorkerCounters};
use graph::{Context, Exits, NoExit, Node};
use packet::Frame;
use std::sync::Arc;

/// See the module.
pub struct Drop {
    counters: Arc<WorkerCounters>,
    last: Keeper,
}

impl Node for Drop {
    const NAME: &'static str = "drop";
    const ABOUT: &'static str = "frees packets, counted by interface and reason";
    type Exit = NoExit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { counters: Arc::clone(&setup.counters), last: Keeper::new(setup) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, NoExit>,
        context: &mut Context<'_>,
    ) {
        let now_tsc = context.now_tsc;
        for slot in 0..frame.len() {
            let reason = frame.causes()[slot];
            let outbound = self.counters.outbound.get(usize::from(reason)) == Some(&true);
            let interface = if outbound { frame.tx()[slot] } else { frame.rx()[slot] };
            self.counters.drops.count(interface, reason);
            let packet = || DroppedPacket::of(&frame.view(slot), now_tsc);
            self.last.keep(reason, packet, now_tsc);
        }
        context.cache.release(frame.take_all());
        exits.all_taken();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use graph::harness::NodeHarness;
    use graph::tsc_hz;

    /// Drops of interface 0 and 1 for `reason`, of three packets from 1 to 0.
    fn counted(reason: u16) -> (u64, u64) {
        let world = World::new();
        let mut node = NodeHarness::<Drop>::new(&world.setup).unwrap();
        let before = node.free_buffers();
        let out = node.run_prepared(&vec![vec![0]; 3], 1, 0, |frame| {
            frame.fill_cause(0, reason);
            frame.tx_mut().fill(0);
        });
        assert!(out.iter().all(|out| out.exit == "taken"));
        assert_eq!(node.free_buffers(), before);
        let count = |interface| world.setup.counters.drops.get(interface, reason);
        (count(0), count(1))
    }

    #[test]
    fn drops_are_counted_by_reason_where_the_packet_came_in() {
        assert_eq!(counted(0), (0, 3));
    }

    #[test]
    fn drops_on_the_way_out_are_counted_where_the_packet_was_to_leave() {
        assert_eq!(counted(1), (3, 0));
    }

    /// A drop node with a clock, and what it has kept: reason and first octet.
    struct Rig {
        world: World,
        node: NodeHarness<Drop>,
        now: u64,
    }

    impl Rig {
        fn new() -> Self {
            let world = World::new();
            let node = NodeHarness::new(&world.setup).unwrap();
            Self { world, node, now: 1 << 40 }
        }

        /// Drops packets of these first octets after so many milliseconds.
        fn drops(&mut self, after_ms: u64, reason: u16, packets: &[u8]) {
            self.now += after_ms * tsc_hz() / 1_000;
            self.node.set_clock(self.now);
            let packets: Vec<_> = packets.iter().map(|first| vec![*first; 200]).collect();
            let cause = |frame: &mut Frame| frame.fill_cause(0, reason);
            self.node.run_prepared(&packets, 3, 14, cause);
        }

        fn kept(&self) -> Vec<(u16, u8)> {
            let kept = self.world.setup.dropped.read().into_iter();
            let mut kept: Vec<_> =
                kept.map(|(reason, packet)| (reason, packet.bytes()[0])).collect();
            kept.sort_unstable();
            kept
        }
    }

    #[test]
    fn the_last_packets_of_each_reason_are_kept_as_they_were() {
        let mut rig = Rig::new();
        rig.drops(0, 0, &[1, 2]);
        rig.drops(5, 1, &[9]);
        assert_eq!(rig.kept(), [(0, 1), (0, 2), (1, 9)]);
        for packet in 3..=7 {
            rig.drops(5, 0, &[packet]);
        }
        assert_eq!(rig.kept(), [(0, 4), (0, 5), (0, 6), (0, 7), (1, 9)]);
        let (_, packet) = rig.world.setup.dropped.read()[0];
        assert_eq!((packet.rx, packet.consumed, packet.length), (3, 14, 200));
        assert_eq!(packet.bytes(), [packet.bytes()[0]; crate::tables::KEPT_BYTES]);
    }

    #[test]
    fn of_a_flood_so_many_a_millisecond_are_kept_and_no_more() {
        let mut rig = Rig::new();
        rig.drops(0, 0, &(1..=100).collect::<Vec<u8>>());
        assert_eq!(rig.kept(), [(0, 1), (0, 2), (0, 3), (0, 4)]);
        rig.drops(0, 0, &[200; 50]);
        assert_eq!(rig.kept(), [(0, 1), (0, 2), (0, 3), (0, 4)]);
        rig.drops(2, 0, &(201..=250).collect::<Vec<u8>>());
        assert_eq!(rig.kept(), [(0, 201), (0, 202), (0, 203), (0, 204)]);
        // All of them were counted.
        assert_eq!(rig.world.setup.counters.drops.get(3, 0), 200);
    }
}
