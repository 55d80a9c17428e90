//! What the control side asks of the running router.
//!
//! ```text
//!  API, CLI ──▶ control loop ──▶ Engine ──▶ workers
//!               (transactions)   (tables, counters, traces)
//! ```
//!
//! The control loop owns the engine and calls it from one thread; nothing here may block for long.

use std::net::IpAddr;
use std::time::Duration;

use fib::rib::{Source, SourceCount};
use fib::route_file::FilePrefix;
use thiserror::Error;

use crate::bulk::BulkRoute;
use crate::config::{Change, Config};
use crate::view;

/// Why a change could not be made. Nothing of it has been made then.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: {message}")]
pub struct ApplyError {
    /// The field at fault, as in `port.p0.device`.
    pub field: String,
    /// What is wrong, with the offending value.
    pub message: String,
    /// A likely cure.
    pub suggestion: Option<String>,
}

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EngineError {
    /// It names something that is not there.
    #[error("there is no {what} `{name}`")]
    Unknown {
        /// Kind of thing, as in `port`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// It does not fit what is going on.
    #[error("{0}")]
    Conflict(String),
}

/// The running router.
pub trait Engine {
    /// Turns `old` into `new`, whole or not at all. `changes` is their difference in an order in
    /// which it can be done.
    fn apply(&mut self, old: &Config, new: &Config, changes: &[Change]) -> Result<(), ApplyError>;

    /// Housekeeping (neighbours, links, counters); returns when it wants to be called again.
    fn tick(&mut self, now: Duration) -> Duration;

    /// Every port.
    fn ports(&self) -> Vec<view::Port>;

    /// Every shaped port, with what waits there. Asks the workers, so it takes a moment.
    fn qos(&mut self) -> Vec<view::Qos>;

    /// Every node, in the order of the graph.
    fn nodes(&self) -> Vec<view::Node>;

    /// Every drop reason with at least one packet.
    fn errors(&self) -> Vec<view::Drop>;

    /// Routes in the order of their prefixes.
    fn routes(&self, filter: &view::RouteFilter) -> Result<view::Routes, EngineError>;

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

    /// Every neighbour.
    fn neighbors(&self) -> Vec<view::Neighbor>;

    /// The graph of nodes.
    fn graph(&self) -> view::Graph;

    /// The graph of nodes, written.
    fn draw(&self, format: view::GraphFormat) -> String;

    /// What runs.
    fn version(&self) -> view::Version;

    /// Where memory goes.
    fn memory(&self) -> view::Memory;

    /// Every worker.
    fn workers(&self) -> Vec<view::Worker>;

    /// What becomes of a packet to this address in a VRF.
    fn lookup(&self, vrf: &str, address: IpAddr) -> Result<view::Lookup, EngineError>;

    /// Every VRF, the default one first.
    fn vrfs(&self) -> Vec<view::Vrf>;

    /// Every bridge.
    fn bridges(&self) -> Vec<view::Bridge>;

    /// Every access list.
    fn acls(&self) -> Vec<view::Acl>;

    /// Every policer.
    fn policers(&self) -> Vec<view::Policer>;

    /// Every mirror.
    fn mirrors(&self) -> Vec<view::Mirror>;

    /// Packets to ourselves that come in pieces.
    fn reassembly(&self) -> view::Reassembly;
    /// Every twin of a port.
    fn twins(&self) -> Vec<view::Twin>;

    /// The routes that FRR brings.
    fn fpm(&self) -> view::Fpm;

    /// Stations of bridges, in the order of their addresses.
    fn stations(&self, filter: &view::StationFilter) -> Result<view::Stations, EngineError>;

    /// Forgets learned stations.
    fn stations_flush(
        &mut self,
        request: &view::StationFlush,
    ) -> Result<view::StationCount, EngineError>;

    /// Has stations learned that nobody has heard.
    fn stations_fill(
        &mut self,
        request: &view::StationFill,
    ) -> Result<view::StationCount, EngineError>;

    /// Traces the next packets; forgets earlier traces.
    fn trace_start(&mut self, request: &view::TraceRequest) -> Result<(), EngineError>;

    /// What was traced.
    fn trace(&self) -> view::Trace;

    /// Traces no more; keeps what was traced.
    fn trace_stop(&mut self);

    /// Captures the next packets; forgets earlier captures.
    fn capture_start(&mut self, request: &view::CaptureRequest) -> Result<(), EngineError>;

    /// How the capture stands.
    fn capture(&self) -> view::Capture;

    /// What was captured, as a pcap file.
    fn capture_pcap(&self) -> Vec<u8>;

    /// Captures no more; keeps what was captured.
    fn capture_stop(&mut self);

    /// Sets every counter to zero.
    fn counters_clear(&mut self);
}
