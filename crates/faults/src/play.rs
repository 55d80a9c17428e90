//! One run: what is thrown, step by step, and what must be so after each.

use crate::blocks::{COUNT, Drawing, FIRST};
use crate::chance::Chance;
use crate::check::{Since, bounded, conserved, rested};
use crate::flows::Flows;
use crate::hosts::Host;
use crate::line::Lines;
use crate::picture;
use crate::world::{Stage, config_of};
use control::config::Config;
use control::transaction::Transaction;
use packet::{PacketBuf, Pool};
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Duration;

/// Steps of a run by a seed.
const STEPS: usize = 80;
/// Of them, how many are followed by a look whether tables are as configured.
const COMPARED_OF: usize = 80;
/// Longer than anything waits for an answer.
const WAITS: Duration = Duration::from_secs(30);
/// What a bridge was told last is forgotten by then, and its ports have waited in both states
/// (802.1D-2004 table 17-1): 40 s and twice 30.
const RESTS: Duration = Duration::from_secs(110);
/// Hosts of each link that come and go with it.
const HOSTS: [u8; 3] = [2, 7, 9];

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// Steps.
    pub steps: u64,
    /// Frames given to the router, those of flows included.
    pub packets: u64,
    /// Packets of flows that arrived, each once.
    pub arrived: u64,
    /// Packets of flows that were lost because there were no buffers.
    pub starved: u64,
    /// Changes of the configuration that were made.
    pub changes: u64,
    /// Changes that were taken back, as they must be, because a device refused.
    pub undone: u64,
    /// What was thrown, in words, if that was wanted.
    pub log: Vec<String>,
}

/// Something that must not be.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What.
    pub what: String,
    /// What was thrown until then, if that was wanted.
    pub log: Vec<String>,
}

/// Plays a run; `tells` has it write down what is thrown. A panic is a finding as well.
pub fn play(seed: u64, chance: Chance, tells: bool) -> Result<Played, Finding> {
    let mut run =
        Run::start(seed, chance, tells).map_err(|what| Finding { what, log: Vec::new() })?;
    let went = panic::catch_unwind(AssertUnwindSafe(|| run.go_on()));
    match went.unwrap_or_else(|panic| Err(format!("it panicked: {}", said(&*panic)))) {
        Ok(()) => run.end(),
        Err(what) => Err(Finding { what, log: run.done.log }),
    }
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> &str {
    let whole = panic.downcast_ref::<String>().map(String::as_str);
    whole.or_else(|| panic.downcast_ref().copied()).unwrap_or_default()
}

/// A run, under way.
pub(crate) struct Run {
    pub(crate) chance: Chance,
    pub(crate) stage: Stage,
    pub(crate) transaction: Transaction,
    /// The drawings of configurations that may be gone back to.
    pub(crate) drawn: Vec<(Arc<Config>, Drawing)>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) flows: Flows,
    pub(crate) held: Vec<PacketBuf>,
    /// When buffers were taken last.
    pub(crate) taken_at: Duration,
    /// Answers about neighbours that had found no buffer by then.
    pub(crate) missed_before: u64,
    pub(crate) since: Since,
    pub(crate) saving: Option<(u64, Arc<Config>)>,
    tells: bool,
    pub(crate) done: Played,
}

impl Run {
    fn start(seed: u64, chance: Chance, tells: bool) -> Result<Self, String> {
        let drawing = Drawing::first(seed);
        let config = config_of(drawing.text())?;
        let stage = Stage::start(seed, &config, Lines::new((FIRST + COUNT) as u8))?;
        let transaction = Transaction::new(config, "start", stage.now());
        let (a, b) = (Host::new(0, 2), Host::new(1, 2));
        let flows = Flows::between(&a, &b, [[2, 0, 0, 0, 1, 0], [2, 0, 0, 0, 1, 1]]);
        let others =
            (FIRST..FIRST + COUNT).flat_map(|line| HOSTS.map(|number| Host::new(line, number)));
        let hosts = [a, b].into_iter().chain(others).collect();
        let since = Since::now(&stage);
        let drawn = vec![(Arc::clone(transaction.config()), drawing)];
        let done = Played::default();
        let (held, saving) = (Vec::new(), None);
        Ok(Self {
            chance,
            stage,
            transaction,
            drawn,
            hosts,
            flows,
            held,
            taken_at: Duration::ZERO,
            missed_before: 0,
            since,
            saving,
            tells,
            done,
        })
    }

    fn go_on(&mut self) -> Result<(), String> {
        self.pass(Duration::from_secs(3), Duration::from_millis(500))?;
        let steps = if matches!(self.chance, Chance::Seed(_)) { STEPS } else { usize::MAX };
        while self.done.steps < steps as u64 && !self.chance.is_over() {
            self.done.steps += 1;
            self.throw()?;
            self.carry()?;
            conserved(&mut self.stage, self.since)?;
            bounded(&mut self.stage)?;
            if self.chance.one_in(COMPARED_OF) {
                self.compare()?;
            }
        }
        self.compare()?;
        self.pass(RESTS, Duration::from_secs(2))?;
        rested(&mut self.stage)?;
        self.clear()
    }

    /// All that came goes again, and nothing waits for anything any more.
    fn clear(&mut self) -> Result<(), String> {
        let nothing = config_of(Drawing::default().text())?;
        // Whether one before was confirmed does not matter any more.
        let _ = self.transaction.confirm(self.stage.now());
        let now = self.stage.now();
        let applied = self.transaction.apply(&mut self.stage.router, nothing, None, "end", now);
        applied.map_err(|error| format!("the last change: {error}"))?;
        self.say(|| "all that was drawn goes".to_owned());
        self.pass(WAITS, Duration::from_millis(500))?;
        self.compare()
    }

    /// Writes down what is thrown, if that is wanted.
    pub(crate) fn say(&mut self, what: impl FnOnce() -> String) {
        if self.tells {
            let at = self.stage.time.now();
            self.done.log.push(format!("{:>12.6} s  {}", at.as_secs_f64(), what()));
        }
    }

    /// One thing more.
    fn throw(&mut self) -> Result<(), String> {
        match self.chance.below(36) {
            0..12 => self.make_noise(),
            12..19 => return self.reconfigure(),
            19 => self.flap(),
            20 => self.unplug(),
            21 => self.die(),
            22 => return self.take_buffers(),
            23 => self.fill_queues(),
            24 => self.speak(),
            25 => return self.ask(),
            26 => self.observe(),
            27 => self.confirm_or_not()?,
            28 => self.save(),
            29 => self.refuse(),
            30..33 => return self.control(),
            33 => self.tell_remotes(),
            _ => return self.wait(),
        }
        Ok(())
    }

    /// Whether tables are as configured; what the router lacks until then is there again.
    pub(crate) fn compare(&mut self) -> Result<(), String> {
        if !self.held.is_empty() {
            self.take_buffers()?;
        }
        self.stage.lines.all().for_each(|(_, line)| line.lock().refuses = 0);
        let before = self.transaction.revision();
        self.pass(Duration::from_secs(5), Duration::from_millis(500))?;
        // What nobody confirmed may have been rolled back just now.
        if self.transaction.revision() != before {
            self.pass(Duration::from_secs(5), Duration::from_millis(500))?;
        }
        let config = Arc::clone(self.transaction.config());
        picture::compare(&mut self.stage, &config)
    }

    /// The router ends, and all buffers are back.
    fn end(self) -> Result<Played, Finding> {
        let Self { stage, held, mut done, .. } = self;
        done.packets = stage.lines.all().map(|(_, line)| line.lock().given).sum();
        let mut cache = stage.pool.cache();
        held.into_iter().for_each(|packet| cache.release_one(packet));
        drop(cache);
        let usage = stage.end();
        if usage.free == usage.total {
            return Ok(done);
        }
        let (lost, all) = (usage.total - usage.free, usage.total);
        Err(Finding { what: format!("{lost} of {all} buffers are lost"), log: done.log })
    }
}
