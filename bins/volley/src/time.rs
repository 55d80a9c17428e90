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

/// Whole seconds, rounded up: nobody is given less time than asked for.
pub(crate) fn seconds(time: Duration) -> u32 {
    let whole = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    u32::try_from(whole).unwrap_or(u32::MAX)
}
