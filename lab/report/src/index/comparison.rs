//! Devices held against each other.

use lab_record::{RatioReading, Results};
use rusqlite::params;

use super::filling::{Filling, Table, count, json};

/// As the index has it.
pub(super) const TABLE: Table = Table {
    name: "comparison",
    columns: "base TEXT, other TEXT, case_name TEXT, blocks INTEGER, ratio REAL, low_ratio \
              REAL, high_ratio REAL, p REAL, smallest_believable REAL, finding TEXT, reading \
              TEXT",
    fill,
};

fn fill(filling: &Filling<'_>, results: &Results) -> rusqlite::Result<()> {
    for row in &results.comparisons {
        let found = &row.comparison;
        let finding = json(&found.finding);
        let may_be_told = row.reading() != RatioReading::Nothing;
        let reading = row.reading().sign();
        filling.insert(
            "comparison",
            params![
                row.base,
                row.other,
                row.case,
                count(found.blocks as u64),
                may_be_told.then_some(found.ratio),
                may_be_told.then_some(found.ratio_95.low),
                may_be_told.then_some(found.ratio_95.high),
                found.p,
                found.smallest_believable,
                finding.trim_matches('"'),
                reading,
            ],
        )?;
    }
    Ok(())
}
