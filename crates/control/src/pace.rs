//! How long the control thread looks after one thing alone: its turns, counted and told.
//!
//! ```text
//!  begin ──── look ──── look ──── end      a call of the API, a tick
//!    └─ turn ──┘└─ turn ─┘└─ turn ─┘       nothing else is done in one of them
//! ```
//! What waits meanwhile (packets for the control thread, ARP and ND, timers) waits for a turn, not
//! for the call: long work [`look`]s every now and then, having served what waits. A turn is
//! measured in processor time of its thread, so that a busy machine makes none longer; the time on
//! the wall beside it also has what a driver or the kernel kept us waiting.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// A turn that takes more of the processor is told. A build without optimisation takes ten times
/// as long.
pub const MOST: Duration = Duration::from_millis(if cfg!(debug_assertions) { 100 } else { 10 });
/// When long work is to look after what waits.
const SLICE: Duration = Duration::from_millis(2);

/// What the turns of one call took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// How many.
    pub turns: u64,
    /// How many of them took more than [`MOST`].
    pub long: u64,
    /// All of them, of the processor.
    pub cpu: Duration,
    /// The longest of them, of the processor.
    pub longest_cpu: Duration,
    /// The longest of them, on the wall.
    pub longest: Duration,
}

/// A turn that goes on.
#[derive(Clone, Copy)]
struct Turn {
    call: &'static str,
    began: Instant,
    cpu: Duration,
}

#[derive(Default)]
struct Pace {
    turn: Option<Turn>,
    spent: BTreeMap<&'static str, Spent>,
}

thread_local! {
    static PACE: RefCell<Pace> = RefCell::default();
}

/// Processor time of this thread so far.
fn cpu_now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// This thread begins a call.
pub fn begin(call: &'static str) {
    let turn = Turn { call, began: Instant::now(), cpu: cpu_now() };
    PACE.with_borrow_mut(|pace| pace.turn = Some(turn));
}

/// What waits was looked after: the call goes on with another turn.
pub fn look() {
    if let Some(turn) = end_turn() {
        begin(turn.call);
    }
}

/// The call is over.
pub fn end() {
    end_turn();
}

/// Whether it is time to look after what waits. Cheap enough to be asked between any two steps.
pub fn is_due() -> bool {
    PACE.with_borrow(|pace| pace.turn.is_some_and(|turn| turn.began.elapsed() >= SLICE))
}

/// What the turns of each call took since the start, or since they were cleared.
pub fn spent() -> Vec<(&'static str, Spent)> {
    PACE.with_borrow(|pace| pace.spent.iter().map(|(call, spent)| (*call, *spent)).collect())
}

/// Counts from zero.
pub fn clear() {
    PACE.with_borrow_mut(|pace| pace.spent.clear());
}

fn end_turn() -> Option<Turn> {
    let (turn, cpu, wall) = PACE.with_borrow_mut(|pace| {
        let turn = pace.turn.take()?;
        let (cpu, wall) = (cpu_now().saturating_sub(turn.cpu), turn.began.elapsed());
        let spent = pace.spent.entry(turn.call).or_default();
        spent.turns += 1;
        spent.long += u64::from(cpu > MOST);
        spent.cpu += cpu;
        spent.longest_cpu = spent.longest_cpu.max(cpu);
        spent.longest = spent.longest.max(wall);
        Some((turn, cpu, wall))
    })?;
    if cpu > MOST {
        let (call, cpu_ms, wall_ms) = (turn.call, cpu.as_millis(), wall.as_millis());
        tracing::warn!(
            fault = "long-turn",
            call,
            cpu_ms,
            wall_ms,
            "the control thread had no eye for anything else for long"
        );
    }
    Some(turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes the processor for a while.
    fn work(time: Duration) {
        let start = cpu_now();
        while cpu_now() - start < time {}
    }

    #[test]
    fn a_turn_ends_where_what_waits_is_looked_after() {
        clear();
        begin("whole");
        work(3 * SLICE);
        assert!(is_due());
        end();
        begin("sliced");
        for _ in 0..3 {
            work(SLICE);
            assert!(is_due());
            look();
        }
        end();
        assert!(!is_due(), "nothing is done");
        let spent: BTreeMap<_, _> = spent().into_iter().collect();
        let [whole, sliced] = ["whole", "sliced"].map(|call| spent[call]);
        assert_eq!((whole.turns, sliced.turns), (1, 4));
        assert!(whole.longest_cpu >= 3 * SLICE && sliced.cpu >= 3 * SLICE);
        assert!(sliced.longest_cpu < sliced.cpu);
        assert!(whole.longest >= whole.longest_cpu);
        clear();
        assert!(super::spent().is_empty());
    }

    #[test]
    fn waiting_takes_none_of_the_processor() {
        clear();
        begin("waits");
        std::thread::sleep(MOST + SLICE);
        end();
        let spent = spent()[0].1;
        assert!(spent.longest > MOST && spent.longest_cpu < MOST && spent.long == 0, "{spent:?}");
    }
}
