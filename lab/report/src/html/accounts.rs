//! The accounts of the trials: what was counted, what disturbed them, what they must be read with.

use std::collections::BTreeMap;
use std::fmt::Write;

use lab_record::{Results, Subject, TrialRecord};
use lab_search::stats::attribution::attribute;
use lab_search::stats::period;

use super::Section;
use crate::svg::canvas::escape;
use crate::words::verdict;

/// How far apart a stall and the spike that it causes may lie.
const SLACK_S: f64 = 1e-3;
/// Verdicts printed for one subject; the raw file has them all.
const MOST_VERDICTS: usize = 5;

/// The trials of each subject, runs together, in the order first measured.
fn by_subject(results: &Results) -> Vec<(Subject, Vec<&TrialRecord>)> {
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

/// Packets by their fate, subject by subject.
pub(super) fn packets(results: &Results) -> Option<Section> {
    let groups = by_subject(results);
    if groups.is_empty() {
        return None;
    }
    let mut body = header(&[
        "device",
        "case",
        "trials",
        "sent",
        "lost",
        "unsent",
        "twice",
        "reordered",
        "longest loss",
    ]);
    for (subject, trials) in &groups {
        let sum = |of: &dyn Fn(&TrialRecord) -> u64| trials.iter().map(|it| of(it)).sum::<u64>();
        let sequences = || trials.iter().filter_map(|trial| trial.sequence.as_ref());
        let tracked = |value: u64| match sequences().next() {
            Some(_) => value.to_string(),
            None => "–".into(),
        };
        let numbers = [
            trials.len().to_string(),
            sum(&|trial| trial.outcome.offered).to_string(),
            sum(&|trial| trial.outcome.lost()).to_string(),
            sum(&|trial| trial.outcome.unsent()).to_string(),
            tracked(sequences().map(|it| it.duplicates).sum()),
            tracked(sequences().map(|it| it.reordered).sum()),
            tracked(sequences().map(|it| it.longest_loss_run).max().unwrap_or(0)),
        ];
        row(&mut body, subject, &numbers);
        let mut told: Vec<String> = Vec::new();
        for found in trials.iter().flat_map(|trial| &trial.verdicts) {
            let phrase = verdict(found);
            if told.len() < MOST_VERDICTS && !told.contains(&phrase) {
                told.push(phrase);
            }
        }
        for phrase in told {
            let phrase = escape(&phrase);
            let _ = writeln!(
                body,
                "<tr><td></td><td colspan=\"8\" class=\"verdict\">{phrase}</td></tr>"
            );
        }
    }
    body.push_str("</table>\n");
    let lead = "Every packet sent is received, counted as dropped, or counted as lost.".into();
    Some(Section { title: "Packets", lead, body })
}

/// Spikes of latency, their period, and how many the host explains.
pub(super) fn spikes(results: &Results) -> Option<Section> {
    let mut body = header(&["device", "case", "spikes", "highest, µs", "period, ms", "host's"]);
    let mut any = false;
    for (subject, trials) in by_subject(results) {
        let count: usize = trials.iter().map(|trial| trial.spikes.len()).sum();
        if count == 0 {
            continue;
        }
        any = true;
        let all = trials.iter().flat_map(|trial| &trial.spikes);
        let highest = all.map(|spike| spike.peak).fold(0.0, f64::max);
        let explained: usize = trials.iter().map(|trial| explained(trial)).sum();
        let period = trials
            .iter()
            .max_by_key(|trial| trial.spikes.len())
            .and_then(|trial| {
                let times: Vec<f64> = trial.spikes.iter().map(|spike| spike.at_s).collect();
                period::find(&times)
            })
            .map_or("none".into(), |found| format!("{:.3}", 1e3 * found.period_s));
        let share = format!("{:.0} %", 100.0 * explained as f64 / count as f64);
        row(
            &mut body,
            &subject,
            &[count.to_string(), format!("{:.1}", 1e6 * highest), period, share],
        );
    }
    body.push_str("</table>\n");
    let lead = "A spike that a stall lies under, of the lab or of the device's workers, is the \
                host's; the others are the device's own."
        .into();
    any.then_some(Section { title: "Latency spikes", lead, body })
}

fn explained(trial: &TrialRecord) -> usize {
    let stalls: Vec<(f64, f64)> =
        trial.stalls.iter().map(|stall| (stall.at_s, stall.length_us / 1e6)).collect();
    attribute(&trial.spikes, &stalls, SLACK_S).iter().flatten().count()
}

fn header(names: &[&str]) -> String {
    let mut table = String::from("<table>\n<tr>");
    for (index, name) in names.iter().enumerate() {
        let class = if index < 2 { "" } else { " class=\"n\"" };
        let _ = write!(table, "<th{class}>{name}</th>");
    }
    table.push_str("</tr>\n");
    table
}

fn row(table: &mut String, subject: &Subject, numbers: &[String]) {
    let (device, case) = (escape(&subject.device), escape(&subject.case()));
    let _ = write!(table, "<tr><td>{device}</td><td>{case}</td>");
    for number in numbers {
        let _ = write!(table, "<td class=\"n\">{}</td>", escape(number));
    }
    table.push_str("</tr>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{Outcome, SequenceCounts, Spike, Stall, Trial, Verdict};

    fn results() -> Results {
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
                let seen_by = "probe".to_owned();
                trial.stalls.push(Stall { at_s, length_us: 200.0, seen_by });
            }
        }
        Results { trials: vec![trial], ..Results::default() }
    }

    #[test]
    fn packets_are_told_by_their_fate_and_verdicts_below() {
        let body = packets(&results()).unwrap().body;
        let numbers = ["1", "1000", "10", "0", "1", "1", "5"];
        let cells: String = numbers.iter().map(|it| format!("<td class=\"n\">{it}</td>")).collect();
        assert!(body.contains(&cells), "{body}");
        assert!(body.contains("3 packets unaccounted for"));
    }

    #[test]
    fn spikes_have_their_period_and_the_hosts_share() {
        let body = spikes(&results()).unwrap().body;
        assert!(body.contains("<td class=\"n\">250.0</td><td class=\"n\">100.000</td>"), "{body}");
        assert!(body.contains("50 %"));
        assert!(spikes(&Results::default()).is_none());
    }
}
