//! Packets followed through the graph.

use super::answer::*;

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
    /// The node that it came to, by name, as in `ip4-lookup`.
    pub node: String,
    /// The exit by which the node sent it on.
    pub exit: String,
    /// The bytes that mattered, as a person reads them.
    pub detail: String,
    /// The same bytes in hexadecimal.
    pub hex: String,
    /// Cycles a packet of the node's call.
    pub cycles: f64,
}

impl View for Trace {
    view!("trace show", "/v1/trace", All => Self, "The packets traced, node by node");
    const TAG: &'static str = "observe";

    fn text(trace: &Self, style: Style) -> String {
        if trace.packets.is_empty() {
            let state = if trace.running { "waiting for packets" } else { "nothing was traced" };
            return format!("{state}\n");
        }
        let widest = |pick: fn(&TraceStep) -> &str| {
            let steps = trace.packets.iter().flat_map(|packet| &packet.steps);
            steps.map(|step| pick(step).chars().count()).max().unwrap_or(0)
        };
        let (node, exit) = (widest(|step| &step.node), widest(|step| &step.exit));
        let mut text = String::new();
        for packet in &trace.packets {
            let head = format!(
                "packet {}  from {}  {} bytes  worker {}  at {} us",
                packet.number, packet.port, packet.bytes, packet.worker, packet.time_us
            );
            text.push_str(&style.bold(&head));
            text.push('\n');
            for step in &packet.steps {
                let line = format!(
                    "  {:node$}  {:exit$}  {:>7.1} cycles  {}",
                    step.node, step.exit, step.cycles, step.detail
                );
                text.push_str(line.trim_end());
                if !step.hex.is_empty() {
                    text.push_str("  ");
                    text.push_str(&style.dim(&step.hex));
                }
                text.push('\n');
            }
        }
        text
    }
}
