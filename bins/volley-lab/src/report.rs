//! `volley-lab report DIR`: the report of a results folder, rendered again.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use lab_report::{html, shards};

use crate::Failure;
use crate::gate::{self, Junit};
use crate::say::say;

/// Renders report.html, results.csv, metrics.txt and index.sqlite from DIR/raw.jsonl again.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// The results folder; of a campaign in parts (--shard) all of their folders
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    dirs: Vec<PathBuf>,
    /// The folder that parts are put together in
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    /// Parts of unlike hosts are put together as well
    #[arg(long, requires = "out")]
    any_host: bool,
    /// Write the results in the words of the YANG module volley-lab, too
    #[arg(long, value_name = "JSON", value_hint = ValueHint::FilePath)]
    yang: Option<PathBuf>,
    /// Judge what is there, as `run` and `compare` do: what is slower by more than this fails
    #[arg(long, value_name = "PERCENT", value_parser = gate::percent)]
    fail_below: Option<f64>,
    #[command(flatten)]
    junit: Junit,
}

/// Renders it and says what is in it.
pub(crate) fn run(arguments: &Report) -> Result<(), Failure> {
    let Report { dirs, out, any_host, yang, fail_below, junit } = arguments;
    let folder = match (&dirs[..], out) {
        ([folder], None) => folder,
        (_, None) => {
            let told =
                "several folders are parts of a campaign: --out says where they are put together";
            return Err(Failure::Usage(told.to_owned()));
        }
        (_, Some(out)) => {
            let parts: Vec<&Path> = dirs.iter().map(PathBuf::as_path).collect();
            for missing in shards::join(&parts, out, *any_host)? {
                say!("missing: {missing}");
            }
            out
        }
    };
    let results = html::write(folder)?;
    results.skipped.iter().for_each(|line| eprintln!("volley-lab: left out: {line}"));
    if let Some(file) = yang {
        let text = format!("{:#}\n", lab_report::yang::results(&results));
        std::fs::write(file, text).map_err(lab_record::Error::file(file))?;
    }
    say!(
        "{}: {} trials, {} answers, {} comparisons",
        folder.join("report.html").display(),
        results.trials.len() + results.streams.len(),
        results.answers.len(),
        results.comparisons.len()
    );
    if fail_below.is_none() && junit.junit.is_none() {
        return Ok(());
    }
    let suite = results.campaigns.first().map_or("", |campaign| campaign.scenario.as_str());
    junit.close(suite, &lab_report::gate::of(&results, fail_below.unwrap_or(0.0)))
}
