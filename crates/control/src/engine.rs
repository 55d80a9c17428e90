//! What the control side asks of the running router.
//!
//! ```text
//!  API, CLI ──▶ control loop ──▶ Engine ──▶ workers
//!               (transactions)   (tables, counters, traces)
//! ```
//!
//! The control loop owns the engine and calls it from one thread. Nothing here may keep that from
//! what waits: a turn that takes too long is told (the module `pace`). What takes longer is left
//! to another thread (a view's [`Later`](view::Shown::Later)), comes in slices, or looks after what
//! waits every now and then.

use std::time::Duration;

use fib::rib::{Source, SourceCount};
use fib::route_file::FilePrefix;
use thiserror::Error;

use crate::bulk::BulkRoute;
use crate::config::{Change, Config};
use crate::view;
pub use crate::view::EngineError;

/// Why a change could not be made. Nothing of it has been made then.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {message}{}", suggestion.as_ref().map_or(String::new(), |it| format!("\n   = help: {it}")))]
pub struct ApplyError {
    /// The field at fault, as in `port.p0.device`.
    pub field: String,
    /// What is wrong, with the offending value.
    pub message: String,
    /// A likely cure.
    pub suggestion: Option<String>,
}

/// What is left to do on another thread.
pub type Later<T> = Box<dyn FnOnce() -> T + Send>;

/// Says one thing more to whoever asked, and waits for nobody. False when he does not listen any
/// more: then nothing more need be done.
pub type Tell<T> = Box<dyn FnMut(T) -> bool + Send>;

/// The running router: what it does. What it shows are its views, each an
/// [`Answer`](view::Answer).
pub trait Engine: view::RouterShows {
    /// Turns `old` into `new`, whole or not at all. `changes` is their difference in an order in
    /// which it can be done.
    fn apply(&mut self, old: &Config, new: &Config, changes: &[Change]) -> Result<(), ApplyError>;

    /// Housekeeping (neighbours, links, counters); returns when it wants to be called again.
    fn tick(&mut self, now: Duration) -> Duration;

    /// Whether it does its work, as far as it knows.
    fn is_well(&self) -> bool;

    /// Adds or replaces routes of a source in a VRF; of what does not fit, nothing is kept. Says
    /// how many were added. Called with few at a time, so that nothing else waits.
    fn add_routes(
        &mut self,
        vrf: &str,
        source: Source,
        routes: Vec<BulkRoute>,
    ) -> (usize, Result<(), EngineError>);

    /// Removes routes of a source in a VRF, from a prefix on, unless they are wanted; says how
    /// many, and where to go on.
    fn sweep_routes(
        &mut self,
        vrf: &str,
        source: Source,
        from: FilePrefix,
        wanted: &dyn Fn(FilePrefix) -> bool,
    ) -> Result<(usize, Option<FilePrefix>), EngineError>;

    /// How many routes a source has in a VRF.
    fn count_routes(&self, vrf: &str, source: Source) -> SourceCount;

    /// Forgets learned stations.
    fn stations_flush(
        &mut self,
        request: &view::StationFlush,
    ) -> Result<Later<view::StationCount>, EngineError>;

    /// Has stations learned that nobody has heard.
    fn stations_fill(
        &mut self,
        request: &view::StationFill,
    ) -> Result<Later<Result<view::StationCount, EngineError>>, EngineError>;

    /// Ends connections.
    fn connections_clear(
        &mut self,
        request: &view::ConnectionClear,
    ) -> Result<Later<view::ConnectionCount>, EngineError>;

    /// Traces the next packets; forgets earlier traces.
    fn trace_start(&mut self, request: &view::TraceRequest) -> Result<(), EngineError>;

    /// Traces no more; keeps what was traced.
    fn trace_stop(&mut self);

    /// Captures the next packets; forgets earlier captures.
    fn capture_start(&mut self, request: &view::CaptureRequest) -> Result<(), EngineError>;

    /// Writes what was captured as a pcap file: on another thread, if it is much.
    fn capture_pcap(&self) -> Later<Vec<u8>>;

    /// Hands out what was captured since the last time, once: on another thread, if it is much.
    fn capture_take(&mut self) -> Later<view::Taken>;

    /// Captures no more; keeps what was captured.
    fn capture_stop(&mut self);

    /// Begins to ask somebody for echoes, and tells of what comes back. Refuses what cannot begin.
    fn ping(
        &mut self,
        request: &view::PingRequest,
        tell: Tell<view::PingLine>,
    ) -> Result<(), EngineError>;

    /// Begins to look for the routers on a way, and tells of each hop. Refuses what cannot begin.
    fn traceroute(
        &mut self,
        request: &view::TracerouteRequest,
        tell: Tell<view::TracerouteLine>,
    ) -> Result<(), EngineError>;

    /// Sets every counter to zero.
    fn counters_clear(&mut self);
}
