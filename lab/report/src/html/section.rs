//! A part of the page, and what parts are made of.

use lab_record::Results;

use crate::summary::{Row, rows};
use crate::svg::canvas::escape;

/// A titled part of the page.
pub(super) struct Section {
    pub(super) title: &'static str,
    /// Paragraph above the content.
    pub(super) lead: String,
    /// Its content, as HTML.
    pub(super) body: String,
}

/// What all parts are a function of.
pub(super) struct Page<'a> {
    pub(super) results: &'a Results,
    /// The rates, over all runs.
    pub(super) rows: Vec<Row>,
}

impl<'a> Page<'a> {
    pub(super) fn of(results: &'a Results) -> Self {
        Self { results, rows: rows(results) }
    }
}

/// Subjects that get figures of their own; a sweep of fifty table sizes is not fifty time lines.
pub(super) const MOST_SUBJECTS: usize = 6;

pub(super) fn figure(svg: &str, caption: &str) -> String {
    format!("<figure>\n{svg}<figcaption>{}</figcaption>\n</figure>\n", escape(caption))
}

/// The metrics of the rows, in order of appearance.
pub(super) fn metrics(rows: &[Row]) -> Vec<String> {
    distinct(rows.iter().map(|row| row.label()))
}

/// The different ones of some names, in order of appearance.
pub(super) fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}
