//! One thread for all interfaces: it listens, connects, hears, and ends connections.
//!
//! ```text
//!  control thread   open, start, stop, close ─┐ lock
//!                                             ▼
//!  service thread   poll ─▶ listeners ▸ strangers ▸ sessions ─▶ lines of the interfaces
//!  workers          ─ a ring lies ─▶ wake
//! ```
//! A *stranger* has connected and not said yet which interface it wants. Nobody is waited for: who
//! is not done within five seconds is turned away.

use crate::bell::Bell;
use crate::control::{Init, Message, Refusal, Server, shown};
use crate::interface::{Role, Shared};
use crate::queue::lock;
use crate::session::{NAME, Session, say};
use crate::socket::{Channel, Heard, Listener};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Time to become connected.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks whether a server is there, and whether somebody takes too long.
const PAUSE: Duration = Duration::from_millis(100);
/// After a connection that ended: DPDK's servers take who comes again at once for who left.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// Strangers at once; the oldest gives way.
const STRANGERS: usize = 16;

static SERVICE: OnceLock<Service> = OnceLock::new();
/// Held while the service is made.
static MAKING: Mutex<()> = Mutex::new(());

pub(crate) struct Service {
    state: Arc<Mutex<State>>,
    wake: Arc<Bell>,
}

#[derive(Default)]
struct State {
    next: u64,
    sockets: Vec<Socket>,
    strangers: Vec<Stranger>,
    interfaces: Vec<Interface>,
}

struct Socket {
    path: PathBuf,
    listener: Listener,
    /// Device and inode of the file, to remove no other.
    file: Option<(u64, u64)>,
}

struct Stranger {
    number: u64,
    path: PathBuf,
    channel: Channel,
    since: Instant,
}

struct Interface {
    number: u64,
    shared: Arc<Shared>,
    wanted: bool,
    session: Option<Session>,
    /// Not before it does a client connect.
    not_before: Option<Instant>,
}

/// Whose descriptor is ready.
#[derive(Clone, Copy)]
enum Whose {
    Wake,
    Socket(usize),
    Stranger(u64),
    Session(u64),
}

/// The service, which is begun by who asks first.
pub(crate) fn the() -> io::Result<&'static Service> {
    let _making = lock(&MAKING);
    if let Some(service) = SERVICE.get() {
        return Ok(service);
    }
    let service = Service { state: Arc::default(), wake: Arc::new(Bell::new()?) };
    let (state, wake) = (Arc::clone(&service.state), Arc::clone(&service.wake));
    let thread = std::thread::Builder::new().name("memif".to_owned());
    thread.spawn(move || serve(&state, &wake))?;
    Ok(SERVICE.get_or_init(|| service))
}

/// Whether an interface is to be connected.
pub(crate) fn wants(number: u64, wanted: bool) {
    let Some(service) = SERVICE.get() else { return };
    let mut state = lock(&service.state);
    if let Some(interface) = state.interfaces.iter_mut().find(|it| it.number == number) {
        interface.wanted = wanted;
        interface.not_before = None;
        if !wanted {
            interface.end(&Refusal::Stopped);
        }
    }
    drop(state);
    service.wake.ring();
}

/// Forgets an interface, and its socket if it was the last there.
pub(crate) fn close(number: u64) {
    wants(number, false);
    let Some(service) = SERVICE.get() else { return };
    let mut state = lock(&service.state);
    state.interfaces.retain(|interface| interface.number != number);
    let State { sockets, interfaces, strangers, .. } = &mut *state;
    sockets.retain(|socket| interfaces.iter().any(|it| it.listens_at(&socket.path)));
    strangers.retain(|stranger| sockets.iter().any(|socket| socket.path == stranger.path));
    drop(state);
    service.wake.ring();
}

impl Service {
    /// Takes an interface in.
    pub(crate) fn open(&self, shared: &Arc<Shared>) -> io::Result<u64> {
        let mut state = lock(&self.state);
        let settings = &shared.settings;
        if settings.role == Role::Server {
            let taken = |it: &Interface| {
                it.listens_at(&settings.socket) && it.shared.settings.id == settings.id
            };
            if state.interfaces.iter().any(taken) {
                return Err(io::Error::from_raw_os_error(libc::EEXIST));
            }
            if !state.sockets.iter().any(|socket| socket.path == settings.socket) {
                state.sockets.push(Socket::listen(&settings.socket)?);
            }
        }
        state.next += 1;
        let number = state.next;
        let shared = Arc::clone(shared);
        let interface =
            Interface { number, shared, wanted: false, session: None, not_before: None };
        state.interfaces.push(interface);
        drop(state);
        self.wake.ring();
        Ok(number)
    }
}

impl Socket {
    fn listen(path: &Path) -> io::Result<Self> {
        let listener = Listener::bind(path)?;
        Ok(Self { path: path.to_owned(), listener, file: file_at(path) })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.file.is_some() && self.file == file_at(&self.path) {
            // If it stays, the next who listens there gets over it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn file_at(path: &Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

fn serve(state: &Mutex<State>, wake: &Arc<Bell>) {
    loop {
        let (mut polled, whose, patience) = lock(state).to_poll(wake);
        // SAFETY: as many entries as given, of ours. A descriptor that was closed meanwhile, and
        // given to somebody else, is seen as ready at worst: nothing that is read then waits.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as _, patience) };
        let mut state = lock(state);
        for (entry, whose) in polled.iter().zip(whose) {
            if ready > 0 && entry.revents != 0 {
                state.ready(whose, wake);
            }
        }
        state.look_around();
    }
}

impl State {
    fn to_poll(&self, wake: &Bell) -> (Vec<libc::pollfd>, Vec<Whose>, i32) {
        let mut whose = vec![(wake.fd().as_raw_fd(), Whose::Wake)];
        let sockets = self.sockets.iter().enumerate();
        whose.extend(sockets.map(|(n, it)| (it.listener.as_raw_fd(), Whose::Socket(n))));
        let strangers = self.strangers.iter();
        whose.extend(strangers.map(|it| (it.channel.as_raw_fd(), Whose::Stranger(it.number))));
        let mut busy = !self.strangers.is_empty();
        for interface in &self.interfaces {
            let number = interface.number;
            let Some(session) = &interface.session else {
                busy |= interface.wanted && interface.connects();
                continue;
            };
            whose.push((session.channel.as_raw_fd(), Whose::Session(number)));
            busy |= session.live().is_none();
        }
        let patience = if busy { PAUSE.as_millis() as i32 } else { -1 };
        let entry = |fd: RawFd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let polled = whose.iter().map(|(fd, _)| entry(*fd)).collect();
        (polled, whose.into_iter().map(|(_, whose)| whose).collect(), patience)
    }

    fn ready(&mut self, whose: Whose, wake: &Arc<Bell>) {
        match whose {
            Whose::Wake => {
                wake.take();
            }
            Whose::Socket(number) => self.accept(number),
            Whose::Stranger(number) => self.hear_stranger(number),
            Whose::Session(number) => {
                if let Some(interface) = self.interfaces.iter_mut().find(|it| it.number == number) {
                    interface.hear(wake);
                }
            }
        }
    }

    /// Who comes is greeted.
    fn accept(&mut self, socket: usize) {
        let Some(Socket { path, listener, .. }) = self.sockets.get(socket) else { return };
        let Some(channel) = listener.accept() else { return };
        let here = self.interfaces.iter().filter(|it| it.listens_at(path));
        let most = here
            .fold((1, 1), |(rx, tx), it| (rx.max(it.shared.rx.len()), tx.max(it.shared.tx.len())));
        let hello = Server::<OwnedFd>::hello(NAME, most.0 as u16, most.1 as u16);
        if say(&channel, &hello, None).is_err() {
            return;
        }
        self.next += 1;
        let stranger =
            Stranger { number: self.next, path: path.clone(), channel, since: Instant::now() };
        if self.strangers.len() == STRANGERS {
            self.strangers.remove(0);
        }
        self.strangers.push(stranger);
    }

    /// A stranger says which interface it wants, or it goes.
    fn hear_stranger(&mut self, number: u64) {
        let Some(place) = self.strangers.iter().position(|it| it.number == number) else { return };
        let heard = self.strangers[place].channel.hear();
        if matches!(heard, Ok(Heard::Nothing)) {
            return;
        }
        let Stranger { path, channel, .. } = self.strangers.swap_remove(place);
        let said = match heard {
            Ok(Heard::Message { bytes, descriptor: None, extra: false }) => {
                Message::read(&bytes).map_err(Refusal::from)
            }
            Ok(Heard::Message { .. }) => Err(Refusal::ExtraDescriptor),
            Ok(Heard::Closed | Heard::Nothing) | Err(_) => return,
        };
        let outcome = said.and_then(|message| match message {
            Message::Init(init) => self.admit(&path, &init),
            _ => Err(Refusal::OutOfTurn),
        });
        match outcome {
            Ok(interface) => match Session::of_client(channel, &interface.shared) {
                Ok(session) => interface.session = Some(session),
                Err(why) => interface.note(&why),
            },
            Err(why) => {
                let (socket, why) = (path.display(), why.to_string());
                tracing::warn!(fault = "memif-peer", %socket, why, "a memif client was turned away");
                // It may not listen: no matter.
                let _ = say(&channel, &Message::disconnect(&why), None);
            }
        }
    }

    fn admit(&mut self, path: &Path, init: &Init) -> Result<&mut Interface, Refusal> {
        let mut here = self.interfaces.iter_mut().filter(|it| it.listens_at(path));
        let interface = here.find(|it| it.shared.settings.id == init.id).ok_or(Refusal::Id)?;
        let outcome = match () {
            _ if !interface.wanted => Err(Refusal::Stopped),
            _ if interface.session.is_some() => Err(Refusal::Taken),
            _ => Server::<OwnedFd>::admit(init, &interface.shared.settings.secret),
        };
        match outcome {
            Ok(()) => {
                let (socket, peer) = (path.display(), shown(&init.name));
                tracing::debug!(%socket, id = init.id, peer, "a memif client comes");
                Ok(interface)
            }
            Err(why) => {
                interface.shared.refused.fetch_add(1, Ordering::Relaxed);
                Err(why)
            }
        }
    }

    /// What is to be done without anybody saying something.
    fn look_around(&mut self) {
        self.strangers.retain(|stranger| stranger.since.elapsed() < PATIENCE);
        self.interfaces.iter_mut().for_each(Interface::look);
    }
}

impl Interface {
    fn listens_at(&self, path: &Path) -> bool {
        let settings = &self.shared.settings;
        settings.role == Role::Server && settings.socket == path
    }

    fn connects(&self) -> bool {
        self.shared.settings.role == Role::Client
    }

    fn hear(&mut self, wake: &Arc<Bell>) {
        let Some(session) = &mut self.session else { return };
        let was_live = session.live().is_some();
        match session.hear(&self.shared, wake) {
            Ok(()) => {
                if session.live().is_some() && !was_live {
                    self.shared.up.store(true, Ordering::Release);
                }
            }
            Err(why) => self.end(&why),
        }
    }

    fn look(&mut self) {
        match &self.session {
            Some(session) if session.lied() => {
                self.shared.lies.fetch_add(1, Ordering::Relaxed);
                self.end(&Refusal::Lie);
            }
            Some(session) if session.live().is_none() && session.began.elapsed() >= PATIENCE => {
                self.end(&Refusal::Late);
            }
            Some(_) => {}
            None if self.wanted && self.connects() => self.connect(),
            None => {}
        }
    }

    fn connect(&mut self) {
        let now = Instant::now();
        if self.not_before.is_some_and(|at| now < at) {
            return;
        }
        self.not_before = Some(now + PAUSE);
        // Nobody there yet: tried again.
        if let Ok(channel) = Channel::connect(&self.shared.settings.socket) {
            self.session = Some(Session::of_server(channel, &self.shared));
        }
    }

    fn end(&mut self, why: &Refusal) {
        let Some(session) = self.session.take() else {
            self.shared.up.store(false, Ordering::Release);
            return;
        };
        // One that left while it was welcome, and one whom we left, did nothing wrong. What did is
        // counted by the time that the peer hears of it.
        match why {
            Refusal::Left(_) if session.live().is_some() => {}
            Refusal::Stopped => {}
            why => self.note(why),
        }
        self.shared.up.store(false, Ordering::Release);
        session.end(&self.shared, why);
        self.not_before = Some(Instant::now() + RECONNECT_PAUSE);
    }

    fn note(&self, why: &Refusal) {
        let settings = &self.shared.settings;
        let (socket, id) = (settings.socket.display(), settings.id);
        if *why != Refusal::Lie {
            self.shared.refused.fetch_add(1, Ordering::Relaxed);
        }
        tracing::warn!(fault = "memif-peer", %socket, id, %why, "a memif peer was left");
    }
}
