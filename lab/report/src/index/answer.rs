//! What searches said of each run.

use lab_record::{AnswerRecord, Results};
use rusqlite::params;

use super::filling::{Filling, Table, json};

/// As the index has it.
pub(super) const TABLE: Table = Table {
    name: "answer",
    columns: "device TEXT, function TEXT, case_name TEXT, axes TEXT, run INTEGER, metric TEXT, \
              low_pps REAL, high_pps REAL, verdicts TEXT",
    fill,
};

fn fill(filling: &Filling<'_>, results: &Results) -> rusqlite::Result<()> {
    for answer in &results.answers {
        let AnswerRecord { subject, metric, low_pps, high_pps, verdicts } = answer;
        let verdicts = json(verdicts);
        filling.of_subject(
            "answer",
            subject,
            params![subject.run, metric, low_pps, high_pps, verdicts],
        )?;
    }
    Ok(())
}
