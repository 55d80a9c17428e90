//! A conversation with the kernel: about links and addresses, or about sockets.

use netlink::{Kind, Messages, Request, link, outcome};
use rustix::net::Protocol;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// How long the kernel may take to answer: it does so at once.
const PATIENCE: Duration = Duration::from_secs(2);
/// No answer of ours is longer.
const LONGEST: usize = 32 << 10;

/// A netlink socket, of the namespace that it was opened in.
pub(crate) struct Conversation {
    socket: OwnedFd,
    sequence: u32,
}

impl Conversation {
    /// Begins one about links and addresses.
    pub(crate) fn open() -> io::Result<Self> {
        // NETLINK_ROUTE is protocol 0.
        Self::about(None)
    }

    /// Begins one about sockets.
    pub(crate) fn about_sockets() -> io::Result<Self> {
        Self::about(Some(SOCK_DIAG))
    }

    fn about(protocol: Option<Protocol>) -> io::Result<Self> {
        let family = AddressFamily::NETLINK;
        let flags = SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(family, SocketType::RAW, flags, protocol)?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Asks, and waits for the outcome; what was answered beside it comes back.
    pub(crate) fn ask(&mut self, request: Request) -> io::Result<Vec<u8>> {
        self.sequence = self.sequence.wrapping_add(1);
        rustix::net::send(&self.socket, &request.finish(self.sequence), SendFlags::empty())?;
        let (mut answers, mut answer) = (Vec::new(), vec![0; LONGEST]);
        loop {
            let (length, _) = rustix::net::recv(&self.socket, &mut answer[..], RecvFlags::empty())?;
            let answer = &answer[..length.min(LONGEST)];
            answers.extend_from_slice(answer);
            match outcome(answer, self.sequence).map_err(io::Error::other)? {
                Some(Ok(())) => return Ok(answers),
                Some(Err(code)) => return Err(io::Error::from_raw_os_error(code)),
                None => {}
            }
        }
    }

    /// The index of the link of a name.
    pub(crate) fn index_of(&mut self, name: &str) -> io::Result<u32> {
        let answers = self.ask(link::get(name))?;
        let link = Messages::new(&answers)
            .filter_map(Result::ok)
            .find(|message| message.kind == Kind::NEW_LINK)
            .ok_or_else(|| io::Error::other("no link in the answer"))?;
        link::index_of(&link).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_link_is_the_first_and_others_are_told_missing() {
        let mut conversation = Conversation::open().unwrap();
        assert_eq!(conversation.index_of("lo").unwrap(), 1);
        let missing = conversation.index_of("no-such-link").unwrap_err();
        assert_eq!(missing.raw_os_error(), Some(19));
        assert_eq!(conversation.index_of("lo").unwrap(), 1);
    }
}
