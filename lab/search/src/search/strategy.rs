//! A search as a strategy: history in, next trial out.
//!
//! ```text
//!            ┌──────────── history: every outcome so far ───────────┐
//!            ▼                                                      │
//!      Search::next ──▶ Step::Measure(trial) ──▶ (device, real or simulated)
//!            └────────▶ Step::Done(answer)
//! ```
//!
//! What `next` says depends on the history alone. A search keeps what it has read of it as a cache,
//! so a fresh search fed the same history (a resumed campaign, a report) says the same.

use lab_record::{Outcome, Trial};

use crate::Error;

/// What a search wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Step<A> {
    /// Measure this, append the outcome to the history, ask again.
    Measure(Trial),
    /// Enough is known.
    Done(A),
}

/// A search strategy.
pub trait Search {
    /// What it finds.
    type Answer;

    /// The step after `history`. The history of one search only grows; a shorter one than at the
    /// last call is another search's.
    fn next(&mut self, history: &[Outcome]) -> Result<Step<Self::Answer>, Error>;
}

/// How long a search may go on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Largest number of trials.
    pub trials: usize,
    /// Largest sum of their durations.
    pub seconds: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { trials: 10_000, seconds: 1e6 }
    }
}

/// Runs a search to its end against anything that can carry out a trial.
pub fn run<S: Search>(
    search: &mut S,
    budget: Budget,
    mut measure: impl FnMut(Trial) -> Result<Outcome, Error>,
) -> Result<(S::Answer, Vec<Outcome>), Error> {
    let mut history = Vec::new();
    let mut seconds = 0.0;
    loop {
        match search.next(&history)? {
            Step::Done(answer) => return Ok((answer, history)),
            Step::Measure(trial) => {
                if history.len() >= budget.trials || seconds + trial.duration_s > budget.seconds {
                    return Err(Error::SearchTooLong { trials: history.len(), seconds });
                }
                let outcome = measure(trial)?;
                seconds += outcome.elapsed_s;
                history.push(outcome);
            }
        }
    }
}
