//! SIGHUP: the configuration's file is read again and applied, all of it or nothing.

use crate::supervisor;
use control::changing::{NotChanged, change};
use control::config::{Config, Finding, Host, Problems, Source, parse};
use control::control_loop::{Control, Handle, Undone};
use std::fmt;
use std::path::{Path, PathBuf};
use tokio::signal::unix::Signal;

/// Reloads at each signal.
pub(crate) async fn reload_at(mut hangup: Signal, handle: Handle, file: PathBuf) {
    let handle = handle.named("SIGHUP");
    while hangup.recv().await.is_some() {
        supervisor::reloading();
        match reload(&handle, &file).await {
            Ok(changes) => tracing::info!(changes, "reloaded the configuration"),
            Err(NotChanged::Undone(Undone::Stopped)) => return,
            Err(error) => tracing::error!(
                fault = "reload",
                "the configuration was not reloaded, what ran runs on: {error}"
            ),
        }
        supervisor::ready();
    }
}

/// Why a file cannot be applied.
#[derive(Debug)]
enum Wrong {
    Unread(String, std::io::Error),
    Problems(Problems),
}

impl std::error::Error for Wrong {}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unread(path, error) => write!(f, "cannot read {path}: {error}"),
            Self::Problems(problems) => {
                let told: Vec<String> = problems.findings().iter().map(in_one_line).collect();
                f.write_str(&told.join("; "))
            }
        }
    }
}

/// Says how many changes it took.
async fn reload(handle: &Handle, file: &Path) -> Result<usize, NotChanged<Wrong>> {
    let path = file.display().to_string();
    let (comment, file) = (format!("reload {path}"), file.to_owned());
    let read = move |_: &Config, host: &Host| {
        let unread = |error| Wrong::Unread(path.clone(), error);
        let text = std::fs::read_to_string(&file).map_err(unread)?;
        parse(&Source::new(path.clone(), text), host).map_err(Wrong::Problems)
    };
    let applied = change(handle, Box::new(read), None, comment).await?;
    let revision = applied.revision;
    let from_file = move |control: &mut Control, _| {
        if control.transaction.revision() == revision {
            control.transaction.read_from_file();
        }
    };
    handle.call(from_file).await?;
    Ok(applied.changes.len())
}

fn in_one_line(finding: &Finding) -> String {
    let line = finding.line.map_or(String::new(), |line| format!("line {line}: "));
    format!("{line}{}: {}", finding.field, finding.message)
}
