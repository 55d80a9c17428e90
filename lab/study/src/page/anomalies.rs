//! What is odd about the numbers, named by the lab itself: where, and how often.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use lab_record::{EMULATED_DEVICE, EMULATED_ENDS, StreamRecord, Verdict};
use lab_report::svg::canvas::escape;
use lab_report::words;

use super::Page;

/// Lines of each run that are told one by one.
const MOST_LINES: usize = 6;

pub(super) fn body(page: &Page<'_>) -> String {
    let mut body = String::new();
    for run in page.runs.all() {
        let Some(results) = &run.results else { continue };
        let mut lines: Vec<String> = Vec::new();
        for row in page.runs.rates(&run.id) {
            for verdict in &row.verdicts {
                lines.push(format!("{}, {}: {}", row.name(), row.label(), words::verdict(verdict)));
            }
        }
        let (mut open, mut open_trials) = (0, 0);
        let mut unbound: BTreeSet<(&str, String)> = BTreeSet::new();
        let mut spoiled: BTreeMap<&str, usize> = BTreeMap::new();
        for trial in &results.trials {
            for verdict in &trial.verdicts {
                let mut count = |what| *spoiled.entry(what).or_default() += 1;
                match verdict {
                    Verdict::CountersDisagree { missing } => {
                        open = open.max(missing.abs());
                        open_trials += 1;
                    }
                    Verdict::HostStalled { .. } => count("the host stalled"),
                    Verdict::DeviceStalled { .. } => count("the device stalled"),
                    Verdict::StillWarmingUp => count("the device was still warming up"),
                    Verdict::OrderUnknown { .. } => count("the order of packets is not known"),
                    Verdict::Drift { .. } => count("it drifts"),
                    Verdict::Bimodal { .. } => count("there are two modes"),
                    Verdict::NoBound { .. } => {
                        unbound.insert((&*trial.subject.device, words::verdict(verdict)));
                    }
                    // Of searches: their rates tell them, above; of streams, below.
                    Verdict::EmulatedEnds
                    | Verdict::EmulatedDevice
                    | Verdict::LossInversion { .. }
                    | Verdict::CutShort { .. }
                    | Verdict::NotCounted { .. }
                    | Verdict::GeneratorBound { .. }
                    | Verdict::AgainstReference { .. } => {}
                }
            }
        }
        let told = unbound.iter().map(|(device, words)| format!("{device}: {words}"));
        lines.extend(told);
        if open_trials > 0 {
            lines.push(format!("{open_trials} trials do not add up, by {open} packets at most"));
        }
        for (where_, verdict, words) in [
            (" between virtual machines", Verdict::EmulatedEnds, EMULATED_ENDS),
            ("", Verdict::EmulatedDevice, EMULATED_DEVICE),
        ] {
            let emulated = |it: &&StreamRecord| it.verdicts.contains(&verdict);
            let emulated: BTreeSet<&str> =
                results.streams.iter().filter(emulated).map(|it| &*it.subject.device).collect();
            if !emulated.is_empty() {
                let devices = Vec::from_iter(emulated).join(", ");
                lines.push(format!("{devices}{where_}: {words}"));
            }
        }
        let trials = results.trials.len();
        lines.extend(
            spoiled
                .into_iter()
                .map(|(what, count)| format!("{what} in {count} of {trials} trials")),
        );
        lines.extend(results.failures.iter().filter(|failure| !failure.refused).map(|failure| {
            let subject = &failure.subject;
            format!("{}, {}: {}", subject.device, subject.case(), failure.reason)
        }));
        lines.extend(results.skipped.iter().map(|line| format!("raw.jsonl: {line}")));
        if lines.is_empty() {
            continue;
        }
        let _ = writeln!(body, "<h3>{}</h3>\n<ul>", escape(&run.id));
        for line in lines.iter().take(MOST_LINES) {
            let _ = writeln!(body, "<li class=\"verdict\">{}</li>", escape(line));
        }
        if lines.len() > MOST_LINES {
            let more = lines.len() - MOST_LINES;
            let _ = writeln!(body, "<li>and {more} more: they stand in the run's own report</li>");
        }
        body += "</ul>\n";
    }
    if body.is_empty() { "<p>None was found.</p>\n".into() } else { body }
}
