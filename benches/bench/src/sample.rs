//! One sample: what some milliseconds of passes cost, node by node; and the middle of many.

use crate::pace::Pace;

/// Cycles of one node in a sample.
#[derive(Clone, Debug)]
pub(crate) struct NodeCost {
    pub(crate) name: &'static str,
    pub(crate) calls: u64,
    pub(crate) packets: u64,
    pub(crate) cycles: u64,
}

/// One sample.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Packets that the source brought.
    pub(crate) packets: u64,
    /// Cycles of all nodes but the source.
    pub(crate) cycles: u64,
    /// Cycles of the source: what receiving costs.
    pub(crate) receiving_cycles: u64,
    /// Every node that ran, but the source.
    pub(crate) nodes: Vec<NodeCost>,
    /// How much of the processor it had.
    pub(crate) pace: Pace,
}

impl Sample {
    pub(crate) fn cycles_per_packet(&self) -> f64 {
        self.cycles as f64 / self.packets.max(1) as f64
    }

    pub(crate) fn receiving_per_packet(&self) -> f64 {
        self.receiving_cycles as f64 / self.packets.max(1) as f64
    }
}

/// Median and quartiles.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Middle {
    pub(crate) min: f64,
    pub(crate) q1: f64,
    pub(crate) median: f64,
    pub(crate) q3: f64,
}

impl Middle {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let index = ((sorted.len().max(1) - 1) as f64 * share).round() as usize;
            sorted.get(index).copied().unwrap_or_default()
        };
        Self { min: at(0.0), q1: at(0.25), median: at(0.5), q3: at(0.75) }
    }
}
