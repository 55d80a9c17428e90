//! Values of TOML as texts: as they are written, and as complaints tell them.

use std::fmt::Write;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::DeValue;

/// What stands there, for "is …".
pub(crate) fn found(value: &Spanned<DeValue<'_>>) -> String {
    match value.get_ref() {
        DeValue::String(text) => format!("\"{}\"", text.escape_debug()),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// A TOML basic string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A value as JSON that is written as TOML.
pub(crate) fn of_toml(toml: &str) -> Option<Value> {
    // Most are words, and there may be a million of them.
    let plain = toml.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    if let Some(text) = plain.filter(|text| !text.contains(['"', '\\'])) {
        return Some(text.into());
    }
    toml::from_str::<Map<String, Value>>(&format!("it = {toml}")).ok()?.remove("it")
}
