//! Workers.

use super::answer::*;

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

impl View for Worker {
    view!("show workers", "/v1/workers", All => Vec<Self>,
        "Workers, what they did and which queues they poll");
    counters!("loops", "packets", "sleeps", "count");
    const METRICS: Option<Metrics<Self>> = Some((All, |workers, out| {
        out.of(workers, |worker| [("worker", worker.id)])
            .counter("worker_loops", "Rounds of the graph.", |worker| worker.loops)
            .counter("worker_packets", "Packets received.", |worker| worker.packets)
            .gauge("worker_busy_ratio", "Share of the time with packets at hand.", |worker| {
                worker.busy
            })
            .counter(
                "worker_stalls",
                "Rounds that took longer than 200 us and 4 us a packet.",
                |worker| worker.stalls.count,
            )
            .counter("worker_stalled_seconds", "Time that those rounds took.", |worker| {
                worker.stalls.total_us / 1e6
            })
            .gauge(
                "worker_longest_stall_seconds",
                "Time that the longest of them took.",
                |worker| worker.stalls.longest_us / 1e6,
            );
    }));

    fn table(workers: &Vec<Self>) -> Table {
        table!(workers, worker => {
            "worker": worker.id, "core": worker.core,
            "busy": format!("{:.0}%", worker.busy * 100.0), "loops": worker.loops,
            "packets": worker.packets, "sleeps": worker.sleeps, "stalls": worker.stalls.count,
            "longest us": format!("{:.0}", worker.stalls.longest_us), "queues": worker.queues,
        })
    }
}
