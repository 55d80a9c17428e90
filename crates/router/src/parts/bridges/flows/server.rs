//! Where controllers and tools come to: a Unix socket for each bridge, and TCP where it is said,
//! with TLS over it or without.

use super::hub::Hub;
use super::keys::Keys;
use super::session::{Session, Streams};
use super::stream::Stream;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long is waited where a connection cannot be taken: there are too many files, say.
const PAUSE: Duration = Duration::from_millis(100);

/// See the module. It ends when this is dropped.
pub(super) struct Server {
    /// The file of its socket, if it has one.
    path: Option<PathBuf>,
    ends: Arc<AtomicBool>,
    /// Where it listens: shut down, who waits for connections sees that it ends.
    listening: Stream,
    pub(super) streams: Streams,
    /// Connections that were taken.
    pub(super) taken: Arc<AtomicU64>,
    /// Why the last that came was not spoken with, if it was not.
    problem: Problem,
}

/// What is told of who came. Its copies are one.
#[derive(Clone, Default)]
struct Problem(Arc<Mutex<Option<String>>>);

impl Problem {
    /// Of a connection: what became of it.
    fn note(&self, from: Option<IpAddr>, begun: &io::Result<()>) {
        let problem = begun.as_ref().err().map(|error| match from {
            Some(from) => format!("{from}: {error}"),
            None => error.to_string(),
        });
        if let Some(why) = &problem {
            tracing::warn!(fault = "openflow", %why, "a controller is not spoken with");
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    fn last(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Server {
    pub(super) fn at_path(path: &Path, hub: Arc<Mutex<Hub>>) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // A socket that nobody listens at is left from before; anything else stays.
        let is_socket = std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
        if is_socket && UnixStream::connect(path).is_err() {
            std::fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        let listening = UnixStream::from(OwnedFd::from(listener.try_clone()?));
        let accept = move || listener.accept().map(|(stream, _)| Stream::Unix(stream));
        Self::start(Some(path.to_owned()), Stream::Unix(listening), accept, hub)
    }

    /// `keys`: who comes has to show over TLS who it is.
    pub(super) fn at_address(
        address: SocketAddr,
        keys: Option<Keys>,
        hub: Arc<Mutex<Hub>>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let listening = TcpStream::from(OwnedFd::from(listener.try_clone()?));
        let accept = move || {
            let (stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            match &keys {
                Some(keys) => keys.server(stream),
                None => Ok(Stream::Tcp(stream)),
            }
        };
        Self::start(None, Stream::Tcp(listening), accept, hub)
    }

    fn start(
        path: Option<PathBuf>,
        listening: Stream,
        accept: impl Fn() -> io::Result<Stream> + Send + 'static,
        hub: Arc<Mutex<Hub>>,
    ) -> io::Result<Self> {
        let (ends, streams) = (Arc::<AtomicBool>::default(), Streams::default());
        let taken = Arc::<AtomicU64>::default();
        let it = Self {
            path,
            ends: Arc::clone(&ends),
            listening,
            streams: streams.clone(),
            taken: Arc::clone(&taken),
            problem: Problem::default(),
        };
        let problem = it.problem.clone();
        thread::Builder::new().name("openflow".to_owned()).spawn(move || {
            loop {
                let stream = accept();
                if ends.load(Ordering::Acquire) {
                    return;
                }
                let stream = match stream {
                    Ok(stream) => stream,
                    Err(error) => {
                        problem.note(None, &Err(error));
                        thread::sleep(PAUSE);
                        continue;
                    }
                };
                taken.fetch_add(1, Ordering::Relaxed);
                let (from, problem) = (stream.peer_address(), problem.clone());
                let served = Session::begin(stream, &hub, &streams, None);
                let spawn = |it: Session| it.spawn(move |begun| problem.note(from, begun));
                // None: closed, there are enough.
                if let Err(error) = served.and_then(|it| it.map_or(Ok(()), spawn)) {
                    tracing::warn!(fault = "openflow", %error, "a controller cannot be served");
                }
            }
        })?;
        Ok(it)
    }

    /// Why the last that came was not spoken with.
    pub(super) fn problem(&self) -> Option<String> {
        self.problem.last()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        self.listening.end();
        if let Some(path) = &self.path {
            // Whoever took it away has done what there was to do.
            _ = std::fs::remove_file(path);
        }
        self.streams.end();
    }
}
