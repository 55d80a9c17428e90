//! What a trial with streams is written down as.

use serde::{Deserialize, Serialize};

use crate::{RoundTrips, Subject, Verdict};

/// TCP in one direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Way {
    /// Received, all streams together.
    pub bps: f64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Received, by stream.
    pub streams_bps: Vec<f64>,
}

/// One trial between two endpoints: streams with round trips beside them, or round trips alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StreamRecord {
    /// What was measured.
    pub subject: Subject,
    /// Number of the trial in the campaign.
    pub index: u32,
    /// When it began, since the campaign did.
    pub at_s: f64,
    /// Time of sending.
    pub duration_s: f64,
    /// From the first end to the second, and back where both were asked for; none where round trips
    /// alone were measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<Way>,
    /// Congestion control of the streams.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub congestion: String,
    /// What the ends did with nothing in between, both ways together, in bits a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling_bps: Option<f64>,
    /// Requests and their answers meanwhile.
    pub round_trips: RoundTrips,
    /// What it must be read with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
}

/// Share of the ends' own rate above which they are what was measured.
const BOUND_SHARE: f64 = 0.9;

impl StreamRecord {
    /// All ways together, in bits a second.
    pub fn bps(&self) -> f64 {
        self.ways.iter().map(|way| way.bps).sum()
    }

    /// How evenly the streams of a way share it (Jain): 1 where all have the same, 1/n where one
    /// has it all.
    pub fn fairness(&self) -> Option<f64> {
        let rates = &self.ways.first()?.streams_bps;
        let squares: f64 = rates.iter().map(|bps| bps * bps).sum();
        let sum: f64 = rates.iter().sum();
        (rates.len() > 1 && squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
    }

    /// With what its rate must be read with.
    pub fn judged(mut self) -> Self {
        let share = self.ceiling_bps.map(|ceiling_bps| self.bps() / ceiling_bps.max(1.0));
        let bound = share.filter(|share| *share > BOUND_SHARE);
        self.verdicts.extend(bound.map(|share| Verdict::GeneratorBound { share }));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(rates: &[f64], ceiling_bps: f64) -> StreamRecord {
        let way = Way { bps: rates.iter().sum(), streams_bps: rates.to_vec(), ..Way::default() };
        let ways = vec![way];
        StreamRecord { ways, ceiling_bps: Some(ceiling_bps), ..StreamRecord::default() }.judged()
    }

    #[test]
    fn streams_that_share_evenly_are_fair() {
        let fairness = |rates: &[f64]| record(rates, 1e9).fairness();
        assert_eq!(fairness(&[5.0, 5.0]), Some(1.0));
        assert_eq!(fairness(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!([fairness(&[5.0]), fairness(&[0.0, 0.0])], [None, None]);
    }

    #[test]
    fn what_the_ends_can_do_alone_is_no_result_of_a_device() {
        let bound = record(&[60.0, 35.0], 100.0).verdicts;
        assert_eq!(bound, [Verdict::GeneratorBound { share: 0.95 }]);
        assert_eq!(record(&[60.0, 25.0], 100.0).verdicts, []);
    }
}
