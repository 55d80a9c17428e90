//! Values of columns (RFC 7047, 5.1): atoms, and sets and maps of them.

use crate::fault::{Fault, excerpt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// What an atom takes, but for its text.
const ATOM_BYTES: usize = size_of::<Atom>();

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Atom {
    /// A row.
    Uuid(String),
    /// A text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A number.
    Real(f64),
    /// Yes or no.
    Bool(bool),
}

/// What a column has. A value alone is a set of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// Values without order; none, one or many.
    Set(Vec<Atom>),
    /// Values by texts or numbers.
    Map(Vec<(Atom, Atom)>),
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uuid(text) | Self::Text(text) => f.write_str(text),
            Self::Whole(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
            Self::Bool(is_so) => is_so.fmt(f),
        }
    }
}

impl Default for Datum {
    fn default() -> Self {
        Self::Set(Vec::new())
    }
}

fn wrong(value: &Value) -> Fault {
    Fault::Malformed(format!("{} is no value of a column", excerpt(&value.to_string())))
}

impl Atom {
    fn read(value: &Value) -> Result<Self, Fault> {
        match value {
            Value::String(text) => Ok(Self::Text(text.clone())),
            Value::Bool(is_so) => Ok(Self::Bool(*is_so)),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => Ok(Self::Whole(number)),
                (None, Some(number)) => Ok(Self::Real(number)),
                (None, None) => Err(wrong(value)),
            },
            Value::Array(pair) => match &pair[..] {
                [Value::String(kind), Value::String(text)]
                    if kind == "uuid" || kind == "named-uuid" =>
                {
                    Ok(Self::Uuid(text.clone()))
                }
                _ => Err(wrong(value)),
            },
            _ => Err(wrong(value)),
        }
    }

    /// As the protocol writes it.
    pub fn write(&self) -> Value {
        match self {
            Self::Uuid(text) => json!(["uuid", text]),
            Self::Text(text) => json!(text),
            Self::Whole(number) => json!(number),
            Self::Real(number) => json!(number),
            Self::Bool(is_so) => json!(is_so),
        }
    }
}

impl Datum {
    /// A text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Set(vec![Atom::Text(text.into())])
    }

    /// A number alone.
    pub fn whole(number: i64) -> Self {
        Self::Set(vec![Atom::Whole(number)])
    }

    /// A text, or nothing.
    pub fn maybe_text(text: Option<impl Into<String>>) -> Self {
        text.map_or_else(Self::default, Self::text)
    }

    /// Texts or numbers by name.
    pub fn map<'a>(pairs: impl IntoIterator<Item = (&'a str, Atom)>) -> Self {
        let pairs = pairs.into_iter().map(|(key, value)| (Atom::Text(key.to_owned()), value));
        Self::Map(pairs.collect()).in_order()
    }

    /// Reads what stands in a message.
    pub fn read(value: &Value) -> Result<Self, Fault> {
        let Value::Array(pair) = value else { return Ok(Self::Set(vec![Atom::read(value)?])) };
        let read = match &pair[..] {
            [Value::String(kind), Value::Array(items)] if kind == "set" => {
                Self::Set(items.iter().map(Atom::read).collect::<Result<_, _>>()?)
            }
            [Value::String(kind), Value::Array(items)] if kind == "map" => {
                let pair = |item: &Value| match item.as_array().map(Vec::as_slice) {
                    Some([key, value]) => Ok((Atom::read(key)?, Atom::read(value)?)),
                    _ => Err(wrong(item)),
                };
                Self::Map(items.iter().map(pair).collect::<Result<_, _>>()?)
            }
            _ => Self::Set(vec![Atom::read(value)?]),
        };
        Ok(read.in_order())
    }

    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let of = |atom: &Atom| match atom {
            Atom::Uuid(text) | Atom::Text(text) => ATOM_BYTES + text.len(),
            Atom::Whole(_) | Atom::Real(_) | Atom::Bool(_) => ATOM_BYTES,
        };
        match self {
            Self::Set(items) => items.iter().map(of).sum(),
            Self::Map(pairs) => pairs.iter().map(|(key, value)| of(key) + of(value)).sum(),
        }
    }

    /// Servers and we order as we like; equal is what has the same in it.
    fn in_order(mut self) -> Self {
        match &mut self {
            Self::Set(items) => items.sort_by_key(Atom::to_string),
            Self::Map(pairs) => pairs.sort_by_key(|(key, _)| key.to_string()),
        }
        self
    }

    /// As the protocol writes it.
    pub fn write(&self) -> Value {
        match self {
            Self::Set(items) => match &items[..] {
                [one] => one.write(),
                _ => json!(["set", items.iter().map(Atom::write).collect::<Vec<_>>()]),
            },
            Self::Map(pairs) => {
                let pairs = pairs.iter().map(|(key, value)| json!([key.write(), value.write()]));
                json!(["map", pairs.collect::<Vec<_>>()])
            }
        }
    }

    /// Its values; of a map none.
    pub fn atoms(&self) -> &[Atom] {
        match self {
            Self::Set(items) => items,
            Self::Map(_) => &[],
        }
    }

    /// Its only value.
    pub fn one(&self) -> Option<&Atom> {
        match self.atoms() {
            [one] => Some(one),
            _ => None,
        }
    }

    /// The rows that it names.
    pub fn uuids(&self) -> impl Iterator<Item = &str> {
        self.atoms().iter().filter_map(|atom| match atom {
            Atom::Uuid(text) => Some(&text[..]),
            _ => None,
        })
    }

    /// Its pairs, as texts.
    pub fn pairs(&self) -> BTreeMap<String, String> {
        match self {
            Self::Set(_) => BTreeMap::new(),
            Self::Map(pairs) => {
                pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_read_back_as_they_were_written() {
        for value in [
            json!("text"),
            json!(7),
            json!(true),
            json!(["uuid", "36bef046"]),
            json!(["set", []]),
            json!(["set", ["a", "b"]]),
            json!(["map", [["a", "1"], ["b", "2"]]]),
            json!(["map", [[0, ["uuid", "x"]], [1, ["uuid", "y"]]]]),
        ] {
            assert_eq!(Datum::read(&value).unwrap().write(), value);
        }
        let unordered = json!(["set", ["b", "a"]]);
        assert_eq!(Datum::read(&unordered).unwrap().write(), json!(["set", ["a", "b"]]));
        assert_eq!(Datum::read(&json!(1.5)).unwrap(), Datum::Set(vec![Atom::Real(1.5)]));
    }

    #[test]
    fn what_is_no_value_is_told() {
        for value in [
            json!({}),
            json!(null),
            json!(["set", [[]]]),
            json!(["map", [["a"]]]),
            json!(["map", ["a"]]),
            json!(["uuid", 1]),
            json!([]),
        ] {
            let told = Datum::read(&value).unwrap_err().to_string();
            assert!(told.contains("is no value of a column"), "{told}");
        }
    }
}
