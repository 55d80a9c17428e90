//! What the router shows: plain data, the same for JSON, tables and metrics. One file a view.
//!
//! Every number is a total since the router started or since `counters clear`, unless it says
//! otherwise. Rates are the reader's to take, from two readings.

mod acl;
mod answer;
mod bridge;
mod bulk;
mod capture;
mod config;
mod drop;
mod events;
mod flag;
mod fpm;
mod graph;
mod lookup;
mod memory;
mod metrics;
mod mirror;
mod neighbor;
mod node;
mod policer;
mod port;
mod problem;
mod qos;
mod rates;
mod reassembly;
mod route;
mod station;
mod table;
mod trace;
mod twin;
mod version;
mod vrf;
mod worker;

pub use answer::{All, Answer, Answered, EngineError, Metrics, Reply, View};
pub use bulk::{Bulk, BulkState, RouteFlush, RouteLoad, RouteRange};
pub use config::{
    Applied, Checked, ConfigStatus, ConfigText, Diff, EditText, HistoryEntry, Pending, RollbackTo,
    Saved,
};
pub use events::{Event, EventFilter, Level, Missed};
pub use flag::{Flag, Kind, flags, parameters};
pub use metrics::{Exposition, Samples};
pub use problem::ProblemDetails;
pub use rates::rates;
pub use table::{Style, Table};

/// Does something with every view.
pub trait Visitor {
    /// Does it with one.
    fn visit<V: View>(&mut self)
    where
        dyn Shows: Answer<V>;
}

/// Names every view: its file and the type that is declared there.
macro_rules! views {
    ($($file:ident: $View:ident,)*) => {
        $(pub use $file::*;)*

        /// Who can answer every view: the running router.
        pub trait Shows: $(Answer<$View> +)* {}

        impl<T: $(Answer<$View> +)*> Shows for T {}

        /// Shows every view to a visitor, in the order of their commands' help.
        pub fn visit(visitor: &mut impl Visitor) {
            $(visitor.visit::<$View>();)*
        }
    };
}

views! {
    port: Port,
    qos: Qos,
    node: Node,
    drop: Drop,
    route: Routes,
    vrf: Vrf,
    neighbor: Neighbor,
    bridge: Bridge,
    acl: Acl,
    policer: Policer,
    mirror: Mirror,
    reassembly: Reassembly,
    twin: Twin,
    fpm: Fpm,
    graph: Graph,
    version: Version,
    memory: Memory,
    worker: Worker,
    station: Stations,
    trace: Trace,
    capture: Capture,
    lookup: Lookup,
}
