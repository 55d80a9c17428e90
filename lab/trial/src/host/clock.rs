//! The clock of the devices' cores, lowered for a while by the kernel's cpufreq.
//!
//! ```text
//! /sys/devices/system/cpu/cpuN/cpufreq/scaling_max_freq ◀─ percent of cpuinfo_max_freq
//! keeper (sh, its stdin is our pipe) ── puts back what stood there when we end, however we end
//! ```
//! Virtual machines mostly have no such files: then it is a refusal, and `cost_cycles` asks the
//! same question.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use lab_record::axes::ClockPercent;

use crate::Error;
use crate::dut::device::{Device, Job};
use crate::dut::settings::core_numbers;

/// Where the kernel tells of its processors.
const PROCESSORS: &str = "/sys/devices/system/cpu";
/// Puts back, file by file, what is given when standard input ends; signals of a terminal do not
/// reach it.
const KEEP: &str = "trap '' INT TERM HUP; cat >/dev/null; \
                    while [ $# -gt 1 ]; do echo \"$2\" > \"$1\"; shift 2; done";

/// As long as it lives the clock is low.
#[derive(Debug)]
pub struct HostClock {
    keeper: Child,
}

/// Sets the clock that a job asks for; an error where it, or something else that it is set to,
/// cannot be had.
pub(crate) fn for_job(
    device: &dyn Device,
    job: &Job,
    cores: &str,
) -> Result<Option<HostClock>, Error> {
    device.check_settings(job, cores)?;
    let set = |percent| HostClock::set(percent, cores).map_err(|why| device.refuse(job, &why));
    job.settings.get::<ClockPercent>().map(set).transpose()
}

impl HostClock {
    /// Lowers the clock of these cores, as `taskset` writes them; why that cannot be, in words.
    pub fn set(percent: u64, cores: &str) -> Result<Self, String> {
        Self::set_under(Path::new(PROCESSORS), percent, cores)
    }

    fn set_under(processors: &Path, percent: u64, cores: &str) -> Result<Self, String> {
        if !(1..=100).contains(&percent) {
            return Err(format!("a clock of {percent} % (1 to 100)"));
        }
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for core in core_numbers(cores) {
            let folder = processors.join(format!("cpu{core}/cpufreq"));
            if !folder.exists() {
                let what = "this host's kernel cannot set the clock (no cpufreq); vary cost_cycles instead";
                return Err(what.into());
            }
            let largest_khz = number(&folder.join("cpuinfo_max_freq"))?;
            let least_khz = number(&folder.join("cpuinfo_min_freq"))?;
            let khz = largest_khz * percent / 100;
            if khz < least_khz {
                let (least, largest) = (least_khz / 1_000, largest_khz / 1_000);
                return Err(format!(
                    "{percent} % of {largest} MHz is below the least, {least} MHz"
                ));
            }
            let file = folder.join("scaling_max_freq");
            old.push((file.clone(), number(&file)?));
            new.push((file, khz));
        }
        // The keeper is there before anything is changed.
        let restored =
            old.iter().flat_map(|(file, khz)| [file.display().to_string(), khz.to_string()]);
        let keeper = Command::new("setsid")
            .args(["sh", "-c", KEEP, "sh"])
            .args(restored)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("setsid: {error}"))?;
        let clock = Self { keeper };
        for (file, khz) in new {
            std::fs::write(&file, khz.to_string())
                .map_err(|error| format!("{}: {error}", file.display()))?;
            let now_khz = number(&file)?;
            if now_khz != khz {
                let told = file.display();
                return Err(format!("{told} says {now_khz} kHz where {khz} was written"));
            }
        }
        Ok(clock)
    }
}

impl Drop for HostClock {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

fn number(file: &PathBuf) -> Result<u64, String> {
    let told = |reason: String| format!("{}: {reason}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| told(error.to_string()))?;
    text.trim().parse().map_err(|_| told(format!("{text:?} is no number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two processors of 1 to 4 GHz, one of them held at 3 GHz.
    fn processors(name: &str) -> PathBuf {
        let top = std::env::temp_dir().join(format!("lab-{name}-{}", std::process::id()));
        for (core, limit_khz) in [(0, 3_000_000), (1, 4_000_000)] {
            let folder = top.join(format!("cpu{core}/cpufreq"));
            std::fs::create_dir_all(&folder).unwrap();
            let files = [
                ("cpuinfo_max_freq", 4_000_000),
                ("cpuinfo_min_freq", 1_000_000),
                ("scaling_max_freq", limit_khz),
            ];
            for (file, khz) in files {
                std::fs::write(folder.join(file), format!("{khz}\n")).unwrap();
            }
        }
        top
    }

    fn limits(top: &Path) -> [u64; 2] {
        [0, 1].map(|core| number(&top.join(format!("cpu{core}/cpufreq/scaling_max_freq"))).unwrap())
    }

    #[test]
    fn the_clock_is_lowered_and_put_back_to_what_it_was() {
        let top = processors("clock");
        let clock = HostClock::set_under(&top, 50, "0-1").unwrap();
        assert_eq!(limits(&top), [2_000_000, 2_000_000]);
        drop(clock);
        assert_eq!(limits(&top), [3_000_000, 4_000_000]);
        drop(HostClock::set_under(&top, 97, "1").unwrap());
        assert_eq!(limits(&top), [3_000_000, 4_000_000]);
        std::fs::remove_dir_all(top).unwrap();
    }

    #[test]
    fn what_a_host_cannot_do_is_refused_and_changes_nothing() {
        let top = processors("refused");
        let refused = |percent, cores| HostClock::set_under(&top, percent, cores).unwrap_err();
        assert!(refused(20, "0").contains("below the least, 1000 MHz"));
        assert!(refused(101, "0").contains("101 %"));
        assert!(refused(50, "0,7").contains("no cpufreq"));
        assert_eq!(limits(&top), [3_000_000, 4_000_000]);
        std::fs::remove_dir_all(top).unwrap();
    }
}
