//! What ports are called.

use std::fmt;

use crate::config::field::{Field, Refusal};
use crate::config::form::Form;
use crate::config::key::name_key;
use crate::config::toml_text::quoted;

/// A port's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortName(String);

impl PortName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The regular expression of names.
const NAME: &str = "^[A-Za-z][A-Za-z0-9._-]{0,14}$";

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Field for PortName {
    const EXPECTED: &'static str =
        "a port name: a letter, then up to 14 letters, digits, `-`, `_` or `.`";
    const FORM: Form = Form::Text(NAME);
    const NAMES: &'static str = "port";

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let letter = text.starts_with(|c: char| c.is_ascii_alphabetic());
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if letter && plain && text.len() <= 15 {
            return Ok(Self(text.to_owned()));
        }
        Err(Refusal { message: Some(format!("`{text}` is not a port name")), suggestion: None })
    }

    fn to_toml(&self) -> String {
        quoted(&self.0)
    }
}

name_key!(PortName = "a port name");
