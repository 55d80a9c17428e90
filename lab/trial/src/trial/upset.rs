//! Trials that upset the device: an overload before the load, a restart or a change of its table
//! under it.
//!
//! ```text
//! overload   ▁▁█████▁▁▁▁▁▁▁     two streams, one after the other; the second is told
//! restart    ▃▃▃▃│   │▃▃▃▃▃     the traffic goes on in a thread of its own, on the lab's core
//!             stop ─ start       by this thread, on the devices' cores: processes end with the thread that started them
//! change     ▃▃▃▃│▃▃▃│▃▃▃▃▃     the device's own command, on its cores: what that costs it is part of the answer
//! ```

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lab_record::{Changed, Overload, Trial};
use lab_traffic::{Plan, Rate, Side, TrafficResult, drive};

use crate::Error;
use crate::dut::device::{Change, Device, Job};
use crate::load::added::LiveChange;
use crate::load::frames::Load;
use crate::place::Place;
use crate::trial::rig::Rig;
use crate::watch::probe::{allowed_cores, move_to};

/// Share of a trial after which the device is started anew, or changed.
const UPSET_AT: f64 = 0.2;

/// How often a trial is made longer for a change or a restart, each time at least twice as long.
const LENGTHENED: u32 = 3;

impl Rig<'_> {
    /// Overloads the device, then sends the trial's own load: the second stream of the result.
    pub(crate) fn after_overload(
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

    /// Starts the device anew while packets are sent to it. A start that outlasts its trial is made
    /// again in a longer one: the trial that it was.
    pub(crate) fn with_reset(
        &mut self,
        load: &Load,
        mut trial: Trial,
    ) -> Result<(Trial, TrafficResult), Error> {
        if !self.bench.link.is_kernel() {
            let what =
                "its links end with it, and the lab cannot join them anew in the middle of a trial";
            return Err(self.device.refuse(&self.job, what));
        }
        if !self.device.can_restart() {
            return Err(self
                .device
                .refuse(&self.job, "it is no process that could be started anew"));
        }
        for lengthened in 0.. {
            let (result, ()) = self.under_load(load, trial, false, |device, job, place, _| {
                place.stop();
                place.clear().and_then(|()| device.start(job, place))
            })?;
            let back = result.streams.first().is_some_and(|stream| {
                stream.sequence.last_lost.is_none_or(|last| last + 1 < stream.offered)
            });
            if back {
                return Ok((trial, result));
            }
            if lengthened == LENGTHENED {
                break;
            }
            trial.duration_s *= 2.0;
        }
        Err(Error::Silent {
            device: self.device.name().to_owned(),
            seconds: ((1.0 - UPSET_AT) * trial.duration_s) as u64,
            hint: "it was started anew in the middle of a trial".into(),
        })
    }

    /// Adds entries to the device's table while packets are sent to those that it had before. A
    /// change that outlasts its trial is taken back and made again in a longer one: the trial that
    /// it was. A device that shares a core with its command, or with others, takes ten times as
    /// long as one that does not.
    pub(crate) fn with_change(
        &mut self,
        load: &Load,
        mut trial: Trial,
        both: bool,
        change: LiveChange,
    ) -> Result<(Trial, TrafficResult, Changed), Error> {
        let mut lengthened = 0;
        loop {
            let took_s = match self.try_change(load, trial, both, change)? {
                (result, Ok(changed)) => return Ok((trial, result, changed)),
                (_, Err(took_s)) => took_s,
            };
            let trial_s = trial.duration_s;
            if lengthened == LENGTHENED {
                let took = format!("the change took {took_s:.2} s, of a trial of {trial_s} s");
                return Err(Error::NoTrial(took + ": set trial_s higher"));
            }
            self.undo(load, change)?;
            trial.duration_s = 2.0 * trial_s.max(took_s);
            lengthened += 1;
        }
    }

    /// What it came to; of a change that outlasts the trial how long it took.
    fn try_change(
        &mut self,
        load: &Load,
        trial: Trial,
        both: bool,
        change: LiveChange,
    ) -> Result<(TrafficResult, Result<Changed, f64>), Error> {
        let LiveChange { added, entries } = change;
        let change = Change { added, entries: 0..entries, remove: false };
        // What the command needs is written before: the command alone is the change.
        let line = self.device.change(&self.job, &change, &mut self.place)?;
        let upset = |_: &mut dyn Device, _: &Job, place: &mut Place, since_s: &dyn Fn() -> f64| {
            let at_s = since_s();
            place.run(&line)?;
            Ok((at_s, since_s() - at_s))
        };
        let (result, (at_s, took_s)) = self.under_load(load, trial, both, upset)?;
        let arrivals = result.ends.last().map_or(&[][..], |end| &end.per_ms);
        let changed = Changed::of(arrivals, at_s, took_s, result.duration_ns as f64 / 1e9);
        Ok((result, changed.ok_or(took_s)))
    }

    /// Sends a trial's load from a thread of its own while something happens to the device, a share
    /// of the trial after it began. What happens is told how to ask for the seconds since then.
    fn under_load<T>(
        &mut self,
        load: &Load,
        trial: Trial,
        both: bool,
        upset: impl FnOnce(&mut dyn Device, &Job, &mut Place, &dyn Fn() -> f64) -> Result<T, Error>,
    ) -> Result<(TrafficResult, T), Error> {
        let link = self.bench.link;
        let rate = Rate::Pps(trial.load_pps);
        let mut streams = [vec![load.stream(rate)], Vec::new()];
        if both {
            streams[1].push(load.stream_back(rate));
        }
        let sides = self.ends.iter_mut().zip(streams);
        let sides: Vec<Side<'_>> = sides.map(|(end, streams)| Side { end, streams }).collect();
        let plan =
            Plan { stall_ns: link.stall_ns(), seed: load.seed, ..Plan::new(trial.duration_s) };
        let clock = self.bench.clock;
        let own = allowed_cores();
        let (go_on, failed) = (AtomicBool::new(true), AtomicBool::new(false));
        // When the first packet was due; 0 until then.
        let start_ns = AtomicU64::new(0);
        let result = std::thread::scope(|scope| {
            let driving = scope.spawn(|| {
                drive(clock, sides, &plan, &mut |since_ns| {
                    start_ns.store(clock.now_ns() - since_ns, Ordering::Relaxed);
                    !failed.load(Ordering::Relaxed)
                })
            });
            move_to(&self.bench.cores);
            while start_ns.load(Ordering::Relaxed) == 0 && !driving.is_finished() {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_secs_f64(UPSET_AT * trial.duration_s));
            let since_s = || (clock.now_ns() - start_ns.load(Ordering::Relaxed)) as f64 / 1e9;
            let happened = upset(&mut *self.device, &self.job, &mut self.place, &since_s);
            failed.store(happened.is_err(), Ordering::Relaxed);
            while !driving.is_finished() {
                if !(self.bench.go_on)() {
                    go_on.store(false, Ordering::Relaxed);
                    failed.store(true, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            let gone = || Err(Error::Contradiction("the generator's thread panicked".into()));
            let result = driving.join().unwrap_or_else(|_| gone());
            happened.and_then(|happened| Ok((result?, happened)))
        });
        move_to(&own);
        if !go_on.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        self.place.alive()?;
        result
    }
}
