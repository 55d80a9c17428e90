//! The one task that owns the router and its configuration; everyone else sends it jobs.
//!
//! ```text
//!  API handlers ─┐  jobs   ┌────────────────────────────┐
//!  signals ──────┼──mpsc──▶│ Control: Engine + Transaction │──▶ workers (tables, snapshots)
//!  timers ───────┘◀─reply──└────────────────────────────┘
//! ```

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::config::{Config, Host};
use crate::engine::Engine;
use crate::pace;
use crate::transaction::{Moment, Transaction};
use crate::view::{Answer, Answered, Right, View};

/// Jobs that may wait.
const QUEUE: usize = 64;

/// The call that the control loop's own turns are.
pub const TICK: &str = "tick";

/// The router, its configuration, and where that is saved.
pub struct Control {
    /// The running router.
    pub engine: Box<dyn Engine>,
    /// Its configuration.
    pub transaction: Transaction,
    /// The machine, for checks.
    pub host: Host,
    /// The configuration's file.
    pub file: Option<PathBuf>,
}

/// What is to be done with the control loop's own hands.
struct Job {
    /// Whose turn it is then.
    call: &'static str,
    work: Work,
}

type Work = Box<dyn FnOnce(&mut Control, Moment) + Send>;

/// Why a job was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Undone {
    /// The control loop has ended.
    #[error("the router is shutting down")]
    Stopped,
    /// It was to be done at another revision of the configuration.
    #[error("revision {runs} of the configuration runs, and not {wanted}: somebody changed it")]
    Changed {
        /// The one it was meant for.
        wanted: u64,
        /// The one that runs.
        runs: u64,
    },
}

/// Sends jobs to the control loop.
#[derive(Clone)]
pub struct Handle {
    jobs: mpsc::Sender<Job>,
    only_at: Option<u64>,
    call: &'static str,
    asker: Right,
}

/// Receives the jobs of all handles.
pub struct Jobs {
    jobs: mpsc::Receiver<Job>,
}

/// A handle and its other end.
pub fn channel() -> (Handle, Jobs) {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let handle = Handle { jobs: sender, only_at: None, call: "inside", asker: Right::All };
    (handle, Jobs { jobs: receiver })
}

impl Handle {
    /// The same, for jobs that are to be done while this revision of the configuration runs.
    pub fn only_at(self, revision: u64) -> Self {
        Self { only_at: Some(revision), ..self }
    }

    /// The same, for jobs of a path of the API, or of what else there is.
    pub fn named(self, call: &'static str) -> Self {
        Self { call, ..self }
    }

    /// The same, for the jobs of somebody who has this right.
    pub fn for_asker(self, asker: Right) -> Self {
        Self { asker, ..self }
    }

    /// What whoever has these jobs done may.
    pub fn asker(&self) -> Right {
        self.asker
    }

    /// Has the control loop do something, and waits for the outcome. It does nothing else
    /// meanwhile: what takes long is done before or after, by whoever calls.
    pub async fn call<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Control, Moment) -> T + Send + 'static,
    ) -> Result<T, Undone> {
        let (reply, answer) = oneshot::channel();
        let only_at = self.only_at;
        let work = Box::new(move |control: &mut Control, now| {
            let runs = control.transaction.revision();
            let outcome = match only_at {
                Some(wanted) if wanted != runs => Err(Undone::Changed { wanted, runs }),
                _ => Ok(job(control, now)),
            };
            if reply.send(outcome).is_err() {
                tracing::info!(fault = "answer-unheard", "whoever asked hung up before the answer");
            }
        });
        self.jobs.send(Job { call: self.call, work }).await.map_err(|_| Undone::Stopped)?;
        answer.await.map_err(|_| Undone::Stopped)?
    }
}

impl Control {
    /// Takes charge of a router that runs `config`.
    pub fn new(engine: Box<dyn Engine>, config: Config, host: Host, file: Option<PathBuf>) -> Self {
        let comment = match &file {
            Some(file) => format!("start with {}", file.display()),
            None => "start".to_owned(),
        };
        let transaction = Transaction::new(config, comment, Clock::new().now());
        Self { engine, transaction, host, file }
    }

    /// What time it is.
    pub fn now(&self) -> Moment {
        Clock::new().now()
    }

    /// Does jobs and housekeeping until every handle is gone.
    pub async fn run(&mut self, mut jobs: Jobs) {
        let clock = Clock::new();
        let mut wanted = Duration::ZERO;
        loop {
            let now = clock.now();
            pace::begin(TICK);
            if now.monotonic >= wanted {
                wanted = now.monotonic + self.engine.tick(now.monotonic);
            }
            self.transaction.tick(self.engine.as_mut(), now);
            pace::end();
            let next = self.transaction.deadline().map_or(wanted, |at| at.min(wanted));
            let sleep = tokio::time::sleep(next.saturating_sub(clock.now().monotonic));
            tokio::select! {
                biased;
                job = jobs.jobs.recv() => match job {
                    Some(Job { call, work }) => {
                        pace::begin(call);
                        work(self, clock.now());
                        pace::end();
                    }
                    None => return,
                },
                () = sleep => {}
            }
        }
    }
}

/// What the running router shows.
impl<V: View> Answer<V> for Control
where
    dyn Engine: Answer<V>,
{
    fn answer(&mut self, filter: &V::Filter) -> Answered<V> {
        Answer::<V>::answer(self.engine.as_mut(), filter)
    }
}

/// The process's clocks. Every copy starts at the same moment: when it was first asked.
struct Clock {
    start: Instant,
}

impl Clock {
    fn new() -> Self {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        Self { start: *START.get_or_init(Instant::now) }
    }

    fn now(&self) -> Moment {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment { monotonic: self.start.elapsed(), wall_s: wall.as_secs() }
    }
}
