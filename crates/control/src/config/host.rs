//! What the checks need to know of the machine that the configuration is for.

use std::fs;

/// The machine's processors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// Cores this process may run on; `None`: unknown, so any core is believed.
    pub cores: Option<Vec<u16>>,
}

impl Host {
    /// The machine this runs on, as far as the kernel tells.
    pub fn this() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        Self { cores: allowed.and_then(parse_cores) }
    }

    /// Any machine: checks that need the real one pass.
    pub fn any() -> Self {
        Self { cores: None }
    }
}

/// Reads the kernel's list format, as in `0-3,8`.
pub fn parse_cores(list: &str) -> Option<Vec<u16>> {
    let mut cores = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cores.extend(first.parse::<u16>().ok()?..=last.parse::<u16>().ok()?);
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_lists_of_the_kernel_are_read() {
        assert_eq!(parse_cores("\t0-2,8\n"), Some(vec![0, 1, 2, 8]));
        assert_eq!(parse_cores("5"), Some(vec![5]));
        assert_eq!(parse_cores("x"), None);
    }
}
