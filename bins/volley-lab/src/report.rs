//! `volley-lab report DIR`: the report of a results folder, rendered again.

use std::path::Path;

use lab_report::html;

use crate::Failure;
use crate::arguments::Arguments;
use crate::say::say;

/// Renders it and says what is in it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.only(&["yang"])?;
    let [folder] = &arguments.words[..] else {
        return Err(Failure::Usage("report needs one folder".into()));
    };
    let folder = Path::new(folder);
    let results = html::write(folder)?;
    results.skipped.iter().for_each(|line| eprintln!("volley-lab: left out: {line}"));
    if let Some(file) = arguments.text("yang") {
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
    Ok(())
}
