//! Commands that edit: what they are called, what they want to hear, and how that is told.

use std::borrow::Cow;

use super::form::Form;
use super::info::Info;
use super::report::Problem;
use super::words::Words;

/// A command that edits an `On`.
#[derive(Clone)]
pub struct Command<On: 'static> {
    /// The kind of object, as in `route`.
    pub noun: &'static str,
    /// What is done to it, as in `add`.
    pub verb: &'static str,
    /// One line of help.
    pub about: Cow<'static, str>,
    /// What it wants first, without names.
    pub first: fn() -> Vec<Info>,
    /// The fields that it may name.
    pub fields: fn() -> Vec<Info>,
    /// The edit.
    pub run: Run<On>,
}

/// Fields that a usage line names, if there are no more.
const FEW: usize = 11;

/// Reads the words of a command and makes the change.
pub type Run<On> = fn(&mut On, &mut Words<'_>) -> Result<(), Problem>;

impl<On> Command<On> {
    /// A command that reads its words in a way of its own.
    pub const fn with(
        (noun, verb): (&'static str, &'static str),
        about: &'static str,
        first: fn() -> Vec<Info>,
        fields: fn() -> Vec<Info>,
        run: Run<On>,
    ) -> Self {
        let about = Cow::Borrowed(about);
        Self { noun, verb, about, first, fields, run }
    }

    /// The words that follow, as a person reads them.
    pub fn usage(&self) -> String {
        let first = (self.first)();
        let mut words: Vec<String> = first.iter().map(Info::usage).collect();
        let mut fields = (self.fields)();
        fields.retain(|info| info.is_field() && first.iter().all(|it| it.name != info.name));
        let (must, may): (Vec<_>, Vec<_>) = fields
            .iter()
            .partition(|info| info.is_required && info.of.is_empty() && info.or.is_empty());
        let named = |info: &&Info| match info.form {
            Form::Boolean if info.default.as_deref() == Some("true") => {
                format!("{} on|off", info.word)
            }
            Form::Boolean => info.word.to_owned(),
            _ => format!("{} {}", info.word, info.usage()),
        };
        let maybe = |info: &&Info| {
            let more = if info.is_list { "..." } else { "" };
            format!("[{}]{more}", named(info))
        };
        // What has a kind to say may have said enough.
        if self.verb == "set" && first.iter().all(|it| it.name != "kind") {
            words.push("FIELD VALUE...".to_owned());
            return words.join(" ");
        }
        words.extend(must.iter().map(named));
        match may.len() {
            0..=FEW => words.extend(may.iter().map(maybe)),
            _ => words.push("[FIELD VALUE]...".to_owned()),
        }
        words.join(" ")
    }
}
