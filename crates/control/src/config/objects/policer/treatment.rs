//! What becomes of packets: `"drop"`, `"pass"`, or marks that they get, as in `"dscp af12"` and
//! `"dscp 0 pcp 1"`.

use crate::config::field::{Field, Refusal};
use crate::config::form::Form;
use crate::config::toml_text::quoted;

/// A differentiated services code point (RFC 2474), by number or by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dscp(pub u8);

/// A priority code point of a VLAN tag, 0 to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pcp(pub u8);

/// What is written into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Mark {
    /// Into their IP header.
    pub dscp: Option<Dscp>,
    /// Into their outer VLAN tag, where they have one.
    pub pcp: Option<Pcp>,
}

/// What becomes of packets of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// They are dropped.
    Drop,
    /// They go on, with marks perhaps.
    Pass(Mark),
}

impl Treatment {
    /// They go on as they are.
    pub const PASS: Self = Self::Pass(Mark { dscp: None, pcp: None });
}

impl Dscp {
    /// The name that it has (RFC 2474, 2597, 3246, 5865).
    fn name(self) -> Option<String> {
        let (class, rest) = (self.0 >> 3, self.0 & 7);
        match (class, rest) {
            (0, 0) => Some("be".to_owned()),
            (5, 6) => Some("ef".to_owned()),
            (5, 4) => Some("va".to_owned()),
            (_, 0) => Some(format!("cs{class}")),
            (1..=4, 2 | 4 | 6) => Some(format!("af{class}{}", rest / 2)),
            _ => None,
        }
    }
}

impl Field for Dscp {
    const EXPECTED: &'static str = "a DSCP: 0 to 63, be, cs1 to cs7, af11 to af43, va or ef";
    const FORM: Form = Form::TextOrNumber("^([0-9]+|be|va|ef|cs[0-7]|af[1-4][1-3])$", 0, 63);

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let named = || (0..64).map(Self).find(|dscp| dscp.name().as_deref() == Some(text));
        let number = text.parse().ok().filter(|number| *number < 64).map(Self);
        number.or_else(named).ok_or_else(|| Refusal {
            message: Some(format!("`{text}` is not a DSCP")),
            suggestion: None,
        })
    }

    fn to_toml(&self) -> String {
        self.name().map_or_else(|| self.0.to_string(), |name| quoted(&name))
    }
}

impl Field for Pcp {
    const EXPECTED: &'static str = "a priority from 0 to 7";
    const FORM: Form = Form::TextOrNumber("^[0-7]$", 0, 7);

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let number = text.parse().ok().filter(|number| *number < 8).map(Self);
        number.ok_or_else(|| Refusal {
            message: Some(format!("`{text}` is not a priority")),
            suggestion: None,
        })
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}

impl Treatment {
    /// As a person writes it.
    pub fn text(self) -> String {
        let Self::Pass(Mark { dscp, pcp }) = self else { return "drop".to_owned() };
        let dscp = dscp.map(|dscp| format!("dscp {}", dscp.to_toml().replace('"', "")));
        let pcp = pcp.map(|pcp| format!("pcp {}", pcp.0));
        let marks: Vec<String> = dscp.into_iter().chain(pcp).collect();
        if marks.is_empty() { "pass".to_owned() } else { marks.join(" ") }
    }
}

impl Field for Treatment {
    const EXPECTED: &'static str =
        "\"pass\", \"drop\", or marks as in \"dscp af12\" and \"dscp 0 pcp 1\"";
    const FORM: Form = Form::Text("^(pass|drop|(dscp .*)?(pcp [0-7])?)$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["pass"] => Ok(Self::PASS),
            ["drop"] => Ok(Self::Drop),
            ["dscp", dscp] => {
                Ok(Self::Pass(Mark { dscp: Some(Dscp::from_text(dscp)?), pcp: None }))
            }
            ["pcp", pcp] => Ok(Self::Pass(Mark { dscp: None, pcp: Some(Pcp::from_text(pcp)?) })),
            ["dscp", dscp, "pcp", pcp] => {
                let (dscp, pcp) = (Dscp::from_text(dscp)?, Pcp::from_text(pcp)?);
                Ok(Self::Pass(Mark { dscp: Some(dscp), pcp: Some(pcp) }))
            }
            _ => Err(Refusal {
                message: Some(format!("`{text}` is not something that can be done with a packet")),
                suggestion: None,
            }),
        }
    }

    fn to_toml(&self) -> String {
        quoted(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn treatments_read_back_what_they_write() {
        for text in ["pass", "drop", "dscp af12", "dscp ef", "dscp 1 pcp 7", "pcp 0", "dscp be"] {
            assert_eq!(Treatment::from_text(text).unwrap().text(), text);
        }
        for text in ["", "dscp", "dscp 64", "pcp 8", "dscp af44", "pass drop", "dscp 1 pcp"] {
            assert!(Treatment::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn code_points_have_names_and_numbers() {
        let number = |text| Dscp::from_text(text).unwrap().0;
        assert_eq!(
            ["be", "cs6", "af11", "af43", "va", "ef", "63"].map(number),
            [0, 48, 10, 38, 44, 46, 63]
        );
        assert!((0..64).all(|dscp| {
            let text = Dscp(dscp).to_toml().replace('"', "");
            Dscp::from_text(&text) == Ok(Dscp(dscp))
        }));
    }
}
