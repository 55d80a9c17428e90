//! Queueing disciplines of the device's egress port.

use super::axis::{Axis, SetBy, Value};

/// A queueing discipline, by the name that scenarios give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheduler {
    /// First in, first out.
    Fifo,
    /// Stochastic fairness.
    Sfq,
    /// Controlled delay.
    Codel,
    /// Fair queues, each with controlled delay.
    FqCodel,
    /// Hierarchical token bucket.
    Htb,
    /// Hierarchical fair service curve.
    Hfsc,
}

impl Value for Scheduler {
    const WORDS: &'static [&'static str] = &["fifo", "sfq", "codel", "fq-codel", "htb", "hfsc"];

    fn read(text: &str) -> Option<Self> {
        use Scheduler::{Codel, Fifo, FqCodel, Hfsc, Htb, Sfq};
        let all = [Fifo, Sfq, Codel, FqCodel, Htb, Hfsc];
        Self::WORDS.iter().zip(all).find(|(word, _)| **word == text).map(|(_, scheduler)| scheduler)
    }
}

/// The adapter sets it with the bottleneck, without which nothing queues.
impl Axis for Scheduler {
    const NAME: &'static str = "scheduler";
    const SET_BY: SetBy = SetBy::Lab;
    type Value = Self;
}
