//! What values are in the file.

use serde_json::{Value, json};

/// What a value is in the file.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// True or false.
    Boolean,
    /// A number, from one to another.
    Number(u64, u64),
    /// One of the field's words.
    Word,
    /// A text that this regular expression fits; empty: any.
    Text(&'static str),
    /// A text, or a number from one to another.
    TextOrNumber(&'static str, u64, u64),
    /// A table of the field's own fields, or what may stand for one.
    Table(Option<&'static Self>),
}

impl Form {
    /// What a value of it is, as JSON Schema; `words` are those that it can be, where they are few.
    pub(crate) fn schema(self, words: &[&str]) -> Value {
        match self {
            Self::Boolean => json!({ "type": "boolean" }),
            Self::Number(least, most) => number(least, most),
            Self::Word => json!({ "enum": words }),
            Self::Text(pattern) => text(pattern),
            Self::TextOrNumber(pattern, least, most) => {
                json!({ "anyOf": [text(pattern), number(least, most)] })
            }
            Self::Table(_) => json!({ "type": "object" }),
        }
    }
}

fn number(least: u64, most: u64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

fn text(pattern: &str) -> Value {
    match pattern {
        "" => json!({ "type": "string" }),
        pattern => json!({ "type": "string", "pattern": pattern }),
    }
}
