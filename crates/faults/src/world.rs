//! A router in a world of links: started, turned, asked.

use crate::blocks::Drawing;
use crate::line::Lines;
use control::config::{Config, Host, Source, parse};
use control::engine::{ApplyError, Engine};
use control::transaction::Moment;
use control::view::{Answer, EngineError, View};
use packet::{HeapPool, Pool, PoolUsage};
use router::{GivenTime, Router, World};
use serde_json::Value;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// Packet buffers of a world.
pub(crate) const BUFFERS: usize = 4096;
const FRAME_BYTES: usize = 2048;
/// Turns in which a router lets go of everything, and how long they take.
const TURNS: u32 = 16;
const WAITS: Duration = Duration::from_secs(32);

thread_local! {
    /// Pools of worlds that ended, as new: their memory need not be had from the system again.
    static SPARE: RefCell<Vec<HeapPool>> = const { RefCell::new(Vec::new()) };
}

/// A pool in which nothing has been.
fn fresh_pool() -> Result<HeapPool, String> {
    let spare = SPARE.with_borrow_mut(Vec::pop);
    let made = spare.map_or_else(|| HeapPool::new(BUFFERS, FRAME_BYTES), Ok);
    made.map_err(|error| error.to_string())
}

/// A router, and what it stands in.
pub(crate) struct Stage {
    pub(crate) router: Router,
    pub(crate) lines: Lines,
    pub(crate) time: GivenTime,
    pub(crate) pool: Arc<HeapPool>,
}

impl Stage {
    /// One that runs a configuration.
    pub(crate) fn start(seed: u64, config: &Config, lines: Lines) -> Result<Self, String> {
        let time = GivenTime::new(seed).ok_or("somebody has measured the processor's clock")?;
        let pool = Arc::new(fresh_pool()?);
        let world = World {
            time: time.clone(),
            pool: Arc::<HeapPool>::clone(&pool),
            opener: Arc::new(lines.clone()),
        };
        let router = Router::start_in(world, config).map_err(|error| error.to_string())?;
        let mut stage = Self { router, lines, time, pool };
        stage.bring(config).map_err(|error| format!("the first configuration: {error}"))?;
        Ok(stage)
    }

    fn bring(&mut self, config: &Config) -> Result<(), ApplyError> {
        let nothing = Config::default();
        self.router.apply(&nothing, config, &Config::diff(&nothing, config))
    }

    /// What time it is there.
    pub(crate) fn now(&self) -> Moment {
        let monotonic = self.time.now();
        Moment { monotonic, wall_s: 1_790_000_000 + monotonic.as_secs() }
    }

    /// The router does what it has to; true if it wants to go on at once.
    pub(crate) fn turn(&mut self) -> bool {
        self.router.tick(self.time.now()) == Duration::ZERO
    }

    /// All of a configuration goes, so that no packet waits for a scheduler any more, and the
    /// router ends; says whether all buffers are back.
    pub(crate) fn end_of(mut self, config: &Config) -> Result<PoolUsage, String> {
        let nothing = config_of(Drawing::default().text())?;
        let gone = self.router.apply(config, &nothing, &Config::diff(config, &nothing));
        gone.map_err(|error| format!("all that was drawn goes: {error}"))?;
        // What schedulers let go of leaves in the turns behind; neighbours are waited for no more.
        for _ in 0..TURNS {
            self.time.pass(WAITS / TURNS);
            self.turn();
        }
        Ok(self.end())
    }

    /// The router ends; says whether all buffers are back.
    pub(crate) fn end(self) -> PoolUsage {
        let Self { router, lines, pool, .. } = self;
        drop((router, lines));
        let usage = pool.usage();
        // Whoever has something of it keeps it.
        if let Some(mut pool) = Arc::into_inner(pool)
            && pool.renew()
        {
            SPARE.with_borrow_mut(|spare| spare.push(pool));
        }
        usage
    }

    /// What it shows, as the API tells it.
    pub(crate) fn shows<V: View>(&mut self, filter: Value) -> Result<Value, String>
    where
        Router: Answer<V>,
    {
        let filter = serde_json::from_value(filter).map_err(|error| error.to_string())?;
        let shown = Answer::<V>::answer(&mut self.router, &filter);
        let whole = shown.map_err(|error: EngineError| error.to_string())?.whole();
        serde_json::to_value(whole).map_err(|error| error.to_string())
    }
}

/// A configuration of a text, or what the check says to it.
pub(crate) fn config_of(text: String) -> Result<Config, String> {
    parse(&Source::new("drawn", text), &Host::any()).map_err(|problems| problems.to_string())
}
