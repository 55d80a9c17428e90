//! What is thrown from outside: packets, and faults of links, devices, hosts, buffers and queues.

use crate::blocks::{COUNT, FIRST};
use crate::noise::noise;
use crate::play::Run;
use packet::Pool;
use std::time::Duration;

/// In that time a neighbour may have been asked as often as it is, if `arp` says the least.
const ASKED: Duration = Duration::from_millis(200);
/// The longest pause until it is asked again if it was heard by nobody, and a bit.
const PAUSE: Duration = Duration::from_secs(90);
/// By then whoever could not be asked was, also by the lowest rate of questions.
const ASKS: Duration = Duration::from_secs(1);

impl Run {
    pub(crate) fn make_noise(&mut self) {
        let pieces = 1 + self.chance.below(6);
        for _ in 0..pieces {
            let host = self.hosts[2 + self.chance.below(self.hosts.len() - 2)].clone();
            let station = match self.chance.below(8) {
                0 => [0xff; 6],
                1 => [2, 0, 0, 0, 2, host.line as u8],
                _ => [2, 0, 0, 0, 1, host.line as u8],
            };
            let noise = noise(&mut self.chance, &host, station);
            self.say(|| format!("{} × {} on d{}", noise.frames.len(), noise.what, host.line));
            self.stage.lines.at(host.line).lock().to_router.extend(noise.frames);
        }
    }

    pub(crate) fn flap(&mut self) {
        let line = self.a_line();
        let up = {
            let mut line = self.stage.lines.at(line).lock();
            line.up = !line.up;
            line.up
        };
        self.say(|| format!("the link of d{line} {}", if up { "comes" } else { "goes" }));
    }

    pub(crate) fn unplug(&mut self) {
        let line = self.a_line();
        let there = {
            let mut line = self.stage.lines.at(line).lock();
            line.there = !line.there;
            line.there
        };
        self.say(|| format!("device d{line} is {}", if there { "there again" } else { "pulled" }));
    }

    pub(crate) fn refuse(&mut self) {
        let (line, times) = (self.a_line(), 1 + self.chance.below(3));
        self.stage.lines.at(line).lock().refuses = times;
        self.say(|| format!("device d{line} will refuse {times} times"));
    }

    pub(crate) fn die(&mut self) {
        let at = 2 + self.chance.below(self.hosts.len() - 2);
        let moves = self.chance.one_in(3);
        let host = &mut self.hosts[at];
        if moves {
            host.mac[1] ^= 1;
        } else {
            host.lives = !host.lives;
        }
        let host = host.clone();
        let what = match (moves, host.lives) {
            (true, _) => "has another station",
            (false, true) => "lives again",
            (false, false) => "dies",
        };
        self.say(|| format!("host {} of d{} {what}", host.ip4, host.line));
    }

    /// All buffers but a few are somebody's, or nobody's again.
    pub(crate) fn take_buffers(&mut self) -> Result<(), String> {
        // A cache of its own each time: it keeps none of those that are free again.
        let mut cache = self.stage.pool.cache();
        if !self.held.is_empty() {
            self.held.drain(..).for_each(|packet| cache.release_one(packet));
            self.say(|| "buffers are free again".to_owned());
            // Who was asked in vain, as its answers found no buffer, is asked again after a pause.
            let unheard = self.missed_answers() != self.missed_before;
            let pause = match unheard && self.stage.time.now() - self.taken_at >= ASKED {
                true => PAUSE,
                false => ASKS,
            };
            return self.pass(pause, pause / 10);
        }
        (self.taken_at, self.missed_before) = (self.stage.time.now(), self.missed_answers());
        let left = *self.chance.pick(&[0, 1, 16, 300]);
        while let Some(packet) = cache.allocate_one() {
            self.held.push(packet);
        }
        let back = self.held.len().saturating_sub(left);
        self.held.drain(back..).for_each(|packet| cache.release_one(packet));
        let held = self.held.len();
        self.say(|| format!("{held} buffers are taken, {left} of what the pool has are left"));
        Ok(())
    }

    /// Answers about neighbours that found no buffer, of all links.
    fn missed_answers(&self) -> u64 {
        self.stage.lines.all().map(|(_, line)| line.lock().missed_answers).sum()
    }

    pub(crate) fn fill_queues(&mut self) {
        let (line, room) = (self.a_line(), self.chance.below(20));
        self.stage.lines.at(line).lock().room = room;
        self.say(|| format!("the queue of d{line} takes {room} packets more"));
    }

    fn a_line(&mut self) -> usize {
        FIRST + self.chance.below(COUNT)
    }
}
