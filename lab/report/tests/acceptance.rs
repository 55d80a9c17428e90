//! What the lab must be able to do before it measures anything: known truths, recovered.
//!
//! The slowdown of 1 %, the periodic stall, the injected loss and the Poisson gaps are tested where
//! their code is (`stats::paired`, `stats::spikes`, `receive::sequence`, `arrivals::gaps`);
//! intervals in `coverage.rs`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // all of it is test code

use lab_record::{AnswerRecord, Campaign, Outcome, Recorder, Results, Stall, Subject, TrialRecord};
use lab_report::html;
use lab_report::summary::interval_on_stalling_host;
use lab_search::random::Random;
use lab_search::search::mlr::{Config, Goal, GoalAnswer, MlrSearch};
use lab_search::search::{Budget, Search, Step, run};
use lab_search::sim::{Device, Model, Stalls};

fn search(goal: Goal) -> MlrSearch {
    let config = Config { min_pps: 1e5, max_pps: 14_880_952.0, warmup_s: 1.0, goals: vec![goal] };
    MlrSearch::new(&config).unwrap()
}

fn measure(goal: Goal, device: &mut Device) -> (GoalAnswer, Vec<Outcome>) {
    let found = run(&mut search(goal), Budget::default(), |trial| Ok(device.measure(trial)));
    let (mut answers, history) = found.unwrap();
    (answers.remove(0), history)
}

/// A device of random capacity on a host that stalls once a second.
fn shaky(random: &mut Random) -> Model {
    let capacity_pps = 1e6 * (1.0 + 12.0 * random.uniform());
    let stalls = Stalls::random(1.0, 2e-3);
    Model { noise: 0.003, restart_noise: 0.003, stalls, ..Model::quiet(capacity_pps) }
}

#[test]
fn a_known_capacity_lies_in_the_stated_interval_at_least_93_times_in_100() {
    let mut random = Random::new(1);
    let campaigns = 200;
    let mut held = 0;
    for seed in 0..campaigns {
        let model = shaky(&mut random);
        let capacity_pps = model.capacity_pps;
        let mut device = Device::new(model, seed);
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        for _ in 0..10 {
            device.restart();
            let (answer, _) = measure(Goal::ndr().on_stalling_host(1.0), &mut device);
            lows.push(answer.lower_pps.unwrap());
            highs.push(answer.upper_pps.unwrap_or(14_880_952.0));
        }
        let interval = interval_on_stalling_host(&lows, &highs);
        held += u64::from(interval.contains(capacity_pps));
        let width = (interval.high - interval.low) / capacity_pps;
        assert!(width < 0.02, "an interval of {:.1} % says nothing", 100.0 * width);
    }
    println!("{held} of {campaigns} intervals hold the capacity");
    assert!(held * 100 >= 93 * campaigns, "{held} of {campaigns}");
}

#[test]
fn short_trials_keep_the_capacity_of_a_stalling_host_where_long_ones_lose_it() {
    let stalls = Stalls::random(1.5, 3e-3);
    let model = Model { stalls, ..Model::quiet(8e6) };
    let (long, _) = measure(Goal::ndr(), &mut Device::new(model.clone(), 1));
    let (short, _) = measure(Goal::ndr().on_stalling_host(1.5), &mut Device::new(model, 1));
    let (long, short) = (long.lower_pps.unwrap(), short.lower_pps.unwrap());
    assert!(short > 0.99 * 8e6, "{short}");
    assert!(long < 0.7 * 8e6, "{long}");
}

#[test]
fn a_search_resumed_from_its_history_goes_on_as_if_never_stopped() {
    let mut device = Device::new(shaky(&mut Random::new(2)), 3);
    let goal = Goal::ndr().on_stalling_host(1.0);
    let (answer, history) = measure(goal, &mut device);
    for length in [0, 1, 2, 3, history.len() / 2, history.len() - 1] {
        let step = search(goal).next(&history[..length]).unwrap();
        assert_eq!(step, Step::Measure(history[length].trial), "after {length}");
    }
    assert_eq!(search(goal).next(&history).unwrap(), Step::Done(vec![answer]));
}

#[test]
fn a_history_of_other_trials_is_refused() {
    let mut device = Device::new(Model::quiet(5e6), 1);
    let (_, mut history) = measure(Goal::ndr(), &mut device);
    history[2].trial.load_pps *= 1.01;
    assert!(search(Goal::ndr()).next(&history).is_err());
}

#[test]
fn a_report_rendered_again_from_the_raw_file_is_identical() {
    let folder = std::env::temp_dir().join(format!("lab-acceptance-{}", std::process::id()));
    let mut device = Device::new(shaky(&mut Random::new(4)), 5);
    let mut recorder = Recorder::open(&folder).unwrap();
    let title = "Rendered twice".to_owned();
    recorder.write(Campaign { title, ..Campaign::default() }).unwrap();
    let mut at_s = 0.0;
    for run in 0..3 {
        device.restart();
        let subject = Subject { device: "sim".into(), run, ..Subject::default() };
        let (answer, history) = measure(Goal::ndr().on_stalling_host(1.0), &mut device);
        for (index, outcome) in history.into_iter().enumerate() {
            let mut record = TrialRecord::new(subject.clone(), index as u32, "mlr", at_s, outcome);
            record.stalls.push(Stall::new(0.05, 1e3 / 3.0, "probe"));
            at_s += outcome.elapsed_s;
            recorder.write(record).unwrap();
        }
        let load_pps = answer.lower_pps.unwrap() / 2.0;
        let outcome = device.measure(lab_record::Trial::new(load_pps, 1.0));
        let mut record = TrialRecord::new(subject.clone(), 0, "latency", at_s, outcome);
        record.latency = Some(device.latencies(load_pps, 5_000));
        recorder.write(record).unwrap();
        let (low_pps, high_pps) = (answer.lower_pps.unwrap(), answer.upper_pps.unwrap());
        let metric = "NDR".to_owned();
        let bounds = AnswerRecord { low_pps, high_pps, ..AnswerRecord::default() };
        recorder.write(AnswerRecord { subject, metric, ..bounds }).unwrap();
    }
    let files = ["report.html", "results.csv", "metrics.txt", "absences.csv", "index.sqlite"];
    let read = || files.map(|name| std::fs::read(folder.join(name)).unwrap());
    html::write(&folder).unwrap();
    let first = read();
    html::write(&folder).unwrap();
    assert_eq!(first, read());
    let results = Results::load(&folder).unwrap();
    assert!(results.skipped.is_empty() && results.answers.len() == 3);
    assert!(first[0].windows(4).filter(|part| part == b"<svg").count() >= 5);
    std::fs::remove_dir_all(&folder).unwrap();
}
