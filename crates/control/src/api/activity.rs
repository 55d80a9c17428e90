//! What goes on at a connection: whether its peer waits for something, and when it was heard last.
//!
//! ```text
//!  read ▸ heard     request whole ▸ busy … answer on its way, taken to its last byte ▸ idle
//! ```
//! Where places are short, one that is idle is nobody's loss: HTTP lets either side end a
//! connection between two requests, and whoever had half a request said nothing yet.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

/// Times that anybody was heard: the order of things, for which no clock is needed.
static TURN: AtomicU64 = AtomicU64::new(0);

/// See the module.
pub(super) struct Activity {
    busy: AtomicUsize,
    heard: AtomicU64,
}

/// As long as it is kept, the peer waits for something.
pub(super) struct Busy(Arc<Activity>);

impl Activity {
    /// Of a peer that has just come.
    pub(super) fn new() -> Arc<Self> {
        let it = Self { busy: AtomicUsize::new(0), heard: AtomicU64::new(0) };
        it.hear();
        Arc::new(it)
    }

    /// The peer said something.
    pub(super) fn hear(&self) {
        self.heard.store(TURN.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// The peer waits from now on.
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// When it was heard last, where nobody waits; earlier is less.
    pub(super) fn idle_since(&self) -> Option<u64> {
        let is_idle = self.busy.load(Ordering::Relaxed) == 0;
        is_idle.then(|| self.heard.load(Ordering::Relaxed))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An answer that is waited for until its body is given away.
pub(super) fn until_answered(response: Response, busy: Busy) -> Response {
    response.map(|body| Body::new(Awaited { body, _busy: busy }))
}

struct Awaited {
    body: Body,
    _busy: Busy,
}

impl hyper::body::Body for Awaited {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_not_idle_and_who_was_heard_later_is_idle_since_later() {
        let [first, second] = [Activity::new(), Activity::new()];
        assert!(first.idle_since() < second.idle_since());
        first.hear();
        assert!(first.idle_since() > second.idle_since());
        let waits = [first.busy(), first.busy()];
        for one in waits {
            assert_eq!(first.idle_since(), None);
            drop(one);
        }
        assert!(first.idle_since().is_some());
    }
}
