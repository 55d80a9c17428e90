//! `volley-lab history`: results kept by commit and host, in a folder of plain files.
//!
//! ```text
//! add ─▶ entries ─┬▶ list, show
//!                 ├▶ baseline ─▶ compare, run --baseline, run --verify
//!                 ├▶ changes        exit code 3 where the last level is worse
//!                 └▶ dashboard      a folder of pages
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{Args, Subcommand, ValueHint};
use lab_record::{Error, Results};
use lab_report::gate::{Gate, Outcome};
use lab_report::history::{self, Added, Commit, Entry, Store, dashboard, hold, lines, numbers};

use crate::Failure;
use crate::gate::{FailBelow, Junit};
use crate::say::say;

/// Where a history is.
#[derive(Debug, Args)]
pub(crate) struct At {
    /// Folder of the history
    #[arg(long, value_name = "DIR", default_value = "history", global = true,
        value_hint = ValueHint::DirPath)]
    store: PathBuf,
}

/// Results kept by commit and host.
#[derive(Debug, Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct History {
    #[command(flatten)]
    at: At,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Keep the campaigns of results folders; what is there already is kept once
    Add(Add),
    /// What is kept, in order of the commits
    List,
    /// One entry: host, versions, method, numbers
    Show {
        /// Its name or its commit, or how either begins
        entry: String,
    },
    /// The baselines; or make an entry the baseline of its host and scenario
    Baseline {
        /// Its name or its commit, or how either begins
        entry: Option<String>,
    },
    /// Hold a results folder against the baseline of its host and scenario
    Compare {
        /// The results folder
        #[arg(value_hint = ValueHint::DirPath)]
        dir: PathBuf,
        #[command(flatten)]
        against: Against,
        #[command(flatten)]
        junit: Junit,
    },
    /// Where numbers changed, the latest first; code 3 where the last level of one is worse
    Changes {
        #[command(flatten)]
        fail_below: FailBelow,
        #[command(flatten)]
        junit: Junit,
    },
    /// Write a folder of pages: trend lines, changes by commit, anomalies, devices side by side
    Dashboard {
        /// The folder; that of the history has one named `dashboard`
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
}

/// How to hold numbers against a baseline.
#[derive(Debug, Args)]
pub(crate) struct Against {
    #[command(flatten)]
    fail_below: FailBelow,
    /// That of an unlike host will do, too
    #[arg(long)]
    pub(crate) any_host: bool,
}

#[derive(Debug, Args)]
struct Add {
    /// Results folders
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    folders: Vec<PathBuf>,
    /// The commit that was measured: any name git knows here, or any word where there is no git.
    /// HEAD unless said
    #[arg(long, value_name = "REV")]
    commit: Option<String>,
    /// Make each the baseline of its host and scenario
    #[arg(long)]
    baseline: bool,
}

/// Does what was asked for.
pub(crate) fn run(History { at, verb }: &History) -> Result<(), Failure> {
    let store = Store::new(&at.store);
    match verb {
        Verb::Add(arguments) => add(&store, arguments),
        Verb::List => list(&store),
        Verb::Show { entry } => {
            show(&store.find(entry)?);
            Ok(())
        }
        Verb::Baseline { entry: None } => {
            let all = store.baselines()?;
            if all.is_empty() {
                say!("{}: no entry is a baseline yet", store.folder().display());
            }
            all.iter().for_each(tell);
            Ok(())
        }
        Verb::Baseline { entry: Some(name) } => {
            let entry = store.find(name)?;
            store.set_baseline(&entry)?;
            say!("baseline of {} on host {}: {}", entry.scenario, entry.host_id(), entry.id);
            Ok(())
        }
        Verb::Compare { dir, against, junit } => {
            let gate = against.gate(&at.store, &Results::load(dir)?)?;
            junit.close("baseline", &gate)
        }
        Verb::Changes { fail_below, junit } => changes(&store, fail_below.fail_below, junit),
        Verb::Dashboard { out } => {
            let entries = store.entries()?;
            let folder = out.clone().unwrap_or_else(|| at.store.join("dashboard"));
            let files = dashboard::write(&entries, &folder)?;
            let (_, told) = history::finding(&lines(&entries));
            say!("{told}");
            files.iter().take(1).for_each(|it| say!("{}", it.display()));
            Ok(())
        }
    }
}

impl Against {
    /// Whether some loss is allowed: something is to be judged.
    pub(crate) fn is_to_fail(&self) -> bool {
        self.fail_below.fail_below > 0.0
    }

    /// The baseline in a folder, of a scenario and of such a host.
    pub(crate) fn baseline(
        &self,
        store: &Path,
        scenario: &str,
        host: &BTreeMap<String, String>,
    ) -> Result<Entry, Failure> {
        Ok(Store::new(store).baseline(scenario, host, self.any_host)?)
    }

    /// These results against the baseline in a folder; says each number.
    pub(crate) fn gate(&self, store: &Path, results: &Results) -> Result<Gate, Failure> {
        let campaign = results.campaigns.first().ok_or_else(|| Error::Text {
            what: "results",
            text: String::new(),
            allowed: "they hold no campaign".into(),
        })?;
        let base = self.baseline(store, &campaign.scenario, &campaign.host)?;
        say!("baseline: {}, host {}", base.id, base.host_id());
        if let (Some(then), Some(now)) = (&base.method, results.methods.first())
            && !then.agrees_with(now)
        {
            let why = format!("measured otherwise: {}; and now: {}", then.words(), now.words());
            say!("{why}");
            let mut gate = Gate::default();
            gate.add("campaigns", "measured alike".into(), Outcome::Error(why));
            return Ok(gate);
        }
        let gate = hold(&base.numbers, &numbers(results), self.fail_below.fail_below);
        for case in &gate.cases {
            let (word, told) = match &case.outcome {
                Outcome::Passed(told) => ("passed", told),
                Outcome::Failed(told) => ("FAILED", told),
                Outcome::Error(told) => ("undecided", told),
                Outcome::Skipped(told) => ("left out", told),
            };
            say!("{word}: {} — {}: {told}", case.device, case.name);
        }
        Ok(gate)
    }
}

fn add(store: &Store, arguments: &Add) -> Result<(), Failure> {
    let commit = commit(arguments.commit.as_deref())?;
    for folder in &arguments.folders {
        let (word, entry) = match store.add(folder, commit.clone())? {
            Added::New(entry) => ("added", entry),
            Added::Known(entry) => ("known already", entry),
        };
        say!("{word}: {}, {} numbers, host {}", entry.id, entry.numbers.len(), entry.host_id());
        if arguments.baseline {
            store.set_baseline(&entry)?;
            say!("baseline of {} on host {}: {}", entry.scenario, entry.host_id(), entry.id);
        }
    }
    Ok(())
}

/// What git says of a commit here; a name alone where there is no git, none where nobody named one.
fn commit(name: Option<&str>) -> Result<Option<Commit>, Failure> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).env("TZ", "UTC").output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        output.status.success().then_some(text)
    };
    let made = "--date=format-local:%Y-%m-%dT%H:%M:%SZ";
    let of = format!("{}^{{commit}}", name.unwrap_or("HEAD"));
    let told = git(&["show", "-s", made, "--format=%H%n%cd%n%s", "--end-of-options", &of]);
    let Some(told) = told else {
        let in_repository = git(&["rev-parse", "--git-dir"]).is_some();
        return match name {
            Some(name) if in_repository => Err(Failure::Lab(Error::Text {
                what: "commit",
                text: name.to_owned(),
                allowed: "git knows none of that name here".into(),
            })),
            name => Ok(name.map(|hash| Commit { hash: hash.to_owned(), ..Commit::default() })),
        };
    };
    let mut lines = told.lines().map(str::to_owned);
    let mut next = || lines.next().unwrap_or_default();
    let (hash, made, subject) = (next(), next(), next());
    // What was measured of a commit by name was that commit; of HEAD, what lay there.
    let changed = || git(&["status", "--porcelain", "--untracked-files=no"]);
    let dirty = name.is_none() && changed().is_some_and(|it| !it.is_empty());
    Ok(Some(Commit { hash, made, subject, dirty }))
}

fn list(store: &Store) -> Result<(), Failure> {
    let entries = store.entries()?;
    if entries.is_empty() {
        say!("{}: nothing is kept here yet", store.folder().display());
    }
    entries.iter().for_each(tell);
    Ok(())
}

fn tell(entry: &Entry) {
    let commit = entry.commit.clone().unwrap_or_default();
    say!(
        "{:<10} {:<10} host {} {:<20} {:>3} numbers  {}  {}",
        entry.label(),
        entry.day(),
        entry.host_id(),
        entry.scenario,
        entry.numbers.len(),
        entry.id,
        commit.subject
    );
}

fn show(entry: &Entry) {
    say!("{}", entry.id);
    if let Some(commit) = &entry.commit {
        let dirty = if commit.dirty { ", with changes beside it" } else { "" };
        say!("commit {} {}{dirty}: {}", commit.hash, commit.made, commit.subject);
    }
    say!("{}, scenario {}, measured {}", entry.title, entry.scenario, entry.started);
    say!("host {}: {}", entry.host_id(), entry.fingerprint());
    if let Some(method) = &entry.method {
        say!("{}", method.words());
    }
    entry.versions.iter().for_each(|(name, version)| say!("{name}: {version}"));
    for number in &entry.numbers {
        let high = number.high.map_or_else(|| "?".to_owned(), |high| number.told(high));
        say!(
            "{}, {}: {} [{}, {high}], {} runs",
            number.name(),
            number.metric,
            number.words(),
            number.told(number.low),
            number.runs
        );
    }
}

/// Says every change; one that the last level came with must not be worse by more than is allowed.
fn changes(store: &Store, fail_below: f64, junit: &Junit) -> Result<(), Failure> {
    let entries = store.entries()?;
    let found = lines(&entries);
    let mut gate = Gate::default();
    for it in history::changes(&found) {
        say!("{} {}", it.since().day(), it.words());
    }
    for line in &found {
        for series in &line.series {
            let Some(number) = series.number() else { continue };
            for &at in &series.anomalies {
                let entry = line.entries[series.points[at].entry];
                let off = 100.0 * series.off(at);
                say!(
                    "{} {}, {}: an anomaly at {}, {off:+.1} %",
                    entry.day(),
                    number.name(),
                    number.metric,
                    entry.label()
                );
            }
            let scenario = line.last().map_or("", |it| it.scenario.as_str());
            let name = format!("{scenario}: {}, {}", number.case, number.metric);
            let all = history::changes(std::slice::from_ref(line));
            let last = all.iter().find(|it| {
                std::ptr::eq(it.series, series) && Some(&it.change) == series.changes.last()
            });
            let outcome = match last {
                Some(it) if it.change.better < -fail_below && !number.at_least => {
                    Outcome::Failed(it.words())
                }
                Some(it) => Outcome::Passed(it.words()),
                None => Outcome::Passed("steady".into()),
            };
            gate.add(&number.device, name, outcome);
        }
    }
    junit.close("history", &gate)
}
