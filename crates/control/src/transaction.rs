//! Changes to the running configuration: whole or not at all, undone unless confirmed when asked
//! so.
//!
//! ```text
//!            apply                    apply --confirm-within
//!          ┌───────┐               ┌──────────────────────────▶ unconfirmed
//!          ▼       │               │                              │  │  │
//!        running ──┴───────────────┘◀──────── confirm ────────────┘  │  │
//!          ▲                                                         │  │
//!          └──────── the configuration before: rollback ─────────────┘  │
//!                                              time is up ──────────────┘
//! ```
//!
//! Nothing here reads a clock: the caller says what time it is. What is to be changed is worked out
//! before, on any thread: a [`Plan`], which holds as long as what it starts from runs.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::config::{Change, ChangeLine, Config};
use crate::engine::{ApplyError, Engine};
use crate::view;

/// Configurations kept to go back to.
const HISTORY: usize = 32;
/// After a rollback by timer failed: the time until it is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// What time it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Since some start; never goes back.
    pub monotonic: Duration,
    /// Seconds since the epoch.
    pub wall_s: u64,
}

/// Why a change was refused. The running configuration is what it was.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TransactionError {
    /// The router could not make it.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// It changes what is fixed while the router runs.
    #[error("this takes a restart: {}; write it into the configuration file, then restart the router", .0.join("; "))]
    NeedsRestart(Vec<String>),
    /// An earlier change still wants to be confirmed.
    #[error(
        "a change waits to be confirmed, {seconds_left} s left: confirm it or roll it back first"
    )]
    Unconfirmed {
        /// Seconds until it is undone.
        seconds_left: u64,
    },
    /// There is nothing to confirm.
    #[error("no change waits to be confirmed")]
    NothingToConfirm,
    /// There is no configuration before this one.
    #[error("there is no earlier configuration to go back to")]
    NothingBefore,
    /// The history does not reach so far.
    #[error("revision {0} is not in the history: `volley config history` lists those that are")]
    NoSuchRevision(u64),
    /// It was worked out for another configuration than runs now: it is to be worked out anew.
    #[error("somebody else changed the configuration at the same moment: try again")]
    Outdated,
}

/// A change, worked out.
#[derive(Debug)]
pub struct Plan {
    from: Arc<Config>,
    to: Arc<Config>,
    steps: Vec<Change>,
    /// What of it cannot be had while the router runs.
    fixed: Vec<String>,
    /// The way back, if it is to be undone unless somebody confirms.
    back: Option<Arc<Plan>>,
    within: Option<Duration>,
}

impl Plan {
    /// From one configuration to another; undone after `within` unless confirmed.
    pub fn new(from: Arc<Config>, to: Arc<Config>, within: Option<Duration>) -> Self {
        let steps = Config::diff(&from, &to);
        let fixed = steps.iter().filter(|step| step.needs_restart());
        let fixed = fixed.map(ToString::to_string).collect();
        let back = within.map(|_| Arc::new(Self::new(to.clone(), from.clone(), None)));
        Self { from, to, steps, fixed, back, within }
    }

    /// What it starts from.
    pub fn from(&self) -> &Config {
        &self.from
    }

    /// The files that the router opens for it.
    pub fn opens(&self) -> Vec<PathBuf> {
        // What takes a restart is refused for that reason.
        let steps = self.steps.iter().filter(|step| !step.needs_restart());
        steps.flat_map(Change::opens).collect()
    }

    /// Its steps, for a person to read.
    pub fn lines(&self) -> Vec<ChangeLine> {
        self.steps.iter().map(Change::line).collect()
    }
}

/// A configuration that runs or ran.
#[derive(Clone, Debug)]
struct Revision {
    number: u64,
    config: Arc<Config>,
    applied_at_s: u64,
    comment: String,
    changes: usize,
}

/// A change that is undone at its deadline.
#[derive(Clone, Debug)]
struct Unconfirmed {
    previous: u64,
    deadline: Duration,
    back: Arc<Plan>,
}

/// The running configuration and how it came about.
#[derive(Debug)]
pub struct Transaction {
    running: Revision,
    earlier: VecDeque<Revision>,
    unconfirmed: Option<Unconfirmed>,
    saved: Arc<Config>,
    rollback_fault: Option<String>,
}

impl Transaction {
    /// Starts with a configuration that runs already and stands in the file.
    pub fn new(config: Config, comment: impl Into<String>, now: Moment) -> Self {
        let config = Arc::new(config);
        let running = Revision {
            number: 1,
            config: config.clone(),
            applied_at_s: now.wall_s,
            comment: comment.into(),
            changes: 0,
        };
        Self {
            running,
            earlier: VecDeque::new(),
            unconfirmed: None,
            saved: config,
            rollback_fault: None,
        }
    }

    /// The running configuration.
    pub fn config(&self) -> &Arc<Config> {
        &self.running.config
    }

    /// Its revision.
    pub fn revision(&self) -> u64 {
        self.running.number
    }

    /// Whether it differs from what was loaded or saved last.
    pub fn unsaved(&self) -> bool {
        !Arc::ptr_eq(&self.saved, &self.running.config) && self.saved != self.running.config
    }

    /// What was loaded or saved last.
    pub fn last_saved(&self) -> &Arc<Config> {
        &self.saved
    }

    /// Notes that a configuration, which ran when that began, was written.
    pub fn saved(&mut self, revision: u64, config: Arc<Config>) {
        tracing::info!(revision, "saved");
        self.saved = config;
    }

    /// What runs is what its file says: it was read from there.
    pub fn read_from_file(&mut self) {
        self.saved = self.running.config.clone();
    }

    /// Why the last rollback by timer failed, if it did.
    pub fn rollback_fault(&self) -> Option<&str> {
        self.rollback_fault.as_deref()
    }

    /// The change that waits to be confirmed.
    pub fn pending(&self, now: Moment) -> Option<view::Pending> {
        let unconfirmed = self.unconfirmed.as_ref()?;
        let left = unconfirmed.deadline.saturating_sub(now.monotonic);
        let seconds_left = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        Some(view::Pending { revision: unconfirmed.previous, seconds_left })
    }

    /// When [`Transaction::tick`] has something to do.
    pub fn deadline(&self) -> Option<Duration> {
        self.unconfirmed.as_ref().map(|unconfirmed| unconfirmed.deadline)
    }

    /// What would change.
    pub fn diff(&self, new: &Config) -> Vec<ChangeLine> {
        Config::diff(self.config(), new).iter().map(Change::line).collect()
    }

    /// Makes `new` the running configuration; undoes it after `within` unless confirmed.
    pub fn apply(
        &mut self,
        engine: &mut dyn Engine,
        new: Config,
        within: Option<Duration>,
        comment: &str,
        now: Moment,
    ) -> Result<view::Applied, TransactionError> {
        let plan = Plan::new(self.config().clone(), Arc::new(new), within);
        let applied = self.apply_plan(engine, &plan, comment, now)?;
        Ok(view::Applied { changes: plan.lines(), ..applied })
    }

    /// Makes what was planned so. Whoever planned it knows the changes: they are left out.
    pub fn apply_plan(
        &mut self,
        engine: &mut dyn Engine,
        plan: &Plan,
        comment: &str,
        now: Moment,
    ) -> Result<view::Applied, TransactionError> {
        self.must_be_confirmed(now)?;
        let previous = self.running.number;
        self.change(engine, plan, comment, now).inspect_err(|error| {
            if *error != TransactionError::Outdated {
                tracing::warn!(comment, %error, "a change was refused");
            }
        })?;
        let changes = plan.steps.len();
        if changes > 0 {
            let within_s = plan.within.map(|within| within.as_secs());
            tracing::info!(revision = self.revision(), changes, comment, within_s, "committed");
            if let (Some(within), Some(back)) = (plan.within, plan.back.clone()) {
                let deadline = now.monotonic + within;
                self.unconfirmed = Some(Unconfirmed { previous, deadline, back });
            }
        }
        Ok(self.outcome(now))
    }

    /// How it stands after a change.
    fn outcome(&self, now: Moment) -> view::Applied {
        let (revision, pending) = (self.revision(), self.pending(now));
        view::Applied { revision, changes: Vec::new(), pending }
    }

    /// Keeps the change that waits.
    pub fn confirm(&mut self, now: Moment) -> Result<view::Applied, TransactionError> {
        let confirmed = self.unconfirmed.take().ok_or(TransactionError::NothingToConfirm)?;
        let_go(confirmed);
        tracing::info!(revision = self.revision(), "confirmed");
        self.rollback_fault = None;
        Ok(self.outcome(now))
    }

    /// Goes back to a revision; without one, to the configuration before the last change.
    pub fn rollback(
        &mut self,
        engine: &mut dyn Engine,
        to: Option<u64>,
        now: Moment,
    ) -> Result<view::Applied, TransactionError> {
        let (number, config) = self.revision_of(to)?;
        let plan = Plan::new(self.config().clone(), config, None);
        let applied = self.rollback_plan(engine, &plan, number, now)?;
        Ok(view::Applied { changes: plan.lines(), ..applied })
    }

    /// The configuration of a revision; without one, the one before the last change.
    pub fn revision_of(&self, to: Option<u64>) -> Result<(u64, Arc<Config>), TransactionError> {
        let found = match to {
            Some(number) => self.revisions().find(|revision| revision.number == number),
            None => self.earlier.back(),
        };
        let none = || to.map_or(TransactionError::NothingBefore, TransactionError::NoSuchRevision);
        found.map(|found| (found.number, found.config.clone())).ok_or_else(none)
    }

    /// Goes back to a revision as planned.
    pub fn rollback_plan(
        &mut self,
        engine: &mut dyn Engine,
        plan: &Plan,
        number: u64,
        now: Moment,
    ) -> Result<view::Applied, TransactionError> {
        self.change(engine, plan, &format!("rollback to {number}"), now)?;
        self.unconfirmed.take().into_iter().for_each(let_go);
        self.rollback_fault = None;
        let changes = plan.steps.len();
        tracing::info!(revision = self.revision(), to = number, changes, "rolled back");
        Ok(self.outcome(now))
    }

    /// Undoes the change that waits when its time is up; true if it did.
    pub fn tick(&mut self, engine: &mut dyn Engine, now: Moment) -> bool {
        let is_due = |it: &&Unconfirmed| it.deadline <= now.monotonic;
        let Some(unconfirmed) = self.unconfirmed.as_ref().filter(is_due).cloned() else {
            return false;
        };
        tracing::warn!(to = unconfirmed.previous, "nobody confirmed in time: rolling back");
        let undone = self.rollback_plan(engine, &unconfirmed.back, unconfirmed.previous, now);
        if let Err(error) = &undone {
            tracing::error!(fault = "rollback", %error, "the rollback failed, and is tried again");
            // What runs is still unconfirmed: it must not stay for want of one more try.
            self.rollback_fault = Some(error.to_string());
            self.unconfirmed = Some(Unconfirmed { deadline: now.monotonic + RETRY, ..unconfirmed });
        }
        undone.is_ok()
    }

    /// What ran and runs, oldest first.
    pub fn history(&self) -> Vec<view::HistoryEntry> {
        self.revisions()
            .map(|revision| view::HistoryEntry {
                revision: revision.number,
                applied_at_s: revision.applied_at_s,
                comment: revision.comment.clone(),
                changes: revision.changes,
                running: revision.number == self.running.number,
            })
            .collect()
    }

    fn revisions(&self) -> impl Iterator<Item = &Revision> {
        self.earlier.iter().chain([&self.running])
    }

    /// Refuses while a change waits to be confirmed.
    pub fn must_be_confirmed(&self, now: Moment) -> Result<(), TransactionError> {
        match self.pending(now) {
            Some(view::Pending { seconds_left, .. }) => {
                Err(TransactionError::Unconfirmed { seconds_left })
            }
            None => Ok(()),
        }
    }

    fn change(
        &mut self,
        engine: &mut dyn Engine,
        plan: &Plan,
        comment: &str,
        now: Moment,
    ) -> Result<(), TransactionError> {
        if !Arc::ptr_eq(&plan.from, &self.running.config) {
            return Err(TransactionError::Outdated);
        }
        if !plan.fixed.is_empty() {
            return Err(TransactionError::NeedsRestart(plan.fixed.clone()));
        }
        if plan.steps.is_empty() {
            return Ok(());
        }
        engine.apply(&plan.from, &plan.to, &plan.steps)?;
        plan.to.log.follow(&plan.from.log);
        let revision = Revision {
            number: self.running.number + 1,
            config: plan.to.clone(),
            applied_at_s: now.wall_s,
            comment: comment.to_owned(),
            changes: plan.steps.len(),
        };
        self.earlier.push_back(std::mem::replace(&mut self.running, revision));
        if self.earlier.len() >= HISTORY {
            self.earlier.pop_front().into_iter().for_each(let_go);
        }
        Ok(())
    }
}

/// Frees what may be large on a thread of its own.
fn let_go(value: impl Send + 'static) {
    // Where there is no thread to be had, it is freed here.
    drop(std::thread::Builder::new().name("free".to_owned()).spawn(move || drop(value)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Host, Source, edit, parse};
    use crate::fake::FakeRouter;

    const TEXT: &str = "[port.p0]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n";

    fn at(seconds: u64) -> Moment {
        Moment { monotonic: Duration::from_secs(seconds), wall_s: 1_000 + seconds }
    }

    fn start() -> (Transaction, FakeRouter) {
        let config = parse(&Source::new("f", TEXT), &Host::any()).unwrap();
        let router = FakeRouter::new(&config);
        (Transaction::new(config, "start", at(0)), router)
    }

    fn edited(transaction: &Transaction, command: &str) -> Config {
        edit(transaction.config(), &Source::new("c", command), &Host::any()).unwrap()
    }

    fn routes(router: &FakeRouter) -> usize {
        router.config().routes.len()
    }

    const MINUTE: Option<Duration> = Some(Duration::from_secs(60));

    #[test]
    fn an_unconfirmed_change_is_undone_when_its_time_is_up_and_not_before() {
        let (mut transaction, mut router) = start();
        let new = edited(&transaction, "route add 10.0.0.0/8 blackhole");
        let applied = transaction.apply(&mut router, new, MINUTE, "test", at(5)).unwrap();
        assert_eq!(applied.pending, Some(view::Pending { revision: 1, seconds_left: 60 }));
        assert_eq!(transaction.deadline(), Some(Duration::from_secs(65)));
        assert!(!transaction.tick(&mut router, at(64)));
        assert_eq!(routes(&router), 1);
        assert!(transaction.tick(&mut router, at(65)));
        assert_eq!((routes(&router), transaction.pending(at(65))), (0, None));
        assert!(!transaction.tick(&mut router, at(99)));
        assert_eq!(transaction.history().last().unwrap().comment, "rollback to 1");
    }

    #[test]
    fn a_confirmed_change_stays() {
        let (mut transaction, mut router) = start();
        let new = edited(&transaction, "route add 10.0.0.0/8 blackhole");
        transaction.apply(&mut router, new, MINUTE, "test", at(0)).unwrap();
        transaction.confirm(at(59)).unwrap();
        assert!(!transaction.tick(&mut router, at(1_000)));
        assert_eq!(routes(&router), 1);
        assert_eq!(transaction.confirm(at(60)), Err(TransactionError::NothingToConfirm));
    }

    #[test]
    fn nothing_changes_on_top_of_an_unconfirmed_change() {
        let (mut transaction, mut router) = start();
        let new = edited(&transaction, "port set p0 down");
        transaction.apply(&mut router, new, MINUTE, "test", at(0)).unwrap();
        let more = edited(&transaction, "route add 10.0.0.0/8 blackhole");
        assert_eq!(
            transaction.apply(&mut router, more, None, "test", at(18)),
            Err(TransactionError::Unconfirmed { seconds_left: 42 })
        );
        transaction.rollback(&mut router, None, at(20)).unwrap();
        assert!(router.config().ports.iter().all(|(_, port)| port.up));
        assert_eq!(transaction.deadline(), None);
    }

    #[test]
    fn a_change_that_the_router_refuses_leaves_everything_as_it_was() {
        let (mut transaction, mut router) = start();
        let new =
            edited(&transaction, "route add 10.0.0.0/8 blackhole\nport add p1 tap device missing0");
        let error = transaction.apply(&mut router, new, MINUTE, "test", at(0)).unwrap_err();
        assert_eq!(error.to_string(), "port.p1.device: there is no device `missing0`");
        assert_eq!((routes(&router), transaction.revision()), (0, 1));
        assert_eq!(transaction.deadline(), None);
        assert!(!transaction.unsaved());
    }

    #[test]
    fn a_rollback_that_the_router_refuses_is_told_and_tried_again() {
        let (mut transaction, mut router) = start();
        let new = edited(&transaction, "route add 10.0.0.0/8 blackhole");
        transaction.apply(&mut router, new, MINUTE, "test", at(0)).unwrap();
        router.refuse_next(1);
        assert!(!transaction.tick(&mut router, at(60)));
        assert_eq!(transaction.rollback_fault(), Some("test: refused as asked"));
        assert!(transaction.tick(&mut router, at(61)));
        assert_eq!((routes(&router), transaction.rollback_fault()), (0, None));
    }

    #[test]
    fn any_revision_of_the_history_can_be_gone_back_to() {
        let (mut transaction, mut router) = start();
        assert_eq!(
            transaction.rollback(&mut router, None, at(0)),
            Err(TransactionError::NothingBefore)
        );
        for second in 0..100 {
            let command = format!("route add 10.0.{second}.0/24 blackhole");
            let new = edited(&transaction, &command);
            transaction.apply(&mut router, new, None, "test", at(second)).unwrap();
        }
        assert_eq!(transaction.history().len(), HISTORY);
        assert_eq!(
            transaction.rollback(&mut router, Some(5), at(100)),
            Err(TransactionError::NoSuchRevision(5))
        );
        transaction.rollback(&mut router, Some(81), at(100)).unwrap();
        assert_eq!((routes(&router), transaction.revision()), (80, 102));
        transaction.rollback(&mut router, None, at(101)).unwrap();
        assert_eq!(routes(&router), 100);
    }

    #[test]
    fn what_is_fixed_while_running_is_refused() {
        let (mut transaction, mut router) = start();
        let mut new = Config::clone(transaction.config());
        new.memory.buffers = 1024;
        let error = transaction.apply(&mut router, new, None, "test", at(0)).unwrap_err();
        assert!(error.to_string().starts_with("this takes a restart: ~ memory: buffers"));
    }

    #[test]
    fn a_change_to_the_same_is_no_change() {
        let (mut transaction, mut router) = start();
        let same = Config::clone(transaction.config());
        let applied = transaction.apply(&mut router, same, MINUTE, "test", at(0)).unwrap();
        assert_eq!((applied.revision, applied.changes.len(), applied.pending), (1, 0, None));
    }

    #[test]
    fn what_was_changed_is_unsaved_until_it_is_saved_or_undone() {
        let (mut transaction, mut router) = start();
        let new = edited(&transaction, "port set p0 down");
        transaction.apply(&mut router, new, None, "test", at(0)).unwrap();
        assert!(transaction.unsaved());
        transaction.rollback(&mut router, None, at(0)).unwrap();
        assert!(!transaction.unsaved());
        transaction.rollback(&mut router, None, at(0)).unwrap();
        transaction.saved(transaction.revision(), transaction.config().clone());
        assert!(!transaction.unsaved());
    }

    #[test]
    fn what_was_planned_for_another_configuration_is_not_made() {
        let (mut transaction, mut router) = start();
        let plan = |transaction: &Transaction, command: &str| {
            let new = Arc::new(edited(transaction, command));
            Plan::new(transaction.config().clone(), new, None)
        };
        let one = plan(&transaction, "route add 10.0.0.0/8 blackhole");
        let other = plan(&transaction, "route add 10.1.0.0/16 blackhole");
        assert_eq!(transaction.apply_plan(&mut router, &one, "one", at(0)).unwrap().revision, 2);
        let late = transaction.apply_plan(&mut router, &other, "other", at(0));
        assert_eq!(late, Err(TransactionError::Outdated));
        assert_eq!((routes(&router), transaction.revision()), (1, 2));
        let other = plan(&transaction, "route add 10.1.0.0/16 blackhole");
        assert_eq!(
            transaction.apply_plan(&mut router, &other, "other", at(0)).unwrap().revision,
            3
        );
        assert_eq!(routes(&router), 2);
    }
}
