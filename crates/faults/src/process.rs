//! What this process takes of the machine: memory, descriptors, threads.

use std::fs;

/// A look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Memory that it has, in KiB.
    pub resident_kib: u64,
    /// Open descriptors.
    pub descriptors: usize,
    /// Threads.
    pub threads: usize,
}

impl Footprint {
    /// As it is now; zeros where the system does not tell.
    pub fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        let descriptors = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let (resident_kib, threads) = (number("VmRSS:"), number("Threads:") as usize);
        Self { resident_kib, descriptors, threads }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_a_thread_more_are_seen() {
        let before = Footprint::now();
        assert!(before.resident_kib > 0 && before.descriptors > 0 && before.threads > 0);
        let files: Vec<_> = (0..50).map(|_| fs::File::open("/proc/self/status").unwrap()).collect();
        assert!(Footprint::now().descriptors >= before.descriptors + 40);
        drop(files);
    }
}
