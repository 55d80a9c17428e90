//! Time passes, and what is on its way arrives.

use crate::blocks::{COUNT, FIRST};
use crate::line::USUAL_ROOM;
use crate::play::Run;
use std::time::Duration;

/// Turns in which a step must be done.
const TURNS: usize = 400;
/// Turns without anything after which there is nothing more.
const QUIET: usize = 3;

impl Run {
    pub(crate) fn wait(&mut self) -> Result<(), String> {
        let (ms, step_ms) = *self.chance.pick(&[
            (1, 1),
            (20, 5),
            (250, 50),
            (1000, 200),
            (1000, 1000),
            (11_000, 1000),
            (60_000, 6000),
            (400_000, 40_000),
            (3_600_000, 600_000),
        ]);
        self.say(|| format!("{ms} ms pass, {step_ms} at once"));
        self.pass(Duration::from_millis(ms), Duration::from_millis(step_ms))
    }

    /// Time passes, in steps, and the router turns in between.
    pub(crate) fn pass(&mut self, time: Duration, step: Duration) -> Result<(), String> {
        let mut passed = Duration::ZERO;
        while passed < time {
            self.stage.time.pass(step);
            passed += step;
            self.turn()?;
        }
        Ok(())
    }

    /// The flows send, and all that is on its way arrives.
    pub(crate) fn carry(&mut self) -> Result<(), String> {
        for (line, frame) in self.flows.send() {
            self.stage.lines.at(line).lock().to_router.push_back(frame);
            self.done.packets += 1;
        }
        self.stage.time.pass(Duration::from_micros(50));
        self.turn()?;
        match self.flows.missing() {
            Some(_) if !self.held.is_empty() => self.flows.forgive(),
            Some(missing) => {
                let drops = self.stage.drops_at(&["s0", "s1"])?;
                return Err(format!("packets did not arrive: {missing}; dropped ever: {drops}"));
            }
            None => {}
        }
        self.done.starved = self.flows.starved();
        self.done.arrived = self.flows.sent() - self.done.starved;
        Ok(())
    }

    /// The router and the hosts have their turns until nobody has anything to say.
    pub(crate) fn turn(&mut self) -> Result<(), String> {
        let mut quiet = 0;
        for _ in 0..TURNS {
            let (now, busy) = (self.stage.now(), self.stage.turn());
            let undone = self.transaction.tick(&mut self.stage.router, now);
            if undone {
                self.say(|| "nobody confirmed: it is rolled back".to_owned());
            }
            let moved = self.exchange()?;
            // What the control thread hands to the worker leaves in the turn behind.
            quiet = if busy || moved || undone { 0 } else { quiet + 1 };
            if quiet == QUIET {
                return Ok(());
            }
        }
        // Packets that are for ever on their way are for the checks to find; a router may be busy
        // with routes for longer.
        Ok(())
    }

    /// What links carry is looked at and answered; true if there was anything.
    pub(crate) fn exchange(&mut self) -> Result<bool, String> {
        let mut moved = false;
        for number in 0..FIRST + COUNT {
            let mut line = self.stage.lines.at(number).lock();
            let frames = std::mem::take(&mut line.from_router);
            moved |= !frames.is_empty();
            for frame in frames {
                if self.flows.take(number, &frame)? {
                    continue;
                }
                let here = self.hosts.iter().filter(|host| host.line == number && host.lives);
                line.to_router.extend(here.filter_map(|host| host.answer(&frame)));
            }
            if line.room == 0 {
                line.room = USUAL_ROOM;
            }
            let waiting = line.to_router.len() as u64;
            moved |= waiting != 0 && line.up && line.there;
        }
        Ok(moved)
    }
}
