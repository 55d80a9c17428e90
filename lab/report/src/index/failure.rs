//! What could not be measured, and why.

use lab_record::{FailureRecord, Results};
use rusqlite::params;

use super::filling::{Filling, Table};

/// As the index has it.
pub(super) const TABLE: Table = Table {
    name: "failure",
    columns: "device TEXT, function TEXT, case_name TEXT, axes TEXT, run INTEGER, refused \
              INTEGER, reason TEXT",
    fill,
};

fn fill(filling: &Filling<'_>, results: &Results) -> rusqlite::Result<()> {
    for FailureRecord { subject, refused, reason } in &results.failures {
        filling.of_subject("failure", subject, params![subject.run, refused, reason])?;
    }
    Ok(())
}
