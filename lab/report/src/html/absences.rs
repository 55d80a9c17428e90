//! Who was away in the trials, by the kernel's account of processor time, and in which period.

use lab_record::Who;

use super::section::{Page, Section};
use super::subjects::{header, row};
use crate::absences::{self, Absences};
use crate::svg::canvas::escape;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let found = absences::of(page.results);
    if found.is_empty() {
        return None;
    }
    let mut body =
        header(&["device", "case", "who", "times", "longest, µs", "of the time", "period, ms"]);
    for it in &found {
        let period = it.period_s.map_or_else(|| "none".into(), |it| format!("{:.3}", 1e3 * it));
        let numbers = [
            words(it.who).to_owned(),
            it.count.to_string(),
            format!("{:.0}", it.longest_us),
            format!("{:.3} %", 100.0 * it.share),
            period,
        ];
        row(&mut body, &it.subject, &numbers);
    }
    body.push_str(
        "</table>\n<p class=\"facts\">Of each trial the 50 longest of each. The generator and devices whose processes \
         poll are told apart by their processor time, the devices' by looks 5 ms apart, from 0.3 ms on: who neither ran nor \
         waited for a core slept or was stopped; who waited for one, or lost it without having given it away, lost it to the host. \
         Of devices that are the kernel, or sleep when idle, nothing is known.</p>\n",
    );
    Some(Section { title: "Who was away", lead: sentence(&found), body })
}

/// As many are told in words.
const MOST_TOLD: usize = 3;

/// What stands out: who comes and goes in a period, else who was away for longest.
fn sentence(found: &[Absences]) -> String {
    let mut told: Vec<&Absences> = found.iter().filter(|it| it.period_s.is_some()).collect();
    if told.is_empty() {
        told = found.iter().collect();
        told.sort_by(|a, b| b.share.total_cmp(&a.share));
        told.truncate(1);
    }
    told.sort_by(|a, b| b.longest_us.total_cmp(&a.longest_us));
    told.truncate(MOST_TOLD);
    let phrases: Vec<String> = told.into_iter().map(phrase).collect();
    phrases.join(" ")
}

fn phrase(it: &Absences) -> String {
    let who = match it.who {
        Who::Device => "the device itself was away",
        Who::Generator => "the lab's generator was away",
        Who::Host => "the host took a core away",
    };
    let times = match it.period_s {
        Some(period_s) => {
            format!("each {:.1} ms, for {:.1} ms at most", 1e3 * period_s, it.longest_us / 1e3)
        }
        None => format!("{:.2} % of the time, in no period", 100.0 * it.share),
    };
    format!("{}, {}: {who} {times}.", escape(&it.subject.device), escape(&it.subject.case()))
}

fn words(who: Who) -> &'static str {
    match who {
        Who::Device => "the device: slept or stopped",
        Who::Generator => "the generator: slept or stopped",
        Who::Host => "the host",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{Outcome, Results, Stall, Subject, Trial, TrialRecord};

    #[test]
    fn who_comes_and_goes_in_a_period_is_told_first() {
        let outcome = Outcome::of(Trial::new(1e5, 3.0), 35_000);
        let subject = Subject { device: "<b>".into(), ..Subject::default() };
        let mut trial = TrialRecord::new(subject, 0, "x", 0.0, outcome);
        for step in 0..30 {
            let at_s = 0.1 * f64::from(step);
            let own = Stall::new(at_s, 1e3, Stall::KERNEL);
            trial.stalls.push(Stall { who: Some(Who::Generator), ..own });
        }
        trial.stalls.push(Stall { who: Some(Who::Host), ..Stall::new(1.0, 9e5, "generator") });
        let results = Results { trials: vec![trial], ..Results::default() };
        let found = section(&Page::of(&results)).unwrap();
        assert!(
            found.lead.contains("&lt;b&gt;")
                && found.lead.contains("the lab's generator was away each 100.0 ms, for 1.0 ms"),
            "{}",
            found.lead
        );
        assert!(
            found.body.contains(">100.000<") && found.body.contains(">none<"),
            "{}",
            found.body
        );
        assert!(section(&Page::of(&Results::default())).is_none());
    }
}
