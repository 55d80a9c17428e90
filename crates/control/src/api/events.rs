//! `/v1/events`: what happened, and what happens.
//!
//! ```text
//!  ring of the latest events ─┬▶ a list
//!                             └▶ server-sent events: id, data; `missed` when the reader was too slow
//! ```
//! The control loop is not asked: events are told when it is busy, too. A follower that does not
//! read holds up nobody, as each takes from the ring what is still there.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequest, Query, Request};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use events::{Batch, Follower, hub};
use hyper::body::{Bytes, Frame};
use tokio::time::{Interval, interval};

use super::extract::{only, within};
use super::problem::{Refusal, Why};
use super::verb::Serve;
use crate::control_loop::Handle;
use crate::view::{
    Event, EventFilter, EventList, EventStream, EventsAsked, Exposition, Level, Missed, flags_of,
};

/// Most events of the past: those that are kept.
const MOST: u32 = 512;
/// Between two signs of life of a stream on which nothing happens.
const BEAT: Duration = Duration::from_secs(15);

impl<S: Send + Sync> FromRequest<S> for EventsAsked {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refusal> {
        let flags = flags_of::<EventFilter>();
        only(request.uri(), &flags.iter().map(|it| &it.name[..]).collect::<Vec<_>>())?;
        let Query(filter) = Query::try_from_uri(request.uri())?;
        let seen = request.headers().get(Self::SEEN).and_then(|id| id.to_str().ok()?.parse().ok());
        Ok(Self { filter, seen })
    }
}

impl Serve for EventList {
    async fn serve(_: Handle, asked: EventsAsked) -> Result<Response, Refusal> {
        let EventsAsked { filter, seen } = asked;
        if let Some(last) = filter.last {
            within("last", last.into(), 0..=MOST.into())?;
        }
        let least = filter.level.unwrap_or(Level::Trace);
        if !filter.follow {
            let mut events = hub().latest(MOST as usize);
            events.retain(|event| event.level <= least);
            let skip = events.len().saturating_sub(filter.last.unwrap_or(MOST) as usize);
            let events: Vec<&Event> = events.iter().skip(skip).map(|event| &**event).collect();
            return Ok(Json(events).into_response());
        }
        let past = hub().latest(filter.last.unwrap_or(0) as usize);
        let after = seen.or_else(|| past.first().map(|event| event.number - 1));
        let stream = Stream { follower: hub().follow(after), least, beat: interval(BEAT) };
        let head =
            [(header::CONTENT_TYPE, EventStream::MEDIA), (header::CACHE_CONTROL, "no-store")];
        Ok((head, Body::new(stream)).into_response())
    }
}

/// The body: events as they happen.
struct Stream {
    follower: Follower,
    least: Level,
    beat: Interval,
}

impl Stream {
    fn write(&self, batch: &Batch) -> String {
        let mut text = String::new();
        if batch.missed > 0 {
            let missed = Missed { missed: batch.missed };
            text = format!("event: missed\ndata: {}\n\n", json(&missed));
        }
        for event in batch.events.iter().filter(|event| event.level <= self.least) {
            text.push_str(&format!("id: {}\ndata: {}\n\n", event.number, json(&**event)));
        }
        text
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl hyper::body::Body for Stream {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        while let Poll::Ready(batch) = self.follower.poll(context) {
            let text = self.write(&batch);
            if !text.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(text.into()))));
            }
        }
        // A comment, by which either side notices that the other is gone.
        let beat = self.beat.poll_tick(context);
        beat.map(|_| Some(Ok(Frame::data(Bytes::from_static(b": \n\n")))))
    }
}

/// Counters of what was told.
pub(super) fn count(out: &mut Exposition) {
    let counts = hub().counts();
    out.of(Level::ALL, |level| [("level", *level)]).counter(
        "events",
        "What happened, by how grave it is.",
        |level| counts.events(*level),
    );
    out.of(counts.faults(), |(fault, _)| [("fault", fault.clone())]).counter(
        "faults",
        "What went wrong and was got over.",
        |(_, count)| *count,
    );
    out.one(counts)
        .counter("events_suppressed", "Events that repeated too fast to be kept.", |counts| {
            counts.suppressed_events()
        })
        .counter(
            "log_lines_lost",
            "Lines of the log that its reader was too slow for.",
            |counts| counts.lost_lines(),
        );
}

/// Tells of requests that are refused, in a line: whoever asked has all that was answered.
pub(super) async fn tell_refusals(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = next.run(request).await;
    let status = response.status();
    if status.is_client_error() || status.is_server_error() {
        let detail = response.extensions().get::<Why>().map_or("", |why| &why.0);
        let detail = detail.lines().next().unwrap_or_default();
        let detail = detail.strip_prefix("error: ").unwrap_or(detail);
        let status = status.as_u16();
        if status >= 500 {
            tracing::warn!(%method, path, status, detail, "a request was refused");
        } else {
            tracing::info!(%method, path, status, detail, "a request was refused");
        }
    }
    response
}
