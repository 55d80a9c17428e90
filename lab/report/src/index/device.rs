//! Devices, with the commands that set them up.

use lab_record::Results;
use rusqlite::params;

use super::filling::{Filling, Table, json};

/// As the index has it.
pub(super) const TABLE: Table =
    Table { name: "device", columns: "name TEXT, version TEXT, commands TEXT", fill };

fn fill(filling: &Filling<'_>, results: &Results) -> rusqlite::Result<()> {
    let mut devices = results.campaigns.iter().flat_map(|campaign| &campaign.devices);
    devices.try_for_each(|device| {
        let commands = json(&device.commands);
        filling.insert("device", params![device.name, device.version, commands])
    })
}
