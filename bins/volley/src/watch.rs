//! `--watch`: the same view again and again, counters as what came since the last.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::error::CliError;
use crate::session::Session;
use crate::show::Wanted;

/// Clears the screen and goes to its top.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Shows one view until interrupted; in JSON, one line a reading.
pub(crate) fn watch(session: &Session, wanted: &Wanted, seconds: u64) -> Result<(), CliError> {
    let output = session.output;
    let mut before: Option<(Value, Instant)> = None;
    loop {
        let now = Instant::now();
        let answer = session.client.get(&wanted.path)?;
        if output.json {
            output.text(&format!("{answer}\n"))?;
        } else {
            let text = match &before {
                Some((then, at)) => wanted.rates(then, answer.clone(), now - *at, output.style)?,
                None => wanted.text(answer.clone(), output.style)?,
            };
            output.bytes(CLEAR.as_bytes())?;
            output.text(&text)?;
        }
        before = Some((answer, now));
        sleep(Duration::from_secs(seconds));
    }
}
