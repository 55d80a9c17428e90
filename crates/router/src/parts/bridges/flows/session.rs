//! A connection of a controller: who reads it, who writes it, and its seat in the hub.
//!
//! ```text
//!  stream ─▶ reader ─▶ Hub ─▶ answers ─▶ (at once, or) queue ─▶ writer ─▶ stream
//!                          events ──────▶ (full: missed)
//! ```
//! Over TLS both have to know each other first; what is to be written waits for that.
//! Who reads slowly keeps its own answers waiting and nobody else. Who does not greet, or
//! says half a message, is given up.
//! Who is silent for long is asked whether it is there (`probe`), and given up if it says nothing
//! for as long again; not at the Unix socket, whose other end is there or closed.

use super::hub::Hub;
use super::locked;
use super::outbox::Outbox;
use super::seats::Came;
use super::stream::Stream;
use openflow::MessageHeader;
use openflow::message::hello;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a connection may take to show over TLS who it is, to greet, and to say a message whole
/// that it has begun.
pub(super) const GREETING: Duration = Duration::from_secs(5);
/// For others, between two shares of one that says much.
const PAUSE: Duration = Duration::from_micros(100);
/// How long who came by TCP may be silent before it is asked whether it is there.
const FAR_PROBE: Duration = Duration::from_secs(60);
/// How long a connection may take none of what is written to it.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long who is refused may take to read why.
const FAREWELL: Duration = Duration::from_secs(1);
/// Read at once.
const CHUNK: usize = 64 * 1024;

/// Connections, to end them.
#[derive(Clone, Default)]
pub(super) struct Streams(Arc<Mutex<BTreeMap<u64, Arc<Stream>>>>);

impl Streams {
    fn locked(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Stream>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all that are there.
    pub(super) fn end(&self) {
        let streams = std::mem::take(&mut *self.locked());
        streams.values().for_each(|stream| stream.end());
    }

    /// The connections that are there.
    pub(super) fn peers(&self) -> Vec<u64> {
        self.locked().keys().copied().collect()
    }
}

/// A connection's place in the hub, which is free again when this is dropped.
struct Seat {
    hub: Arc<Mutex<Hub>>,
    streams: Streams,
    peer: u64,
    out: Outbox,
}

impl Drop for Seat {
    fn drop(&mut self) {
        locked(&self.hub).leave(self.peer);
        self.out.close();
        if let Some(stream) = self.streams.locked().remove(&self.peer) {
            stream.end();
        }
    }
}

/// A connection that has its seat and its writer.
pub(super) struct Session {
    stream: Arc<Stream>,
    seat: Seat,
    probe: Option<Duration>,
}

impl Session {
    /// Begins one; none where there are too many. `probe` is of a controller that we have
    /// connected to: others are tools, which come and go and hear of nothing unasked.
    pub(super) fn begin(
        stream: Stream,
        hub: &Arc<Mutex<Hub>>,
        streams: &Streams,
        probe: Option<Duration>,
    ) -> io::Result<Option<Self>> {
        let came = match (probe, stream.peer_address()) {
            (Some(_), _) => Came::Ours,
            (None, Some(address)) => Came::Far(address),
            (None, None) => Came::Local,
        };
        let probe = probe.or(matches!(came, Came::Far(_)).then_some(FAR_PROBE));
        stream.set_patience(Some(probe.map_or(GREETING, |it| it.min(GREETING))), Some(PATIENCE))?;
        let (stream, out) = (Arc::new(stream), Outbox::default());
        let joined = locked(hub).join(out.clone(), Arc::clone(&stream), came);
        let Some(peer) = joined else { return Ok(None) };
        let seat = Seat { hub: Arc::clone(hub), streams: streams.clone(), peer, out };
        streams.locked().insert(peer, Arc::clone(&stream));
        let versions = locked(hub).bridge.versions();
        seat.out.offer(hello(1, versions));
        let (out, writing) = (seat.out.clone(), Arc::clone(&stream));
        thread::Builder::new()
            .name("openflow-out".to_owned())
            .spawn(move || write_all(&writing, &out))?;
        Ok(Some(Self { stream, seat, probe }))
    }

    /// Reads on a thread of its own, which tells first whether both ends know each other.
    pub(super) fn spawn(
        self,
        told: impl FnOnce(&io::Result<()>) + Send + 'static,
    ) -> io::Result<()> {
        let name = "openflow-in".to_owned();
        thread::Builder::new().name(name).spawn(move || {
            let begun = self.stream.begin(GREETING);
            told(&begun);
            if begun.is_ok() {
                // Whichever way it ends: the connection is over.
                _ = self.read();
            }
        })?;
        Ok(())
    }

    /// Reads until it ends: whether anything was agreed upon, and why it ended.
    pub(super) fn read(&self) -> (bool, io::Result<()>) {
        let mut has_spoken = false;
        let ended = self.read_all(&mut has_spoken);
        (has_spoken, ended)
    }

    fn read_all(&self, has_spoken: &mut bool) -> io::Result<()> {
        let mut held = Vec::new();
        let mut chunk = vec![0; CHUNK];
        let (mut is_asked, mut has_greeted) = (false, false);
        // Since when a greeting, or the rest of a message, is waited for.
        let mut owed_since = Some(Instant::now());
        let patience = self.probe.map_or(GREETING, |it| (2 * it).min(GREETING));
        loop {
            let count = match (&*self.stream).read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_silence(&error) && owed_since.is_some() => 0,
                Err(error) if is_silence(&error) && !is_asked => {
                    is_asked = true;
                    if let Some(echo) = locked(&self.seat.hub).echo(self.seat.peer) {
                        // Where this finds no room the other side reads nothing either.
                        self.seat.out.offer(echo);
                    }
                    continue;
                }
                Err(error) if is_silence(&error) => {
                    let probe = self.probe.unwrap_or_default().as_secs();
                    return Err(io::Error::other(format!("it said nothing for {probe} s, twice")));
                }
                Err(error) => return Err(error),
            };
            is_asked = false;
            held.extend(&chunk[..count]);
            let was_heard = self.hear_all(&mut held)?;
            *has_spoken |= was_heard;
            has_greeted = has_greeted || locked(&self.seat.hub).has_greeted(self.seat.peer);
            let is_owed = !has_greeted || !held.is_empty();
            if is_owed != owed_since.is_some() {
                let probe = if is_owed { Some(patience) } else { self.probe };
                self.stream.set_patience(probe, Some(PATIENCE))?;
            }
            owed_since = match owed_since {
                _ if !is_owed => None,
                Some(since) if !(was_heard && has_greeted) => Some(since),
                _ => Some(Instant::now()),
            };
            if owed_since.is_some_and(|since| since.elapsed() >= patience) {
                let what = if has_greeted { "it said half a message" } else { "it did not greet" };
                return Err(io::Error::other(what));
            }
        }
    }

    /// Hears what is there whole: whether anything was. Others are heard in between.
    fn hear_all(&self, held: &mut Vec<u8>) -> io::Result<bool> {
        let whole = whole_messages(held).ok_or(io::ErrorKind::InvalidData)?;
        let mut messages = Messages(&held[..whole]);
        while !messages.0.is_empty() {
            let heard = locked(&self.seat.hub).hear(self.seat.peer, messages);
            if !self.seat.out.answer(heard.answers, |it| self.stream.write_at_once(it)) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if !heard.goes_on {
                // What it is told of that.
                self.seat.out.finish(FAREWELL);
                return Err(io::Error::other(
                    "it speaks no version of OpenFlow that the bridge does",
                ));
            }
            (0..heard.messages).for_each(|_| _ = messages.next());
            if !messages.0.is_empty() {
                thread::sleep(PAUSE);
            }
        }
        held.drain(..whole);
        Ok(whole > 0)
    }
}

fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn write_all(mut stream: &Stream, out: &Outbox) {
    while let Some(message) = out.next() {
        if stream.write_all(&message).is_err() {
            break;
        }
    }
    out.close();
    stream.end();
}

/// Bytes of the messages that are there whole; none where what comes is none.
fn whole_messages(held: &[u8]) -> Option<usize> {
    let mut end = 0;
    while let Some(head) = held[end..].first_chunk().map(MessageHeader::read) {
        let length = usize::from(head.length);
        if length < MessageHeader::LEN {
            return None;
        }
        if held.len() - end < length {
            break;
        }
        end += length;
    }
    Some(end)
}

/// Whole messages, one behind the other.
#[derive(Clone, Copy)]
struct Messages<'a>(&'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let head = self.0.first_chunk().map(MessageHeader::read)?;
        let (message, rest) = self.0.split_at_checked(head.length.into())?;
        self.0 = rest;
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_cut_where_they_say_and_what_is_none_ends_it() {
        let held = [[1, 2, 0, 8, 0, 0, 0, 1], [1, 3, 0, 12, 0, 0, 0, 2]].concat();
        assert_eq!(whole_messages(&held), Some(8));
        let whole = [&held[..], &[9; 4]].concat();
        assert_eq!(whole_messages(&whole), Some(20));
        let lengths: Vec<_> = Messages(&whole).map(<[u8]>::len).collect();
        assert_eq!(lengths, [8, 12]);
        assert_eq!(whole_messages(&[1, 0, 0, 7, 0, 0, 0, 0]), None);
    }
}
