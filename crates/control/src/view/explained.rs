//! What would become of a packet: its walk through the tables as they are, with every decision.

use super::answer::*;

/// Which packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ExplainFilter {
    /// The packet, as in `in p1 ip dst 10.0.2.9 / udp dport 53`, or `in p1 hex OCTETS`.
    #[param(format = "words")]
    pub packet: String,
}

/// What would become of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Explained {
    /// Port that it comes in by.
    pub port: String,
    /// The frame, as a person reads it.
    pub packet: String,
    /// Its octets in hexadecimal.
    pub hex: String,
    /// What becomes of it, in one line.
    pub outcome: String,
    /// Its walk, and those of packets that nodes make of it.
    pub walks: Vec<ExplainedWalk>,
    /// Frames that ports would send.
    pub sent: Vec<ExplainedFrame>,
    /// Frames that twins in the kernel would be handed.
    pub twins: Vec<ExplainedFrame>,
    /// What the router would do beside, as in `asks who has 10.0.2.9 on p2`.
    pub brings_about: Vec<String>,
}

/// The walk of one packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExplainedWalk {
    /// 1 is the packet itself; others were made by nodes.
    pub number: u32,
    /// Its steps.
    pub steps: Vec<ExplainedStep>,
}

/// One step of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExplainedStep {
    /// The node.
    pub node: String,
    /// The exit by which the node sends it on; `taken` where it keeps it.
    pub exit: String,
    /// What that exit means.
    pub meaning: String,
    /// The packet as the node saw it.
    pub detail: String,
    /// What was decided, and by what.
    pub decisions: Vec<Decision>,
}

/// Something that was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Decision {
    /// What, as in `route`, `rule`, `class`.
    pub what: String,
    /// How, and by what.
    pub said: String,
}

/// A frame that leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExplainedFrame {
    /// The port.
    pub port: String,
    /// Its length in bytes.
    pub bytes: u32,
    /// The frame, as a person reads it.
    pub packet: String,
    /// Its octets in hexadecimal.
    pub hex: String,
}

impl View for Explained {
    view!("explain", "/v1/explain", ExplainFilter => Self,
        "What would become of a packet: nothing is sent, learned or counted");
    const TAG: &'static str = "observe";

    fn text(told: &Self, style: Style) -> String {
        let mut text = format!("{}  {}\n", style.bold(&format!("in {}", told.port)), told.packet);
        text += &format!("{}\n", style.bold(&told.outcome));
        for walk in &told.walks {
            if walk.number != 1 {
                let maker = walk.steps.first().map_or("a node", |step| &step.node);
                text += &format!("packet {}, made by {maker}\n", walk.number);
            }
            text += &steps(walk, style);
        }
        for (what, frames) in [("sent by", &told.sent), ("to the twin of", &told.twins)] {
            for ExplainedFrame { port, bytes, packet, .. } in frames {
                text += &format!("{what} {port}  {bytes} bytes  {packet}\n");
            }
        }
        for what in &told.brings_about {
            text += &format!("the router {what}\n");
        }
        text
    }
}

/// A line a step, with the packet where it changed, and below what was decided.
fn steps(walk: &ExplainedWalk, style: Style) -> String {
    let widest = |pick: fn(&ExplainedStep) -> &str| {
        walk.steps.iter().map(|step| pick(step).chars().count()).max().unwrap_or(0)
    };
    let (node, exit) = (widest(|step| &step.node), widest(|step| &step.exit));
    let (mut text, mut seen) = (String::new(), "");
    for step in &walk.steps {
        let detail = if step.detail == seen { "" } else { &step.detail[..] };
        seen = &step.detail;
        let line = format!("  {:node$}  {:exit$}  {}", step.node, step.exit, style.dim(detail));
        text += line.trim_end();
        text.push('\n');
        text += &decided(&step.decisions, node, style);
    }
    text
}

/// What was decided, a line each, below a step whose node has a column so wide.
pub(super) fn decided(decisions: &[Decision], node: usize, style: Style) -> String {
    let line = |Decision { what, said }: &Decision| {
        format!("  {:node$}  {} {said}\n", "", style.bold(&format!("{what}:")))
    };
    decisions.iter().map(line).collect()
}
