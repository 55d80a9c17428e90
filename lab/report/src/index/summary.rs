//! Rates over all runs.

use lab_record::{Directions, Results};
use rusqlite::params;

use super::filling::{Filling, Table, count};
use crate::summary;

/// As the index has it.
pub(super) const TABLE: Table = Table {
    name: "summary",
    columns: "device TEXT, function TEXT, case_name TEXT, axes TEXT, metric TEXT, directions TEXT, runs \
              INTEGER, pps REAL, conditional_pps REAL, upper_pps REAL, spread TEXT, low_pps REAL, high_pps REAL, sd_pps REAL, \
              limited_by TEXT",
    fill,
};

fn fill(filling: &Filling<'_>, results: &Results) -> rusqlite::Result<()> {
    for row in summary::rows(results) {
        let (runs, interval) = (count(row.runs as u64), &row.interval);
        let rates = params![
            row.metric,
            row.directions.map(Directions::name),
            runs,
            row.value_pps,
            row.conditional_pps,
            row.upper_pps,
            row.spread(),
            interval.low,
            interval.high.is_finite().then_some(interval.high),
            row.sd_pps,
            row.limiter.name()
        ];
        filling.of_subject("summary", &row.subject, rates)?;
    }
    Ok(())
}
