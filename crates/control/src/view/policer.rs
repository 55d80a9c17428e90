//! Policers.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A policer, with what it counted since it was last changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Policer {
    /// Its name.
    pub name: String,
    /// The committed rate.
    pub rate: String,
    /// The committed burst.
    pub burst: String,
    /// What more may come after silence.
    pub excess_burst: Option<String>,
    /// The peak rate.
    pub peak_rate: Option<String>,
    /// The peak burst.
    pub peak_burst: Option<String>,
    /// Whether packets are no better than their DSCP says.
    pub colour_aware: bool,
    /// The ports that hold what they receive to it.
    pub ports_in: Vec<String>,
    /// The ports that hold what they send to it.
    pub ports_out: Vec<String>,
    /// Its colours, the best first.
    pub colours: Vec<PolicerColour>,
}

/// A colour of a policer's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PolicerColour {
    /// `green`, `yellow` or `red`.
    pub colour: String,
    /// What becomes of its packets.
    pub action: String,
    /// How many there were.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl PolicerColour {
    /// The colours, the best first.
    pub const NAMES: [&'static str; 3] = ["green", "yellow", "red"];
}
