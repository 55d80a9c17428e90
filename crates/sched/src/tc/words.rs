//! The words of one command, and who of Linux would refuse it.

use crate::{ClassId, Error};

/// What `tc` exits with where it refuses itself, where the kernel does, and where a handle is none.
const TC: u8 = 1;
pub(super) const KERNEL: u8 = 2;
const ARGUMENT: u8 = 255;

/// The words of one command that are still to be read.
#[derive(Clone)]
pub(super) struct Words<'a> {
    pub(super) line: usize,
    words: std::iter::Peekable<std::vec::IntoIter<&'a str>>,
}

impl<'a> Words<'a> {
    pub(super) fn new(line: usize, text: &'a str) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        Self { line, words: words.into_iter().peekable() }
    }

    pub(super) fn next(&mut self) -> Option<&'a str> {
        self.words.next()
    }

    pub(super) fn peek(&mut self) -> Option<&'a str> {
        self.words.peek().copied()
    }

    /// What `tc` cannot read.
    pub(super) fn refuse<V>(&self, reason: impl Into<String>) -> Result<V, Error> {
        Err(Error::Tc { line: self.line, status: TC, reason: reason.into() })
    }

    /// What the kernel would not do.
    pub(super) fn deny<V>(&self, reason: impl Into<String>) -> Result<V, Error> {
        Err(Error::Tc { line: self.line, status: KERNEL, reason: reason.into() })
    }

    /// The word that must follow `after`.
    pub(super) fn value(&mut self, after: &str) -> Result<&'a str, Error> {
        match self.next() {
            Some(word) => Ok(word),
            None => self.refuse(format!("nothing follows `{after}`")),
        }
    }

    /// The value that must follow `after`, read by its own reader.
    pub(super) fn parsed<V>(&mut self, after: &str) -> Result<V, Error>
    where
        V: std::str::FromStr,
        V::Err: std::fmt::Display,
    {
        let word = self.value(after)?;
        match word.parse() {
            Ok(value) => Ok(value),
            Err(error) => self.refuse(format!("{after} `{word}`: {error}")),
        }
    }

    /// A hexadecimal number, as `tc` reads minors and masks.
    pub(super) fn hexadecimal(&mut self, after: &str) -> Result<u16, Error> {
        let word = self.value(after)?;
        let digits = word.strip_prefix("0x").unwrap_or(word);
        match u16::from_str_radix(digits, 16) {
            Ok(value) => Ok(value),
            Err(error) => self.refuse(format!("{after} `{word}`: {error}")),
        }
    }

    /// A class or a qdisc; `tc` needs no colon behind the latter.
    pub(super) fn class_id(&mut self, after: &str) -> Result<ClassId, Error> {
        let word = self.value(after)?;
        let read = if word.contains(':') || word == "none" {
            word.parse()
        } else {
            format!("{word}:").parse()
        };
        read.map_err(|error| Error::Tc {
            line: self.line,
            status: ARGUMENT,
            reason: format!("{after} `{word}`: {error}"),
        })
    }

    pub(super) fn unknown<V>(&self, what: &str, word: &str) -> Result<V, Error> {
        self.refuse(format!("{what} has no option `{word}` here"))
    }
}
