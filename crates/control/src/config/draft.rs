//! An object in the making: fields as TOML, said by the words of a command.
//!
//! Words are turned into the TOML that they stand for, so that a command and the file read alike.

use std::ops::Range;

use toml::de::DeTable;

use super::info::{Had, Info};
use super::read::TableReader;
use super::report::{Problem, Report};
use super::toml_text::quoted;
use super::words::{Words, with_words};
use super::write::Fields;

/// An object in the making.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    fields: Vec<Said>,
}

/// A field with its value as TOML.
#[derive(Clone, Debug)]
struct Said {
    name: String,
    toml: String,
    /// Where in the command; `None`: it is from before.
    at: Option<Range<usize>>,
}

impl Draft {
    /// What is there already.
    pub fn of(fields: &Fields) -> Self {
        let said = |(name, toml)| Said { name, toml, at: None };
        Self { fields: fields.pairs().into_iter().map(said).collect() }
    }

    /// What must be said of a kind, as the examples say it; the empty kind is all of them.
    pub fn of_examples(infos: &[Info], kind: &str) -> Result<Self, Problem> {
        let mut draft = Self::default();
        for info in infos.iter().filter(|info| info.is_required) {
            match info.name {
                "kind" if !kind.is_empty() => draft.put("kind", quoted(kind)),
                _ if !draft.fits(info) => {}
                _ => with_words(info.example, |words| draft.say(info, words))?,
            }
        }
        Ok(draft)
    }

    /// The same beside what was there before.
    #[must_use]
    pub fn over(&self, before: &Fields) -> Self {
        let mut fields = self.fields.clone();
        let old = Self::of(before).fields.into_iter();
        fields.extend(old.filter(|old| self.value(&old.name).is_none()));
        Self { fields }
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Sets a field, whatever it was.
    fn put(&mut self, name: &str, toml: String) {
        self.fields.retain(|said| said.name != name);
        self.fields.push(Said { name: name.to_owned(), toml, at: None });
    }

    /// A field's value as TOML.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|said| said.name == name).map(|said| said.toml.as_str())
    }

    /// Reads what a command says of a field.
    pub fn say(&mut self, info: &Info, words: &mut Words<'_>) -> Result<(), Problem> {
        let place = self.fields.iter().position(|said| said.name == info.name);
        let before = place.map(|place| &self.fields[place]);
        let had = Had {
            name: info.name,
            toml: before.map(|said| said.toml.as_str()),
            is_said: before.is_some_and(|said| said.at.is_some()),
        };
        let start = words.clone();
        let toml = info.take(words, &had)?;
        let at = Some(words.since(&start));
        let said = toml.map(|toml| Said { name: info.name.to_owned(), toml, at });
        match (place, said) {
            (Some(place), Some(said)) => self.fields[place] = said,
            (Some(place), None) => drop(self.fields.remove(place)),
            (None, said) => self.fields.extend(said),
        }
        Ok(())
    }

    /// Whether the object has the field, as far as its kind is said.
    pub fn fits(&self, info: &Info) -> bool {
        let is_kind = |said: &Said| said.name == "kind" && said.toml.trim_matches('"') == info.of;
        info.of.is_empty() || self.fields.iter().any(is_kind)
    }

    /// The complaint that the next word is none of its fields.
    pub fn no_field(&self, infos: &[Info], words: &Words<'_>) -> Problem {
        let fitting = infos.iter().filter(|info| self.fits(info));
        let mut names: Vec<&str> = fitting.map(|info| info.word).collect();
        names.sort_unstable();
        names.dedup();
        words.unexpected(&names)
    }

    /// Reads fields by their names as long as the next word is one.
    pub fn say_all(&mut self, infos: &[Info], words: &mut Words<'_>) -> Result<(), Problem> {
        while infos.iter().any(|info| words.sees(info.word) && self.fits(info)) {
            self.say_next(infos, words)?;
        }
        Ok(())
    }

    /// Reads a field by its name, which must be the next word.
    pub fn say_next(&mut self, infos: &[Info], words: &mut Words<'_>) -> Result<(), Problem> {
        let is_next = |info: &&Info| words.sees(info.word) && self.fits(info);
        let named: Vec<&Info> = infos.iter().filter(is_next).collect();
        let Some(first) = named.first() else { return Err(self.no_field(infos, words)) };
        words.take(first.word);
        // A word may say something of several fields; a field that several kinds have is one.
        let says = if first.says.is_some() { &named[..] } else { &named[..1] };
        for info in says {
            self.say(info, words)?;
        }
        Ok(())
    }

    /// Reads fields to the end of a command, at least one.
    pub fn say_some(&mut self, infos: &[Info], words: &mut Words<'_>) -> Result<(), Problem> {
        if words.is_empty() {
            return Err(self.no_field(infos, words));
        }
        self.say_rest(infos, words)
    }

    /// Reads fields to the end of a command.
    pub fn say_rest(&mut self, infos: &[Info], words: &mut Words<'_>) -> Result<(), Problem> {
        self.say_all(infos, words)?;
        if words.is_empty() { Ok(()) } else { Err(self.no_field(infos, words)) }
    }

    /// All of it as one inline table.
    pub fn inline(&self) -> String {
        let fields = self.fields.iter().map(|Said { name, toml, .. }| format!("{name} = {toml}"));
        format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
    }

    /// The object; `path` is how problems call it.
    pub fn read<T>(
        &self,
        path: &str,
        read: impl FnOnce(&mut TableReader<'_>) -> Option<T>,
    ) -> Result<T, Problem> {
        let line = |Said { name, toml, .. }: &Said| format!("{name} = {toml}\n");
        let text: String = self.fields.iter().map(line).collect();
        let broken = |message: &str| Problem::new(path, message.trim_end().to_owned());
        let table = DeTable::parse(&text).map_err(|error| broken(error.message()))?;
        let mut report = Report::default();
        let mut reader = TableReader::new(table.get_ref(), 0..0, path, &mut report);
        let object = read(&mut reader);
        reader.finish();
        if let Some(mut problem) = report.into_first() {
            // Its place is in the text made up here, which nobody has seen.
            problem.span = self.place(path, &problem.field);
            return Err(problem);
        }
        object.ok_or_else(|| broken("it is not said whole"))
    }

    /// Where the command says what a problem is about.
    fn place(&self, path: &str, field: &str) -> Option<Range<usize>> {
        let key = field.strip_prefix(path)?.trim_start_matches('.');
        let key = key.split(['.', '[']).next()?;
        self.fields.iter().find(|said| said.name == key)?.at.clone()
    }
}
