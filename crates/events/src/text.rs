//! An event as a line for reading.
//!
//! ```text
//!  2026-11-24T10:45:20.123Z  WARN router::twins: its twin is gone  port=p2
//! ```

use crate::Event;
use serde_json::Value;
use std::fmt::Write;

/// The line, without its end. Nothing in an event can begin another line.
pub fn line(event: &Event) -> String {
    let level = event.level.name().to_uppercase();
    let mut line = format!("{} {level:>5} {}: ", event.time, event.source);
    escape(&event.message, &mut line);
    for (index, (name, value)) in event.fields.iter().enumerate() {
        line.push_str(if index == 0 { "  " } else { " " });
        escape(name, &mut line);
        line.push('=');
        match value {
            Value::String(text) if is_plain(text) => line.push_str(text),
            Value::String(text) => {
                line.push('"');
                escape(&text.replace('"', "\\\""), &mut line);
                line.push('"');
            }
            other => escape(&other.to_string(), &mut line),
        }
    }
    line
}

/// Needs no quotes.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"')
}

fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '\n' => into.push_str("\\n"),
            c if c.is_control() => drop(write!(into, "\\u{{{:x}}}", u32::from(c))),
            c => into.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    #[test]
    fn an_event_is_one_line_whatever_is_in_it() {
        let event = Event {
            number: 1,
            time: "2026-11-24T10:45:20.123Z".into(),
            level: Level::Warn,
            source: "router".into(),
            message: "two\nlines\x1b[2J".into(),
            fields: [
                ("count".to_owned(), Value::from(3)),
                ("port".to_owned(), Value::from("p2")),
                ("why".to_owned(), Value::from("no \"room\"\n")),
            ]
            .into(),
        };
        let expected = r#"2026-11-24T10:45:20.123Z  WARN router: two\nlines\u{1b}[2J  count=3 port=p2 why="no \"room\"\n""#;
        assert_eq!(line(&event), expected);
    }
}
