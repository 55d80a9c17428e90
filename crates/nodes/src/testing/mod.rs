//! A small router for the tests of single nodes.

use crate::tables::{
    Bindings, BondMember, BondWays, BridgeId, BridgePort, Collects, Ends, Erspan, ErspanVersion,
    FlowBridges, IcmpLimits, Injector, Inside, Interface, InterfaceId, Interfaces, Kind,
    LastDropped, Link, Lisp, Listeners, Mode, NextHopCounters, Punt, Punts, Reception, Setup,
    Shared, Stations, ToTwin, Tunnel, Vlan, VlanTags, VrfId, VrfTables, Vrfs, WorkerCounters, Wrap,
    link_key, slow_path, twin_queue,
};
use fib::adjacency::AdjacencyTable;
use fib::ecmp::EcmpTable;
use fib::ip4::{Ip4Layout, Ip4Nodes, Ip4Options, Ip4Table};
use fib::ip6::{Ip6Pool, Ip6Table};
use fib::mac::MacTable;
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use graph::{Publisher, Reason};
use packet::{Frame, Large};
use sched::WaitingRoom;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

mod beside;
mod lisp;
mod topology;

pub(crate) use beside::{alone_and_beside, fare_as_alone};
pub(crate) use lisp::*;
pub(crate) use topology::*;

/// Punts and injected packets that fit the queues.
pub(crate) const QUEUE: usize = 4;

/// The VRF that tests add.
pub(crate) const RED: VrfId = VrfId(1);

/// Makes the first packet of a frame a large one, from its header on.
pub(crate) fn make_large(frame: &mut Frame, large: Large) {
    let mut packet = frame.view(0).take().unwrap();
    assert!(packet.set_large(Some(large)));
    frame.view(0).put_back(packet);
}

pub(crate) struct World {
    pub(crate) setup: Setup,
    pub(crate) punts: Punts,
    pub(crate) injector: Injector,
    /// What twins were handed.
    pub(crate) twin_packets: Receiver<ToTwin>,
    pub(crate) interfaces: Publisher<Interfaces>,
    pub(crate) vrfs: Publisher<Vrfs>,
    /// Tables of a VRF that is not there yet ([`World::add_red`]).
    pub(crate) red: VrfTables,
    pub(crate) bindings: Publisher<Bindings>,
    pub(crate) listeners: Publisher<Listeners>,
    pub(crate) lisp: Publisher<Lisp>,
    pub(crate) flow_bridges: Publisher<FlowBridges>,
    /// Its map cache ([`World::add_lisp`]), and who may send.
    pub(crate) maps: VrfTables,
    pub(crate) sources: VrfTables,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_errors_per_second(1000)
    }

    pub(crate) fn with_errors_per_second(icmp_errors_per_second: u32) -> Self {
        let readers = Quiescence::new();
        let interfaces = Publisher::new(Interfaces::new(rows()), &readers);
        let bindings = Publisher::new(Bindings::default(), &readers);
        let listeners = Publisher::new(Listeners::default(), &readers);
        let nodes = Ip4Nodes::new(4096, PageSize::Small, &readers).unwrap();
        let (layout, page_size) = (Ip4Layout::Compact, PageSize::Small);
        let pool6 = Ip6Pool::new(1 << 24, PageSize::Small, &readers).unwrap();
        let options = Ip4Options { layout, page_size, max_routes: 100 };
        let tables = || VrfTables {
            ip4: Arc::new(Ip4Table::new(&nodes, options).unwrap()),
            ip6: Arc::new(Ip6Table::new(&pool6, 100)),
        };
        let (default, red) = (tables(), tables());
        let (maps, sources) = (tables(), tables());
        let flow_bridges = Publisher::new(FlowBridges::default(), &readers);
        let lisp = Publisher::new(Lisp::default(), &readers);
        let vrfs = Publisher::new(Vrfs::new(default.clone()), &readers);
        let adjacencies = AdjacencyTable::new(16, &readers).unwrap();
        let stations = MacTable::new(100, PageSize::Small, &readers).unwrap();
        let groups = EcmpTable::new(4, 1024, &readers).unwrap();
        let (slow_path, punts) = slow_path(QUEUE, Arc::new(|| ()));
        let (injector, injected) = Injector::new(QUEUE);
        let (twins, twin_packets) = twin_queue(QUEUE, Arc::new(|| ()));
        let shared = Shared {
            interfaces: interfaces.published(),
            vrfs: vrfs.published(),
            bindings: bindings.published(),
            listeners: listeners.published(),
            lisp: lisp.published(),
            flow_bridges: flow_bridges.published(),
            flow_clock: Default::default(),
            ip6_links: Arc::new(Ip6Table::new(&pool6, 100)),
            adjacencies: Arc::new(adjacencies),
            stations: Stations::new(stations),
            groups: Arc::new(groups),
            flow_seed: 7,
            flows: Arc::default(),
            counts_next_hops: Arc::default(),
            has_policies: Arc::default(),
            slow_path,
            icmp: Arc::new(IcmpLimits {
                errors_per_second: icmp_errors_per_second.into(),
                echoes_per_second: 1000.into(),
                echoes_broadcasts: false.into(),
            }),
            ip4: Arc::default(),
            echo_ids: Arc::default(),
            twins,
            twin_limits: Arc::default(),
            reception: Reception::default(),
            waiting_room: Arc::new(WaitingRoom::of_pool(1024)),
        };
        let Shared { ip6_links, adjacencies, groups, .. } = &shared;
        let VrfTables { ip4, ip6 } = &default;
        add_routes(ip4, ip6, ip6_links, adjacencies, groups);
        let setup = Setup {
            shared,
            counters: Arc::new(WorkerCounters::new(&reasons())),
            dropped: Arc::new(LastDropped::new(&reasons())),
            next_hops: Arc::new(NextHopCounters::new(16).unwrap()),
            flow: Default::default(),
            flow_asked: Default::default(),
            rx: Arc::default(),
            tx: Arc::default(),
            shape: Arc::default(),
            injected: Arc::new(Mutex::new(Some(injected))),
        };
        Self {
            setup,
            punts,
            injector,
            twin_packets,
            interfaces,
            bindings,
            listeners,
            vrfs,
            red,
            lisp,
            flow_bridges,
            maps,
            sources,
        }
    }

    /// Changes an interface's row.
    pub(crate) fn change_interface(&mut self, id: u16, change: impl FnOnce(&mut Interface)) {
        let mut row = self.interfaces.get(id).cloned();
        change(row.as_mut().unwrap());
        self.interfaces.set(self.interfaces.with(id, row));
    }

    /// Changes all of them.
    pub(crate) fn change_interfaces(&mut self, change: impl FnMut(&mut Interface)) {
        self.interfaces.set(self.interfaces.with_each(change));
    }

    /// Adds VRF red, and puts interface 1 into it.
    pub(crate) fn add_red(&mut self) -> &VrfTables {
        self.vrfs.set(self.vrfs.with(RED, Some(self.red.clone())));
        self.change_interface(1, |row| row.vrf = RED);
        &self.red
    }

    /// All punts so far.
    pub(crate) fn all_punts(&self) -> Vec<Punt> {
        std::iter::from_fn(|| self.punts.next()).collect()
    }
}

/// Drop reasons 0 and 1, the second one's on the way out.
fn reasons() -> [Reason; 2] {
    ["ip4-input", "port-tx"].map(|node| {
        let (exit, about, mend) = (String::new(), String::new(), "");
        Reason { node, exit, about, mend, answer: None }
    })
}
