//! A packet's way through the tables, written down: what was looked up, what was done, and why
//! something was not.

use crate::flow::Flow;
use crate::key::Key;
use openflow::Action;
use std::sync::Arc;

/// A look-up on a packet's way.
#[derive(Clone, Debug)]
pub struct Looked {
    /// Look-ups that it is inside of.
    pub depth: u32,
    /// The table.
    pub table: u8,
    /// The flow that it found.
    pub flow: Option<Arc<Flow>>,
    /// Controllers are told that it found none.
    pub asks: bool,
}

/// Something that happened on the way.
#[derive(Clone, Debug)]
pub struct Event {
    /// How many others it is inside of.
    pub level: usize,
    /// What.
    pub what: What,
}

/// See [`Event`].
#[derive(Clone, Debug)]
pub enum What {
    /// A table was looked up.
    Table(Looked),
    /// Pieces of packets are dropped.
    Pieces,
    /// The action set begins.
    Set,
    /// What was frozen goes on in a table.
    Thaw(u8),
    /// A bucket of a group.
    Bucket(u32),
    /// An action.
    Does(Action),
    /// There is no action.
    Nothing,
    /// As an ordinary bridge does it, with a packet to this station, in the VLAN of this tag.
    Normal {
        /// The station's address.
        to: u128,
        /// The tag; its bit 12 is 0 where there is none.
        tci: u16,
    },
    /// More of what was done.
    Note(String),
    /// Why something was not done.
    Warning(String),
    /// Why nothing is done any more.
    Fault(String),
}

/// What is written down while a packet is translated.
#[derive(Default, Debug)]
pub(crate) struct Trail {
    pub(crate) events: Vec<Event>,
    pub(crate) level: usize,
    /// What copies are that begin again, in their order.
    pub(crate) forks: Vec<Key>,
}

impl Trail {
    pub(crate) fn put(&mut self, what: What) {
        // What is inside of a look-up, or of what else has something inside, is a level further in.
        let opens = matches!(
            what,
            What::Table(_) | What::Pieces | What::Set | What::Thaw(_) | What::Bucket(_)
        );
        self.events.push(Event { level: self.level, what });
        self.level += usize::from(opens);
    }
}
