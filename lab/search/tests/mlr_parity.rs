//! MLRsearch, trial for trial beside the published reference implementation.
//!
//! The reference is the PyPI package `MLRsearch`, run by `mlr_reference.py` on the same simulated
//! devices. It is looked for in a virtual environment below the target folder, made on first use
//! when the package index can be reached. Without it the test says loudly that it was skipped;
//! where the variable CI is set it fails instead.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // all of it is test code

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lab_record::{Error, Outcome, Trial};
use lab_search::search::mlr::{Config, Goal, GoalAnswer, MlrSearch};
use lab_search::search::{Budget, run};
use serde::{Deserialize, Serialize};

/// Devices to compare on.
const CASES: u64 = 1_200;
/// The version that is compared with.
const REFERENCE: &str = "MLRsearch==1.2.1";

#[derive(Serialize)]
struct Case {
    seed: u64,
    min_pps: f64,
    max_pps: f64,
    warmup_s: f64,
    capacity_pps: f64,
    ceiling_pps: f64,
    noise: f64,
    stalls_per_s: f64,
    stall_share: f64,
    base_loss: f64,
    overhead_s: f64,
    goals: Vec<CaseGoal>,
}

#[derive(Serialize)]
struct CaseGoal {
    loss_ratio: f64,
    exceed_ratio: f64,
    relative_width: f64,
    initial_trial_s: f64,
    final_trial_s: f64,
    duration_sum_s: f64,
    preceding_targets: u32,
    expansion: i64,
    fail_fast: bool,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Found {
    trials: Vec<(f64, f64)>,
    answers: Vec<(Option<f64>, Option<f64>, Option<f64>)>,
    failure: Option<String>,
}

/// The index-th number of a SplitMix64 sequence, in [0, 1).
fn uniform(seed: u64, index: u64) -> f64 {
    let mut word = seed.wrapping_add((index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((word ^ (word >> 31)) >> 11) as f64 * 2f64.powi(-53)
}

/// A case drawn from a seed: usual goals and odd ones, devices from quiet to hopeless.
fn case(seed: u64) -> Case {
    let mut drawn = 0;
    let mut draw = || {
        drawn += 1;
        uniform(seed ^ 0x5EED, drawn)
    };
    let min_pps = 10f64.powf(3.0 + 2.0 * draw()).floor();
    let max_pps = (min_pps * 10f64.powf(0.3 + 3.0 * draw())).floor();
    let pick = |values: &[f64], at: f64| values[(at * values.len() as f64) as usize];
    let goals = 1 + (draw() * 3.0) as usize;
    let goals = (0..goals)
        .map(|index| {
            let final_trial_s = pick(&[0.1, 1.0, 1.0, 5.0, 60.0], draw());
            let initial_trial_s = pick(&[0.1, 0.5, 1.0], draw()).min(final_trial_s);
            CaseGoal {
                loss_ratio: pick(&[0.0, 0.0, 0.001, 0.005, 0.05], draw()) + index as f64 * 1e-4,
                exceed_ratio: pick(&[0.0, 0.25, 0.5, 0.5, 0.75], draw()),
                relative_width: pick(&[0.002, 0.005, 0.005, 0.01, 0.07, 0.3], draw()),
                initial_trial_s,
                final_trial_s,
                duration_sum_s: final_trial_s * pick(&[1.0, 5.0, 21.0], draw()),
                preceding_targets: 1 + (draw() * 4.0) as u32,
                expansion: 2 + (draw() * 3.0) as i64,
                fail_fast: draw() < 0.5,
            }
        })
        .collect();
    let capacity_pps = min_pps * (max_pps / min_pps).powf(1.3 * draw() - 0.1);
    Case {
        seed,
        min_pps,
        max_pps,
        warmup_s: pick(&[0.0, 1.0], draw()),
        capacity_pps,
        ceiling_pps: max_pps * pick(&[0.5, 0.9, 2.0, 2.0, 2.0], draw()),
        noise: pick(&[0.0, 0.001, 0.01, 0.1], draw()),
        stalls_per_s: pick(&[0.0, 0.0, 0.1, 0.5], draw()),
        stall_share: pick(&[0.001, 0.02, 0.3], draw()),
        base_loss: pick(&[0.0, 0.0, 0.0, 1e-4, 2e-3], draw()),
        overhead_s: pick(&[0.0, 0.25], draw()),
        goals,
    }
}

/// What the device of a case makes of its `index`-th trial; `mlr_reference.py` has the same.
fn measure(case: &Case, index: u64, trial: Trial) -> Outcome {
    let noise = uniform(case.seed, 2 * index);
    let luck = uniform(case.seed, 2 * index + 1);
    let intended = (trial.load_pps * trial.duration_s + 0.5).floor();
    let offered = intended.min((case.ceiling_pps * trial.duration_s).floor());
    let capacity_pps = case.capacity_pps * (1.0 + case.noise * (2.0 * noise - 1.0));
    let mut received = offered.min((capacity_pps * trial.duration_s).floor());
    if luck < case.stalls_per_s * trial.duration_s {
        received -= (offered * case.stall_share).floor();
    }
    received = (received - (offered * case.base_loss).floor()).max(0.0);
    Outcome {
        trial,
        intended: intended as u64,
        offered: offered as u64,
        received: received as u64,
        missed: 0,
        away_s: 0.0,
        elapsed_s: trial.duration_s + case.overhead_s,
        latency: None,
        last_lost_s: None,
        outage_s: None,
        changed: None,
    }
}

fn ours(case: &Case) -> Found {
    let goals = case.goals.iter().map(|goal| Goal {
        loss_ratio: goal.loss_ratio,
        exceed_ratio: goal.exceed_ratio,
        relative_width: goal.relative_width,
        initial_trial_s: goal.initial_trial_s,
        final_trial_s: goal.final_trial_s,
        duration_sum_s: goal.duration_sum_s,
        preceding_targets: goal.preceding_targets,
        expansion: goal.expansion,
        fail_fast: goal.fail_fast,
    });
    let config = Config {
        min_pps: case.min_pps,
        max_pps: case.max_pps,
        warmup_s: case.warmup_s,
        goals: goals.collect(),
    };
    let mut trials: Vec<(f64, f64)> = Vec::new();
    let mut search = MlrSearch::new(&config).expect("the case is valid");
    let found = run(&mut search, Budget::default(), |trial| {
        let outcome = measure(case, trials.len() as u64, trial);
        trials.push((trial.load_pps, trial.duration_s));
        Ok(outcome)
    });
    let bounds = |answer: GoalAnswer| (answer.lower_pps, answer.upper_pps, answer.conditional_pps);
    match found {
        Ok((answers, _)) => {
            Found { trials, answers: answers.into_iter().map(bounds).collect(), failure: None }
        }
        Err(Error::NoLowerBound { .. }) => {
            Found { trials, answers: Vec::new(), failure: Some("No lower bound".into()) }
        }
        Err(error) => panic!("seed {}: {error}", case.seed),
    }
}

fn has_reference(python: &Path) -> bool {
    let probe = Command::new(python).args(["-c", "import MLRsearch"]).output();
    probe.is_ok_and(|probe| probe.status.success())
}

/// A Python that can import the reference, made in `folder` if need be.
fn reference_python(folder: &Path) -> Result<PathBuf, String> {
    let python = folder.join("bin/python3");
    if has_reference(&python) {
        return Ok(python);
    }
    let pip = folder.join("bin/pip");
    let steps: [(&Path, Vec<&str>); 2] = [
        (Path::new("python3"), vec!["-m", "venv", folder.to_str().unwrap_or(".")]),
        (&pip, vec!["install", "--quiet", "--disable-pip-version-check", REFERENCE]),
    ];
    for (program, arguments) in steps {
        let done = Command::new(program).args(&arguments).output();
        let done = done.map_err(|error| format!("{}: {error}", program.display()))?;
        if !done.status.success() {
            return Err(String::from_utf8_lossy(&done.stderr).into_owned());
        }
    }
    if has_reference(&python) { Ok(python) } else { Err("installed, but not importable".into()) }
}

/// Runs the reference on `cases`, a process for each half: there are two cores.
fn theirs(python: &Path, cases: &[Case]) -> Vec<Found> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mlr_reference.py");
    let halves = cases.chunks(cases.len().div_ceil(2)).map(|half| {
        let mut child = Command::new(python)
            .arg(&script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python starts");
        let lines: String =
            half.iter().map(|case| serde_json::to_string(case).unwrap() + "\n").collect();
        let mut input = child.stdin.take().expect("piped");
        let feed = std::thread::spawn(move || input.write_all(lines.as_bytes()));
        let read = std::thread::spawn(move || child.wait_with_output());
        (feed, read)
    });
    let mut found = Vec::new();
    for (feed, read) in halves.collect::<Vec<_>>() {
        feed.join().expect("no panic").expect("the script reads all of its input");
        let output = read.join().expect("no panic").expect("the script ends");
        assert!(output.status.success(), "the reference failed: {:?}", output.status);
        let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
        found.extend(text.lines().map(|line| serde_json::from_str::<Found>(line).unwrap()));
    }
    found
}

#[test]
fn results_and_trials_agree_with_the_reference_on_every_simulated_device() {
    let python = match reference_python(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("mlrsearch")) {
        Ok(python) => python,
        Err(reason) => {
            let reason = format!("no {REFERENCE} to compare MLRsearch with: {reason}");
            assert!(std::env::var_os("CI").is_none(), "{reason}");
            eprintln!("\n*** SKIPPED *** {reason}\n");
            return;
        }
    };
    let cases: Vec<Case> = (1..=CASES).map(case).collect();
    let references = theirs(&python, &cases);
    assert_eq!(references.len(), cases.len());
    let (mut trials, mut failures, mut raised) = (0, 0, 0);
    for (case, theirs) in cases.iter().zip(references) {
        let mut ours = ours(case);
        for (ours, theirs) in ours.answers.iter_mut().zip(&theirs.answers) {
            // The reference raises where durations like 0.1 s do not add up to their whole by a
            // rounding error; the bounds are compared all the same.
            if theirs.0.is_some() && theirs.2.is_none() {
                raised += usize::from(ours.2.take().is_some());
            }
        }
        trials += ours.trials.len();
        failures += usize::from(ours.failure.is_some());
        assert_eq!(ours, theirs, "seed {}", case.seed);
    }
    println!("{CASES} devices, {trials} trials, {failures} without a lower bound: all equal");
    assert!(raised < cases.len() / 20, "{raised} throughputs could not be compared");
    assert!(trials > 20 * cases.len() && failures < cases.len() / 2, "too easy a set of devices");
}
