//! `/v1/routes/…`: many routes at once. The answer is one JSON object a line, told as it goes.
//!
//! ```text
//!  body ─▶ a thread reads it ─▶ routes ─▶ slices, each a job of the control loop ─▶ lines
//! ```
//! Between two slices the control loop does whatever else there is to do.

use std::io::Cursor;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use axum::response::Response;
use fib::rib::Source;
use fib::route_file::{FilePrefix, OnWrong, Rules, read_routes};
use hyper::body::Bytes;
use tokio::sync::mpsc;

use super::lines::{answer, line_of};
use super::problem::{Refusal, refuse};
use super::verb::Serve;
use crate::bulk::{BulkError, BulkRoute, Via, routes_in_a_row, routes_of, source_of, source_text};
use crate::config::objects::vrf::DEFAULT_NAME;
use crate::control_loop::Handle;
use crate::engine::EngineError;
use crate::view::{self, BulkState, Fields, File, RoutesFlush, RoutesLoad, RoutesRange};

/// Routes that the control loop adds at once: a millisecond or less.
const SLICE: usize = 512;
/// Between two lines of the answer.
const LINE_PERIOD: Duration = Duration::from_millis(100);
/// Lines on their way to whoever asked.
const LINES: usize = 16;

/// The VRF that a request names.
fn vrf_of(named: Option<String>) -> String {
    named.unwrap_or_else(|| DEFAULT_NAME.to_owned())
}

impl From<BulkError> for Refusal {
    fn from(error: BulkError) -> Self {
        refuse(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())
    }
}

impl Serve for RoutesLoad {
    async fn serve(
        handle: Handle,
        File(load, file): File<view::RouteLoad>,
    ) -> Result<Response, Refusal> {
        let source = source_of(load.source.as_deref())?;
        let via = Via::of(load.via.as_deref(), load.share)?;
        let room = |control: &mut crate::control_loop::Control, _| {
            let memory = &control.transaction.config().memory;
            memory.routes as usize + memory.ip6_routes as usize
        };
        let on_wrong = if load.skip_wrong { OnWrong::Skip } else { OnWrong::Refuse };
        let bare_prefixes = !matches!(via, Via::File);
        let rules = Rules { on_wrong, most_routes: handle.call(room).await?, bare_prefixes };
        let (mut telling, lines) = Telling::new(vrf_of(load.vrf), source);
        tokio::spawn(async move {
            let size = file.len().max(1) as f64;
            let read = tokio::task::spawn_blocking(move || {
                let read = read_routes(Cursor::new(file), rules, &mut |progress| {
                    telling.bulk.read = progress.routes as u64;
                    telling.bulk.share = READING * progress.bytes as f64 / size;
                    telling.tell_blocking();
                });
                let routes = read.map_err(|error| error.to_string()).and_then(|file| {
                    telling.bulk.read = file.routes.len() as u64;
                    telling.bulk.wrong = file.wrong_count as u64;
                    telling.bulk.wrong_lines = file.wrong.iter().map(ToString::to_string).collect();
                    routes_of(&file.routes, &via).map_err(|error| error.to_string())
                });
                (routes, telling)
            });
            let Ok((routes, telling)) = read.await else { return };
            let replace = load.replace;
            make(handle, telling, routes, replace).await;
        });
        Ok(lines)
    }
}

impl Serve for RoutesRange {
    async fn serve(
        handle: Handle,
        Fields(range): Fields<view::RouteRange>,
    ) -> Result<Response, Refusal> {
        let source = source_of(range.source.as_deref())?;
        let via = Via::of(Some(&range.via), range.share)?;
        let routes = routes_in_a_row(&range.prefix, range.count, &via)?;
        let (mut telling, lines) = Telling::new(vrf_of(range.vrf), source);
        telling.bulk.read = routes.len() as u64;
        tokio::spawn(make(handle, telling, Ok(routes), false));
        Ok(lines)
    }
}

impl Serve for RoutesFlush {
    async fn serve(
        handle: Handle,
        Fields(flush): Fields<view::RouteFlush>,
    ) -> Result<Response, Refusal> {
        let (telling, lines) = Telling::new(vrf_of(flush.vrf), source_of(Some(&flush.source))?);
        tokio::spawn(make(handle, telling, Ok(Vec::new()), true));
        Ok(lines)
    }
}

/// Share of a load that reading is.
const READING: f64 = 0.25;

/// Adds the routes; with `replace` then removes those of the source that are not among them.
async fn make(
    handle: Handle,
    mut telling: Telling,
    routes: Result<Vec<BulkRoute>, String>,
    replace: bool,
) {
    let outcome = match routes {
        Ok(routes) => add_then_remove(&handle, &mut telling, routes, replace).await,
        Err(detail) => Err(detail),
    };
    let (vrf, source) = (telling.vrf.clone(), telling.source);
    let counts = handle.call(move |control, _| control.engine.count_routes(&vrf, source)).await;
    let counts = counts.unwrap_or_default();
    (telling.bulk.routes, telling.bulk.active) = (counts.routes as u64, counts.active as u64);
    telling.end(outcome).await;
}

async fn add_then_remove(
    handle: &Handle,
    telling: &mut Telling,
    routes: Vec<BulkRoute>,
    replace: bool,
) -> Result<(), String> {
    let mut keep: Vec<FilePrefix> = Vec::new();
    if replace {
        keep.extend(routes.iter().map(|(prefix, _)| *prefix));
        keep.sort_unstable();
    }
    let (source, total) = (telling.source, routes.len().max(1) as f64);
    telling.bulk.state = BulkState::Adding;
    let mut routes = routes.into_iter();
    loop {
        let slice: Vec<BulkRoute> = routes.by_ref().take(SLICE).collect();
        if slice.is_empty() {
            break;
        }
        let vrf = telling.vrf.clone();
        let add = move |control: &mut crate::control_loop::Control, _| {
            control.engine.add_routes(&vrf, source, slice)
        };
        let (added, outcome) = handle.call(add).await.map_err(|error| error.to_string())?;
        telling.bulk.added += added as u64;
        telling.bulk.share = READING + (1.0 - READING) * telling.bulk.added as f64 / total;
        outcome.map_err(|error: EngineError| error.to_string())?;
        telling.tell().await?;
    }
    if !replace {
        return Ok(());
    }
    telling.bulk.state = BulkState::Removing;
    let mut from = Some(FilePrefix::first());
    while let Some(start) = from {
        let kept = std::mem::take(&mut keep);
        let vrf = telling.vrf.clone();
        let sweep = move |control: &mut crate::control_loop::Control, _| {
            let wanted = |prefix: FilePrefix| kept.binary_search(&prefix).is_ok();
            (control.engine.sweep_routes(&vrf, source, start, &wanted), kept)
        };
        let (swept, kept) = handle.call(sweep).await.map_err(|error| error.to_string())?;
        keep = kept;
        let (removed, next) = swept.map_err(|error: EngineError| error.to_string())?;
        telling.bulk.removed += removed as u64;
        from = next;
        telling.tell().await?;
    }
    Ok(())
}

/// Tells whoever asked how it goes.
struct Telling {
    bulk: view::Bulk,
    vrf: String,
    source: Source,
    started: Instant,
    told: Instant,
    lines: mpsc::Sender<Bytes>,
}

impl Telling {
    /// And the answer that the lines go into.
    fn new(vrf: String, source: Source) -> (Self, Response) {
        let (lines, receiver) = mpsc::channel(LINES);
        let bulk = view::Bulk { source: source_text(source), ..view::Bulk::default() };
        let now = Instant::now();
        (Self { bulk, vrf, source, started: now, told: now, lines }, answer(receiver))
    }

    /// The next line, if it is time for one.
    fn line(&mut self) -> Option<Bytes> {
        let now = Instant::now();
        if now - self.told < LINE_PERIOD {
            return None;
        }
        self.told = now;
        Some(self.write())
    }

    fn write(&mut self) -> Bytes {
        self.bulk.elapsed_ms = self.started.elapsed().as_millis() as u64;
        line_of(&self.bulk)
    }

    /// An error when nobody listens any more: then the rest need not be done.
    async fn tell(&mut self) -> Result<(), String> {
        let Some(line) = self.line() else { return Ok(()) };
        self.lines.send(line).await.map_err(|_| "whoever asked has hung up".to_owned())
    }

    /// For the thread that reads; who hung up is noticed later.
    fn tell_blocking(&mut self) {
        if let Some(line) = self.line() {
            drop(self.lines.blocking_send(line));
        }
    }

    async fn end(mut self, outcome: Result<(), String>) {
        self.bulk.state = BulkState::Done;
        self.bulk.share = 1.0;
        if let Err(detail) = outcome {
            self.bulk.state = BulkState::Failed;
            self.bulk.detail = Some(detail);
        }
        let line = self.write();
        if self.lines.send(line).await.is_err() {
            let (source, detail) = (&self.bulk.source, &self.bulk.detail);
            tracing::info!(
                fault = "answer-unheard",
                source,
                detail,
                "nobody heard how routes fared"
            );
        }
    }
}
