//! What is said between the generator's host and an agent: a line of JSON each way.

use std::collections::BTreeMap;

use lab_record::{Counters, NodeCost};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::dut::settings::Settings;
use crate::scenario::{Case, Ethertype, Function};
use crate::trial::rig::Wish;

/// Asked of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ask {
    /// Who is there?
    Hello,
    /// What time is it?
    Clock,
    /// Have these two kernel devices, and no other session of this host.
    Allocate { ports: [String; 2], cores: String },
    /// Which version is a kind of device?
    Version { kind: String },
    /// Set one up and start it.
    Start { kind: String, wish: PlainWish },
    /// What did it count?
    Counters,
    /// What do its nodes cost?
    Nodes,
    /// End it, and leave nothing of it.
    Stop,
}

/// What an agent answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Told {
    /// What the host is.
    Hello { version: String, facts: BTreeMap<String, String> },
    /// Nanoseconds since 1970.
    Clock { unix_ns: u64 },
    /// Done, by these commands.
    Done { commands: Vec<String> },
    /// A device's version.
    Version { version: String },
    /// Its counters.
    Counters { counters: Counters },
    /// Its nodes.
    Nodes { nodes: Vec<NodeCost> },
    /// It cannot be done: never, or not now.
    Failed { refused: bool, reason: String },
}

/// A wish without what only one process knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlainWish {
    function: Function,
    entries: u64,
    workers: u64,
    axes: BTreeMap<String, String>,
    max_frame_bytes: u16,
}

impl PlainWish {
    pub(crate) fn of(wish: &Wish) -> Self {
        Self {
            function: wish.function.clone(),
            entries: wish.entries,
            workers: wish.workers,
            axes: wish.settings.texts(),
            max_frame_bytes: wish.max_frame_bytes,
        }
    }

    pub(crate) fn wish(self) -> Wish {
        let Self { function, entries, workers, axes, max_frame_bytes } = self;
        let case = Case { function: function.clone(), ethertype: Ethertype::default(), axes };
        Wish { function, entries, workers, settings: Settings::of(&case), max_frame_bytes }
    }
}

impl From<Error> for Told {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused { reason, .. } => Self::Failed { refused: true, reason },
            other => Self::Failed { refused: false, reason: other.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::job;
    use crate::scenario::FunctionKind;
    use lab_record::axes::CostCycles;

    #[test]
    fn a_wish_arrives_as_it_was() {
        let function = job(FunctionKind::Ip4, 7).function;
        let settings = Settings::default().with::<CostCycles>("50").behind(10, "htb");
        let function = Function { bottleneck_mbps: Some(10), ..function };
        let wish = Wish { function, entries: 7, workers: 2, settings, max_frame_bytes: 1_518 };
        let said = Ask::Start { kind: "volley".into(), wish: PlainWish::of(&wish) };
        let line = serde_json::to_string(&said).unwrap();
        let Ask::Start { wish: heard, .. } = serde_json::from_str(&line).unwrap() else { panic!() };
        assert_eq!(heard.wish(), wish);
    }
}
