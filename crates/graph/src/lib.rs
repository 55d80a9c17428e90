//! The engine: nodes decide, the engine moves.
//!
//! ```text
//!  node       what a node is: decides an exit for each packet of a frame
//!  exit       exits and where they lead; exits: a node's pen for naming them
//!  layout     specs checked and wired into slots, by name, once
//!  dispatch   one worker's graph: runs nodes in rank order, moves frames along edges
//!  counters   calls, packets, cycles per node; packets per exit; counter: how each is added to
//!  trace      the walk of chosen packets; walks: those kept back until they have what was asked for
//!  capture    copies of what takes an exit
//!  worker     the thread around a graph: pinning, stopping; stalls: when it was away
//!  idle       when a worker rests; watch, doorbell: what ends its rest
//!  draw       the graph as text, dot and SVG
//!  harness    one node or a whole graph on in-memory packets, for tests
//! ```

mod capture;
mod clock;
mod context;
mod counter;
mod counters;
mod dispatch;
mod doorbell;
#[cfg(test)]
mod doorbell_tests;
mod draw;
mod exit;
mod exits;
mod handed;
pub mod harness;
mod idle;
mod layout;
mod node;
mod observe;
mod published;
mod stalls;
mod sync;
mod trace;
mod walks;
mod watch;
mod worker;

pub use capture::{CaptureRequest, Captured};
pub use clock::{assume_tsc_hz, tsc, tsc_hz};
pub use context::Context;
pub use counter::add;
pub use counters::{GraphCounters, NodeCounters};
pub use dispatch::{Graph, GraphSettings};
pub use doorbell::Doorbell;
pub use draw::{Group, draw_dot, draw_overview, draw_part, draw_svg, draw_text};
#[doc(hidden)]
pub use exit::exit_index;
pub use exit::{Exit, ExitIndex, ExitSpec, NoExit, To, kebab};
pub use exits::Exits;
pub use handed::{Handed, Taken};
pub use idle::{Idle, IdlePolicy, Patience};
pub use layout::{Edge, Layout, LayoutError, LayoutNode, Reason, answered_reason};
pub use node::{Attach, Node, NodeSpec, Role, Turn, spec};
pub use observe::Observer;
pub use published::{Published, Publisher};
pub use stalls::{Stall, StallCounters};
pub use trace::{ExitSet, TraceRecord, TraceRequest, WalkWanted, Wants};
pub use watch::Watch;
pub use worker::{Mail, Worker, WorkerHandle};
