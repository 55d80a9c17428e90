//! Trials.

use lab_record::{Results, TrialRecord};
use rusqlite::params;

use super::filling::{Filling, Table, count, json};

/// As the index has it.
pub(super) const TABLE: Table = Table {
    name: "trial",
    columns: "device TEXT, function TEXT, case_name TEXT, axes TEXT, run INTEGER, number \
              INTEGER, purpose TEXT, at_s REAL, load_pps REAL, duration_s REAL, elapsed_s \
              REAL, intended INTEGER, offered INTEGER, received INTEGER, loss_ratio REAL, \
              lost_by_device INTEGER, lost_to_host INTEGER, missed INTEGER, \
              p50_ns REAL, p99_ns REAL, max_ns REAL, duplicates INTEGER, reordered INTEGER, \
              longest_loss_run INTEGER, jitter_ns REAL, \
              lost INTEGER, lost_back INTEGER, duplicates_back INTEGER, reordered_back INTEGER, longest_loss_run_back INTEGER, \
               stalls INTEGER, spikes INTEGER, \
              verdicts TEXT",
    fill,
};

fn fill(filling: &Filling<'_>, results: &Results) -> rusqlite::Result<()> {
    results.trials.iter().try_for_each(|trial| self::trial(filling, trial))
}

fn trial(filling: &Filling<'_>, trial: &TrialRecord) -> rusqlite::Result<()> {
    let outcome = &trial.outcome;
    let percentile = |percent| trial.latency.as_ref().map(|all| all.percentile_ns(percent) as f64);
    let told = outcome.latency.as_ref();
    let sequence = trial.sequence.as_ref();
    let back = trial.back.as_ref().map(|back| &back.sequence);
    filling.of_subject(
        "trial",
        &trial.subject,
        params![
            trial.subject.run,
            trial.index,
            trial.purpose,
            trial.at_s,
            outcome.trial.load_pps,
            outcome.trial.duration_s,
            outcome.elapsed_s,
            count(outcome.intended),
            count(outcome.offered),
            count(outcome.received),
            outcome.loss_ratio(),
            count(outcome.blame().device),
            count(outcome.blame().host),
            count(outcome.missed),
            percentile(50.0).or(told.map(|latency| latency.p50_ns)),
            percentile(99.0).or(told.map(|latency| latency.p99_ns)),
            percentile(100.0).or(told.map(|latency| latency.max_ns)),
            sequence.map(|counts| count(counts.duplicates)),
            sequence.map(|counts| count(counts.reordered)),
            sequence.map(|counts| count(counts.longest_loss_run)),
            trial.jitter_ns,
            sequence.map(|counts| count(counts.lost)),
            back.map(|counts| count(counts.lost)),
            back.map(|counts| count(counts.duplicates)),
            back.map(|counts| count(counts.reordered)),
            back.map(|counts| count(counts.longest_loss_run)),
            count(trial.stalls.iter().filter(|it| !it.is_of_the_device()).count() as u64),
            count(trial.spikes.len() as u64),
            json(&trial.verdicts),
        ],
    )
}
