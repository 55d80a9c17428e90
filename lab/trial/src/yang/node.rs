//! A place in a JSON document that knows its path, so that every fault can be told where it is.
//!
//! ```text
//! /ietf-interfaces:interfaces/interface[2]/ietf-traffic-generator:traffic-generator/frame-size
//! ```

use serde_json::{Map, Value};

use crate::Error;

/// A document; a fault of its syntax is told at its line and column.
pub(super) fn json(text: &str, path: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(|error| {
        let told = error.to_string();
        let reason = told.split(" at line ").next().unwrap_or_default().to_owned();
        Error::Scenario { path: path.into(), line: error.line(), column: error.column(), reason }
    })
}

/// A fault and where it is.
#[derive(Debug, PartialEq)]
pub(super) struct Wrong {
    pub(super) at: String,
    pub(super) reason: String,
}

/// A value of a document.
#[derive(Debug, Clone)]
pub(super) struct Node<'v> {
    pub(super) path: String,
    pub(super) value: &'v Value,
}

impl<'v> Node<'v> {
    pub(super) fn root(value: &'v Value) -> Self {
        Self { path: String::new(), value }
    }

    pub(super) fn wrong(&self, reason: impl Into<String>) -> Wrong {
        let at = if self.path.is_empty() { "/" } else { &self.path };
        Wrong { at: at.to_owned(), reason: reason.into() }
    }

    fn object(&self) -> Result<&'v Map<String, Value>, Wrong> {
        self.value.as_object().ok_or_else(|| self.wrong("an object belongs here"))
    }

    /// Its members, in the order of their names.
    pub(super) fn members(&self) -> Result<impl Iterator<Item = (&'v str, Node<'v>)>, Wrong> {
        let path = self.path.clone();
        Ok(self.object()?.iter().map(move |(name, value)| {
            (name.as_str(), Node { path: format!("{path}/{name}"), value })
        }))
    }

    /// A member, if it is there.
    pub(super) fn member(&self, name: &str) -> Result<Option<Node<'v>>, Wrong> {
        let value = self.object()?.get(name);
        Ok(value.map(|value| Node { path: format!("{}/{name}", self.path), value }))
    }

    /// A member that must be there.
    pub(super) fn needed(&self, name: &str) -> Result<Node<'v>, Wrong> {
        self.member(name)?.ok_or_else(|| self.wrong(format!("{name} is missing")))
    }

    /// Refuses members of other names.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), Wrong> {
        match self.members()?.find(|(name, _)| !known.contains(name)) {
            Some((_, node)) => Err(node.wrong(match known {
                [] => "the lab has no use for this".to_owned(),
                known => format!("the lab has no use for this, but for {}", known.join(", ")),
            })),
            None => Ok(()),
        }
    }

    /// The entries of a list or leaf-list, counted from 1 as XPath does.
    pub(super) fn entries(&self) -> Result<Vec<Node<'v>>, Wrong> {
        let list = self.value.as_array().ok_or_else(|| self.wrong("a list belongs here"))?;
        let entry = |(index, value)| Node { path: format!("{}[{}]", self.path, index + 1), value };
        Ok(list.iter().enumerate().map(entry).collect())
    }

    /// Its entries in the order of their numbers.
    pub(super) fn entries_by_id(&self) -> Result<Vec<Node<'v>>, Wrong> {
        let numbered = |entry: Node<'v>| Ok((entry.needed("id")?.short()?, entry));
        let mut entries =
            self.entries()?.into_iter().map(numbered).collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(|(id, _)| *id);
        Ok(entries.into_iter().map(|(_, entry)| entry).collect())
    }

    /// A string.
    pub(super) fn text(&self) -> Result<&'v str, Wrong> {
        self.value.as_str().ok_or_else(|| self.wrong("a string belongs here"))
    }

    /// A number of the testers: up to 32 bits, and so a number in JSON, too.
    pub(super) fn short(&self) -> Result<u32, Wrong> {
        let number = self.value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.wrong("a whole number below 2^32 belongs here"))
    }

    /// A number of ours, as its digits: RFC 7951 has those of 64 bits as strings.
    pub(super) fn digits(&self) -> Result<&'v str, Wrong> {
        let text = self.value.as_str().unwrap_or_default();
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let plain = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
        let whole = whole.strip_prefix('-').unwrap_or(whole);
        match plain(whole) && plain(fraction) {
            true => Ok(text),
            false => Err(self.wrong("a number in quotes belongs here (RFC 7951 section 6.1)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn faults_know_their_path() {
        let value = json!({ "a:list": [{ "x": "1.5" }, { "x": 7, "y": true }] });
        let list = Node::root(&value).needed("a:list").unwrap().entries().unwrap();
        assert_eq!(list[0].needed("x").unwrap().digits(), Ok("1.5"));
        let told = list[1].needed("x").unwrap().digits().unwrap_err();
        assert_eq!(told.at, "/a:list[2]/x");
        assert_eq!(list[1].only(&["x"]).unwrap_err().at, "/a:list[2]/y");
        assert_eq!(list[1].needed("z").unwrap_err().reason, "z is missing");
        assert_eq!(Node::root(&value).entries().unwrap_err().at, "/");
    }

    #[test]
    fn only_plain_digits_are_a_number() {
        let is = |text: &str| Node::root(&json!(text)).digits().is_ok();
        assert!(is("0") && is("-1") && is("0.005") && is("18446744073709551615"));
        assert!(!is("") && !is("1e5") && !is(".5") && !is("5.") && !is("1 = 2") && !is("0x1"));
    }
}
