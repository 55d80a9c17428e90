//! A small router for the tests of single nodes.

use super::{
    Bindings, Injector, Interface, Interfaces, Setup, Shared, SlowPathEvents, SlowPathNews,
    Stations, WorkerCounters, slow_path,
};
use crate::plumbing::IcmpLimits;
use fib::adjacency::AdjacencyTable;
use fib::ecmp::EcmpTable;
use fib::ip4::{Ip4Layout, Ip4Nodes, Ip4Options, Ip4Table};
use fib::ip6::{Ip6Pool, Ip6Table};
use fib::mac::MacTable;
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use graph::{Publisher, Reason};
use std::sync::{Arc, Mutex};

pub(crate) use super::topology::*;

/// News and injected packets that fit the queues.
pub(crate) const QUEUE: usize = 4;

pub(crate) struct World {
    pub(crate) setup: Setup,
    pub(crate) news: SlowPathEvents,
    pub(crate) injector: Injector,
    pub(crate) interfaces: Publisher<Interfaces>,
    pub(crate) bindings: Publisher<Bindings>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_errors_per_second(1000)
    }

    pub(crate) fn with_errors_per_second(icmp_errors_per_second: u32) -> Self {
        let readers = Quiescence::new();
        let interfaces = Publisher::new(Interfaces::new(rows()), &readers);
        let bindings = Publisher::new(Bindings::default(), &readers);
        let nodes = Ip4Nodes::new(4096, PageSize::Small, &readers).unwrap();
        let (layout, page_size) = (Ip4Layout::Compact, PageSize::Small);
        let ip4 = Ip4Table::new(&nodes, Ip4Options { layout, page_size, max_routes: 100 }).unwrap();
        let pool6 = Ip6Pool::new(1 << 24, PageSize::Small, &readers).unwrap();
        let adjacencies = AdjacencyTable::new(16, &readers).unwrap();
        let stations = MacTable::new(100, PageSize::Small, &readers).unwrap();
        let groups = EcmpTable::new(4, 1024, &readers).unwrap();
        let (slow_path, news) = slow_path(QUEUE, Arc::new(|| ()));
        let (injector, injected) = Injector::new(QUEUE);
        let shared = Shared {
            interfaces: interfaces.published(),
            bindings: bindings.published(),
            ip4: Arc::new(ip4),
            ip6: Arc::new(Ip6Table::new(&pool6, 100)),
            ip6_links: Arc::new(Ip6Table::new(&pool6, 100)),
            adjacencies: Arc::new(adjacencies),
            stations: Stations::new(stations),
            groups: Arc::new(groups),
            flow_seed: 7,
            slow_path,
            icmp: Arc::new(IcmpLimits {
                errors_per_second: icmp_errors_per_second.into(),
                echoes_per_second: 1000.into(),
            }),
        };
        let Shared { ip4, ip6, ip6_links, adjacencies, groups, .. } = &shared;
        add_routes(ip4, ip6, ip6_links, adjacencies, groups);
        let setup = Setup {
            shared,
            counters: Arc::new(WorkerCounters::new(&reasons())),
            rx: Arc::default(),
            tx: Arc::default(),
            shape: Arc::default(),
            injected: Arc::new(Mutex::new(Some(injected))),
        };
        Self { setup, news, injector, interfaces, bindings }
    }

    /// Changes an interface's row.
    pub(crate) fn change_interface(&mut self, id: u16, change: impl FnOnce(&mut Interface)) {
        let mut row = self.interfaces.get(id).cloned();
        change(row.as_mut().unwrap());
        self.interfaces.set(self.interfaces.with(id, row));
    }

    /// All news so far.
    pub(crate) fn all_news(&self) -> Vec<SlowPathNews> {
        std::iter::from_fn(|| self.news.next()).collect()
    }
}

/// Drop reasons 0 and 1, the second one's on the way out.
fn reasons() -> [Reason; 2] {
    ["ip4-input", "port-tx"].map(|node| Reason { node, exit: String::new(), about: String::new() })
}
