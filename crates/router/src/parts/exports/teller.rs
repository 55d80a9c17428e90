//! The thread of an exporter: asks workers what they noted, makes flows of it, tells collectors.
//!
//! ```text
//!  workers' tallies ── ten times a second ─▶ Cache ─▶ Records ─┐
//!                                           Samples ──────────┴▶ collectors
//!  control thread ── counters of ports ────▶ Samples
//! ```
//! It asks more often while tallies are fuller. Workers never wait for it.

use super::collector::Collector;
use crate::world::Clock;
use control::config::objects::export::{Export, ExportProtocol};
use export::{
    Cache, Counters, Domains, Ended, Flow, Key, Now, Protocol, Records, Samples, Seen, Tally, Times,
};
use graph::tsc_hz;
use nodes::interface::Exporter;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

/// Between two times that workers are asked.
const PAUSE: Duration = Duration::from_millis(100);
/// The same while their tallies fill.
const SHORT_PAUSE: Duration = Duration::from_millis(10);
/// A tally that is so full, of 100, fills.
const FILLS: usize = 10;
/// Between two looks at all flows, or twenty times as long as one takes.
const LOOK: Duration = Duration::from_millis(500);
/// How long workers may note for one that ends: longer than a pass takes.
const LAST: Duration = Duration::from_millis(50);

/// What it has told.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) flows: usize,
    pub(super) records: u64,
    pub(super) early: u64,
    pub(super) left_out: u64,
    pub(super) collectors: Vec<CollectorTold>,
}

/// The same of one collector.
#[derive(Clone, Debug)]
pub(super) struct CollectorTold {
    pub(super) address: String,
    pub(super) datagrams: u64,
    pub(super) lost: u64,
    pub(super) problem: Option<String>,
}

/// The hold on the thread. Dropped, it ends when all is told.
pub(super) struct Teller {
    counters: Option<Sender<Vec<Counters>>>,
    told: Arc<Mutex<Told>>,
    thread: Option<JoinHandle<()>>,
}

impl Teller {
    /// Begins to tell what workers note for an exporter.
    pub(super) fn start(
        name: String,
        config: &Export,
        exporter: Arc<Exporter>,
        clock: Clock,
        chance: u64,
    ) -> io::Result<Self> {
        let told = Arc::default();
        let (counters, inbox) = channel();
        let telling = Telling::new(name, config, exporter, clock, chance, Arc::clone(&told));
        let thread = std::thread::Builder::new().name("export".into());
        let thread = Some(thread.spawn(move || telling.run(&inbox))?);
        Ok(Self { counters: Some(counters), told, thread })
    }

    /// Tells counters of ports.
    pub(super) fn counters(&self, counters: Vec<Counters>) {
        if let Some(inbox) = &self.counters {
            // Gone with its thread, which told why.
            let _gone = inbox.send(counters);
        }
    }

    /// Has it end when all is told.
    pub(super) fn end(&mut self) {
        self.counters = None;
    }

    /// Whether it has.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    pub(super) fn told(&self) -> Told {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.end();
        // One that panicked has told so.
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

/// How it is told.
enum Words {
    Flows(Box<Cache>, Records),
    /// Of flows of switches.
    Observed(Box<Cache>, Domains),
    Samples(Samples, Pools),
}

impl Words {
    /// Flows under way.
    fn cache(&mut self) -> Option<&mut Cache> {
        match self {
            Self::Flows(cache, _) | Self::Observed(cache, _) => Some(cache),
            Self::Samples(..) => None,
        }
    }
}

/// Of each interface how many packets were seen; and how many samples were lost.
#[derive(Default)]
struct Pools {
    seen: HashMap<u16, u32>,
    drops: u32,
}

struct Telling {
    exporter: Arc<Exporter>,
    clock: Clock,
    began_ns: u64,
    words: Words,
    collectors: Vec<Collector>,
    spare: Tally,
    next_look: Instant,
    told: Arc<Mutex<Told>>,
}

impl Telling {
    fn new(
        name: String,
        config: &Export,
        exporter: Arc<Exporter>,
        clock: Clock,
        chance: u64,
        told: Arc<Mutex<Told>>,
    ) -> Self {
        let collector = |at| Collector::new(name.clone(), at, config.source);
        let collectors: Vec<_> = config.collectors.iter().copied().map(collector).collect();
        let records = |protocol| {
            let [active_ms, inactive_ms, refresh_ms] =
                [config.active, config.idle, config.templates].map(|it| it.as_millis() as u64);
            let times = Times { active_ms, inactive_ms, most: config.cache as usize };
            let cache = Box::new(Cache::new(times));
            match config.set {
                Some(_) => Words::Observed(cache, Domains::new(refresh_ms)),
                None => {
                    let mut records =
                        Records::new(protocol, config.domain, config.sample, refresh_ms);
                    if let Some(point) = config.point {
                        records = records.at_point(point);
                    }
                    if config.engine_in_interfaces {
                        records = records.with_engine_in_interfaces();
                    }
                    Words::Flows(cache, records)
                }
            }
        };
        let words = match config.protocol {
            ExportProtocol::Ipfix => records(Protocol::Ipfix),
            ExportProtocol::NetFlow9 => records(Protocol::NetFlow9),
            ExportProtocol::NetFlow5 => records(Protocol::NetFlow5),
            ExportProtocol::Sflow5 => {
                let own = || collectors.iter().find_map(Collector::source);
                let agent = config.agent.or(config.source).or_else(own);
                let agent = agent.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
                let samples = Samples::new(agent, config.domain, config.sample);
                Words::Samples(samples, Pools::default())
            }
        };
        let spare = exporter.spare(chance);
        let (began_ns, next_look) = (clock.now_ns(), Instant::now());
        Self { exporter, clock, began_ns, words, collectors, spare, next_look, told }
    }

    fn run(mut self, counters: &Receiver<Vec<Counters>>) {
        let mut pause = Duration::ZERO;
        loop {
            match counters.recv_timeout(pause) {
                Ok(counters) => self.tell_counters(&counters),
                Err(RecvTimeoutError::Timeout) => pause = self.turn(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        std::thread::sleep(LAST);
        self.turn();
        if let Some(cache) = self.words.cache() {
            let all = cache.take_all();
            self.tell(&all);
        }
        self.say();
    }

    /// Asks all workers; says how long to wait until the next time.
    fn turn(&mut self) -> Duration {
        let mut percent = 0;
        let exporter = Arc::clone(&self.exporter);
        for noted in exporter.noted() {
            let mut spare = std::mem::replace(&mut self.spare, Tally::of_flows(0, 0));
            // What a worker has at the moment is there in a moment, or the next time.
            for _ in 0..3 {
                let had_all = noted.collect(&mut spare, |tally| {
                    percent = percent.max(tally.percent());
                    self.take_in(tally);
                });
                if had_all {
                    break;
                }
                std::thread::yield_now();
            }
            self.spare = spare;
        }
        let now = Instant::now();
        if let Some(cache) = self.words.cache()
            && now >= self.next_look
        {
            let ended = cache.take_ended(ms(self.clock.now_ns().saturating_sub(self.began_ns)));
            self.next_look = now + LOOK.max(now.elapsed() * 20);
            self.tell(&ended);
        }
        let time = self.time();
        if let Words::Samples(samples, _) = &mut self.words
            && let Some(datagram) = samples.flush(time)
        {
            self.send(&[datagram]);
        }
        self.say();
        if percent >= FILLS { SHORT_PAUSE } else { PAUSE }
    }

    fn take_in(&mut self, tally: &Tally) {
        let (time, now) = (self.time(), self.clock.tsc());
        let datagrams = match &mut self.words {
            Words::Flows(cache, _) | Words::Observed(cache, _) => {
                let before = |tsc: u64| {
                    let ago = u128::from(now.saturating_sub(tsc)) * 1000 / u128::from(tsc_hz());
                    time.uptime_ms.saturating_sub(ago as u64)
                };
                for it in tally.counted() {
                    let flow = Flow {
                        packets: it.packets,
                        bytes: it.bytes,
                        tcp_flags: it.tcp_flags,
                        first_ms: before(it.first),
                        last_ms: before(it.last),
                    };
                    cache.add(Key::from_words(it.words), flow);
                }
                let early = cache.take_early();
                return self.tell(&early);
            }
            Words::Samples(samples, pools) => {
                pools.drops = pools.drops.wrapping_add(tally.unsampled());
                let drops = pools.drops;
                let told = tally.sampled().filter_map(|(it, header)| {
                    let pool = pools.seen.entry(it.source).or_default();
                    *pool = pool.wrapping_add(it.of);
                    let seen = Seen {
                        source: it.source.into(),
                        input: it.input.into(),
                        output: it.output.into(),
                        pool: *pool,
                        drops,
                        begins: it.begins,
                        length: it.length,
                        header,
                    };
                    samples.packet(time, &seen)
                });
                told.collect::<Vec<_>>()
            }
        };
        self.send(&datagrams);
    }

    fn tell_counters(&mut self, counters: &[Counters]) {
        let time = self.time();
        let Words::Samples(samples, _) = &mut self.words else { return };
        let full = counters.iter().filter_map(|it| samples.counters(time, it));
        let datagrams: Vec<_> = full.collect();
        self.send(&datagrams);
    }

    /// Tells of flows, and of templates where it is time.
    fn tell(&mut self, ended: &[Ended]) {
        let time = self.time();
        let datagrams = match &mut self.words {
            Words::Flows(_, records) => records.write(time, ended),
            Words::Observed(_, domains) => domains.write(time, ended),
            Words::Samples(..) => return,
        };
        self.send(&datagrams);
    }

    fn send(&mut self, datagrams: &[Vec<u8>]) {
        let now = Instant::now();
        for collector in &mut self.collectors {
            datagrams.iter().for_each(|datagram| collector.send(datagram, now));
        }
    }

    fn time(&self) -> Now {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let unix_ms = since.map_or(0, |since| since.as_millis() as u64);
        Now { unix_ms, uptime_ms: ms(self.clock.now_ns().saturating_sub(self.began_ns)) }
    }

    /// Says what was told so far.
    fn say(&self) {
        let collectors = self.collectors.iter().map(|it| CollectorTold {
            address: it.address.to_string(),
            datagrams: it.sent,
            lost: it.lost,
            problem: it.problem.clone(),
        });
        let collectors = collectors.collect();
        let told = match &self.words {
            Words::Flows(cache, records) => Told {
                flows: cache.len(),
                records: records.told,
                early: cache.early,
                left_out: records.left_out,
                collectors,
            },
            Words::Observed(cache, domains) => Told {
                flows: cache.len(),
                records: domains.told,
                early: cache.early,
                left_out: 0,
                collectors,
            },
            Words::Samples(samples, _) => {
                Told { records: samples.told, collectors, ..Told::default() }
            }
        };
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = told;
    }
}

fn ms(ns: u64) -> u64 {
    ns / 1_000_000
}
