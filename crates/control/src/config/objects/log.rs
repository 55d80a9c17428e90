//! `[log]`: how the log is written, and how much of what happens.

use super::Object;
use crate::config::declare::object;
use crate::config::field::word_field;
use crate::config::row::Row;
use crate::config::rows::Section;

word_field! {
    /// How lines are written.
    Format {
        /// To the journal when systemd started the router, else as text.
        Auto = "auto",
        /// For reading.
        Text = "text",
        /// One object a line.
        Json = "json",
        /// Entries of systemd's journal, with fields.
        Journald = "journald",
    }
}

word_field! {
    /// The least grave that is kept.
    Level {
        /// What failed.
        Error = "error",
        /// And what went wrong and was got over.
        Warn = "warn",
        /// And what an operator wants to find afterwards.
        Info = "info",
        /// And what helps to find a fault.
        Debug = "debug",
        /// Everything.
        Trace = "trace",
    }
}

object! {
    /// How the log is written, and how much of it
    pub struct Log {
        /// How it is written; auto: to the journal when systemd started the router, else as text
        pub format: Format = Format::Auto,
        /// The least grave event that is told
        pub level: Level = Level::Info,
    }
}

impl Log {
    /// How the log is written.
    pub fn events_format(&self) -> events::Format {
        match self.format {
            Format::Auto => events::Format::Auto,
            Format::Text => events::Format::Text,
            Format::Json => events::Format::Json,
            Format::Journald => events::Format::Journald,
        }
    }

    /// The least grave event that is kept.
    pub fn events_level(&self) -> events::Level {
        match self.level {
            Level::Error => events::Level::Error,
            Level::Warn => events::Level::Warn,
            Level::Info => events::Level::Info,
            Level::Debug => events::Level::Debug,
            Level::Trace => events::Level::Trace,
        }
    }

    /// Has the program's log be as this says, if it was another before.
    pub(crate) fn follow(&self, before: &Self) {
        if self.format != before.format {
            events::hub().set_format(self.events_format());
        }
        if self.level != before.level {
            events::hub().set_level(self.events_level());
        }
    }
}

impl Row for Log {
    const KIND: &'static str = "log";
}

impl Section for Log {}

impl Object for Log {}
