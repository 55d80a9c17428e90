//! `volley-lab index FILE DIR…`: the results of many folders as one SQLite file.

use std::path::Path;

use lab_record::Results;
use lab_report::index;

use crate::Failure;
use crate::arguments::Arguments;
use crate::say::say;

/// Writes it and says what is in it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.only(&[])?;
    let [file, folders @ ..] = &arguments.words[..] else {
        return Err(Failure::Usage("index needs a file and folders of results".into()));
    };
    if folders.is_empty() {
        return Err(Failure::Usage("index needs folders of results".into()));
    }
    let mut all = Vec::with_capacity(folders.len());
    for folder in folders {
        let results = Results::load(Path::new(folder))?;
        results.skipped.iter().for_each(|line| eprintln!("volley-lab: {folder}: left out: {line}"));
        all.push((Path::new(folder), results));
    }
    let borrowed: Vec<_> = all.iter().map(|(folder, results)| (*folder, results)).collect();
    index::write(Path::new(file), &borrowed)?;
    let trials: usize = all.iter().map(|(_, results)| results.trials.len()).sum();
    say!("{file}: {trials} trials of {} folders", all.len());
    Ok(())
}
