//! The kernel's twins of ports.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A twin: the kernel's interface beside one of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Twin {
    /// The port whose twin it is.
    pub port: String,
    /// Its name in the kernel.
    pub name: String,
    /// Its network namespace; none: the router's own.
    pub netns: Option<String>,
    /// The kernel's number of it; none while it is not there.
    pub index: Option<u32>,
    /// What is wrong with it.
    pub problem: Option<String>,
    /// Packets given to the kernel.
    pub to_kernel: u64,
    /// Packets not taken by the kernel: the twin is down, or its queue full.
    pub refused: u64,
    /// Packets sent by the kernel.
    pub from_kernel: u64,
    /// Packets sent by the kernel and lost here: no buffer, or too many at once.
    pub lost: u64,
    /// What the workers handed over, by class.
    pub classes: Vec<TwinClass>,
}

/// Packets of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TwinClass {
    /// `neighbors`, `routing`, `tcp` or `rest`.
    pub class: String,
    /// Packets per second and worker that it may have.
    pub limit_pps: u32,
    /// Handed over.
    pub passed: u64,
    /// Dropped: more than it may have.
    pub limited: u64,
}
