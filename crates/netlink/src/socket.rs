//! Whose a TCP connection is: the question, and the answer (sock_diag(7)).
//!
//! ```text
//!  request   │ family │ protocol │ 2 more │ states (4) │ socket (48)                       │
//!  answer    │ family │ state    │ 2 more │ socket (48) │ 12 more │ user (4) │ inode (4)     │
//!  socket    │ port (2) │ peer's port (2) │ address (16) │ peer's (16) │ link (4) │ cookie (8) │
//! ```

use crate::{Attributes, Error, Kind, Message, Request};
use std::net::{IpAddr, SocketAddr};

const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const TCP: u8 = 6;
const ANY_STATE: u32 = u32::MAX;
/// No particular link, and no cookie: the addresses alone say which socket is meant.
const ANY_LINK: [u8; 4] = [0; 4];
const NO_COOKIE: [u8; 8] = [0xff; 8];
const USER_AT: usize = 64;

/// Asks for the TCP socket at `local` that is connected to `peer`.
pub fn get(local: SocketAddr, peer: SocketAddr) -> Request {
    let family = if local.is_ipv4() { AF_INET } else { AF_INET6 };
    let mut fixed = vec![family, TCP, 0, 0];
    fixed.extend(ANY_STATE.to_ne_bytes());
    fixed.extend(local.port().to_be_bytes());
    fixed.extend(peer.port().to_be_bytes());
    fixed.extend(sixteen(local.ip()));
    fixed.extend(sixteen(peer.ip()));
    fixed.extend(ANY_LINK);
    fixed.extend(NO_COOKIE);
    Request::new(Kind::SOCKET, 0, &fixed)
}

/// The number of the user whose socket an answer tells of.
pub fn user_of(message: &Message<'_>) -> Result<u32, Error> {
    let (fixed, _): (&[u8; 72], Attributes<'_>) = message.parts("a socket")?;
    let [a, b, c, d] = [0, 1, 2, 3].map(|at| fixed[USER_AT + at]);
    Ok(u32::from_ne_bytes([a, b, c, d]))
}

fn sixteen(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&address.octets());
            bytes
        }
        IpAddr::V6(address) => address.octets(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Messages;

    #[test]
    fn a_question_has_both_ends_in_network_byte_order() {
        let ends = ["192.0.2.1:258".parse().unwrap(), "192.0.2.2:2620".parse().unwrap()];
        let bytes = get(ends[0], ends[1]).finish(1);
        let body = Messages::new(&bytes).next().unwrap().unwrap().body;
        assert_eq!((body.len(), &body[..2]), (56, &[AF_INET, TCP][..]));
        assert_eq!(body[8..16], [1, 2, 0x0a, 0x3c, 192, 0, 2, 1]);
        assert_eq!(body[28..32], [192, 0, 2, 2]);
        assert_eq!(get("[::1]:1".parse().unwrap(), ends[1]).finish(1)[16], AF_INET6);
    }

    #[test]
    fn an_answer_has_its_user_and_short_ones_are_refused() {
        let mut body = [0; 72];
        body[USER_AT..68].copy_from_slice(&104_u32.to_ne_bytes());
        let answer = |body| Message { kind: Kind::SOCKET, flags: 0, sequence: 1, body };
        assert_eq!(user_of(&answer(&body)), Ok(104));
        let short = Error::Short { what: "a socket", needed: 72, have: 71 };
        assert_eq!(user_of(&answer(&body[..71])), Err(short));
    }
}
