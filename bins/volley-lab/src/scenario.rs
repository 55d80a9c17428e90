//! `volley-lab scenario check|cases|export|import`: scenario files, before anything is measured.

use std::path::Path;

use lab_trial::scenario::Scenario;
use lab_trial::yang;

use crate::Failure;
use crate::arguments::Arguments;
use crate::say::say;

/// Checks files, or lists the cases of one.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.only(&["yang"])?;
    match (&arguments.words[..], arguments.text("yang")) {
        ([verb, files @ ..], None) if verb == "check" && !files.is_empty() => check(files),
        ([verb, file], None) if verb == "cases" => cases(file),
        ([verb], Some(file)) if verb == "export" => export(file),
        ([verb, file], None) if verb == "import" => import(file),
        _ => Err(Failure::Usage(
            "scenario check FILE…, cases FILE, export --yang FILE or import JSON".into(),
        )),
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

/// A scenario in the words of the IETF's network testers.
fn export(file: &str) -> Result<(), Failure> {
    say!("{:#}", yang::export(&Scenario::load(Path::new(file))?)?);
    Ok(())
}

/// The same back, as TOML.
fn import(file: &str) -> Result<(), Failure> {
    let text = std::fs::read_to_string(file).map_err(lab_record::Error::file(file))?;
    say!("{}", yang::to_toml(&text, file)?.trim_end());
    Ok(())
}
