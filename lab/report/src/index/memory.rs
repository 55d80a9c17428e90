//! Memory of devices, over all runs.

use lab_record::Results;
use rusqlite::params;

use super::filling::{Filling, Table, count};
use crate::memory;

/// As the index has it.
pub(super) const TABLE: Table = Table {
    name: "memory",
    columns: "device TEXT, function TEXT, case_name TEXT, axes TEXT, runs INTEGER, begin_bytes REAL, \
              end_bytes REAL, most_bytes INTEGER, told TEXT",
    fill,
};

fn fill(filling: &Filling<'_>, results: &Results) -> rusqlite::Result<()> {
    for row in memory::rows(results) {
        let found =
            params![count(row.runs as u64), row.begin, row.end, count(row.most), row.words()];
        filling.of_subject("memory", &row.subject, found)?;
    }
    Ok(())
}
