//! All that decides about packets of a bridge, as a value that others may hold while the next is
//! written.

use crate::classifier::Classifier;
use crate::flow::Counters;
use crate::groups::Group;
use crate::meter::Meter;
use crate::tunnel::Asks;
use openflow::PortNumber;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A port, as tables see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortEntry {
    /// Floods go there.
    pub floods: bool,
    /// Something may be sent to it: it is up, and not forbidden.
    pub sends: bool,
    /// What it receives counts.
    pub receives: bool,
    /// Its link is there.
    pub is_live: bool,
    /// What flows say of what leaves by it.
    pub asks: Asks,
    /// It is a tunnel whose packets each have our end of their own.
    pub tells_local: bool,
}

impl PortEntry {
    /// One that may do everything, and is no tunnel.
    pub const fn all() -> Self {
        Self {
            floods: true,
            sends: true,
            receives: true,
            is_live: true,
            asks: Asks::Nothing,
            tells_local: false,
        }
    }
}

/// A table, and what it counted.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Its flows.
    pub flows: Classifier,
    /// Packets that it was looked up for: of what flows matched, those flows tell.
    pub misses: Arc<Counters>,
}

/// What becomes of pieces of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fragments {
    /// They are looked up as if none had ports: all of a packet go the same way.
    #[default]
    Alike,
    /// They are dropped.
    Dropped,
    /// The first of a packet has its ports.
    Told,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Which value it is: what was found in another may be wrong in this one.
    pub generation: u64,
    /// Tables with flows, by number.
    pub tables: BTreeMap<u8, Arc<Table>>,
    /// Groups.
    pub groups: Arc<BTreeMap<u32, Arc<Group>>>,
    /// Meters.
    pub meters: Arc<BTreeMap<u32, Arc<Meter>>>,
    /// Ports.
    pub ports: Arc<BTreeMap<PortNumber, PortEntry>>,
    /// What becomes of pieces of packets.
    pub fragments: Fragments,
    /// Whether packets that no flow matches go to controllers: of 1.0.
    pub misses_go_to_controllers: bool,
    /// Which sets of collectors flows may have packets noted for.
    pub collectors: Arc<BTreeSet<u32>>,
    /// Whether there has been something that asks for connection tracking.
    pub tracks: bool,
}

impl Snapshot {
    /// A table to change.
    pub fn table_mut(&mut self, number: u8) -> &mut Table {
        Arc::make_mut(self.tables.entry(number).or_default())
    }

    /// Flows of a table that have a cookie.
    pub fn learned(&self, table: u8, cookie: u64) -> usize {
        let mut count = 0;
        if let Some(table) = self.tables.get(&table) {
            table.flows.each(|flow| count += usize::from(flow.cookie == cookie));
        }
        count
    }
}
