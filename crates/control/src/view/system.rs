//! The router as a program: version, memory, workers.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Version {
    /// Volley's version.
    pub volley: String,
    /// DPDK's version; absent when it is not in use.
    pub dpdk: Option<String>,
    /// Process.
    pub pid: u32,
    /// Seconds since it started.
    pub uptime_s: u64,
    /// What it found it may do, as in `hugepages: no (2 MiB pages: 0)`.
    pub abilities: Vec<String>,
}

/// Where memory goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Memory {
    /// Resident memory of the process.
    pub resident_bytes: u64,
    /// Its parts.
    pub parts: Vec<MemoryUse>,
}

/// One pool or table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MemoryUse {
    /// Its name, as in `packet buffers` or `IPv4 table`.
    pub name: String,
    /// Entries in use.
    pub used: u64,
    /// Entries there is room for.
    pub capacity: u64,
    /// Bytes it takes.
    pub bytes: u64,
    /// Bytes of the pages it asks for; the machine may have given smaller ones.
    pub page_bytes: Option<u64>,
}

/// Rounds of a worker that took longer than 200 us and 4 us a packet: the host gave its core to
/// somebody else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Stalls {
    /// How many.
    pub count: u64,
    /// Their sum, in microseconds.
    pub total_us: f64,
    /// The longest, in microseconds.
    pub longest_us: f64,
    /// The latest, oldest first, 127 at most.
    pub latest: Vec<Stall>,
}

/// One such round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Stall {
    /// When it ended, in seconds since 1970-01-01 UTC.
    pub ended_unix_s: f64,
    /// How long it took, in microseconds.
    pub length_us: f64,
}

/// A worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Worker {
    /// Its number, from 0.
    pub id: u32,
    /// Core it is pinned to.
    pub core: Option<u16>,
    /// Rounds of the graph.
    pub loops: u64,
    /// Packets received.
    pub packets: u64,
    /// Share of its time with packets at hand, 0 to 1.
    pub busy: f64,
    /// How often it slept.
    pub sleeps: u64,
    /// When it was away against its will.
    pub stalls: Stalls,
    /// Queues it polls, as in `p0:0`.
    pub queues: Vec<String>,
}
