//! A scheduler takes the memory that its configuration is said to take, and enqueue and dequeue
//! allocate nothing once it is built, whatever its shape and however long it is overloaded.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(
    unsafe_code,
    reason = "an allocator that counts can only be written with unsafe functions"
)]

use sched::units::{Rate, Size, Time};
use sched::{
    CakeShape, ClassId, Config, Curve, FqCodelShape, HfscClass, HfscShape, HtbClass, HtbShape,
    Next, Packet, SfqShape, Shape, build_for,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Less what it freed, some of which another thread may have taken.
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

// SAFETY: every call is handed to the system's allocator unchanged; counting touches a thread-local
// without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        BYTES.with(|bytes| bytes.set(bytes.get() + layout.size() as i64));
        // SAFETY: the caller keeps the contract that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        BYTES.with(|bytes| bytes.set(bytes.get() - layout.size() as i64));
        // SAFETY: the caller got `at` from `alloc` above, which is the system's.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn id(minor: u16) -> ClassId {
    ClassId::new(1, minor)
}

fn shapes() -> Vec<Shape> {
    let htb_class = |minor| HtbClass {
        leaf: Some(Shape::fq_codel()),
        ceil: Some(Rate(10_000_000)),
        ..HtbClass::new(id(minor), Some(id(99)), Rate(1_000_000))
    };
    let mut htb: Vec<HtbClass> = (1..9).map(htb_class).collect();
    htb.push(HtbClass::new(id(99), None, Rate(10_000_000)));
    let curve = Some(Curve::straight(Rate(1_000_000)));
    let hfsc_class = |minor| HfscClass {
        rt: curve,
        ls: curve,
        leaf: Some(Shape::sfq()),
        ..HfscClass::new(id(minor), None)
    };
    let (handle, default) = (id(0), Some(id(1)));
    let tree = |all_workers| {
        let classes = htb.clone();
        HtbShape { handle, default, all_workers, classes, ..Default::default() }.into()
    };
    vec![
        Shape::pfifo(100),
        Shape::pfifo_fast(),
        Shape::prio(4),
        Shape::sfq(),
        Shape::codel(),
        Shape::fq_codel(),
        CakeShape { bandwidth: Some(Rate(10_000_000)), ack_filter: true, ..Default::default() }
            .into(),
        Shape::tbf(Rate(10_000_000), Size(3000), Shape::fq_codel()),
        tree(false),
        tree(true),
        Shape::Hfsc(HfscShape { handle, default, classes: (1..9).map(hfsc_class).collect() }),
    ]
}

#[test]
fn an_overloaded_scheduler_stays_within_the_memory_it_began_with() {
    for shape in shapes() {
        let kind = shape.kind();
        // Of a tree that all workers serve, two parts by turns.
        let mut parts = build_for::<u64>(&Config::of(shape), 2).unwrap();
        let count = parts.len() as u64;
        let mut dropped = 0u64;
        let before = ALLOCATIONS.with(Cell::get);
        // Two minutes of twice what goes out: 10 Mbit/s come in packets of 1250 bytes, 5 leave.
        for millisecond in 0..120_000u64 {
            let now_ns = millisecond * 1_000_000;
            let scheduler = &mut parts[(millisecond / 2 % count) as usize];
            let mut packet = Packet::new(millisecond, 1250, (millisecond % 37) as u32);
            packet.class = id((millisecond % 8) as u16 + 1);
            packet.priority = (millisecond % 16) as u8;
            let _ = scheduler.enqueue(now_ns, packet, &mut |_| dropped += 1);
            if millisecond % 2 == 0 {
                let _: Next<u64> = scheduler.dequeue(now_ns, &mut |_| dropped += 1);
            }
        }
        assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0, "{kind}");
        assert!(dropped > 10_000, "{kind} was not overloaded: {dropped}");
    }
}

/// What takes much, in sizes that do not divide evenly.
fn large_shapes() -> Vec<Shape> {
    let (handle, curve) = (id(0), Some(Curve { m1: Rate(2), d: Time(3), m2: Rate(1_000_000) }));
    let tree = |parent: fn(u16) -> Option<ClassId>| {
        let hfsc = (1..=5000).map(|minor| HfscClass {
            rt: curve,
            ls: curve,
            ul: curve,
            ..HfscClass::new(id(minor), parent(minor))
        });
        let htb = (1..=5000).map(|minor| HtbClass::new(id(minor), parent(minor), Rate(1_000_000)));
        let htb = HtbShape { handle, classes: htb.collect(), ..Default::default() };
        [Shape::Hfsc(HfscShape { handle, default: None, classes: hfsc.collect() }), htb.into()]
    };
    // All brothers, and two below each.
    let trees = [tree(|_| None), tree(|minor| (minor > 1).then(|| id(minor / 2)))];
    let flows = 65_000;
    let sfq = SfqShape { limit: 120_000, flows, divisor: 65_536, ..Default::default() };
    let fq_codel = FqCodelShape { limit: 120_000, flows, ..Default::default() };
    let flat = [Shape::pfifo(70_000), Shape::Sfq(sfq), Shape::FqCodel(fq_codel)];
    trees.into_iter().flatten().chain(flat).collect()
}

#[test]
fn a_scheduler_takes_no_more_memory_than_is_told_and_no_less_than_half() {
    for shape in shapes().into_iter().chain(large_shapes()) {
        let kind = shape.kind();
        let config = Config::of(shape);
        let told = sched::memory(&config).0 as i64;
        let before = BYTES.with(Cell::get);
        let scheduler = sched::build::<u64>(&config).unwrap();
        let taken = BYTES.with(Cell::get) - before;
        assert!(taken <= told && told <= 2 * taken, "{kind} takes {taken}, told {told}");
        drop(scheduler);
    }
}
