//! MLRsearch: the bounds of several goals at once, by trials as short as will do.
//!
//! ```text
//! warm-up ▶ trial at the largest load ▶ at its forwarding rate ▶ once more ─┐
//!     ┌─────────────────────────────────────────────────────────────────────┘
//!     ▼
//!   each goal nominates ──▶ lowest load wins ──▶ measure ──▶ every goal learns ──┐
//!     ▲                                                                          │
//!     └──────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! draft-ietf-bmwg-mlrsearch (load classification, conditional throughput, loss inversion). Trial
//! for trial the same as the published reference implementation; `tests/mlr_parity.rs` runs both.

mod answer;
mod database;
mod grid;
mod limits;
mod load_stat;
mod pursuit;
mod selector;
mod target;

pub use super::goal::Goal;
pub use answer::GoalAnswer;
use database::{Bounds, Database};
pub use grid::Grid;
use lab_record::{Outcome, Trial, Verdict};
use limits::useful_load;
use selector::{Candidate, Selector};

use super::kind::{Findings, Found, Kind, carry_out};
use super::stand::Stand;
use super::strategy::{Search, Step};
use super::terms::Terms;
use crate::Error;

/// As scenarios name it.
pub const KIND: Kind = Kind { shortens: true, ..Kind::new("mlr", pursue) };

/// Longest trial that warms a device up.
const WARMUP_S: f64 = 0.2;

/// On a host that stalls it makes more and shorter trials: a long one would nearly always meet a
/// stall and call it loss.
fn pursue(terms: &Terms<'_>, stand: &mut dyn Stand) -> Result<Findings, Error> {
    let max_pps = terms.max_pps;
    let goals = Goal::all(terms)?.into_iter();
    let goals = goals.map(|goal| goal.on_stalling_host(terms.stalls_per_s)).collect();
    let warmup_s = terms.trial_s.min(WARMUP_S);
    let config = Config { min_pps: terms.min_pps(), max_pps, warmup_s, goals };
    let mut search = MlrSearch::new(&config)?;
    let (answer, trials) = carry_out(&mut search, stand)?;
    let cut = answer.is_none().then_some(trials);
    let mut answers = answer.unwrap_or_else(|| search.answers());
    if cut.is_some() {
        // What no load was found to satisfy is no rate: not even one of nothing.
        answers.retain(|it| it.lower_pps.is_some());
        if answers.is_empty() {
            return Err(Error::TimeUp { search: "any load that satisfies a goal of an MLRsearch" });
        }
    }
    let found = answers.into_iter().map(|answer| found(answer, max_pps, cut));
    Ok(found.collect::<Vec<_>>().into())
}

fn found(answer: GoalAnswer, max_pps: f64, cut: Option<usize>) -> Found {
    let metric = match answer.loss_ratio {
        0.0 => "NDR".to_owned(),
        ratio => format!("PDR {} %", 100.0 * ratio),
    };
    let mut verdicts = Vec::new();
    if !answer.inversions_pps.is_empty() {
        verdicts.push(Verdict::LossInversion { loads_pps: answer.inversions_pps });
    }
    verdicts.extend(cut.map(|trials| Verdict::CutShort { trials: trials as u64 }));
    let (low_pps, high_pps) = (answer.lower_pps.unwrap_or(0.0), answer.upper_pps);
    let bounds = Found::between(&metric, low_pps, high_pps.unwrap_or(max_pps));
    let (loss_ratio, conditional_pps) = (answer.loss_ratio, answer.conditional_pps);
    Found { loss_ratio, conditional_pps, verdicts, ..bounds }
}

/// What to search, and between which loads.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Smallest load worth knowing of.
    pub min_pps: f64,
    /// Largest load that the generator and the link can make.
    pub max_pps: f64,
    /// Length of the trial that warms the device up; its result is not used. 0 for none.
    pub warmup_s: f64,
    /// The goals, most wanted first.
    pub goals: Vec<Goal>,
}

/// What the trial in flight is for.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Warmup,
    AtMaximum,
    AtForwardingRate,
    Again { first: i64 },
    Goal { index: usize, candidate: Candidate },
}

/// The search.
#[derive(Debug, Clone)]
pub struct MlrSearch {
    grid: Grid,
    goals: Vec<Goal>,
    warmup_s: f64,
    /// Loss ratio, trial duration and width of the trials before the goals nominate.
    first: (f64, f64, i64),
    database: Database,
    /// Id of the last target of each goal.
    finals: Vec<usize>,
    selectors: Vec<Selector>,
    /// The step that outward searches of all goals take at least, so that they do not interleave.
    shared_step: i64,
    read: usize,
    pending: Option<(Purpose, i64, Trial)>,
}

impl MlrSearch {
    /// A search that has not seen a trial yet.
    pub fn new(config: &Config) -> Result<Self, Error> {
        config.goals.iter().try_for_each(Goal::check)?;
        if config.goals.is_empty() {
            return Err(Error::TooFew { what: "MLRsearch goals", needed: 1, got: 0 });
        }
        let widths: Vec<f64> = config.goals.iter().map(|goal| goal.relative_width).collect();
        let grid = Grid::new(config.min_pps, config.max_pps, &widths)?;
        let mut targets = Vec::new();
        let mut finals = Vec::new();
        let mut first = (f64::INFINITY, 0.0f64, 0i64);
        for goal in &config.goals {
            let chain = target::targets(goal, &grid);
            let coarsest = &chain[0];
            first.0 = first.0.min(coarsest.loss_ratio);
            first.1 = first.1.max(coarsest.trial_s);
            first.2 = first.2.max(coarsest.width);
            targets.extend(chain);
            finals.push(targets.len() - 1);
        }
        Ok(Self {
            grid,
            goals: config.goals.clone(),
            warmup_s: config.warmup_s,
            first,
            database: Database::new(targets),
            finals,
            selectors: Vec::new(),
            shared_step: 0,
            read: 0,
            pending: None,
        })
    }

    /// The grid of loads that the search measures at.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    fn plan(&mut self, purpose: Purpose, notch: i64, duration_s: f64) {
        self.pending = Some((purpose, notch, Trial::new(self.grid.load_pps(notch), duration_s)));
    }

    fn start(&mut self) {
        let (purpose, duration_s) = if self.warmup_s > 0.0 {
            (Purpose::Warmup, self.warmup_s)
        } else {
            (Purpose::AtMaximum, self.first.1)
        };
        self.plan(purpose, self.grid.top(), duration_s);
    }

    /// The notch of the load at which all that was forwarded would just be `1 - loss` of it.
    fn forwarding_notch(&self, outcome: &Outcome) -> i64 {
        self.grid.notch_below(outcome.forwarding_pps() * (1.0 / (1.0 - self.first.0)))
    }

    fn learn(&mut self, outcome: &Outcome) -> Result<(), Error> {
        let Some((purpose, notch, _)) = self.pending.take() else { return Ok(()) };
        self.database.add(notch, outcome);
        let (loss_ratio, duration_s, width) = self.first;
        let top = self.grid.top();
        match purpose {
            Purpose::Warmup => {
                self.database.clear();
                self.plan(Purpose::AtMaximum, top, duration_s);
            }
            Purpose::AtMaximum => {
                let load = self.forwarding_notch(outcome);
                if load >= top {
                    return self.select(top, top);
                }
                let below = Bounds { lower: None, upper: Some(top) };
                let second = useful_load(&self.grid, load, width, below)?
                    .ok_or_else(|| Error::Contradiction("no load below the largest".into()))?;
                self.plan(Purpose::AtForwardingRate, second, duration_s);
            }
            Purpose::AtForwardingRate => {
                let third = if outcome.loss_ratio() > loss_ratio {
                    let below = Bounds { lower: None, upper: Some(notch) };
                    useful_load(&self.grid, self.forwarding_notch(outcome), width, below)?
                } else {
                    let between = Bounds { lower: Some(notch), upper: Some(top) };
                    useful_load(&self.grid, notch + width, width, between)?
                };
                match third {
                    Some(third) => self.plan(Purpose::Again { first: notch }, third, duration_s),
                    None => return self.select(notch, notch),
                }
            }
            Purpose::Again { first } => return self.select(first.min(notch), first.max(notch)),
            Purpose::Goal { index, candidate } => {
                self.shared_step = candidate.nomination.width;
                let selector = &mut self.selectors[index];
                let grown = selector.measured(&self.grid, &self.database, candidate.nomination);
                self.shared_step = grown.unwrap_or(self.shared_step);
                return self.nominate();
            }
        }
        Ok(())
    }

    /// Lets the goals begin, from two loads near the forwarding rate.
    fn select(&mut self, lower: i64, upper: i64) -> Result<(), Error> {
        self.shared_step = upper - lower;
        let start = Bounds { lower: Some(lower), upper: Some(upper) };
        let mut begin = 0;
        for (goal, &last) in self.goals.iter().zip(&self.finals) {
            let chain = begin..last + 1;
            let (grid, fail_fast) = (&self.grid, goal.fail_fast);
            self.selectors.push(Selector::new(grid, &self.database, chain, fail_fast, start));
            begin = last + 1;
        }
        self.nominate()
    }

    fn nominate(&mut self) -> Result<(), Error> {
        let mut winner: Option<(usize, Candidate)> = None;
        for (index, selector) in self.selectors.iter_mut().enumerate() {
            let nominated = selector.nominate(&self.grid, &self.database, self.shared_step)?;
            let Some(candidate) = nominated else { continue };
            if !winner.is_some_and(|(_, best)| best.precedes(&candidate)) {
                winner = Some((index, candidate));
            }
        }
        if let Some((index, candidate)) = winner {
            let notch = candidate.nomination.notch;
            self.plan(Purpose::Goal { index, candidate }, notch, candidate.trial_s);
        }
        Ok(())
    }

    /// What is known so far: bounds that may still be far apart.
    pub fn answers(&self) -> Vec<GoalAnswer> {
        let goals = self.goals.iter().zip(&self.finals);
        goals.map(|(goal, &id)| GoalAnswer::read(&self.grid, &self.database, goal, id)).collect()
    }
}

impl Search for MlrSearch {
    type Answer = Vec<GoalAnswer>;

    fn next(&mut self, history: &[Outcome]) -> Result<Step<Vec<GoalAnswer>>, Error> {
        if self.read == 0 && self.pending.is_none() {
            self.start();
        }
        while let (Some(outcome), Some((_, _, asked))) = (history.get(self.read), &self.pending) {
            if outcome.trial.load_pps != asked.load_pps {
                return Err(Error::History {
                    index: self.read,
                    asked_pps: asked.load_pps,
                    reported_pps: outcome.trial.load_pps,
                });
            }
            self.read += 1;
            self.learn(outcome)?;
        }
        Ok(match &self.pending {
            Some((_, _, trial)) => Step::Measure(*trial),
            None => Step::Done(self.answers()),
        })
    }
}
