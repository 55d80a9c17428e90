//! One controller's side of a bridge: how it wants to be spoken to.

use crate::monitors::Monitor;
use openflow::Version;
use openflow::message::{
    AsyncMasks, BundleControl, Multipart, PacketInForm, Role, StatsForm, flow_updates, reason,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Something that controllers may be told without asking.
#[derive(Clone, Debug)]
pub enum Event {
    /// A flow is gone: the flow, when it went, and why.
    FlowRemoved(Arc<flow::Flow>, u64, u8),
    /// A packet.
    Packet(Arc<crate::told::PacketSeen>),
    /// A port came (0), went (1) or changed (2).
    Port(u8, openflow::message::PortDesc),
    /// There is little room in a table, or enough again: the reason, and its settings.
    Table(u8, openflow::message::TableDesc),
    /// Something became of a flow.
    Flow(Arc<crate::monitors::Change>),
    /// The same by messages of this number, of the connection itself.
    Own(u32),
    /// What becomes of flows is missed from here on, or is not any more.
    Pause {
        /// Not any more.
        is_over: bool,
    },
    /// The controller is a slave now: another is master, of this generation.
    Demoted(u64),
}

/// See the module.
#[derive(Debug)]
pub struct Connection {
    /// The version agreed upon; none before greetings.
    pub(crate) version: Option<Version>,
    pub(crate) names_tables: bool,
    pub(crate) form: StatsForm,
    pub(crate) packet_in: PacketInForm,
    pub(crate) masks: AsyncMasks,
    pub(crate) role: Role,
    is_service: bool,
    /// It asked to be master, and nobody has seen to the others yet.
    pub(crate) claims: bool,
    pub(crate) controller: u16,
    /// Bytes of packets that no flow matches; a switch's own tools want none until they say so.
    pub(crate) miss_len: u16,
    pub(crate) bundles: BTreeMap<u32, Bundle>,
    /// Which of all connections it is.
    pub(crate) number: u64,
    /// Flows that it watches.
    pub(crate) monitors: BTreeMap<u32, Monitor>,
    /// When what is told of flows ended for now.
    pub(crate) paused_ns: Option<u64>,
    /// When the last change was that it was told.
    pub(crate) latest_ns: u64,
    /// Events that it is owed.
    pub(crate) owed: VecDeque<Event>,
    /// Events that found no room.
    pub(crate) lost: u64,
}

/// A bundle that is open.
#[derive(Debug)]
pub(crate) struct Bundle {
    pub(crate) control: BundleControl,
    pub(crate) is_closed: bool,
    pub(crate) messages: Vec<Vec<u8>>,
    /// Bytes of them.
    pub(crate) bytes: usize,
}

impl Bundle {
    pub(crate) fn new(control: BundleControl) -> Self {
        Self { control, is_closed: false, messages: Vec::new(), bytes: 0 }
    }
}

/// The next connection's number.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// Ends updates, if there are some.
fn close(updates: &mut Option<Multipart>, messages: &mut Vec<Vec<u8>>) {
    if let Some(updates) = updates.take().filter(|updates| !updates.is_empty()) {
        messages.extend(updates.finish());
    }
}

/// Events that may wait for a controller that reads slowly.
const MOST_OWED: usize = 4096;

impl Connection {
    /// A connection of a controller, or of a tool (`is_service`), which is told nothing that it
    /// does not ask for.
    pub fn new(is_service: bool) -> Self {
        Self {
            version: None,
            names_tables: false,
            form: StatsForm::Standard,
            packet_in: PacketInForm::Standard,
            masks: AsyncMasks::default(),
            role: Role::Equal,
            is_service,
            claims: false,
            controller: 0,
            miss_len: if is_service { 0 } else { 128 },
            bundles: BTreeMap::new(),
            number: NUMBERS.fetch_add(1, Relaxed),
            monitors: BTreeMap::new(),
            paused_ns: None,
            latest_ns: 0,
            owed: VecDeque::new(),
            lost: 0,
        }
    }

    /// The version agreed upon.
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// Its role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Whether it became master since this was asked last: others are none any more.
    pub fn take_claim(&mut self) -> bool {
        std::mem::take(&mut self.claims)
    }

    /// Another is master now.
    pub fn demote(&mut self, generation: Option<u64>) {
        if self.role == Role::Master {
            self.role = Role::Slave;
            self.tell(&Event::Demoted(generation.unwrap_or(u64::MAX)));
        }
    }

    /// Whether packets that no flow matches are its: of a controller that speaks 1.0.
    pub fn takes_misses(&self) -> bool {
        self.version == Some(Version::V10) && self.hears()
    }

    /// Tools hear of nothing until they say how much of packets they want.
    fn hears(&self) -> bool {
        !self.is_service || self.miss_len > 0
    }

    /// Tells it of something, if it wants to know and has room.
    pub fn tell(&mut self, event: &Event) {
        // What it watches it asked for; who comes last would not know that something is missing.
        if let Event::Flow(change) = event {
            return self.follow(change);
        }
        let slot = usize::from(self.role == Role::Slave);
        let wants = |masks: [u32; 2], reason: u8| masks[slot] >> reason.min(31) & 1 != 0;
        let wanted = match event {
            Event::FlowRemoved(_, _, reason) => wants(self.masks.flow_removed, *reason),
            Event::Packet(it) => {
                // From 1.3 on a flow says so where packets that no other matches are wanted.
                let is_miss = it.reason == reason::NO_MATCH && it.is_of_no_flow();
                it.controller == self.controller
                    && (!is_miss || self.takes_misses())
                    && wants(self.masks.packet_in, it.reason)
            }
            Event::Flow(_) | Event::Own(_) | Event::Pause { .. } => false,
            Event::Port(reason, _) => wants(self.masks.port_status, *reason),
            Event::Table(reason, _) => {
                self.version >= Some(Version::V14) && wants(self.masks.table_status, *reason)
            }
            Event::Demoted(_) => {
                self.version >= Some(Version::V14) && wants(self.masks.role_status, 0)
            }
        };
        if !wanted || !self.hears() || self.version.is_none() {
            return;
        }
        if self.owed.len() < MOST_OWED {
            self.owed.push_back(event.clone());
        } else {
            self.lost += 1;
        }
    }

    /// Whether it is owed something.
    pub fn is_owed(&self) -> bool {
        !self.owed.is_empty()
    }

    /// Events that it wanted to know of and that found no room.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The messages that it is owed.
    pub fn take_owed(&mut self) -> Vec<Vec<u8>> {
        self.take_first_owed(usize::MAX)
    }

    /// The same of so many events at most.
    pub fn take_first_owed(&mut self, most: usize) -> Vec<Vec<u8>> {
        let Some(version) = self.version else { return Vec::new() };
        let owed: Vec<Event> = self.owed.drain(..most.min(self.owed.len())).collect();
        let (mut messages, mut updates) = (Vec::new(), None);
        for event in &owed {
            let all = updates.get_or_insert_with(|| flow_updates(version, 0));
            if self.put_change(event, all) {
                continue;
            }
            close(&mut updates, &mut messages);
            messages.push(self.encode(event, version));
        }
        close(&mut updates, &mut messages);
        messages
    }
}
