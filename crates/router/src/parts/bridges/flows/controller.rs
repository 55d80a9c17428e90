//! Controllers that a bridge connects to: a thread for each, which tries again and again.
//!
//! ```text
//!  connect ─▶ Session ─▶ over ─▶ wait: 1 s, 2 s, 4 s … max_backoff ─▶ connect
//!                                └ 1 s again behind a connection that agreed upon something
//! ```

use super::hub::Hub;
use super::keys::Keys;
use super::server::Server;
use super::session::{GREETING, Session, Streams};
use super::stream::Stream;
use control::config::objects::bridge_controller::{Controller, Target};
use rights::Folders;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The first wait between two tries.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// How long a try may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How one is.
struct State {
    ends: bool,
    since: Instant,
    problem: Option<String>,
}

/// What its thread and others share.
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
    made: AtomicU64,
}

/// A controller, as it is configured. It ends when this is dropped.
pub(super) struct OpenController {
    pub(super) config: Controller,
    way: Way,
}

/// Where it is, and what it is shown.
struct To {
    address: SocketAddr,
    keys: Option<Keys>,
    config: Controller,
}

impl To {
    /// Connects, and has both know each other.
    fn connect(&self) -> io::Result<Stream> {
        let tcp = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        tcp.set_nodelay(true)?;
        let Some(keys) = &self.keys else { return Ok(Stream::Tcp(tcp)) };
        let stream = keys.client(tcp, self.address.ip())?;
        stream.begin(GREETING)?;
        Ok(stream)
    }
}

enum Way {
    Active { shared: Arc<Shared>, streams: Streams },
    Passive(Server, Instant),
}

impl OpenController {
    /// `folders`: below which files are opened by way of no link.
    pub(super) fn start(
        config: &Controller,
        folders: &Folders,
        hub: &Arc<Mutex<Hub>>,
    ) -> io::Result<Self> {
        let keys = match config.target.is_by_tls() {
            true => Some(Keys::of(config, folders).ok_or_else(|| io::Error::other("no keys"))?),
            false => None,
        };
        let way = match config.target {
            Target::Ptcp(address) | Target::Pssl(address) => {
                Way::Passive(Server::at_address(address, keys, Arc::clone(hub))?, Instant::now())
            }
            Target::Tcp(address) | Target::Ssl(address) => {
                let state = State { ends: false, since: Instant::now(), problem: None };
                let shared = Shared {
                    state: Mutex::new(state),
                    ended: Condvar::new(),
                    made: AtomicU64::new(0),
                };
                let (shared, streams) = (Arc::new(shared), Streams::default());
                let way = Way::Active { shared: Arc::clone(&shared), streams: streams.clone() };
                let to = To { address, keys, config: config.clone() };
                let hub = Arc::clone(hub);
                thread::Builder::new()
                    .name("openflow-to".to_owned())
                    .spawn(move || shared.run(&to, &hub, &streams))?;
                way
            }
        };
        Ok(Self { config: config.clone(), way })
    }

    /// The connections that are there.
    pub(super) fn peers(&self) -> Vec<u64> {
        match &self.way {
            Way::Active { streams, .. } => streams.peers(),
            Way::Passive(server, _) => server.streams.peers(),
        }
    }

    /// Connections made, since when it is as it is, and what was wrong last.
    pub(super) fn state(&self) -> (u64, Duration, Option<String>) {
        match &self.way {
            Way::Active { shared, .. } => {
                let state = shared.locked();
                let made = shared.made.load(Ordering::Relaxed);
                (made, state.since.elapsed(), state.problem.clone())
            }
            Way::Passive(server, since) => {
                (server.taken.load(Ordering::Relaxed), since.elapsed(), server.problem())
            }
        }
    }
}

impl Drop for OpenController {
    fn drop(&mut self) {
        if let Way::Active { shared, streams } = &self.way {
            shared.locked().ends = true;
            shared.ended.notify_all();
            streams.end();
        }
    }
}

impl Shared {
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, to: &To, hub: &Arc<Mutex<Hub>>, streams: &Streams) {
        let (config, mut wait) = (&to.config, FIRST_WAIT);
        loop {
            let (has_spoken, problem) = self.once(to, hub, streams);
            if has_spoken {
                wait = FIRST_WAIT;
            }
            if !self.rests(wait.min(config.max_backoff), &problem) {
                return;
            }
            wait = (wait * 2).min(config.max_backoff);
        }
    }

    /// One connection, from its beginning to its end: whether anything was agreed upon, and why it
    /// is over.
    fn once(&self, to: &To, hub: &Arc<Mutex<Hub>>, streams: &Streams) -> (bool, String) {
        let config = &to.config;
        let stream = to.connect();
        let begun = stream.and_then(|it| Session::begin(it, hub, streams, Some(config.probe)));
        let session = match begun {
            Ok(Some(session)) => session,
            Ok(None) => return (false, "the bridge has too many connections".to_owned()),
            Err(error) => return (false, error.to_string()),
        };
        {
            let mut state = self.locked();
            if state.ends {
                return (false, String::new());
            }
            (state.since, state.problem) = (Instant::now(), None);
        }
        self.made.fetch_add(1, Ordering::Relaxed);
        tracing::info!(event = "controller", target = %config.target.text(), "connected");
        let (has_spoken, ended) = session.read();
        let why = ended.map_or_else(|error| error.to_string(), |()| "it went".to_owned());
        self.locked().since = Instant::now();
        tracing::warn!(fault = "openflow", target = %config.target.text(), %why, "controller lost");
        (has_spoken, why)
    }

    /// Waits; false: it ends.
    fn rests(&self, time: Duration, problem: &str) -> bool {
        let mut state = self.locked();
        state.problem = Some(problem.to_owned());
        let rested = self.ended.wait_timeout_while(state, time, |state| !state.ends);
        !rested.unwrap_or_else(PoisonError::into_inner).0.ends
    }
}
