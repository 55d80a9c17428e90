//! Who may tell us routes: processes of some users of this machine, and machines of some networks.
//!
//! ```text
//!  a connection ── from 127.0.0.1:40112 ──▶ the kernel: whose socket is that? ── frr ──▶ admitted
//!                                                        └─ nobody's here ──▶ a network that is named?
//! ```
//! A port of TCP has no rights of its own: whoever reached it could take every route away.

use crate::KernelError;
use crate::namespace::Namespace;
use crate::rtnetlink::Conversation;
use netlink::{Kind, Messages, socket};
use rustix::io::Errno;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Names and numbers of users.
const USERS: &str = "/etc/passwd";

/// A network: its first address, and the length of its prefix.
pub type Network = (IpAddr, u8);

/// Asks the kernel about whoever connects.
pub(super) struct Admission {
    sockets: Conversation,
    users: Vec<u32>,
    from: Vec<Network>,
}

impl Admission {
    /// Of the connections of this namespace. Users may be named by number; who is not known to this
    /// machine can have no process.
    pub(super) fn new(
        namespace: &Namespace,
        users: &[String],
        from: &[Network],
    ) -> Result<Self, KernelError> {
        let sockets = namespace.run(Conversation::about_sockets)?.map_err(KernelError::Thread)?;
        let known = std::fs::read_to_string(USERS).unwrap_or_else(|error| {
            tracing::warn!(fault = "fpm", %error, "{USERS} cannot be read: users by name may not");
            String::new()
        });
        let users = users.iter().filter_map(|user| number_of(user, &known)).collect();
        Ok(Self { sockets, users, from: from.to_vec() })
    }

    /// Whether the one that connected from `peer` to `here` may; why not, if not.
    pub(super) fn admit(&mut self, peer: SocketAddr, here: SocketAddr) -> Result<(), String> {
        match self.user_of(peer, here) {
            Ok(Some(user)) if self.users.contains(&user) => Ok(()),
            Ok(Some(user)) => Err(format!("user {user} is not one of those that may")),
            Ok(None) if self.from.iter().any(|network| has(*network, peer.ip())) => Ok(()),
            Ok(None) => Err("no process here, and of no network that may".to_owned()),
            Err(why) => Err(format!("the kernel does not say whose it is: {why}")),
        }
    }

    /// Whose process here is at the other end; none if it is another machine's.
    fn user_of(&mut self, peer: SocketAddr, here: SocketAddr) -> io::Result<Option<u32>> {
        // Seen from the other end: its own address comes first.
        let answer = match self.sockets.ask(socket::get(peer, here)) {
            Ok(answer) => answer,
            Err(why) if Errno::from_io_error(&why) == Some(Errno::NOENT) => return Ok(None),
            Err(why) => return Err(why),
        };
        let told = Messages::new(&answer).filter_map(Result::ok);
        let told =
            told.filter(|message| message.kind == Kind::SOCKET).map(|it| socket::user_of(&it));
        told.last().transpose().map_err(io::Error::other)
    }
}

/// The number of a user, of a name in `known` or a number itself.
fn number_of(user: &str, known: &str) -> Option<u32> {
    if let Ok(number) = user.parse() {
        return Some(number);
    }
    let of_user = |line: &&str| line.split(':').next() == Some(user);
    known.lines().find(of_user)?.split(':').nth(2)?.parse().ok()
}

fn has((network, length): Network, address: IpAddr) -> bool {
    let differ = match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            (u128::from(network.to_bits() ^ address.to_bits())) << 96
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => network.to_bits() ^ address.to_bits(),
        _ => return false,
    };
    differ.leading_zeros() >= length.into() || differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn verdict(users: &[String], from: &[Network]) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut admission = Admission::new(&Namespace::default(), users, from).unwrap();
        admission.admit(client.local_addr().unwrap(), client.peer_addr().unwrap())
    }

    #[test]
    fn processes_of_users_that_are_named_are_admitted() {
        let us = rustix::process::geteuid().as_raw();
        assert_eq!(verdict(&[us.to_string()], &[]), Ok(()));
        let refused = format!("user {us} is not one of those that may");
        let anybody = ("0.0.0.0".parse().unwrap(), 0);
        assert_eq!(verdict(&[(us + 1).to_string()], &[anybody]), Err(refused));
    }

    #[test]
    fn other_machines_are_admitted_by_their_network() {
        let of = |from: &[Network]| {
            let mut admission = Admission::new(&Namespace::default(), &[], from).unwrap();
            let [peer, here] = ["192.0.2.9:1", "192.0.2.1:2620"].map(|it| it.parse().unwrap());
            admission.admit(peer, here)
        };
        assert_eq!(of(&[("192.0.2.0".parse().unwrap(), 24)]), Ok(()));
        let refused = Err("no process here, and of no network that may".to_owned());
        assert_eq!(of(&[]), refused);
        assert_eq!(of(&[("192.0.2.16".parse().unwrap(), 28), ("::".parse().unwrap(), 0)]), refused);
    }

    #[test]
    fn users_have_names_or_numbers() {
        let known = "root:x:0:0::/root:/bin/sh\nfrr:x:104:112::/:/bin/false\nodd\n";
        let numbers = ["frr", "root", "7", "odd", "fr"].map(|user| number_of(user, known));
        assert_eq!(numbers, [Some(104), Some(0), Some(7), None, None]);
    }
}
