//! Rates, sizes and times as people write them (`1.5gbit`, `32k`, `5ms`), read exactly or refused
//! with the reason.
//!
//! | | units | without a unit |
//! |---|---|---|
//! | rate | bit, kbit, mbit, gbit, tbit (1000), kibit, mibit, gibit (1024); bps, kbps, mbps, gbps (bytes) | bits a second |
//! | size | b, k, kb, m, mb, g, gb (1024); kbit, mbit, gbit (1024, eighths) | bytes |
//! | time | ns, us, ms, s and their long forms | refused: `tc` takes microseconds, people mean milliseconds |

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

use crate::Error;

/// Bits a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rate(pub u64);

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Size(pub u64);

/// A time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Time(pub u64);

const RATE_UNITS: &[(&str, u64)] = &[
    ("tbit", 1_000_000_000_000),
    ("gbit", 1_000_000_000),
    ("mbit", 1_000_000),
    ("kbit", 1_000),
    ("bit", 1),
    ("gibit", 1 << 30),
    ("mibit", 1 << 20),
    ("kibit", 1 << 10),
    ("gbps", 8_000_000_000),
    ("mbps", 8_000_000),
    ("kbps", 8_000),
    ("bps", 8),
    ("", 1),
];

const SIZE_UNITS: &[(&str, u64)] = &[
    ("gb", 1 << 30),
    ("mb", 1 << 20),
    ("kb", 1 << 10),
    ("b", 1),
    ("g", 1 << 30),
    ("m", 1 << 20),
    ("k", 1 << 10),
    ("", 1),
    // Bits, as some shaper's documents have bursts.
    ("kbit", 1 << 7),
    ("mbit", 1 << 17),
    ("gbit", 1 << 27),
];

const TIME_UNITS: &[(&str, u64)] = &[
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
    ("sec", 1_000_000_000),
    ("secs", 1_000_000_000),
    ("msec", 1_000_000),
    ("msecs", 1_000_000),
    ("usec", 1_000),
    ("usecs", 1_000),
    ("nsec", 1),
    ("nsecs", 1),
];

/// Reads `text` as a decimal number and one of `units`; the value must be whole and fit.
fn read(what: &'static str, text: &str, units: &[(&str, u64)]) -> Result<u64, Error> {
    let refuse = |reason: String| Error::Quantity { what, text: text.to_string(), reason };
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let lower = unit.to_ascii_lowercase();
    let Some(&(_, factor)) = units.iter().find(|(name, _)| *name == lower) else {
        let known: Vec<&str> =
            units.iter().map(|(name, _)| *name).filter(|n| !n.is_empty()).collect();
        let given = if unit.is_empty() { "no unit".to_string() } else { format!("`{unit}`") };
        return Err(refuse(format!("{given} where one of {} is due", known.join(", "))));
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) || fraction.contains('.') {
        return Err(refuse("it does not begin with a number".to_string()));
    }
    if whole.len() + fraction.len() > 24 {
        return Err(refuse("it has too many digits".to_string()));
    }
    let digits: u128 = format!("{whole}{fraction}")
        .parse()
        .map_err(|_| refuse("it does not begin with a number".to_string()))?;
    let scaled = digits
        .checked_mul(u128::from(factor))
        .ok_or_else(|| refuse("it is too large".to_string()))?;
    let divisor = 10u128.pow(fraction.len() as u32);
    if scaled % divisor != 0 {
        let unit = units.iter().find(|(name, factor)| *factor == 1 && !name.is_empty());
        let unit = unit.map_or("", |(name, _)| name);
        return Err(refuse(format!("it is not a whole number of {unit}")));
    }
    u64::try_from(scaled / divisor)
        .ok()
        .filter(|&value| value <= i64::MAX as u64)
        .ok_or_else(|| refuse("it is too large".to_string()))
}

/// Writes `value` in the largest unit that needs at most three decimals.
fn write(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let fits = |&&(_, factor): &&(&str, u64)| {
        value >= factor && (u128::from(value) * 1000).is_multiple_of(u128::from(factor))
    };
    let largest = units.iter().take_while(|(_, factor)| *factor > 1).find(fits);
    let (name, factor) = match largest {
        Some(&(name, factor)) => (name, factor),
        None => (units.iter().find(|(_, factor)| *factor == 1).map_or("", |(name, _)| name), 1),
    };
    let thousandths = (u128::from(value % factor) * 1000 / u128::from(factor)) as u64;
    let fraction = format!("{thousandths:03}");
    match fraction.trim_end_matches('0') {
        "" => write!(f, "{}{name}", value / factor),
        fraction => write!(f, "{}.{fraction}{name}", value / factor),
    }
}

macro_rules! quantity {
    ($name:ident, $what:literal, $units:ident) => {
        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                read($what, text, $units).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = Error;

            fn try_from(text: String) -> Result<Self, Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write(f, self.0, $units)
            }
        }
    };
}

quantity!(Rate, "rate", RATE_UNITS);
quantity!(Size, "size", SIZE_UNITS);
quantity!(Time, "time", TIME_UNITS);

impl Rate {
    /// Bytes that pass in `time`, rounded down.
    pub fn bytes_in(self, time: Time) -> u64 {
        (u128::from(self.0) * u128::from(time.0) / 8_000_000_000) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates_sizes_and_times_read_as_tc_reads_them() {
        assert_eq!("10mbit".parse(), Ok(Rate(10_000_000)));
        assert_eq!("1.5gbit".parse(), Ok(Rate(1_500_000_000)));
        assert_eq!("800Kbit".parse(), Ok(Rate(800_000)));
        assert_eq!("125kbps".parse(), Ok(Rate(1_000_000)));
        assert_eq!("64000".parse(), Ok(Rate(64_000)));
        assert_eq!("32k".parse(), Ok(Size(32_768)));
        assert_eq!("10mb".parse(), Ok(Size(10 << 20)));
        assert_eq!("1.5k".parse(), Ok(Size(1_536)));
        assert_eq!("5ms".parse(), Ok(Time(5_000_000)));
        assert_eq!("0.5s".parse(), Ok(Time(500_000_000)));
    }

    #[test]
    fn what_cannot_be_read_exactly_is_refused_with_the_reason() {
        let cases = [
            ("", "does not begin with a number"),
            ("mbit", "does not begin with a number"),
            ("-1mbit", "where one of"),
            ("1..5mbit", "does not begin with a number"),
            ("1.mbit", "does not begin with a number"),
            ("10mbits", "`mbits` where one of tbit, gbit, mbit"),
            ("0.5bit", "not a whole number of bit"),
            ("1e6", "`e6` where one of"),
            ("99999999999gbit", "too large"),
            ("10 mbit", "` mbit` where one of"),
        ];
        for (text, reason) in cases {
            let error = text.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains(&format!("`{text}`")), "{error}");
        }
        let error = "5".parse::<Time>().unwrap_err().to_string();
        assert!(error.contains("no unit where one of s, ms, us, ns"), "{error}");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_the_same(value in 0..=i64::MAX as u64, small in 0u64..5_000_000) {
            for value in [value, small] {
                prop_assert_eq!(Rate(value).to_string().parse(), Ok(Rate(value)));
                prop_assert_eq!(Size(value).to_string().parse(), Ok(Size(value)));
                prop_assert_eq!(Time(value).to_string().parse(), Ok(Time(value)));
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in ".{0,30}") {
            let _ = (text.parse::<Rate>(), text.parse::<Size>(), text.parse::<Time>());
        }
    }
}
