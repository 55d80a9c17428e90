//! Packets by their fate, and what trials must be read with.

use std::fmt::Write;

use lab_record::TrialRecord;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::subjects::testing::results;

    #[test]
    fn packets_are_told_by_their_fate_and_verdicts_below() {
        let body = section(&Page::of(&results())).unwrap().body;
        let numbers = ["1", "1000", "10", "0", "1", "1", "5"];
        let cells: String = numbers.iter().map(|it| format!("<td class=\"n\">{it}</td>")).collect();
        assert!(body.contains(&cells), "{body}");
        assert!(body.contains("3 packets unaccounted for"));
    }
}
