//! What a search is to a scenario and to a report: a name, parameters, a pursuit, and what it
//! finds.

use std::fmt;

use lab_record::{AnswerRecord, Limit, MethodRecord, Outcome, Subject, Unit, Verdict};

use super::goal::Goal;
use super::stand::{Stand, Witness};
use super::strategy::{Search, Step};
use super::terms::{Parameter, Terms};
use crate::Error;

/// A search as scenarios name it.
pub struct Kind {
    /// Its name there.
    pub name: &'static str,
    /// Its own parameters, beside those that all have.
    pub parameters: &'static [Parameter],
    /// By what it measures.
    pub manner: Manner,
    /// Length of a trial that the method itself asks for; simulated devices get it.
    pub trial_s: f64,
    /// Sum of trial times that the method itself asks for; likewise.
    pub duration_sum_s: f64,
    /// Whether its rates are of both directions together; else of each.
    pub of_both_directions: bool,
    /// Whether its trials are shorter on a host that stalls.
    pub shortens: bool,
    /// How often it measures the same, unless `repetitions` says otherwise; none where it repeats
    /// nothing, and then nobody may say.
    pub repeats: Option<u32>,
    /// What the report says beside its numbers that are no rates.
    pub reading: &'static str,
    /// Carries it out: to its end, or until the time is up. [`Kind::carry_out`] tells what limited
    /// what it found, too.
    pub pursue: Pursue,
}

/// Carries a search out.
pub type Pursue = fn(&Terms<'_>, &mut dyn Stand) -> Result<Findings, Error>;

/// By what a search measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// By trials at loads that the generator sends.
    Loads,
    /// By looking at every packet, at a rate that anything carries: nothing is timed.
    Checks,
    /// By streams between endpoints, which find their own load.
    Streams,
}

impl Kind {
    /// One of trials at loads that has no more to say than its name and how it is carried out.
    pub const fn new(name: &'static str, pursue: Pursue) -> Self {
        Self {
            name,
            parameters: &[],
            manner: Manner::Loads,
            trial_s: 1.0,
            duration_sum_s: 21.0,
            of_both_directions: false,
            shortens: false,
            repeats: None,
            reading: "",
            pursue,
        }
    }

    /// What its trials are told by in the raw file.
    pub fn purpose(&self) -> String {
        self.name.replace('-', "")
    }

    /// Carries it out, and tells of each rate what kept it from being higher.
    pub fn carry_out(&self, terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
        let mut seen = Witness { stand, outcomes: Vec::new() };
        let mut found = (self.pursue)(terms, &mut seen)?;
        for rate in &mut found.rates {
            rate.limit = rate.limited(&seen.outcomes);
        }
        Ok(found)
    }

    /// How it decides loads, over links of this name.
    pub fn method(&self, terms: &Terms<'_>, links: &str) -> Result<MethodRecord, Error> {
        let goals = if self.shortens { Goal::all(terms)? } else { Vec::new() };
        let used = goals.first().map(|goal| goal.on_stalling_host(terms.stalls_per_s));
        let &Terms { trial_s, duration_sum_s, relative_width, stalls_per_s, .. } = terms;
        Ok(MethodRecord {
            search: self.name.to_owned(),
            links: links.to_owned(),
            trial_s: used.map_or(trial_s, |goal| goal.final_trial_s),
            trial_asked_s: trial_s,
            duration_sum_s: used.map_or(duration_sum_s, |goal| goal.duration_sum_s),
            duration_sum_asked_s: duration_sum_s,
            relative_width,
            loss_ratios: terms.loss_ratios.to_vec(),
            stalls_per_s,
        })
    }

    /// An error: it is not for trials at loads to carry out.
    pub fn refuse(&self) -> Error {
        Error::NoSearch { search: self.name.into() }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A rate that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its name: NDR, PDR 0.5 %, MRR …
    pub metric: String,
    /// Lower bound, or the number itself.
    pub low_pps: f64,
    /// Upper bound, or the number itself.
    pub high_pps: f64,
    /// Conditional throughput at the lower bound, where the method has one.
    pub conditional_pps: Option<f64>,
    /// Loss ratio above which a trial at the upper bound tells what limits it.
    pub loss_ratio: f64,
    /// What kept it from being higher.
    pub limit: Limit,
    /// What it must be read with.
    pub verdicts: Vec<Verdict>,
}

impl Found {
    /// A number without bounds.
    pub fn one(metric: &str, pps: f64) -> Self {
        Self::between(metric, pps, pps)
    }

    /// Two bounds.
    pub fn between(metric: &str, low_pps: f64, high_pps: f64) -> Self {
        Self {
            metric: metric.into(),
            low_pps,
            high_pps,
            conditional_pps: None,
            loss_ratio: 0.0,
            limit: Limit::LARGEST_LOAD,
            verdicts: Vec::new(),
        }
    }

    /// As it is written down.
    pub fn answer(self, subject: Subject) -> AnswerRecord {
        let Self { metric, low_pps, high_pps, conditional_pps, limit, verdicts, .. } = self;
        let limit = Some(limit);
        let directions = None;
        AnswerRecord {
            subject,
            metric,
            directions,
            low_pps,
            high_pps,
            conditional_pps,
            limit,
            verdicts,
        }
    }

    /// What limits it: told by the trials at the smallest load from the upper bound on that missed
    /// its goal, or those at the largest load where it has no bounds.
    fn limited(&self, outcomes: &[Outcome]) -> Limit {
        let loads = outcomes.iter().map(|outcome| outcome.trial.load_pps);
        let largest_pps = loads.fold(0.0, f64::max);
        let from_pps = if self.high_pps > self.low_pps { self.high_pps } else { largest_pps };
        let missed =
            |it: &&Outcome| it.trial.load_pps >= from_pps && it.loss_ratio() > self.loss_ratio;
        let loads = outcomes.iter().filter(missed).map(|outcome| outcome.trial.load_pps);
        let Some(at_pps) = loads.reduce(f64::min) else { return Limit::LARGEST_LOAD };
        Limit::of(outcomes.iter().filter(|it| it.trial.load_pps == at_pps), self.loss_ratio)
    }
}

/// A quantity that a search found which is no rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// Its name.
    pub metric: &'static str,
    /// What it is counted in.
    pub unit: Unit,
    /// The value of each repetition.
    pub values: Vec<f64>,
    /// What they must be read with, in words.
    pub note: Option<String>,
}

impl Quantity {
    /// One that nothing need be said of.
    pub fn new(metric: &'static str, unit: Unit, values: Vec<f64>) -> Self {
        Self { metric, unit, values, note: None }
    }
}

/// All that a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    /// Rates, each with what kept it from being higher.
    pub rates: Vec<Found>,
    /// Everything else.
    pub quantities: Vec<Quantity>,
}

impl From<Vec<Found>> for Findings {
    fn from(rates: Vec<Found>) -> Self {
        Self { rates, quantities: Vec::new() }
    }
}

/// Carries a strategy out: its answer, if there was time for it, and the number of trials.
pub fn carry_out<S: Search>(
    search: &mut S,
    stand: &mut dyn Stand,
) -> Result<(Option<S::Answer>, usize), Error> {
    let mut history = Vec::new();
    loop {
        match search.next(&history)? {
            Step::Done(answer) => return Ok((Some(answer), history.len())),
            Step::Measure(_) if stand.is_over() => return Ok((None, history.len())),
            Step::Measure(next) => history.push(stand.measure(next)?),
        }
    }
}

/// Carries a strategy out; an error names it where there was no time for its answer.
pub fn finish<S: Search>(
    search: &mut S,
    stand: &mut dyn Stand,
    name: &'static str,
) -> Result<S::Answer, Error> {
    carry_out(search, stand)?.0.ok_or(Error::TimeUp { search: name })
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Findings, Kind, Stand, Terms};
    use crate::Error;
    use crate::search::named;
    use std::collections::BTreeMap;

    /// Carries the search of a name out as a plain scenario asks for it, up to 10 Mpps.
    pub(crate) fn pursue(search: &str, stand: &mut dyn Stand) -> Result<Findings, Error> {
        pursued(named(search).unwrap(), stand)
    }

    /// The same with one that need not be in the list.
    pub(crate) fn pursued(kind: &Kind, stand: &mut dyn Stand) -> Result<Findings, Error> {
        kind.carry_out(&terms(), stand)
    }

    /// What a plain scenario asks for, up to 10 Mpps.
    pub(crate) fn terms() -> Terms<'static> {
        Terms {
            max_pps: 1e7,
            load_share: 1.0,
            stalls_per_s: 0.0,
            trial_s: 1.0,
            relative_width: 0.005,
            duration_sum_s: 21.0,
            loss_ratios: &[0.0],
            repetitions: None,
            reference: None,
            parameters: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::pursue;
    use super::*;
    use crate::sim::{Device, Model};
    use lab_record::{Limiter, Trial};

    /// A simulated device that so many trials can be made on.
    struct Short {
        device: Device,
        trials: usize,
    }

    impl Stand for Short {
        fn measure(&mut self, trial: Trial) -> Result<Outcome, Error> {
            self.trials -= 1;
            Ok(self.device.measure(trial))
        }

        fn is_over(&self) -> bool {
            self.trials == 0
        }
    }

    fn short(trials: usize) -> Short {
        Short { device: Device::new(Model::quiet(4e6), 1), trials }
    }

    #[test]
    fn each_search_finds_the_capacity_of_a_quiet_device() {
        for search in ["mlr", "max-rate", "throughput", "loss-scan", "frame-loss"] {
            let found = pursue(search, &mut short(10_000)).unwrap().rates;
            let (low, high) = (found[0].low_pps, found[0].high_pps);
            // Its loads are a tenth of the largest apart.
            let most = if search == "frame-loss" { 5.01e6 } else { 4.6e6 };
            assert!(low > 3.4e6 && low <= 4.01e6 && high < most, "{search}: {low} to {high}");
            assert_eq!(found[0].limit.by, Limiter::Device, "{search}");
            assert!(found[0].limit.blame.device > 0, "{search}: {:?}", found[0].limit);
        }
        assert!(pursue("stream", &mut short(1)).unwrap_err().to_string().contains("stream"));
    }

    #[test]
    fn trials_made_shorter_for_a_host_that_stalls_are_told_as_such() {
        let method = |name: &str, stalls_per_s| {
            let terms = Terms { stalls_per_s, ..super::testing::terms() };
            crate::search::named(name).unwrap().method(&terms, "veth").unwrap()
        };
        let (quiet, stalling) = (method("mlr", 0.0), method("mlr", 4.0));
        assert!(!quiet.is_shortened() && stalling.is_shortened());
        assert_eq!((stalling.trial_s, stalling.trial_asked_s), (0.05, 1.0));
        assert!((stalling.duration_sum_s - 3.0).abs() < 1e-9, "{stalling:?}");
        assert!(!method("throughput", 4.0).is_shortened());
    }

    #[test]
    fn what_the_generator_limits_is_called_the_generators_by_every_search() {
        for search in ["mlr", "max-rate", "throughput", "loss-scan", "frame-loss", "soak"] {
            // The device takes all that the generator can send.
            let model = Model { generator_pps: 3e6, ..Model::quiet(4e6) };
            let mut stand = Short { device: Device::new(model, 1), trials: 10_000 };
            let found = pursue(search, &mut stand).unwrap().rates;
            let limit = found[0].limit;
            assert_eq!((limit.by, limit.blame.device), (Limiter::Generator, 0), "{search}");
            assert!(limit.blame.generator > 0, "{search}: {limit:?}");
            // And all that there is.
            let mut stand = Short { device: Device::new(Model::quiet(2e7), 1), trials: 10_000 };
            let found = pursue(search, &mut stand).unwrap().rates;
            assert_eq!(found[0].limit, Limit::LARGEST_LOAD, "{search}");
        }
    }

    #[test]
    fn what_is_lost_while_the_host_has_our_core_is_the_hosts() {
        let mut device = Device::new(Model::quiet(4e6), 1);
        let mut stand = |trial: Trial| {
            // Above 3 Mpps the host comes in between, and what came meanwhile is lost.
            let outcome = device.measure(trial);
            let away_s = if trial.load_pps > 3e6 { 0.01 * trial.duration_s } else { 0.0 };
            let lost = (away_s * trial.load_pps) as u64;
            Ok(Outcome { away_s, received: outcome.received.saturating_sub(lost), ..outcome })
        };
        let found = pursue("throughput", &mut stand).unwrap().rates;
        assert!(found[0].low_pps < 3.1e6, "{found:?}");
        assert_eq!(found[0].limit.by, Limiter::Host, "{:?}", found[0].limit);
    }

    #[test]
    fn a_search_whose_time_is_up_says_what_it_knows_and_nothing_where_that_is_nothing() {
        for search in ["mlr", "throughput"] {
            let found = pursue(search, &mut short(0));
            assert!(matches!(found, Err(Error::TimeUp { .. })), "{search}");
        }
        // The largest loads are too much, and the time is up before one is found that is not.
        let only_upper = pursue("mlr", &mut short(20));
        assert!(matches!(only_upper, Err(Error::TimeUp { .. })), "{only_upper:?}");
        // Of two goals, one after the other, the first to be satisfied is told.
        let both = Terms { loss_ratios: &[0.0, 0.005], ..testing::terms() };
        let cut = super::super::mlr::KIND.carry_out(&both, &mut short(20)).unwrap().rates;
        assert_eq!(cut.len(), 1, "{cut:?}");
        assert!((3.98e6..4.03e6).contains(&cut[0].low_pps), "{cut:?}");
        assert!(matches!(cut[0].verdicts[..], [.., Verdict::CutShort { trials: 20 }]), "{cut:?}");
    }
}
