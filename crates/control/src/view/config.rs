//! What is asked and answered about the configuration.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
