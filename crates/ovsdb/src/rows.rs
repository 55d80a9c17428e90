//! The rows of a database, as its server tells of them (RFC 7047, 4.1.5 and 4.1.6).

use crate::datum::{Atom, Datum};
use crate::fault::{Fault, excerpt};
use serde_json::Value;
use std::collections::BTreeMap;

/// Most rows that are kept, and about how much memory they may take.
const MOST_ROWS: usize = 200_000;
const MOST_BYTES: usize = 256 << 20;

/// What a column takes, but for its name and what it has.
const ENTRY_BYTES: usize = size_of::<String>() + size_of::<Datum>();

/// A row: its columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row(BTreeMap<String, Datum>);

/// Tables of rows by their UUIDs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    tables: BTreeMap<String, BTreeMap<String, Row>>,
    count: usize,
    bytes: usize,
}

impl Row {
    fn read(value: &Value) -> Result<Self, Fault> {
        let Value::Object(columns) = value else {
            return Err(Fault::Malformed(format!("{} is no row", excerpt(&value.to_string()))));
        };
        let read = |(name, value): (&String, _)| Ok((name.clone(), Datum::read(value)?));
        columns.iter().map(read).collect::<Result<_, Fault>>().map(Self)
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(|(name, datum)| ENTRY_BYTES + name.len() + datum.bytes()).sum()
    }

    /// A column; nothing where there is none.
    pub fn get(&self, column: &str) -> &Datum {
        static NOTHING: Datum = Datum::Set(Vec::new());
        self.0.get(column).unwrap_or(&NOTHING)
    }

    /// Whether there is such a column: an older schema may lack one.
    pub fn has(&self, column: &str) -> bool {
        self.0.contains_key(column)
    }

    /// The text of a column; empty is none.
    pub fn text(&self, column: &str) -> Option<&str> {
        match self.get(column).one() {
            Some(Atom::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// The number of a column.
    pub fn whole(&self, column: &str) -> Option<i64> {
        match self.get(column).one() {
            Some(Atom::Whole(number)) => Some(*number),
            _ => None,
        }
    }

    /// Writes what will be there when the server has done it.
    pub fn set(&mut self, column: &str, datum: Datum) {
        self.0.insert(column.to_owned(), datum);
    }
}

impl Rows {
    /// The rows of a table.
    pub fn table(&self, name: &str) -> impl Iterator<Item = (&str, &Row)> {
        self.tables.get(name).into_iter().flatten().map(|(uuid, row)| (&uuid[..], row))
    }

    /// A row.
    pub fn get(&self, table: &str, uuid: &str) -> Option<&Row> {
        self.tables.get(table)?.get(uuid)
    }

    /// A row, to change.
    pub fn get_mut(&mut self, table: &str, uuid: &str) -> Option<&mut Row> {
        self.tables.get_mut(table)?.get_mut(uuid)
    }

    /// The rows that a column names, those that are there.
    pub fn named<'a>(
        &'a self,
        row: &'a Row,
        column: &str,
        table: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a Row)> {
        row.get(column).uuids().filter_map(move |uuid| Some((uuid, self.get(table, uuid)?)))
    }

    /// Takes an update in: whole, or none of it.
    pub fn update(&mut self, update: &Value) -> Result<(), Fault> {
        let wrong = |value: &Value| {
            Fault::Malformed(format!("{} is no update of rows", excerpt(&value.to_string())))
        };
        let mut changes = Vec::new();
        for (table, rows) in update.as_object().ok_or_else(|| wrong(update))? {
            for (uuid, change) in rows.as_object().ok_or_else(|| wrong(rows))? {
                let fields = change.as_object().ok_or_else(|| wrong(change))?;
                let row = fields.get("new").map(Row::read).transpose()?;
                if row.is_none() && !fields.contains_key("old") {
                    return Err(wrong(change));
                }
                changes.push((table, uuid, row));
            }
        }
        let more: usize = changes.iter().filter_map(|(.., row)| Some(row.as_ref()?.bytes())).sum();
        if self.count + changes.len() > MOST_ROWS || self.bytes + more > MOST_BYTES {
            let most = MOST_BYTES >> 20;
            return Err(Fault::Malformed(format!(
                "more than {MOST_ROWS} rows, or {most} MiB of them"
            )));
        }
        for (table, uuid, row) in changes {
            let rows = self.tables.entry(table.clone()).or_default();
            self.count -= rows.len();
            self.bytes += row.as_ref().map_or(0, Row::bytes);
            let had = match row {
                Some(row) => rows.insert(uuid.clone(), row),
                None => rows.remove(uuid),
            };
            // What was written back since it was told may have another size.
            self.bytes = self.bytes.saturating_sub(had.as_ref().map_or(0, Row::bytes));
            self.count += rows.len();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_come_change_and_go() {
        let mut rows = Rows::default();
        let row = json!({ "name": "br0", "ports": ["set", [["uuid", "p"], ["uuid", "q"]]] });
        rows.update(&json!({ "Bridge": { "b": { "new": row } } })).unwrap();
        rows.update(&json!({ "Port": { "p": { "new": { "name": "p1", "tag": 7 } } } })).unwrap();
        let bridge = rows.get("Bridge", "b").unwrap();
        assert_eq!(bridge.text("name"), Some("br0"));
        let ports: Vec<_> = rows.named(bridge, "ports", "Port").map(|(uuid, _)| uuid).collect();
        assert_eq!(ports, ["p"]);
        assert_eq!(rows.get("Port", "p").unwrap().whole("tag"), Some(7));
        let change = json!({ "old": { "tag": 7 }, "new": { "name": "p1", "tag": ["set", []] } });
        rows.update(&json!({ "Port": { "p": change } })).unwrap();
        assert_eq!(rows.get("Port", "p").unwrap().whole("tag"), None);
        rows.update(&json!({ "Port": { "p": { "old": { "name": "p1" } } } })).unwrap();
        assert_eq!((rows.get("Port", "p"), rows.count), (None, 1));
    }

    #[test]
    fn rows_take_no_more_memory_than_is_allowed_however_few_they_are() {
        let mut rows = Rows::default();
        let long = "x".repeat(30 << 20);
        let update = |uuid: String| json!({ "Bridge": { uuid: { "new": { "name": long } } } });
        // One that is told again is there once.
        for _ in 0..20 {
            rows.update(&update("same".to_owned())).unwrap();
        }
        let more = (0..20).take_while(|it| rows.update(&update(it.to_string())).is_ok()).count();
        assert_eq!(more, 7);
        rows.update(&json!({ "Bridge": { "same": { "old": {} } } })).unwrap();
        rows.update(&update("another".to_owned())).unwrap();
    }

    #[test]
    fn an_update_that_is_wrong_changes_nothing() {
        let mut rows = Rows::default();
        for wrong in [
            json!([]),
            json!({ "Bridge": [] }),
            json!({ "Bridge": { "b": 1 } }),
            json!({ "Bridge": { "b": {} } }),
            json!({ "Bridge": { "a": { "new": { "name": "x" } }, "b": { "new": { "name": {} } } } }),
        ] {
            assert!(rows.update(&wrong).is_err(), "{wrong}");
            assert_eq!(rows, Rows::default());
        }
    }
}
