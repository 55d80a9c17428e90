//! What the router stands in: the clock, the buffers and the devices. A program has the machine's;
//! a simulation brings its own, and the router is the same.
//!
//! ```text
//!            a program                           a simulation
//!  clock     the system's                        stands until it is moved ([`GivenTime`])
//!  buffers   DPDK's, or memory                   memory, which it may hold back
//!  devices   drivers                             queues in memory, links that go and come ([`Opener`])
//!  chance    the system's                        a seed's
//!  aside     another thread, served meanwhile    here and now: one thread does all
//! ```
//! Nothing of it is on the way of packets: the worker's pass has its time from whoever turns it
//! ([`graph::Worker::turn_at`]).

use control::config::objects::port::Port;
use dataplane::PortQueues;
use nodes::tables::FlowClock;
use packet::Pool;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Cycles of a second of given time: one a nanosecond.
const GIVEN_HZ: u64 = 1_000_000_000;
/// Where the counter stands when given time begins: nobody takes it for never.
const GIVEN_START: u64 = 1 << 40;
/// Of so many steps of a change, one is followed by a look after what waits.
const SERVED_OF: u64 = 4;

/// A time that somebody else moves. Its copies are one.
#[derive(Clone, Debug)]
pub struct GivenTime(Arc<Given>);

#[derive(Debug)]
struct Given {
    ns: Arc<AtomicU64>,
    chance: AtomicU64,
}

impl GivenTime {
    /// It stands at its beginning; chance goes by `seed`. None in a process that has measured the
    /// processor's own clock.
    pub fn new(seed: u64) -> Option<Self> {
        let chance = AtomicU64::new(seed | 1);
        let given = Given { ns: Arc::default(), chance };
        graph::assume_tsc_hz(GIVEN_HZ).then(|| Self(Arc::new(given)))
    }

    /// How long since its beginning.
    pub fn now(&self) -> Duration {
        Duration::from_nanos(self.0.ns.load(Ordering::Relaxed))
    }

    /// It goes on.
    pub fn pass(&self, time: Duration) {
        self.0.ns.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// What the processor's counter would say.
    fn tsc(&self) -> u64 {
        GIVEN_START + self.0.ns.load(Ordering::Relaxed)
    }

    /// What chance says next (xorshift).
    fn chance(&self) -> u64 {
        let mut next = self.0.chance.load(Ordering::Relaxed);
        next ^= next << 13;
        next ^= next >> 7;
        next ^= next << 17;
        self.0.chance.store(next, Ordering::Relaxed);
        next
    }
}

/// What is known of the link of a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GivenLink {
    /// Packets pass.
    pub up: bool,
    /// The device is gone: opened again, it may be back.
    pub gone: bool,
}

/// A device that no driver stands behind.
pub trait GivenDevice: Send + Sync {
    /// Its link now.
    fn link(&self) -> GivenLink;

    /// The address that it came with.
    fn mac(&self) -> [u8; 6];

    /// Takes our MAC address.
    fn readdress(&mut self, mac: [u8; 6]) -> Result<(), String>;
}

/// Opens devices in the place of drivers.
pub trait Opener: Send + Sync {
    /// Opens what stands behind a port, with a transmit queue for each worker.
    fn open(
        &self,
        port: &Port,
        workers: usize,
    ) -> Result<(Box<dyn GivenDevice>, PortQueues), String>;
}

/// A world that is not the machine.
pub struct World {
    /// Its time.
    pub time: GivenTime,
    /// Its buffers.
    pub pool: Arc<dyn Pool>,
    /// Its devices.
    pub opener: Arc<dyn Opener>,
}

/// The control thread's clock.
#[derive(Clone)]
pub(crate) enum Clock {
    /// The machine's, since the router started.
    Machine(Instant),
    /// Somebody else's; the moment is only what times are added to.
    Given(Instant, GivenTime),
}

impl Clock {
    pub(crate) fn machine() -> Self {
        Self::Machine(Instant::now())
    }

    pub(crate) fn given(time: GivenTime) -> Self {
        Self::Given(Instant::now(), time)
    }

    /// What time it is.
    pub(crate) fn now(&self) -> Instant {
        match self {
            Self::Machine(_) => Instant::now(),
            Self::Given(start, time) => *start + time.now(),
        }
    }

    /// Nanoseconds since the start.
    pub(crate) fn now_ns(&self) -> u64 {
        match self {
            Self::Machine(start) => start.elapsed().as_nanos() as u64,
            Self::Given(_, time) => time.now().as_nanos() as u64,
        }
    }

    /// The processor's counter.
    pub(crate) fn tsc(&self) -> u64 {
        self.given_tsc().unwrap_or_else(graph::tsc)
    }

    /// The same, if it is not the processor's.
    pub(crate) fn given_tsc(&self) -> Option<u64> {
        match self {
            Self::Machine(_) => None,
            Self::Given(_, time) => Some(time.tsc()),
        }
    }

    /// The time that bridges of flows count by, if it is not the machine's.
    pub(crate) fn given_flow_clock(&self) -> Option<FlowClock> {
        match self {
            Self::Machine(_) => None,
            Self::Given(_, time) => Some(FlowClock::Given(Arc::clone(&time.0.ns))),
        }
    }

    /// Whether what waits is to be looked after, in the midst of work; none: that goes by how long
    /// the work took.
    pub(crate) fn chance_to_serve(&self) -> Option<bool> {
        match self {
            Self::Machine(_) => None,
            Self::Given(_, time) => Some(time.chance().is_multiple_of(SERVED_OF)),
        }
    }

    /// Chance, if it is not the system's.
    pub(crate) fn given_chance(&self) -> Option<u64> {
        match self {
            Self::Machine(_) => None,
            Self::Given(_, time) => Some(time.chance()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn given_time_stands_until_it_is_moved_and_its_copies_are_one() {
        let given = Given { ns: Arc::default(), chance: AtomicU64::new(3) };
        let time = GivenTime(Arc::new(given));
        let clock = Clock::given(time.clone());
        let (then, tsc) = (clock.now(), clock.tsc());
        assert_eq!((clock.now(), clock.now_ns()), (then, 0));
        time.pass(Duration::from_secs(3600));
        assert_eq!(clock.now() - then, Duration::from_secs(3600));
        assert_eq!((clock.now_ns(), clock.tsc() - tsc), (3_600_000_000_000, 3_600_000_000_000));
    }

    #[test]
    fn chance_is_the_seeds() {
        let draws = |seed| {
            let given = Given { ns: Arc::default(), chance: AtomicU64::new(seed) };
            let clock = Clock::given(GivenTime(Arc::new(given)));
            let draws: Vec<_> = (0..100).map(|_| clock.chance_to_serve()).collect();
            assert!(draws.contains(&Some(true)) && draws.contains(&Some(false)));
            draws
        };
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(9));
        assert_eq!(Clock::machine().chance_to_serve(), None);
    }
}
