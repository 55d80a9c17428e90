//! Loss in every trial, against its load.

use super::section::{MOST_SUBJECTS, Page, Section, figure};
use crate::figures::loss;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    let mut cases: Vec<(String, Vec<(String, loss::Points)>)> = Vec::new();
    for trial in results.trials.iter().filter(|trial| trial.latency.is_none()) {
        let (case, device) = (trial.subject.case(), &trial.subject.device);
        let at = cases.iter().position(|it| it.0 == case).unwrap_or_else(|| {
            cases.push((case, Vec::new()));
            cases.len() - 1
        });
        let outcome = &trial.outcome;
        let offered_pps = outcome.offered as f64 / outcome.trial.duration_s.max(1e-9);
        let point = (offered_pps, outcome.device_loss_ratio());
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
    let lead = "What the device lost of what was sent. What the generator did not send is no part of the \
                load; what was lost while the host had the lab's core, or in the lab's own receive rings, \
                is no loss of the device."
        .into();
    (!body.is_empty()).then_some(Section { title: "Loss against load", lead, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{Outcome, Results, Subject, Trial, TrialRecord};

    #[test]
    fn what_the_generator_did_not_send_is_no_loss_of_the_device() {
        let body = |offered, received| {
            let outcome = Outcome { offered, received, ..Outcome::of(Trial::new(1e6, 1.0), 0) };
            let trial = TrialRecord::new(Subject::default(), 0, "mlr", 0.0, outcome);
            let results = Results { trials: vec![trial], ..Results::default() };
            section(&Page::of(&results)).unwrap().body
        };
        // The same picture as that of a trial which was asked for no more.
        let asked = Outcome::of(Trial::new(4e5, 1.0), 400_000);
        let trial = TrialRecord::new(Subject::default(), 0, "mlr", 0.0, asked);
        let results = Results { trials: vec![trial], ..Results::default() };
        let plain = section(&Page::of(&results)).unwrap().body;
        assert_eq!(body(400_000, 400_000), plain);
        assert_ne!(body(400_000, 300_000), plain);
    }
}
