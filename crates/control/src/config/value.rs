//! What declared fields can be: a value, one that may be left out, a list.

use std::path::PathBuf;

use super::field::Field;
use super::info::{Had, Info, Take};
use super::read::TableReader;
use super::words::Words;
use super::write::Fields;

impl Info {
    /// A field of this type, which a command reads like that.
    #[must_use]
    pub fn taking<T: Field>(self, reads: Take) -> Self {
        let (expected, words, names, form) = (T::EXPECTED, T::WORDS, T::NAMES, T::FORM);
        Self { expected, words, names, form, inner: T::inner, reads, ..self }
    }
}

/// What a declared field can be.
pub trait Value: Clone + PartialEq {
    /// Reads it; `None`: it is not there, or wrong and told.
    fn read(table: &mut TableReader<'_>, key: &'static str, is_required: bool) -> Option<Self>;

    /// Puts it behind other fields; without a default it is written where there is something.
    fn write(&self, key: &'static str, fields: Fields, default: Option<Self>) -> Fields;

    /// Puts what is known of it behind other fields.
    fn describe(info: Info, out: &mut Vec<Info>);

    /// Puts the files that the router opens for it behind others.
    fn paths(&self, out: &mut Vec<PathBuf>);
}

impl<T: Field + Clone + PartialEq> Value for T {
    fn read(table: &mut TableReader<'_>, key: &'static str, is_required: bool) -> Option<Self> {
        if is_required { table.required(key) } else { table.optional(key) }
    }

    fn write(&self, key: &'static str, fields: Fields, default: Option<Self>) -> Fields {
        match default {
            Some(default) => fields.unless(key, self, &default),
            None => fields.with(key, self),
        }
    }

    fn describe(info: Info, out: &mut Vec<Info>) {
        let take: Take = |words, had| T::take(words, &had.what()).map(Some);
        let take_or_leave: Take = |words, had| match clears::<T>(words, &["default"]) {
            true => Ok(None),
            false => T::take(words, &had.what()).map(Some),
        };
        let reads = if info.is_required { take } else { take_or_leave };
        out.push(info.taking::<T>(reads));
    }

    fn paths(&self, out: &mut Vec<PathBuf>) {
        Field::paths(self, out);
    }
}

impl<T: Field + Clone + PartialEq> Value for Option<T> {
    fn read(table: &mut TableReader<'_>, key: &'static str, _: bool) -> Option<Self> {
        Some(table.optional(key))
    }

    fn write(&self, key: &'static str, fields: Fields, _: Option<Self>) -> Fields {
        fields.maybe(key, self)
    }

    fn describe(info: Info, out: &mut Vec<Info>) {
        out.push(info.taking::<T>(|words, had| {
            if clears::<T>(words, &["default", "none", "off"]) {
                return Ok(None);
            }
            let inner = T::inner();
            let is_on = !inner.is_empty() && (words.take("on") || words.take("true"));
            let says_more = inner.iter().any(|info| words.sees(info.word));
            match (is_on && !says_more, had.toml) {
                (true, None) => Ok(Some(true.to_toml())),
                (true, Some(toml)) => Ok(Some(toml.to_owned())),
                (false, _) => T::take(words, &had.what()).map(Some),
            }
        }));
    }

    fn paths(&self, out: &mut Vec<PathBuf>) {
        self.iter().for_each(|it| Field::paths(it, out));
    }
}

/// A command adds to what was said, or leaves it to the default.
impl<T: Field + Clone + PartialEq> Value for Vec<T> {
    fn read(table: &mut TableReader<'_>, key: &'static str, is_required: bool) -> Option<Self> {
        let is_said = table.has(key);
        let list = table.list(key);
        (is_said || is_required).then_some(list)
    }

    fn write(&self, key: &'static str, fields: Fields, default: Option<Self>) -> Fields {
        fields.list(key, self, &default.unwrap_or_default())
    }

    fn describe(info: Info, out: &mut Vec<Info>) {
        let list = Info { is_list: true, ..info };
        out.push(list.taking::<T>(|words, had| {
            if clears::<T>(words, &["default", "none", "off"]) {
                return Ok(None);
            }
            let items = T::take_items(words, &had.what())?.join(", ");
            let before = had.toml.map(|toml| toml.trim_matches(['[', ']'])).unwrap_or_default();
            let comma = if before.is_empty() { "" } else { ", " };
            Ok(Some(format!("[{before}{comma}{items}]")))
        }));
    }

    fn paths(&self, out: &mut Vec<PathBuf>) {
        self.iter().for_each(|it| Field::paths(it, out));
    }
}

impl Had<'_> {
    fn what(&self) -> String {
        format!("a value for `{}`", self.name)
    }
}

/// Takes a word that leaves the field out, unless it is one of the field's own.
fn clears<T: Field>(words: &mut Words<'_>, all: &[&str]) -> bool {
    let mut own = all.iter().filter(|word| !T::WORDS.contains(word));
    own.any(|word| words.take(word))
}
