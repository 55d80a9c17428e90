//! A connection over TLS that one thread reads while another writes.
//!
//! ```text
//!  socket ─▶ inbound ─▶ (state: a lock, never held while the socket is waited for) ─▶ reader
//!  writer ─▶ state ─▶ outbound (a lock, held while the socket takes what was encrypted) ─▶ socket
//! ```
//! What is encrypted goes out in the order in which it was: `outbound` is held from there on. Who
//! reads has something to say at times, too (of the handshake, or why it is over); where another
//! writes at that moment, that one says it.

use rustls::Connection;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Read of the socket at once: a whole record (RFC 8446 section 5.1), and what is around it.
const CHUNK: usize = 17 * 1024;

/// See the module.
pub struct Link {
    tcp: TcpStream,
    state: Mutex<Connection>,
    inbound: Mutex<Inbound>,
    outbound: Mutex<Vec<u8>>,
    /// How long a read may wait.
    patience: Mutex<Option<Duration>>,
}

/// What came and is not deciphered.
struct Inbound {
    bytes: Box<[u8; CHUNK]>,
    from: usize,
    to: usize,
}

fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Link {
    /// Over a socket, whose own times are from now on set by this alone. Nothing is said yet.
    pub fn new(tcp: TcpStream, end: Connection) -> Self {
        let inbound = Inbound { bytes: Box::new([0; CHUNK]), from: 0, to: 0 };
        Self {
            tcp,
            state: Mutex::new(end),
            inbound: Mutex::new(inbound),
            outbound: Mutex::default(),
            patience: Mutex::new(None),
        }
    }

    /// The socket.
    pub fn socket(&self) -> &TcpStream {
        &self.tcp
    }

    /// How long a read may find nothing to tell, whatever comes meanwhile, and how long a write may
    /// find no room.
    pub fn set_patience(&self, read: Option<Duration>, write: Option<Duration>) -> io::Result<()> {
        *locked(&self.patience) = read;
        self.tcp.set_write_timeout(write)
    }

    /// Has both know each other, within so long in all.
    pub fn begin(&self, time: Duration) -> io::Result<()> {
        let until = Some(Instant::now() + time);
        let late = [io::ErrorKind::TimedOut, io::ErrorKind::WouldBlock];
        match self.when(until, |state| Ok((!state.is_handshaking()).then_some(()))) {
            Ok(Some(())) => Ok(()),
            Ok(None) => Err(io::Error::other("it went before it showed who it is")),
            Err(error) if late.contains(&error.kind()) => {
                let why = format!("it did not show who it is within {time:?}");
                Err(io::Error::new(io::ErrorKind::TimedOut, why))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether both know each other.
    pub fn is_begun(&self) -> bool {
        !locked(&self.state).is_handshaking()
    }

    /// Reads until there is something; none: the other side went.
    fn when<T>(
        &self,
        until: Option<Instant>,
        mut ready: impl FnMut(&mut Connection) -> io::Result<Option<T>>,
    ) -> io::Result<Option<T>> {
        let mut inbound = locked(&self.inbound);
        loop {
            let found = self.decipher(&mut inbound, &mut ready);
            let said = self.say(false);
            if let Some(found) = found? {
                return Ok(Some(found));
            }
            said?;
            let left = until.map(|it| it.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.tcp.set_read_timeout(left)?;
            match inbound.fill(&self.tcp) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                // Whoever stops us and has us go on ends a wait that has a limit.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Deciphers what came until there is something.
    fn decipher<T>(
        &self,
        inbound: &mut Inbound,
        ready: &mut impl FnMut(&mut Connection) -> io::Result<Option<T>>,
    ) -> io::Result<Option<T>> {
        let mut state = locked(&self.state);
        loop {
            let found = ready(&mut state)?;
            if found.is_some() || inbound.from == inbound.to {
                return Ok(found);
            }
            match state.read_tls(&mut &inbound.bytes[inbound.from..inbound.to])? {
                // It said that it goes: what comes behind that is nothing.
                0 => inbound.from = inbound.to,
                taken => inbound.from += taken,
            }
            let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
            state.process_new_packets().map_err(invalid)?;
        }
    }

    /// Sends what there is to be sent. Who does not wait leaves it to who writes now.
    fn say(&self, waits: bool) -> io::Result<()> {
        loop {
            let mut outbound = match self.outbound.try_lock() {
                Ok(outbound) => outbound,
                Err(TryLockError::Poisoned(outbound)) => outbound.into_inner(),
                Err(TryLockError::WouldBlock) if waits => locked(&self.outbound),
                Err(TryLockError::WouldBlock) => return Ok(()),
            };
            {
                let mut state = locked(&self.state);
                while state.wants_write() {
                    state.write_tls(&mut *outbound)?;
                }
            }
            let sent = (&self.tcp).write_all(&outbound);
            outbound.clear();
            drop(outbound);
            sent?;
            // Of somebody who came in between, and did not wait.
            if !locked(&self.state).wants_write() {
                return Ok(());
            }
        }
    }
}

impl Inbound {
    fn fill(&mut self, mut tcp: &TcpStream) -> io::Result<usize> {
        self.from = 0;
        self.to = 0;
        self.to = tcp.read(&mut self.bytes[..])?;
        Ok(self.to)
    }
}

/// What was said. The other side's end is an end with or without TLS's own farewell: messages of
/// our protocols say where they end.
impl Read for &Link {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let until = locked(&self.patience).map(|it| Instant::now() + it);
        let read = self.when(until, |state| match state.reader().read(into) {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        })?;
        Ok(read.unwrap_or(0))
    }
}

impl Write for &Link {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let taken = locked(&self.state).writer().write(from)?;
        self.say(true)?;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("tcp", &self.tcp).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Keys;
    use crate::testing::Authority;
    use std::net::TcpListener;
    use std::path::Path;
    use std::sync::Arc;
    use std::thread;

    const LONG: Duration = Duration::from_secs(20);

    fn read(path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    /// Two sockets that are one connection.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (to, listener.accept().unwrap().0)
    }

    fn links(client: &Keys, server: &Keys) -> (Link, Link) {
        let (to, from) = pair();
        let client = client.client([127, 0, 0, 1].into(), &read).unwrap();
        (Link::new(to, client), Link::new(from, server.server(&read).unwrap()))
    }

    /// What each told of its beginning.
    fn begun(client: &Link, server: &Link) -> [io::Result<()>; 2] {
        thread::scope(|scope| {
            let begins = scope.spawn(|| client.begin(LONG));
            let served = server.begin(LONG);
            [begins.join().unwrap(), served]
        })
    }

    #[test]
    fn both_of_one_authority_are_each_others_whatever_their_names() {
        let authority = Authority::new("one");
        let (client, server) = links(&authority.keys("us"), &authority.keys("elsewhere"));
        assert!(!server.is_begun());
        begun(&client, &server).into_iter().for_each(Result::unwrap);
        assert!(server.is_begun());
        (&client).write_all(b"hello").unwrap();
        let mut heard = [0; 9];
        assert_eq!((&server).read(&mut heard).unwrap(), 5);
        assert_eq!(&heard[..5], b"hello");
        // An end is one without a farewell.
        drop(client);
        assert_eq!((&server).read(&mut heard).unwrap(), 0);
    }

    #[test]
    fn a_stranger_is_refused_by_either_and_told() {
        let (ours, others) = (Authority::new("ours"), Authority::new("others"));
        let stranger = |of: &Keys, believes: &Keys| Keys {
            authority: believes.authority.clone(),
            ..of.clone()
        };
        let (us, them) = (ours.keys("us"), others.keys("them"));
        // A client whom somebody else has signed; what it is told comes with what it reads first.
        let (client, server) = links(&stranger(&them, &us), &us);
        let [_, served] = begun(&client, &server);
        let told = served.unwrap_err().to_string();
        assert!(told.starts_with("invalid peer certificate: "), "{told}");
        let told = (&client).read(&mut [0; 9]).unwrap_err().to_string();
        assert!(told.starts_with("received fatal alert: "), "{told}");
        // A server.
        let (client, server) = links(&us, &stranger(&them, &us));
        let [begins, served] = begun(&client, &server).map(|it| it.unwrap_err().to_string());
        assert!(begins.starts_with("invalid peer certificate: "), "{begins}");
        assert!(served.starts_with("received fatal alert: "), "{served}");
    }

    #[test]
    fn who_shows_no_certificate_is_refused() {
        let authority = Authority::new("one");
        let keys = authority.keys("us");
        let (to, from) = pair();
        let mut roots = rustls::RootCertStore::empty();
        let pem = std::fs::read(&keys.authority).unwrap();
        use rustls::pki_types::pem::PemObject;
        roots.add(rustls::pki_types::CertificateDer::from_pem_slice(&pem).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = "us".try_into().unwrap();
        let end = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
        let (client, server) =
            (Link::new(to, end.into()), Link::new(from, keys.server(&read).unwrap()));
        let [_, served] = begun(&client, &server);
        assert_eq!(served.unwrap_err().to_string(), "peer sent no certificates");
    }

    #[test]
    fn who_says_nothing_or_one_octet_after_the_other_has_its_time_and_no_more() {
        let authority = Authority::new("one");
        let keys = authority.keys("us");
        let time = Duration::from_millis(300);
        for dribbles in [false, true] {
            let (to, from) = pair();
            let _held = to.try_clone().unwrap();
            let server = Link::new(from, keys.server(&read).unwrap());
            let dribbling = thread::spawn(move || {
                let hello = [22, 3, 1, 2, 0, 1, 0, 1, 0xfc];
                for octet in hello.iter().chain([&0; 5000]).filter(|_| dribbles) {
                    if (&to).write_all(&[*octet]).is_err() {
                        break;
                    }
                    thread::sleep(Duration::from_millis(20));
                }
            });
            let began = Instant::now();
            let error = server.begin(time).unwrap_err();
            assert_eq!(error.to_string(), "it did not show who it is within 300ms");
            // The machine may be slow; that it would go on for 100 s is what must not be.
            assert!(began.elapsed() < 20 * time);
            server.socket().shutdown(std::net::Shutdown::Both).unwrap();
            drop(server);
            dribbling.join().unwrap();
        }
    }

    #[test]
    fn one_thread_reads_while_another_writes_and_waits() {
        let authority = Authority::new("one");
        let (client, server) = links(&authority.keys("us"), &authority.keys("them"));
        begun(&client, &server).into_iter().for_each(Result::unwrap);
        let client = Arc::new(client);
        // It is written to without end, and nobody reads there.
        let writes = thread::spawn({
            let client = Arc::clone(&client);
            move || while (&*client).write_all(&[7; 60_000]).is_ok() {}
        });
        // As many as its buffers take: the writer waits.
        thread::sleep(Duration::from_millis(300));
        for number in 0..100_u8 {
            (&server).write_all(&[number; 1000]).unwrap();
            let mut heard = [0; 1000];
            (&*client).read_exact(&mut heard).unwrap();
            assert_eq!(heard, [number; 1000]);
        }
        // What was written is whole, and in its order.
        let mut heard = vec![0; 3_000_000];
        (&server).read_exact(&mut heard).unwrap();
        assert!(heard.iter().all(|it| *it == 7));
        drop(server);
        writes.join().unwrap();
    }
}
