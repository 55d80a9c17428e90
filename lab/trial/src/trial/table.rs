//! The table of a running device: entries added to it, and a look whether it forwards by all of
//! them.
//!
//! ```text
//! add a batch ▶ accepted or refused ▶ packets to what was there at the start and to what was accepted since
//! ```

use lab_traffic::{Rate, TrafficResult};

use crate::Error;
use crate::dut::device::Change;
use crate::load::added::{Added, LiveChange};
use crate::load::frames::Load;
use crate::trial::rig::Rig;

/// Packets sent to look whether entries are there, to the old ones and to the new ones, and how
/// fast.
const LOOK_PPS: f64 = 5_000.0;
const LOOK_S: f64 = 0.1;
/// Looks before a packet that is lost is the device's fault: others use the host, too.
const LOOKS: u32 = 8;
/// How often a look's rate is halved, at most.
const SLOWEST_LOOK: u32 = 4;
/// Share of the host's memory that stays free.
pub(crate) const FREE_SHARE: f64 = 0.2;

impl Rig<'_> {
    /// A change that adds so many entries.
    pub(crate) fn live_change(&self, entries: u64) -> Result<LiveChange, Error> {
        Ok(LiveChange { added: self.addable(entries)?, entries })
    }

    /// Where entries can be added to what the device was started with.
    pub(crate) fn addable(&self, most: u64) -> Result<Added, Error> {
        let what = "the lab adds routes to a running device, and nothing else yet";
        Added::new(self.job.function.kind, most).ok_or_else(|| self.device.refuse(&self.job, what))
    }

    /// Looks whether a change was made, and takes it back.
    pub(crate) fn undo(&mut self, load: &Load, change: LiveChange) -> Result<(), Error> {
        let LiveChange { added, entries } = change;
        self.forwards(load, added, entries)?;
        self.change(&Change { added, entries: 0..entries, remove: true })?;
        self.forwards(load, added, 0)?;
        self.forget_counts()
    }

    /// Carries a change of its table out.
    pub(crate) fn change(&mut self, change: &Change) -> Result<(), Error> {
        let line = self.device.change(&self.job, change, &mut self.place)?;
        self.place.run(&line)?;
        self.place.alive()
    }

    /// An error unless the device forwards by the entries that it was started with and by `entries`
    /// that were added; where none were, unless it knows none of them.
    pub(crate) fn forwards(
        &mut self,
        load: &Load,
        added: Added,
        entries: u64,
    ) -> Result<(), Error> {
        let mut last = Error::Contradiction("nobody looked".into());
        for look in 0..LOOKS {
            // A device that looks entries up the slow way first may be overrun by packets that are
            // all to new ones.
            let slowness = f64::from(1 << look.min(SLOWEST_LOOK));
            let (rate, look_s) = (Rate::Pps(LOOK_PPS / slowness), LOOK_S * slowness);
            let there = added.stream(load, rate, entries.max(1));
            let result =
                self.drive([vec![load.stream(rate), there], Vec::new()], look_s, load.seed)?;
            match verdict(&result, entries > 0) {
                Ok(()) => return Ok(()),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// What a look says: the first stream goes to what was always there, the second to what was added.
fn verdict(result: &TrafficResult, added: bool) -> Result<(), Error> {
    let which = ["was started with", if added { "accepted" } else { "gave up" }];
    for (stream, which) in result.streams.iter().zip(which) {
        let (sent, came) = (stream.offered, stream.sequence.unique);
        let wanted = if which == "gave up" { 0 } else { sent };
        if came != wanted {
            return Err(Error::NoTrial(format!(
                "of {sent} packets to entries that it {which}, {came} came back"
            )));
        }
    }
    Ok(())
}

/// Share of the host's memory that could be had; all of it where the host does not say.
pub(crate) fn free_memory_share() -> f64 {
    share(&std::fs::read_to_string("/proc/meminfo").unwrap_or_default())
}

fn share(text: &str) -> f64 {
    let of = |name: &str| -> Option<f64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':').split_whitespace().next()?.parse().ok()
    };
    match (of("MemAvailable"), of("MemTotal")) {
        (Some(available), Some(total)) if total > 0.0 => available / total,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_is_what_the_kernel_says_can_be_had() {
        let text = "MemTotal:       1000 kB\nMemFree:  10 kB\nMemAvailable:    250 kB\n";
        assert_eq!(share(text), 0.25);
        assert_eq!(share(""), 1.0);
    }
}
