//! Commands that edit a configuration: `route add 10.0.0.0/8 via 192.0.2.9`, `port set p0 down`.
//!
//! A command is a function from configuration to configuration. The CLI, files of commands and the
//! API all send the same text, so it is read in one place, and a fault points into it.

use std::borrow::Cow;
use std::ops::Range;

use super::field::{Field, Form};
use super::host::Host;
use super::info::Info;
use super::objects::{Config, commands};
use super::report::{Problem, Problems, Report};
use super::source::Source;
use super::suggest::nearest;

/// A command that edits the configuration.
#[derive(Clone)]
pub struct Command {
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
    pub run: Run,
}

/// Fields that a usage line names, if there are no more.
const FEW: usize = 7;

/// Reads the words of a command and makes the change.
pub type Run = fn(&mut Config, &mut Words<'_>) -> Result<(), Problem>;

impl Command {
    /// A command that reads its words in a way of its own.
    pub const fn with(
        (noun, verb): (&'static str, &'static str),
        about: &'static str,
        first: fn() -> Vec<Info>,
        fields: fn() -> Vec<Info>,
        run: Run,
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

/// A word of a command line, quotes removed.
#[derive(Clone, Debug)]
struct Word {
    text: String,
    span: Range<usize>,
}

/// The words after noun and verb, taken from the left.
#[derive(Clone)]
pub struct Words<'a> {
    words: &'a [Word],
    end: Range<usize>,
}

impl Words<'_> {
    /// Takes the next word as a value; `what` names it in the complaint, as in `a port name`.
    pub fn next<T: Field>(&mut self, what: &str) -> Result<T, Problem> {
        let word = self.next_word::<T>(what)?;
        read_word(&word.text, word, what)
    }

    /// Takes the next word as values with commas between them.
    pub fn next_items<T: Field>(&mut self, what: &str) -> Result<Vec<T>, Problem> {
        let word = self.next_word::<T>(what)?;
        word.text.split(',').map(|item| read_word(item, word, what)).collect()
    }

    fn next_word<T: Field>(&mut self, what: &str) -> Result<&Word, Problem> {
        let (word, rest) = self.words.split_first().ok_or_else(|| {
            let problem = Problem::new("", format!("{what} is missing"));
            problem.expected(T::EXPECTED).at(self.end.clone())
        })?;
        self.words = rest;
        Ok(word)
    }

    /// The next word.
    pub fn peek(&self) -> Option<&str> {
        self.words.first().map(|word| word.text.as_str())
    }

    /// Where those words stand that were taken since `start`.
    pub fn since(&self, start: &Self) -> Range<usize> {
        let taken = &start.words[..start.words.len() - self.words.len()];
        match (taken.first(), taken.last()) {
            (Some(first), Some(last)) => first.span.start..last.span.end,
            _ => self.end.clone(),
        }
    }

    /// Takes the next word if it is this one.
    pub fn take(&mut self, keyword: &str) -> bool {
        match self.words.split_first() {
            Some((word, rest)) if word.text == keyword => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }

    /// Whether the next word is this one.
    pub fn sees(&self, keyword: &str) -> bool {
        self.words.first().is_some_and(|word| word.text == keyword)
    }

    /// Takes the next word, which must be this one.
    pub fn must(&mut self, keyword: &str) -> Result<(), Problem> {
        if self.take(keyword) { Ok(()) } else { Err(self.unexpected(&[keyword])) }
    }

    /// Whether words are left.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The complaint that the next word is none of `keywords`.
    pub fn unexpected(&self, keywords: &[&str]) -> Problem {
        let expected = match keywords {
            [] => "the end of the command".to_owned(),
            [one] => format!("`{one}`"),
            many => format!("one of {}", many.join(", ")),
        };
        let Some(word) = self.words.first() else {
            return Problem::new("", "the command ends too early")
                .expected(expected)
                .at(self.end.clone());
        };
        let problem = Problem::new("", format!("unexpected `{}`", word.text))
            .expected(expected)
            .at(word.span.clone());
        match nearest(&word.text, keywords.iter().copied()) {
            Some(word) => problem.help(format!("did you mean `{word}`?")),
            None => problem,
        }
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

/// Has the words of a text read that nobody typed.
pub(crate) fn with_words<T>(
    text: &str,
    read: impl FnOnce(&mut Words<'_>) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let words = words_of(text, 0)?;
    let end = text.len()..text.len();
    read(&mut Words { words: &words, end })
}

/// Runs every command of a text, one a line, and checks the outcome; all of it or nothing.
///
/// Empty lines and what follows a `#` are skipped.
pub fn edit(config: &Config, commands: &Source, host: &Host) -> Result<Config, Problems> {
    let mut edited = config.clone();
    let mut report = Report::default();
    let mut last = 0..0;
    let mut offset = 0;
    for line in commands.text.split_inclusive('\n') {
        let outcome = words_of(line, offset).and_then(|words| match words.first() {
            Some(first) => {
                last = first.span.start..words.last().map_or(first.span.end, |word| word.span.end);
                run(&mut edited, &words)
            }
            None => Ok(()),
        });
        if let Err(problem) = outcome {
            report.push(problem);
        }
        offset += line.len();
    }
    if report.is_empty() {
        edited.check(host, &mut report);
        report.preface("after this, ");
        // The fault is in the outcome as a whole; the last command is where to look first.
        report.place("", last);
    }
    report.into_result(commands)?;
    Ok(edited)
}

/// The command a line names.
fn run(config: &mut Config, words: &[Word]) -> Result<(), Problem> {
    let end = words.last().map_or(0..0, |word| word.span.end..word.span.end);
    let mut left = Words { words, end };
    let nouns = || commands().iter();
    let Some(noun) = words.first().filter(|word| nouns().any(|c| c.noun == word.text)) else {
        let mut names: Vec<&str> = nouns().map(|command| command.noun).collect();
        names.dedup();
        return Err(left.unexpected(&names));
    };
    left.words = &words[1..];
    let verbs: Vec<&Command> = nouns().filter(|command| command.noun == noun.text).collect();
    let named = words.get(1).and_then(|word| verbs.iter().find(|c| c.verb == word.text));
    let Some(command) = named else {
        let names: Vec<&str> = verbs.iter().map(|command| command.verb).collect();
        return Err(left.unexpected(&names));
    };
    left.words = &words[2..];
    let usage = || format!("usage: {} {} {}", command.noun, command.verb, command.usage());
    let add_usage = |problem: Problem| match problem.suggestion {
        Some(_) => problem,
        None => problem.help(usage()),
    };
    (command.run)(config, &mut left).map_err(|mut problem| {
        if problem.in_script.is_some() {
            return problem;
        }
        if problem.span.is_none() {
            problem.span = words.first().zip(words.last()).map(|(a, b)| a.span.start..b.span.end);
            return problem;
        }
        add_usage(problem)
    })?;
    if left.is_empty() { Ok(()) } else { Err(add_usage(left.unexpected(&[]))) }
}

/// The noun and verb a line begins with, if it is a command that edits.
pub fn is_edit(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (noun, verb) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    commands().iter().any(|c| c.noun == noun && c.verb == verb)
}

/// Splits a line into words; double quotes keep blanks, `#` at the start of a word ends the line.
fn words_of(line: &str, offset: usize) -> Result<Vec<Word>, Problem> {
    let mut words: Vec<Word> = Vec::new();
    let mut word: Option<Word> = None;
    let mut quoted_from = None;
    for (at, c) in line.char_indices() {
        let at = offset + at;
        match c {
            '"' => {
                quoted_from = if quoted_from.is_some() { None } else { Some(at) };
                word.get_or_insert_with(|| Word { text: String::new(), span: at..at }).span.end =
                    at + 1;
            }
            '#' if word.is_none() => break,
            c if c.is_whitespace() && quoted_from.is_none() => words.extend(word.take()),
            c => {
                let word = word.get_or_insert_with(|| Word { text: String::new(), span: at..at });
                word.text.push(c);
                word.span.end = at + c.len_utf8();
            }
        }
    }
    words.extend(word);
    match quoted_from {
        Some(at) => Err(Problem::new("", "a quote is never closed").at(at..at + 1)),
        None => Ok(words),
    }
}
