//! Rates, sizes, times, class names and curves as fields: read and written by `sched` itself.

use sched::units::{Rate, Size, Time};
use sched::{ClassId, Curve, Isolation, LinkLayer, Ports, Prefix, Shape, Tins};
use toml::de::DeValue;

use crate::config::field::{Field, Refusal, refuse_word};
use crate::config::form::Form;
use crate::config::toml_text::quoted;

/// What `sched` says of a text that it cannot read.
fn refuse<E: ToString>(error: E) -> Refusal {
    Refusal { message: Some(error.to_string()), suggestion: None }
}

macro_rules! sched_texts {
    ($($type:ty = $expected:literal),* $(,)?) => {$(
        impl Field for $type {
            const EXPECTED: &'static str = $expected;

            fn from_text(text: &str) -> Result<Self, Refusal> {
                text.parse().map_err(refuse::<sched::Error>)
            }

            fn to_toml(&self) -> String {
                quoted(&self.to_string())
            }
        }
    )*};
}
sched_texts!(
    Rate = "a rate, as in \"10mbit\", \"1.5gbit\" or \"800kbit\"",
    Time = "a time with its unit, as in \"5ms\" or \"100us\"",
    ClassId = "a class as tc names it, as in \"1:10\": two hexadecimal numbers",
    Prefix = "an address or a network, as in \"10.0.0.0/8\"",
);

macro_rules! sched_words {
    ($($type:ty = $expected:literal),* $(,)?) => {$(
        impl Field for $type {
            const EXPECTED: &'static str = $expected;
            const FORM: Form = Form::Word;
            const WORDS: &'static [&'static str] = <$type>::WORDS;

            fn from_text(text: &str) -> Result<Self, Refusal> {
                text.parse().map_err(|_: sched::Error| refuse_word(text, <$type>::WORDS))
            }

            fn to_toml(&self) -> String {
                quoted(&self.to_string())
            }
        }
    )*};
}
sched_words!(
    LinkLayer = "one of \"ethernet\", \"atm\", \"adsl\"",
    Tins = "one of \"besteffort\", \"precedence\", \"diffserv3\", \"diffserv4\", \"diffserv8\"",
    Isolation = "one of \"flowblind\", \"srchost\", \"dsthost\", \"hosts\", \"flows\", \
                 \"dual-srchost\", \"dual-dsthost\", \"triple-isolate\"",
);

impl Field for Size {
    const EXPECTED: &'static str = "a size, as in \"32kb\", or a number of bytes";
    const FORM: Form = Form::TextOrNumber("", 0, i64::MAX as u64);

    fn from_text(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(refuse::<sched::Error>)
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string())
    }
}

impl Field for Curve {
    const EXPECTED: &'static str =
        "a rate, as in \"5mbit\", or two pieces, as in \"m1 5mbit d 10ms m2 1mbit\"";

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            [rate] => Ok(Self::straight(Rate::from_text(rate)?)),
            ["m1", m1, "d", d, "m2", m2] => Ok(Self {
                m1: Rate::from_text(m1)?,
                d: Time::from_text(d)?,
                m2: Rate::from_text(m2)?,
            }),
            _ => Err(refuse(format!("`{text}` is not a curve"))),
        }
    }

    fn to_toml(&self) -> String {
        if *self == Self::straight(self.m2) {
            return self.m2.to_toml();
        }
        quoted(&format!("m1 {} d {} m2 {}", self.m1, self.d, self.m2))
    }
}

/// A discipline, by `tc`'s name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(pub &'static str);

impl Field for Kind {
    const EXPECTED: &'static str = "a discipline, as in \"fq_codel\"";

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let kinds = Shape::kinds();
        let kind = kinds.iter().find(|kind| **kind == text);
        kind.map(|kind| Self(kind)).ok_or_else(|| {
            let refusal = refuse_word(text, &kinds);
            let there_are = || format!("there are {}", kinds.join(", "));
            Refusal { suggestion: refusal.suggestion.or_else(|| Some(there_are())), ..refusal }
        })
    }

    fn to_toml(&self) -> String {
        quoted(self.0)
    }
}

impl Field for [u8; 16] {
    const EXPECTED: &'static str = "16 bands, one for each priority";

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let bands: Result<Vec<u8>, _> = text.split_whitespace().map(str::parse).collect();
        bands.ok().and_then(|bands| bands.try_into().ok()).ok_or_else(Refusal::default)
    }

    fn from_value(value: &DeValue<'_>) -> Result<Self, Refusal> {
        let DeValue::Array(items) = value else { return Err(Refusal::default()) };
        let bands: Result<Vec<u8>, Refusal> =
            items.iter().map(|item| u8::from_value(item.get_ref())).collect();
        let bands = bands?;
        let message = format!("`priomap` has {} entries", bands.len());
        bands.try_into().map_err(|_| Refusal { message: Some(message), suggestion: None })
    }

    fn to_toml(&self) -> String {
        format!("[{}]", self.map(|band| band.to_string()).join(", "))
    }
}

/// A port, or the first and the last of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortRange(pub Ports);

impl Field for PortRange {
    const EXPECTED: &'static str = "a port or a range of them, as in 443 or \"5060-5062\"";
    const FORM: Form = Form::TextOrNumber(r"^\s*[0-9]+\s*(-\s*[0-9]+\s*)?$", 0, 65_535);

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let port = |text: &str| text.trim().parse::<u16>().map_err(|_| Refusal::default());
        Ok(Self(Ports { first: port(first)?, last: port(last)? }))
    }

    fn to_toml(&self) -> String {
        match self.0 {
            Ports { first, last } if first == last => first.to_string(),
            Ports { first, last } => quoted(&format!("{first}-{last}")),
        }
    }
}

/// Protocols with a name.
const PROTOCOLS: [(&str, u8); 6] =
    [("icmp", 1), ("tcp", 6), ("udp", 17), ("gre", 47), ("icmp6", 58), ("sctp", 132)];

/// An IP protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Protocol(pub u8);

impl From<u8> for Protocol {
    fn from(number: u8) -> Self {
        Self(number)
    }
}

impl From<Protocol> for u8 {
    fn from(Protocol(number): Protocol) -> Self {
        number
    }
}

impl From<Ports> for PortRange {
    fn from(ports: Ports) -> Self {
        Self(ports)
    }
}

impl From<PortRange> for Ports {
    fn from(PortRange(ports): PortRange) -> Self {
        ports
    }
}

impl Field for Protocol {
    const EXPECTED: &'static str = "icmp, tcp, udp, gre, icmp6, sctp or a number from 0 to 255";
    const FORM: Form = Form::TextOrNumber("^([0-9]+|icmp|tcp|udp|gre|icmp6|sctp)$", 0, 255);

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let named = PROTOCOLS.iter().find(|(name, _)| *name == text).map(|&(_, number)| number);
        named.or_else(|| text.parse().ok()).map(Self).ok_or_else(Refusal::default)
    }

    fn to_toml(&self) -> String {
        match PROTOCOLS.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => quoted(name),
            None => self.0.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_read_back_what_they_write() {
        for text in ["5mbit", "m1 5mbit d 10ms m2 1mbit", "m1 0bit d 10ms m2 1mbit"] {
            let curve = Curve::from_text(text).unwrap();
            assert_eq!(curve.to_toml(), quoted(text));
        }
        assert!(Curve::from_text("m1 5mbit").is_err());
        assert!(Curve::from_text("5 mbit").is_err());
    }

    #[test]
    fn ports_and_protocols_have_names_and_numbers() {
        let ports = |text| PortRange::from_text(text).unwrap().to_toml();
        assert_eq!((ports("443").as_str(), ports("1-9").as_str()), ("443", "\"1-9\""));
        assert!(PortRange::from_text("70000").is_err());
        assert_eq!(Protocol::from_text("udp").unwrap(), Protocol(17));
        assert_eq!(
            (Protocol(6).to_toml().as_str(), Protocol(99).to_toml().as_str()),
            ("\"tcp\"", "99")
        );
        assert!(Protocol::from_text("256").is_err());
    }
}
