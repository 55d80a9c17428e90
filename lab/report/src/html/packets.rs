//! Packets by their fate, and what trials must be read with.

use std::fmt::Write;

use lab_record::{SequenceCounts, TrialRecord};

use super::section::{Page, Section};
use super::subjects::{by_subject, header, row};
use crate::svg::canvas::escape;
use crate::words::verdict;

/// Verdicts printed for one subject; the raw file has them all.
const MOST_VERDICTS: usize = 5;

/// Packets by their fate, subject by subject.
pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
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
        let tracked = |of: fn(&SequenceCounts) -> u64, join: fn(u64, u64) -> u64| {
            let there = trials.iter().filter_map(|trial| trial.sequence.as_ref());
            let back = trials.iter().filter_map(|trial| Some(&trial.back.as_ref()?.sequence));
            match (there.map(of).reduce(join), back.map(of).reduce(join)) {
                (Some(there), Some(back)) => format!("{there} there, {back} back"),
                (Some(one), None) | (None, Some(one)) => one.to_string(),
                (None, None) => "–".into(),
            }
        };
        let (add, most) = (|a: u64, b: u64| a + b, u64::max);
        let lost = sum(&|trial| trial.outcome.lost());
        let both = trials.iter().any(|trial| trial.back.is_some());
        let ways = if both { format!(" ({})", tracked(|it| it.lost, add)) } else { String::new() };
        let numbers = [
            trials.len().to_string(),
            sum(&|trial| trial.outcome.offered).to_string(),
            format!("{lost}{ways}"),
            sum(&|trial| trial.outcome.unsent()).to_string(),
            tracked(|it| it.duplicates, add),
            tracked(|it| it.reordered, add),
            tracked(|it| it.longest_loss_run, most),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::subjects::testing::results;
    use lab_record::{Back, DelayVariation};

    #[test]
    fn packets_are_told_by_their_fate_and_verdicts_below() {
        let body = section(&Page::of(&results())).unwrap().body;
        let numbers = ["1", "1000", "10", "0", "1", "1", "5"];
        let cells: String = numbers.iter().map(|it| format!("<td class=\"n\">{it}</td>")).collect();
        assert!(body.contains(&cells), "{body}");
        let mut results = results();
        let [first, ..] = &mut results.trials[..] else { unreachable!() };
        let came_back = SequenceCounts { reordered: 8, lost: 7, ..SequenceCounts::default() };
        let variation = DelayVariation {
            pdv_p50_ns: 0,
            pdv_p99_ns: 0,
            pdv_p999_ns: 0,
            pdv_max_ns: 0,
            ipdv_mean_ns: 0.0,
            ipdv_p50_ns: 0,
            ipdv_p99_ns: 0,
        };
        first.back = Some(Back { sequence: came_back, variation, jitter_ns: 0.0 });
        let both = section(&Page::of(&results)).unwrap().body;
        assert!(both.contains(">10 (5 there, 7 back)<"), "{both}");
        assert!(both.contains(">1 there, 8 back<") && both.contains(">5 there, 0 back<"), "{both}");
        assert!(body.contains("3 packets unaccounted for"));
    }
}
