//! Where results go: text for people, JSON for programs, colour only where it is seen.

use std::io::{self, IsTerminal, Write};

use control::view::Style;
use serde_json::Value;

use crate::client::typed;
use crate::error::CliError;
use crate::printable::printable;

/// Coloured on a terminal, unless NO_COLOR says otherwise (no-color.org).
pub(crate) fn style_of_stdout() -> Style {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Style::new(io::stdout().is_terminal() && !refused)
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
        self.text(&text(typed(answer)?, self.style))
    }

    /// Writes JSON.
    pub(crate) fn json(self, value: &Value) -> Result<(), CliError> {
        self.text(&format!("{value:#}\n"))
    }

    /// Writes text.
    pub(crate) fn text(self, text: &str) -> Result<(), CliError> {
        self.bytes(printable(text).as_bytes())
    }

    /// Writes what is for programs, which a terminal would take for its own commands.
    pub(crate) fn binary(self, bytes: &[u8]) -> Result<(), CliError> {
        for_programs()?;
        self.bytes(bytes)
    }

    /// Writes bytes.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(())
    }
}

/// Refuses to write what is for programs where a person reads.
pub(crate) fn for_programs() -> Result<(), CliError> {
    let text = "error: standard output is a terminal: lead it into a program, or name a file\n";
    match io::stdout().is_terminal() {
        true => Err(CliError::Usage(text.to_owned())),
        false => Ok(()),
    }
}
