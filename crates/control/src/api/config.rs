//! `/v1/config/…`: the one configuration.

use std::time::Duration;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use super::problem::{Refusal, refuse};
use super::verb::{Serve, served};
use crate::config::{self, Config, Source};
use crate::control_loop::{Control, Handle};
use crate::save;
use crate::transaction::Moment;
use crate::view::{
    self, All, Answer, Answered, ConfigSchema, ConfigStatus, ConfigText, EditText, Fields,
    HistoryEntry, Nothing,
};

impl Answer<ConfigStatus> for Control {
    fn answer(&mut self, _: &All) -> Answered<ConfigStatus> {
        let (now, transaction) = (self.now(), &self.transaction);
        let toml = config::render(transaction.config());
        Ok(ConfigStatus {
            revision: transaction.revision(),
            value: toml::from_str(&toml).unwrap_or_default(),
            toml,
            file: self.file.as_ref().map(|file| file.display().to_string()),
            unsaved: transaction.unsaved(),
            pending: transaction.pending(now),
            rollback_fault: transaction.rollback_fault().map(str::to_owned),
        })
    }
}

impl Answer<HistoryEntry> for Control {
    fn answer(&mut self, _: &All) -> Answered<HistoryEntry> {
        Ok(self.transaction.history())
    }
}

impl Serve for ConfigSchema {
    async fn serve(_: Handle, _: Nothing) -> Result<Response, Refusal> {
        Ok(Json(config::schema::schema()).into_response())
    }
}

served! {
    ConfigCheck: |Fields(text), control, _| {
        let (config, warnings) = config::parse_and_warn(&source(text), &control.host)?;
        let (ports, routes) = (config.ports.len(), config.routes.len());
        Ok(view::Checked { ports, routes, warnings: warnings.findings() })
    },
    ConfigDiff: |Fields(text), control, _| {
        let config = config::parse(&source(text), &control.host)?;
        Ok(view::Diff { changes: control.transaction.diff(&config) })
    },
    ConfigApply: |Fields(text), control, now| {
        let within = text.confirm_within_s;
        let source = source(text);
        let config = config::parse(&source, &control.host)?;
        apply(control, config, within, &format!("apply {}", source.name), now)
    },
    ConfigEdit: |Fields(EditText { commands, file, confirm_within_s }), control, now| {
        let first = commands.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
        let comment = match commands.lines().count() {
            0 | 1 => first.chars().take(80).collect(),
            lines => format!("{} ({lines} lines)", file.as_deref().unwrap_or("commands")),
        };
        let source = Source::new(file.unwrap_or_else(|| "command".to_owned()), commands);
        let config = config::edit(control.transaction.config(), &source, &control.host)?;
        apply(control, config, confirm_within_s, &comment, now)
    },
    ConfigConfirm: |Nothing, control, now| Ok(control.transaction.confirm(now)?),
    ConfigRollback: |Fields(to), control, now| {
        Ok(control.transaction.rollback(control.engine.as_mut(), to.revision, now)?)
    },
    ConfigSave: |Nothing, control, now| {
        control.transaction.must_be_confirmed(now)?;
        let Some(file) = &control.file else {
            return Err(refuse(StatusCode::CONFLICT, "the router was started without a file"));
        };
        let backup = save::save(control.transaction.config(), file).map_err(|error| {
            refuse(StatusCode::CONFLICT, format!("cannot write {}: {error}", file.display()))
        })?;
        control.transaction.saved();
        Ok(view::Saved {
            file: file.display().to_string(),
            backup: backup.map(|path| path.display().to_string()),
            revision: control.transaction.revision(),
        })
    },
}

/// The configuration that a request brings.
fn source(text: ConfigText) -> Source {
    Source::new(text.file.unwrap_or_else(|| "configuration".to_owned()), text.toml)
}

/// Makes a configuration the running one.
fn apply(
    control: &mut Control,
    config: Config,
    confirm_within_s: Option<u32>,
    comment: &str,
    now: Moment,
) -> Result<view::Applied, Refusal> {
    let within = confirm_within_s.map(|seconds| Duration::from_secs(seconds.into()));
    let engine = control.engine.as_mut();
    Ok(control.transaction.apply(engine, config, within, comment, now)?)
}
