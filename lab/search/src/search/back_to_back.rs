//! RFC 2544 26.4: the longest burst at full rate that the device forwards whole.
//!
//! A burst is a trial at the largest load that lasts frames / load. The search per repetition is
//! binary, between one frame and the longest burst; the answer is the mean over the repetitions.
//! From the burst and the throughput follows the size of the device's buffer (RFC 9004 section 6).

use lab_record::{Outcome, Trial, Unit};
use serde::{Deserialize, Serialize};

use super::kind::{Findings, Kind, Quantity, finish};
use super::stand::Stand;
use super::strategy::{Search, Step};
use super::terms::Terms;
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind = Kind {
    repeats: Some(BURSTS),
    reading: "RFC 2544, 26.4 to 26.6: the longest burst at full rate that loses nothing,",
    ..Kind::new("back-to-back", pursue)
};

/// Share of the largest load at which bursts are sent: above it the generator itself is the limit.
const BURST_SHARE: f64 = 0.9;
/// Repetitions that RFC 2544 asks for.
const BURSTS: u32 = 50;

fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    let mut search = BackToBack {
        max_pps: terms.max_pps * BURST_SHARE,
        longest_s: terms.trial_s,
        repetitions: terms.repeated(BURSTS),
        relative_width: terms.relative_width,
    };
    let answer = finish(&mut search, stand, "the longest burst")?;
    let values = answer.frames.iter().map(|&frames| frames as f64).collect();
    let quantities = vec![Quantity::new("back-to-back", Unit::Frames, values)];
    Ok(Findings { rates: Vec::new(), quantities })
}

/// Bursts at the largest load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackToBack {
    /// The rate of a burst: the link's.
    pub max_pps: f64,
    /// The longest burst; the RFC asks for 2 s or more.
    pub longest_s: f64,
    /// Repetitions; the RFC asks for 50 or more.
    pub repetitions: usize,
    /// When one repetition ends: the distance of the bounds, as a share of the upper one, or one
    /// frame.
    pub relative_width: f64,
}

/// The longest bursts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BackToBackAnswer {
    /// Longest burst of each repetition.
    pub frames: Vec<u64>,
    /// Their mean.
    pub mean_frames: f64,
    /// Time that the mean burst takes.
    pub mean_s: f64,
}

impl BackToBackAnswer {
    /// The buffer that explains the burst in a device that drains `throughput_pps` meanwhile.
    pub fn buffer_frames(&self, throughput_pps: f64) -> f64 {
        (self.mean_frames - throughput_pps * self.mean_s).max(0.0)
    }
}

impl BackToBack {
    /// The bounds of the repetition in progress after the last outcome, and the bursts found.
    fn replay(&self, history: &[Outcome]) -> (u64, u64, Vec<u64>) {
        let longest = (self.max_pps * self.longest_s) as u64;
        let (mut low, mut high, mut found) = (0, longest + 1, Vec::new());
        for outcome in history {
            let frames = outcome.trial.packets();
            if outcome.loss_ratio() == 0.0 {
                low = frames
            } else {
                high = frames
            }
            let close = (self.relative_width * high as f64) as u64;
            if high - low <= close.max(1) || low == longest {
                found.push(low);
                (low, high) = (0, longest + 1);
            }
        }
        (low, high, found)
    }
}

impl Search for BackToBack {
    type Answer = BackToBackAnswer;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<BackToBackAnswer>, Error> {
        let longest = (self.max_pps * self.longest_s) as u64;
        if longest == 0 || self.repetitions == 0 {
            return Err(Error::TooFew {
                what: "a burst's frames and repetitions",
                needed: 1,
                got: 0,
            });
        }
        let (low, high, frames) = self.replay(history);
        if frames.len() < self.repetitions {
            // The longest burst first: a device with buffers enough is done after one trial each.
            let burst = if high > longest && low == 0 { longest } else { low.midpoint(high) };
            let burst = burst.clamp(1, longest);
            return Ok(Step::Measure(Trial::new(self.max_pps, burst as f64 / self.max_pps)));
        }
        let mean_frames = frames.iter().sum::<u64>() as f64 / frames.len() as f64;
        let mean_s = mean_frames / self.max_pps;
        Ok(Step::Done(BackToBackAnswer { frames, mean_frames, mean_s }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::kind::testing;
    use crate::search::{Budget, run};
    use crate::sim::{Device, Model};

    fn answer(buffer: f64, drain_pps: f64) -> BackToBackAnswer {
        let mut search =
            BackToBack { max_pps: 1e7, longest_s: 2.0, repetitions: 5, relative_width: 0.0 };
        let measured = run(&mut search, Budget::default(), |trial| {
            let room = (buffer + drain_pps * trial.duration_s) as u64;
            Ok(Outcome::of(trial, trial.packets().min(room)))
        });
        measured.unwrap().0
    }

    #[test]
    fn the_buffer_of_the_device_follows_from_the_burst_and_the_throughput() {
        let answer = answer(4_096.0, 6e6);
        assert_eq!(answer.frames.len(), 5);
        assert!((answer.mean_frames - 10_240.0).abs() <= 2.0, "{answer:?}");
        assert!((answer.buffer_frames(6e6) - 4_096.0).abs() <= 2.0);
    }

    #[test]
    fn a_device_at_line_rate_takes_the_longest_burst_in_one_trial_a_repetition() {
        assert_eq!(answer(0.0, 1e7).frames, [20_000_000; 5]);
    }

    #[test]
    fn a_device_that_loses_every_frame_has_a_burst_of_none() {
        assert_eq!(answer(0.0, 0.0).frames, [0; 5]);
    }

    #[test]
    fn bursts_are_found_as_often_as_they_are_repeated() {
        let mut device = Device::new(Model::quiet(4e6), 1);
        let found =
            testing::pursue("back-to-back", &mut |trial| Ok(device.measure(trial))).unwrap();
        let [Quantity { unit, values, .. }] = &found.quantities[..] else { panic!() };
        // The simulated device buffers nothing: at 9 Mpps even a burst of one loses a frame now and
        // then.
        assert_eq!((*unit, values.len()), (Unit::Frames, 50));
    }
}
