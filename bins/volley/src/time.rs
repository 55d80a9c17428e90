//! Times that commands take.

use std::time::Duration;

use control::config::field::Field;

/// A time with its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    Duration::from_text(text).map_err(|refusal| {
        let message = refusal.message.unwrap_or_else(|| format!("`{text}` is no time"));
        format!("{message}: expected {}", Duration::EXPECTED)
    })
}

/// A time with its unit, or seconds, whole or not, as ping(8) has them.
pub(crate) fn interval(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.map_or_else(|| duration(text), Ok)
}

/// Whole seconds, rounded up: nobody is given less time than asked for.
pub(crate) fn seconds(time: Duration) -> u32 {
    let whole = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    u32::try_from(whole).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_seconds_or_has_its_unit() {
        let ms = |text| interval(text).map(|time| time.as_millis());
        assert_eq!(
            [ms("0.2"), ms("2"), ms("200ms"), ms("1s")].map(Result::ok),
            [200, 2000, 200, 1000].map(Some)
        );
        for wrong in ["", "-1", "soon", "inf", "1e99"] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
    }
}
