//! Scenarios: what to measure, as TOML, one a file. Data only; devices translate them.
//!
//! ```text
//! scenario ─┬─ [[function]]   what the device does: bridge, route, encapsulate …
//!           ├─ [link]         which links, and which cards
//!           ├─ [traffic]      frames, flows, addresses, arrival process, directions
//!           ├─ [sweep]        axes: sizes, workers, entries …         product = the cases
//!           ├─ [measure]      which search, with which goals
//!           └─ [campaign]     restarts, seed
//! ```
//! A mistake is reported at its line and column, with what is allowed there.

mod case;
mod check;
mod function;
mod link;
mod measure;
mod numbers;
mod shard;
mod sweep;
mod traffic;
mod wrong;

pub use case::Case;
pub use function::{AGEING, FLOOD, Function, FunctionKind, LEARNING, UNKNOWN_UNICAST_FLOOD};
pub use link::{Link, USUAL_GBPS};
pub use measure::Measure;
pub use numbers::Numbers;
use serde::{Deserialize, Serialize};
pub use shard::Shard;
pub use sweep::{Sweep, Values};
use toml::Spanned;
pub use traffic::{Addresses, Ethertype, Traffic};

use crate::Error;

/// One scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name: of the file, of the results, of the command line.
    pub name: Spanned<String>,
    /// Title of its report.
    pub title: String,
    /// What it is to find out, in a sentence or two.
    pub about: String,
    /// What the device is to do; each is measured.
    #[serde(rename = "function")]
    pub functions: Vec<Spanned<Function>>,
    /// Which links, where it is not left to the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// What is sent.
    #[serde(default)]
    pub traffic: Traffic,
    /// What is varied.
    #[serde(default)]
    pub sweep: Sweep,
    /// What is searched for.
    pub measure: Measure,
    /// How often, in which order.
    #[serde(default)]
    pub campaign: Campaign,
    /// Whether axes are varied one at a time, all others at their first value: see [`crate::cut`].
    #[serde(skip)]
    pub one_at_a_time: bool,
    /// Which part of its cases is measured; all unless said.
    #[serde(skip)]
    pub shard: Option<Shard>,
}

/// How a scenario is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Campaign {
    /// Restarts of the device: the outer sample.
    pub restarts: u32,
    /// Names the order of cases and everything random in the traffic.
    pub seed: u64,
    /// Time for all of it: restarts that do not fit are left out, searches end early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<f64>,
}

impl Default for Campaign {
    fn default() -> Self {
        Self { restarts: 10, seed: 1, minutes: None }
    }
}

impl Scenario {
    /// Reads a scenario; `path` is only for messages.
    pub fn parse(text: &str, path: &str) -> Result<Self, Error> {
        let scenario: Self = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            Error::in_text(text, path, at, error.message())
        })?;
        scenario.check().map_err(|wrong| Error::in_text(text, path, wrong.at, &wrong.reason))?;
        Ok(scenario)
    }
}
