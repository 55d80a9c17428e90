//! Where the log goes, and in which form: lines on stderr, JSON objects, or entries of the journal.

use crate::{Event, journal, text};
use std::io::{self, Write};
use std::os::unix::net::UnixDatagram;

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// To the journal when systemd started us, else as text.
    #[default]
    Auto,
    /// Lines for reading, on stderr.
    Text,
    /// JSON objects, one a line, on stderr.
    Json,
    /// Entries of systemd's journal, with fields.
    Journald,
}

impl Format {
    /// What writes so.
    pub fn sink(self) -> Box<dyn Sink> {
        match self {
            Self::Json => Box::new(Stderr(json)),
            Self::Journald => Box::new(Journal(None)),
            Self::Auto if journal::has_our_stderr() => Box::new(Journal(None)),
            Self::Text | Self::Auto => Box::new(Stderr(text::line)),
        }
    }
}

fn json(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

/// Where events are written.
pub trait Sink: Send {
    /// Writes one. May wait; nobody but the writer's thread waits with it.
    fn write(&mut self, event: &Event) -> io::Result<()>;
}

struct Stderr(fn(&Event) -> String);

impl Sink for Stderr {
    fn write(&mut self, event: &Event) -> io::Result<()> {
        // One call a line: lines of several threads and processes do not mix.
        let line = (self.0)(event) + "\n";
        io::stderr().write_all(line.as_bytes())
    }
}

/// Connected at the first event, and again when the journal was restarted; stderr until then.
struct Journal(Option<UnixDatagram>);

impl Sink for Journal {
    fn write(&mut self, event: &Event) -> io::Result<()> {
        let entry = journal::entry(event);
        for _ in 0..2 {
            if self.0.is_none() {
                self.0 = journal::connect().ok();
            }
            match self.0.as_ref().map(|socket| socket.send(&entry)) {
                Some(Ok(_)) => return Ok(()),
                _ => self.0 = None,
            }
        }
        Stderr(text::line).write(event)
    }
}
