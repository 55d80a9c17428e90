//! A bridge of flows: its tables, ports and settings.

use crate::check::LAST_TABLE;
use crate::connection::Event;
use crate::evict::Order;
use crate::flows::{gone, usual_flow};
use crate::ports::OpenPort;
use crate::taught::Teachers;
use crate::vacancy::Watch;
use flow::{Snapshot, Verdict};
use openflow::message::PortStats;
use openflow::{PortNumber, Sub, Versions};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Flows of a bridge, at most: 1.1 kB each (`docs/flow-switch.md`).
pub const MOST_FLOWS: usize = 1_000_000;

/// What a bridge stands in.
pub trait World {
    /// What a port counted. Its number and age are the bridge's to say.
    fn port_stats(&self, port: PortNumber) -> Option<PortStats>;
    /// Does to a packet what was decided, by tables that are asked again where it passes connection
    /// tracking.
    fn send(&mut self, frame: &[u8], in_port: PortNumber, verdict: &Verdict, tables: &Snapshot);
}

/// What may be said of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableSettings {
    /// How tools call it; empty: by its number.
    pub name: String,
    /// Flows that it may have; none: as many as the bridge.
    pub most: Option<u32>,
    /// Whether a flow that ends by itself makes room where there are as many.
    pub evicts: bool,
    /// What such flows are told apart by: one of the largest group goes.
    pub groups: Vec<Sub>,
}

/// See the module.
#[derive(Debug)]
pub struct Bridge {
    pub(crate) name: String,
    pub(crate) datapath: u64,
    pub(crate) versions: Versions,
    pub(crate) snapshot: Snapshot,
    pub(crate) ports: BTreeMap<PortNumber, OpenPort>,
    pub(crate) events: Vec<Event>,
    pub(crate) is_changed: bool,
    pub(crate) flows: usize,
    /// Flows that may end by themselves.
    pub(crate) timed: usize,
    pub(crate) teachers: Teachers,
    /// What is said of tables.
    pub(crate) said_of_tables: BTreeMap<u8, TableSettings>,
    /// Tables that a controller has make room, beside those that are said to.
    pub(crate) evicting: BTreeSet<u8>,
    /// Who goes next, of each table whose flows make room.
    pub(crate) orders: BTreeMap<u8, Order>,
    /// Tables whose room is told of.
    pub(crate) vacancies: BTreeMap<u8, Watch>,
    pub(crate) fragments: u16,
    pub(crate) generation: Option<u64>,
    /// Held by all who watch flows.
    pub(crate) watched: Arc<()>,
    /// Who is heard, and the number of the message.
    pub(crate) speaker: Option<(u64, u32)>,
    /// No controller is left, and it does what an ordinary bridge does.
    fails_open: bool,
}

impl Bridge {
    /// A bridge that does what an ordinary one does (`is_secure`: nothing), until it is told
    /// otherwise.
    pub fn new(name: &str, mac: [u8; 6], is_secure: bool, now_ns: u64) -> Self {
        let datapath = mac.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let mut it = Self {
            name: name.to_owned(),
            datapath,
            versions: Versions::all(),
            snapshot: Snapshot::default(),
            ports: BTreeMap::new(),
            events: Vec::new(),
            is_changed: true,
            flows: 0,
            timed: 0,
            teachers: Teachers::new(),
            said_of_tables: BTreeMap::new(),
            evicting: BTreeSet::new(),
            orders: BTreeMap::new(),
            vacancies: BTreeMap::new(),
            fragments: 0,
            generation: None,
            watched: Arc::default(),
            speaker: None,
            fails_open: false,
        };
        if !is_secure {
            it.add_usual_flow(now_ns);
        }
        it
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many flows.
    pub fn len(&self) -> usize {
        self.flows
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.flows == 0
    }

    /// The value for workers, if it changed since it was asked for last.
    pub fn take_snapshot(&mut self) -> Option<Snapshot> {
        if !std::mem::take(&mut self.is_changed) {
            return None;
        }
        self.snapshot.generation += 1;
        Some(self.snapshot())
    }

    /// What was found in the tables until now is found anew: what is beside packets changed.
    pub fn begin_anew(&mut self) {
        self.is_changed = true;
    }

    /// As workers have it, or will.
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = self.snapshot.clone();
        if self.fails_open {
            snapshot.tables.clear();
            snapshot.table_mut(0).flows.insert(usual_flow(0));
        }
        snapshot
    }

    /// Whether there has been something that asks for connection tracking.
    pub fn tracks(&self) -> bool {
        self.snapshot.tracks
    }

    /// The generation of the newest master.
    pub fn generation(&self) -> Option<u64> {
        self.generation
    }

    /// The number by which controllers know it.
    pub fn datapath(&self) -> u64 {
        self.datapath
    }

    /// Gives it another number, for controllers that come later.
    pub fn set_datapath(&mut self, datapath: u64) {
        self.datapath = datapath;
    }

    /// The versions that it agrees to.
    pub fn versions(&self) -> Versions {
        self.versions
    }

    /// Has it agree to these and no others, with who greets from now on.
    pub fn set_versions(&mut self, versions: Versions) {
        self.versions = versions;
    }

    /// Has tables be what is said of them. Flows that are there already stay; where flows make
    /// room, those beyond the limit go, as far as they may.
    pub fn set_tables(&mut self, tables: BTreeMap<u8, TableSettings>, now_ns: u64) {
        self.said_of_tables = tables;
        self.order_tables(false);
        self.make_all_room(now_ns);
        (0..=LAST_TABLE).for_each(|table| self.look_at_vacancy(table));
    }

    /// Flows that a table has.
    pub(crate) fn in_table(&self, table: u8) -> usize {
        self.snapshot.tables.get(&table).map_or(0, |it| it.flows.len())
    }

    /// Flows that a table may have.
    pub(crate) fn most_of(&self, table: u8) -> usize {
        let said = self.said_of_tables.get(&table).and_then(|it| it.most);
        said.map_or(MOST_FLOWS, |most| MOST_FLOWS.min(most as usize))
    }

    /// How tools call a table; nothing: by its number.
    pub(crate) fn name_of_table(&self, table: u8) -> &str {
        self.said_of_tables.get(&table).map_or("", |it| &it.name)
    }

    /// Whether it does what an ordinary bridge does, whatever its flows say, because no controller
    /// is left.
    pub fn fails_open(&self) -> bool {
        self.fails_open
    }

    /// Begins or ends that. Its flows are nobody's then, and go.
    pub fn set_fails_open(&mut self, fails_open: bool, now_ns: u64) {
        if self.fails_open != fails_open {
            if fails_open {
                self.flush(true, now_ns);
            }
            (self.fails_open, self.is_changed) = (fails_open, true);
        }
    }

    /// Takes all flows out; those of groups and meters stay. With `is_secure` nothing is done
    /// until somebody says so, else what an ordinary bridge does.
    pub fn flush(&mut self, is_secure: bool, now_ns: u64) {
        self.remove_all(gone::DELETED, now_ns, |_| true);
        if !is_secure {
            self.add_usual_flow(now_ns);
        }
    }

    /// Whether packets that no flow matches are told of.
    pub fn set_tells_misses(&mut self, tells: bool) {
        if self.snapshot.misses_go_to_controllers != tells {
            self.snapshot.misses_go_to_controllers = tells;
            self.is_changed = true;
        }
    }

    /// Which sets of collectors flows may have packets noted for.
    pub fn set_collectors(&mut self, sets: BTreeSet<u32>) {
        if *self.snapshot.collectors != sets {
            (self.snapshot.collectors, self.is_changed) = (Arc::new(sets), true);
        }
    }

    /// What there is to tell controllers.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Every flow, by table.
    pub fn each_flow(&self, mut look: impl FnMut(&Arc<flow::Flow>)) {
        for table in self.snapshot.tables.values() {
            table.flows.each(&mut look);
        }
    }
}
