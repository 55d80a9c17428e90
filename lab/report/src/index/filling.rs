//! Rows on their way into the tables.

use lab_record::{Results, Subject};
use rusqlite::{ToSql, Transaction, params};

/// A table of the index; each has the folder in front.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// As SQL declares them.
    pub(super) columns: &'static str,
    /// Puts the rows of a folder in.
    pub(super) fill: fn(&Filling<'_>, &Results) -> rusqlite::Result<()>,
}

/// One folder's rows.
pub(super) struct Filling<'a> {
    pub(super) transaction: &'a Transaction<'a>,
    pub(super) folder: i64,
}

impl Filling<'_> {
    /// A row about a subject: these columns follow its own.
    pub(super) fn of_subject(
        &self,
        table: &str,
        subject: &Subject,
        values: &[&dyn ToSql],
    ) -> rusqlite::Result<()> {
        let Subject { device, function, axes, .. } = subject;
        let own = params![device, function, subject.case(), json(axes)];
        self.insert(table, &[own, values].concat())
    }

    /// A row of this folder.
    pub(super) fn insert(&self, table: &str, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
        let places = ",?".repeat(values.len());
        let mut insert =
            self.transaction.prepare_cached(&format!("INSERT INTO {table} VALUES (?{places})"))?;
        insert.execute(&[params![self.folder], values].concat()[..]).map(|_| ())
    }
}

/// SQLite's integers end at 2^63.
pub(super) fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Lists and axes.
pub(super) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
