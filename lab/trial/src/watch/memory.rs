//! The memory of a device's processes while it is measured.
//!
//! ```text
//! begin ─ trial ─ look ─ trial ─ look … ─ end      looks are thinned where there are many
//! ```
//! Its processes are those in its network namespace: children that a device starts are seen as
//! well. Devices that are the kernel have none, and nothing is told.

use std::fs;
use std::os::linux::fs::MetadataExt;
use std::time::Instant;

use lab_record::{MemoryRecord, MemorySample, Subject};

use crate::place::Place;

/// Most looks that are kept.
const MOST: usize = 256;
/// Seconds between two, at first.
const APART_S: f64 = 0.2;

/// Looks at a device's memory.
pub(crate) struct MemoryWatch {
    began: Instant,
    apart_s: f64,
    processes: u64,
    samples: Vec<MemorySample>,
}

impl MemoryWatch {
    /// With a first look.
    pub(crate) fn begin(place: &Place) -> Self {
        let (began, samples) = (Instant::now(), Vec::new());
        let mut watch = Self { began, apart_s: APART_S, processes: 0, samples };
        watch.sample(place);
        watch
    }

    /// Looks, if it is time to.
    pub(crate) fn look(&mut self, place: &Place) {
        let now_s = self.began.elapsed().as_secs_f64();
        let last_s = self.samples.last().map_or(0.0, |it| it.at_s);
        if now_s - last_s >= self.apart_s {
            self.sample(place);
        }
    }

    fn sample(&mut self, place: &Place) {
        let at_s = self.began.elapsed().as_secs_f64();
        let (processes, bytes) = held(place);
        self.processes = processes;
        self.keep(MemorySample { at_s, bytes });
    }

    fn keep(&mut self, sample: MemorySample) {
        if self.samples.len() == MOST {
            let mut odd = false;
            self.samples.retain(|_| {
                odd = !odd;
                odd
            });
            self.apart_s *= 2.0;
        }
        self.samples.push(sample);
    }

    /// With a last look, as it is written down; none where the device has no process.
    pub(crate) fn end(mut self, place: &Place, subject: Subject) -> Option<MemoryRecord> {
        self.sample(place);
        let Self { processes, samples, .. } = self;
        (processes > 0).then_some(MemoryRecord { subject, processes, samples })
    }
}

/// How many processes are in a place but its holder, and the octets that they hold.
fn held(place: &Place) -> (u64, u64) {
    let inode = |path: String| fs::metadata(path).map(|it| it.st_ino()).ok();
    let Some(own) = inode(place.namespace()) else { return (0, 0) };
    let listed = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = listed.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    let inside = pids.filter(|&pid| {
        pid != place.holder_pid() && inode(format!("/proc/{pid}/ns/net")) == Some(own)
    });
    let (mut processes, mut bytes) = (0, 0);
    for pid in inside {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        processes += 1;
        bytes += resident(&status);
    }
    (processes, bytes)
}

/// Octets that a process holds, out of its status.
fn resident(status: &str) -> u64 {
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    let kibibytes = of("VmRSS:").unwrap_or(0).saturating_add(of("HugetlbPages:").unwrap_or(0));
    kibibytes.saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_holds_is_resident_or_in_huge_pages() {
        let status = "Name:\tx\nVmRSS:\t    2048 kB\nRssAnon:\t 5 kB\nHugetlbPages:\t    1024 kB\n";
        assert_eq!((resident(status), resident("Name:\tkthread\n")), (3 << 20, 0));
    }

    #[test]
    fn however_long_it_takes_a_few_hundred_looks_cover_all_of_it() {
        let (began, samples) = (Instant::now(), Vec::new());
        let mut watch = MemoryWatch { began, apart_s: APART_S, processes: 1, samples };
        let mut next_s = 0.0;
        for at in 0..100_000 {
            let at_s = f64::from(at);
            if at_s >= next_s {
                watch.keep(MemorySample { at_s, bytes: 1 });
                next_s = at_s + watch.apart_s;
            }
        }
        let samples = &watch.samples;
        assert!((MOST / 2..=MOST).contains(&samples.len()), "{}", samples.len());
        assert!(samples[0].at_s == 0.0 && samples.last().unwrap().at_s > 99_000.0);
        let widest = samples.windows(2).map(|it| it[1].at_s - it[0].at_s).fold(0.0, f64::max);
        assert!(widest <= 2.0 * watch.apart_s, "{widest}");
    }
}
