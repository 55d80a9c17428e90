//! `volley events`: what happened, and with `--follow` what happens.

use clap::Args;
use control::view::{Event, EventFilter, EventList, EventsAsked, Level, Missed, Style};
use events::line;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::CliError;
use crate::session::Session;

/// Events of the past that a follower begins with.
const BEGIN_WITH: u32 = 10;

/// Which events.
#[derive(Debug, Args)]
pub(crate) struct Events {
    /// Print events as they happen, until interrupted
    #[arg(long, short)]
    follow: bool,
    /// Only the latest so many of the past; 10 with --follow, otherwise all that are kept
    #[arg(long, value_name = "COUNT")]
    last: Option<u32>,
    /// Only those of this level or worse: error, warn, info, debug, trace
    #[arg(long, value_name = "LEVEL")]
    level: Option<Level>,
}

/// Prints them.
pub(crate) fn run(session: &Session, events: &Events) -> Result<(), CliError> {
    let output = session.output;
    let last = events.last.or(events.follow.then_some(BEGIN_WITH));
    let filter = EventFilter { level: events.level, last, follow: events.follow };
    let asked = EventsAsked { filter, seen: None };
    if !events.follow {
        return output
            .answer(session.client.make::<EventList>(asked)?, |events: Vec<Event>, style| {
                events.iter().map(|event| text(event, style)).collect()
            });
    }
    let mut missed = false;
    session.client.make_lines::<EventList>(asked, |told| {
        let Ok(told) = std::str::from_utf8(told) else { return Ok(()) };
        if let Some(kind) = told.strip_prefix("event: ") {
            missed = kind == "missed";
        }
        let Some(data) = told.strip_prefix("data: ") else { return Ok(()) };
        if output.json {
            return output.text(&format!("{data}\n"));
        }
        let line = match std::mem::take(&mut missed) {
            true => {
                let Missed { missed } = read(data)?;
                output.style.dim(&format!("{missed} events were missed\n"))
            }
            false => text(&read(data)?, output.style),
        };
        output.text(&line)
    })
}

fn read<T: DeserializeOwned>(data: &str) -> Result<T, CliError> {
    let value: Result<Value, _> = serde_json::from_str(data);
    value.and_then(serde_json::from_value).map_err(|error| CliError::Broken(error.to_string()))
}

fn text(event: &Event, style: Style) -> String {
    let line = line(event);
    let line = match event.level {
        Level::Error | Level::Warn => style.bold(&line),
        Level::Info => line,
        Level::Debug | Level::Trace => style.dim(&line),
    };
    line + "\n"
}
