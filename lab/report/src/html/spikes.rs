//! Spikes of latency, their period over all trials, and who was away beneath them.

use lab_record::{TrialRecord, Who};
use lab_search::stats::attribution::attribute;

use super::section::{Page, Section};
use super::subjects::{by_subject, header, row};
use crate::absences::period_of;

/// How far apart a stall and the spike that it causes may lie.
const SLACK_S: f64 = 1e-3;
/// The same where it is known from looks at the device's processes, which are 5 ms apart.
const LOOK_S: f64 = 3e-3;

/// Whose a spike is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// Nobody was away.
    Own,
    Away(Who),
}

/// Spikes of latency, their period, and who was away.
pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    let mut body = header(&[
        "device",
        "case",
        "spikes",
        "highest, µs",
        "period, ms",
        "its own",
        "device away",
        "generator away",
        "host's",
    ]);
    let mut any = false;
    for (subject, trials) in by_subject(results) {
        let count: usize = trials.iter().map(|trial| trial.spikes.len()).sum();
        if count == 0 {
            continue;
        }
        any = true;
        let all = trials.iter().flat_map(|trial| &trial.spikes);
        let highest = all.map(|spike| spike.peak).fold(0.0, f64::max);
        let times = |trial: &TrialRecord| trial.spikes.iter().map(|spike| spike.at_s).collect();
        let period = period_of(&trials, times)
            .map_or("none".into(), |period_s| format!("{:.3}", 1e3 * period_s));
        let whose: Vec<Whose> = trials.iter().flat_map(|trial| whose(trial)).collect();
        let share = |of: Whose| {
            let own = whose.iter().filter(|it| **it == of).count();
            format!("{:.0} %", 100.0 * own as f64 / count as f64)
        };
        let mut numbers = vec![count.to_string(), format!("{:.1}", 1e6 * highest), period];
        let all = [Whose::Own].into_iter().chain(Who::ALL.map(Whose::Away));
        numbers.extend(all.map(share));
        row(&mut body, &subject, &numbers);
    }
    body.push_str("</table>\n");
    let lead = "Under a spike somebody was away, or nobody: then it is the device's own. A stall that the kernel's account of \
                processor time does not explain is the host's. Of each trial the 50 largest."
        .into();
    any.then_some(Section { title: "Latency spikes", lead, body })
}

/// Of each spike of a trial.
fn whose(trial: &TrialRecord) -> Vec<Whose> {
    // What is known comes before what is not.
    let mut stalls: Vec<_> = trial.stalls.iter().collect();
    stalls.sort_by_key(|stall| stall.who.is_none());
    let times: Vec<(f64, f64)> = stalls
        .iter()
        .map(|stall| {
            let wide_s = if stall.is_of_the_device() && stall.who.is_some() { LOOK_S } else { 0.0 };
            (stall.at_s - wide_s, stall.length_us / 1e6 + 2.0 * wide_s)
        })
        .collect();
    let whose = |at: Option<usize>| {
        at.map_or(Whose::Own, |at| Whose::Away(stalls[at].who.unwrap_or(Who::Host)))
    };
    attribute(&trial.spikes, &times, SLACK_S).into_iter().map(whose).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::subjects::testing::results;
    use lab_record::{Results, Spike, Stall};

    #[test]
    fn spikes_have_their_period_and_the_hosts_share() {
        let body = section(&Page::of(&results())).unwrap().body;
        assert!(body.contains("<td class=\"n\">250.0</td><td class=\"n\">100.000</td>"), "{body}");
        assert!(
            body.contains(
                ">50 %</td><td class=\"n\">0 %</td><td class=\"n\">0 %</td><td class=\"n\">50 %<"
            ),
            "{body}"
        );
        assert!(section(&Page::of(&Results::default())).is_none());
    }

    #[test]
    fn a_spike_over_a_stopped_device_is_its_and_what_is_known_comes_first() {
        let mut trial = results().trials.remove(0);
        trial.spikes = [0.1, 0.5, 0.9]
            .map(|at_s| Spike { at_s, length_s: 1e-4, peak: 1e-3, count: 2 })
            .to_vec();
        let stall = |at_s, seen_by, who| Stall { who, ..Stall::new(at_s, 1e3, seen_by) };
        trial.stalls = vec![
            stall(0.1, "generator", None),
            stall(0.1025, Stall::KERNEL, Some(Who::Device)),
            stall(0.9, "generator", Some(Who::Generator)),
        ];
        let expected = [Whose::Away(Who::Device), Whose::Own, Whose::Away(Who::Generator)];
        assert_eq!(whose(&trial), expected);
    }
}
