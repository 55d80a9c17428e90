//! Spikes of latency, their period, and how many the host explains.

use lab_record::TrialRecord;
use lab_search::stats::attribution::attribute;
use lab_search::stats::period;

use super::section::{Page, Section};
use super::subjects::{by_subject, header, row};

/// How far apart a stall and the spike that it causes may lie.
const SLACK_S: f64 = 1e-3;

/// Spikes of latency, their period, and how many the host explains.
pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::subjects::testing::results;
    use lab_record::Results;

    #[test]
    fn spikes_have_their_period_and_the_hosts_share() {
        let body = section(&Page::of(&results())).unwrap().body;
        assert!(body.contains("<td class=\"n\">250.0</td><td class=\"n\">100.000</td>"), "{body}");
        assert!(body.contains("50 %"));
        assert!(section(&Page::of(&Results::default())).is_none());
    }
}
