//! What a curve shows, and the words for it. One more is a line in each list here, and its points
//! in [`crate::curve`].

use lab_report::svg::scale::Unit;
use serde::Deserialize;

/// What a curve is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// Answers of searches.
    Rate,
    /// Cycles that a packet costs the device, by its own count: also where the generator is slower.
    Cost,
    /// Share of the cycles of all nodes that some nodes have.
    NodeShare,
    /// An event of the processor a packet, by its counters.
    Event,
    /// Instructions a cycle, by the same counters.
    Ipc,
    /// Instructions a packet where the processor does not tell: by valgrind.
    Modelled,
    /// A percentile of latency.
    Percentile,
    /// Mean latency.
    Mean,
    /// Share of what was sent that the device lost in timed trials.
    Loss,
    /// Every latency.
    Histogram,
}

impl What {
    /// Those that drawings are made of, in their order; a histogram is one by itself.
    pub const DRAWN: [Self; 8] = [
        Self::Rate,
        Self::Cost,
        Self::NodeShare,
        Self::Event,
        Self::Ipc,
        Self::Modelled,
        Self::Mean,
        Self::Loss,
    ];

    /// What the axis of a drawing says, and the unit of its marks. Those with the same share a
    /// drawing.
    pub fn axis(self) -> Option<(&'static str, Unit)> {
        Some(match self {
            Self::Rate => ("packets per second", Unit::Count),
            Self::Cost => ("cycles a packet", Unit::Plain),
            Self::NodeShare => ("share of the nodes' cycles", Unit::Share),
            Self::Event => ("events a packet", Unit::Plain),
            Self::Ipc => ("instructions a cycle", Unit::Plain),
            Self::Modelled => ("instructions a packet, by valgrind", Unit::Plain),
            Self::Mean | Self::Percentile => ("one-way latency", Unit::Nanoseconds),
            Self::Loss => ("lost by the device", Unit::Share),
            Self::Histogram => return None,
        })
    }

    /// What tables say behind a number of it.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Rate => "pps",
            Self::NodeShare | Self::Loss => "share",
            Self::Cost => "cycles",
            Self::Event | Self::Modelled => "a packet",
            Self::Ipc => "a cycle",
            Self::Percentile | Self::Mean | Self::Histogram => "ns",
        }
    }
}
