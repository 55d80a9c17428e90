//! The trials of a run, in order of time.

use std::collections::BTreeMap;

use lab_record::{Subject, TrialRecord};

use super::section::{MOST_SUBJECTS, Page, Section, figure};
use crate::figures::timeline;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    let mut runs: BTreeMap<&Subject, Vec<&TrialRecord>> = BTreeMap::new();
    let mut order: Vec<&Subject> = Vec::new();
    for trial in results.trials.iter().filter(|trial| trial.subject.run == 0) {
        if !runs.contains_key(&trial.subject) {
            order.push(&trial.subject);
        }
        runs.entry(&trial.subject).or_default().push(trial);
    }
    let mut body = String::new();
    order.retain(|subject| runs.get(subject).is_some_and(|trials| trials.len() >= 3));
    for subject in order.into_iter().take(MOST_SUBJECTS) {
        if let Some(svg) = runs.get(subject).and_then(|trials| timeline::draw(trials)) {
            let caption = format!("First run of {}: {}.", subject.device, subject.case());
            body.push_str(&figure(&svg, &caption));
        }
    }
    let lead =
        "Each bar is a trial at its load, in order of time; stalls of the lab and of the device above.".into();
    (!body.is_empty()).then_some(Section { title: "Trials over time", lead, body })
}
