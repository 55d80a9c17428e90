//! What a job sets beyond its function, in Volley's configuration.

use std::fmt::Write as _;

use lab_record::axes::{Axis, CostCycles, Scheduler, VectorPackets, Workers};

use crate::dut::device::Job;
use crate::dut::settings::{BOTTLENECK, Bottleneck, core_numbers};
use crate::link::LinkKind;
use crate::scenario::{AGEING, FLOOD, LEARNING, UNKNOWN_UNICAST_FLOOD};

/// All of it.
pub(super) const SETTABLE: [&str; 8] = [
    Workers::NAME,
    VectorPackets::NAME,
    CostCycles::NAME,
    BOTTLENECK,
    LEARNING,
    AGEING,
    UNKNOWN_UNICAST_FLOOD,
    FLOOD,
];
/// Most packets that its vectors hold.
pub(super) const MOST_PACKETS: u64 = 256;

/// The workers: on the first of the cores, so many of them as are wanted.
pub(super) fn workers(job: &Job, cores: &str) -> String {
    let cores = core_numbers(cores).into_iter().take(job.workers.max(1) as usize);
    let cores: Vec<String> = cores.map(|core| core.to_string()).collect();
    let mut text = format!("[workers]\ncores = [{}]\nidle = \"poll\"\n", cores.join(", "));
    if let Some(packets) = job.settings.get::<VectorPackets>() {
        let _ = writeln!(text, "vector_packets = {packets}");
    }
    if let Some(cycles) = job.settings.get::<CostCycles>() {
        let _ = writeln!(text, "burn_cycles = {cycles}");
    }
    text
}

/// Receive queues for each worker, of a port's table.
pub(super) fn queues(job: &Job) -> String {
    match job.link {
        LinkKind::Veth | LinkKind::Tap | LinkKind::Pci if job.workers > 1 => {
            format!("rx_queues = {}\n", job.workers)
        }
        _ => String::new(),
    }
}

/// The scheduler of the port that the first link's packets leave by.
pub(super) fn bottleneck(job: &Job) -> String {
    let Some(bottleneck) = job.settings.bottleneck() else { return String::new() };
    let Bottleneck { scheduler, mbps } = bottleneck;
    let burst = bottleneck.burst_bytes();
    let rated = |kind: &str| format!("kind = \"{kind}\"\nrate = \"{mbps}mbit\"\nburst = {burst}\n");
    let class = "[[port.right.qos.class]]\nid = \"1:1\"\n";
    let shape = match scheduler {
        Scheduler::Fifo => rated("pfifo_fast"),
        Scheduler::Sfq => rated("sfq"),
        Scheduler::Codel => rated("codel"),
        Scheduler::FqCodel => rated("fq_codel"),
        Scheduler::Htb => format!(
            "kind = \"htb\"\ndefault = \"1:1\"\n{class}rate = \"{mbps}mbit\"\nceil = \"{mbps}mbit\"\n\
             burst = {burst}\ncburst = {burst}\n"
        ),
        Scheduler::Hfsc => format!(
            "kind = \"hfsc\"\ndefault = \"1:1\"\n{class}ls = \"{mbps}mbit\"\nul = \"{mbps}mbit\"\n"
        ),
    };
    format!("[port.right.qos]\n{shape}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::settings::Settings;
    use crate::dut::testing::job;
    use crate::scenario::FunctionKind;

    #[test]
    fn workers_take_the_first_cores_and_what_they_are_set_to() {
        let settings = Settings::default().with::<VectorPackets>("16").with::<CostCycles>("50");
        let job = Job { workers: 2, settings, ..job(FunctionKind::Bridge, 1) };
        let expected =
            "[workers]\ncores = [1, 2]\nidle = \"poll\"\nvector_packets = 16\nburn_cycles = 50\n";
        assert_eq!(workers(&job, "1-3"), expected);
        assert_eq!(queues(&job), "rx_queues = 2\n");
    }

    #[test]
    fn a_bottleneck_has_its_rate_whatever_the_scheduler() {
        let plain = job(FunctionKind::Bridge, 1);
        assert_eq!(bottleneck(&plain), "");
        for (scheduler, words) in [
            ("fifo", "kind = \"pfifo_fast\"\nrate = \"100mbit\"\nburst = 134018\n"),
            ("htb", "rate = \"100mbit\"\nceil = \"100mbit\"\nburst = 134018\n"),
            ("hfsc", "ls = \"100mbit\"\nul = \"100mbit\"\n"),
        ] {
            let settings = Settings::default().behind(100, scheduler);
            let text = super::bottleneck(&Job { settings, ..plain.clone() });
            assert!(text.starts_with("[port.right.qos]\n") && text.contains(words), "{text}");
        }
    }
}
