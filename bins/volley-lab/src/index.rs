//! `volley-lab index FILE DIR…`: the results of many folders as one SQLite file.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use lab_record::Results;
use lab_report::{index, method, shards};

use crate::Failure;
use crate::say::say;

/// Tables trial, answer, summary, comparison, failure, campaign, device, folder and more.
#[derive(Debug, Args)]
pub(crate) struct Index {
    /// The SQLite file to make
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Results folders
    #[arg(required = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    folders: Vec<PathBuf>,
    /// Parts of a campaign (--shard) that unlike hosts measured are taken as well
    #[arg(long)]
    any_host: bool,
}

/// Writes it and says what is in it.
pub(crate) fn run(Index { file, folders, any_host }: &Index) -> Result<(), Failure> {
    let mut all = Vec::with_capacity(folders.len());
    for folder in folders {
        let results = Results::load(folder)?;
        results
            .skipped
            .iter()
            .for_each(|line| eprintln!("volley-lab: {}: left out: {line}", folder.display()));
        all.push((folder.as_path(), results));
    }
    let borrowed: Vec<_> = all.iter().map(|(folder, results)| (*folder, results)).collect();
    for missing in shards::check(&borrowed, *any_host)? {
        say!("missing: {missing}");
    }
    index::write(file, &borrowed)?;
    for ((_, first), (folder, other)) in borrowed.first().into_iter().cycle().zip(&borrowed) {
        if let Some(why) = method::disagreement(first, other) {
            say!("{} is not comparable to the first folder: {why}", folder.display());
        }
    }
    let trials: usize = all.iter().map(|(_, results)| results.trials.len()).sum();
    say!("{}: {trials} trials of {} folders", file.display(), all.len());
    Ok(())
}
