//! A thread of each port's own between the socket that machines know and the library's.
//!
//! ```text
//!  door ─▶ front ─ Hearing ▸ Rules ─▶ back        what does not keep to the rules ends both
//!              front ◀──── less features ── back   what is not offered is not told of
//!              the peer's eventfds ◀── Call ◀── the library
//! ```
//! One peer at a time: the library would take a second one's rings for the first's. The next is let
//! in when the library has closed the connection of the one before.

use crate::Refusal;
use crate::behind;
use crate::call::Call;
use crate::channel::{End, Hearing, Said, say};
use crate::door::{Calls, Door};
use crate::inside::Inside;
use crate::kicks::Kicks;
use crate::message::{GET_FEATURES, GET_PROTOCOL_FEATURES, HEADER_BYTES, Message, u64_at};
use crate::rules::{NOT_OFFERED, PROTOCOL_FEATURES, Rules, Verdict};
use crate::zeroes::{self, Watched};
use memif::bell::Bell;
use memif::signal::Signals;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Messages that are heard in a row before others' turn.
const AT_ONCE: usize = 16;
/// Files of memory that one peer brings, in all its tables.
const MOST_FILES: usize = 32;
/// Between two looks whether memory is still there.
const LOOK: Duration = Duration::from_secs(1);
/// How long an end is waited for. A descriptor that a peer sent may make closing it wait.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why nobody is at the other end, where we have to see to it that somebody is.
type Problem = Arc<Mutex<Option<String>>>;

/// Guards a port's socket as long as it is there.
#[derive(Debug)]
pub struct Guard {
    path: PathBuf,
    /// Device and inode of a socket of ours, to remove no other.
    file: Option<(u64, u64)>,
    stop: Arc<Bell>,
    ended: Receiver<()>,
    refused: Arc<AtomicU64>,
    features: Arc<AtomicU64>,
    kicks: Arc<Kicks>,
    problem: Problem,
}

impl Guard {
    /// Listens at `path`, which is free, in front of a library that listens at `inside`, for a port
    /// with so many rings.
    pub fn listen(path: &Path, inside: Inside, rings: u32) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        let data = std::fs::symlink_metadata(path)?;
        let file = Some((data.dev(), data.ino()));
        Self::begin(Door::Listens(listener), path, file, inside, rings)
    }

    /// Connects to whoever listens at `path`, now or later, and again whenever it is gone; for the
    /// rest as [`Guard::listen`]. What is at `path` stays.
    pub fn connect(path: &Path, inside: Inside, rings: u32) -> io::Result<Self> {
        Self::begin(Door::Calls(Calls::new(path)), path, None, inside, rings)
    }

    fn begin(
        door: Door,
        path: &Path,
        file: Option<(u64, u64)>,
        inside: Inside,
        rings: u32,
    ) -> io::Result<Self> {
        let (stop, refused) = (Arc::new(Bell::new()?), Arc::<AtomicU64>::default());
        let (features, kicks) = (Arc::<AtomicU64>::default(), Arc::new(Kicks::new(rings)?));
        let nobody = format!("{} is about to be connected to", path.display());
        let problem = Problem::new(Mutex::new(Some(nobody).filter(|_| door.fd().is_none())));
        let serving = Serving {
            door,
            path: path.to_owned(),
            inside,
            rings,
            signals: Arc::new(Signals::new()?),
            stop: Arc::clone(&stop),
            refused: Arc::clone(&refused),
            features: Arc::clone(&features),
            kicks: Arc::clone(&kicks),
            problem: Arc::clone(&problem),
            peer: None,
            leaving: None,
        };
        let (end, ended) = mpsc::channel();
        let thread = std::thread::Builder::new().name("vhost-guard".to_owned());
        thread.spawn(move || {
            serving.serve();
            // Nobody waits for it any more, if it took too long.
            let _ = end.send(());
        })?;
        Ok(Self { path: path.to_owned(), file, stop, ended, refused, features, kicks, problem })
    }

    /// Peers that were turned away for what they said.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// What features the peer that is there chose; none while nobody is.
    pub fn features(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.features)
    }

    /// What the peer that is there kicks its rings by.
    pub fn kicks(&self) -> Arc<Kicks> {
        Arc::clone(&self.kicks)
    }

    /// Why nobody is there whom it connects to; nothing of one that listens.
    pub fn problem(&self) -> Option<String> {
        self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.stop.ring();
        // In vain only where the thread waits for a file system.
        let _ = self.ended.recv_timeout(PATIENCE);
        let there = std::fs::symlink_metadata(&self.path);
        if self.file.is_some() && there.ok().map(|data| (data.dev(), data.ino())) == self.file {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

struct Serving {
    door: Door,
    path: PathBuf,
    inside: Inside,
    rings: u32,
    signals: Arc<Signals>,
    stop: Arc<Bell>,
    refused: Arc<AtomicU64>,
    features: Arc<AtomicU64>,
    kicks: Arc<Kicks>,
    problem: Problem,
    peer: Option<Peer>,
    /// The connection of a peer that left, until the library closes it, and the memory of that.
    leaving: Option<(UnixStream, Vec<Watched>)>,
}

impl Serving {
    fn serve(mut self) {
        loop {
            self.wait();
            if self.stop.take() {
                return;
            }
            if let Some((back, _)) = &self.leaving
                && is_closed(back)
            {
                self.leaving = None;
            }
            if let Some(peer) = &mut self.peer
                && let Err(end) = peer.turn(&self.signals)
            {
                self.leave(&end);
            }
            if self.leaving.is_none() {
                self.let_in();
            }
        }
    }

    /// Waits until there is something to do.
    fn wait(&self) {
        let (readable, writable) = (libc::POLLIN, libc::POLLOUT);
        let mut whom = vec![(self.stop.fd().as_raw_fd(), readable)];
        let mut rests = None;
        if let Some((back, _)) = &self.leaving {
            whom.push((back.as_raw_fd(), readable));
        } else {
            whom.extend(self.door.fd().map(|fd| (fd, readable)));
            rests = self.door.rests().filter(|_| self.peer.is_none());
        }
        if let Some(peer) = &self.peer {
            let (front, back) = (peer.front.as_raw_fd(), peer.back.as_raw_fd());
            match &peer.waits {
                // Nothing more is heard until the library has room.
                Some(_) => whom.push((back, readable | writable)),
                None => whom.extend([(front, readable), (back, readable)]),
            }
            whom.extend(peer.calls.iter().flatten().map(|call| (call.fd(), readable)));
        }
        let poll = |(fd, events)| libc::pollfd { fd, events, revents: 0 };
        let mut polled: Vec<libc::pollfd> = whom.into_iter().map(poll).collect();
        let watches = self.peer.as_ref().is_some_and(|peer| !peer.memory.is_empty());
        // Of less than a millisecond one: it is not asked in vain.
        let time = match rests.map(|rests| rests.as_nanos().div_ceil(1_000_000) as i32) {
            Some(rests) => rests,
            None if watches => LOOK.as_millis() as i32,
            None => -1,
        };
        // SAFETY: a list of ours, of that length.
        unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, time) };
    }

    fn let_in(&mut self) {
        while let Some(front) = self.next() {
            let socket = self.path.display();
            if self.peer.is_some() {
                tracing::debug!(%socket, "a vhost port has a peer already; another is turned away");
                continue;
            }
            match self.inside.connect() {
                Ok(back) => {
                    let told = (Arc::clone(&self.features), Arc::clone(&self.kicks));
                    self.peer = Some(Peer::new(front, back, self.rings, told));
                    self.tell(None);
                }
                Err(error) => {
                    tracing::warn!(fault = "vhost-guard", %socket, %error, "a vhost port is not there");
                    self.door.is_left();
                }
            }
        }
    }

    /// Whoever is to be let in, or turned away.
    fn next(&mut self) -> Option<UnixStream> {
        match &mut self.door {
            Door::Listens(listener) => listener.accept().ok().map(|(front, _)| front),
            Door::Calls(_) if self.peer.is_some() => None,
            Door::Calls(calls) => match calls.call(Instant::now())? {
                Ok(front) => Some(front),
                Err(error) => {
                    let socket = self.path.display();
                    let why =
                        format!("{socket} cannot be connected to, and is tried again: {error}");
                    self.tell(Some(why));
                    None
                }
            },
        }
    }

    /// Why nobody is there.
    fn tell(&self, why: Option<String>) {
        *self.problem.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    fn leave(&mut self, end: &End) {
        let socket = self.path.display();
        match end {
            End::Left => tracing::debug!(%socket, "the peer of a vhost port left"),
            End::Refused(why) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(fault = "vhost-peer", %socket, %why, "a vhost peer was turned away");
            }
            End::Failed(error) => {
                tracing::warn!(fault = "vhost-guard", %socket, %error, "a vhost peer was left");
            }
        }
        if let Door::Calls(_) = self.door {
            let why = match end {
                End::Left => "left".to_owned(),
                End::Refused(why) => format!("was turned away: {why}"),
                End::Failed(error) => format!("was left: {error}"),
            };
            self.tell(Some(format!("who listens at {socket} {why}")));
        }
        self.door.is_left();
        self.features.store(0, Ordering::Relaxed);
        self.kicks.clear();
        if let Some(Peer { back, memory, .. }) = self.peer.take() {
            // The library reads what was said, and then the end.
            let _ = back.shutdown(Shutdown::Write);
            self.leaving = Some((back, memory));
        }
    }
}

struct Peer {
    front: UnixStream,
    back: UnixStream,
    from_front: Hearing,
    from_back: Hearing,
    /// What the library has no room for.
    waits: Option<Said>,
    rules: Rules,
    features: Arc<AtomicU64>,
    kicks: Arc<Kicks>,
    /// By ring.
    calls: Vec<Option<Call>>,
    memory: Vec<Watched>,
}

impl Peer {
    fn new(
        front: UnixStream,
        back: UnixStream,
        rings: u32,
        (features, kicks): (Arc<AtomicU64>, Arc<Kicks>),
    ) -> Self {
        Self {
            front,
            back,
            from_front: Hearing::default(),
            from_back: Hearing::default(),
            waits: None,
            rules: Rules::new(rings),
            features,
            kicks,
            calls: (0..rings).map(|_| None).collect(),
            memory: Vec::new(),
        }
    }

    fn turn(&mut self, signals: &Arc<Signals>) -> Result<(), End> {
        self.calls.iter().flatten().filter(|call| is_readable(call.fd())).for_each(Call::pass_on);
        if self.memory.iter().any(Watched::is_gone) {
            return Err(Refusal::TookAway.into());
        }
        for _ in 0..AT_ONCE {
            if let Some(said) = self.waits.take()
                && !say(&self.back, &said.bytes, &said.descriptors)?
            {
                self.waits = Some(said);
                break;
            }
            let Some(said) = self.from_front.hear(&self.front)? else { break };
            self.waits = self.check(said, signals)?;
        }
        while let Some(mut said) = self.from_back.hear(&self.back)? {
            hide(&mut said);
            self.answer(&said.bytes)?;
        }
        Ok(())
    }

    /// What of a message the library is to hear.
    fn check(&mut self, mut said: Said, signals: &Arc<Signals>) -> Result<Option<Said>, End> {
        let message = Message::read(said.header, &said.bytes[HEADER_BYTES..])?;
        let behind: Vec<_> = said.descriptors.iter().map(behind::of).collect();
        if self.rules.take(said.header.request, &message, &behind)? == Verdict::Ignore {
            if said.header.needs_reply() {
                self.answer(&said.header.well())?;
            }
            return Ok(None);
        }
        match message {
            Message::Features(chosen) => self.features.store(chosen, Ordering::Relaxed),
            Message::Kick(bell) => {
                let fd = said.descriptors.first().map(OwnedFd::try_clone).transpose();
                self.kicks.set(bell.ring, fd.map_err(End::Failed)?);
            }
            Message::StopRing(ring) => self.kicks.set(ring, None),
            Message::Memory(_) | Message::Log { .. } => {
                said.descriptors.iter().try_for_each(|fd| self.watch(fd))?;
            }
            Message::Call(bell) => {
                if let (Some(to), Some(call)) =
                    (said.descriptors.pop(), self.calls.get_mut(bell.ring as usize))
                {
                    let ours = lead(call, signals, to).map_err(End::Failed)?;
                    said.descriptors.push(ours);
                }
            }
            _ => {}
        }
        Ok(Some(said))
    }

    fn watch(&mut self, fd: &OwnedFd) -> Result<(), End> {
        let data = zeroes::data(fd).map_err(End::Failed)?;
        if self.memory.iter().any(|known| known.is(&data)) {
            return Ok(());
        }
        if self.memory.len() == MOST_FILES {
            return Err(Refusal::Files.into());
        }
        self.memory.push(zeroes::watch(&data).map_err(End::Failed)?);
        Ok(())
    }

    fn answer(&self, bytes: &[u8]) -> Result<(), End> {
        if say(&self.front, bytes, &[])? { Ok(()) } else { Err(Refusal::Deaf.into()) }
    }
}

fn lead(call: &mut Option<Call>, signals: &Arc<Signals>, to: OwnedFd) -> io::Result<OwnedFd> {
    if call.is_none() {
        *call = Some(Call::new()?);
    }
    match call {
        Some(call) => call.lead_to(signals, to),
        None => Err(io::Error::other("no eventfd")),
    }
}

/// Has an answer not tell of what would be refused.
fn hide(said: &mut Said) {
    let stays = match said.header.request {
        GET_FEATURES => !NOT_OFFERED,
        GET_PROTOCOL_FEATURES => PROTOCOL_FEATURES,
        _ => return,
    };
    if said.bytes.len() == HEADER_BYTES + 8 {
        let told = u64_at(&said.bytes, HEADER_BYTES) & stays;
        said.bytes[HEADER_BYTES..].copy_from_slice(&told.to_ne_bytes());
    }
}

fn is_readable(fd: RawFd) -> bool {
    let mut polled = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one of ours; it does not wait.
    unsafe { libc::poll(&mut polled, 1, 0) == 1 }
}

/// Whether the other end closed it; what it said before is forgotten.
fn is_closed(stream: &UnixStream) -> bool {
    let mut bytes = [0u8; 256];
    loop {
        // SAFETY: so many octets of ours; it does not wait.
        let read = unsafe {
            let flags = libc::MSG_DONTWAIT;
            libc::recv(stream.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), flags)
        };
        match read {
            1.. => {}
            0 => return true,
            _ => {
                let kind = io::Error::last_os_error().kind();
                return !matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted);
            }
        }
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
