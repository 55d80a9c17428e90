//! What the graph did: nodes, drops, traces, captures.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A node's counters, all workers together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// How often it ran.
    pub calls: u64,
    /// Packets it decided about.
    pub packets: u64,
    /// Packets a call, on average.
    pub packets_per_call: f64,
    /// Processor cycles a packet, on average.
    pub cycles_per_packet: f64,
    /// Where the packets went.
    pub exits: Vec<Exit>,
}

/// One way out of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Exit {
    /// Its name: what the node decided.
    pub name: String,
    /// Node it leads to.
    pub to: String,
    /// Packets that took it.
    pub packets: u64,
}

/// Packets dropped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Drop {
    /// Node that decided so.
    pub node: String,
    /// Its exit: the reason.
    pub reason: String,
    /// Port they came in at; absent when they came from the router itself.
    pub port: Option<String>,
    /// How many.
    pub packets: u64,
}

/// How a graph is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GraphFormat {
    /// For reading.
    #[default]
    Text,
    /// For Graphviz.
    Dot,
    /// For browsers.
    Svg,
}

/// The graph of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Graph {
    /// Its nodes, upstream first.
    pub nodes: Vec<GraphNode>,
    /// Its edges.
    pub edges: Vec<GraphEdge>,
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GraphNode {
    /// Its name.
    pub name: String,
    /// One line of what it does.
    pub about: String,
}

/// An edge of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GraphEdge {
    /// Node it leaves.
    pub from: String,
    /// Exit it is.
    pub exit: String,
    /// Node it leads to.
    pub to: String,
}

/// Which packets to trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceRequest {
    /// Only packets that come in here.
    #[serde(default)]
    pub port: Option<String>,
    /// How many packets.
    #[schema(minimum = 1, maximum = 10000)]
    pub count: u32,
}

/// What was traced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Trace {
    /// Whether packets are still being traced.
    pub running: bool,
    /// Packets traced so far.
    pub packets: Vec<TracedPacket>,
}

/// One packet's walk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TracedPacket {
    /// Its number, from 1.
    pub number: u32,
    /// Port it came in at.
    pub port: String,
    /// Worker that had it.
    pub worker: u32,
    /// Microseconds since the trace began.
    pub time_us: u64,
    /// Its length in bytes.
    pub bytes: u32,
    /// Its steps.
    pub steps: Vec<TraceStep>,
}

/// One step of a packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TraceStep {
    /// Node.
    pub node: String,
    /// What it decided.
    pub exit: String,
    /// The bytes that mattered, as a person reads them.
    pub detail: String,
    /// The same bytes in hexadecimal.
    pub hex: String,
    /// Cycles a packet of the node's call.
    pub cycles: f64,
}

/// Which packets to capture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct CaptureRequest {
    /// Node.
    pub node: String,
    /// Exit of the node; without one, all its exits.
    #[serde(default)]
    pub exit: Option<String>,
    /// How many packets.
    #[schema(minimum = 1, maximum = 100000)]
    pub count: u32,
    /// Bytes kept of each packet.
    #[serde(default)]
    #[schema(minimum = 14, maximum = 16384)]
    pub snap_bytes: Option<u32>,
}

/// How a capture stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Capture {
    /// Whether packets are still being captured.
    pub running: bool,
    /// Node.
    pub node: String,
    /// Exit, if only one.
    pub exit: Option<String>,
    /// Packets wanted.
    pub count: u32,
    /// Packets captured so far.
    pub captured: u32,
}
