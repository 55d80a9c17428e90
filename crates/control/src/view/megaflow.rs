//! What workers remember of bridges of flows.

use super::answer::*;

/// Which megaflows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct MegaflowFilter {
    /// Only those of this bridge.
    #[serde(default)]
    pub bridge: Option<String>,
    /// At most so many.
    #[serde(default)]
    #[param(minimum = 1)]
    pub limit: Option<usize>,
    /// Ports by their names.
    #[serde(default)]
    pub names: bool,
}

/// The megaflows of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Megaflows {
    /// Those that match, shown or not.
    pub total: usize,
    /// How many a worker remembers of a bridge, at most.
    pub limit: usize,
    /// How many each worker remembers, of all bridges.
    pub workers: Vec<usize>,
    /// Those shown.
    pub megaflows: Vec<Megaflow>,
}

/// What a worker found out about packets that are alike.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
pub struct Megaflow {
    /// Their bridge.
    pub bridge: String,
    /// The worker.
    pub worker: u16,
    /// What they have in common, as Open vSwitch tells flows of its datapath.
    pub flow: String,
    /// How many there were.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Milliseconds since the last came; null where none has been counted yet.
    pub used_ms: Option<u64>,
    /// What becomes of them.
    pub actions: String,
}

impl Megaflow {
    /// As Open vSwitch writes it.
    pub fn line(&self) -> String {
        let used = match self.used_ms {
            Some(ms) => format!("{}.{:03}s", ms / 1000, ms % 1000),
            None => "never".to_owned(),
        };
        let Self { flow, packets, bytes, actions, .. } = self;
        format!("{flow}, packets:{packets}, bytes:{bytes}, used:{used}, actions:{actions}")
    }
}

impl View for Megaflows {
    view!("show megaflows", "/v1/megaflows", MegaflowFilter => Self,
        "What workers remember of bridges of flows, and what became of packets");

    fn text(shown: &Self, style: Style) -> String {
        let mut text = String::new();
        for it in &shown.megaflows {
            text += &format!("{} worker {}  {}\n", style.bold(&it.bridge), it.worker, it.line());
        }
        text + &shortened(shown.megaflows.len(), shown.total, "megaflows", style)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_megaflow_is_a_line() {
        let mut it = Megaflow {
            bridge: "br0".into(),
            worker: 1,
            flow: "in_port(1)".into(),
            packets: 2,
            bytes: 236,
            used_ms: Some(1064),
            actions: "2".into(),
        };
        assert_eq!(it.line(), "in_port(1), packets:2, bytes:236, used:1.064s, actions:2");
        it.used_ms = None;
        let shown = Megaflows { total: 2, megaflows: vec![it], ..Megaflows::default() };
        assert_eq!(
            Megaflows::text(&shown, Style::new(false)).lines().next(),
            Some("br0 worker 1  in_port(1), packets:2, bytes:236, used:never, actions:2")
        );
    }
}
