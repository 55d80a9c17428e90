//! Scales: where a value lies between 0 and 1 along an axis, and the ticks to print there.
//!
//! ```text
//! linear   0    2    4    6           1-2-5 steps
//! log      1    10   100  1k          decades, with 2 and 5 where there are few
//! nines    50 % 90 % 99 % 99.9 %      -log10(1 - p): each nine as far again
//! ```

/// How values map to places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Linear,
    Log,
    Nines,
}

/// A scale over a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    kind: Kind,
    /// Ends, transformed.
    low: f64,
    high: f64,
    /// From tick to tick, where distances are equal.
    step: f64,
    unit: Unit,
}

/// How tick values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// 1500000 is 1.5M.
    Count,
    /// Plain decimals.
    Plain,
    /// Nanoseconds: 1500 is 1.5 µs.
    Nanoseconds,
    /// A share: 0.015 is 1.5 %.
    Share,
}

impl Scale {
    /// Equal distances; the range is widened to whole ticks and never empty.
    pub fn linear(low: f64, high: f64, unit: Unit) -> Self {
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        let step = step(high - low);
        let (low, high) = ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step);
        Self { kind: Kind::Linear, low, high, step, unit }
    }

    /// Equal ratios, from a positive value on; the range is widened a little.
    pub fn log(low: f64, high: f64, unit: Unit) -> Self {
        let low = low.max(1e-12);
        let (low, high) = (low.log10(), high.max(low * 1.000_001).log10());
        let margin = (0.03 * (high - low)).max(0.02);
        Self { kind: Kind::Log, low: low - margin, high: high + margin, step: 0.0, unit }
    }

    /// Percentiles from 0 up to so many nines.
    pub fn nines(nines: f64) -> Self {
        Self { kind: Kind::Nines, low: 0.0, high: nines.max(1.0), step: 0.0, unit: Unit::Plain }
    }

    /// Where a value lies: 0 at the low end, 1 at the high one; outside values beyond.
    pub fn place(&self, value: f64) -> f64 {
        let value = match self.kind {
            Kind::Linear => value,
            Kind::Log => value.max(1e-300).log10(),
            Kind::Nines => -(1.0 - value / 100.0).max(1e-15).log10(),
        };
        (value - self.low) / (self.high - self.low)
    }

    /// Places with labels, and places with a grid line only (an empty label).
    pub fn ticks(&self) -> Vec<(f64, String)> {
        match self.kind {
            Kind::Linear => self.linear_ticks(),
            Kind::Log => self.log_ticks(),
            Kind::Nines => self.nines_ticks(),
        }
    }

    fn linear_ticks(&self) -> Vec<(f64, String)> {
        // The step of the values: that of the widened range may be another, of which it is no
        // multiple.
        let count = ((self.high - self.low) / self.step).round() as i64;
        let values = (0..=count).map(|index| self.low + self.step * index as f64);
        values.map(|value| (self.place(value), self.unit.write(value, self.step))).collect()
    }

    fn log_ticks(&self) -> Vec<(f64, String)> {
        let decades = self.high - self.low;
        let every = (decades / 9.0).ceil().max(1.0) as i32;
        let mut ticks = Vec::new();
        for decade in self.low.floor() as i32..=self.high.ceil() as i32 {
            for digit in 1..=9 {
                let value = f64::from(digit) * 10f64.powi(decade);
                let place = self.place(value);
                if !(-1e-9..=1.000_000_001).contains(&place) {
                    continue;
                }
                let labelled = match digit {
                    1 => decade.rem_euclid(every) == 0,
                    2 | 5 => decades < 2.2,
                    _ => decades < 0.6,
                };
                if labelled {
                    ticks.push((place, self.unit.write(value, value)));
                } else if decades < 5.0 {
                    ticks.push((place, String::new()));
                }
            }
        }
        ticks
    }

    fn nines_ticks(&self) -> Vec<(f64, String)> {
        let named = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999];
        let inside = named.into_iter().filter(|&percent| self.place(percent) <= 1.000_001);
        inside.map(|percent| (self.place(percent), format!("{percent} %"))).collect()
    }
}

/// The 1-2-5 step that makes four to eight parts of a range.
fn step(range: f64) -> f64 {
    let rough = range / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 5.0, 10.0].into_iter().find(|nice| nice * power >= rough * 0.999);
    nice.unwrap_or(10.0) * power
}

impl Unit {
    /// A value as text, with the digits that a step of this size needs.
    pub fn write(self, value: f64, step: f64) -> String {
        let scaled = |limits: &[(f64, &str)]| {
            let size = value.abs().max(step.abs());
            let &(factor, unit) = limits.iter().rev().find(|it| size >= it.0).unwrap_or(&limits[0]);
            match decimals(value / factor, step / factor) {
                zero if zero == "0" => zero,
                text => format!("{text}{unit}"),
            }
        };
        match self {
            Self::Plain => decimals(value, step),
            Self::Count => scaled(&[(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")]),
            Self::Nanoseconds => scaled(&[(1.0, " ns"), (1e3, " µs"), (1e6, " ms"), (1e9, " s")]),
            Self::Share => format!("{} %", decimals(100.0 * value, 100.0 * step)),
        }
    }
}

fn decimals(value: f64, step: f64) -> String {
    let needed = (-(step.abs().max(1e-12)).log10() - 1e-9).ceil().clamp(0.0, 9.0) as usize;
    let text = format!("{value:.needed$}");
    if text.trim_start_matches('-').bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        return "0".into();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|tick| tick.1).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_reach_both_ends() {
        assert_eq!(labels(Scale::linear(0.0, 13.2, Unit::Plain)), ["0", "5", "10", "15"]);
        let shares = labels(Scale::linear(0.0, 0.9, Unit::Plain));
        assert_eq!(shares, ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(
            labels(Scale::linear(0.0, 6e6, Unit::Count)),
            ["0", "1M", "2M", "3M", "4M", "5M", "6M"]
        );
    }

    #[test]
    fn linear_ticks_never_leave_the_scale_and_never_read_alike() {
        assert_eq!(
            labels(Scale::linear(0.8, 3.7, Unit::Plain)),
            ["0.5", "1.0", "1.5", "2.0", "2.5", "3.0", "3.5", "4.0"]
        );
        for (low, high) in [(0.8, 3.7), (63e3, 187e3), (-0.3, 1.1), (0.97, 1.04), (61.0, 199.0)] {
            let ticks = Scale::linear(low, high, Unit::Plain).ticks();
            assert!(
                ticks.iter().all(|(place, _)| (-1e-9..=1.0 + 1e-9).contains(place)),
                "{ticks:?}"
            );
            assert!(ticks.windows(2).all(|pair| pair[0].1 != pair[1].1), "{ticks:?}");
        }
    }

    #[test]
    fn log_ticks_are_decades_with_units() {
        let ticks = labels(Scale::log(1e3, 1e7, Unit::Nanoseconds));
        assert_eq!(ticks, ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]);
        assert_eq!(labels(Scale::log(1.0, 50.0, Unit::Count)), ["1", "2", "5", "10", "20", "50"]);
    }

    #[test]
    fn each_nine_is_as_far_again() {
        let scale = Scale::nines(3.0);
        assert_eq!(labels(scale), ["0 %", "50 %", "90 %", "99 %", "99.9 %"]);
        assert!((scale.place(99.0) - 2.0 * scale.place(90.0)).abs() < 1e-12);
    }

    #[test]
    fn a_range_of_one_value_still_has_a_scale() {
        assert!(Scale::linear(5.0, 5.0, Unit::Plain).place(5.0).is_finite());
        assert!(Scale::log(5.0, 5.0, Unit::Plain).place(5.0).is_finite());
    }
}
