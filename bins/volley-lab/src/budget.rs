//! `--budget`, of `run` and `plan`: time that is spent where least is known.

use std::time::Duration;

use clap::Args;

/// Time for all of it.
#[derive(Debug, Args)]
pub(crate) struct Budget {
    /// Time for all of it, as 30m, 2h or 90s: each device and case once, then again and again where
    /// the intervals are widest
    #[arg(long, value_name = "TIME", value_parser = time,
        conflicts_with = "restarts")]
    budget: Option<Duration>,
}

impl Budget {
    /// The time.
    pub(crate) fn time(&self) -> Option<Duration> {
        self.budget
    }
}

/// Hours, minutes and seconds, each with its letter.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let refused = || "not a time, as in 30m, 2h, 90s or 1h30m".to_owned();
    let (mut rest, mut seconds, mut last) = (text, 0.0, f64::INFINITY);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(refused)?;
        let (number, unit) = rest.split_at(end);
        let each = match unit.chars().next() {
            Some('h') => 3_600.0,
            Some('m') => 60.0,
            Some('s') => 1.0,
            _ => return Err(refused()),
        };
        if each >= last {
            return Err(refused());
        }
        last = each;
        seconds += each * number.parse::<f64>().map_err(|_| refused())?;
        rest = &unit[1..];
    }
    match (1.0..=30.0 * 86_400.0).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err("from a second to thirty days".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_letters() {
        let seconds = |text| time(text).map(|it| it.as_secs());
        assert_eq!(
            ["30m", "2h", "90s", "1h30m", "0.5h"].map(|it| seconds(it).unwrap()),
            [1800, 7200, 90, 5400, 1800]
        );
        for wrong in ["", "30", "m", "30x", "5m2h", "1m1m", "0s", "-5m", "9999h", "1..5h", "3µ"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
