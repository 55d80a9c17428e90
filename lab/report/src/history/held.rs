//! A campaign held against the baseline of its host: number by number, with how sure.
//!
//! ```text
//! ratio = now / baseline (of times and costs: baseline / now), so that less than 1 is worse
//! worse = below what is allowed, and by more than starts differ from each other
//! ```
//! The interval is Welch's, of logarithms, over starts. Of fewer than three starts there is none:
//! then the ratio alone decides, and that is said.

use lab_record::{Interval, RatioReading};
use lab_search::stats::special::student_quantile;

use super::number::Number;
use crate::gate::{Gate, Outcome};

/// Starts from which on a spread means something.
const FEWEST_RUNS: usize = 3;

/// A number against its baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// Less than 1 is worse.
    pub ratio: f64,
    /// Where it lies with 95 %; none of fewer than three starts.
    pub interval: Option<Interval>,
    /// Which of both may be more.
    pub reading: RatioReading,
}

impl Held {
    /// `now` against `base`; none where a ratio would mean nothing.
    pub fn of(base: &Number, now: &Number) -> Option<Self> {
        if !(base.value > 0.0 && now.value > 0.0) {
            return None;
        }
        let reading = RatioReading::of(now.at_least, base.at_least);
        reading.sign()?;
        let log = match base.more_is_better() {
            true => (now.value / base.value).ln(),
            false => (base.value / now.value).ln(),
        };
        let interval = half_width(base, now)
            .map(|half| Interval { low: (log - half).exp(), high: (log + half).exp() });
        Some(Self { ratio: log.exp(), interval, reading })
    }

    /// Whether it is worse by more than is allowed, and not by chance.
    pub fn is_worse(&self, fail_below: f64) -> bool {
        // What may be more than was seen is not known to be worse.
        self.reading != RatioReading::AtLeast
            && self.ratio < 1.0 - fail_below
            && self.interval.is_none_or(|it| it.high < 1.0)
    }

    /// It in words.
    pub fn words(&self) -> String {
        let sign = self.reading.sign().unwrap_or("");
        match self.interval {
            Some(it) => format!("{sign}{:.4} [{:.4}, {:.4}]", self.ratio, it.low, it.high),
            None => format!("{sign}{:.4}, of too few starts for an interval", self.ratio),
        }
    }
}

/// Half of the interval of a difference of logarithms.
fn half_width(base: &Number, now: &Number) -> Option<f64> {
    if base.runs.min(now.runs) < FEWEST_RUNS {
        return None;
    }
    let variance = |it: &Number| (it.sd / it.value).powi(2) / it.runs as f64;
    let (one, other) = (variance(base), variance(now));
    let sum = one + other;
    if sum <= 0.0 {
        return Some(0.0);
    }
    let part = |variance: f64, runs: usize| variance.powi(2) / (runs as f64 - 1.0);
    let freedom = sum.powi(2) / (part(one, base.runs) + part(other, now.runs));
    Some(student_quantile(0.975, freedom.max(1.0)) * sum.sqrt())
}

/// Holds numbers against those of a baseline: what is worse by more than `fail_below` fails, and
/// what the baseline has and these have not is missing.
pub fn hold(base: &[Number], now: &[Number], fail_below: f64) -> Gate {
    let mut gate = Gate::default();
    for base in base {
        let found = now.iter().find(|it| it.is_same_as(base));
        let outcome = match found {
            None => Outcome::Error("the baseline has it; it was not measured now".into()),
            Some(now) => match Held::of(base, now) {
                None => Outcome::Error(format!(
                    "{} then, {} now: no ratio, as neither is the device's own",
                    base.words(),
                    now.words()
                )),
                Some(held) => {
                    let told =
                        format!("{}: {} then, {} now", held.words(), base.words(), now.words());
                    match held.is_worse(fail_below) {
                        true => Outcome::Failed(told),
                        false => Outcome::Passed(told),
                    }
                }
            },
        };
        gate.add(
            &base.device,
            format!("{}, {} against the baseline", base.case, base.metric),
            outcome,
        );
    }
    gate
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Worst;

    fn number(value: f64, sd: f64, runs: usize) -> Number {
        let device = "volley".into();
        Number { device, unit: "pps".into(), value, sd, runs, ..Number::default() }
    }

    fn worst(base: &Number, now: &Number, fail_below: f64) -> Worst {
        hold(std::slice::from_ref(base), std::slice::from_ref(now), fail_below).worst()
    }

    #[test]
    fn what_is_worse_than_allowed_and_than_chance_fails() {
        let base = number(10e6, 2e4, 5);
        assert_eq!(worst(&base, &number(9.7e6, 2e4, 5), 0.02), Worst::Failed);
        assert_eq!(worst(&base, &number(9.7e6, 2e4, 5), 0.05), Worst::Passed);
        assert_eq!(worst(&base, &number(11e6, 2e4, 5), 0.0), Worst::Passed);
        // Starts that differ by 10 % tell nothing of 3 %.
        assert_eq!(worst(&base, &number(9.7e6, 1e6, 5), 0.02), Worst::Passed);
        // Of one start there is no telling: the number alone decides.
        assert_eq!(worst(&base, &number(9.7e6, 0.0, 1), 0.02), Worst::Failed);
    }

    #[test]
    fn of_costs_more_is_worse() {
        let cost = |value: f64| Number { unit: "cycles".into(), ..number(value, 0.1, 5) };
        assert_eq!(worst(&cost(100.0), &cost(105.0), 0.02), Worst::Failed);
        assert_eq!(worst(&cost(100.0), &cost(95.0), 0.0), Worst::Passed);
    }

    #[test]
    fn lower_bounds_fail_nothing_and_what_is_missing_is_missing() {
        let at_least = |value: f64| Number { at_least: true, ..number(value, 1.0, 5) };
        let base = number(10e6, 1.0, 5);
        assert_eq!(worst(&base, &at_least(9e6), 0.0), Worst::Passed);
        assert_eq!(worst(&at_least(10e6), &number(9e6, 1.0, 5), 0.0), Worst::Failed);
        // Neither is the device's own: there is nothing to be said.
        assert_eq!(worst(&at_least(10e6), &at_least(9e6), 0.0), Worst::Missing);
        assert_eq!(hold(std::slice::from_ref(&base), &[], 0.0).worst(), Worst::Missing);
    }

    #[test]
    fn the_interval_holds_no_difference_nineteen_times_in_twenty() {
        use lab_search::random::Random;
        use lab_search::stats::summary::{deviation, mean};
        let mut random = Random::new(1);
        let mut sample = || {
            let values: Vec<f64> = (0..5).map(|_| 1e6 * (1.0 + 0.01 * random.normal())).collect();
            number(mean(&values), deviation(&values), 5)
        };
        let held = (0..1_000).filter(|_| {
            let interval = Held::of(&sample(), &sample()).unwrap().interval.unwrap();
            interval.contains(1.0)
        });
        let held = held.count();
        assert!((930..=975).contains(&held), "{held} of 1000");
    }
}
