//! `volley-lab study NAME`: the campaigns of a study, one after the other, and one report of all.
//!
//! ```text
//! study ─▶ runs/ID/scenario.toml ─▶ volley-lab run … (a process each: DPDK begins once in one) ─▶ raw.jsonl
//!      └─▶ after each: report.html, cells.csv        interrupted, or again with the same --out: goes on
//! ```

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use clap::{Args, ValueHint};
use lab_record::{Error, Results};
use lab_study::cell::{Cell, Runs};
use lab_study::folder::{Ended, Folder, Measured, State, devices_of};
use lab_study::known;
use lab_study::page::{self, Page};
use lab_study::scenario::Planned;
use lab_study::study::{Run, Study};
use lab_study::table;
use lab_trial::dut;
use lab_trial::plan::Plan;
use lab_trial::scenario::Scenario;

use crate::Failure;
use crate::budget;
use crate::interrupt::Interrupt;
use crate::say::say;

/// What a run takes that nobody can tell beforehand, in seconds: the device alone decides.
const UNKNOWN_S: f64 = 300.0;
/// Less than this of a budget is not begun anew with.
const LEAST: Duration = Duration::from_secs(10);
/// How often a run is looked after.
const LOOK: Duration = Duration::from_millis(50);

/// Measures what a source measured, and writes one report with its numbers beside ours. As root.
/// Ctrl-C keeps what is there.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The study: a name, or a file that ends in .toml
    #[arg(help = format!("The study: {}, or a file that ends in .toml", names()))]
    study: String,
    /// Fewer points and repeats; what that loses stands in the report
    #[arg(long)]
    quick: bool,
    /// Where results and the report go; results/STUDY unless said. What is there goes on
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    #[arg(long, value_name = "NAME,…", value_delimiter = ',',
        help = format!("Devices: {}; the study's own unless said", dut::known()))]
    devices: Vec<String>,
    /// These runs alone, by their names in the study
    #[arg(long, value_name = "RUN,…", value_delimiter = ',')]
    only: Vec<String>,
    /// Time for all of it, as 2h or 90m: each run has its share, each device and case once, then
    /// again where the intervals are widest
    #[arg(long, value_name = "TIME", value_parser = budget::time)]
    budget: Option<Duration>,
    /// Write the report of what lies in --out again, and measure nothing
    #[arg(long, requires = "out", conflicts_with_all = ["quick", "devices", "only", "budget"])]
    render: bool,
    /// With --render: the report as documentation, too: DIR/STUDY.md, and its drawings beside it
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "render")]
    docs: Option<PathBuf>,
}

fn names() -> String {
    known::STUDIES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// Carries a study out, or renders it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let text = known::text_of(&arguments.study)?;
    let study = Study::parse(&text, Path::new(&arguments.study))?;
    let usual = || Path::new("results").join(&study.name);
    let path = arguments.out.clone().unwrap_or_else(usual);
    let folder = Folder::new(&path);
    if arguments.render {
        let state = folder
            .state()?
            .ok_or_else(|| Error::Folder { path: path.clone(), reason: "it holds no study" })?;
        let study = Study::parse(&folder.text()?, &folder.file("study.toml"))?;
        report(&study, &state, &folder)?;
        say!("{}", folder.file("report.html").display());
        if let Some(docs) = &arguments.docs {
            say!("{}", document(&study, &state, &folder, docs)?.display());
        }
        return Ok(());
    }
    if let Some(unknown) = arguments.only.iter().find(|id| study.run(id).is_none()) {
        let all: Vec<&str> = study.runs.iter().map(|run| run.id.as_str()).collect();
        let reason = format!("no run {unknown:?} in {}: {}", study.name, all.join(", "));
        return Err(Failure::Usage(reason));
    }
    let devices = match &arguments.devices[..] {
        [] => study.devices.clone(),
        named => named.to_vec(),
    };
    for name in &devices {
        dut::named(name)?;
    }
    check(&study, arguments.quick)?;
    let lab = format!("volley-lab {}", env!("CARGO_PKG_VERSION"));
    let asked = State { quick: arguments.quick, devices, lab, ended: Vec::new() };
    let state = folder.begin(&text, &asked)?;
    let wanted = |run: &&Run| arguments.only.is_empty() || arguments.only.contains(&run.id);
    let runs: Vec<&Run> = study.runs.iter().filter(wanted).collect();
    let until = arguments.budget.map(|budget| Instant::now() + budget);
    let interrupt = Interrupt::listen()?;
    let mut carrying = Carrying { study: &study, folder: &folder, state, interrupt, until };
    carrying.all(&runs)?;
    let state = carrying.state;
    let (numbers, reasons) = report(&study, &state, &folder)?;
    say!("{numbers} numbers, {reasons} places with a reason in their stead");
    say!("{}", folder.file("report.html").display());
    let failed: Vec<String> = state
        .ended
        .iter()
        .filter_map(|it| Some(format!("{}: {}", it.run, it.failure.as_ref()?)))
        .collect();
    match (failed.is_empty(), numbers) {
        (false, _) => Err(Failure::Missing(failed.join("; "))),
        (true, 0) => Err(Failure::Missing("no number was measured".into())),
        (true, _) => Ok(()),
    }
}

/// A study that is carried out.
struct Carrying<'a> {
    study: &'a Study,
    folder: &'a Folder,
    state: State,
    interrupt: Interrupt,
    /// The end of its budget.
    until: Option<Instant>,
}

impl Carrying<'_> {
    /// Each run that is not over, once. What is left of a budget then goes to those that spend
    /// their share of it, as long as there are any.
    fn all(&mut self, runs: &[&Run]) -> Result<(), Failure> {
        let runs: Vec<(usize, &Run)> = (1..).zip(runs.iter().copied()).collect();
        let named = |(number, run): &(usize, &Run)| {
            format!("run {number} of {}: {} ({})", runs.len(), run.id, run.title)
        };
        let is_there = |run: &&(usize, &Run)| !devices_of(run.1, &self.state.devices).is_empty();
        let mut wanting: Vec<(usize, &Run)> = runs.iter().filter(is_there).copied().collect();
        let mut turn = wanting.clone();
        turn.retain(|(_, run)| !self.state.is_over(&run.id));
        loop {
            for (at, run) in turn.iter().enumerate() {
                let others = turn[at..].iter().map(|run| weight(self.study, run.1, &self.state));
                let weights = others.collect::<Result<Vec<f64>, Error>>()?;
                let budget = self.left().map(|left| share(left, &weights));
                eprintln!("volley-lab: {}", named(run));
                if !self.one(run.1, budget)? {
                    wanting.retain(|other| other.0 != run.0);
                }
            }
            let enough = self.left().filter(|left| *left >= LEAST && !wanting.is_empty());
            let Some(left) = enough else { return Ok(()) };
            turn.clone_from(&wanting);
            let s = left.as_secs();
            eprintln!("volley-lab: {s} s are left, for runs that would know more by them");
        }
    }

    /// What is left of its budget.
    fn left(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// Carries a run out, with what it has more of the budget. Whether it would take more.
    fn one(&mut self, run: &Run, budget: Option<Duration>) -> Result<bool, Failure> {
        let Self { study, folder, state, interrupt, .. } = self;
        let planned = Planned::of(study, run, state.quick)?;
        let scenario = folder.write_scenario(&run.id, &planned)?;
        let link = run.link.as_ref().unwrap_or(&study.link);
        let devices = devices_of(run, &state.devices);
        let path = folder.run(&run.id);
        // The time that it took before is part of a run's budget.
        let before = Results::load_or_none(&path)?.map_or(0.0, |it| it.elapsed_s());
        let whole = budget.map(|more| more + Duration::from_secs_f64(before));
        let began = Instant::now();
        let status = carry_out(&path, &scenario, (link, whole), &devices, interrupt)?;
        if interrupt.came() {
            report(study, state, folder)?;
            say!("{}", folder.file("report.html").display());
            return Err(Failure::Stopped);
        }
        let took = began.elapsed();
        let (run, seconds) = (run.id.clone(), before + took.as_secs_f64());
        state.note(Ended { run, failure: failure(status), seconds });
        folder.keep(state)?;
        // What stands so far can be read meanwhile.
        report(study, state, folder)?;
        Ok(failure(status).is_none() && budget.is_some_and(|budget| took > budget / 2))
    }
}

/// Every scenario, before the first is begun: a fault in the last should not show after hours.
fn check(study: &Study, quick: bool) -> Result<(), Error> {
    for run in &study.runs {
        let planned = Planned::of(study, run, quick)?;
        Scenario::parse(&planned.text(), &format!("{}, run {}", study.name, run.id))?;
    }
    Ok(())
}

/// How long a first start of everything of a run takes, by its plan.
fn weight(study: &Study, run: &Run, state: &State) -> Result<f64, Error> {
    let planned = Planned::of(study, run, state.quick)?;
    let scenario = Scenario::parse(&planned.text(), &run.id)?;
    let devices = devices_of(run, &state.devices).len();
    Ok(Plan::of(&scenario, devices, 1).seconds().unwrap_or(UNKNOWN_S * devices as f64))
}

/// What the first of several runs has of the time that is left for all: as much as its plan is of
/// theirs, and a second at least.
fn share(left: Duration, weights: &[f64]) -> Duration {
    let all: f64 = weights.iter().sum();
    let share = weights.first().map_or(0.0, |first| first / all.max(f64::MIN_POSITIVE));
    left.mul_f64(share.clamp(0.0, 1.0)).max(Duration::from_secs(1))
}

/// A run, as a process of its own: what it says goes to a file, how far it is to the terminal.
fn carry_out(
    folder: &Path,
    scenario: &Path,
    (link, budget): (&str, Option<Duration>),
    devices: &[String],
    interrupt: &Interrupt,
) -> Result<ExitStatus, Error> {
    let own = std::env::current_exe().map_err(Error::file("volley-lab"))?;
    let said = folder.join("said.txt");
    let out = File::create(&said).map_err(Error::file(&said))?;
    let mut child = Command::new("setpriv")
        // It ends with us, however we end; an interrupt is ours to hand on, once.
        .args(["--pdeathsig", "TERM", "--"])
        .arg(own)
        .arg("run")
        .arg(scenario)
        .args(["--link", link, "--devices", &devices.join(","), "--out"])
        .arg(folder)
        .args(budget.map(|time| format!("--budget={}s", time.as_secs())))
        .stdin(Stdio::null())
        .stdout(out)
        .process_group(0)
        .spawn()
        .map_err(Error::file("setpriv"))?;
    let mut told = false;
    loop {
        match child.try_wait().map_err(Error::file("volley-lab run"))? {
            Some(status) => return Ok(status),
            None if interrupt.came() && !told => {
                told = true;
                hand_on(&child);
            }
            None => std::thread::sleep(LOOK),
        }
    }
}

/// Interrupts a run, as Ctrl-C would.
fn hand_on(child: &Child) {
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
}

/// How a run ended, where that is a failure: refusals and wrong functions are results.
fn failure(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0 | 3 | 4), _) => None,
        (Some(code), _) => Some(format!("the lab ended with code {code}")),
        (None, Some(signal)) => Some(format!("signal {signal} ended the lab")),
        (None, None) => Some("the lab ended without a code".into()),
    }
}

/// Writes the page and the cells. How many numbers there are, and how many reasons.
fn report(study: &Study, state: &State, folder: &Folder) -> Result<(usize, usize), Error> {
    let measured: Vec<Measured> = folder.measured(study, state)?;
    let runs = Runs::of(&measured);
    let page = Page::of(study, state, &runs);
    for (name, text) in
        [("report.html", page::render(&page)), ("cells.csv", table::csv(&page.places))]
    {
        let path = folder.file(name);
        std::fs::write(&path, text).map_err(Error::file(&path))?;
    }
    let numbers = page.places.iter().filter(|it| matches!(it.cell, Cell::Number(_))).count();
    Ok((numbers, page.places.len() - numbers))
}

/// Writes the report as documentation. Where its page is.
fn document(study: &Study, state: &State, folder: &Folder, docs: &Path) -> Result<PathBuf, Error> {
    let measured: Vec<Measured> = folder.measured(study, state)?;
    let runs = Runs::of(&measured);
    let path = docs.join(&study.name).with_extension("md");
    let beside = docs.join(&study.name);
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    let document = page::document(Page::of(study, state, &runs), &before);
    std::fs::create_dir_all(&beside).map_err(Error::file(&beside))?;
    // Drawings of before, which may not be drawn any more.
    for entry in std::fs::read_dir(&beside).map_err(Error::file(&beside))?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|it| it == "svg") {
            std::fs::remove_file(&path).map_err(Error::file(&path))?;
        }
    }
    for (name, text) in &document.files {
        let path = beside.join(name);
        std::fs::write(&path, text).map_err(Error::file(&path))?;
    }
    std::fs::write(&path, document.text).map_err(Error::file(&path))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_of_every_study_can_be_carried_out_whole_and_cut() {
        for (name, _) in known::STUDIES {
            let study = known::study(name).unwrap();
            for quick in [false, true] {
                check(&study, quick).unwrap();
            }
            study.devices.iter().for_each(|name| drop(dut::named(name).unwrap()));
        }
    }

    #[test]
    fn a_budget_is_shared_as_plans_are_long_and_runs_without_devices_have_none_of_it() {
        let hour = Duration::from_secs(3_600);
        assert_eq!(share(hour, &[30.0, 60.0]), hour / 3);
        assert_eq!([share(hour, &[9.0]), share(hour, &[0.0, 9.0])], [hour, hour / 3_600]);
        assert_eq!(share(Duration::ZERO, &[1.0]), Duration::from_secs(1));
        let study = known::study("schedulers").unwrap();
        let weight_of = |id: &str, devices: &[&str]| {
            let devices = devices.iter().map(|it| (*it).to_owned()).collect();
            let state = State { devices, ..State::default() };
            weight(&study, study.run(id).unwrap(), &state).unwrap()
        };
        assert_eq!(weight_of("source-guest", &["volley"]), 0.0);
        let (one, two) =
            (weight_of("source", &["volley"]), weight_of("source", &["volley", "ovs"]));
        assert!(one > 18.0 * 10.0 && (two / one - 2.0).abs() < 0.01, "{one} {two}");
    }

    #[test]
    fn a_refusal_is_no_failure_and_a_signal_is_one() {
        assert_eq!(failure(ExitStatus::from_raw(4 << 8)), None);
        assert!(failure(ExitStatus::from_raw(1 << 8)).unwrap().contains("code 1"));
        assert!(failure(ExitStatus::from_raw(9)).unwrap().contains("signal 9"));
    }
}
