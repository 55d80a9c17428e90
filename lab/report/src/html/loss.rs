//! Loss in every trial, against its load.

use super::section::{LATENCY, MOST_SUBJECTS, Page, Section, figure};
use crate::figures::loss;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    let mut cases: Vec<(String, Vec<(String, loss::Points)>)> = Vec::new();
    for trial in results.trials.iter().filter(|trial| trial.purpose != LATENCY) {
        let (case, device) = (trial.subject.case(), &trial.subject.device);
        let at = cases.iter().position(|it| it.0 == case).unwrap_or_else(|| {
            cases.push((case, Vec::new()));
            cases.len() - 1
        });
        let point = (trial.outcome.trial.load_pps, trial.outcome.loss_ratio());
        let devices = &mut cases[at].1;
        match devices.iter_mut().find(|it| it.0 == *device) {
            Some((_, points)) => points.push(point),
            None => devices.push((device.clone(), vec![point])),
        }
    }
    let mut body = String::new();
    for (case, devices) in cases.iter().take(MOST_SUBJECTS) {
        if let Some(svg) = loss::draw(devices) {
            body.push_str(&figure(&svg, &format!("Loss in every trial: {case}.")));
        }
    }
    let lead = "Unsent packets count as lost.".into();
    (!body.is_empty()).then_some(Section { title: "Loss against load", lead, body })
}
