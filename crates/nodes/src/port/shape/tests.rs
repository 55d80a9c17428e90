//! What shaped ports keep, send, and drop.

use super::*;
use crate::port::Classifier;
use crate::testing::World;
use graph::Doorbell;
use graph::harness::NodeHarness;
use packet::{Handed, PacketScheduler, hand_over};
use sched::units::{Rate, Size, Time};
use sched::{ClassId, CodelShape, Config, HtbClass, HtbShape, Shape as Scheduler, Share};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use wire::craft;

/// A node whose clock stands where the test puts it, with letters to write to it.
struct Rig {
    world: World,
    node: NodeHarness<Shape>,
    clock: Since,
}

/// Time from the beginning of a test on.
struct Since {
    clock: Clock,
    ns: u64,
}

impl Since {
    fn tsc(&self, ns: u64) -> u64 {
        self.clock.tsc(self.ns + ns)
    }
}

impl Rig {
    fn new() -> Self {
        let world = World::new();
        let mut node = NodeHarness::new(&world.setup).unwrap();
        let (clock, now) = (Clock::new(), graph::tsc());
        node.set_clock(now);
        Self { world, node, clock: Since { clock, ns: clock.ns(now) } }
    }

    fn own(&mut self, root: Scheduler) -> Receiver<Outcome> {
        self.own_with(root, Vec::new())
    }

    fn own_with(&mut self, root: Scheduler, handed: Vec<Handed>) -> Receiver<Outcome> {
        let config = Config { mtu_bytes: 100, ..Config::of(root) };
        self.own_scheduler(PacketScheduler::new(&config).unwrap(), handed)
    }

    fn own_scheduler(
        &mut self,
        scheduler: PacketScheduler,
        handed: Vec<Handed>,
    ) -> Receiver<Outcome> {
        let classifier = Classifier::default();
        let shaper = Shaper {
            port: 1,
            scheduler,
            classifier,
            handed,
            share: Share::default(),
            spent: false,
        };
        let (reply, answer) = sync_channel(1);
        self.world.setup.shape.write(ShapeLetter::Own(Box::new(shaper), reply));
        answer
    }

    fn disown(&mut self, leftover: Leftover) -> Outcome {
        let (reply, answer) = sync_channel(1);
        self.world.setup.shape.write(ShapeLetter::Disown(1, leftover, reply));
        self.send(&[]);
        answer.recv().unwrap()
    }

    /// Shows it packets of these lengths for interface 1.
    fn send(&mut self, lengths: &[usize]) -> Vec<String> {
        let frames: Vec<_> = lengths.iter().map(|&length| vec![length as u8; length]).collect();
        self.send_frames(&frames)
    }

    fn send_frames(&mut self, frames: &[Vec<u8>]) -> Vec<String> {
        let to_1 = |frame: &mut Frame| frame.tx_mut().fill(1);
        let out = self.node.run_prepared(frames, 0, 0, to_1);
        out.into_iter().map(|out| out.exit).collect()
    }

    /// Puts the clock, and calls the node if it asked for that by then.
    fn at_ms(&mut self, ms: u64) {
        let tsc = self.clock.tsc(ms * 1_000_000);
        self.node.set_clock(tsc);
        if self.node.take_due_tsc() <= tsc {
            self.send(&[]);
        }
    }

    /// Packets and bytes that an interface was counted to send.
    fn counted(&self, interface: usize) -> (u64, u64) {
        let row = &self.world.setup.counters.interfaces[interface];
        (row.tx_packets.load(Ordering::Relaxed), row.tx_bytes.load(Ordering::Relaxed))
    }

    /// Exits and first bytes of what it emitted.
    fn emitted(&mut self) -> Vec<(String, u8)> {
        let out = self.node.emitted();
        assert!(out.iter().all(|out| out.tx == 1));
        out.into_iter().map(|out| (out.exit, out.header[0])).collect()
    }
}

/// A byte a microsecond, 100 of them at once.
fn slow(leaf: Scheduler) -> Scheduler {
    Scheduler::tbf(Rate(8_000_000), Size(100), leaf)
}

fn release(of: u8) -> (String, u8) {
    ("release".to_owned(), of)
}

#[test]
fn packets_leave_when_they_are_due_and_are_counted_then() {
    let mut rig = Rig::new();
    let _answer = rig.own(slow(Scheduler::pfifo(10)));
    rig.at_ms(1);
    assert_eq!(rig.send(&[100, 60, 90]), ["taken"; 3]);
    assert_eq!(rig.emitted(), [release(100)]);
    let due = rig.node.take_due_tsc();
    let later = rig.clock.tsc(1_061_000);
    assert!(due > rig.clock.tsc(1_040_000) && due < later, "60 bytes later");
    rig.node.set_clock(later);
    rig.send(&[]);
    assert_eq!(rig.emitted(), [release(60)]);
    rig.at_ms(2);
    assert_eq!(rig.emitted(), [release(90)]);
    assert_eq!(rig.counted(1), (3, 250));
    rig.at_ms(3);
    assert_eq!(rig.node.take_due_tsc(), u64::MAX, "nothing waits: nobody is called");
}

#[test]
fn packets_for_a_port_that_nothing_shapes_pass() {
    let mut rig = Rig::new();
    assert_eq!(rig.send(&[60, 61]), ["unshaped", "unshaped"]);
    assert_eq!(rig.counted(1), (2, 121));
}

#[test]
fn what_a_scheduler_drops_leaves_by_its_reason() {
    let mut rig = Rig::new();
    let _answer = rig.own(slow(Scheduler::pfifo(1)));
    rig.at_ms(1);
    rig.send(&[99, 60, 61, 101]);
    let drop = |reason: &str, of| (reason.to_owned(), of);
    let full = [drop("queue-full", 60), drop("queue-full", 61)];
    let [second, third] = full;
    assert_eq!(rig.emitted(), [release(99), second, third, drop("too-long", 101)]);
}

#[test]
fn a_new_scheduler_takes_over_what_waits() {
    let mut rig = Rig::new();
    let _answer = rig.own(slow(Scheduler::pfifo(10)));
    rig.at_ms(1);
    rig.send(&[100, 60, 61, 62]);
    rig.emitted();
    let answer = rig.own(Scheduler::pfifo(2));
    rig.send(&[]);
    let outcome = answer.recv().unwrap();
    assert_eq!(outcome.packets, Replaced { kept: 2, dropped: 1 });
    assert_eq!(outcome.old.unwrap().waiting_packets(), 0);
    assert_eq!(rig.emitted(), [release(60), release(61), ("queue-full".to_owned(), 62)]);
}

#[test]
fn a_port_that_is_shaped_no_longer_sends_what_waits_or_drops_it() {
    for (leftover, exit) in [(Leftover::Sent, "unshaped"), (Leftover::Dropped, "port-gone")] {
        let mut rig = Rig::new();
        let free = rig.node.free_buffers();
        let _answer = rig.own(slow(Scheduler::pfifo(10)));
        rig.at_ms(1);
        rig.send(&[100, 60, 61]);
        rig.emitted();
        assert_eq!(rig.counted(1), (1, 100));
        let outcome = rig.disown(leftover);
        assert_eq!(outcome.packets.kept + outcome.packets.dropped, 2);
        assert_eq!(rig.emitted(), [(exit.to_owned(), 60), (exit.to_owned(), 61)]);
        let sent = if leftover == Leftover::Sent { (3, 221) } else { (1, 100) };
        assert_eq!(rig.counted(1), sent);
        assert_eq!(rig.send(&[62]), ["unshaped"]);
        assert_eq!(rig.node.free_buffers(), free);
    }
}

#[test]
fn more_than_a_frame_leaves_in_several_calls() {
    let mut rig = Rig::new();
    let _answer = rig.own(slow(Scheduler::pfifo(1000)));
    rig.at_ms(1);
    rig.send(&[60; 200]);
    rig.send(&[60; 200]);
    let first = rig.emitted().len();
    rig.disown(Leftover::Sent);
    let mut left = vec![rig.emitted().len()];
    while rig.node.take_due_tsc() != u64::MAX {
        rig.send(&[]);
        left.push(rig.emitted().len());
    }
    assert_eq!(left, [VECTOR, 400 - first - VECTOR]);
}

#[test]
fn another_workers_packets_come_over_the_ring_until_it_is_full() {
    let (ring, handed) = hand_over(2);
    let mut other = Rig::new();
    let doorbell = Doorbell::default();
    let way = HandOver { port: 1, classifier: Classifier::default(), ring, doorbell };
    other.world.setup.shape.write(ShapeLetter::HandOver(Box::new(way)));
    assert_eq!(other.send(&[60, 61, 62]), ["taken", "taken", "handover-full"]);
    let mut owner = Rig::new();
    let _answer = owner.own_with(Scheduler::pfifo(10), vec![handed]);
    owner.send(&[]);
    assert_eq!(owner.emitted(), [release(60), release(61)]);
    other.world.setup.shape.write(ShapeLetter::Keep(1));
    assert_eq!(other.send(&[60]), ["unshaped"]);
}

/// Writes each of two workers a part of a tree of 8 Mbit/s, in which 100 bytes may go at once.
fn own_parts(rigs: &mut [Rig; 2]) -> Vec<Receiver<Outcome>> {
    let class = HtbClass {
        burst: Some(Size(100)),
        cburst: Some(Size(100)),
        ..HtbClass::new(ClassId::new(1, 1), None, Rate(8_000_000))
    };
    let default = Some(class.id);
    let htb = HtbShape { default, all_workers: true, classes: vec![class], ..HtbShape::default() };
    let config = Config { mtu_bytes: 100, ..Config::of(Scheduler::Htb(htb)) };
    let parts = PacketScheduler::for_workers(&config, 2).unwrap();
    // One time for both.
    rigs[1].clock.ns = rigs[0].clock.ns;
    rigs.iter_mut().zip(parts).map(|(rig, part)| rig.own_scheduler(part, Vec::new())).collect()
}

#[test]
fn each_worker_serves_its_part_of_a_tree_and_hands_over_nothing() {
    let mut rigs = [Rig::new(), Rig::new()];
    let _answers = own_parts(&mut rigs);
    let (mut got, mut due) = ([0; 2], [0; 2]);
    for (rig, due) in rigs.iter_mut().zip(&mut due) {
        rig.at_ms(1);
        assert_eq!(rig.send(&[100; 100]), ["taken"; 100]);
        *due = rig.node.take_due_tsc();
    }
    for step in 1..=100 {
        for ((rig, got), due) in rigs.iter_mut().zip(&mut got).zip(&mut due) {
            let tsc = rig.clock.tsc(1_000_000 + step * 100_000);
            if *due <= tsc {
                rig.node.set_clock(tsc);
                rig.send(&[]);
                *due = rig.node.take_due_tsc();
            }
            *got += rig.emitted().len();
        }
    }
    // 10 ms are 10,000 bytes: 100 packets, a burst, and what each worker is lent beyond that.
    assert!((98..=112).contains(&(got[0] + got[1])), "{got:?}");
    assert!(got[0].abs_diff(got[1]) <= 10, "{got:?}");
    for rig in &mut rigs {
        rig.disown(Leftover::Dropped);
        rig.emitted();
    }
}

#[test]
fn what_waits_in_a_part_goes_to_the_one_owner_and_the_other_way() {
    let mut rigs = [Rig::new(), Rig::new()];
    let _answers = own_parts(&mut rigs);
    for rig in &mut rigs {
        rig.at_ms(1);
        rig.send(&[100; 20]);
    }
    let sent = rigs.each_mut().map(|rig| rig.emitted().len());
    // One worker for all from now on; the ring has room for two packets at a time.
    let [owner, other] = &mut rigs;
    let (ring, handed) = hand_over(2);
    let answer = owner.own_with(Scheduler::pfifo(100), vec![handed]);
    owner.send(&[]);
    assert_eq!(answer.recv().unwrap().packets, Replaced { kept: 20 - sent[0] as u64, dropped: 0 });
    let (classifier, doorbell) = (Classifier::default(), Doorbell::default());
    let way = HandOver { port: 1, classifier, ring, doorbell };
    other.world.setup.shape.write(ShapeLetter::HandOver(Box::new(way)));
    // What comes meanwhile goes behind what waited.
    let mut got = owner.emitted();
    for _ in 0..25 {
        assert_eq!(other.send(&[99]), ["taken"]);
        owner.send(&[]);
        got.extend(owner.emitted());
    }
    assert_eq!(got.len() + sent[0] + sent[1], 65);
    let came_meanwhile = got.iter().position(|it| *it == release(99)).unwrap();
    assert_eq!(got[came_meanwhile..], vec![release(99); 25]);
    // And each its own again: what is in the ring by then is not lost.
    assert_eq!(other.send(&[60, 61]), ["taken", "taken"]);
    let _answers = own_parts(&mut rigs);
    rigs[1].at_ms(2);
    rigs[1].send(&[62]);
    rigs[0].world.setup.shape.write(ShapeLetter::HandedAll(1));
    rigs[0].send(&[]);
    rigs.iter_mut().for_each(|rig| rig.at_ms(30));
    let out = rigs.each_mut().map(Rig::emitted);
    assert_eq!(out, [vec![release(60), release(61)], vec![release(62)]]);
}

#[test]
fn packets_are_marked_where_they_may_be() {
    let mut rig = Rig::new();
    let codel = CodelShape { ecn: true, ce_threshold: Some(Time(1)), ..CodelShape::default() };
    let _answer = rig.own(slow(Scheduler::Codel(codel)));
    let frame = |ecn| craft::ethernet([2; 6], [4; 6]).ipv4(1, 2).ecn(ecn).payload(&[0; 60]).build();
    rig.at_ms(1);
    // The bucket takes a packet out to learn its length: the second has not waited by then.
    rig.send_frames(&[frame(2), frame(2), frame(2), frame(0)]);
    (5..8).for_each(|ms| rig.at_ms(ms));
    let marks: Vec<u8> = rig.node.emitted().iter().map(|out| out.header[15] & 3).collect();
    assert_eq!(marks, [2, 2, 3, 0]);
}

#[test]
fn it_tells_how_a_scheduler_does() {
    let mut rig = Rig::new();
    let _answer = rig.own(slow(Scheduler::pfifo(10)));
    rig.at_ms(1);
    rig.send(&[100, 60]);
    let (reply, answer) = sync_channel(1);
    rig.world.setup.shape.write(ShapeLetter::Tell(1, reply));
    rig.send(&[]);
    let report = answer.recv().unwrap();
    assert_eq!((report.counters.sent_packets, report.backlog.packets), (1, 1));
    rig.emitted();
}

#[test]
fn a_late_worker_makes_up_for_what_was_due() {
    let mut rig = Rig::new();
    let _answer = rig.own(slow(Scheduler::pfifo(1000)));
    rig.at_ms(1);
    rig.send(&[100; 200]);
    assert_eq!(rig.emitted().len(), 1);
    // 5 ms are 5,000 bytes, though the bucket holds 100.
    rig.at_ms(6);
    let late = rig.emitted().len();
    assert!((49..=50).contains(&late), "{late}");
    // What comes while it hurries after is served as if it had come in time: no gap, and no more.
    rig.at_ms(9);
    rig.send(&[100; 10]);
    let later = rig.emitted().len();
    assert!((29..=31).contains(&later), "{later}");
}

#[test]
fn a_gap_is_made_up_for_no_longer_than_20_ms() {
    let mut rig = Rig::new();
    let _answer = rig.own(slow(Scheduler::pfifo(1000)));
    rig.at_ms(1);
    rig.send(&[100; 200]);
    rig.send(&[100; 200]);
    assert_eq!(rig.emitted().len(), 1);
    rig.at_ms(101);
    let mut made_up = rig.emitted().len();
    while rig.node.take_due_tsc() <= rig.clock.tsc(101_000_000) {
        rig.send(&[]);
        made_up += rig.emitted().len();
    }
    // 20 ms, and what the bucket itself holds.
    assert!((200..=202).contains(&made_up), "{made_up}");
}

#[test]
fn idle_time_is_worth_no_more_than_the_burst() {
    let mut rig = Rig::new();
    let _answer = rig.own(slow(Scheduler::pfifo(1000)));
    rig.at_ms(1);
    rig.send(&[100]);
    assert_eq!(rig.emitted().len(), 1);
    rig.at_ms(50);
    rig.send(&[100; 20]);
    assert_eq!(rig.emitted().len(), 1);
}

#[test]
fn a_flooded_port_leaves_buffers_to_others_and_for_receiving() {
    let mut rig = Rig::new();
    let _answer = rig.own(slow(Scheduler::pfifo(100_000)));
    let most = rig.world.setup.shared.waiting_room.of_one_port();
    rig.at_ms(1);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..most {
        for exit in rig.send(&[60; 2]) {
            match exit.as_str() {
                "taken" => taken += 1,
                "no-buffers" => refused += 1,
                other => panic!("{other}"),
            }
        }
    }
    let waiting = taken - rig.emitted().len();
    assert!(waiting.abs_diff(most) <= 8, "{waiting} of {most}");
    assert!(refused > most / 2, "{refused}");
    assert!(rig.world.setup.shared.waiting_room.most() > 0, "nothing is left for another port");
    rig.disown(Leftover::Dropped);
    assert!(rig.world.setup.shared.waiting_room.most() > most, "it keeps what it had");
}
