//! `volley-lab run SCENARIO`: measures it on real devices and writes the report.
//!
//! ```text
//! run ─▶ unshare --net --mount (itself, again) ─▶ campaign ─▶ raw.jsonl, line by line ─▶ report.html
//! ```
//! In a network namespace of its own the lab meets no other device of the host, and all that it makes
//! there ends with it.

use std::io::{IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use lab::clock::Clock;
use lab::report::record::{Campaign as CampaignRecord, Recorder};
use lab::report::{html, summary};
use lab::scenario::Scenario;
use lab::traffic::ports::Ports;
use lab::trial::campaign::{Campaign, Progress};
use lab::trial::host;
use lab::trial::place::output;
use lab::trial::{Bench, LinkKind};

use crate::Failure;
use crate::arguments::Arguments;
use crate::interrupt::Interrupt;

const FLAGS: [&str; 8] =
    ["devices", "link", "out", "minutes", "restarts", "device-cores", "lab-core", "seed"];
/// Says that we are inside already.
const INSIDE: &str = "VOLLEY_LAB_INSIDE";
/// Devices measured unless others are named.
const USUAL: &str = "volley,linux-bridge,linux-router,ovs,testpmd";

/// Measures a scenario.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.only(&FLAGS)?;
    let [file] = &arguments.words[..] else {
        return Err(Failure::Usage("run needs one scenario".into()));
    };
    let mut scenario = Scenario::load(Path::new(file))?;
    scenario.campaign.seed = arguments.count("seed", scenario.campaign.seed)?;
    enter()?;
    let devices: Vec<String> =
        arguments.text("devices").unwrap_or(USUAL).split(',').map(str::to_owned).collect();
    let link: LinkKind = arguments.text("link").unwrap_or("veth").parse()?;
    let minutes = arguments.number("minutes", scenario.campaign.minutes.unwrap_or(0.0))?;
    let restarts = arguments.count("restarts", scenario.campaign.restarts.into())?.max(1) as u32;
    let (device_cores, lab_core) = cores(arguments)?;
    let out = PathBuf::from(match arguments.text("out") {
        Some(folder) => folder.to_owned(),
        None => format!("results/{}-{}", scenario.name.get_ref(), seconds()),
    });
    pin(&lab_core);
    let interrupt = Interrupt::listen()?;
    let clock = Clock::real();
    let ports = Ports::start(largest(&scenario), false)?;
    let bench = Bench {
        clock: &clock,
        ports: &ports,
        link,
        cores: device_cores.clone(),
        folder: std::env::temp_dir().join(format!("volley-lab-{}", std::process::id())),
        go_on: &|| !interrupt.came(),
    };
    let mut recorder = Recorder::open(&out)?;
    let mut host = host::facts();
    host.insert("links".into(), link.to_string());
    host.insert("lab's core, devices' cores".into(), format!("{lab_core}; {device_cores}"));
    host.insert("DPDK of the lab".into(), ports.facts());
    let stolen_s = host::stolen_s();
    recorder.write(CampaignRecord {
        scenario: scenario.name.get_ref().clone(),
        title: scenario.title.clone(),
        started: started(),
        seed: scenario.campaign.seed,
        host,
        devices: Vec::new(),
    })?;
    let progress = Line::new();
    let campaign = Campaign {
        scenario: &scenario,
        devices: &devices,
        bench: &bench,
        restarts,
        limit: (minutes > 0.0).then(|| Duration::from_secs_f64(minutes * 60.0)),
        progress: &|now| progress.tell(now),
    };
    let outcome = campaign.run(&mut recorder);
    progress.finish();
    let results = html::write(&out)?;
    for row in summary::rows(&results) {
        println!(
            "{:<44} {:<12}{:>10.4} Mpps [{:.4}, {:.4}] of {} runs",
            row.name(),
            row.metric,
            row.value_pps / 1e6,
            row.interval.low / 1e6,
            row.interval.high / 1e6,
            row.runs
        );
    }
    for failure in results.failures.iter().filter(|failure| !failure.refused) {
        println!("{}, {}: {}", failure.subject.device, failure.subject.case(), failure.reason);
    }
    println!("stolen from the host meanwhile: {:.2} s", host::stolen_s() - stolen_s);
    println!("{}", out.join("report.html").display());
    match outcome {
        Err(lab::Error::Stopped) => Err(Failure::Stopped),
        other => Ok(other?),
    }
}

/// Goes on in a network namespace of its own.
pub(crate) fn enter() -> Result<(), Failure> {
    if std::env::var_os(INSIDE).is_some() {
        return Ok(());
    }
    let own = std::env::current_exe().map_err(lab::Error::file("volley-lab"))?;
    let failed = Command::new("unshare")
        .args(["--net", "--mount", "--"])
        .arg(own)
        .args(std::env::args_os().skip(1))
        .env(INSIDE, "1")
        .exec();
    Err(lab::Error::file("unshare")(failed).into())
}

/// The devices' cores and ours: all but the last, and the last.
pub(crate) fn cores(arguments: &Arguments) -> Result<(String, String), Failure> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let last = count - 1;
    let devices = arguments.text("device-cores").map_or_else(
        || (0..last.max(1)).map(|core| core.to_string()).collect::<Vec<_>>().join(","),
        str::to_owned,
    );
    let own = arguments.count("lab-core", last as u64)?.to_string();
    Ok((devices, own))
}

/// Keeps us on one core; where that is not allowed, the scheduler decides.
pub(crate) fn pin(core: &str) {
    let _ = output(&["taskset", "-cp", core, &std::process::id().to_string()]);
}

/// The largest frame of a scenario.
pub(crate) fn largest(scenario: &Scenario) -> u16 {
    let swept = scenario.sweep.frame_bytes.iter().flat_map(|axis| axis.get_ref().values());
    let most = swept.max().unwrap_or(0).max(u64::from(*scenario.traffic.frame_bytes.get_ref()));
    most.clamp(1_518, 9_022) as u16
}

fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// Now, as ISO 8601.
pub(crate) fn started() -> String {
    output(&["date", "--utc", "+%Y-%m-%dT%H:%M:%SZ"]).unwrap_or_else(|_| seconds().to_string())
}

/// How far it is, on one line of a terminal or a line each.
pub(crate) struct Line {
    terminal: bool,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal() }
    }

    pub(crate) fn tell(&self, now: &Progress<'_>) {
        let Progress { done, all, what, left } = now;
        let left = left.map_or(String::new(), |left| {
            format!(", {}:{:02} left", left.as_secs() / 60, left.as_secs() % 60)
        });
        if self.terminal {
            eprint!("\r\x1b[K[{done}/{all}{left}] {what}");
            let _ = std::io::stderr().flush();
        } else {
            eprintln!("[{done}/{all}{left}] {what}");
        }
    }

    pub(crate) fn finish(&self) {
        if self.terminal {
            eprint!("\r\x1b[K");
        }
    }
}
