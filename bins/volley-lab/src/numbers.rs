//! Numbers of the command line, with k, M or G behind them.

use std::time::Duration;

use lab_traffic::rate::with_prefix;

/// A number.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    with_prefix(text).ok_or_else(|| "not a number, as in 14.88M".to_owned())
}

/// A whole number, not negative.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let value = number(text)?;
    match value >= 0.0 && value.fract() == 0.0 {
        true => Ok(value as u64),
        false => Err("not a whole number".to_owned()),
    }
}

/// Seconds, from a microsecond to a day.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let value = number(text)?;
    let usual = (1e-6..=86_400.0).contains(&value);
    usual
        .then(|| Duration::from_secs_f64(value))
        .ok_or_else(|| "out of range (1 us to a day)".to_owned())
}

/// The same in milliseconds.
pub(crate) fn milliseconds(text: &str) -> Result<Duration, String> {
    seconds(&(number(text)? / 1e3).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_have_a_prefix_and_counts_are_whole() {
        assert_eq!((number("1.5M"), count("2k")), (Ok(1.5e6), Ok(2_000)));
        assert!(number("many").is_err() && count("1.5").is_err() && count("-1").is_err());
        assert_eq!(milliseconds("5"), Ok(Duration::from_millis(5)));
        assert!(seconds("0").is_err() && seconds("1M").is_err());
    }
}
