//! Campaigns.

use lab_record::{Campaign, Results};
use rusqlite::params;

use super::filling::{Filling, Table, json};

/// As the index has it.
pub(super) const TABLE: Table = Table {
    name: "campaign",
    columns: "scenario TEXT, title TEXT, started TEXT, seed TEXT, host TEXT",
    fill,
};

fn fill(filling: &Filling<'_>, results: &Results) -> rusqlite::Result<()> {
    results.campaigns.iter().try_for_each(|campaign| {
        let Campaign { scenario, title, started, seed, host, .. } = campaign;
        let seed = seed.to_string();
        filling.insert("campaign", params![scenario, title, started, seed, json(host)])
    })
}
