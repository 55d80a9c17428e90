//! `/v1/config/…`: the one configuration.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tokio::sync::Mutex;

use super::entity_tag::entity_tag;
use super::problem::{Refusal, refuse};
use super::show::aside;
use super::verb::Serve;
use crate::changing;
use crate::config::{self, Config, Host, Source};
use crate::control_loop::{Control, Handle};
use crate::pace;
use crate::save;
use crate::transaction::Plan;
use crate::view::{
    self, All, Answer, Answered, Applied, ConfigApply, ConfigCheck, ConfigConfirm, ConfigDiff,
    ConfigEdit, ConfigRollback, ConfigSave, ConfigSchema, ConfigStatus, ConfigText, EditText,
    Fields, HistoryEntry, Nothing, RollbackTo, Shown,
};

impl Answer<ConfigStatus> for Control {
    fn answer(&mut self, _: &All) -> Answered<ConfigStatus> {
        let (now, transaction) = (self.now(), &self.transaction);
        let (config, saved) = (transaction.config().clone(), transaction.last_saved().clone());
        let (revision, pending) = (transaction.revision(), transaction.pending(now));
        let rollback_fault = transaction.rollback_fault().map(str::to_owned);
        let file = self.file.as_ref().map(|file| file.display().to_string());
        Ok(Shown::Later(Box::new(move || {
            let toml = config::render(&config);
            let value = toml::from_str(&toml).unwrap_or_default();
            let unsaved = !Arc::ptr_eq(&saved, &config) && saved != config;
            ConfigStatus { revision, toml, value, file, unsaved, pending, rollback_fault }
        })))
    }
}

impl Answer<view::Turn> for Control {
    fn answer(&mut self, _: &All) -> Answered<view::Turn> {
        let us = |time: Duration| time.as_nanos() as f64 / 1e3;
        let turn = |(call, spent): (&str, pace::Spent)| view::Turn {
            call: call.to_owned(),
            turns: spent.turns,
            long: spent.long,
            cpu_us: us(spent.cpu),
            longest_cpu_us: us(spent.longest_cpu),
            longest_us: us(spent.longest),
        };
        Ok(Shown::Whole(pace::spent().into_iter().map(turn).collect()))
    }
}

impl Answer<HistoryEntry> for Control {
    fn answer(&mut self, _: &All) -> Answered<HistoryEntry> {
        Ok(Shown::Whole(self.transaction.history()))
    }
}

impl Serve for ConfigSchema {
    async fn serve(_: Handle, _: Nothing) -> Result<Response, Refusal> {
        Ok(Json(config::schema::schema()).into_response())
    }
}

impl Serve for ConfigConfirm {
    async fn serve(handle: Handle, _: Nothing) -> Result<Response, Refusal> {
        let confirm = |control: &mut Control, now| control.transaction.confirm(now);
        Ok(tagged(handle.call(confirm).await??))
    }
}

impl Serve for ConfigCheck {
    async fn serve(handle: Handle, Fields(text): Fields<ConfigText>) -> Result<Response, Refusal> {
        let host = handle.call(|control, _| control.host.clone()).await?;
        let checked = aside(move || {
            let (config, warnings) = config::parse_and_warn(&source(text), &host)?;
            let (ports, routes) = (config.ports.len(), config.routes.len());
            Ok(view::Checked { ports, routes, warnings: warnings.findings() })
        });
        checked.await?.map(|checked| Json(checked).into_response())
    }
}

impl Serve for ConfigDiff {
    async fn serve(handle: Handle, Fields(text): Fields<ConfigText>) -> Result<Response, Refusal> {
        let runs =
            handle.call(|control, _| (control.transaction.config().clone(), control.host.clone()));
        let (runs, host) = runs.await?;
        let diff = aside(move || {
            let wanted = Arc::new(config::parse(&source(text), &host)?);
            Ok(view::Diff { changes: Plan::new(runs, wanted, None).lines() })
        });
        diff.await?.map(|diff| Json(diff).into_response())
    }
}

impl Serve for ConfigApply {
    async fn serve(handle: Handle, Fields(text): Fields<ConfigText>) -> Result<Response, Refusal> {
        let within = within(text.confirm_within_s);
        let source = source(text);
        let comment = format!("apply {}", source.name);
        let make = move |_: &Config, host: &Host| config::parse(&source, host);
        let applied = changing::change(&handle, Box::new(make), within, comment).await?;
        Ok(tagged(applied))
    }
}

impl Serve for ConfigEdit {
    async fn serve(handle: Handle, Fields(text): Fields<EditText>) -> Result<Response, Refusal> {
        let EditText { commands, file, confirm_within_s } = text;
        let first = commands.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
        let comment = match commands.lines().count() {
            0 | 1 => first.chars().take(80).collect(),
            lines => format!("{} ({lines} lines)", file.as_deref().unwrap_or("commands")),
        };
        let source = Source::new(file.unwrap_or_else(|| "command".to_owned()), commands);
        let make = move |runs: &Config, host: &Host| config::edit(runs, &source, host);
        let within = within(confirm_within_s);
        let applied = changing::change(&handle, Box::new(make), within, comment).await?;
        Ok(tagged(applied))
    }
}

impl Serve for ConfigRollback {
    async fn serve(handle: Handle, Fields(to): Fields<RollbackTo>) -> Result<Response, Refusal> {
        let applied = changing::rollback(&handle, to.revision).await?;
        Ok(tagged(applied))
    }
}

impl Serve for ConfigSave {
    async fn serve(handle: Handle, _: Nothing) -> Result<Response, Refusal> {
        // Two at once would write the same file.
        static SAVING: Mutex<()> = Mutex::const_new(());
        let _saving = SAVING.lock().await;
        let what = handle.call(|control, now| {
            let transaction = &control.transaction;
            transaction.must_be_confirmed(now)?;
            let file = control.file.clone().ok_or_else(|| {
                refuse(StatusCode::CONFLICT, "the router was started without a file")
            })?;
            Ok::<_, Refusal>((transaction.config().clone(), transaction.revision(), file))
        });
        let (config, revision, file) = what.await??;
        let (saving, to) = (config.clone(), file.clone());
        let backup = aside(move || save::save(&saving, &to)).await?.map_err(|error| {
            refuse(StatusCode::CONFLICT, format!("cannot write {}: {error}", file.display()))
        })?;
        let saved = move |control: &mut Control, _| control.transaction.saved(revision, config);
        handle.call(saved).await?;
        let backup = backup.map(|path| path.display().to_string());
        let saved = view::Saved { file: file.display().to_string(), backup, revision };
        Ok(Json(saved).into_response())
    }
}

/// What was made, with the entity tag of the configuration that runs now.
fn tagged(applied: Applied) -> Response {
    (entity_tag(applied.revision), Json(applied)).into_response()
}

/// The configuration that a request brings.
fn source(text: ConfigText) -> Source {
    Source::new(text.file.unwrap_or_else(|| "configuration".to_owned()), text.toml)
}

fn within(seconds: Option<u32>) -> Option<Duration> {
    seconds.map(|seconds| Duration::from_secs(seconds.into()))
}
