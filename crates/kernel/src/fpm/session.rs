//! The thread that zebra talks to.
//!
//! ```text
//!  listening ── zebra connects ─▶ session ── it ends, or a bad frame ─▶ listening, routes stay
//!                                   │ its first word                       │ hold time later
//!                                   │ hold time later                      ▼
//!                                   ▼                                 all routes go
//!                              what was not told again goes
//! ```
//! What a router before this one was told counts as told by a session that ended as we began.
//! There is one session. Another that begins meanwhile is turned away, whoever it is: zebra tries
//! again, and one that vanished without a word is found out by keepalives.

use super::admission::{Admission, Network};
use super::learned::{Learned, Update};
use crate::{KernelError, Namespace, Waker};
use netlink::route::RouteKey;
use netlink::{Messages, fpm};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt;
use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Routes told in one go: little enough that the control thread does other work in between.
const SLICE: usize = 1024;
/// Slices that wait for the control thread.
const SLICES: usize = 8;
/// Read at a time: several frames, of which each is handled when it is complete.
const READ: usize = 256 << 10;
/// How long a session is silent before its other end is asked whether it lives, and how often.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(10), Duration::from_secs(3), 3);
/// Between two attempts to hand over a slice.
const PAUSE: Duration = Duration::from_millis(1);

/// How FPM is listened for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FpmOptions {
    /// Address and port that zebra connects to.
    pub listen: SocketAddr,
    /// In which network namespace: zebra's.
    pub namespace: Namespace,
    /// How long routes stay that nobody tells again.
    pub hold: Duration,
    /// Users of this machine whose processes may connect, by name or number.
    pub users: Vec<String>,
    /// Networks of other machines that may.
    pub from: Vec<Network>,
}

/// What a router before this one had been told: it stays until a session had time to tell it again.
#[derive(Default)]
pub struct Recalled {
    /// The routes, for who has the time to look at them all.
    pub routes: Option<Box<dyn FnOnce() -> Vec<RouteKey> + Send>>,
    /// Groups below this number are theirs.
    pub first_number: u32,
}

/// What is known of the sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FpmState {
    /// Who is connected.
    pub peer: Option<SocketAddr>,
    /// Sessions so far.
    pub sessions: u64,
    /// Routes that zebra has told.
    pub routes: usize,
    /// Those of them that lead to a next hop that it has not told, or has taken away.
    pub waiting: usize,
    /// Routes of sessions before this one that it has not told again.
    pub stale: usize,
    /// Why the last session ended.
    pub ended: Option<String>,
}

/// The control thread's hold on it. Dropped, it ends.
pub struct Fpm {
    updates: Option<Receiver<Vec<Update>>>,
    state: Arc<Mutex<FpmState>>,
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

impl Fpm {
    /// Begins to listen. `told` is called when there are updates.
    pub fn start(
        options: &FpmOptions,
        recalled: Recalled,
        told: Arc<dyn Fn() + Send + Sync>,
    ) -> Result<Self, KernelError> {
        let listener = options.namespace.run(|| TcpListener::bind(options.listen))?;
        let listen = options.listen;
        let listener = listener.and_then(|it| it.set_nonblocking(true).map(|()| it));
        let refused = |why| KernelError::Listen { address: listen, why };
        let listener = listener.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let admission = Admission::new(&options.namespace, &options.users, &options.from)?;
        let waker = Waker::new().map_err(KernelError::Thread)?;
        let (out, updates) = sync_channel(SLICES);
        let (state, stop) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let server = Server {
            listener,
            admission,
            session: None,
            learned: Learned::after(recalled.first_number),
            recalled: recalled.routes,
            sweep_at: None,
            hold: options.hold,
            out,
            told,
            state: Arc::clone(&state),
            stop: Arc::clone(&stop),
            waker: waker.clone(),
        };
        let thread = std::thread::Builder::new().name("fpm".into()).spawn(|| server.run());
        let thread = Some(thread.map_err(KernelError::Thread)?);
        Ok(Self { updates: Some(updates), state, address, stop, waker, thread })
    }

    /// The next slice of updates, if there is one.
    pub fn next_slice(&mut self) -> Option<Vec<Update>> {
        self.updates.as_ref()?.try_recv().ok()
    }

    /// Where it is listened.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Which session there is, if there is one: they are counted.
    pub fn session(&self) -> Option<u64> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.peer.map(|_| state.sessions)
    }

    /// What is known of the sessions.
    pub fn state(&self) -> FpmState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Fpm {
    fn drop(&mut self) {
        self.updates = None;
        self.stop.store(true, Ordering::Relaxed);
        self.waker.wake();
        // One that panicked has told so.
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

/// What zebra sent and was not handled yet.
struct Session {
    stream: TcpStream,
    bytes: Vec<u8>,
    has_spoken: bool,
}

struct Server {
    listener: TcpListener,
    admission: Admission,
    session: Option<Session>,
    learned: Learned,
    recalled: Option<Box<dyn FnOnce() -> Vec<RouteKey> + Send>>,
    sweep_at: Option<Instant>,
    hold: Duration,
    out: SyncSender<Vec<Update>>,
    told: Arc<dyn Fn() + Send + Sync>,
    state: Arc<Mutex<FpmState>>,
    stop: Arc<AtomicBool>,
    waker: Waker,
}

impl Server {
    fn run(mut self) {
        if let Some(recalled) = self.recalled.take().map(|recalled| recalled())
            && !recalled.is_empty()
        {
            self.learned.recall(recalled);
            self.sweep_at = Some(Instant::now() + self.hold);
        }
        loop {
            if let Err(error) = self.wait() {
                tracing::error!(fault = "fpm-ended", %error, "FPM is listened for no more");
                return;
            }
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            self.waker.answer();
            // Before others are looked at: who left makes room for who comes.
            self.hear();
            match self.listener.accept() {
                Ok((stream, peer)) => self.answer(stream, peer),
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    tracing::warn!(fault = "fpm-accept", %error, "an FPM session cannot begin");
                }
            }
            if self.sweep_at.is_some_and(|at| at <= Instant::now()) {
                self.sweep_at = None;
                if self.session.is_none() {
                    self.learned.begin();
                }
                self.learned.sweep();
            }
            if !self.tell() {
                return;
            }
        }
    }

    /// Waits for zebra, the time to sweep, or the end.
    fn wait(&self) -> io::Result<()> {
        let mut waiting = vec![
            PollFd::new(&self.waker, PollFlags::IN),
            PollFd::new(&self.listener, PollFlags::IN),
        ];
        let stream = self.session.as_ref().map(|session| &session.stream);
        waiting.extend(stream.map(|stream| PollFd::new(stream, PollFlags::IN)));
        let left = self.sweep_at.map(|at| at.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut waiting, left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Takes in what the session says.
    fn hear(&mut self) {
        let Some(session) = &mut self.session else { return };
        let had_spoken = session.has_spoken;
        let outcome = session.read().and_then(|more| {
            session.hear(&mut self.learned)?;
            Ok(more)
        });
        if session.has_spoken && !had_spoken {
            self.sweep_at = Some(Instant::now() + self.hold);
        }
        match outcome {
            Ok(true) => {}
            Ok(false) => self.end("zebra closed it"),
            Err(why) => self.end(&why.to_string()),
        }
    }

    /// Somebody connected: a session begins, unless there is one, or it is not who may.
    fn answer(&mut self, stream: TcpStream, peer: SocketAddr) {
        let admitted = match &self.session {
            Some(_) => Err("there is a session".to_owned()),
            None => stream
                .local_addr()
                .map_err(|error| error.to_string())
                .and_then(|here| self.admission.admit(peer, here)),
        };
        if let Err(why) = admitted {
            tracing::warn!(fault = "fpm-refused", %peer, why, "an FPM session was refused");
            return;
        }
        if let Err(error) = stream.set_nonblocking(true).and_then(|()| keep_alive(&stream)) {
            tracing::warn!(fault = "fpm-accept", %peer, %error, "an FPM session cannot begin");
            return;
        }
        tracing::info!(%peer, "an FPM session began");
        self.session = Some(Session { stream, bytes: Vec::new(), has_spoken: false });
        // Until it has said something, nothing is known to be stale.
        self.sweep_at = None;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.peer, state.sessions) = (Some(peer), state.sessions + 1);
    }

    fn end(&mut self, why: &str) {
        self.session = None;
        self.sweep_at = Some(Instant::now() + self.hold);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let peer = state.peer.take().map(|peer| peer.to_string());
        state.ended = Some(why.to_owned());
        tracing::warn!(fault = "fpm-session", peer, why, "the FPM session ended");
    }

    /// Hands over what changed, slice by slice; false when nobody wants it any more.
    fn tell(&mut self) -> bool {
        let updates = self.learned.take_updates();
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            (state.routes, state.waiting) = (self.learned.routes(), self.learned.waiting());
            state.stale = self.learned.stale();
        }
        for slice in updates.chunks(SLICE) {
            let mut slice = slice.to_vec();
            loop {
                match self.out.try_send(slice) {
                    Ok(()) => break,
                    Err(TrySendError::Disconnected(_)) => return false,
                    Err(TrySendError::Full(back)) => slice = back,
                }
                (self.told)();
                std::thread::sleep(PAUSE);
            }
            (self.told)();
        }
        true
    }
}

impl Session {
    /// Reads what there is; false when nothing more will come.
    fn read(&mut self) -> io::Result<bool> {
        let had = self.bytes.len();
        self.bytes.resize(had + READ, 0);
        let outcome = self.stream.read(&mut self.bytes[had..]);
        self.bytes.truncate(had + outcome.as_ref().copied().unwrap_or(0));
        match outcome {
            Ok(length) => Ok(length != 0),
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => Ok(true),
            Err(why) => Err(why),
        }
    }

    /// Handles the frames that are complete.
    fn hear(&mut self, learned: &mut Learned) -> io::Result<()> {
        let mut handled = 0;
        while let Some((payload, length)) =
            fpm::frame(&self.bytes[handled..]).map_err(io::Error::other)?
        {
            for message in Messages::new(payload) {
                if !self.has_spoken {
                    self.has_spoken = true;
                    learned.begin();
                }
                let heard = message.and_then(|message| learned.hear(&message));
                heard.map_err(io::Error::other)?;
            }
            handled += length;
        }
        self.bytes.drain(..handled);
        Ok(())
    }
}

/// Has the kernel find out when the other end is gone.
fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    let (idle, between, probes) = KEEPALIVE;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, idle)?;
    sockopt::set_tcp_keepintvl(stream, between)?;
    Ok(sockopt::set_tcp_keepcnt(stream, probes)?)
}

#[cfg(test)]
mod tests;
