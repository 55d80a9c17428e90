//! A shaped port among several workers: packets cross to its owner, or wait where they are, and
//! leave in time.

use crate::rig::*;
use dataplane::{Dataplane, PortQueues, Settings, Threads, Waiting};
use nodes::tables::{Injected, Leftover};
use packet::{HeapPool, MemorySink, Pool, Recorded, TxQueue};
use sched::units::{Rate, Size};
use sched::{ClassId, Config, HtbClass, HtbShape, Shape};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Two workers at rest, and a port that the second owns.
struct Two {
    dataplane: Dataplane,
    pool: Arc<HeapPool>,
    sent: [Recorded; 2],
}

const PORT: u16 = 3;

impl Two {
    fn new() -> Self {
        let pool = Arc::new(HeapPool::new(1024, 2048).unwrap());
        let mut settings = Settings::new(Arc::clone(&pool) as Arc<dyn Pool>);
        settings.threads = Threads::Pinned(vec![None, None]);
        (settings.ip4_nodes, settings.adjacencies) = (4096, 64);
        let mut dataplane = Dataplane::start(&settings).unwrap();
        dataplane.set_interface(PORT, rows()[usize::from(PORT)].clone());
        let sent = [Recorded::default(), Recorded::default()];
        let sink = |record: &Recorded| -> Box<dyn TxQueue> {
            Box::new(MemorySink::recording(Arc::clone(record)))
        };
        let queues = PortQueues { rx: Vec::new(), tx: sent.iter().map(sink).collect() };
        dataplane.attach_port(PORT, PORT, queues).unwrap();
        Self { dataplane, pool, sent }
    }

    fn waiting<T>(&mut self, call: impl FnOnce(&mut Dataplane, &mut Waiting<'_>) -> T) -> T {
        let mut turn = || std::thread::sleep(Duration::from_micros(100));
        let patience = Duration::from_secs(60);
        call(&mut self.dataplane, &mut Waiting { patience, turn: &mut turn })
    }

    /// Has the first worker send frames by the port.
    fn inject(&mut self, count: u8) {
        let mut cache = self.pool.cache();
        for number in 0..count {
            let packet = cache.copy_of(&[number; 1000]).unwrap();
            let frame = Injected::Frame { interface: PORT, packet };
            self.dataplane.injector.send(frame).unwrap();
        }
    }

    /// Waits until some workers have sent so many together.
    fn wait_for(&self, workers: &[usize], count: usize) -> Vec<u8> {
        let start = Instant::now();
        loop {
            let sent = |&worker: &usize| self.sent[worker].lock().unwrap().clone();
            let sent: Vec<Vec<u8>> = workers.iter().flat_map(sent).collect();
            if sent.len() >= count || start.elapsed() > Duration::from_secs(60) {
                return sent.iter().map(|frame| frame[0]).collect();
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn end(self) {
        let Self { dataplane, pool, .. } = self;
        drop(dataplane);
        assert_eq!(pool.usage().free, pool.usage().total, "a buffer is lost");
    }
}

fn slow(rate: Rate) -> Config {
    Config::of(Shape::tbf(rate, Size(1514), Shape::pfifo(1000)))
}

/// One class of a tree, which all workers serve.
fn shared(rate: Rate) -> Config {
    let class = HtbClass::new(ClassId::new(1, 1), None, rate);
    let default = Some(class.id);
    let htb = HtbShape { default, all_workers: true, classes: vec![class], ..HtbShape::default() };
    Config::of(Shape::Htb(htb))
}

#[test]
fn one_workers_packets_leave_by_the_other_at_the_rate_that_is_set() {
    let mut two = Two::new();
    two.waiting(|dataplane, waiting| {
        dataplane.shape_port(PORT, &slow(Rate(8_000_000)), false, waiting).unwrap();
    });
    let start = Instant::now();
    two.inject(50);
    assert!(two.wait_for(&[1], 50).into_iter().eq(0..50), "in order");
    // A packet a millisecond, and two at once. Later than that a stalled machine may be; the bucket
    // makes it never earlier.
    assert!(start.elapsed() > Duration::from_millis(48));
    let report = two.waiting(|dataplane, waiting| dataplane.shaping_report(PORT, waiting));
    let report = report.unwrap();
    assert_eq!((report.counters.sent_packets, report.backlog.packets), (50, 0));
    two.waiting(|dataplane, waiting| {
        dataplane.unshape_port(PORT, Leftover::Sent, waiting).unwrap();
    });
    two.inject(1);
    assert_eq!(two.wait_for(&[0], 1), [0], "unshaped, it leaves where it is");
    two.end();
}

#[test]
fn what_waits_survives_a_change_and_leaves_when_the_shaper_goes() {
    let mut two = Two::new();
    let crawl = slow(Rate(8_000));
    two.waiting(|dataplane, waiting| dataplane.shape_port(PORT, &crawl, false, waiting).unwrap());
    two.inject(20);
    let first = two.wait_for(&[1], 1).len();
    let replaced = two
        .waiting(|dataplane, waiting| dataplane.shape_port(PORT, &crawl, false, waiting).unwrap());
    assert_eq!(replaced.dropped, 0);
    let left = two.waiting(|dataplane, waiting| {
        dataplane.unshape_port(PORT, Leftover::Sent, waiting).unwrap()
    });
    assert!(left.kept <= 20 - first as u64);
    let mut all = two.wait_for(&[0, 1], 20);
    all.sort_unstable();
    assert!(all.into_iter().eq(0..20));
    two.end();
}

#[test]
fn a_tree_of_all_workers_has_packets_leave_where_they_are_at_the_rate_that_is_set() {
    let mut two = Two::new();
    two.waiting(|dataplane, waiting| {
        dataplane.shape_port(PORT, &shared(Rate(8_000_000)), false, waiting).unwrap();
    });
    let start = Instant::now();
    two.inject(50);
    assert!(two.wait_for(&[0], 50).into_iter().eq(0..50), "in order");
    // A packet a millisecond; a burst, and what is lent beyond it, are less than ten.
    assert!(start.elapsed() > Duration::from_millis(40));
    let report = two.waiting(|dataplane, waiting| dataplane.shaping_report(PORT, waiting));
    let report = report.unwrap();
    assert_eq!((report.counters.sent_packets, report.backlog.packets), (50, 0));
    let by_worker = ["worker_0_packets", "worker_1_packets"].map(|name| report.gauge_value(name));
    assert_eq!(by_worker, [Some(50), Some(0)]);
    two.waiting(|dataplane, waiting| {
        dataplane.unshape_port(PORT, Leftover::Sent, waiting).unwrap();
    });
    two.inject(1);
    assert_eq!(two.wait_for(&[0], 51)[50], 0);
    two.end();
}

#[test]
fn what_waits_survives_that_all_workers_have_the_port_and_that_one_has_it_again() {
    for kinds in [[true, false], [false, true], [true, true]] {
        let mut two = Two::new();
        let crawl = |all: bool| match all {
            true => shared(Rate(8_000)),
            false => slow(Rate(8_000)),
        };
        let shape = |two: &mut Two, all| {
            two.waiting(|dataplane, waiting| {
                dataplane.shape_port(PORT, &crawl(all), false, waiting).unwrap()
            })
        };
        shape(&mut two, kinds[0]);
        two.inject(20);
        two.wait_for(&[0, 1], 1);
        assert_eq!(shape(&mut two, kinds[1]).dropped, 0);
        assert_eq!(shape(&mut two, kinds[0]).dropped, 0);
        two.waiting(|dataplane, waiting| {
            dataplane.unshape_port(PORT, Leftover::Sent, waiting).unwrap()
        });
        let mut all = two.wait_for(&[0, 1], 20);
        all.sort_unstable();
        assert!(all.into_iter().eq(0..20));
        two.end();
    }
}
