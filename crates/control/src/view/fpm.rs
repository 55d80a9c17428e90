//! Routes that FRR's zebra brings.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whether zebra is listened to, and what it told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Fpm {
    /// Where it may connect to; none: nobody listens.
    pub listen: Option<String>,
    /// In which network namespace; none: the router's own.
    pub netns: Option<String>,
    /// Who is connected.
    pub peer: Option<String>,
    /// Sessions so far.
    pub sessions: u64,
    /// Routes that zebra told.
    pub told: usize,
    /// Those of them that are in our tables of routes.
    pub routes: usize,
    /// Those of them that forward.
    pub active: usize,
    /// Routes that could not be taken, since the listener began.
    pub refused: u64,
    /// Why the last one could not, or the last session ended.
    pub problem: Option<String>,
}
