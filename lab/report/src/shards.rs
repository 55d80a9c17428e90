//! Parts of one campaign, measured by several machines, put together again.
//!
//! ```text
//! part 1/3 ─┐
//! part 2/3 ─┼▶ alike? each once? ─▶ one raw.jsonl ─▶ one report
//! part 3/3 ─┘
//! ```
//! The lines are the parts' own; of what a campaign says of itself the first part's stands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lab_record::{Campaign, RAW_FILE, Results, host};

use crate::{Error, method};

/// Refuses parts that do not go together: of other campaigns, measured otherwise, twice, or, unless
/// `any_host`, on unlike hosts. What is missing, in words.
pub fn check(parts: &[(&Path, &Results)], any_host: bool) -> Result<Vec<String>, Error> {
    let mut missing = Vec::new();
    for (_, group) in groups(parts) {
        let [(first_path, first), others @ ..] = &group[..] else { continue };
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for (path, results) in &group {
            let shard = of(results).unwrap_or("");
            if !seen.insert(shard) {
                return Err(refuse(path, format!("part {shard} is there twice")));
            }
        }
        for (path, results) in others {
            let unlike = host::unlike(&facts(first), &facts(results)).filter(|_| !any_host);
            if let Some(why) = unlike {
                let told = format!(
                    "measured on an unlike host than {}: {why}; --any-host joins them all the same",
                    first_path.display()
                );
                return Err(refuse(path, told));
            }
            if let Some(why) = method::disagreement(first, results) {
                return Err(refuse(path, why));
            }
        }
        let count = seen.iter().find_map(|it| it.split_once('/')?.1.parse::<u32>().ok());
        for index in 1..=count.unwrap_or(0) {
            let part = format!("{index}/{}", count.unwrap_or(0));
            if !seen.contains(part.as_str()) {
                let scenario = first.campaigns.first().map_or("", |it| it.scenario.as_str());
                missing.push(format!("part {part} of {scenario}"));
            }
        }
    }
    Ok(missing)
}

/// Puts all parts of one campaign into the raw file of a new folder. What is missing, in words.
pub fn join(folders: &[&Path], out: &Path, any_host: bool) -> Result<Vec<String>, Error> {
    let mut texts = Vec::new();
    for folder in folders {
        let path = folder.join(RAW_FILE);
        texts.push(std::fs::read_to_string(&path).map_err(Error::file(path))?);
    }
    let all: Vec<Results> = texts.iter().map(|text| Results::parse(text)).collect();
    let parts: Vec<(&Path, &Results)> = folders.iter().copied().zip(&all).collect();
    for (path, results) in &parts {
        if of(results).is_none() {
            return Err(refuse(path, "it is no part of a campaign".into()));
        }
    }
    if let [_, (_, other), ..] = &groups(&parts)[..] {
        let (path, _) = other[0];
        let told = format!("it is of another campaign than {}", folders[0].display());
        return Err(refuse(path, told));
    }
    let missing = check(&parts, any_host)?;
    let raw = out.join(RAW_FILE);
    if raw.exists() {
        let reason = "it holds results, and parts are put together anew";
        return Err(Error::Folder { path: out.to_owned(), reason });
    }
    let mut joined = String::new();
    for (index, text) in texts.iter().enumerate() {
        for line in text.lines().filter(|line| index == 0 || !is_of_campaign(line)) {
            joined.push_str(line);
            joined.push('\n');
        }
    }
    std::fs::create_dir_all(out).map_err(Error::file(out))?;
    std::fs::write(&raw, joined).map_err(Error::file(raw))?;
    Ok(missing)
}

/// Whether a line is of the campaign as a whole: what all parts say alike.
fn is_of_campaign(line: &str) -> bool {
    let read = serde_json::from_str::<BTreeMap<String, serde_json::Value>>(line);
    read.is_ok_and(|it| it.contains_key("campaign") || it.contains_key("method"))
}

/// The parts of each campaign; what is no part is in none.
fn groups<'a>(parts: &[(&'a Path, &'a Results)]) -> Vec<(String, Vec<(&'a Path, &'a Results)>)> {
    let mut groups: Vec<(String, Vec<(&Path, &Results)>)> = Vec::new();
    for &(path, results) in parts.iter().filter(|it| of(it.1).is_some()) {
        let Some(name) = results.campaigns.first().map(whole) else { continue };
        match groups.iter_mut().find(|it| it.0 == name) {
            Some(group) => group.1.push((path, results)),
            None => groups.push((name, vec![(path, results)])),
        }
    }
    groups
}

fn of(results: &Results) -> Option<&str> {
    results.campaigns.first()?.shard.as_deref()
}

fn facts(results: &Results) -> BTreeMap<String, String> {
    results.campaigns.first().map(|it| it.host.clone()).unwrap_or_default()
}

/// What all parts of a campaign have in common: all that was measured and how, but for which part,
/// and of how many.
fn whole(campaign: &Campaign) -> String {
    let count = campaign.shard.as_deref().and_then(|it| it.split_once('/')).map_or("", |it| it.1);
    let mut method =
        serde_json::from_str::<serde_json::Value>(&campaign.method).unwrap_or_default();
    if let Some(method) = method.as_object_mut() {
        method.remove("shard");
    }
    format!("{} {count} {} {method}", campaign.scenario, campaign.seed)
}

fn refuse(path: &Path, why: String) -> Error {
    Error::file(path)(std::io::Error::other(why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{DoneRecord, MethodRecord, Recorder, Subject};
    use std::path::PathBuf;

    /// A part with two cases of its own.
    fn part(work: &Path, name: &str, shard: &str, processor: &str, trial_s: f64) -> PathBuf {
        let folder = work.join(name);
        let mut recorder = Recorder::open(&folder).unwrap();
        let campaign = Campaign {
            scenario: "ip4".into(),
            shard: Some(shard.into()),
            method: format!("{{\"shard\":\"{shard}\",\"links\":\"veth\"}}"),
            host: [("processor".to_owned(), processor.to_owned())].into(),
            ..Campaign::default()
        };
        recorder.write(campaign).unwrap();
        recorder.write(MethodRecord { trial_s, ..MethodRecord::default() }).unwrap();
        for case in ["a", "b"] {
            let function = format!("{shard}{case}");
            let subject = Subject { device: "volley".into(), function, ..Subject::default() };
            recorder.write(DoneRecord { subject }).unwrap();
        }
        folder
    }

    fn joined(folders: &[&PathBuf], out: &Path, any_host: bool) -> Result<Vec<String>, String> {
        let folders: Vec<&Path> = folders.iter().map(|it| it.as_path()).collect();
        join(&folders, out, any_host).map_err(|error| error.to_string())
    }

    #[test]
    fn parts_of_like_hosts_are_one_campaign_and_others_are_refused() {
        let work = std::env::temp_dir().join(format!("lab-shards-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&work);
        let one = part(&work, "1", "1/3", "A", 1.0);
        let two = part(&work, "2", "2/3", "A", 1.0);
        let three = part(&work, "3", "3/3", "A", 1.0);
        let out = work.join("all");
        assert_eq!(joined(&[&one, &two, &three], &out, false), Ok(vec![]));
        let all = Results::load(&out).unwrap();
        let cases: Vec<&str> = all.done.iter().map(|it| it.function.as_str()).collect();
        assert_eq!(cases, ["1/3a", "1/3b", "2/3a", "2/3b", "3/3a", "3/3b"]);
        assert_eq!((all.campaigns.len(), all.methods.len(), all.skipped.len()), (1, 1, 0));
        assert!(joined(&[&one, &two], &out, false).unwrap_err().contains("it holds results"));
        let missing = joined(&[&three, &one], &work.join("two"), false);
        assert_eq!(missing, Ok(vec!["part 2/3 of ip4".to_owned()]));

        let nowhere = work.join("none");
        let refused = |folders: &[&PathBuf]| joined(folders, &nowhere, false).unwrap_err();
        assert!(refused(&[&one, &one]).contains("part 1/3 is there twice"));
        let unlike = part(&work, "unlike", "2/3", "B", 1.0);
        let told = refused(&[&one, &unlike]);
        assert!(
            told.contains("processor: A there, B here") && told.contains("--any-host"),
            "{told}"
        );
        assert!(joined(&[&one, &unlike], &work.join("any"), true).is_ok());
        let other = part(&work, "other", "2/4", "A", 1.0);
        assert!(refused(&[&one, &other]).contains("of another campaign"));
        let short = part(&work, "short", "2/3", "A", 0.01);
        assert!(refused(&[&one, &short]).contains("measured otherwise"));
        assert!(!nowhere.exists());
        std::fs::remove_dir_all(&work).unwrap();
    }
}
