//! `volley-bench`: cycles per packet of the whole graph, node by node, on in-memory ports.
//!
//! ```text
//!  scenarios × rounds, interleaved:  A B C  A B C  A B C …   so that a noisy minute hits all alike
//!  a sample = each packet once, unmeasured; then some milliseconds of passes
//!  a row = the median of its quiet samples, with the quartiles, and that of all; of all where few are quiet
//! ```
//! Then with two workers, the source counted in: behind a row's `×2` how often that is one worker's
//! rate, and how often that of two that share nothing.
//! Counted: every node behind the source, output and freeing included.

mod churn;
mod engine;
mod flow_mods;
mod host;
mod instructions;
mod pace;
mod report;
mod rig;
mod sample;
mod scaling;
mod scenario;
mod scenarios;
mod thread_time;
mod vpp;

use clap::Parser;
use std::error::Error;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::PathBuf;

/// Measure cycles per packet, node by node, with an in-memory source and sink.
#[derive(Parser)]
struct Arguments {
    /// Only scenarios whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Samples of each scenario.
    #[arg(long, default_value_t = 150)]
    rounds: usize,
    /// Milliseconds of a sample.
    #[arg(long, default_value_t = 3)]
    sample_ms: u64,
    /// Where the rows go.
    #[arg(long, default_value = "target/bench.json")]
    out: PathBuf,
    /// A folder with internet-ipv4.txt.zst and internet-ipv6.txt.zst, for the scenarios of real
    /// tables.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Measure instead what it costs packets that 255 000 routes come and go, over so many pairs.
    #[arg(long, value_name = "PAIRS", num_args = 0..=1, default_missing_value = "1000")]
    churn: Option<usize>,
    /// Measure instead what it costs to take in flows that a controller tells, in so many rounds.
    #[arg(long, value_name = "ROUNDS", num_args = 0..=1, default_missing_value = "5",
        value_parser = clap::value_parser!(u32).range(1..))]
    flow_mods: Option<u32>,
    /// Count instructions a packet, by valgrind, and hold them against those of a file.
    #[arg(long, value_name = "FILE")]
    instructions: Option<PathBuf>,
    /// Write them there instead.
    #[arg(long, requires = "instructions")]
    write: bool,
    /// Send packets through a scenario, for `--instructions` to count.
    #[arg(long, value_name = "SCENARIO", hide = true)]
    count_instructions: Option<String>,
    /// Measure VPP as well, in turn on the same core: the folder that has `bin/vpp` and
    /// `bin/vppctl`.
    #[arg(long, value_name = "FOLDER")]
    vpp: Option<PathBuf>,
    /// Turns of VPP and us in each scenario.
    #[arg(long, default_value_t = 15, requires = "vpp")]
    turns: usize,
    /// Show each scenario's nodes, too.
    #[arg(long)]
    nodes: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if let Some(pairs) = arguments.churn {
        return churn::run(pairs, progress);
    }
    if let Some(rounds) = arguments.flow_mods {
        return flow_mods::run(rounds, progress);
    }
    if let Some(file) = &arguments.instructions {
        return instructions::run(file, arguments.write);
    }
    if let Some(name) = &arguments.count_instructions {
        let all = scenarios::all(None);
        let scenario = all.iter().find(|it| it.name == name).ok_or("no scenario of that name")?;
        return instructions::count(scenario);
    }
    if let Some(folder) = &arguments.vpp {
        // A wrong folder is told before minutes are spent.
        vpp::programs(folder)?;
    }
    let wanted = |name: &str| arguments.only.as_deref().is_none_or(|only| name.contains(only));
    let mut scenarios = scenarios::all(arguments.data.as_deref());
    scenarios.retain(|scenario| wanted(scenario.name));
    if scenarios.is_empty() {
        return Err("no scenario has that in its name".into());
    }
    let mut rigs = Vec::new();
    for scenario in &scenarios {
        progress(&format!("preparing {}", scenario.name));
        rigs.push((scenario.make)()?);
    }
    let mut samples = vec![Vec::new(); rigs.len()];
    for round in 0..=arguments.rounds {
        progress(&format!("round {round} of {}", arguments.rounds));
        for (rig, samples) in rigs.iter_mut().zip(&mut samples) {
            rig.warm_up();
            let sample = rig.sample(arguments.sample_ms);
            // The first round warms caches and branch predictors.
            if round != 0 {
                samples.push(sample);
            }
        }
    }
    progress("");
    let paces = samples.iter().flatten().map(|sample| sample.pace);
    let best = paces.min().unwrap_or(pace::Pace::Interrupted);
    let mut rows: Vec<_> = scenarios
        .iter()
        .zip(&samples)
        .map(|(scenario, samples)| report::row(scenario, samples, best))
        .collect();
    drop(rigs);
    rows.extend(scaling::rows(&scenarios, arguments.rounds, progress)?);
    if wanted("engine") {
        rows.extend(engine::rows(arguments.rounds, progress));
        progress("");
    }
    // Last, as this thread stays on one core from here on.
    if let Some(folder) = &arguments.vpp {
        for (scenario, row) in scenarios.iter().zip(&mut rows) {
            progress(&format!("{} beside VPP", scenario.name));
            match vpp::in_turn(folder, scenario, arguments.turns, best) {
                Ok(found) => row.vpp = found,
                // What was measured stays worth telling.
                Err(error) => eprintln!("{}: {error}", scenario.name),
            }
        }
        progress("");
    }
    report::write(&rows, &arguments.out)?;
    let mut out = std::io::stdout().lock();
    let told = report::print(&mut out, &rows, arguments.nodes)
        .and_then(|()| writeln!(out, "\nwritten to {}", arguments.out.display()));
    match told {
        // `| head` has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        told => Ok(told?),
    }
}

/// One line on stderr that the next one replaces; nothing where nobody watches.
fn progress(what: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{what}");
        // Progress that cannot be shown is not worth failing for.
        let _ = std::io::stderr().flush();
    }
}
