//! What waits to be written to a connection: so many messages, and so many bytes.
//!
//! ```text
//!  answers ─ wait for room ─▶ ┌──────────┐
//!  events  ─ or are missed ─▶ │ Outbox   │ ─▶ writer
//!                             └──────────┘
//!  answers, where nothing waits and the other side has room ─▶ written by who answers
//! ```

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Messages that may wait.
const MOST_MESSAGES: usize = 1024;
/// Bytes of them; one message may always wait.
const MOST_BYTES: usize = 1 << 20;
/// Bytes with which the other side is behind.
const MANY_BYTES: usize = 1 << 17;

/// See the module. Its copies are one.
#[derive(Clone, Default)]
pub(super) struct Outbox(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    /// The writer has a message in hand: others come behind it.
    is_writing: bool,
    is_closed: bool,
}

impl State {
    fn has_room(&self, message: &[u8]) -> bool {
        self.waiting.is_empty()
            || self.waiting.len() < MOST_MESSAGES && self.bytes + message.len() <= MOST_BYTES
    }

    fn put(&mut self, message: Vec<u8>) {
        self.bytes += message.len();
        self.waiting.push_back(message);
    }
}

impl Outbox {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a message in, if there is room for it.
    pub(super) fn offer(&self, message: Vec<u8>) -> bool {
        let mut state = self.locked();
        let fits = !state.is_closed && state.has_room(&message);
        if fits {
            state.put(message);
            drop(state);
            self.0.changed.notify_all();
        }
        fits
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.locked().waiting.is_empty()
    }

    /// Whether so much waits that more can wait elsewhere.
    pub(super) fn is_behind(&self) -> bool {
        let state = self.locked();
        state.bytes >= MANY_BYTES || state.waiting.len() >= MOST_MESSAGES / 2
    }

    /// Puts a message in when there is room for it; false: nobody writes any more.
    pub(super) fn send(&self, message: Vec<u8>) -> bool {
        let mut state = self.locked();
        while !state.is_closed && !state.has_room(&message) {
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_closed {
            return false;
        }
        state.put(message);
        drop(state);
        self.0.changed.notify_all();
        true
    }

    /// Writes messages by `write`, which waits for nothing: a thread that is woken for each would
    /// cost more than the message. What it does not take is put in; false: nobody writes any more.
    pub(super) fn answer(
        &self,
        messages: Vec<Vec<u8>>,
        mut write: impl FnMut(&[u8]) -> io::Result<usize>,
    ) -> bool {
        let mut left = messages.into_iter();
        let mut state = self.locked();
        while !state.is_closed
            && state.waiting.is_empty()
            && !state.is_writing
            && let Some(mut message) = left.next()
        {
            match write(&message) {
                Ok(count) => drop(message.drain(..count.min(message.len()))),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
            if !message.is_empty() {
                state.put(message);
                self.0.changed.notify_all();
            }
        }
        let is_closed = state.is_closed;
        drop(state);
        !is_closed && left.all(|message| self.send(message))
    }

    /// The next message, when there is one and the one before is written; none: it is closed.
    pub(super) fn next(&self) -> Option<Vec<u8>> {
        let mut state = self.locked();
        if std::mem::take(&mut state.is_writing) && state.waiting.is_empty() {
            self.0.changed.notify_all();
        }
        loop {
            if let Some(message) = state.waiting.pop_front() {
                state.is_writing = true;
                state.bytes -= message.len();
                drop(state);
                self.0.changed.notify_all();
                return Some(message);
            }
            if state.is_closed {
                return None;
            }
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until all of it is written, so long at most.
    pub(super) fn finish(&self, time: Duration) {
        let is_left =
            |state: &mut State| !state.is_closed && (state.is_writing || !state.waiting.is_empty());
        let waited = self.0.changed.wait_timeout_while(self.locked(), time, is_left);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Nothing more is put in; who waits goes on.
    pub(super) fn close(&self) {
        self.locked().is_closed = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn bytes_are_bounded_as_messages_are_and_one_message_always_fits() {
        let out = Outbox::default();
        assert!(out.offer(vec![0; 2 * MOST_BYTES]) && !out.offer(vec![1]));
        assert_eq!(out.next().unwrap().len(), 2 * MOST_BYTES);
        let offered = (0..).take_while(|_| out.offer(vec![0; 60_000])).count();
        assert_eq!(offered, MOST_BYTES / 60_000);
        (0..offered).for_each(|_| drop(out.next()));
        assert_eq!((0..).take_while(|_| out.offer(vec![0; 8])).count(), MOST_MESSAGES);
    }

    #[test]
    fn an_answer_is_written_at_once_unless_others_come_first_and_what_is_not_taken_waits() {
        let (out, mut written) = (Outbox::default(), Vec::<u8>::new());
        let mut take = |most: usize, message: &[u8]| {
            written.extend(&message[..most.min(message.len())]);
            Ok(most.min(message.len()))
        };
        assert!(out.answer(vec![vec![1; 3], vec![2; 3]], |message| take(9, message)));
        assert!(out.answer(vec![vec![3; 3], vec![4; 3]], |message| take(2, message)));
        assert!(out.answer(vec![vec![5; 3]], |message| take(9, message)));
        assert_eq!(written, [1, 1, 1, 2, 2, 2, 3, 3]);
        // The writer has the last of them in hand: the next one waits as well.
        assert_eq!([(); 3].map(|()| out.next().unwrap()), [vec![3], vec![4; 3], vec![5; 3]]);
        assert!(out.answer(vec![vec![6]], |_| panic!("another message is being written")));
        assert_eq!(out.next().unwrap(), [6]);
        let full = || io::ErrorKind::WouldBlock.into();
        let busy = Outbox::default();
        assert!(busy.answer(vec![vec![7]], |_| Err(full())));
        assert_eq!(busy.next().unwrap(), [7]);
        let gone = Outbox::default();
        assert!(!gone.answer(vec![vec![8]], |_| Err(io::ErrorKind::BrokenPipe.into())));
        gone.close();
        assert!(!gone.answer(vec![vec![9]], |_| Ok(1)));
    }

    #[test]
    fn it_is_waited_for_until_the_last_is_written_and_no_longer_than_that() {
        let (out, long) = (Outbox::default(), Duration::from_secs(60));
        out.finish(long);
        assert!(out.offer(vec![1]) && out.offer(vec![2]));
        let writes = thread::spawn({
            let out = out.clone();
            move || [out.next(), out.next(), out.next()]
        });
        out.finish(long);
        out.close();
        assert_eq!(writes.join().unwrap(), [Some(vec![1]), Some(vec![2]), None]);
        // Nobody writes: a moment.
        let out = Outbox::default();
        assert!(out.offer(vec![1]));
        out.finish(Duration::from_millis(1));
    }

    #[test]
    fn an_answer_waits_for_room_and_goes_on_when_it_is_closed() {
        let out = Outbox::default();
        assert!(out.offer(vec![1; MOST_BYTES]));
        let waits = thread::spawn({
            let out = out.clone();
            move || [out.send(vec![2; 9]), out.send(vec![3; MOST_BYTES])]
        });
        assert_eq!(out.next().unwrap()[0], 1);
        assert_eq!(out.next().unwrap()[0], 2);
        assert_eq!(out.next().unwrap()[0], 3);
        assert_eq!(waits.join().unwrap(), [true, true]);
        assert!(out.offer(vec![4; MOST_BYTES]));
        let waits = thread::spawn({
            let out = out.clone();
            move || out.send(vec![5])
        });
        out.close();
        assert!(!waits.join().unwrap() && !out.offer(vec![6]));
        // What was in it may still be written.
        assert_eq!((out.next().unwrap()[0], out.next()), (4, None));
    }
}
