//! What `run`, `compare` and `bisect` share: a namespace of our own, a core, DPDK, a results
//! folder.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use lab_record::axes::FrameBytes;
use lab_record::{Campaign as CampaignRecord, ProbeRecord, Recorder};
use lab_traffic::clock::Clock;
use lab_traffic::ports::Ports;
use lab_trial::campaign::Campaign;
use lab_trial::link::LinkKind;
use lab_trial::link::cards::Cards;
use lab_trial::place::output;
use lab_trial::scenario::Scenario;
use lab_trial::trial::rig::Bench;
use lab_trial::watch::probe;
use lab_trial::{dut, host};

use crate::Failure;
use crate::arguments::Arguments;
use crate::interrupt::Interrupt;
use crate::progress::Line;

/// Flags of all of them.
pub(crate) const FLAGS: [&str; 8] =
    ["link", "out", "minutes", "restarts", "device-cores", "lab-core", "seed", "devices"];
/// Says that we are inside already.
const INSIDE: &str = "VOLLEY_LAB_INSIDE";

/// What a campaign needs.
pub(crate) struct Setting {
    pub(crate) scenario: Scenario,
    pub(crate) out: PathBuf,
    pub(crate) restarts: u32,
    pub(crate) limit: Option<Duration>,
    link: LinkKind,
    device_cores: String,
    lab_core: String,
    clock: Clock,
    probes: [ProbeRecord; 2],
    ports: Ports,
    interrupt: Interrupt,
}

impl Setting {
    /// Reads the scenario and goes on in a network namespace of its own. A name that no device has
    /// is refused before.
    pub(crate) fn enter(
        arguments: &Arguments,
        file: &str,
        devices: &[String],
    ) -> Result<Self, Failure> {
        let mut scenario = Scenario::load(Path::new(file))?;
        for name in devices {
            dut::named(name)?;
        }
        scenario.campaign.seed = arguments.count("seed", scenario.campaign.seed)?;
        let told = arguments.text("link").map(str::parse).transpose()?;
        let link = scenario.link_kind(told).map_err(Failure::Usage)?;
        let minutes = arguments.number("minutes", scenario.campaign.minutes.unwrap_or(0.0))?;
        let restarts = arguments.count("restarts", scenario.campaign.restarts.into())?;
        let (device_cores, lab_core) = cores(arguments)?;
        enter()?;
        pin(&lab_core);
        let clock = Clock::real();
        let out = PathBuf::from(match arguments.text("out") {
            Some(folder) => folder.to_owned(),
            None => format!("results/{}-{}", scenario.name.get_ref(), seconds()),
        });
        Ok(Self {
            ports: Ports::start(largest(&scenario), link == LinkKind::Pci)?,
            probes: probe::watch_both(&clock, &lab_core, probe::first(&device_cores)),
            clock,
            interrupt: Interrupt::listen()?,
            limit: (minutes > 0.0).then(|| Duration::from_secs_f64(minutes * 60.0)),
            restarts: restarts.max(1) as u32,
            scenario,
            out,
            link,
            device_cores,
            lab_core,
        })
    }

    /// Opens the results folder and writes down what is measured with.
    pub(crate) fn recorder(&self) -> Result<Recorder, Failure> {
        let mut recorder = Recorder::open(&self.out)?;
        let mut host = host::facts();
        host.insert("links".into(), self.link.to_string());
        let cores = format!("{}; {}", self.lab_core, self.device_cores);
        host.insert("lab's core; devices' cores".into(), cores);
        host.insert("DPDK of the lab".into(), self.ports.facts());
        recorder.write(CampaignRecord {
            scenario: self.scenario.name.get_ref().clone(),
            title: self.scenario.title.clone(),
            started: started(),
            seed: self.scenario.campaign.seed,
            host,
            devices: Vec::new(),
        })?;
        for probe in self.probes.clone() {
            recorder.write(probe)?;
        }
        Ok(recorder)
    }

    /// Lets `work` measure with these devices.
    pub(crate) fn campaign<T>(
        &self,
        devices: &[String],
        work: impl FnOnce(&Campaign<'_>) -> Result<T, lab_record::Error>,
    ) -> Result<T, lab_record::Error> {
        let bench = Bench {
            clock: &self.clock,
            ports: &self.ports,
            link: self.link,
            cards: self
                .scenario
                .link
                .as_ref()
                .filter(|_| self.link == LinkKind::Pci)
                .and_then(Cards::of),
            cores: self.device_cores.clone(),
            folder: std::env::temp_dir().join(format!("volley-lab-{}", std::process::id())),
            go_on: &|| !self.interrupt.came(),
        };
        // Searches live with those that overflow rings, on whichever core there are more of them.
        let per_s = |probe: &ProbeRecord| probe.long as f64 / probe.watched_s;
        let stalls_per_s = self.probes.iter().map(per_s).fold(0.0, f64::max);
        let line = Line::new();
        let outcome = work(&Campaign {
            scenario: &self.scenario,
            devices,
            bench: &bench,
            restarts: self.restarts,
            limit: self.limit,
            stalls_per_s,
            progress: &|now| line.tell(now),
        });
        line.finish();
        outcome
    }
}

/// Goes on in a network namespace of its own.
pub(crate) fn enter() -> Result<(), Failure> {
    if std::env::var_os(INSIDE).is_some() {
        return Ok(());
    }
    let own = std::env::current_exe().map_err(lab_record::Error::file("volley-lab"))?;
    let failed = Command::new("unshare")
        .args(["--net", "--mount", "--"])
        .arg(own)
        .args(std::env::args_os().skip(1))
        .env(INSIDE, "1")
        .exec();
    Err(lab_record::Error::file("unshare")(failed).into())
}

/// The devices' cores and ours: all but the last, and the last.
pub(crate) fn cores(arguments: &Arguments) -> Result<(String, String), Failure> {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let last = count - 1;
    let others = || (0..last.max(1)).map(|core| core.to_string()).collect::<Vec<_>>().join(",");
    let devices = arguments.text("device-cores").map_or_else(others, str::to_owned);
    let own = arguments.count("lab-core", last as u64)?.to_string();
    Ok((devices, own))
}

/// Keeps us on one core; where that is not allowed, the scheduler decides.
pub(crate) fn pin(core: &str) {
    let _ = output(&["taskset", "-cp", core, &std::process::id().to_string()]);
}

/// The largest frame of a scenario.
fn largest(scenario: &Scenario) -> u16 {
    let swept =
        scenario.sweep.numbers::<FrameBytes>().into_iter().flat_map(|axis| axis.get_ref().values());
    let most = swept.max().unwrap_or(0).max(u64::from(*scenario.traffic.frame_bytes.get_ref()));
    let overheads = scenario.functions.iter().map(|it| it.get_ref().kind.overhead_bytes());
    let most = most + u64::from(overheads.max().unwrap_or(0));
    most.clamp(1_518, 9_022) as u16
}

fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// Now, as ISO 8601.
fn started() -> String {
    output(&["date", "--utc", "+%Y-%m-%dT%H:%M:%SZ"]).unwrap_or_else(|_| seconds().to_string())
}
