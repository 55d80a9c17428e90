//! Whether packet buffers find the pages that the configuration wants for them.

use control::config::Config;
use control::config::objects::memory::Hugepages;

use super::machine::Machine;
use super::{Finding, better, fine, wrong};

/// What a buffer takes beside its frame: DPDK's header, headroom, the pool's own.
const BESIDE_BYTES: u64 = 512;
const PAGES: &str = "/sys/kernel/mm/hugepages/hugepages-2048kB";
const PAGE_BYTES: u64 = 2 << 20;

pub(super) fn check(machine: &Machine, config: &Config) -> Vec<Finding> {
    let memory = &config.memory;
    let bytes = u64::from(memory.buffers) * (u64::from(memory.frame_bytes) + BESIDE_BYTES);
    let wanted = bytes.div_ceil(PAGE_BYTES);
    let free = machine.number(&format!("{PAGES}/free_hugepages")).unwrap_or(0);
    let all = machine.number(&format!("{PAGES}/nr_hugepages")).unwrap_or(0);
    let mend = || format!("sysctl vm.nr_hugepages={}", all - free.min(all) + wanted);
    let found = format!("memory: {free} hugepages of 2 MiB are free, the buffers take {wanted}");
    vec![match memory.hugepages {
        Hugepages::Never => fine("memory: buffers are on ordinary pages, as configured"),
        _ if free >= wanted => fine(found),
        Hugepages::Require => wrong(format!("{found}, and hugepages = \"require\""), mend()),
        Hugepages::Auto => better(format!("{found}: they are on ordinary pages then"), mend()),
    }]
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::super::testing::{Pretended, config};
    use super::*;

    #[test]
    fn hugepages_are_counted_against_the_buffers() {
        let pretended = Pretended::new("memory");
        let look = |hugepages: &str| {
            let text = format!("[memory]\nbuffers = 8192\nhugepages = \"{hugepages}\"\n");
            check(&pretended.machine, &config(&text)).remove(0)
        };
        assert_eq!(look("never").state, State::Fine);
        assert_eq!((look("auto").state, look("require").state), (State::Better, State::Wrong));
        pretended.says(&format!("{PAGES}/nr_hugepages"), "16");
        pretended.says(&format!("{PAGES}/free_hugepages"), "9");
        // 8192 buffers of 2,560 octets are 10 pages; 7 are others'.
        assert_eq!(look("auto").mend.as_deref(), Some("sysctl vm.nr_hugepages=17"));
        pretended.says(&format!("{PAGES}/free_hugepages"), "10");
        assert_eq!(look("require").state, State::Fine);
    }
}
