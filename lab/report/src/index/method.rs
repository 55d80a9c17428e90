//! How loads were decided.

use lab_record::{MethodRecord, Results};
use rusqlite::params;

use super::filling::{Filling, Table, json};

/// As the index has it.
pub(super) const TABLE: Table = Table {
    name: "method",
    columns: "search TEXT, links TEXT, trial_s REAL, trial_asked_s REAL, duration_sum_s REAL, \
              duration_sum_asked_s REAL, relative_width REAL, loss_ratios TEXT, stalls_per_s REAL",
    fill,
};

fn fill(filling: &Filling<'_>, results: &Results) -> rusqlite::Result<()> {
    results.methods.iter().try_for_each(|method| {
        let MethodRecord { search, links, trial_s, trial_asked_s, .. } = method;
        let MethodRecord { duration_sum_s, duration_sum_asked_s, relative_width, .. } = method;
        filling.insert(
            "method",
            params![
                search,
                links,
                trial_s,
                trial_asked_s,
                duration_sum_s,
                duration_sum_asked_s,
                relative_width,
                json(&method.loss_ratios),
                method.stalls_per_s
            ],
        )
    })
}
