//! Trials by subject, and tables with a row for each.

use std::collections::BTreeMap;
use std::fmt::Write;

use lab_record::{Results, Subject, TrialRecord};

use crate::svg::canvas::escape;

/// The trials of each subject, runs together, in the order first measured.
pub(crate) fn by_subject(results: &Results) -> Vec<(Subject, Vec<&TrialRecord>)> {
    let mut places: BTreeMap<Subject, usize> = BTreeMap::new();
    let mut groups: Vec<(Subject, Vec<&TrialRecord>)> = Vec::new();
    for trial in &results.trials {
        let subject = Subject { run: 0, ..trial.subject.clone() };
        let place = *places.entry(subject.clone()).or_insert_with(|| {
            groups.push((subject, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(trial);
    }
    groups
}

pub(super) fn header(names: &[&str]) -> String {
    let mut table = String::from("<table>\n<tr>");
    for (index, name) in names.iter().enumerate() {
        let class = if index < 2 { "" } else { " class=\"n\"" };
        let _ = write!(table, "<th{class}>{name}</th>");
    }
    table.push_str("</tr>\n");
    table
}

pub(super) fn row(table: &mut String, subject: &Subject, numbers: &[String]) {
    let (device, case) = (escape(&subject.device), escape(&subject.case()));
    let _ = write!(table, "<tr><td>{device}</td><td>{case}</td>");
    for number in numbers {
        let _ = write!(table, "<td class=\"n\">{}</td>", escape(number));
    }
    table.push_str("</tr>\n");
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use lab_record::{Outcome, SequenceCounts, Spike, Stall, Trial, Verdict};

    pub(in super::super) fn results() -> Results {
        let outcome = Outcome::of(Trial::new(1_000.0, 1.0), 990);
        let mut trial = TrialRecord::new(Subject::default(), 0, "mlr", 0.0, outcome);
        // 0, 1, 1, 3, 2 of nine.
        trial.sequence = Some(SequenceCounts {
            received: 5,
            unique: 4,
            duplicates: 1,
            reordered: 1,
            lost: 5,
            longest_loss_run: 5,
            ..SequenceCounts::default()
        });
        trial.verdicts = vec![Verdict::CountersDisagree { missing: 3 }];
        for step in 0..20 {
            let at_s = 0.1 * f64::from(step);
            trial.spikes.push(Spike { at_s, length_s: 0.0, peak: 2.5e-4, count: 1 });
            if step % 2 == 0 {
                trial.stalls.push(Stall::new(at_s, 200.0, "probe"));
            }
        }
        Results { trials: vec![trial], ..Results::default() }
    }
}
