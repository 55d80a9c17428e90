//! What `run`, `compare` and `bisect` share: a namespace of our own, a core, DPDK, a results
//! folder.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use lab_record::axes::{Endpoint, FrameBytes, Value};
use lab_record::{Campaign as CampaignRecord, ProbeRecord, Recorder, Results, Subject};
use lab_report::history::Number;
use lab_search::search::Manner;
use lab_search::search::ref_ndr::Ends;
use lab_traffic::clock::Clock;
use lab_traffic::ports::Ports;
use lab_trial::campaign::Campaign;
use lab_trial::cut::Cut;
use lab_trial::endpoint::vm;
use lab_trial::link::LinkKind;
use lab_trial::link::cards::Cards;
use lab_trial::place::output;
use lab_trial::scenario::{Scenario, Shard};
use lab_trial::testbed::{Reached, TestBed};
use lab_trial::trial::rig::Bench;
use lab_trial::watch::probe;
use lab_trial::{dut, host, scenario_file};

use crate::interrupt::Interrupt;
use crate::progress::Line;
use crate::standing::Standing;
use crate::{Failure, numbers, shorter};

/// What all of them take.
#[derive(Debug, Args)]
pub(crate) struct Flags {
    /// Kind of the links: pcap is for functional checks, pci for cards that the scenario names. The
    /// scenario's own, or veth, unless said
    #[arg(long, value_parser = links())]
    link: Option<LinkKind>,
    /// Results folder; results/SCENARIO-SECONDS unless said. What `run` finds there it goes on with
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    /// Time for all of it; 0 for as long as it takes. The scenario's own unless said
    #[arg(long, value_name = "N", value_parser = numbers::number)]
    minutes: Option<f64>,
    /// Starts of each device; the scenario's own unless said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    restarts: Option<u32>,
    /// Names everything random; the scenario's own unless said
    #[arg(long, value_name = "N", value_parser = numbers::count)]
    seed: Option<u64>,
    /// Test bed: devices are those of its hosts, links its wires, and the lab stays in this host's
    /// network namespace
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    testbed: Option<PathBuf>,
    #[command(flatten)]
    cores: Cores,
}

impl Flags {
    /// What of it a comparison is told again that is a process of its own.
    pub(crate) fn words(&self) -> Vec<String> {
        let cores = &self.cores;
        let all = [
            ("--link", self.link.map(|it| it.to_string())),
            ("--seed", self.seed.map(|it| it.to_string())),
            ("--device-cores", cores.device_cores.clone()),
            ("--lab-core", cores.lab_core.map(|it| it.to_string())),
        ];
        let given = all.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?]));
        given.flatten().collect()
    }

    /// Where results go, unless it is said.
    pub(crate) fn out_or(&self, usual: &Path) -> PathBuf {
        self.out.clone().unwrap_or_else(|| usual.to_owned())
    }

    /// What names everything random, unless it is said.
    pub(crate) fn seed_or(&self, usual: u64) -> u64 {
        self.seed.unwrap_or(usual)
    }

    /// Whether the command line has a limit of its own.
    pub(crate) fn says_minutes(&self) -> bool {
        self.minutes.is_some()
    }
}

/// Which devices.
#[derive(Debug, Args)]
pub(crate) struct Devices {
    #[arg(long, value_name = "NAME,…", value_delimiter = ',',
        help = format!("Devices: {}", dut::known()),
        default_values_t = dut::usual().map(str::to_owned))]
    pub(crate) devices: Vec<String>,
}

/// Kinds of links, by their names.
pub(crate) fn links() -> impl TypedValueParser<Value = LinkKind> {
    let names = LinkKind::ALL.into_iter().map(LinkKind::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<LinkKind>())
}

/// Who runs where.
#[derive(Debug, Args)]
pub(crate) struct Cores {
    /// The devices' cores, as taskset writes them; all but the last unless said
    #[arg(long, value_name = "LIST")]
    device_cores: Option<String>,
    /// The lab's own core; the last unless said
    #[arg(long, value_name = "N")]
    lab_core: Option<usize>,
}

impl Cores {
    fn last() -> usize {
        std::thread::available_parallelism().map_or(1, usize::from) - 1
    }

    /// The lab's.
    pub(crate) fn lab(&self) -> String {
        self.lab_core.unwrap_or_else(Self::last).to_string()
    }

    /// The devices'.
    fn devices(&self) -> String {
        let others = || (0..Self::last().max(1)).map(|core| core.to_string()).collect::<Vec<_>>();
        self.device_cores.clone().unwrap_or_else(|| others().join(","))
    }
}

/// Says that we are inside already.
const INSIDE: &str = "VOLLEY_LAB_INSIDE";

/// What a campaign needs.
pub(crate) struct Setting {
    pub(crate) scenario: Scenario,
    pub(crate) out: PathBuf,
    pub(crate) restarts: u32,
    /// What the folder has already.
    earlier: Results,
    pub(crate) limit: Option<Duration>,
    /// Time that is spent where least is known.
    pub(crate) budget: Option<Duration>,
    link: LinkKind,
    device_cores: String,
    lab_core: String,
    clock: Clock,
    /// Looks at idle cores before it began, and stalls in a second that searches live with.
    looks: Vec<[ProbeRecord; 2]>,
    stalls_per_s: f64,
    ports: Ports,
    interrupt: Interrupt,
    /// What was cut of the scenario.
    pub(crate) cut: Vec<String>,
    /// The test bed, allocated.
    bed: Option<Reached>,
    /// Numbers of a baseline, where they are verified.
    pub(crate) references: Vec<Number>,
}

impl Setting {
    /// Reads the scenario, cut so far, and goes on in a network namespace of its own. A name that
    /// no device has is refused before.
    pub(crate) fn enter(
        flags: &Flags,
        (cut, shard): (Cut, Option<Shard>),
        file: &Path,
        devices: &[String],
    ) -> Result<Self, Failure> {
        let mut scenario = scenario_file::load(file)?;
        let told = cut.apply(&mut scenario);
        let bed = flags.testbed.as_deref().map(TestBed::load).transpose()?;
        shorter::part_of(shard, &mut scenario)?;
        for name in devices {
            match &bed {
                Some(bed) => drop(bed.device(name)?),
                None => drop(dut::named(name)?),
            }
        }
        scenario.campaign.seed = flags.seed.unwrap_or(scenario.campaign.seed);
        let streams = scenario.measure.manner() == Manner::Streams;
        let link = match (&bed, flags.link) {
            (None, asked) => scenario.link_kind(asked).map_err(Failure::Usage)?,
            (Some(_), Some(_)) => {
                return Err(Failure::Usage(
                    "--testbed has the links: no --link goes with it".into(),
                ));
            }
            (Some(_), None) if streams => {
                let what = "a test bed has the generator at both ends, and no kernels that streams could go between";
                return Err(Failure::Usage(what.into()));
            }
            // Whatever the scenario has: the wires are kernel devices.
            (Some(_), None) => LinkKind::Veth,
        };
        let minutes = flags.minutes.or(scenario.campaign.minutes).unwrap_or(0.0);
        let restarts = flags.restarts.unwrap_or(scenario.campaign.restarts);
        let (device_cores, lab_core) = (flags.cores.devices(), flags.cores.lab());
        if bed.is_none() {
            enter()?;
        }
        let bed = bed.map(|bed| Reached::reach(bed, devices)).transpose()?;
        pin(&lab_core);
        let clock = Clock::real();
        let usual = || format!("results/{}-{}", scenario.name.get_ref(), seconds()).into();
        let out = flags.out.clone().unwrap_or_else(usual);
        let earlier = Results::load_or_none(&out)?.unwrap_or_default();
        refuse_another(&out, &earlier, &method(&scenario, &told, link))?;
        // Searches that go on live with as many stalls as those that they began as.
        let (looks, stalls_per_s) = match earlier.methods.first() {
            Some(method) => (Vec::new(), method.stalls_per_s),
            None => {
                let look = probe::look_before(scenario.measure.trial_s);
                let looks = probe::looks(&clock, &lab_core, probe::first(&device_cores), look);
                let stalls_per_s = probe::stalls_per_s(&looks);
                (looks, stalls_per_s)
            }
        };
        Ok(Self {
            earlier,
            looks,
            stalls_per_s,
            ports: Ports::start(largest(&scenario), link == LinkKind::Pci)?,
            clock,
            interrupt: Interrupt::listen()?,
            limit: (minutes > 0.0).then(|| Duration::from_secs_f64(minutes * 60.0)),
            budget: None,
            restarts: restarts.max(1),
            scenario,
            out,
            link,
            device_cores,
            lab_core,
            cut: told,
            bed,
            references: Vec::new(),
        })
    }

    /// Opens the results folder and writes down what is measured with.
    pub(crate) fn recorder(&self) -> Result<Recorder, Failure> {
        let mut recorder = Recorder::open(&self.out)?;
        if !self.earlier.campaigns.is_empty() {
            return Ok(recorder);
        }
        let mut host = host::facts();
        host.insert("links".into(), self.link.to_string());
        let cores = format!("{}; {}", self.lab_core, self.device_cores);
        host.insert("lab's core; devices' cores".into(), cores);
        host.insert("DPDK of the lab".into(), self.ports.facts());
        let endpoints = self.scenario.sweep.words::<Endpoint>();
        if endpoints.iter().any(|it| Endpoint::read(it.get_ref()) == Some(Endpoint::Vm)) {
            host.extend(vm::facts().map(|told| ("virtual machines".to_owned(), told)));
        }
        host.extend(self.bed.iter().flat_map(|bed| bed.facts().clone()));
        recorder.write(CampaignRecord {
            scenario: self.scenario.name.get_ref().clone(),
            title: self.scenario.title.clone(),
            started: started(),
            seed: self.scenario.campaign.seed,
            method: method(&self.scenario, &self.cut, self.link),
            cut: self.cut.clone(),
            shard: self.scenario.shard.map(|it| it.to_string()),
            host,
            devices: Vec::new(),
        })?;
        let terms = self.scenario.measure.terms(1.0, self.stalls_per_s);
        let method = self.scenario.measure.search.method(&terms, self.link.name())?;
        recorder.write(method)?;
        for probe in self.looks.iter().flatten() {
            recorder.write(probe.clone())?;
        }
        Ok(recorder)
    }

    /// Refuses a folder that holds something: blocks cannot go on where others ended.
    pub(crate) fn must_be_new(&self) -> Result<(), Failure> {
        if self.earlier == Results::default() {
            return Ok(());
        }
        let reason = "it holds results, and comparisons begin anew";
        Err(lab_record::Error::Folder { path: self.out.clone(), reason }.into())
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
            bed: self.bed.as_ref(),
            go_on: &|| !self.interrupt.came(),
        };
        let line = Line::new();
        let standing =
            Standing::begin(&self.out, self.scenario.name.get_ref(), &self.scenario.title);
        let outcome = work(&Campaign {
            scenario: &self.scenario,
            devices,
            bench: &bench,
            restarts: self.restarts,
            limit: self.limit,
            budget: self.budget,
            stalls_per_s: self.stalls_per_s,
            earlier: &self.earlier,
            reference: &|subject| reference(&self.references, subject),
            progress: &|now| {
                line.tell(now);
                standing.tell(now);
            },
        });
        standing.end(&outcome);
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

/// Keeps us on one core; where that is not allowed, the scheduler decides.
pub(crate) fn pin(core: &str) {
    let _ = output(&["taskset", "-cp", core, &std::process::id().to_string()]);
}

/// What is measured and how: all of a scenario but how often, what was cut of it, and the kind of
/// its links.
fn method(scenario: &Scenario, cut: &[String], link: LinkKind) -> String {
    let mut told = serde_json::to_value(scenario).unwrap_or_default();
    told["links"] = link.to_string().into();
    if let Some(shard) = scenario.shard {
        told["shard"] = shard.to_string().into();
    }
    if !cut.is_empty() {
        told["cut"] = cut.into();
    }
    if let Some(campaign) = told["campaign"].as_object_mut() {
        ["restarts", "minutes"].iter().for_each(|name| drop(campaign.remove(*name)));
    }
    told.to_string()
}

/// Refuses a folder that holds another campaign than the one that is to go on there.
fn refuse_another(out: &Path, earlier: &Results, method: &str) -> Result<(), Failure> {
    let reason = match &earlier.campaigns[..] {
        [] => return Ok(()),
        [campaign] if campaign.method == method => return Ok(()),
        [campaign] if campaign.method.is_empty() => {
            "it holds a campaign that does not tell how it was measured"
        }
        [_] => "it holds a campaign that was measured otherwise",
        [_, _, ..] => "it holds several campaigns",
    };
    Err(lab_record::Error::Folder { path: out.to_owned(), reason }.into())
}

/// What the NDR of a case was: that of the same device, of whichever build.
fn reference(references: &[Number], subject: &Subject) -> Option<Ends> {
    let plain = |name: &str| name.split('=').next().unwrap_or(name).to_owned();
    let case = subject.case();
    let named =
        |it: &Number| ["NDR", "RFC 2544"].contains(&it.metric.split(',').next().unwrap_or(""));
    let is_ndr = |it: &&Number| named(it) && it.case == case;
    let mut ndrs = references.iter().filter(is_ndr);
    let found = ndrs.find(|it| plain(&it.device) == plain(&subject.device))?;
    Some(Ends::of(found.value, found.upper.unwrap_or(found.value), found.sd, found.at_least))
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

pub(crate) fn seconds() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// Now, as ISO 8601.
fn started() -> String {
    output(&["date", "--utc", "+%Y-%m-%dT%H:%M:%SZ"]).unwrap_or_else(|_| seconds().to_string())
}
