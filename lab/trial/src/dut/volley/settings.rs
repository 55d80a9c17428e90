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

/// A scheduler in Volley's words.
struct Shape {
    kind: &'static str,
    keys: Vec<(&'static str, String)>,
    /// The only class, of kinds that have classes.
    class: Option<Vec<(&'static str, String)>>,
}

/// The name of the only class.
const CLASS: &str = "1:1";

impl Shape {
    fn of(bottleneck: Bottleneck) -> Self {
        let rate = || format!("{}mbit", bottleneck.mbps);
        let burst = || bottleneck.burst_bytes().to_string();
        let rated = |kind| {
            let keys = vec![("rate", rate()), ("burst", burst())];
            Self { kind, keys, class: None }
        };
        let classful = |kind, class| Self {
            kind,
            keys: vec![("default", CLASS.to_owned())],
            class: Some(class),
        };
        match bottleneck.scheduler {
            Scheduler::Fifo => rated("pfifo_fast"),
            Scheduler::Sfq => rated("sfq"),
            Scheduler::Codel => rated("codel"),
            Scheduler::FqCodel => rated("fq_codel"),
            Scheduler::Htb => {
                let ways = [("rate", rate()), ("ceil", rate())];
                let at_once = [("burst", burst()), ("cburst", burst())];
                classful("htb", ways.into_iter().chain(at_once).collect())
            }
            Scheduler::Hfsc => classful("hfsc", vec![("ls", rate()), ("ul", rate())]),
        }
    }
}

/// The scheduler of the port that the first link's packets leave by.
pub(super) fn bottleneck(job: &Job) -> String {
    let Some(Shape { kind, keys, class }) = job.settings.bottleneck().map(Shape::of) else {
        return String::new();
    };
    let mut text = format!("[port.right.qos]\nkind = \"{kind}\"\n");
    let say = |text: &mut String, keys: Vec<(&str, String)>| {
        for (key, value) in keys {
            let number = value.bytes().all(|octet| octet.is_ascii_digit());
            let quote = if number { "" } else { "\"" };
            let _ = writeln!(text, "{key} = {quote}{value}{quote}");
        }
    };
    say(&mut text, keys);
    if let Some(keys) = class {
        let _ = write!(text, "[[port.right.qos.class]]\nid = \"{CLASS}\"\n");
        say(&mut text, keys);
    }
    text
}

/// What a configuration says of ports, as commands to a router that has them already.
pub(super) fn of_ports(job: &Job, ports: &[String; 2]) -> Vec<String> {
    let mut commands = Vec::new();
    if job.workers > 1 {
        let queues = |port| format!("port set {port} rx_queues {}", job.workers);
        commands.extend(ports.iter().map(queues));
    }
    if let Some(Shape { kind, keys, class }) = job.settings.bottleneck().map(Shape::of) {
        let say = |line: String, keys: Vec<(&str, String)>| {
            keys.iter().fold(line, |line, (key, value)| format!("{line} {key} {value}"))
        };
        let [_, port] = ports;
        commands.push(say(format!("qos set {port} {kind}"), keys));
        commands.extend(class.map(|keys| say(format!("qos class {port} {CLASS}"), keys)));
    }
    commands
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

    #[test]
    fn ports_that_are_there_are_told_what_a_configuration_would_say() {
        let ports = ["dk-1".to_owned(), "dk-2".to_owned()];
        let plain = job(FunctionKind::Bridge, 1);
        assert!(of_ports(&plain, &ports).is_empty());
        let of = |scheduler| {
            let settings = Settings::default().behind(100, scheduler);
            of_ports(&Job { settings, ..plain.clone() }, &ports)
        };
        assert_eq!(of("fq-codel"), ["qos set dk-2 fq_codel rate 100mbit burst 134018"]);
        assert_eq!(
            of("htb"),
            [
                "qos set dk-2 htb default 1:1",
                "qos class dk-2 1:1 rate 100mbit ceil 100mbit burst 134018 cburst 134018",
            ]
        );
        assert_eq!(
            of("hfsc"),
            ["qos set dk-2 hfsc default 1:1", "qos class dk-2 1:1 ls 100mbit ul 100mbit"]
        );
        let two = of_ports(&Job { workers: 2, ..plain.clone() }, &ports);
        assert_eq!(two, ["port set dk-1 rx_queues 2", "port set dk-2 rx_queues 2"]);
    }
}
