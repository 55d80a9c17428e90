//! What is asked and answered about the configuration.

use std::fmt;

use super::answer::*;
use crate::config::{ChangeLine, Finding};

/// A configuration to check, compare or apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigText {
    /// The file's text, TOML.
    pub toml: String,
    /// The file's name, for messages.
    #[serde(default)]
    pub file: Option<String>,
    /// Roll back after so many seconds unless confirmed.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 86400)]
    pub confirm_within_s: Option<u32>,
}

/// Commands that edit the running configuration, one a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditText {
    /// The commands, as in `route add 10.0.0.0/8 via 192.0.2.9`.
    pub commands: String,
    /// The name of the file they come from, for messages.
    #[serde(default)]
    pub file: Option<String>,
    /// Roll back after so many seconds unless confirmed.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 86400)]
    pub confirm_within_s: Option<u32>,
}

/// Which configuration to go back to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RollbackTo {
    /// Its revision; without one, the configuration before the last change.
    #[serde(default)]
    pub revision: Option<u64>,
}

/// A configuration is right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Checked {
    /// How many ports it has.
    pub ports: usize,
    /// How many static routes it has.
    pub routes: usize,
    /// What it had better not say.
    #[serde(default)]
    pub warnings: Vec<Finding>,
}

/// What would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Diff {
    /// The steps, in the order in which they would be taken.
    pub changes: Vec<ChangeLine>,
}

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Applied {
    /// The running configuration's revision from now on.
    pub revision: u64,
    /// The steps that were taken.
    pub changes: Vec<ChangeLine>,
    /// The change that still wants to be confirmed.
    pub pending: Option<Pending>,
}

/// A change that is undone unless it is confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Pending {
    /// The revision to return to.
    pub revision: u64,
    /// Seconds left.
    pub seconds_left: u64,
}

impl fmt::Display for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { revision, seconds_left } = self;
        write!(
            f,
            "back to revision {revision} in {seconds_left} s unless you run: volley config confirm"
        )
    }
}

/// The running configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConfigStatus {
    /// Its revision.
    pub revision: u64,
    /// Its text, TOML.
    pub toml: String,
    /// The same as data.
    #[schema(value_type = Configuration)]
    pub value: serde_json::Value,
    /// The file it is saved to.
    pub file: Option<String>,
    /// Whether it differs from what was loaded or saved last.
    pub unsaved: bool,
    /// The change that still wants to be confirmed.
    pub pending: Option<Pending>,
    /// Why the last rollback by timer failed, if it did.
    pub rollback_fault: Option<String>,
}

impl View for ConfigStatus {
    view!("config show", "/v1/config", All => Self, "The running configuration");
    const TAG: &'static str = "config";
    const REVISION: Option<fn(&Self) -> u64> = Some(|status| status.revision);

    fn text(status: &Self, style: Style) -> String {
        let mut head = format!("# revision {}", status.revision);
        match (&status.file, status.unsaved) {
            (Some(file), true) => head.push_str(&format!(", not saved to {file}")),
            (Some(file), false) => head.push_str(&format!(", as in {file}")),
            (None, _) => head.push_str(", without a file"),
        }
        head.push('\n');
        if let Some(pending) = &status.pending {
            head.push_str(&format!("# {pending}\n"));
        }
        if let Some(fault) = &status.rollback_fault {
            head.push_str(&format!("# the rollback failed and is tried again: {fault}\n"));
        }
        format!("{}{}", style.dim(&head), status.toml)
    }
}

/// What stands in a configuration, as `GET /v1/config/schema` tells it.
#[derive(ToSchema)]
pub struct Configuration {}

/// One configuration that was running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HistoryEntry {
    /// Its revision.
    pub revision: u64,
    /// Seconds since the epoch when it was applied.
    pub applied_at_s: u64,
    /// What brought it about.
    pub comment: String,
    /// How many steps led to it from the one before.
    pub changes: usize,
    /// Whether it is the running one.
    pub running: bool,
}

impl View for HistoryEntry {
    view!(
        "config history", "/v1/config/history", All => Vec<Self>,
        "The configurations that ran, and the one that runs"
    );
    const TAG: &'static str = "config";

    fn table(entries: &Vec<Self>) -> Table {
        table!(entries, entry => {
            "revision": entry.revision, "time (UTC)": utc(entry.applied_at_s),
            "changes": entry.changes, "by": entry.comment,
            "": if entry.running { "running" } else { "" },
        })
    }
}

/// The configuration was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Saved {
    /// The file.
    pub file: String,
    /// The file that holds what was there before.
    pub backup: Option<String>,
    /// The revision written.
    pub revision: u64,
}

/// A moment in UTC, to the second (civil calendar from days, after Fliegel and van Flandern).
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let l = days as i64 + 2_440_588 + 68_569;
    let n = 4 * l / 146_097;
    let l = l - (146_097 * n + 3) / 4;
    let i = 4_000 * (l + 1) / 1_461_001;
    let l = l - 1_461 * i / 4 + 31;
    let j = 80 * l / 2_447;
    let day = l - 2_447 * j / 80;
    let (year, month) = (100 * (n - 49) + i + j / 11, j + 2 - 12 * (j / 11));
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_in_utc() {
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(utc(1_709_164_799), "2024-02-28 23:59:59");
        assert_eq!(utc(4_102_444_800), "2100-01-01 00:00:00");
    }
}
