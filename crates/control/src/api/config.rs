//! `/v1/config/…`: the one configuration.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use super::extract::{Body, within};
use super::problem::{Answer, Refusal, Refused, refuse};
use crate::config::{self, Source};
use crate::control_loop::Handle;
use crate::save;
use crate::view;

/// Longest time a change may wait to be confirmed: a day.
const MAX_CONFIRM_S: u32 = 86_400;

fn confirm_within(seconds: Option<u32>) -> Result<Option<Duration>, Refusal> {
    let Some(seconds) = seconds else { return Ok(None) };
    within("confirm_within_s", seconds, 1..=MAX_CONFIRM_S)?;
    Ok(Some(Duration::from_secs(seconds.into())))
}

fn source(name: Option<String>, fallback: &str, text: String) -> Source {
    Source { name: name.unwrap_or_else(|| fallback.to_owned()), text }
}

/// The running configuration.
#[utoipa::path(get, path = "/v1/config", tag = "config",
    responses((status = 200, description = "What runs.", body = view::ConfigStatus), Refused))]
pub(super) async fn status(State(handle): State<Handle>) -> Answer<view::ConfigStatus> {
    let status = handle.call(|control, now| {
        let transaction = &control.transaction;
        let toml = config::render(transaction.config());
        view::ConfigStatus {
            revision: transaction.revision(),
            value: toml::from_str(&toml).unwrap_or_default(),
            toml,
            file: control.file.as_ref().map(|file| file.display().to_string()),
            unsaved: transaction.unsaved(),
            pending: transaction.pending(now),
            rollback_fault: transaction.rollback_fault().map(str::to_owned),
        }
    });
    Ok(Json(status.await?))
}

/// What stands in a configuration: JSON Schema, draft 2020-12.
#[utoipa::path(get, path = "/v1/config/schema", tag = "config", operation_id = "config_schema",
    responses((status = 200, description = "The schema.", body = serde_json::Value), Refused))]
pub(super) async fn schema() -> Json<serde_json::Value> {
    Json(config::schema::schema())
}

/// Whether a configuration is right.
#[utoipa::path(post, path = "/v1/config/check", tag = "config", request_body = view::ConfigText,
    responses((status = 200, description = "It is right.", body = view::Checked), Refused))]
pub(super) async fn check(
    State(handle): State<Handle>,
    Body(text): Body<view::ConfigText>,
) -> Answer<view::Checked> {
    confirm_within(text.confirm_within_s)?;
    let source = source(text.file, "configuration", text.toml);
    let checked = handle.call(move |control, _| {
        let (config, warnings) = config::parse_and_warn(&source, &control.host)?;
        let (ports, routes) = (config.ports.len(), config.routes.len());
        Ok::<_, Refusal>(view::Checked { ports, routes, warnings: warnings.findings() })
    });
    Ok(Json(checked.await??))
}

/// What a configuration would change.
#[utoipa::path(post, path = "/v1/config/diff", tag = "config", request_body = view::ConfigText,
    responses((status = 200, description = "The steps.", body = view::Diff), Refused))]
pub(super) async fn diff(
    State(handle): State<Handle>,
    Body(text): Body<view::ConfigText>,
) -> Answer<view::Diff> {
    confirm_within(text.confirm_within_s)?;
    let source = source(text.file, "configuration", text.toml);
    let changes = handle.call(move |control, _| {
        let config = config::parse(&source, &control.host)?;
        Ok::<_, Refusal>(control.transaction.diff(&config))
    });
    Ok(Json(view::Diff { changes: changes.await?? }))
}

/// Makes a configuration the running one: all of it or nothing.
#[utoipa::path(post, path = "/v1/config/apply", tag = "config", request_body = view::ConfigText,
    responses((status = 200, description = "It runs.", body = view::Applied), Refused))]
pub(super) async fn apply(
    State(handle): State<Handle>,
    Body(text): Body<view::ConfigText>,
) -> Answer<view::Applied> {
    let within = confirm_within(text.confirm_within_s)?;
    let source = source(text.file, "configuration", text.toml);
    let applied = handle.call(move |control, now| {
        let config = config::parse(&source, &control.host)?;
        let comment = format!("apply {}", source.name);
        let engine = control.engine.as_mut();
        Ok::<_, Refusal>(control.transaction.apply(engine, config, within, &comment, now)?)
    });
    Ok(Json(applied.await??))
}

/// Runs commands that edit the running configuration: all of them or none.
#[utoipa::path(post, path = "/v1/config/edit", tag = "config", request_body = view::EditText,
    responses((status = 200, description = "It runs.", body = view::Applied), Refused))]
pub(super) async fn edit(
    State(handle): State<Handle>,
    Body(text): Body<view::EditText>,
) -> Answer<view::Applied> {
    let within = confirm_within(text.confirm_within_s)?;
    let first = text.commands.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    let comment = match text.commands.lines().count() {
        0 | 1 => first.chars().take(80).collect(),
        lines => format!("{} ({lines} lines)", text.file.as_deref().unwrap_or("commands")),
    };
    let source = source(text.file, "command", text.commands);
    let applied = handle.call(move |control, now| {
        let config = config::edit(control.transaction.config(), &source, &control.host)?;
        let engine = control.engine.as_mut();
        Ok::<_, Refusal>(control.transaction.apply(engine, config, within, &comment, now)?)
    });
    Ok(Json(applied.await??))
}

/// Keeps the change that waits to be confirmed.
#[utoipa::path(post, path = "/v1/config/confirm", tag = "config",
    responses((status = 200, description = "It stays.", body = view::Applied), Refused))]
pub(super) async fn confirm(State(handle): State<Handle>) -> Answer<view::Applied> {
    let applied = handle.call(|control, now| control.transaction.confirm(now));
    Ok(Json(applied.await??))
}

/// Goes back to an earlier configuration.
#[utoipa::path(post, path = "/v1/config/rollback", tag = "config", request_body = view::RollbackTo,
    responses((status = 200, description = "It runs.", body = view::Applied), Refused))]
pub(super) async fn rollback(
    State(handle): State<Handle>,
    Body(to): Body<view::RollbackTo>,
) -> Answer<view::Applied> {
    let applied = handle.call(move |control, now| {
        control.transaction.rollback(control.engine.as_mut(), to.revision, now)
    });
    Ok(Json(applied.await??))
}

/// Writes the running configuration to its file.
#[utoipa::path(post, path = "/v1/config/save", tag = "config",
    responses((status = 200, description = "It is written.", body = view::Saved), Refused))]
pub(super) async fn save(State(handle): State<Handle>) -> Answer<view::Saved> {
    let saved = handle.call(|control, now| {
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
    });
    Ok(Json(saved.await??))
}

/// What ran before, and runs.
#[utoipa::path(get, path = "/v1/config/history", tag = "config",
    responses((status = 200, description = "Oldest first.", body = Vec<view::HistoryEntry>), Refused))]
pub(super) async fn history(State(handle): State<Handle>) -> Answer<Vec<view::HistoryEntry>> {
    Ok(Json(handle.call(|control, _| control.transaction.history()).await?))
}
