//! Requests and their answers, counted.

use serde::{Deserialize, Serialize};

use crate::Histogram;

/// What came of some requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundTrips {
    /// Requests sent.
    pub asked: u64,
    /// Those that were answered, each counted once.
    pub answered: u64,
    /// Time in which they were sent.
    pub time_s: f64,
    /// Interarrival jitter of the round trips at the end (RFC 3550).
    pub jitter_ns: f64,
    /// Round trips, from the sending of a request to the arrival of its answer.
    pub histogram: Histogram,
}

impl RoundTrips {
    /// Adds what came of others; the jitter is the mean of both by their answers.
    pub fn merge(&mut self, other: &Self) {
        let answered = (self.answered + other.answered).max(1) as f64;
        let weighed = |it: &Self| it.jitter_ns * it.answered as f64;
        self.jitter_ns = (weighed(self) + weighed(other)) / answered;
        self.asked += other.asked;
        self.answered += other.answered;
        self.time_s += other.time_s;
        self.histogram.merge(&other.histogram);
    }
}
