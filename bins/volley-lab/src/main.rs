//! The measuring lab's command line.
//!
//! ```text
//! words ─▶ cli ─┬─▶ run, compare, bisect ─▶ bench: a namespace, a core, DPDK, a results folder
//!               ├─▶ study: a run each
//!               ├─▶ traffic, respond, ask, self-test
//!               ├─▶ simulate, fit
//!               └─▶ report, index, trend, history, scenario, peers
//! ```

mod bench;
mod bisect;
mod budget;
mod cli;
mod compare;
#[cfg(test)]
#[path = "../../volley/src/documented/pages.rs"]
mod documented;
mod fit;
mod gate;
mod history;
mod index;
mod interrupt;
mod numbers;
mod peers;
mod plan;
mod progress;
mod report;
mod round_trip;
mod run;
mod say;
mod scenario;
mod self_test;
mod shorter;
mod simulate;
mod standing;
mod study;
mod traffic;
mod trend;

use std::process::ExitCode;

use clap::Parser;

/// What ends a command early.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// Somebody stopped it; what was measured is kept.
    #[error("stopped; what was measured is kept")]
    Stopped,
    /// What was measured is not as it should be.
    #[error("not passed: {0}")]
    NotPassed(String),
    /// What should have been measured was not.
    #[error("not all was measured: {0}")]
    Missing(String),
    /// The lab refused.
    #[error(transparent)]
    Lab(#[from] lab_record::Error),
}

/// Of a command line that makes no sense.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to standard output with success, the rest to standard error.
            say::printed(error.print());
            return if error.use_stderr() { USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    match cli.execute() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => fail(&failure),
    }
}

/// The code of a failure, as `--help` lists them.
fn fail(failure: &Failure) -> ExitCode {
    eprintln!("volley-lab: {failure}");
    ExitCode::from(match failure {
        Failure::Usage(_) => USAGE,
        Failure::NotPassed(_) => 3,
        Failure::Missing(_) => 4,
        Failure::Stopped => 130,
        Failure::Lab(_) => 1,
    })
}
