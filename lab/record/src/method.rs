//! How loads were decided: what two campaigns must agree in for their numbers to be compared.

use serde::{Deserialize, Serialize};

/// The method of a campaign's searches, as it was used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MethodRecord {
    /// The search.
    pub search: String,
    /// Kind of the links.
    pub links: String,
    /// Longest trial.
    pub trial_s: f64,
    /// The same as the scenario has it.
    pub trial_asked_s: f64,
    /// Trial time after which a load is decided.
    pub duration_sum_s: f64,
    /// The same as the scenario has it.
    pub duration_sum_asked_s: f64,
    /// How close bounds come, relative.
    pub relative_width: f64,
    /// Loss ratios of the goals.
    pub loss_ratios: Vec<f64>,
    /// Stalls of over a millisecond in a second that it was chosen for.
    pub stalls_per_s: f64,
}

impl MethodRecord {
    /// Whether numbers of both may be held against each other.
    pub fn agrees_with(&self, other: &Self) -> bool {
        // For how many stalls it was chosen is no part of it: what came of that is.
        let decided = |it: &Self| (it.trial_s, it.duration_sum_s, it.relative_width);
        self.search == other.search
            && self.links == other.links
            && self.loss_ratios == other.loss_ratios
            && decided(self) == decided(other)
    }

    /// Whether trials are shorter than the scenario asks for.
    pub fn is_shortened(&self) -> bool {
        self.trial_s < self.trial_asked_s
    }

    /// It in words, with why it is not as the scenario has it.
    pub fn words(&self) -> String {
        let Self { search, links, trial_s, duration_sum_s, relative_width, .. } = self;
        let ratios: Vec<String> =
            self.loss_ratios.iter().map(|it| (100.0 * it).to_string()).collect();
        let plain = format!(
            "{search} over {links}, trials of up to {trial_s} s, a load decided after {duration_sum_s} s, \
             bounds within {} %, goals of {} % loss",
            100.0 * relative_width,
            ratios.join(" and ")
        );
        if !self.is_shortened() {
            return plain;
        }
        format!(
            "{plain}; the scenario has trials of {} s and {} s, but before the campaign idle cores were away \
             for over 1 ms {} times a second",
            self.trial_asked_s, self.duration_sum_asked_s, self.stalls_per_s
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_trials_are_another_method_and_say_why() {
        let plain = MethodRecord {
            search: "mlr".into(),
            links: "veth".into(),
            trial_s: 2.0,
            trial_asked_s: 2.0,
            duration_sum_s: 21.0,
            duration_sum_asked_s: 21.0,
            relative_width: 0.005,
            loss_ratios: vec![0.0, 0.005],
            stalls_per_s: 0.0,
        };
        assert!(plain.agrees_with(&MethodRecord { stalls_per_s: 0.03, ..plain.clone() }));
        assert!(!plain.words().contains("scenario"), "{}", plain.words());
        let short = MethodRecord { trial_s: 0.01, stalls_per_s: 32.0, ..plain.clone() };
        assert!(!plain.agrees_with(&short) && short.is_shortened());
        let told = short.words();
        assert!(
            told.contains("trials of up to 0.01 s") && told.contains("32 times a second"),
            "{told}"
        );
        assert!(!plain.agrees_with(&MethodRecord { links: "memif".into(), ..plain.clone() }));
    }
}
