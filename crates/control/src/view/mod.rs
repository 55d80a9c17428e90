//! What the router shows: plain data, the same for JSON, tables and metrics. One file a view.
//!
//! Every number is a total since the router started or since `counters clear`, unless it says
//! otherwise. Rates are the reader's to take, from two readings.

mod answer;
mod bulk;
mod config;
mod events;
mod flag;
mod lab;
mod metrics;
mod ping;
mod problem;
mod query;
mod rates;
mod right;
mod table;
mod topology;
mod traceroute;
mod turn;
mod verb;

#[cfg(feature = "server")]
pub(crate) use answer::perhaps;
pub use answer::{All, Answer, Answered, EngineError, JSON, Metrics, Reply, Shown, View};
pub use bulk::{Bulk, BulkState, RouteFlush, RouteLoad, RouteRange};
pub use config::{
    Applied, Checked, ConfigStatus, ConfigText, Configuration, Diff, EditText, HistoryEntry,
    Pending, RollbackTo, Saved,
};
pub use events::{Event, EventFilter, EventStream, EventsAsked, Level, Missed};
#[cfg(feature = "server")]
pub(crate) use flag::found;
pub use flag::{Flag, Kind, flags, flags_of, parameters};
pub use lab::{Lab, LabResult, LabState};
pub use metrics::{Exposition, Samples};
pub use ping::{PingLine, PingProblem, PingRequest, PingSummary, PingTally};
pub use problem::ProblemDetails;
pub use query::query;
pub use rates::rates;
pub use right::Right;
pub use table::{Style, Table};
pub use topology::{OUTSIDE, Place, PlaceKind, Tie, Topology};
pub use traceroute::{HopAnswer, TracerouteLine, TracerouteRequest};
pub use turn::Turn;
#[cfg(feature = "server")]
pub(crate) use verb::every_verb;
pub use verb::*;

/// Does something with every view.
pub trait Visitor {
    /// Does it with one.
    fn visit<V: View>(&mut self)
    where
        dyn Shows: Answer<V>;
}

/// Makes of every view, its file and the type that is declared there, what goes for all of them.
macro_rules! views {
    (
        $($(#[$attribute:meta])* $file:ident: $View:ident,)*
        ; of the control loop: $($OfLoop:ident,)*
    ) => {
        $($(#[$attribute])* mod $file; pub use $file::*;)*

        /// Who can answer every view of what runs: the router.
        pub trait RouterShows: $(Answer<$View> +)* {}

        impl<T: $(Answer<$View> +)*> RouterShows for T {}

        /// Who can answer every view: the control loop, with the router.
        pub trait Shows: $(Answer<$View> +)* $(Answer<$OfLoop> +)* {}

        impl<T: $(Answer<$View> +)* $(Answer<$OfLoop> +)*> Shows for T {}

        /// Shows every view to a visitor, in the order of their commands' help.
        pub fn visit(visitor: &mut impl Visitor) {
            $(visitor.visit::<$View>();)*
            $(visitor.visit::<$OfLoop>();)*
        }
    };
}

/// Every view, in the order of their commands' help, and `more`.
macro_rules! every_view {
    ($($more:tt)*) => {
        views! {
            port: Port,
            device_counter: DeviceCounter,
            qos: Qos,
            node: Node,
            drop: Drop,
            route: Routes,
            vrf: Vrf,
            neighbor: Neighbor,
            neighbor_share: NeighborShare,
            bridge: Bridge,
            evpn: Evpn,
            snooping: Snooping,
            spanning_tree: SpanningTree,
            group: Groups,
            bond: Bond,
            controller: Controller,
            acl: Acl,
            policer: Policer,
            mirror: Mirror,
            export: Export,
            connection: Connections,
            reassembly: Reassembly,
            twin: Twin,
            fpm: Fpm,
            flows: Flows,
            next_hop: NextHops,
            lisp: Lisp,
            lisp_cache: LispEntry,
            lisp_site: LispRegistered,
            graph: Graph,
            drawing: Drawing,
            version: Version,
            process: Process,
            memory: Memory,
            worker: Worker,
            station: Stations,
            trace: Trace,
            capture: Capture,
            lookup: Lookup,
            explained: Explained,
            flow_trace: FlowTrace,
            megaflow: Megaflows,
            why_dropped: WhyDropped,
            $($more)*
            ; of the control loop: Topology, Lab, Turn, ConfigStatus, HistoryEntry,
        }
    };
}

#[cfg(not(test))]
every_view! {}
// With the example of CONTRIBUTING.md.
#[cfg(test)]
every_view! {
    #[path = "../../../../docs/example/probes.rs"]
    probes: Probe,
}
