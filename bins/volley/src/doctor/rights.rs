//! Whether whoever asks could run the router.

use control::config::Config;

use super::machine::Machine;
use super::{Finding, fine, wrong};

/// Capabilities by their bits (capabilities(7)), and what they are for.
const NEEDED: [(u32, &str, &str); 3] = [
    (12, "CAP_NET_ADMIN", "devices of the kernel"),
    (13, "CAP_NET_RAW", "raw frames"),
    (14, "CAP_IPC_LOCK", "buffers that stay in memory"),
];

pub(super) fn check(machine: &Machine, _: &Config) -> Vec<Finding> {
    let status = machine.text("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let Some(held) = line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()) else {
        return Vec::new();
    };
    let lacks: Vec<String> = NEEDED
        .iter()
        .filter(|(bit, ..)| held >> bit & 1 == 0)
        .map(|(_, name, what)| format!("{name} ({what})"))
        .collect();
    vec![match lacks.is_empty() {
        true => fine("rights: whoever asks may run the router"),
        false => wrong(
            format!("rights: whoever asks lacks {}", lacks.join(", ")),
            "run it as root: sudo volley doctor, systemctl start volley",
        ),
    }]
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::super::testing::{Pretended, config, told};
    use super::*;

    #[test]
    fn who_lacks_a_capability_is_told_which_and_what_for() {
        let pretended = Pretended::new("rights");
        let look = |bits: &str| {
            pretended.says("/proc/self/status", &format!("Name:\tx\nCapEff:\t{bits}"));
            check(&pretended.machine, &config(""))
        };
        assert_eq!(look("000001ffffffffff")[0].state, State::Fine);
        assert_eq!(
            told(&look("0000000000005000")),
            [(State::Wrong, "rights: whoever asks lacks CAP_NET_RAW (raw frames)")]
        );
    }
}
