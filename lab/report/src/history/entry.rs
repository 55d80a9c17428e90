//! One campaign as a history keeps it: what was measured, where, of which commit, and its numbers.

use std::collections::BTreeMap;

use lab_record::{MethodRecord, Results, host};
use serde::{Deserialize, Serialize};

use super::number::{Number, numbers};

/// A commit as its repository tells of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its hash, whole; or any name that somebody gave.
    pub hash: String,
    /// When it was made, ISO 8601 in UTC; empty where nobody knows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub made: String,
    /// The first line of its message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// Whether what was measured had changes beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dirty: bool,
}

impl Commit {
    /// Its hash as people write it.
    pub fn short(&self) -> String {
        let hash: String = match self.hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            true => self.hash.chars().take(8).collect(),
            false => self.hash.clone(),
        };
        if self.dirty { hash + "+" } else { hash }
    }
}

/// One campaign.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Name of its folder.
    pub id: String,
    /// Of which commit; none where nobody said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Commit>,
    /// Name of the scenario.
    pub scenario: String,
    /// Its title.
    pub title: String,
    /// When it began.
    pub started: String,
    /// Facts of the host, by name.
    pub host: BTreeMap<String, String>,
    /// Versions of the devices, as they say themselves.
    pub versions: BTreeMap<String, String>,
    /// How loads were decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodRecord>,
    /// What was found.
    pub numbers: Vec<Number>,
}

impl Entry {
    /// Of a campaign's raw file, which `text` is.
    pub fn of(text: &str, results: &Results, commit: Option<Commit>) -> Self {
        let campaign = results.campaigns.first().cloned().unwrap_or_default();
        let version = |it: &lab_record::DeviceFacts| (it.name.clone(), it.version.clone());
        let mut entry = Self {
            id: String::new(),
            commit,
            scenario: campaign.scenario,
            title: campaign.title,
            started: campaign.started,
            versions: campaign.devices.iter().map(version).collect(),
            host: campaign.host,
            method: results.methods.first().cloned(),
            numbers: numbers(results),
        };
        let commit = entry.commit.as_ref().map_or_else(|| "no-commit".into(), Commit::short);
        // The same file of the same commit has the same name, and so is kept once.
        let parts = [&entry.started, &commit, &entry.scenario, &host::short(text)];
        entry.id = parts.map(|part| plain(part)).join("_");
        entry
    }

    /// What names its host.
    pub fn fingerprint(&self) -> String {
        host::fingerprint(&self.host)
    }

    /// The same in eight digits.
    pub fn host_id(&self) -> String {
        host::short(&self.fingerprint())
    }

    /// What entries are ordered by: when the commit was made, else when it was measured.
    pub(super) fn order(&self) -> (&str, &str, &str) {
        let made = self.commit.as_ref().map_or("", |it| it.made.as_str());
        (if made.is_empty() { &self.started } else { made }, &self.started, &self.id)
    }

    /// Commit, or when it was measured.
    pub fn label(&self) -> String {
        self.commit.as_ref().map_or_else(|| self.started.clone(), Commit::short)
    }

    /// The day that it stands for.
    pub fn day(&self) -> &str {
        self.order().0.split('T').next().unwrap_or("")
    }
}

/// A text as part of a file's name.
fn plain(text: &str) -> String {
    let allowed = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '+' | '.');
    text.chars().filter(|it| *it != ':').map(|it| if allowed(it) { it } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_named_after_what_it_is_and_can_be_a_folder() {
        let campaign = lab_record::Campaign {
            scenario: "../x y".into(),
            started: "2026-11-26T06:00:00Z".into(),
            ..lab_record::Campaign::default()
        };
        let results = Results { campaigns: vec![campaign], ..Results::default() };
        let hash = "0123456789abcdef".to_owned();
        let commit = Commit { hash, dirty: true, ..Commit::default() };
        let entry = Entry::of("text", &results, Some(commit));
        assert!(entry.id.starts_with("2026-11-26T060000Z_01234567+_..-x-y_"), "{}", entry.id);
        assert_ne!(entry.id, Entry::of("other", &results, None).id);
        assert_eq!((entry.day(), entry.label().as_str()), ("2026-11-26", "01234567+"));
        assert_eq!(Commit { hash: "v1.2".into(), ..Commit::default() }.short(), "v1.2");
    }
}
