//! SIGHUP: the configuration's file is read again and applied, all of it or nothing.

use crate::supervisor;
use control::config::{Finding, Source, parse};
use control::control_loop::{Control, Handle};
use control::transaction::Moment;
use std::path::{Path, PathBuf};
use tokio::signal::unix::Signal;

/// Reloads at each signal.
pub(crate) async fn reload_at(mut hangup: Signal, handle: Handle, file: PathBuf) {
    while hangup.recv().await.is_some() {
        supervisor::reloading();
        let read = std::fs::read_to_string(&file);
        let path = file.clone();
        let reload = move |control: &mut Control, now| match read {
            Ok(text) => apply(control, &path, text, now),
            Err(error) => Err(format!("cannot read {}: {error}", path.display())),
        };
        match handle.call(reload).await {
            Ok(Ok(changes)) => tracing::info!(changes, "reloaded the configuration"),
            Ok(Err(error)) => tracing::error!(
                fault = "reload",
                "the configuration was not reloaded, what ran runs on: {error}"
            ),
            Err(_stopped) => return,
        }
        supervisor::ready();
    }
}

/// Says how many changes it took.
fn apply(control: &mut Control, path: &Path, text: String, now: Moment) -> Result<usize, String> {
    let source = Source::new(path.display().to_string(), text);
    let config = parse(&source, &control.host).map_err(|problems| {
        let told: Vec<String> = problems.findings().iter().map(in_one_line).collect();
        told.join("; ")
    })?;
    let comment = format!("reload {}", path.display());
    let engine = control.engine.as_mut();
    let applied = control.transaction.apply(engine, config, None, &comment, now);
    let applied = applied.map_err(|error| error.to_string())?;
    control.transaction.read_from_file();
    Ok(applied.changes.len())
}

fn in_one_line(finding: &Finding) -> String {
    let line = finding.line.map_or(String::new(), |line| format!("line {line}: "));
    format!("{line}{}: {}", finding.field, finding.message)
}
