//! Rates, sizes and times as `tc` prints them: `10Mbit`, `1600b`, `1.02s`. It rounds what has many
//! digits; a configuration does not.

use std::fmt;

use crate::ClassId;
use crate::curve::Curve;
use crate::units::{Rate, Size, Time};

/// What `tc` would print.
pub(crate) struct Said<T>(pub(crate) T);

impl fmt::Display for Said<Rate> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rate = self.0.0;
        let mut units = ["", "K", "M", "G", "T"].into_iter().peekable();
        let mut unit = units.next().unwrap_or_default();
        // A thousand of the next unit is printed in it, even if a rest is lost.
        while rate >= 1000 && (rate.is_multiple_of(1000) || rate >= 1_000_000) {
            let Some(next) = units.next() else { break };
            (unit, rate) = (next, rate / 1000);
        }
        write!(f, "{rate}{unit}bit")
    }
}

impl fmt::Display for Said<Size> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.0;
        let near = |unit: u64, apart: u64| {
            let whole = (bytes + unit / 2) / unit;
            (bytes >= unit && bytes.abs_diff(whole * unit) < apart).then_some(whole)
        };
        match (near(1 << 20, 1024), near(1 << 10, 16)) {
            (Some(mb), _) => write!(f, "{mb}Mb"),
            (_, Some(kb)) => write!(f, "{kb}Kb"),
            _ => write!(f, "{bytes}b"),
        }
    }
}

impl fmt::Display for Said<Time> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.0;
        match ns {
            1_000_000_000.. => write!(f, "{}s", three_digits(ns, 1_000_000_000)),
            1_000_000.. => write!(f, "{}ms", three_digits(ns, 1_000_000)),
            _ if ns.is_multiple_of(1000) => write!(f, "{}us", ns / 1000),
            // `tc` knows nothing this short.
            _ => write!(f, "{ns}ns"),
        }
    }
}

/// A number of units, in three digits that count.
fn three_digits(value: u64, unit: u64) -> String {
    let thousandths = (u128::from(value) * 1000 + u128::from(unit / 2)) / u128::from(unit);
    let step = match thousandths {
        0..10_000 => 10,
        10_000..100_000 => 100,
        _ => 1000,
    };
    let rounded = (thousandths + step / 2) / step * step;
    let text = format!("{}.{:03}", rounded / 1000, rounded % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

impl fmt::Display for Said<Curve> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Curve { m1, d, m2 } = self.0;
        write!(f, "m1 {} d {} m2 {}", Said(m1), Said(d), Said(m2))
    }
}

/// A class of the discipline's own, by its minor number.
impl fmt::Display for Said<Option<ClassId>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.map_or(0, ClassId::minor) {
            0 => f.write_str("0"),
            minor => write!(f, "0x{minor:x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_printed_as_tc_prints_them() {
        let rates = [0, 999, 20_000, 2_464_000, 1_500_000, 1_234_567, 10_000_000_000];
        assert_eq!(
            rates.map(|rate| Said(Rate(rate)).to_string()),
            ["0bit", "999bit", "20Kbit", "2464Kbit", "1500Kbit", "1234Kbit", "10Gbit"]
        );
        let sizes = [1000, 1514, 1600, 2048, 2060, 32 << 20, 100_000];
        assert_eq!(
            sizes.map(|size| Said(Size(size)).to_string()),
            ["1000b", "1514b", "1600b", "2Kb", "2Kb", "32Mb", "100000b"]
        );
        let times =
            [0, 5_000_000, 999_000, 100_000_000, 1_024_000_000, 12_345_000, 64, 60_000_000_000];
        assert_eq!(
            times.map(|time| Said(Time(time)).to_string()),
            ["0us", "5ms", "999us", "100ms", "1.02s", "12.3ms", "64ns", "60s"]
        );
    }
}
