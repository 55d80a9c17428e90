//! Parameters as a URL has them.

use serde::Serialize;
use serde_json::Value;

/// The fields that are there, behind a `?`; empty where none is.
pub fn query(parameters: &impl Serialize) -> String {
    let Ok(Value::Object(fields)) = serde_json::to_value(parameters) else { return String::new() };
    let mut query = String::new();
    for (key, value) in fields {
        let value = match value {
            Value::Null | Value::Bool(false) => continue,
            Value::String(text) => text,
            value => value.to_string(),
        };
        query.push(if query.is_empty() { '?' } else { '&' });
        query.push_str(&format!("{key}={}", value.bytes().map(escaped).collect::<String>()));
    }
    query
}

/// What names and prefixes can hold needs no escaping; anything else is escaped whole.
fn escaped(byte: u8) -> String {
    match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b':' | b'/' | b'-' | b'_' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_named_and_escaped() {
        let fields = serde_json::json!({ "a": "x y&z", "b": null, "c": true, "d": false, "e": 7 });
        assert_eq!(query(&fields), "?a=x%20y%26z&c=true&e=7");
        assert_eq!(query(&serde_json::json!({ "b": null })), "");
    }
}
