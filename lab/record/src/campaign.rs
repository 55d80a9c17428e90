//! What a campaign was measured with, and each device as it was set up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Results;

/// What a campaign was measured with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Campaign {
    /// Name of the scenario.
    pub scenario: String,
    /// Its title.
    pub title: String,
    /// When it began, ISO 8601.
    pub started: String,
    /// Names everything random.
    pub seed: u64,
    /// What was measured and how: a campaign that differs in it is another one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub method: String,
    /// What was cut of the scenario, and what that loses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
    /// Which part of a campaign it is, as in 2/3; none of a whole one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Facts of the host, by name.
    pub host: BTreeMap<String, String>,
    /// The devices, with their versions and commands.
    pub devices: Vec<DeviceFacts>,
}

/// A device as it was measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceFacts {
    /// Name in the results.
    pub name: String,
    /// Version as it says itself.
    pub version: String,
    /// Exact commands that set it up.
    pub commands: Vec<String>,
}

/// A device with its commands belongs to the campaign that it was measured in: once a name.
pub(crate) fn meet(results: &mut Results, device: DeviceFacts) {
    let Some(campaign) = results.campaigns.last_mut() else { return };
    match campaign.devices.iter_mut().find(|known| known.name == device.name) {
        Some(known) => {
            known.commands.push(String::new());
            known.commands.extend(device.commands);
        }
        None => campaign.devices.push(device),
    }
}
