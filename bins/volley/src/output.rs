//! Where results go: text for people, JSON for programs, colour only where it is seen.

use std::io::{self, IsTerminal, Write};

use serde_json::Value;

use crate::error::CliError;

/// Whether text is coloured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    coloured: bool,
}

impl Style {
    /// Coloured on a terminal, unless NO_COLOR says otherwise (no-color.org).
    pub(crate) fn of_stdout() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { coloured: io::stdout().is_terminal() && !refused }
    }

    /// Without colour.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { coloured: false }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.coloured { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Headings.
    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Less important.
    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// A step: removals red, additions green, the rest yellow.
    pub(crate) fn step(self, text: &str) -> String {
        let code = match text.as_bytes().first() {
            Some(b'-') => "31",
            Some(b'+') => "32",
            _ => "33",
        };
        self.paint(code, text)
    }
}

/// Where results go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// JSON and nothing else.
    pub(crate) json: bool,
    /// Colour.
    pub(crate) style: Style,
}

impl Output {
    /// Writes an answer: as it came for programs, or as `text` makes of it.
    pub(crate) fn answer<T: serde::de::DeserializeOwned>(
        self,
        answer: Value,
        text: impl FnOnce(T, Style) -> String,
    ) -> Result<(), CliError> {
        if self.json {
            return self.json(&answer);
        }
        let value = serde_json::from_value(answer)
            .map_err(|error| CliError::Broken(format!("not the answer expected: {error}")))?;
        self.text(&text(value, self.style))
    }

    /// Writes JSON.
    pub(crate) fn json(self, value: &Value) -> Result<(), CliError> {
        self.text(&format!("{value:#}\n"))
    }

    /// Writes text.
    pub(crate) fn text(self, text: &str) -> Result<(), CliError> {
        self.bytes(text.as_bytes())
    }

    /// Writes bytes.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(())
    }
}
