//! Routes in bulk: asked for, and on their way.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// How a file of routes is loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct RouteLoad {
    /// Whose routes they are, as in `ebgp` or `ospf/90`: one of ebgp, ospf, isis, rip, ibgp, and
    /// its preference.
    #[serde(default)]
    pub source: Option<String>,
    /// VRF that they go into; `default` or nothing is the default one.
    #[serde(default)]
    pub vrf: Option<String>,
    /// Next hops to lead them over instead of the file's own, as in `192.0.2.9,192.0.2.10`. Routes
    /// with the same next hop in the file have the same one of these.
    #[serde(default)]
    pub via: Option<String>,
    /// Lead every route over all of `via`.
    #[serde(default)]
    pub share: bool,
    /// Remove the routes of this source that the file does not have.
    #[serde(default)]
    pub replace: bool,
    /// Leave wrong lines out, instead of refusing the file.
    #[serde(default)]
    pub skip_wrong: bool,
}

/// Routes in a row, made up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteRange {
    /// The first one's network; the others follow it.
    pub prefix: String,
    /// How many.
    #[schema(minimum = 1, maximum = 16_777_216)]
    pub count: u32,
    /// Whose they are, as for a file.
    #[serde(default)]
    pub source: Option<String>,
    /// VRF that they go into, as for a file.
    #[serde(default)]
    pub vrf: Option<String>,
    /// Next hops, taken in turn.
    pub via: String,
    /// Lead every route over all of `via`.
    #[serde(default)]
    pub share: bool,
}

/// Which routes go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteFlush {
    /// Whose, as for a file.
    pub source: String,
    /// VRF that they are in, as for a file.
    #[serde(default)]
    pub vrf: Option<String>,
}

/// How far a change of many routes is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BulkState {
    /// The file is read; nothing has changed yet.
    #[default]
    Reading,
    /// Routes are added.
    Adding,
    /// Routes that are not wanted any more are removed.
    Removing,
    /// All of it forwards.
    Done,
    /// It ended before its end: `detail` says why, the numbers what was done until then.
    Failed,
}

/// A change of many routes: one line of the answer every now and then, the last one `done` or
/// `failed`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Bulk {
    /// How far.
    pub state: BulkState,
    /// Whose routes.
    pub source: String,
    /// Share of it that is done, 0 to 1.
    pub share: f64,
    /// Routes read.
    pub read: u64,
    /// Routes added or replaced.
    pub added: u64,
    /// Routes removed.
    pub removed: u64,
    /// Lines left out.
    pub wrong: u64,
    /// The first of them.
    pub wrong_lines: Vec<String>,
    /// Milliseconds since it began.
    pub elapsed_ms: u64,
    /// Routes the source has now, in the last line.
    pub routes: u64,
    /// Those of them that forward: the best of their prefix, with a next hop that is there.
    pub active: u64,
    /// Why it failed.
    pub detail: Option<String>,
}
