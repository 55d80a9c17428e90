//! What a controller is spoken with by: a Unix socket, TCP, or TLS over it.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use tls::Link;

/// See the module.
pub(super) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<Link>),
}

macro_rules! each {
    ($stream:expr, $it:ident => $do:expr, $link:pat => $tls:expr) => {
        match $stream {
            Stream::Unix($it) => $do,
            Stream::Tcp($it) => $do,
            Stream::Tls($link) => $tls,
        }
    };
}

impl Stream {
    /// Where the other side is, if that is known.
    pub(super) fn peer_address(&self) -> Option<IpAddr> {
        match self {
            Self::Unix(_) => None,
            Self::Tcp(it) => it.peer_addr().ok().map(|address| address.ip()),
            Self::Tls(it) => it.socket().peer_addr().ok().map(|address| address.ip()),
        }
    }

    /// Has both ends know each other, where they have to, within so long in all.
    pub(super) fn begin(&self, time: Duration) -> io::Result<()> {
        match self {
            Self::Unix(_) | Self::Tcp(_) => Ok(()),
            Self::Tls(it) => it.begin(time),
        }
    }

    /// How long a read may find nothing, and a write no room.
    pub(super) fn set_patience(
        &self,
        read: Option<Duration>,
        write: Option<Duration>,
    ) -> io::Result<()> {
        each!(self, it => {
            it.set_read_timeout(read)?;
            it.set_write_timeout(write)
        }, it => it.set_patience(read, write))
    }

    /// Writes what the other side has room for, while nobody else reads or writes. Over TLS that is
    /// nothing: what is enciphered has to be written whole.
    pub(super) fn write_at_once(&self, message: &[u8]) -> io::Result<usize> {
        each!(self, it => {
            it.set_nonblocking(true)?;
            let mut to = it;
            let written = to.write(message);
            it.set_nonblocking(false)?;
            written
        }, _ => Err(io::ErrorKind::WouldBlock.into()))
    }

    /// Ends it, for whoever reads or writes.
    pub(super) fn end(&self) {
        // What is over already need not be ended.
        _ = each!(self, it => it.shutdown(Shutdown::Both),
            it => it.socket().shutdown(Shutdown::Both));
    }
}

impl Read for &Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        each!(self, it => { let mut it = it; it.read(into) }, it => (&**it).read(into))
    }
}

impl Write for &Stream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        each!(self, it => { let mut it = it; it.write(from) }, it => (&**it).write(from))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
