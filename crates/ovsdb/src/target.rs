//! Where a database's server is, and the way there.

use crate::fault::Fault;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use tls::{Keys, Link};

/// How long a connection may take to be made.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where it is, as Open vSwitch writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A socket on this machine.
    Unix(PathBuf),
    /// Another machine, perhaps.
    Tcp(SocketAddr),
    /// The same, over TLS.
    Ssl(SocketAddr),
}

impl FromStr for Target {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let wrong = || Fault::Target(text.to_owned());
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Self::Unix(path.into())),
            Some(("tcp", address)) => address.parse().map(Self::Tcp).map_err(|_| wrong()),
            Some(("ssl", address)) => address.parse().map(Self::Ssl).map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(address) => write!(f, "tcp:{address}"),
            Self::Ssl(address) => write!(f, "ssl:{address}"),
        }
    }
}

/// The way there.
#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<Link>),
}

impl Target {
    /// Goes there; `keys`: what TLS needs.
    pub(crate) fn connect(&self, keys: Option<&Keys>) -> Result<Stream, Fault> {
        Ok(match self {
            Self::Unix(path) => Stream::Unix(UnixStream::connect(path)?),
            Self::Tcp(address) => Stream::Tcp(tcp(address)?),
            Self::Ssl(address) => {
                let keys = keys.ok_or(Fault::NoKeys)?;
                let end = keys.client(address.ip(), &|file| std::fs::read(file))?;
                let link = Link::new(tcp(address)?, end);
                link.set_patience(Some(PATIENCE), Some(PATIENCE))?;
                link.begin(PATIENCE)?;
                Stream::Tls(Box::new(link))
            }
        })
    }
}

fn tcp(address: &SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(address, PATIENCE)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl Stream {
    /// Reads, but waits no longer than so long: none where nothing came.
    pub(crate) fn read_within(
        &mut self,
        into: &mut [u8],
        time: Duration,
    ) -> io::Result<Option<usize>> {
        // A time of 0 would be for ever.
        let time = Some(time.max(Duration::from_millis(1)));
        let read = match self {
            Self::Unix(it) => it.set_read_timeout(time).and_then(|()| it.read(into)),
            Self::Tcp(it) => it.set_read_timeout(time).and_then(|()| it.read(into)),
            Self::Tls(it) => {
                it.set_patience(time, Some(PATIENCE)).and_then(|()| (&**it).read(into))
            }
        };
        match read {
            Ok(count) => Ok(Some(count)),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock
                        | io::ErrorKind::TimedOut
                        | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8], time: Duration) -> io::Result<()> {
        match self {
            Self::Unix(it) => {
                it.set_write_timeout(Some(time))?;
                it.write_all(bytes)
            }
            Self::Tcp(it) => {
                it.set_write_timeout(Some(time))?;
                it.write_all(bytes)
            }
            Self::Tls(it) => {
                it.socket().set_write_timeout(Some(time))?;
                (&**it).write_all(bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_read_back_and_others_are_told() {
        let all =
            ["unix:/run/db.sock", "tcp:127.0.0.1:6640", "tcp:[::1]:6640", "ssl:127.0.0.1:6640"];
        for text in all {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        for text in ["", "unix:", "tcp:host:1", "ssl:1.2.3.4", "/run/db.sock"] {
            let told = text.parse::<Target>().unwrap_err().to_string();
            assert!(told.starts_with(&format!("`{text}` is no database")), "{told}");
        }
    }
}
