//! What is no rate, over all runs.

use lab_record::Results;
use rusqlite::params;

use super::filling::{Filling, Table, count};
use crate::quantities;

/// As the index has it.
pub(super) const TABLE: Table = Table {
    name: "quantity",
    columns: "device TEXT, function TEXT, case_name TEXT, axes TEXT, metric TEXT, unit TEXT, \
              runs INTEGER, trials INTEGER, median REAL, low REAL, high REAL, sd REAL",
    fill,
};

fn fill(filling: &Filling<'_>, results: &Results) -> rusqlite::Result<()> {
    for row in quantities::rows(results) {
        let (runs, trials) = (count(row.runs as u64), count(row.values.len() as u64));
        let (unit, interval) = (row.unit.name(), &row.interval);
        let found = params![
            row.metric,
            unit,
            runs,
            trials,
            row.median,
            interval.low,
            interval.high,
            row.sd
        ];
        filling.of_subject("quantity", &row.subject, found)?;
    }
    Ok(())
}
