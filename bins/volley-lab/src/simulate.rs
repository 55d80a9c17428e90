//! `volley-lab simulate`: a search against devices whose truth is known.
//!
//! ```text
//! each device ─ each run ─ restart ─ search ─▶ trials, answers ─┐
//! two devices or more ─ A against A, then A against B ─▶ ratios ─┴▶ raw.jsonl ─▶ report
//! ```

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};
use lab_record::{
    Campaign, ComparisonRecord, DeviceFacts, Histogram, Outcome, QuantityRecord, Recorder, Results,
    Stall, Subject, Trial, TrialRecord,
};
use lab_report::{html, quantities, summary};
use lab_search::search::max_rate::SATURATED;
use lab_search::search::ref_ndr::Ends;
use lab_search::search::{ALL, Findings, Kind, Manner, Quantity, Stand, Terms, named};
use lab_search::sim::{Device, Model, Stalls};
use lab_search::stats::blocks::{Side, log_ratio, order};
use lab_search::stats::paired::{self, Null};

use crate::progress::Line;
use crate::say::say;
use crate::{Failure, compare, numbers};

/// With two capacities or more the devices are compared in interleaved blocks.
#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// The search, as scenarios name it
    #[arg(long, default_value = "mlr", value_parser = PossibleValuesParser::new(searches()))]
    search: String,
    /// Packets a second that each device can forward
    #[arg(long, value_name = "PPS,…", default_value = "10M", value_delimiter = ',',
        value_parser = capacity)]
    capacity: Vec<f64>,
    /// Standard deviation of the capacity, from trial to trial and from start to start
    #[arg(long, value_name = "SHARE", default_value = "0.002", value_parser = numbers::number)]
    noise: f64,
    /// Stalls of the host: how many a second, and how long they are
    #[arg(long, value_name = "RATE:MEAN_MS", value_parser = stalls)]
    stalls: Option<Stalls>,
    /// Share of packets lost at any load
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = numbers::number)]
    base_loss: f64,
    /// The largest load
    #[arg(long, value_name = "PPS", default_value = "14.880952M", value_parser = numbers::number)]
    max: f64,
    /// Starts of each device
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    runs: u32,
    /// What the NDR was, for `--search ref-ndr`
    #[arg(long, value_name = "PPS", value_parser = capacity)]
    reference: Option<f64>,
    /// Blocks of a comparison
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(6..=10_000))]
    blocks: u32,
    /// Names everything random
    #[arg(long, value_name = "N", default_value = "1", value_parser = numbers::count)]
    seed: u64,
    /// Write raw.jsonl and the report into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    /// Title of the report
    #[arg(long, value_name = "TEXT", default_value = "Simulated devices")]
    title: String,
}

/// The searches that trials at loads carry out.
fn searches() -> impl Iterator<Item = &'static str> {
    ALL.iter().filter(|kind| kind.manner == Manner::Loads).map(|kind| kind.name)
}

fn capacity(text: &str) -> Result<f64, String> {
    let pps = numbers::number(text)?;
    if pps >= 1e4 { Ok(pps) } else { Err("at least 10k".to_owned()) }
}

fn stalls(text: &str) -> Result<Stalls, String> {
    let parts = text.split_once(':').ok_or("RATE:MEAN_MS, as in 1:2")?;
    Ok(Stalls::random(numbers::number(parts.0)?, numbers::number(parts.1)? / 1e3))
}

/// Trials after which a search ends, done or not.
const MOST_TRIALS: usize = 10_000;
/// Packets whose latency is drawn for a latency trial.
const TIMED_PACKETS: u32 = 200_000;

/// What was asked for.
struct Plan {
    search: &'static Kind,
    models: Vec<Model>,
    max_pps: f64,
    runs: u32,
    blocks: usize,
    seed: u64,
    reference: Option<Ends>,
}

impl Plan {
    fn progress(&self) -> Progress {
        let comparisons = self.models.len() - 1;
        let all = self.models.len() * self.runs as usize + comparisons;
        Progress { line: Line::new(), done: Cell::new(0), all }
    }
}

/// How far it is: runs of devices, and comparisons.
struct Progress {
    line: Line,
    done: Cell<usize>,
    all: usize,
}

impl Progress {
    fn tell(&self, what: &str) {
        self.line.tell_parts(self.done.get(), self.all, what);
    }

    fn part_is_over(&self) {
        self.done.set(self.done.get() + 1);
    }
}

/// Runs it and prints what was found.
pub(crate) fn run(arguments: &Simulate) -> Result<(), Failure> {
    let plan = plan(arguments)?;
    let mut results = Results::default();
    results.campaigns.push(campaign(&plan, arguments.title.clone()));
    let progress = plan.progress();
    for index in 0..plan.models.len() {
        measure(&plan, index, &progress, &mut results)?;
    }
    for index in 1..plan.models.len() {
        progress.tell(&format!("{} against {}", name(&plan, index), name(&plan, 0)));
        results.comparisons.push(hold_against_first(&plan, index)?);
        progress.part_is_over();
    }
    progress.line.finish();
    print(&plan, &results);
    match &arguments.out {
        Some(folder) => write(results, folder),
        None => Ok(()),
    }
}

fn plan(arguments: &Simulate) -> Result<Plan, Failure> {
    let &Simulate { noise, base_loss, .. } = arguments;
    let stalls = arguments.stalls.unwrap_or_else(Stalls::none);
    let quiet = arguments.capacity.iter().copied().map(Model::quiet);
    let shaky = |model| Model { noise, restart_noise: noise, stalls, base_loss, ..model };
    Ok(Plan {
        search: searched(&arguments.search)?,
        models: quiet.map(shaky).collect(),
        max_pps: arguments.max,
        runs: arguments.runs,
        reference: arguments.reference.map(|pps| Ends::of(pps, pps, noise * pps, false)),
        blocks: arguments.blocks as usize,
        seed: arguments.seed,
    })
}

/// The search of a name, if trials at loads carry it out.
fn searched(name: &str) -> Result<&'static Kind, Failure> {
    let found = named(name).filter(|kind| kind.manner == Manner::Loads);
    found.ok_or_else(|| Failure::Usage(format!("no search {name:?}")))
}

fn name(plan: &Plan, index: usize) -> String {
    format!("sim {:.2} Mpps", plan.models[index].capacity_pps / 1e6)
}

fn campaign(plan: &Plan, title: String) -> Campaign {
    let facts = |index: usize| DeviceFacts {
        name: name(plan, index),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commands: vec![format!("{:#?}", plan.models[index])],
    };
    let devices = (0..plan.models.len()).map(facts).collect();
    let host = [("device", "simulated: every number here is of a model, none of a machine")];
    Campaign {
        scenario: format!("simulate-{}", plan.search.name),
        title,
        started: "simulated time".into(),
        seed: plan.seed,
        cut: Vec::new(),
        shard: None,
        method: String::new(),
        host: host.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        devices,
    }
}

/// All runs of one device.
fn measure(
    plan: &Plan,
    index: usize,
    progress: &Progress,
    results: &mut Results,
) -> Result<(), Failure> {
    let mut device = Device::new(plan.models[index].clone(), plan.seed + 1_000 * index as u64);
    let mut clock_s = 0.0;
    for run in 0..plan.runs {
        device.restart();
        let function = "forwarding".to_owned();
        let subject = Subject { device: name(plan, index), function, run, ..Subject::default() };
        let mut log = |subject: &Subject,
                       purpose: &str,
                       device: &Device,
                       outcome: Outcome,
                       latency: Option<Histogram>| {
            let (device_name, number) = (&subject.device, results.trials.len() + 1);
            progress.tell(&format!("{device_name}, run {}, trial {number}", run + 1));
            let index = results.trials.len() as u32;
            let mut record = TrialRecord::new(subject.clone(), index, purpose, clock_s, outcome);
            if latency.is_some() {
                record.spikes.extend(device.spikes());
            }
            record.latency = latency;
            let stall = |&(at_s, length_s): &(f64, f64)| Stall::new(at_s, 1e6 * length_s, "model");
            record.stalls.extend(device.stalls().iter().map(stall));
            clock_s += outcome.elapsed_s;
            results.trials.push(record);
        };
        let purpose = plan.search.purpose();
        let mut told = |device: &Device, outcome| log(&subject, &purpose, device, outcome, None);
        let mut stand = Simulated { device: &mut device, told: &mut told, trials: 0 };
        let found = search(plan, &mut stand)?;
        for percent in [10, 50, 90] {
            let load_pps = device.capacity_pps() * f64::from(percent) / 100.0;
            let outcome = device.measure(Trial::new(load_pps, 1.0));
            let mut subject = subject.clone();
            subject.axes.insert("load_percent".into(), percent.to_string());
            let latency = device.latencies(load_pps, TIMED_PACKETS);
            log(&subject, "latency", &device, outcome, Some(latency));
        }
        results.answers.extend(found.rates.into_iter().map(|it| it.answer(subject.clone())));
        for Quantity { metric, unit, values, note } in found.quantities {
            let (subject, metric) = (subject.clone(), metric.to_owned());
            results.quantities.push(QuantityRecord { subject, metric, unit, values, note });
        }
        progress.part_is_over();
    }
    Ok(())
}

/// A simulated device, each of whose trials is told to somebody.
struct Simulated<'a> {
    device: &'a mut Device,
    told: &'a mut dyn FnMut(&Device, Outcome),
    trials: usize,
}

impl Stand for Simulated<'_> {
    fn measure(&mut self, trial: Trial) -> Result<Outcome, lab_record::Error> {
        let outcome = self.device.measure(trial);
        (self.told)(self.device, outcome);
        self.trials += 1;
        Ok(outcome)
    }

    fn is_over(&self) -> bool {
        self.trials >= MOST_TRIALS
    }
}

/// One search to its end, as long as its method asks for: simulated time costs nothing.
fn search(plan: &Plan, stand: &mut Simulated<'_>) -> Result<Findings, Failure> {
    let terms = Terms {
        load_share: 1.0,
        max_pps: plan.max_pps,
        stalls_per_s: plan.models[0].stalls.per_s,
        trial_s: plan.search.trial_s,
        relative_width: 0.005,
        duration_sum_s: plan.search.duration_sum_s,
        loss_ratios: &[0.0, 0.005],
        repetitions: None,
        reference: plan.reference,
        parameters: BTreeMap::new(),
    };
    Ok(plan.search.carry_out(&terms, stand)?)
}

/// Interleaved blocks of maximum rates: the first device against itself, then against this one.
fn hold_against_first(plan: &Plan, index: usize) -> Result<ComparisonRecord, Failure> {
    let mut seed = plan.seed + 7_777 * (index as u64 + 1);
    // Starts of each device: those that did not bring it to its limit, and those that did.
    let mut starts: BTreeMap<usize, [usize; 2]> = BTreeMap::new();
    let mut campaign = |other: usize| -> Vec<f64> {
        seed += 1;
        let models = [&plan.models[0], &plan.models[other]];
        let mut devices = [0, 1].map(|it| Device::new(models[it].clone(), 2 * seed + it as u64));
        let block = |sides: [Side; 4]| {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for side in sides {
                let (index, device, rates) = match side {
                    Side::A => (0, &mut devices[0], &mut a),
                    Side::B => (other, &mut devices[1], &mut b),
                };
                device.restart();
                let outcome = device.measure(Trial::new(plan.max_pps, 1.0));
                let at_limit = outcome.device_loss_ratio() > SATURATED;
                starts.entry(index).or_default()[usize::from(at_limit)] += 1;
                rates.push(outcome.received as f64);
            }
            log_ratio([a[0], a[1]], [b[0], b[1]])
        };
        order(plan.blocks, seed).into_iter().map(block).collect()
    };
    let null = Null::of(&campaign(0))?;
    let comparison = paired::compare(&campaign(index), Some(&null))?;
    let most = starts.iter().filter(|(_, [below, at_limit])| below > at_limit);
    let unexhausted = most.map(|(&index, _)| name(plan, index)).collect();
    let (base, other) = (name(plan, 0), name(plan, index));
    let case = "largest load".into();
    Ok(ComparisonRecord { base, other, case, comparison, unexhausted, cost: None })
}

fn print(plan: &Plan, results: &Results) {
    let spread = if plan.runs < 3 { "bracket" } else { "95 % of it" };
    say!(
        "{:<18}{:<12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>10}",
        "device",
        "Mpps",
        "lower bound",
        "upper",
        "conditional",
        spread,
        "",
        "truth"
    );
    for row in summary::rows(results) {
        let named = |index: &usize| name(plan, *index) == row.subject.device;
        let model = (0..plan.models.len()).find(named).map(|it| &plan.models[it]);
        let truth = model.and_then(|model| truth(plan, model, &row.metric));
        say!(
            "{:<18}{:<12}{:>12}{:>12.4}{:>12}{:>12.4}{:>12.4}{:>10}",
            row.subject.device,
            row.metric,
            format!("{}{:.4}", row.sign(), row.value_pps / 1e6),
            row.upper_pps / 1e6,
            row.conditional_pps.map_or("-".into(), |pps| format!("{:.4}", pps / 1e6)),
            row.interval.low / 1e6,
            row.interval.high / 1e6,
            truth.map_or("none".into(), |pps| format!("{:.4}", pps / 1e6))
        );
    }
    for row in quantities::rows(results) {
        let told = |value| quantities::told(value, row.unit);
        let (low, high) = (told(row.interval.low), told(row.interval.high));
        say!("{} {}: {} [{low}, {high}]", row.subject.device, row.metric, told(row.median));
    }
    let seconds: f64 = results.trials.iter().map(|trial| trial.outcome.elapsed_s).sum();
    say!("{} trials, {seconds:.0} s of them if they were real", results.trials.len());
    results.comparisons.iter().for_each(compare::tell);
}

/// What a search should find: the load at which the device loses just what the goal allows; what
/// comes through at the largest load. None where every load loses more.
fn truth(plan: &Plan, model: &Model, metric: &str) -> Option<f64> {
    if plan.search.of_both_directions {
        return Some(model.capacity_pps.min(plan.max_pps) - model.base_loss * plan.max_pps);
    }
    let percent = metric.strip_prefix("PDR ").and_then(|it| it.strip_suffix(" %")?.parse().ok());
    model.load_losing(percent.unwrap_or(0.0) / 100.0)
}

/// Writes the raw lines, then the report from them.
fn write(results: Results, folder: &Path) -> Result<(), Failure> {
    let mut recorder = Recorder::open(folder)?;
    results.campaigns.into_iter().try_for_each(|record| recorder.write(record))?;
    results.trials.into_iter().try_for_each(|record| recorder.write(record))?;
    results.answers.into_iter().try_for_each(|record| recorder.write(record))?;
    results.quantities.into_iter().try_for_each(|record| recorder.write(record))?;
    results.comparisons.into_iter().try_for_each(|record| recorder.write(record))?;
    html::write(folder)?;
    say!("{}", folder.join("report.html").display());
    Ok(())
}
