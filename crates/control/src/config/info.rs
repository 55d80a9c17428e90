//! What is known of declared fields: reading, writing, commands, help, completion and the reference
//! follow from it.

use std::ops::RangeInclusive;

use super::form::Form;
use super::read::numbers;
use super::report::Problem;
use super::words::Words;

/// Reads what follows a field's name in a command, as TOML; `None`: the field is to be left out.
pub type Take = fn(&mut Words<'_>, &Had<'_>) -> Result<Option<String>, Problem>;

/// What a field is when a command names it.
pub struct Had<'a> {
    /// The field.
    pub name: &'static str,
    /// Its value as TOML.
    pub toml: Option<&'a str>,
    /// Whether this same command said so.
    pub is_said: bool,
}

/// One declared field, or another word for something that fields say.
#[derive(Clone)]
pub struct Info {
    /// How a command calls it.
    pub word: &'static str,
    /// How the file calls it.
    pub name: &'static str,
    /// One line of help.
    pub help: String,
    /// What it takes.
    pub expected: &'static str,
    /// The words that it can be, where they are few.
    pub words: &'static [&'static str],
    /// The kind of object whose names it takes; empty: none.
    pub names: &'static str,
    /// What a value of it is in the file.
    pub form: Form,
    /// Whether the file may list several.
    pub is_list: bool,
    /// What its number counts; empty: nothing, or it is no number.
    pub unit: &'static str,
    /// The least and the most that its number may be.
    pub range: Option<(u64, u64)>,
    /// Whether it must be said.
    pub is_required: bool,
    /// Fields of which one may be said in its place.
    pub or: &'static [&'static str],
    /// Its value when it is not said; `None`: there is none, or it depends.
    pub default: Option<String>,
    /// A value that it could have, as a command says it.
    pub example: &'static str,
    /// The kind of object that it belongs to, where not all have it.
    pub of: &'static str,
    /// The fields that it has of its own.
    pub inner: fn() -> Vec<Info>,
    /// What the word says by itself, as TOML: nothing follows it.
    pub says: Option<&'static str>,
    /// How a command reads what follows its name.
    pub reads: Take,
}

impl Info {
    /// A field as it is declared.
    pub fn new(name: &'static str, help: &[&str], example: &'static str) -> Self {
        let help = help.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        let unit = UNITS.iter().find(|(end, _)| name.ends_with(end)).map_or("", |(_, unit)| unit);
        Self {
            word: name,
            name,
            help,
            expected: "",
            words: &[],
            names: "",
            form: Form::Text(""),
            is_list: false,
            unit,
            range: None,
            is_required: false,
            or: &[],
            default: None,
            example,
            of: "",
            inner: Vec::new,
            says: None,
            reads: |words, _| Err(words.unexpected(&[])),
        }
    }

    /// The same with a range.
    #[must_use]
    pub fn within<T: TryInto<u64> + Copy>(self, range: &RangeInclusive<T>) -> Self {
        let [least, most] = [range.start(), range.end()].map(|end| (*end).try_into().unwrap_or(0));
        Self { range: Some((least, most)), ..self }
    }

    /// Its unit and range, as far as they are declared.
    pub fn limits(&self) -> String {
        let range = self.range.map(|(least, most)| format!("{least} to {most}"));
        let unit = (!self.unit.is_empty()).then(|| self.unit.to_owned());
        range.into_iter().chain(unit).collect::<Vec<_>>().join(" ")
    }

    /// A word that says `toml` of a field.
    pub fn saying(word: &'static str, name: &'static str, toml: &'static str) -> Self {
        Self { word, says: Some(toml), ..Self::new(name, &[], "") }
    }

    /// The same field by another word.
    #[must_use]
    pub fn called(&self, word: &'static str) -> Self {
        Self { word, help: String::new(), ..self.clone() }
    }

    /// What stands for its value in a usage line, as in `PORT` or `permit|deny`.
    pub fn usage(&self) -> String {
        let name = self.word.to_uppercase();
        match (self.form, self.words) {
            (_, []) => name,
            (Form::Word, words) => words.join("|"),
            (_, words) => format!("{name}|{}", words.join("|")),
        }
    }

    /// Whether it is a field itself, not only a word for one.
    pub fn is_field(&self) -> bool {
        !self.help.is_empty()
    }

    /// Reads what follows its word.
    pub fn take(&self, words: &mut Words<'_>, had: &Had<'_>) -> Result<Option<String>, Problem> {
        match self.says {
            Some(toml) => Ok(Some(toml.to_owned())),
            None => (self.reads)(words, had).map_err(|problem| self.bounded(problem)),
        }
    }

    /// Its type knows nothing of its range.
    fn bounded(&self, problem: Problem) -> Problem {
        match (self.range, problem.expected.as_deref()) {
            (Some((least, most)), Some(expected)) if expected == self.expected => {
                problem.expected(numbers(least, most))
            }
            _ => problem,
        }
    }
}

/// What is known of a section of the file.
pub struct Described {
    /// Where it stands, as in `port` or `acl.rule`.
    pub path: &'static str,
    /// What it is, of a kind if there are several.
    pub about: fn(&str) -> &'static str,
    /// Its fields.
    pub infos: Vec<Info>,
    /// How it stands there.
    pub stands: Stands,
}

/// How a section stands in the file.
#[derive(Clone, Copy, Debug)]
pub enum Stands {
    /// Once, as in `[icmp]`.
    Once,
    /// With a name, as in `[port.p0]`.
    Named(Form),
    /// As one of several, as in `[[route]]`: the fields that tell it from others, if any do.
    Listed(fn() -> Vec<Info>),
    /// Once, with fields that are declared elsewhere: their schema.
    Elsewhere(fn() -> serde_json::Value),
}

/// Units of numbers, by how their fields' names end.
const UNITS: [(&str, &str); 5] = [
    ("_pps", "packets a second"),
    ("_bytes", "bytes"),
    ("_packets", "packets"),
    ("_cycles", "cycles of the time-stamp counter"),
    ("mtu", "bytes"),
];
