//! What waits for nobody, while the control thread is at work: and work that is done beside it.
//!
//! ```text
//!  control thread   step step step [serve] step step …         a change of very many steps
//!  control thread   step ─┐ [serve] [serve] [serve] ┌─ step    a device opens, a list is compiled
//!  another thread         └── opens it ─────────────┘
//! ```
//! Served are the local worker, what workers tell (ARP, ND, packets without a MAC address), and the
//! timers of neighbours, groups and advertisements. Rows stay as they are until the change writes
//! them, links are looked at later, and no call of the API sees a change half made.

use crate::core::Core;
use crate::parts::Parts;
use control::pace;
use nodes::tables::Lane;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

/// Between two looks at what waits, while another thread works.
const WAIT: Duration = Duration::from_millis(1);

/// Serves what waits, if the work at hand took long enough.
pub(crate) fn breathe(parts: &mut Parts, core: &mut Core) {
    if core.clock.chance_to_serve().unwrap_or_else(pace::is_due) {
        serve(parts, core);
    }
}

/// Punts taken in one turn: what they bring about is done before the next ones are heard.
const fn most_in_a_turn(lane: Lane) -> usize {
    match lane {
        Lane::Answers | Lane::Notices => 1024,
        Lane::Packets => 256,
    }
}

/// Hears what workers told, answers first: so many of each lane, and none while there is no room
/// for what that brings about. What waits too long workers drop, and count. True if there is more.
pub(crate) fn hear_punts(parts: &mut Parts, core: &mut Core) -> bool {
    let mut more = false;
    for lane in Lane::ALL {
        let mut left = most_in_a_turn(lane);
        while left != 0 && core.dataplane.injector.has_room() {
            let Some(punt) = core.dataplane.events.next_of(lane) else { break };
            parts.hear(core, punt);
            left -= 1;
        }
        more |= left == 0;
    }
    more
}

/// Serves what waits; says whether there is more.
fn serve(parts: &mut Parts, core: &mut Core) -> bool {
    pace::look();
    let mut busy = core.turn_local();
    busy |= hear_punts(parts, core);
    let now = core.clock.now();
    for part in parts.all_mut() {
        part.beat(core, now);
    }
    core.tick_neighbors();
    core.dataplane.reclaim();
    pace::look();
    busy
}

/// Does work that waits for the kernel or a driver, or takes long, on a thread of its own, and
/// serves meanwhile what waits.
pub(crate) fn aside<T: Send>(
    parts: &mut Parts,
    core: &mut Core,
    work: impl FnOnce() -> T + Send,
) -> T {
    if let Some(is_served) = core.clock.chance_to_serve() {
        // Where one thread does all, what waits is served before or not at all.
        if is_served {
            serve(parts, core);
        }
        return work();
    }
    let work = Mutex::new(Some(work));
    let begin = || work.lock().unwrap_or_else(PoisonError::into_inner).take().map(|work| work());
    let control = Wakes(thread::current());
    let done = thread::scope(|scope| {
        let begin = &begin;
        let thread =
            thread::Builder::new().name("aside".to_owned()).spawn_scoped(scope, move || {
                let _at_its_end = control;
                begin()
            });
        // Where no thread is to be had, it is done here.
        let Ok(thread) = thread else { return begin() };
        while !thread.is_finished() {
            if !serve(parts, core) {
                thread::park_timeout(WAIT);
            }
        }
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    // There is but one who begins: none has found nothing to do.
    done.unwrap_or_else(|| resume_unwind(Box::new("work was begun twice")))
}

/// Wakes a thread when it goes.
struct Wakes(Thread);

impl Drop for Wakes {
    fn drop(&mut self) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Router;
    use control::config::{Config, Host, Source, parse};
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::time::Instant;

    const PORT: &str = "port.p1 = { kind = \"memory\" }\n";

    fn config(text: &str) -> Config {
        let fixed = "workers.mode = \"single-thread\"\n\
                     memory = { buffers = 4096, hugepages = \"never\" }\n";
        parse(&Source::new("router.toml", format!("{text}{fixed}")), &Host::any()).unwrap()
    }

    fn start(config: &Config) -> Router {
        let mut router = Router::start(config, Arc::new(|| ())).unwrap();
        router.apply_all(&Config::diff(&Config::default(), config)).unwrap();
        router
    }

    #[test]
    fn the_local_worker_turns_while_another_thread_works() {
        let mut router = start(&config(PORT));
        let worker = router.core.dataplane.worker(0).unwrap();
        let counters = Arc::clone(worker.counters());
        let loops = move || counters.loops.load(Ordering::Relaxed);
        let Router { parts, core, .. } = &mut router;
        // Work that goes on until it sees the worker turn, ten times.
        let turned = aside(parts, core, || {
            let (first, began) = (loops(), Instant::now());
            while loops() < first + 10 && began.elapsed() < Duration::from_secs(60) {
                thread::yield_now();
            }
            loops() - first
        });
        assert!(turned >= 10, "{turned} turns");
    }

    #[test]
    fn a_change_of_many_steps_is_many_turns_of_the_control_thread() {
        let mut router = start(&config(PORT));
        let route = |n: u32| {
            format!("{{ prefix = \"100.{}.{}.0/24\", blackhole = true }}", n >> 8, n & 255)
        };
        let routes: Vec<String> = (0..5000).map(route).collect();
        let routes = format!("{PORT}route = [{}]\n", routes.join(", "));
        let changes = Config::diff(&config(PORT), &config(&routes));
        assert_eq!(changes.len(), 5000);
        pace::clear();
        pace::begin("apply");
        router.apply_all(&changes).unwrap();
        pace::end();
        let spent = pace::spent()[0].1;
        // It takes ten slices at least, and each of them is a turn, and what is served is another.
        assert!(spent.turns > 4, "{spent:?}");
        assert!(spent.longest_cpu < spent.cpu / 2, "{spent:?}");
    }
}
