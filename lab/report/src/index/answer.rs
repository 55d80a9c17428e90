//! What searches said of each run.

use lab_record::{AnswerRecord, Blame, Directions, Results};
use rusqlite::params;

use super::filling::{Filling, Table, count, json};

/// As the index has it.
pub(super) const TABLE: Table = Table {
    name: "answer",
    columns: "device TEXT, function TEXT, case_name TEXT, axes TEXT, run INTEGER, metric TEXT, directions TEXT, \
              low_pps REAL, high_pps REAL, conditional_pps REAL, limited_by TEXT, lost_by_device INTEGER, unsent_by_generator \
              INTEGER, lost_to_host INTEGER, verdicts TEXT",
    fill,
};

fn fill(filling: &Filling<'_>, results: &Results) -> rusqlite::Result<()> {
    for answer in &results.answers {
        let AnswerRecord { subject, metric, low_pps, high_pps, conditional_pps, limit, .. } =
            answer;
        let (verdicts, by) = (json(&answer.verdicts), answer.limiter().name());
        let packets = |of: fn(&Blame) -> u64| limit.map(|limit| count(of(&limit.blame)));
        filling.of_subject(
            "answer",
            subject,
            params![
                subject.run,
                metric,
                answer.directions.map(Directions::name),
                low_pps,
                high_pps,
                conditional_pps,
                by,
                packets(|blame| blame.device),
                packets(|blame| blame.generator),
                packets(|blame| blame.host),
                verdicts
            ],
        )?;
    }
    Ok(())
}
