//! A stream whose reader may not keep us waiting for ever.
//!
//! What is written and not taken for [`WRITE_TIME`] ends the connection. How long we wait to read
//! is for others to say: a header has its time, and a body. A connection on which something is read
//! or waits to be taken is not an idle one.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::activity::{Activity, Busy};

/// How long a peer may take nothing of what it asked for.
pub(super) const WRITE_TIME: Duration = Duration::from_secs(30);

/// See the module.
pub(super) struct Patient<S> {
    stream: S,
    /// When a write that waits has waited long enough.
    end: Pin<Box<Sleep>>,
    /// While a write waits.
    waiting: Option<Busy>,
    activity: Arc<Activity>,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, activity: Arc<Activity>) -> Self {
        Self { stream, end: Box::pin(sleep(WRITE_TIME)), waiting: None, activity }
    }

    /// What becomes of a write that came to this.
    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.waiting = None;
            return outcome;
        }
        if self.waiting.is_none() {
            self.waiting = Some(self.activity.busy());
            self.end.as_mut().reset(Instant::now() + WRITE_TIME);
        }
        let late = || io::Error::new(io::ErrorKind::TimedOut, "the answer is not read");
        self.end.as_mut().poll(context).map(|()| Err(late()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(context, into);
        if into.filled().len() > before {
            self.activity.hear();
        }
        outcome
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, outcome)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(context, outcome)
    }
}
