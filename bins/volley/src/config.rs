//! `volley config`: check, apply, undo and save configurations.

use std::fs;
use std::path::Path;

use control::config::schema::schema;
use control::config::{Host, Source, parse_and_warn};
use control::view::{
    self, ConfigApply, ConfigConfirm, ConfigDiff, ConfigRollback, ConfigSave, Fields, Nothing,
    Style,
};
use serde_json::json;

use crate::applied::{applied, steps};
use crate::cli::ConfigVerb;
use crate::error::CliError;
use crate::output::Output;
use crate::session::Session;
use crate::time::seconds;

/// Runs one verb.
pub(crate) fn run(session: &Session, verb: ConfigVerb) -> Result<(), CliError> {
    let output = session.output;
    match verb {
        ConfigVerb::Check { file, any_host } => check(&file, any_host, output),
        ConfigVerb::Diff { file } => {
            let text = Fields(text(&file)?);
            session.make::<ConfigDiff>(text, |diff, style| steps(&diff.changes, style))
        }
        ConfigVerb::Apply { file, confirm_within } => {
            let confirm_within_s = confirm_within.map(seconds);
            let text = view::ConfigText { confirm_within_s, ..text(&file)? };
            session.make::<ConfigApply>(Fields(text), applied)
        }
        ConfigVerb::Confirm => session.make::<ConfigConfirm>(Nothing, |applied, _| {
            format!("revision {} is confirmed\n", applied.revision)
        }),
        ConfigVerb::Rollback { revision } => {
            session.make::<ConfigRollback>(Fields(view::RollbackTo { revision }), applied)
        }
        ConfigVerb::Schema => output.json(&schema()),
        ConfigVerb::Save => session.make::<ConfigSave>(Nothing, saved),
    }
}

pub(crate) fn read(file: &Path) -> Result<String, CliError> {
    fs::read_to_string(file).map_err(|error| CliError::File { path: file.to_owned(), error })
}

fn text(file: &Path) -> Result<view::ConfigText, CliError> {
    let name = Some(file.display().to_string());
    Ok(view::ConfigText { toml: read(file)?, file: name, confirm_within_s: None })
}

fn check(file: &Path, any_host: bool, output: Output) -> Result<(), CliError> {
    let source = Source::new(file.display().to_string(), read(file)?);
    let host = if any_host { Host::any() } else { Host::this() };
    match parse_and_warn(&source, &host) {
        Ok((config, warnings)) => {
            let (ports, routes) = (config.ports.len(), config.routes.len());
            let checked = view::Checked { ports, routes, warnings: warnings.findings() };
            output.answer(json!(checked), |_: view::Checked, _| {
                format!("{} is right: {ports} ports, {routes} routes\n{warnings}", source.name)
            })
        }
        Err(problems) => {
            if output.json {
                output.json(&json!({ "findings": problems.findings() }))?;
            }
            Err(problems.into())
        }
    }
}

fn saved(saved: view::Saved, _: Style) -> String {
    match saved.backup {
        Some(backup) => {
            format!(
                "revision {} is in {}, the text before in {backup}\n",
                saved.revision, saved.file
            )
        }
        None => format!("revision {} is in {}\n", saved.revision, saved.file),
    }
}
