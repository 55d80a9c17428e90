//! Names of domains, as DNS has them (RFC 1035 section 2.3.1, RFC 1123 section 2.1).

use std::fmt;

use crate::config::field::{Field, Refusal};
use crate::config::form::Form;
use crate::config::toml_text::quoted;

/// A domain, without the dot of the root.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DomainName(String);

impl DomainName {
    /// As messages have it (RFC 1035 section 3.1): each label behind its length, and an empty one.
    pub fn encoded(&self) -> Vec<u8> {
        let label = |label: &str| [&[label.len() as u8], label.as_bytes()].concat();
        let mut bytes: Vec<u8> = self.0.split('.').flat_map(label).collect();
        bytes.push(0);
        bytes
    }
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_label(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=63).contains(&text.len())
        && text.bytes().all(is_plain)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

impl Field for DomainName {
    const EXPECTED: &'static str = "a domain name, as in \"example.net\"";
    const FORM: Form = Form::Text("^[0-9A-Za-z_]([0-9A-Za-z._-]*[0-9A-Za-z_])?[.]?$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let name = text.strip_suffix('.').unwrap_or(text);
        // 255 octets as messages have it.
        let is_one = name.len() <= 253 && name.split('.').all(is_label);
        if is_one { Ok(Self(name.to_owned())) } else { Err(Refusal::default()) }
    }

    fn to_toml(&self) -> String {
        quoted(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_labels_behind_their_lengths() {
        let name = DomainName::from_text("ab.example.").unwrap();
        assert_eq!(
            (name.to_string(), name.to_toml()),
            ("ab.example".into(), "\"ab.example\"".into())
        );
        assert_eq!(name.encoded(), b"\x02ab\x07example\0");
        let long = format!("{}.net", "a".repeat(64));
        for wrong in ["", ".", "a..b", "-a.net", "a-.net", "a b", &long, &"a.".repeat(128)] {
            assert!(DomainName::from_text(wrong).is_err(), "{wrong}");
        }
        assert!(DomainName::from_text(&"a.".repeat(127)).is_ok());
    }
}
