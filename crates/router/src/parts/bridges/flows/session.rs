//! A connection of a controller: who reads it, who writes it, and its seat in the hub.
//!
//! ```text
//!  stream ─▶ reader ─▶ Hub ─▶ answers ─▶ queue ─▶ writer ─▶ stream
//!                          events ──────▶ (full: missed)
//! ```
//! Who reads slowly keeps its own answers waiting and nobody else. Who is silent for long is asked
//! whether it is there (`probe`), and given up if it says nothing for as long again.

use super::hub::Hub;
use super::locked;
use super::stream::Stream;
use openflow::MessageHeader;
use openflow::message::hello;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Messages that may wait for a connection.
const MOST_WAITING: usize = 1024;
/// How long a connection may take none of what is written to it.
const PATIENCE: Duration = Duration::from_secs(10);
/// Read at once.
const CHUNK: usize = 64 * 1024;

/// Connections, to end them.
#[derive(Clone, Default)]
pub(super) struct Streams(Arc<Mutex<BTreeMap<u64, Stream>>>);

impl Streams {
    fn locked(&self) -> MutexGuard<'_, BTreeMap<u64, Stream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends all that are there.
    pub(super) fn end(&self) {
        let streams = std::mem::take(&mut *self.locked());
        streams.values().for_each(Stream::end);
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
}

impl Drop for Seat {
    fn drop(&mut self) {
        locked(&self.hub).leave(self.peer);
        if let Some(stream) = self.streams.locked().remove(&self.peer) {
            stream.end();
        }
    }
}

/// A connection that has its seat and its writer.
pub(super) struct Session {
    stream: Stream,
    seat: Seat,
    out: SyncSender<Vec<u8>>,
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
        stream.set_patience(probe, Some(PATIENCE))?;
        let (writing, kept) = (stream.try_clone()?, stream.try_clone()?);
        let (out, waiting) = sync_channel(MOST_WAITING);
        let Some(peer) = locked(hub).join(out.clone(), probe.is_none()) else { return Ok(None) };
        let seat = Seat { hub: Arc::clone(hub), streams: streams.clone(), peer };
        streams.locked().insert(peer, kept);
        _ = out.try_send(hello(1));
        thread::Builder::new()
            .name("openflow-out".to_owned())
            .spawn(move || write_all(&writing, &waiting))?;
        Ok(Some(Self { stream, seat, out, probe }))
    }

    /// Reads on a thread of its own.
    pub(super) fn spawn(self) -> io::Result<()> {
        let name = "openflow-in".to_owned();
        // Whichever way it ends: the connection is over.
        thread::Builder::new().name(name).spawn(move || _ = self.read())?;
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
        let mut is_asked = false;
        loop {
            let count = match (&self.stream).read(&mut chunk) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_silence(&error) && !is_asked => {
                    is_asked = true;
                    let Some(echo) = locked(&self.seat.hub).echo(self.seat.peer) else {
                        return Err(io::Error::other("it did not greet"));
                    };
                    // Where this finds no room the other side reads nothing either.
                    _ = self.out.try_send(echo);
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
            let whole = whole_messages(&held).ok_or(io::ErrorKind::InvalidData)?;
            let (answers, goes_on) =
                locked(&self.seat.hub).hear(self.seat.peer, Messages(&held[..whole]));
            held.drain(..whole);
            for answer in answers {
                self.out.send(answer).map_err(|_| io::ErrorKind::BrokenPipe)?;
            }
            if !goes_on {
                return Err(io::Error::other("it speaks no version of OpenFlow that we do"));
            }
            *has_spoken |= whole > 0;
        }
    }
}

fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn write_all(mut stream: &Stream, waiting: &Receiver<Vec<u8>>) {
    while let Ok(message) = waiting.recv() {
        if stream.write_all(&message).is_err() {
            break;
        }
    }
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
