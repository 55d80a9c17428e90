//! A collector: a socket of the kernel's, and what became of what was sent to it.
//!
//! ```text
//!  there ── an error ─▶ away: an event ── a second without one ─▶ there again: an event
//! ```
//! By UDP nobody says whether a datagram came. That nobody listens there, the kernel tells at the
//! next one.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

/// Between two tries to open a socket; and for so long there must be no error until all is well.
const PATIENCE: Duration = Duration::from_secs(1);

/// See the module.
pub(super) struct Collector {
    exporter: String,
    pub(super) address: SocketAddr,
    source: Option<IpAddr>,
    socket: Option<UdpSocket>,
    /// When something went wrong last.
    failed: Option<Instant>,
    /// Datagrams that the kernel took.
    pub(super) sent: u64,
    /// Datagrams that it did not take, or that nobody was there for.
    pub(super) lost: u64,
    /// What is wrong.
    pub(super) problem: Option<String>,
}

impl Collector {
    pub(super) fn new(exporter: String, address: SocketAddr, source: Option<IpAddr>) -> Self {
        let (socket, failed, sent, lost, problem) = Default::default();
        let mut made = Self { exporter, address, source, socket, failed, sent, lost, problem };
        made.open(Instant::now());
        made
    }

    /// The address that its datagrams come from, if there is one.
    pub(super) fn source(&self) -> Option<IpAddr> {
        let local = self.socket.as_ref()?.local_addr().ok()?.ip();
        (!local.is_unspecified()).then_some(local)
    }

    fn open(&mut self, now: Instant) {
        let any = match self.address {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let bound = SocketAddr::new(self.source.unwrap_or(any), 0);
        let opened = UdpSocket::bind(bound).and_then(|socket| {
            socket.set_nonblocking(true)?;
            socket.connect(self.address)?;
            Ok(socket)
        });
        match opened {
            Ok(socket) => self.socket = Some(socket),
            Err(error) => {
                let from = self.source.map_or_else(String::new, |own| format!(" from {own}"));
                self.fails(now, format!("no socket to {}{from}: {error}", self.address));
            }
        }
    }

    /// Sends one.
    pub(super) fn send(&mut self, datagram: &[u8], now: Instant) {
        let is_due = self.failed.is_none_or(|last| now >= last + PATIENCE);
        if self.socket.is_none() && is_due {
            self.open(now);
        }
        match self.try_send(datagram) {
            Ok(()) => {
                self.sent += 1;
                if is_due && self.failed.take().is_some() {
                    self.problem = None;
                    let Self { exporter, address, .. } = self;
                    tracing::info!(%exporter, collector = %address, "the collector takes datagrams again");
                }
            }
            // It is of one before, and this one was not sent.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                self.fails(now, format!("nobody listens at {}", self.address));
                self.sent = self.sent.saturating_sub(1);
                self.lost += 1;
                match self.try_send(datagram) {
                    Ok(()) => self.sent += 1,
                    Err(_) => self.lost += 1,
                }
            }
            Err(error) => {
                self.lost += 1;
                if self.socket.is_some() {
                    self.fails(now, format!("{} cannot be reached: {error}", self.address));
                }
                // A queue that is full is no reason for another socket.
                if error.kind() != ErrorKind::WouldBlock {
                    self.socket = None;
                }
            }
        }
    }

    fn try_send(&self, datagram: &[u8]) -> io::Result<()> {
        match &self.socket {
            Some(socket) => socket.send(datagram).map(drop),
            None => Err(ErrorKind::NotConnected.into()),
        }
    }

    fn fails(&mut self, now: Instant, why: String) {
        if self.failed.replace(now).is_none() {
            let Self { exporter, address, .. } = self;
            tracing::warn!(fault = "export-collector", %exporter, collector = %address, "{why}");
        }
        self.problem = Some(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_listen_is_known_and_who_comes_back_is_told() {
        let listener = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut collector = Collector::new("e".to_owned(), address, None);
        let start = Instant::now();
        collector.send(b"one", start);
        assert_eq!((collector.sent, collector.lost, &collector.problem), (1, 0, &None));
        assert_eq!(collector.source(), Some(Ipv4Addr::LOCALHOST.into()));
        drop(listener);
        while collector.problem.is_none() {
            collector.send(b"two", start);
        }
        assert_eq!(collector.problem, Some(format!("nobody listens at {address}")));
        assert!(collector.lost >= 1);
        let listener = UdpSocket::bind(address).unwrap();
        // The first may have an error of before.
        collector.send(b"three", start + PATIENCE);
        collector.send(b"four", start + PATIENCE * 3);
        assert_eq!(collector.problem, None);
        let mut last = [0; 9];
        listener.set_read_timeout(Some(Duration::from_secs(9))).unwrap();
        assert!(listener.recv(&mut last).unwrap() > 0);
    }

    #[test]
    fn an_address_that_is_not_ours_is_told() {
        let to = "127.0.0.1:9".parse().unwrap();
        let mut collector = Collector::new("e".to_owned(), to, "192.0.2.77".parse().ok());
        collector.send(b"one", Instant::now());
        let problem = collector.problem.unwrap();
        assert!(problem.starts_with("no socket to 127.0.0.1:9 from 192.0.2.77: "), "{problem}");
        assert_eq!((collector.sent, collector.lost), (0, 1));
    }
}
