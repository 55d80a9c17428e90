//! `volley-lab run SCENARIO`: measures it on real devices and writes the report.
//!
//! ```text
//! run ─▶ unshare --net --mount (itself, again) ─▶ campaign ─▶ raw.jsonl, line by line ─▶ report.html
//! ```
//! In a network namespace of its own the lab meets no other device of the host, and all that it
//! makes there ends with it.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use lab_record::FailureRecord;
use lab_report::memory::{self, Growth};
use lab_report::reference::verified;
use lab_report::summary::Row;
use lab_report::{checks, gate, html, method, quantities, summary, words};
use lab_trial::cut::Cut;
use lab_trial::host;
use lab_trial::plan::Plan;

use crate::bench::{Devices, Flags, Setting};
use crate::budget::Budget;
use crate::gate::Junit;
use crate::history::Against;
use crate::say::say;
use crate::shorter::Shorter;
use crate::{Failure, plan, shorter};

/// In network namespaces of its own; writes raw.jsonl and the report. Ctrl-C keeps what is there.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The scenario: TOML, or JSON as `scenario export` writes it
    #[arg(value_hint = ValueHint::FilePath)]
    scenario: PathBuf,
    #[command(flatten)]
    devices: Devices,
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    shorter: Shorter,
    #[command(flatten)]
    budget: Budget,
    /// Hold what is found against the baseline of this host and scenario in a history
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    baseline: Option<PathBuf>,
    /// Verify the NDRs of the baseline of this host and scenario in a history, by a few trials
    /// each, in place of searching for them
    #[arg(long, value_name = "DIR", conflicts_with = "baseline", value_hint = ValueHint::DirPath)]
    verify: Option<PathBuf>,
    #[command(flatten)]
    against: Against,
    #[command(flatten)]
    junit: Junit,
}

/// Measures a scenario.
pub(crate) fn run(arguments: &Run) -> Result<(), Failure> {
    let Run { scenario, devices, flags, shorter, budget, baseline, verify, against, junit } =
        arguments;
    let Devices { devices } = devices;
    if budget.time().is_some() && flags.says_minutes() {
        let told = "--minutes cuts what --budget would spend: give one of them";
        return Err(Failure::Usage(told.to_owned()));
    }
    if baseline.is_none() && (against.is_to_fail() || verify.is_none() && against.any_host) {
        let told = "--fail-below goes with --baseline, --any-host with it or with --verify";
        return Err(Failure::Usage(told.to_owned()));
    }
    let cut = Cut { verify: verify.is_some(), ..shorter.cut() };
    let mut setting = Setting::enter(flags, (cut, shorter.shard()), scenario, devices)?;
    if let Some(store) = verify {
        let base = against.baseline(store, setting.scenario.name.get_ref(), &host::facts())?;
        say!("reference: {}, host {}", base.id, base.host_id());
        setting.references = base.numbers;
    }
    if let Some(budget) = budget.time() {
        // Searches of the first start have their share of it.
        (setting.budget, setting.limit, setting.restarts) = (Some(budget), Some(budget), 1);
    }
    if let Some(store) = baseline {
        // Before hours are spent.
        against.baseline(store, setting.scenario.name.get_ref(), &host::facts())?;
    }
    let planned = Plan::of(&setting.scenario, devices.len(), setting.restarts);
    eprintln!("volley-lab: {}", plan::line(&planned));
    if let Some(budget) = setting.budget {
        eprintln!("volley-lab: {}", plan::spent(&planned, budget));
    }
    let mut recorder = setting.recorder()?;
    let stolen_s = host::stolen_s();
    let outcome = setting.campaign(devices, |campaign| campaign.run(&mut recorder));
    let results = html::write(&setting.out)?;
    shorter::tell(&setting.cut);
    let found = summary::rows(&results);
    rates(&found);
    for (row, (_, told)) in found.iter().filter_map(|row| Some((row, verified(&results, row)?))) {
        say!("{} {}: {told}", row.name(), row.label());
    }
    for check in &results.checks {
        say!("{}", checks::line(check));
    }
    for row in quantities::rows(&results) {
        let told = |value| quantities::told(value, row.unit);
        let note = row.note.as_ref().map_or_else(String::new, |note| format!(" ({note})"));
        say!(
            "{} — {}, {}: {}{} [{}, {}] of {} runs, {} trials{note}",
            row.subject.device,
            row.subject.case(),
            row.metric,
            row.sign(),
            told(row.median),
            told(row.interval.low),
            told(row.interval.high),
            row.runs,
            row.values.len()
        );
    }
    for row in memory::rows(&results) {
        if matches!(row.growth, Growth::Growing(_)) {
            let (begin, end) = (memory::told(row.begin), memory::told(row.end));
            let (device, case) = (&row.subject.device, row.subject.case());
            say!("{device} — {case}: memory {} ({begin} to {end})", row.words());
        }
    }
    for FailureRecord { subject, refused, reason } in &results.failures {
        let refused = if *refused { "refused: " } else { "" };
        say!("{}, {}: {refused}{reason}", subject.device, subject.case());
    }
    if let Some(fitness) = html::host::fitness(&results) {
        say!("{fitness}");
    }
    if let Some(told) = method::words(&results) {
        say!("{told}");
    }
    say!("stolen from the host meanwhile: {:.2} s", host::stolen_s() - stolen_s);
    say!("{}", html::finding::finding(&results));
    say!("{}", setting.out.join("report.html").display());
    let mut judged = gate::of(&results, 0.0);
    // What was stopped is not held against what was measured whole.
    if let (Some(store), Ok(())) = (baseline, &outcome) {
        judged.cases.extend(against.gate(store, &results)?.cases);
    }
    let closed = junit.close(setting.scenario.name.get_ref(), &judged);
    match outcome {
        Err(lab_record::Error::Stopped) => Err(Failure::Stopped),
        Err(other) => Err(other.into()),
        Ok(()) => closed,
    }
}

/// A line for each rate that was found.
fn rates(rows: &[Row]) {
    let width = rows.iter().map(|row| row.name().chars().count()).max().unwrap_or(0);
    for row in rows {
        let conditional = row.conditional_pps.map(|pps| format!(" ({:.4} conditional)", pps / 1e6));
        let conditional = conditional.unwrap_or_default();
        say!(
            "{:<width$} {:<20}{:>1}{:>9.4} Mpps{conditional}; {} {}, {} runs; limited by the {}",
            row.name(),
            row.label(),
            row.sign(),
            row.value_pps / 1e6,
            row.spread(),
            row.interval_in_words(|pps| format!("{:.4}", pps / 1e6)),
            row.runs,
            row.limiter.name()
        );
        if let Some(found) = row.limit.as_ref().filter(|_| row.is_at_least()) {
            say!("{:<width$}   upper bound: {}", "", words::limit(found));
        }
    }
    if rows.iter().any(Row::is_at_least) {
        say!(
            "≥: not the device but the generator or the host limited it; it may do more. How fast it is \
             says its cost, below, where it tells"
        );
    }
}
