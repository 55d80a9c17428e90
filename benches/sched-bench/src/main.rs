//! `sched-bench`: cycles per packet of enqueue and dequeue, each scheduler, against flows and
//! classes.
//!
//! ```text
//!   round 1: fifo, sfq, codel, …   round 2: fifo, sfq, codel, …   …      interleaved: a slow spell of the machine
//!                                                                        falls on all alike
//!
//!   a round's figure is its median slice of a thousand packets: slices in which the machine did other work do not count
//!   a case's figure is the median of its rounds, its spread the range of their middle half over it
//! ```
//!
//! Progress goes to stderr, rows to `target/bench-sched.json` (or the path given). `--quick` is a
//! smoke run, `--only htb` measures that scheduler alone, `--flows 1000` those rows alone: for a
//! profiler.

mod cases;
mod contestant;
mod kernel;
mod load;
mod nothing;
mod reference;

use serde::Serialize;
use std::process::ExitCode;

use cases::{Case, all};
use contestant::Contestants;

#[derive(Serialize)]
struct Row {
    scheduler: &'static str,
    flows: u32,
    classes: u32,
    cycles_per_packet: f64,
    spread: f64,
    runs: usize,
    /// The figure aimed at, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    aim: Option<f64>,
}

const USE: &str = "sched-bench [--quick] [--only SCHEDULER] [--flows COUNT] [FILE.json]";

struct Options {
    quick: bool,
    only: Option<String>,
    flows: Option<u32>,
    path: String,
}

fn options() -> Result<Options, String> {
    let path = "target/bench-sched.json".to_string();
    let mut options = Options { quick: false, only: None, flows: None, path };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => options.quick = true,
            "--only" => options.only = Some(arguments.next().ok_or(USE)?),
            "--flows" => {
                let count = arguments.next().and_then(|count| count.parse().ok());
                options.flows = Some(count.ok_or(USE)?);
            }
            flag if flag.starts_with('-') => {
                return Err(format!("`{flag}` is unknown. Use: {USE}"));
            }
            file => options.path = file.to_string(),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match &arguments[..] {
        [flag, device, classes, packets] if flag == "--send" => send(device, classes, packets),
        _ => options().and_then(|options| write(&options.path, &measure(&options)?)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("sched-bench: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// What this program does within a namespace of the kernel's devices: sends, and prints the
/// nanoseconds that it took.
fn send(device: &str, classes: &str, packets: &str) -> Result<(), String> {
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no number"));
    println!("{}", reference::send(device, number(classes)?, number(packets)?)?);
    Ok(())
}

fn measure(options: &Options) -> Result<Vec<Row>, String> {
    let (runs, slices) = if options.quick { (3, 20) } else { (11, 400) };
    let cycles_per_ns = clock_ghz()?;
    let wanted = |case: &Case| {
        options.only.as_deref().is_none_or(|only| only == case.scheduler)
            && options.flows.is_none_or(|flows| flows == case.flows)
    };
    let mut contestants = Contestants::default();
    let mut loads = Vec::new();
    for case in all().into_iter().filter(wanted) {
        match contestants.enter(&case) {
            Ok(one) => loads.push((case, one, Vec::with_capacity(runs))),
            // The kernel's need root.
            Err(reason) => eprintln!("{} is not measured: {reason}", case.scheduler),
        }
    }
    for run in 0..=runs {
        eprintln!(
            "round {run} of {runs}{}",
            if run == 0 { " (warming up, not counted)" } else { "" }
        );
        for (_, one, figures) in &mut loads {
            let cycles = one.run(slices, cycles_per_ns)?;
            if run > 0 {
                figures.push(cycles);
            }
        }
    }
    Ok(loads.into_iter().map(|(case, _, figures)| row(&case, figures)).collect())
}

fn row(case: &Case, mut figures: Vec<f64>) -> Row {
    figures.sort_by(f64::total_cmp);
    let runs = figures.len();
    let median = figures[runs / 2];
    let spread = (figures[runs * 3 / 4] - figures[runs / 4]) / median;
    let round = |value: f64, digits: f64| (value * digits).round() / digits;
    Row {
        scheduler: case.scheduler,
        flows: case.flows,
        classes: case.classes,
        cycles_per_packet: round(median, 10.0),
        spread: round(spread, 1000.0),
        runs,
        aim: case.aim,
    }
}

fn write(path: &str, rows: &[Row]) -> Result<(), String> {
    for row in rows {
        eprintln!(
            "{:>11}  flows {:>6}  classes {:>6}  {:>7.1} cycles a packet  spread {:>5.1} %{}",
            row.scheduler,
            row.flows,
            row.classes,
            row.cycles_per_packet,
            100.0 * row.spread,
            row.aim.map_or(String::new(), |aim| format!("  (aim {aim})")),
        );
    }
    let text = serde_json::to_string_pretty(rows).map_err(|error| error.to_string())?;
    std::fs::write(path, text + "\n").map_err(|error| format!("{path}: {error}"))
}

/// The rate of the time-stamp counter, which is what a cycle means here: the kernel tells it as the
/// processor's speed.
fn clock_ghz() -> Result<f64, String> {
    let path = "/proc/cpuinfo";
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let line = text.lines().find(|line| line.starts_with("cpu MHz"));
    let mhz =
        line.and_then(|line| line.split(':').nth(1)).and_then(|mhz| mhz.trim().parse::<f64>().ok());
    mhz.map(|mhz| mhz / 1000.0).ok_or_else(|| format!("{path} tells no processor speed"))
}
