//! How far it is, on standard error: one line of a terminal over and over, or a line each.
//!
//! ```text
//! campaigns                 [3/12, 1:20 left] what     the limit tells what is left
//! simulations, self-tests   [2/5, 0:07 left] what      the parts that are over do: the others may take as long
//! ```

use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use lab_trial::campaign::Progress;

/// What is over before then needs no progress.
const SOON: Duration = Duration::from_secs(2);
/// Nobody reads faster: a terminal, and a file.
const EACH: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(2)];

/// The line.
pub(crate) struct Line {
    terminal: bool,
    began: Instant,
    /// When it was told last.
    told: Cell<Instant>,
}

impl Line {
    /// From now on.
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self { terminal: std::io::stderr().is_terminal(), began: now, told: Cell::new(now) }
    }

    /// Tells it.
    pub(crate) fn tell(&self, now: &Progress<'_>) {
        if self.terminal {
            eprint!("\r\x1b[K{}", words(now));
            let _ = std::io::stderr().flush();
        } else {
            eprintln!("{}", words(now));
        }
    }

    /// Tells it of work whose parts take about as long each, if that takes so long that somebody
    /// waits.
    pub(crate) fn tell_parts(&self, done: usize, all: usize, what: &str) {
        let elapsed = self.began.elapsed();
        let each = EACH[usize::from(!self.terminal)];
        if elapsed < SOON || self.told.get().elapsed() < each {
            return;
        }
        self.told.set(Instant::now());
        self.tell(&Progress { done, all, what, left: left(elapsed, done, all) });
    }

    /// Leaves the terminal as it was.
    pub(crate) fn finish(&self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
    }
}

/// Time that the others take, if they take as long as those that are over; none before the first
/// is.
pub(crate) fn left(elapsed: Duration, done: usize, all: usize) -> Option<Duration> {
    let others = all.saturating_sub(done);
    (done > 0).then(|| elapsed.mul_f64(others as f64 / done as f64))
}

fn words(Progress { done, all, what, left }: &Progress<'_>) -> String {
    let left = left.map_or(String::new(), |left| {
        format!(", {}:{:02} left", left.as_secs() / 60, left.as_secs() % 60)
    });
    format!("[{done}/{all}{left}] {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_once_a_part_is_over() {
        let seconds = Duration::from_secs;
        assert_eq!(left(seconds(9), 0, 4), None);
        assert_eq!(left(seconds(90), 1, 3), Some(seconds(180)));
        assert_eq!(left(seconds(90), 3, 3), Some(seconds(0)));
        let what = "veth";
        let told = |left| words(&Progress { done: 1, all: 3, what, left });
        assert_eq!(told(left(seconds(90), 1, 3)), "[1/3, 3:00 left] veth");
        assert_eq!(told(None), "[1/3] veth");
    }
}
