//! Values of fields: one reading from text, whether it came from a TOML value or a command word.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use toml::de::DeValue;
use wire::MacAddr;

use super::form::Form;
use super::info::Info;
use super::prefix::{InterfaceAddress, Prefix, PrefixError};
use super::report::{Problem, Report};
use super::suggest::nearest;
use super::toml_text::{found, quoted};
use super::words::{Word, Words};

/// Why a text is not the value a field wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// More exact than "expected …", where there is more to say.
    pub message: Option<String>,
    /// A likely cure.
    pub suggestion: Option<String>,
}

impl Refusal {
    fn because(message: impl ToString) -> Self {
        Self { message: Some(message.to_string()), suggestion: None }
    }

    fn suggesting(mut self, suggestion: Option<String>) -> Self {
        self.suggestion = suggestion;
        self
    }
}

/// A type that a field can have.
pub trait Field: Sized {
    /// Said after "expected".
    const EXPECTED: &'static str;

    /// What it is in the file.
    const FORM: Form = Form::Text("");

    /// The words that it can be, where they are few.
    const WORDS: &'static [&'static str] = &[];

    /// The kind of object whose names it takes, as in `port`; empty: none.
    const NAMES: &'static str = "";

    /// Reads a command word, or the text within a TOML string.
    fn from_text(text: &str) -> Result<Self, Refusal>;

    /// Reads a TOML value of its form.
    fn from_value(value: &DeValue<'_>) -> Result<Self, Refusal> {
        match (value, Self::FORM) {
            (DeValue::String(text), Form::Word | Form::Text(_) | Form::TextOrNumber(..)) => {
                Self::from_text(text)
            }
            (DeValue::String(text), Form::Boolean | Form::Number(..)) => {
                let meant = Self::from_text(text).ok();
                let bare = meant.map(|it| format!("write {} without quotes", it.to_toml()));
                Err(Refusal::default().suggesting(bare))
            }
            (DeValue::Integer(number), Form::Number(..) | Form::TextOrNumber(..)) => {
                let number = i128::from_str_radix(number.as_str(), number.radix());
                number
                    .map_or_else(|_| Err(Refusal::default()), |it| Self::from_text(&it.to_string()))
            }
            (DeValue::Boolean(is_so), Form::Boolean) => Self::from_text(&is_so.to_string()),
            _ => Err(Refusal::default()),
        }
    }

    /// The value as TOML.
    fn to_toml(&self) -> String;

    /// Reads what stands in a file, or tells what is wrong with it.
    fn read(value: &Spanned<DeValue<'_>>, field: &str, report: &mut Report) -> Option<Self> {
        let refusal = match Self::from_value(value.get_ref()) {
            Ok(read) => return Some(read),
            Err(refusal) => refusal,
        };
        let key = field.rsplit('.').next().unwrap_or(field);
        let message = refusal.message.unwrap_or_else(|| format!("`{key}` is {}", found(value)));
        let mut problem = Problem::new(field, message).expected(Self::EXPECTED).at(value.span());
        problem.suggestion = refusal.suggestion;
        report.push(problem);
        None
    }

    /// Reads what stands in a command, as TOML; `what` names it in the complaint.
    fn take(words: &mut Words<'_>, what: &str) -> Result<String, Problem> {
        words.next::<Self>(what).map(|value| value.to_toml())
    }

    /// The same of a list, with commas between its items.
    fn take_items(words: &mut Words<'_>, what: &str) -> Result<Vec<String>, Problem> {
        let items = words.next_items::<Self>(what)?;
        Ok(items.iter().map(Self::to_toml).collect())
    }

    /// The fields that it has of its own.
    fn inner() -> Vec<Info> {
        Vec::new()
    }

    /// Puts the files that the router opens for it behind others.
    fn paths(&self, _: &mut Vec<PathBuf>) {}
}

impl Words<'_> {
    /// Takes the next word as a value; `what` names it in the complaint, as in `a port name`.
    pub fn next<T: Field>(&mut self, what: &str) -> Result<T, Problem> {
        let word = self.next_word(what, T::EXPECTED)?;
        read_word(&word.text, word, what)
    }

    /// Takes the next word as values with commas between them.
    pub fn next_items<T: Field>(&mut self, what: &str) -> Result<Vec<T>, Problem> {
        let word = self.next_word(what, T::EXPECTED)?;
        word.text.split(',').map(|item| read_word(item, word, what)).collect()
    }
}

/// One value of a word; `what` names it in the complaint.
fn read_word<T: Field>(text: &str, word: &Word, what: &str) -> Result<T, Problem> {
    T::from_text(text).map_err(|refusal| {
        let message = refusal.message.unwrap_or_else(|| format!("`{text}` is not {what}"));
        let mut problem = Problem::new("", message).expected(T::EXPECTED).at(word.span.clone());
        problem.suggestion = refusal.suggestion;
        problem
    })
}

impl<T: Field> Field for Box<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    const FORM: Form = T::FORM;
    const WORDS: &'static [&'static str] = T::WORDS;
    const NAMES: &'static str = T::NAMES;

    fn from_text(text: &str) -> Result<Self, Refusal> {
        T::from_text(text).map(Self::new)
    }

    fn to_toml(&self) -> String {
        T::to_toml(self)
    }

    fn read(value: &Spanned<DeValue<'_>>, field: &str, report: &mut Report) -> Option<Self> {
        T::read(value, field, report).map(Self::new)
    }

    fn take(words: &mut Words<'_>, what: &str) -> Result<String, Problem> {
        T::take(words, what)
    }

    fn inner() -> Vec<Info> {
        T::inner()
    }

    fn paths(&self, out: &mut Vec<PathBuf>) {
        T::paths(self, out);
    }
}

impl Field for bool {
    const EXPECTED: &'static str = "true or false";
    const FORM: Form = Form::Boolean;
    const WORDS: &'static [&'static str] = &["on", "off", "true", "false"];

    fn from_text(text: &str) -> Result<Self, Refusal> {
        match text {
            "true" | "on" => Ok(true),
            "false" | "off" => Ok(false),
            _ => Err(Refusal::default()),
        }
    }

    /// In a command the field's name alone says that it is so.
    fn take(words: &mut Words<'_>, what: &str) -> Result<String, Problem> {
        match words.peek() {
            Some(word) if Self::WORDS.contains(&word) => {
                words.next::<Self>(what).map(|value| value.to_toml())
            }
            _ => Ok(true.to_toml()),
        }
    }

    fn to_toml(&self) -> String {
        self.to_string()
    }
}

/// How the expectations of whole numbers begin.
pub(crate) const WHOLE_NUMBER: &str = "a whole number ";

macro_rules! whole_numbers {
    ($($int:ty = $expected:literal),*) => {$(
        impl Field for $int {
            const EXPECTED: &'static str = $expected;
            const FORM: Form = Form::Number(0, <$int>::MAX as u64);

            fn from_text(text: &str) -> Result<Self, Refusal> {
                text.parse().map_err(|_| Refusal::default())
            }

            fn to_toml(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
whole_numbers!(
    u8 = "a whole number from 0 to 255",
    u16 = "a whole number from 0 to 65535",
    u32 = "a whole number from 0 to 4294967295"
);

/// Something, without control characters.
const PLAIN_TEXT: &str = r"^[^\x00-\x1f\x7f-\x9f]+$";

impl Field for String {
    const EXPECTED: &'static str = "a text in quotes";
    const FORM: Form = Form::Text(PLAIN_TEXT);

    fn from_text(text: &str) -> Result<Self, Refusal> {
        if text.is_empty() {
            return Err(Refusal::because("the text is empty"));
        }
        match text.chars().find(|c| c.is_control()) {
            Some(control) => Err(Refusal::because(format!("the text holds {control:?}"))),
            None => Ok(text.to_owned()),
        }
    }

    fn to_toml(&self) -> String {
        quoted(self)
    }
}

impl Field for PathBuf {
    const EXPECTED: &'static str = "a path in quotes";
    const FORM: Form = Form::Text(PLAIN_TEXT);

    fn from_text(text: &str) -> Result<Self, Refusal> {
        String::from_text(text).map(Self::from)
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string_lossy())
    }

    fn paths(&self, out: &mut Vec<PathBuf>) {
        out.push(self.clone());
    }
}

impl Field for IpAddr {
    const EXPECTED: &'static str = "an IP address, as in \"192.0.2.1\"";
    const FORM: Form = Form::Text("^[0-9a-fA-F:.]+$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(|_| {
            let bare =
                text.split_once('/').filter(|(address, _)| address.parse::<IpAddr>().is_ok());
            Refusal::default().suggesting(bare.map(|(address, _)| format!("write \"{address}\"")))
        })
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string())
    }
}

impl Field for Ipv4Addr {
    const EXPECTED: &'static str = "an IPv4 address, as in \"192.0.2.1\"";
    const FORM: Form = Form::Text("^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(|_| Refusal::default())
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string())
    }
}

impl Field for Ipv6Addr {
    const EXPECTED: &'static str = "an IPv6 address, as in \"2001:db8::1\"";
    const FORM: Form = Form::Text("^[0-9a-fA-F:.]+$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(|_| Refusal::default())
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string())
    }
}

impl Field for SocketAddr {
    const EXPECTED: &'static str = "an address and port, as in \"127.0.0.1:8443\"";
    const FORM: Form = Form::Text("^[0-9a-fA-F:.\\[\\]%]+:[0-9]+$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(|_| Refusal::default())
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string())
    }
}

impl Field for MacAddr {
    const EXPECTED: &'static str = "a MAC address, as in \"02:00:00:00:00:01\"";
    const FORM: Form = Form::Text("^[0-9a-fA-F]{2}([:-][0-9a-fA-F]{2}){5}$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(|_| Refusal::default())
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string())
    }
}

impl Field for Prefix {
    const EXPECTED: &'static str = "a network, as in \"10.0.0.0/8\" or \"default\"";
    const FORM: Form = Form::Text("^(default|[0-9a-fA-F:.]+/[0-9]{1,3})$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(|error: PrefixError| {
            let cure = match &error {
                PrefixError::HostBits(inside) => {
                    Some(format!("the network is {}", inside.prefix()))
                }
                PrefixError::NoLength(text) => {
                    Some(format!("for this one address write \"{text}/{}\"", full_length(text)))
                }
                _ => None,
            };
            Refusal::because(error).suggesting(cure)
        })
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string())
    }
}

impl Field for InterfaceAddress {
    const EXPECTED: &'static str = "an address with its prefix length, as in \"192.0.2.1/24\"";
    const FORM: Form = Form::Text("^[0-9a-fA-F:.]+/[0-9]{1,3}$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        text.parse().map_err(|error: PrefixError| {
            let cure = match &error {
                PrefixError::NoLength(text) => Some(format!("as in \"{text}/24\"")),
                _ => None,
            };
            Refusal::because(error).suggesting(cure)
        })
    }

    fn to_toml(&self) -> String {
        quoted(&self.to_string())
    }
}

fn full_length(address: &str) -> u8 {
    if address.contains(':') { 128 } else { 32 }
}

/// Milliseconds a unit stands for, largest first.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

impl Field for Duration {
    const EXPECTED: &'static str =
        "a time with its unit, as in \"500ms\", \"30s\", \"5m\" or \"2h\"";
    const FORM: Form = Form::Text(r"^[0-9]+\s*(h|m|s|ms)\s*$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let parsed = number.parse::<u64>().ok();
        let unit_ms = UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, ms)| *ms);
        match (parsed, unit_ms) {
            (Some(number), Some(ms)) => number
                .checked_mul(ms)
                .filter(|ms| *ms <= MAX_DURATION_MS)
                .map(Self::from_millis)
                .ok_or_else(|| Refusal::because(format!("`{text}` is more than a year"))),
            (Some(number), None) if unit.is_empty() => {
                Err(Refusal::because(format!("`{text}` has no unit"))
                    .suggesting(Some(format!("for seconds write \"{number}s\""))))
            }
            _ => Err(Refusal::default()),
        }
    }

    fn from_value(value: &DeValue<'_>) -> Result<Self, Refusal> {
        match value {
            DeValue::String(text) => Self::from_text(text),
            DeValue::Integer(number) => Self::from_text(number.as_str()),
            _ => Err(Refusal::default()),
        }
    }

    fn to_toml(&self) -> String {
        quoted(&duration_text(*self))
    }
}

/// A year bounds every time, so that adding two of them cannot overflow.
const MAX_DURATION_MS: u64 = 366 * 24 * 3_600_000;

/// The shortest exact text, as in `90s`, `2h`, `1500ms`.
pub fn duration_text(duration: Duration) -> String {
    let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let (unit, unit_ms) = UNITS
        .into_iter()
        .find(|(_, unit_ms)| ms >= *unit_ms && ms.is_multiple_of(*unit_ms))
        .unwrap_or(("s", 1_000));
    format!("{}{unit}", ms / unit_ms)
}

/// The refusal of a word that is none of `words`.
pub(crate) fn refuse_word(text: &str, words: &[&'static str]) -> Refusal {
    Refusal::because(format!("`{text}` is not known here")).suggesting(
        nearest(text, words.iter().copied()).map(|word| format!("did you mean `{word}`?")),
    )
}

/// A field that is one of a few words.
macro_rules! word_field {
    (
        $(#[$doc:meta])*
        $name:ident { $( $(#[$variant_doc:meta])* $variant:ident = $word:literal ),+ $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[$variant_doc])* $variant ),+ }

        impl $name {
            /// The word of the configuration.
            pub fn word(self) -> &'static str {
                match self { $( Self::$variant => $word ),+ }
            }
        }

        impl $crate::config::field::Field for $name {
            const EXPECTED: &'static str = concat!("one of", $( " \"", $word, "\"" ),+);
            const FORM: $crate::config::form::Form = $crate::config::form::Form::Word;
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn from_text(text: &str) -> Result<Self, $crate::config::field::Refusal> {
                match text {
                    $( $word => Ok(Self::$variant), )+
                    _ => Err($crate::config::field::refuse_word(text, Self::WORDS)),
                }
            }

            fn to_toml(&self) -> String {
                format!("\"{}\"", self.word())
            }
        }
    };
}
pub(crate) use word_field;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_need_a_unit_and_read_back_what_they_print() {
        for (text, ms) in [("500ms", 500), ("90s", 90_000), ("5m", 300_000), ("2h", 7_200_000)] {
            let duration = Duration::from_text(text).unwrap();
            assert_eq!(duration.as_millis(), ms);
            assert_eq!(duration_text(duration), text);
        }
        assert_eq!(duration_text(Duration::from_secs(60)), "1m");
        assert_eq!(duration_text(Duration::ZERO), "0s");
        assert!(Duration::from_text("30").unwrap_err().suggestion.unwrap().contains("30s"));
        for bad in ["", "s", "-1s", "1.5s", "99999999999999999999s", "10000h", "3 days"] {
            assert!(Duration::from_text(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_prefix_with_host_bits_is_told_its_network() {
        let refusal = Prefix::from_text("10.1.2.3/8").unwrap_err();
        assert_eq!(refusal.suggestion.as_deref(), Some("the network is 10.0.0.0/8"));
    }
}
