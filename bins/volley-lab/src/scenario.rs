//! `volley-lab scenario check|cases|export|import`: scenario files, before anything is measured.

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueHint};
use lab_trial::scenario::Shard;
use lab_trial::{scenario_file, yang};

use crate::say::say;
use crate::{Failure, shorter};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Tell the first fault of each file, with its position
    Check {
        /// Scenarios
        #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    /// List what a scenario would measure
    Cases {
        /// The scenario
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Those of one of N parts alone, as in 2/3
        #[arg(long, value_name = "I/N")]
        shard: Option<Shard>,
    },
    /// Print a scenario as instance data of the IETF's network testers
    Export {
        /// The scenario
        #[arg(long = "yang", value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
    /// Print the TOML of such data; run, compare and check read it as it is
    Import {
        /// The data, as JSON
        #[arg(value_name = "JSON", value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
}

/// Checks files, or lists the cases of one, or goes to YANG and back.
pub(crate) fn run(verb: &Verb) -> Result<(), Failure> {
    match verb {
        Verb::Check { files } => check(files),
        Verb::Cases { file, shard } => cases(file, *shard),
        Verb::Export { file } => export(file),
        Verb::Import { file } => import(file),
    }
}

/// Tells every file; fails with the last fault, if there was any.
fn check(files: &[PathBuf]) -> Result<(), Failure> {
    let mut last = Ok(());
    for file in files {
        match scenario_file::load(file) {
            Ok(scenario) => say!("{}: cases {}", file.display(), scenario.cases().len()),
            Err(error) => {
                if let Err(earlier) = std::mem::replace(&mut last, Err(error.into())) {
                    eprintln!("volley-lab: {earlier}");
                }
            }
        }
    }
    last
}

fn cases(file: &Path, shard: Option<Shard>) -> Result<(), Failure> {
    let mut scenario = scenario_file::load(file)?;
    shorter::part_of(shard, &mut scenario)?;
    say!("{}: {}", scenario.title, scenario.about.trim());
    for case in scenario.cases() {
        let axes: Vec<String> =
            case.axes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        say!("  {:<28} {}", case.function.name(), axes.join(" "));
    }
    Ok(())
}

/// A scenario in the words of the IETF's network testers.
fn export(file: &Path) -> Result<(), Failure> {
    say!("{:#}", yang::export(&scenario_file::load(file)?)?);
    Ok(())
}

/// The same back, as TOML.
fn import(file: &Path) -> Result<(), Failure> {
    let text = std::fs::read_to_string(file).map_err(lab_record::Error::file(file))?;
    say!("{}", yang::to_toml(&text, &file.display().to_string())?.trim_end());
    Ok(())
}
