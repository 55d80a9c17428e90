//! What the lab and the agent in a guest say to each other: a line of JSON each, at any time.

use serde::{Deserialize, Serialize};

/// Said to the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    /// Run this line of a shell.
    Run { id: u64, line: String },
    /// End what runs under this number.
    End { id: u64 },
}

/// Said by the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Told {
    /// It runs, on this version of Linux.
    Ready { linux: String },
    /// What one that runs has said.
    Said { id: u64, text: String },
    /// How it ended, as `wait` has it, after all that it said.
    Ended { id: u64, status: i32 },
}

/// As a line.
pub(super) fn line(what: &impl Serialize) -> String {
    // Neither has a map whose keys could be no text.
    serde_json::to_string(what).unwrap_or_default() + "\n"
}
