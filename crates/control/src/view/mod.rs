//! What the router shows: plain data, the same for JSON, tables and metrics.
//!
//! Every number is a total since the router started or since `counters clear`, unless it says
//! otherwise. Rates are the reader's to take, from two readings.

mod acl;
mod bridging;
mod bulk;
mod config;
mod forwarding;
mod fpm;
mod mirror;
mod observe;
mod policer;
mod problem;
mod qos;
mod reassembly;
mod system;
mod twin;

pub use acl::{Acl, AclRule};
pub use bridging::{
    Bridge, BridgePort, Station, StationCount, StationFill, StationFilter, StationFlush, Stations,
};
pub use bulk::{Bulk, BulkState, RouteFlush, RouteLoad, RouteRange};
pub use config::{
    Applied, Checked, ConfigStatus, ConfigText, Diff, EditText, HistoryEntry, Pending, RollbackTo,
    Saved,
};
pub use forwarding::{
    InVrf, Lookup, Neighbor, NeighborState, NextHop, Port, PortCounters, Route, RouteFilter,
    RouteSource, Routes, Vrf, VrfRoutes,
};
pub use fpm::Fpm;
pub use mirror::{Mirror, MirrorSource};
pub use observe::{
    Capture, CaptureRequest, Drop, Exit, Graph, GraphEdge, GraphFormat, GraphNode, Node, Trace,
    TraceRequest, TraceStep, TracedPacket,
};
pub use policer::{Policer, PolicerColour};
pub use problem::ProblemDetails;
pub use qos::{Qos, QosNode};
pub use reassembly::Reassembly;
pub use system::{Memory, MemoryUse, Stall, Stalls, Version, Worker};
pub use twin::{Twin, TwinClass};
