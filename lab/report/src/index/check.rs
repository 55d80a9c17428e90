//! Whether devices do what their functions say.

use lab_record::Results;
use rusqlite::params;

use super::filling::{Filling, Table, count};
use crate::checks;

/// As the index has it.
pub(super) const TABLE: Table = Table {
    name: "function_check",
    columns: "device TEXT, function TEXT, case_name TEXT, axes TEXT, run INTEGER, passed \
              INTEGER, sent INTEGER, came INTEGER, kept_out_sent INTEGER, kept_out_came \
              INTEGER, fault TEXT",
    fill,
};

fn fill(filling: &Filling<'_>, results: &Results) -> rusqlite::Result<()> {
    for check in &results.checks {
        let [sent, came, kept_out, slipped] = check.counts().map(count);
        let fault = check.fault.as_ref().map(checks::told);
        filling.of_subject(
            "function_check",
            &check.subject,
            params![check.subject.run, check.passed(), sent, came, kept_out, slipped, fault],
        )?;
    }
    Ok(())
}
