//! `volley-lab scenario check|cases`: scenario files, before anything is measured.

use std::path::Path;

use lab::scenario::Scenario;

use crate::Failure;
use crate::arguments::Arguments;
use crate::say::say;

/// Checks files, or lists the cases of one.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.only(&[])?;
    match &arguments.words[..] {
        [verb, files @ ..] if verb == "check" && !files.is_empty() => check(files),
        [verb, file] if verb == "cases" => cases(file),
        _ => Err(Failure::Usage("scenario check FILE… or scenario cases FILE".into())),
    }
}

/// Tells every file; fails with the last fault, if there was any.
fn check(files: &[String]) -> Result<(), Failure> {
    let mut last = Ok(());
    for file in files {
        match Scenario::load(Path::new(file)) {
            Ok(scenario) => say!("{file}: cases {}", scenario.cases().len()),
            Err(error) => {
                if let Err(earlier) = std::mem::replace(&mut last, Err(error.into())) {
                    eprintln!("volley-lab: {earlier}");
                }
            }
        }
    }
    last
}

fn cases(file: &str) -> Result<(), Failure> {
    let scenario = Scenario::load(Path::new(file))?;
    say!("{}: {}", scenario.title, scenario.about.trim());
    for case in scenario.cases() {
        let axes: Vec<String> =
            case.axes.iter().map(|(name, value)| format!("{name}={value}")).collect();
        say!("  {:<28} {}", case.function.name(), axes.join(" "));
    }
    Ok(())
}
