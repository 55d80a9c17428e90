//! The host: what idle cores lost, beside what the generator lost in its trials.

use std::fmt::Write;

use lab_record::{ProbeRecord, Results, Stalled, Verdict};
use lab_search::stats::verdict::is_fit_for_absolutes;

use super::section::{Page, Section};
use crate::summary;

/// Stalls that somebody saw, over the time that he looked.
#[derive(Default)]
struct Seen {
    stalled: Stalled,
    watched_s: f64,
}

impl Seen {
    fn add(&mut self, stalled: &Stalled, watched_s: f64) {
        self.stalled.stalls += stalled.stalls;
        self.stalled.longest_us = self.stalled.longest_us.max(stalled.longest_us);
        self.stalled.total_us += stalled.total_us;
        self.watched_s += watched_s;
    }

    fn of<'a>(probes: impl Iterator<Item = &'a ProbeRecord>) -> Self {
        let mut seen = Self::default();
        probes.for_each(|probe| seen.add(&probe.stalled, probe.watched_s));
        seen
    }

    fn percent(&self) -> f64 {
        self.stalled.total_us / 1e4 / self.watched_s.max(1e-9)
    }
}

/// What idle cores say of the host in a sentence; none where nobody looked.
pub fn fitness(results: &Results) -> Option<String> {
    let seen = Seen::of(results.probes.iter());
    let percent = seen.percent();
    match (seen.watched_s > 0.0, is_fit_for_absolutes(&seen.stalled, seen.watched_s)) {
        (false, _) => None,
        (true, true) => Some(format!(
            "Idle cores of this host lost {percent:.3} % of their time: it is fit for absolute numbers."
        )),
        (true, false) => Some(format!(
            "This host is not fit for absolute numbers: idle cores lost {percent:.2} % of their time. \
             {}",
            believable(results)
        )),
    }
}

/// Whether idle cores say that the host was not fit for absolute numbers.
pub(crate) fn is_unfit(results: &Results) -> bool {
    let seen = Seen::of(results.probes.iter());
    seen.watched_s > 0.0 && !is_fit_for_absolutes(&seen.stalled, seen.watched_s)
}

/// What can be believed on a host that is not fit for absolute numbers, of what is told.
fn believable(results: &Results) -> String {
    let rows = summary::rows(results);
    let mut pairs = rows.iter().flat_map(|row| rows.iter().map(move |base| (row, base)));
    let between_rows = pairs.any(|(row, base)| {
        row.subject.device != base.subject.device
            && row.is_comparable_to(base)
            && row.ratio_to(base).is_some()
    });
    let compared = results.comparisons.iter().any(|it| it.reading().sign().is_some());
    let instructions = !results.modelled.is_empty();
    let all = [
        (between_rows || compared, "ratios between devices"),
        (instructions, "counts of instructions"),
    ];
    let told: Vec<&str> = all.iter().filter(|(there, _)| *there).map(|it| it.1).collect();
    match told.is_empty() {
        true => {
            "Nothing here says how fast a device is: there is no ratio to another either.".into()
        }
        false => format!("Believe {}.", told.join(", and ")),
    }
}

/// Idle probes and the generator side by side.
pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    let lead = fitness(results)?;
    let of = |name: &'static str, early: bool| {
        let mine = move |probe: &&ProbeRecord| probe.of == name && probe.at_s.is_none() == early;
        Seen::of(results.probes.iter().filter(mine))
    };
    let (mut generator, mut devices) = (Seen::default(), Seen::default());
    for trial in &results.trials {
        let elapsed_s = trial.outcome.elapsed_s;
        generator.watched_s += elapsed_s;
        for verdict in &trial.verdicts {
            if let &Verdict::HostStalled { stalls, longest_us, share } = verdict {
                let total_us = share * elapsed_s * 1e6;
                generator.add(&Stalled { stalls, longest_us, total_us }, 0.0);
            }
        }
        if let Some(told) = trial.device.as_ref().and_then(|device| device.stalls) {
            devices.add(&told.into(), elapsed_s);
        }
    }
    let rows = [
        ("lab's core, idle, before the campaign", of("lab", true)),
        ("devices' core, idle, before the campaign", of("device", true)),
        ("devices' core, idle, before each start", of("device", false)),
        ("the generator, in trials", generator),
        ("devices that tell (Volley), in trials", devices),
    ];
    let mut body = String::from(
        "<table>\n<tr><th>who looked</th><th class=\"n\">watched, s</th><th class=\"n\">stalls</th>\
         <th class=\"n\">longest, µs</th><th class=\"n\">time lost</th></tr>\n",
    );
    for (name, seen) in rows.iter().filter(|(_, seen)| seen.watched_s > 0.0) {
        let _ = writeln!(
            body,
            "<tr><td>{name}</td><td class=\"n\">{:.1}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{:.0}</td><td class=\"n\">{:.3} %</td></tr>",
            seen.watched_s,
            seen.stalled.stalls,
            seen.stalled.longest_us,
            seen.percent()
        );
    }
    body.push_str(
        "</table>\n<p class=\"facts\">An idle thread counts what is longer than 5 µs; the generator, \
         whose calls into the kernel take their time, what is longer than its link explains; Volley's \
         workers what is longer than 200 µs and 4 µs a packet.</p>\n",
    );
    Some(Section { title: "The host", lead, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{Counters, Outcome, Stalls, Subject, Trial, TrialRecord};

    fn probe(of: &str, at_s: Option<f64>, total_us: f64) -> ProbeRecord {
        let stalled = Stalled { stalls: 3, longest_us: 70.0, total_us };
        ProbeRecord { of: of.into(), at_s, watched_s: 1.0, stalled, ..ProbeRecord::default() }
    }

    #[test]
    fn a_host_that_takes_idle_cores_away_is_fit_for_ratios_alone() {
        let of = |total_us| Results {
            probes: vec![probe("lab", None, 0.0), probe("device", Some(2.0), total_us)],
            ..Results::default()
        };
        let fit = fitness(&of(1_000.0)).unwrap();
        assert!(fit.contains("0.050 %") && fit.contains("it is fit"), "{fit}");
        let unfit = fitness(&of(30_000.0)).unwrap();
        assert!(unfit.contains("not fit") && unfit.contains("1.50 %"), "{unfit}");
        let body = section(&Page::of(&of(30_000.0))).unwrap().body;
        assert!(
            body.contains("before each start") && !body.contains("the generator, in"),
            "{body}"
        );
        assert!(section(&Page::of(&Results::default())).is_none());
    }

    #[test]
    fn ratios_are_to_be_believed_only_where_there_are_any() {
        use lab_record::{AnswerRecord, Limit, ModelledRecord};
        let answer = |device: &str, limit| AnswerRecord {
            subject: Subject { device: device.into(), ..Subject::default() },
            metric: "NDR".into(),
            low_pps: 1e6,
            high_pps: 1e6,
            limit,
            ..AnswerRecord::default()
        };
        let told = |answers, modelled: &[ModelledRecord]| {
            let probes = vec![probe("device", None, 30_000.0)];
            let modelled = modelled.to_vec();
            fitness(&Results { probes, answers, modelled, ..Results::default() }).unwrap()
        };
        let at_least = Some(Limit::LARGEST_LOAD);
        let two = told(vec![answer("a", None), answer("b", None)], &[]);
        assert!(two.ends_with("Believe ratios between devices."), "{two}");
        let alone = told(vec![answer("a", None)], &[]);
        let bounds = told(vec![answer("a", at_least), answer("b", at_least)], &[]);
        for none in [&alone, &bounds] {
            assert!(none.contains("not fit") && !none.contains("Believe"), "{none}");
        }
        let counted = told(vec![answer("a", None)], &[ModelledRecord::default()]);
        assert!(counted.ends_with("Believe counts of instructions."), "{counted}");
    }

    #[test]
    fn what_devices_tell_of_their_stalls_stands_beside() {
        let stalls = Some(Stalls { workers: 2, count: 7, total_us: 100_000, longest_us: 9_000 });
        let device = Some(Counters { stalls, ..Counters::default() });
        let outcome = Outcome { elapsed_s: 10.0, ..Outcome::of(Trial::new(1.0, 10.0), 10) };
        let bare = TrialRecord::new(Subject::default(), 0, "mlr", 0.0, outcome);
        let results = Results {
            probes: vec![probe("lab", None, 0.0)],
            trials: vec![TrialRecord { device, ..bare }],
            ..Results::default()
        };
        let body = section(&Page::of(&results)).unwrap().body;
        let row = body.lines().find(|line| line.contains("devices that tell")).unwrap();
        assert!(row.contains(">10.0<") && row.contains(">7<") && row.contains("0.500 %"), "{row}");
    }
}
