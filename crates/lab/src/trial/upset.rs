//! Trials that upset the device: an overload before the load, a restart under it.
//!
//! ```text
//! overload   ▁▁█████▁▁▁▁▁▁▁     two streams, one after the other; the second is told
//! restart    ▃▃▃▃│   │▃▃▃▃▃     the traffic goes on in a thread of its own, on the lab's core
//!             stop ─ start       by this thread, on the devices' cores: processes end with the thread that started them
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::frames::Load;
use super::probe::{allowed_cores, first, move_to};
use super::rig::Rig;
use crate::Error;
use crate::search::{Overload, Trial};
use crate::traffic::{Plan, Rate, Side, TrafficResult, drive};

/// Share of a trial after which the device is started anew.
const RESET_AT: f64 = 0.2;

impl Rig<'_> {
    /// Overloads the device, then sends the trial's own load: the second stream of the result.
    pub(super) fn after_overload(
        &mut self,
        load: &Load,
        trial: Trial,
        overload: Overload,
    ) -> Result<TrafficResult, Error> {
        let mut before = load.stream(Rate::Pps(overload.load_pps));
        before.name = "overload".into();
        before.packets = Some((overload.load_pps * overload.duration_s) as u64);
        let mut after = load.stream(Rate::Pps(trial.load_pps));
        after.after_s = overload.duration_s;
        let duration_s = overload.duration_s + trial.duration_s;
        self.drive([vec![before, after], Vec::new()], duration_s, load.seed)
    }

    /// Starts the device anew while packets are sent to it.
    pub(super) fn with_reset(&mut self, load: &Load, trial: Trial) -> Result<TrafficResult, Error> {
        let link = self.bench.link;
        if !link.is_kernel() {
            let what =
                "its links end with it, and the lab cannot join them anew in the middle of a trial";
            return Err(self.device.refuse(&self.job, what));
        }
        if !self.device.can_restart() {
            return Err(self
                .device
                .refuse(&self.job, "it is no process that could be started anew"));
        }
        let streams = [vec![load.stream(Rate::Pps(trial.load_pps))], Vec::new()];
        let sides = self.ends.iter_mut().zip(streams);
        let sides: Vec<Side<'_>> = sides.map(|(end, streams)| Side { end, streams }).collect();
        let plan =
            Plan { stall_ns: link.stall_ns(), seed: load.seed, ..Plan::new(trial.duration_s) };
        let clock = self.bench.clock;
        let own = allowed_cores();
        let (go_on, failed) = (AtomicBool::new(true), AtomicBool::new(false));
        let result = std::thread::scope(|scope| {
            let driving = scope
                .spawn(|| drive(clock, sides, &plan, &mut |_| !failed.load(Ordering::Relaxed)));
            move_to(first(&self.bench.cores));
            std::thread::sleep(Duration::from_secs_f64(RESET_AT * trial.duration_s));
            self.place.stop();
            let restarted =
                self.place.clear().and_then(|()| self.device.start(&self.job, &mut self.place));
            failed.store(restarted.is_err(), Ordering::Relaxed);
            while !driving.is_finished() {
                if !(self.bench.go_on)() {
                    go_on.store(false, Ordering::Relaxed);
                    failed.store(true, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            let gone = || Err(Error::Contradiction("the generator's thread panicked".into()));
            let result = driving.join().unwrap_or_else(|_| gone());
            restarted.and(result)
        });
        move_to(&own);
        if !go_on.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        self.place.alive()?;
        let result = result?;
        let back = result.streams.first().is_some_and(|stream| {
            stream.sequence.last_lost.is_none_or(|last| last + 1 < stream.offered)
        });
        match back {
            true => Ok(result),
            false => Err(Error::Silent {
                device: self.device.name().to_owned(),
                seconds: ((1.0 - RESET_AT) * trial.duration_s) as u64,
                hint: "it was started anew in the middle of a trial".into(),
            }),
        }
    }
}
