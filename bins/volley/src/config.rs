//! `volley config`: check, apply, undo and save configurations.

use std::fs;
use std::path::Path;

use control::config::schema::schema;
use control::config::{Host, Source, parse_and_warn};
use control::view::{self, Style, Table};
use serde_json::json;

use crate::cli::ConfigVerb;
use crate::edits::seconds;
use crate::error::CliError;
use crate::output::Output;
use crate::run::Session;

/// Runs one verb.
pub(crate) fn run(session: &Session, verb: ConfigVerb) -> Result<(), CliError> {
    let (client, output) = (&session.client, session.output);
    match verb {
        ConfigVerb::Check { file, any_host } => check(&file, any_host, output),
        ConfigVerb::Diff { file } => {
            let answer = client.post_json("/v1/config/diff", &text(&file)?)?;
            output.answer(answer, |diff: view::Diff, style| steps(&diff.changes, style))
        }
        ConfigVerb::Apply { file, confirm_within } => {
            let body =
                view::ConfigText { confirm_within_s: confirm_within.map(seconds), ..text(&file)? };
            output.answer(client.post_json("/v1/config/apply", &body)?, applied)
        }
        ConfigVerb::Confirm => {
            let answer = client.post("/v1/config/confirm")?;
            output.answer(answer, |applied: view::Applied, _| {
                format!("revision {} is confirmed\n", applied.revision)
            })
        }
        ConfigVerb::Rollback { revision } => {
            let answer = client.post_json("/v1/config/rollback", &view::RollbackTo { revision })?;
            output.answer(answer, applied)
        }
        ConfigVerb::Show => output.answer(client.get("/v1/config")?, status),
        ConfigVerb::Schema => output.json(&schema()),
        ConfigVerb::Save => output.answer(client.post("/v1/config/save")?, saved),
        ConfigVerb::History => output.answer(client.get("/v1/config/history")?, history),
    }
}

fn read(file: &Path) -> Result<String, CliError> {
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

fn steps(changes: &[control::config::ChangeLine], style: Style) -> String {
    if changes.is_empty() {
        return "nothing changes\n".to_owned();
    }
    let line = |change: &control::config::ChangeLine| {
        let note = if change.needs_restart { "  (takes a restart)" } else { "" };
        format!("{}{note}\n", style.step(&change.text))
    };
    changes.iter().map(line).collect()
}

/// What a change came to.
pub(crate) fn applied(applied: view::Applied, style: Style) -> String {
    let mut text = steps(&applied.changes, style);
    if let Some(pending) = applied.pending {
        text.push_str(&waits(&pending));
    }
    text
}

fn waits(pending: &view::Pending) -> String {
    format!(
        "back to revision {} in {} s unless you run: volley config confirm\n",
        pending.revision, pending.seconds_left
    )
}

fn status(status: view::ConfigStatus, style: Style) -> String {
    let mut head = format!("# revision {}", status.revision);
    match (&status.file, status.unsaved) {
        (Some(file), true) => head.push_str(&format!(", not saved to {file}")),
        (Some(file), false) => head.push_str(&format!(", as in {file}")),
        (None, _) => head.push_str(", without a file"),
    }
    head.push('\n');
    if let Some(pending) = &status.pending {
        head.push_str(&format!("# {}", waits(pending)));
    }
    if let Some(fault) = &status.rollback_fault {
        head.push_str(&format!("# the rollback failed and is tried again: {fault}\n"));
    }
    format!("{}{}", style.dim(&head), status.toml)
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

fn history(entries: Vec<view::HistoryEntry>, style: Style) -> String {
    let mut table = Table::new(&["revision", "time (UTC)", "changes", "by", ""]);
    for entry in entries {
        table.row([
            entry.revision.to_string(),
            utc(entry.applied_at_s),
            entry.changes.to_string(),
            entry.comment,
            if entry.running { "running" } else { "" }.to_owned(),
        ]);
    }
    table.render(style)
}

/// A moment in UTC, to the second (civil calendar from days, after Fliegel and van Flandern).
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let l = days as i64 + 2_440_588 + 68_569;
    let n = 4 * l / 146_097;
    let l = l - (146_097 * n + 3) / 4;
    let i = 4_000 * (l + 1) / 1_461_001;
    let l = l - 1_461 * i / 4 + 31;
    let j = 80 * l / 2_447;
    let day = l - 2_447 * j / 80;
    let (year, month) = (100 * (n - 49) + i + j / 11, j + 2 - 12 * (j / 11));
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_in_utc() {
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(utc(1_709_164_799), "2024-02-28 23:59:59");
        assert_eq!(utc(4_102_444_800), "2100-01-01 00:00:00");
    }
}
