//! Where controllers come to: a Unix socket for each bridge, a reader and a writer for each
//! connection.
//!
//! ```text
//!  socket ─▶ reader ─▶ Hub ─▶ answers ─▶ queue ─▶ writer ─▶ socket
//!                          events ──────▶ (full: missed)
//! ```
//! Who reads slowly keeps its own answers waiting and nobody else.

use super::hub::Hub;
use super::locked;
use openflow::MessageHeader;
use openflow::message::hello;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
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

/// See the module. It ends when this is dropped.
pub(super) struct Server {
    path: PathBuf,
    ends: Arc<AtomicBool>,
    streams: Streams,
}

/// Connections, to end them.
type Streams = Arc<Mutex<BTreeMap<u64, UnixStream>>>;

fn streams_of(streams: &Streams) -> MutexGuard<'_, BTreeMap<u64, UnixStream>> {
    streams.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    pub(super) fn start(path: &Path, hub: Arc<Mutex<Hub>>) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // A socket that nobody listens at is left from before; anything else stays.
        let is_socket = std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
        if is_socket && UnixStream::connect(path).is_err() {
            std::fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        let (ends, streams) = (Arc::<AtomicBool>::default(), Streams::default());
        let it =
            Self { path: path.to_owned(), ends: Arc::clone(&ends), streams: Arc::clone(&streams) };
        thread::Builder::new().name("openflow".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::Acquire) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                if let Err(error) = serve(stream, &hub, &streams) {
                    tracing::warn!(fault = "openflow", %error, "a controller cannot be served");
                }
            }
        })?;
        Ok(it)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        // Who waits for connections sees that it ends by one more.
        _ = UnixStream::connect(&self.path);
        _ = std::fs::remove_file(&self.path);
        for stream in std::mem::take(&mut *streams_of(&self.streams)).into_values() {
            _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }
}

/// Begins to serve a connection.
fn serve(stream: UnixStream, hub: &Arc<Mutex<Hub>>, streams: &Streams) -> io::Result<()> {
    let (out, waiting) = sync_channel(MOST_WAITING);
    let Some(peer) = locked(hub).join(out.clone()) else {
        // Closed: there are enough.
        return Ok(());
    };
    stream.set_write_timeout(Some(PATIENCE))?;
    let (writing, kept) = (stream.try_clone()?, stream.try_clone()?);
    streams_of(streams).insert(peer, kept);
    _ = out.try_send(hello(1));
    thread::Builder::new()
        .name("openflow-out".to_owned())
        .spawn(move || write_all(writing, &waiting))?;
    let (hub, streams) = (Arc::clone(hub), Arc::clone(streams));
    thread::Builder::new().name("openflow-in".to_owned()).spawn(move || {
        // Whichever way it ends: the connection is over.
        _ = read_all(&stream, peer, &hub, &out);
        locked(&hub).leave(peer);
        streams_of(&streams).remove(&peer);
    })?;
    Ok(())
}

fn write_all(mut stream: UnixStream, waiting: &Receiver<Vec<u8>>) {
    while let Ok(message) = waiting.recv() {
        if stream.write_all(&message).is_err() {
            break;
        }
    }
    _ = stream.shutdown(std::net::Shutdown::Both);
}

fn read_all(
    mut stream: &UnixStream,
    peer: u64,
    hub: &Mutex<Hub>,
    out: &SyncSender<Vec<u8>>,
) -> io::Result<()> {
    let mut held = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = stream.read(&mut chunk)?;
        if count == 0 {
            return Ok(());
        }
        held.extend(&chunk[..count]);
        let whole = whole_messages(&held).ok_or(io::ErrorKind::InvalidData)?;
        let (answers, goes_on) = locked(hub).hear(peer, Messages(&held[..whole]));
        held.drain(..whole);
        for answer in answers {
            out.send(answer).map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        if !goes_on {
            return Ok(());
        }
    }
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
