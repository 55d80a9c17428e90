//! What is wrong with a configuration: all of it at once, each with its place.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::field::WHOLE_NUMBER;
use super::source::Source;

/// One thing wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The field, as in `port.p0.mtu`.
    pub field: String,
    /// What is wrong, with the offending value.
    pub message: String,
    /// What would have been right.
    pub expected: Option<Box<str>>,
    /// A likely cure.
    pub suggestion: Option<String>,
    /// Bytes of the source to point at.
    pub span: Option<Range<usize>>,
    /// Where it stands in a script that the source has in it.
    pub in_script: Option<Box<InScript>>,
}

/// A script, of which a problem's span is then, and what else is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InScript {
    /// The script.
    pub text: Arc<str>,
    /// More problems.
    pub others: Vec<Problem>,
}

impl Problem {
    /// Something wrong with `field`.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into(), ..Self::default() }
    }

    /// Says what would have been right.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into().into());
        self
    }

    /// Says what would cure it.
    #[must_use]
    pub fn help(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into());
        self
    }

    /// Points at bytes of the source.
    #[must_use]
    pub fn at(mut self, span: Range<usize>) -> Self {
        self.span = Some(span);
        self
    }
}

/// Collects problems while a configuration is read and checked, and remembers where each field
/// stood, so that a check over plain values can still point into the file.
#[derive(Debug, Default)]
pub struct Report {
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    places: HashMap<String, Range<usize>>,
    whether_alone: bool,
    row_lost: bool,
}

impl Report {
    /// One that is asked whether there is anything to tell, not what: it remembers no places, and
    /// fields have no names. A million routes that are right are read in half the time.
    pub(crate) fn whether() -> Self {
        Self { whether_alone: true, ..Self::default() }
    }

    /// Whether nobody will read what it has to tell.
    pub(crate) fn is_whether(&self) -> bool {
        self.whether_alone
    }

    /// A field's name, where somebody will read it.
    pub(crate) fn named(&self, name: impl FnOnce() -> String) -> String {
        if self.whether_alone { String::new() } else { name() }
    }

    /// Whether there is nothing to tell, not even a warning.
    pub(crate) fn is_silent(&self) -> bool {
        self.problems.is_empty() && self.warnings.is_empty()
    }

    /// Adds a problem.
    pub fn push(&mut self, mut problem: Problem) {
        let others = problem.in_script.as_mut().map(|script| std::mem::take(&mut script.others));
        self.problems.push(problem);
        self.problems.extend(others.into_iter().flatten());
    }

    /// Says of the last problem, if it is this field's and about any whole number, which ones can
    /// be, and what is wrong with the one that is there.
    pub(crate) fn bound(&mut self, field: &str, message: Option<String>, expected: String) {
        let is_of_any = |problem: &&mut Problem| {
            let expected = problem.expected.as_ref();
            problem.field == field && expected.is_some_and(|it| it.starts_with(WHOLE_NUMBER))
        };
        if let Some(last) = self.problems.last_mut().filter(is_of_any) {
            last.expected = Some(expected.into());
            last.message = message.unwrap_or_else(|| std::mem::take(&mut last.message));
        }
    }

    /// Adds what will not be as it seems, though it may be said.
    pub(crate) fn warn(&mut self, warning: Problem) {
        self.warnings.push(warning);
    }

    /// Adds a problem about something missing, unless it may be missing only because a row with a
    /// fault of its own could not be read: that fault is told, and enough.
    pub(crate) fn push_missing(&mut self, problem: Problem) {
        if !self.row_lost {
            self.push(problem);
        }
    }

    /// Notes that a row could not be read.
    pub(crate) fn lose_row(&mut self) {
        self.row_lost = true;
    }

    /// Puts words before every message.
    pub(crate) fn preface(&mut self, preface: &str) {
        for problem in &mut self.problems {
            problem.message.insert_str(0, preface);
        }
    }

    /// Remembers where a field stands.
    pub(crate) fn place(&mut self, field: &str, span: Range<usize>) {
        if !self.whether_alone {
            self.places.insert(field.to_owned(), span);
        }
    }

    /// Whether nothing was wrong so far.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// The first problem, if there is one.
    pub(crate) fn into_first(self) -> Option<Problem> {
        self.problems.into_iter().next()
    }

    /// The verdict: what is warned of, or every problem, in the order of the file.
    pub fn into_result(self, source: &Source) -> Result<Warnings, Problems> {
        let Self { problems, warnings, places, .. } = self;
        let is_right = problems.is_empty();
        let mut told = if is_right { warnings } else { problems };
        for problem in &mut told {
            if problem.span.is_none() {
                problem.span = nearest_place(&places, &problem.field);
            }
        }
        told.sort_by_key(|problem| problem.span.as_ref().map_or(0, |span| span.start));
        told.dedup();
        let told = Problems { source: source.clone(), problems: told };
        if is_right { Ok(Warnings(told)) } else { Err(told) }
    }
}

/// The field's own place, or that of the nearest table around it; the empty name is around all.
fn nearest_place(places: &HashMap<String, Range<usize>>, field: &str) -> Option<Range<usize>> {
    let mut field = field;
    loop {
        if let Some(span) = places.get(field) {
            return Some(span.clone());
        }
        if field.is_empty() {
            return None;
        }
        field = field.rfind(['.', '[']).map_or("", |end| &field[..end]);
    }
}

/// Everything wrong with one source. Displayed as a compiler would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// What was read.
    pub source: Source,
    /// At least one problem, in the order of the source.
    pub problems: Vec<Problem>,
}

/// What a source that is right had better not say. Displayed likewise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warnings(Problems);

impl Warnings {
    /// The warnings as plain data.
    pub fn findings(&self) -> Vec<Finding> {
        self.0.findings()
    }
}

/// One problem as the API and `--json` tell it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    /// File name as it was given.
    pub file: String,
    /// Line, from 1; absent when the fault has no place in the text.
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// The field, as in `port.p0.mtu`.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// What would have been right.
    pub expected: Option<String>,
    /// A likely cure.
    pub suggestion: Option<String>,
}

impl Problems {
    /// The problems as plain data.
    pub fn findings(&self) -> Vec<Finding> {
        let place = |problem: &Problem| {
            problem.span.as_ref().map(|span| self.source_of(problem).position(span.start))
        };
        self.problems
            .iter()
            .map(|problem| Finding {
                file: self.source.name.clone(),
                line: place(problem).map(|position| position.line),
                column: place(problem).map(|position| position.column),
                field: problem.field.clone(),
                message: problem.message.clone(),
                expected: problem.expected.as_deref().map(str::to_owned),
                suggestion: problem.suggestion.clone(),
            })
            .collect()
    }
}

impl Problems {
    /// What its span is of.
    fn source_of(&self, problem: &Problem) -> Cow<'_, Source> {
        match &problem.in_script {
            Some(script) => Cow::Owned(Source::new(self.source.name.as_str(), &*script.text)),
            None => Cow::Borrowed(&self.source),
        }
    }
}

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.draw(f, "error")
    }
}

impl fmt::Display for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.draw(f, "warning")
    }
}

impl Problems {
    fn draw(&self, f: &mut fmt::Formatter<'_>, kind: &str) -> fmt::Result {
        let mut out = String::new();
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                out.push('\n');
            }
            writeln!(out, "{kind}: {}", problem.message)?;
            match &problem.span {
                Some(span) => self.source_of(problem).excerpt(&mut out, span)?,
                None => writeln!(out, "  --> {}", self.source.name)?,
            }
            if !problem.field.is_empty() {
                writeln!(out, "   = field: {}", problem.field)?;
            }
            if let Some(expected) = &problem.expected {
                writeln!(out, "   = expected: {expected}")?;
            }
            if let Some(suggestion) = &problem.suggestion {
                writeln!(out, "   = help: {suggestion}")?;
            }
        }
        f.write_str(&out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_without_its_own_place_points_at_the_table_around_it() {
        let mut report = Report::default();
        report.place("port.p0", 0..9);
        report.push(Problem::new("port.p0.addresses[3]", "overlaps"));
        let problems = report.into_result(&Source::new("f", "[port.p0]\n")).unwrap_err();
        assert_eq!(problems.problems[0].span, Some(0..9));
        assert_eq!(problems.findings()[0].line, Some(1));
    }
}
