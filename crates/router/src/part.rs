//! What a feature is to the router: a part, in one file, that stands on the core and knows no other
//! part.
//!
//! ```text
//!  configuration ─▶ make ──────────────┐          one change of an object of its own
//!  a port comes, changes ─▶ follow ────┤
//!  a port goes ──▶ leave, close ───────┤─▶ settle ─▶ row (of each port) ─▶ published
//!  a link goes, comes ─▶ link_down, up ┤
//!  workers ──────▶ hear ───────────────┤
//!  clock ────────▶ turn ───────────────┘
//!  each second ──▶ leaves ─▶ a file ─▶ take_over, of the next router, before packets are read
//! ```
//! All parts stand in one list ([`crate::parts`]) and are called in its order, at the end of a port
//! in the reverse one.

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::left::OfParts;
use control::config::objects::port::{Port, PortName};
use control::engine::ApplyError;
use nodes::tables::Interface;
use std::time::Instant;

/// What a part leaves to the next router: of which table, and what makes the bytes on the thread
/// that writes them.
pub(crate) type Leaves = (state::Table, Box<dyn FnOnce() -> Vec<u8> + Send>);

/// A feature's running side. A part does what it has something to do for.
pub(crate) trait Part {
    /// A port is about to be configured otherwise, or to be closed (`None`). It still is as it was,
    /// and sends.
    fn leave(&mut self, _core: &mut Core, _port: &PortName, _next: Option<&Port>) {}

    /// A port is there, its configuration changed, or its link, or its addresses: what it says is
    /// brought about.
    fn follow(&mut self, _core: &mut Core, _port: &PortName) -> Result<(), ApplyError> {
        Ok(())
    }

    /// A port goes, and is down by now: what was opened beside it is closed.
    fn close(&mut self, _core: &mut Core, _port: &PortName) -> Result<(), ApplyError> {
        Ok(())
    }

    /// The link of a port is gone.
    fn link_down(&mut self, _core: &mut Core, _port: &PortName) {}

    /// The link of a port is back.
    fn link_up(&mut self, _core: &mut Core, _port: &PortName) {}

    /// A change is made, whole or taken back. Rows are written next.
    fn settle(&mut self, _core: &mut Core) {}

    /// Writes into the row of a port what workers are to know.
    fn row(&self, _core: &Core, _name: &PortName, _port: &OpenPort, _row: &mut Interface) {}

    /// Workers have the rows.
    fn published(&mut self, _core: &mut Core) {}

    /// Time passes. True if there is more to do at once.
    fn turn(&mut self, _core: &mut Core, _now: Instant) -> bool {
        false
    }

    /// Time passes, in the middle of a change or of long work: what cannot wait is done. Rows are
    /// not written.
    fn beat(&mut self, _core: &mut Core, _now: Instant) {}

    /// What it would leave to a router that is started after this one.
    fn leaves(&self, _core: &Core) -> Option<Leaves> {
        None
    }

    /// A router before this one left something: it is taken over. The configuration runs, packets
    /// have their ways, and none is read yet. Rows are written next.
    fn take_over(&mut self, _core: &mut Core, _left: &OfParts) {}

    /// When its turn has something to do next, on the core's clock; none: whenever it comes.
    fn next_due_ns(&self) -> Option<u64> {
        None
    }
}

/// Work on another thread, and how its part takes in what came of it.
pub(crate) type Work<'a, Part> = Box<dyn FnOnce() -> TakeIn<'a, Part> + Send + 'a>;

/// See [`Work`].
pub(crate) type TakeIn<'a, Part> = Box<dyn FnOnce(&mut Part) + Send + 'a>;

/// A part that makes changes of an object of the configuration. One that fails changed nothing; its
/// inverse undoes it.
pub(crate) trait Makes<Change>: Sized {
    /// What of making one takes long: done on another thread, just before it is made.
    fn prepare<'a>(&self, _core: &Core, _change: &'a Change) -> Option<Work<'a, Self>> {
        None
    }

    /// Makes one.
    fn make(&mut self, core: &mut Core, change: &Change) -> Result<(), ApplyError>;
}

/// A part that workers tell something.
pub(crate) trait Hears<Punt> {
    /// Takes it in.
    fn hear(&mut self, core: &mut Core, punt: Punt);
}
