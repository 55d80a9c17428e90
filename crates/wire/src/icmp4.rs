//! ICMP for IPv4 (RFC 792; codes also of RFC 1122, 1191, 1812).
//!
//! ```text
//! ┌───────────────┬───────────────┬───────────────────────────────┐
//! │     type      │     code      │           checksum            │  0
//! ├───────────────┴───────────────┼───────────────────────────────┤
//! │   identifier    (echo)        │   sequence         (echo)     │  4
//! │   0             (unreachable) │   next-hop MTU     (code 4)   │
//! └───────────────────────────────┴───────────────────────────────┘  8: data, or the packet in error
//! ```

use crate::{Error, checksum};

view! {
    /// An ICMP header.
    Header, HeaderMut: 8 octets {
        /// One of [`message`].
        message_type, set_message_type: u8 = 0;
        /// What the type makes of it.
        code, set_code: u8 = 1;
        /// Over header and data.
        checksum, set_checksum: u16 = 2;
        /// Identifier of an echo.
        identifier, set_identifier: u16 = 4;
        /// Sequence number of an echo.
        sequence, set_sequence: u16 = 6;
        /// MTU of the next hop, in "fragmentation needed" (RFC 1191, 4).
        next_hop_mtu, set_next_hop_mtu: u16 = 6;
        /// Octets 4 to 7, whatever they mean.
        rest, set_rest: u32 = 4;
    }
}

/// Message types.
pub mod message {
    /// Answer to an echo request.
    pub const ECHO_REPLY: u8 = 0;
    /// Could not be delivered.
    pub const UNREACHABLE: u8 = 3;
    /// Slow down (deprecated).
    pub const SOURCE_QUENCH: u8 = 4;
    /// There is a better first hop.
    pub const REDIRECT: u8 = 5;
    /// Please send this back.
    pub const ECHO_REQUEST: u8 = 8;
    /// A router is here.
    pub const ROUTER_ADVERTISEMENT: u8 = 9;
    /// Which routers are here?
    pub const ROUTER_SOLICITATION: u8 = 10;
    /// TTL or reassembly time ran out.
    pub const TIME_EXCEEDED: u8 = 11;
    /// A header field is wrong.
    pub const PARAMETER_PROBLEM: u8 = 12;
    /// What time is it?
    pub const TIMESTAMP_REQUEST: u8 = 13;
    /// Answer to it.
    pub const TIMESTAMP_REPLY: u8 = 14;
}

/// Codes of [`message::UNREACHABLE`].
pub mod unreachable {
    /// No route.
    pub const NET: u8 = 0;
    /// The next hop does not answer.
    pub const HOST: u8 = 1;
    /// Nobody listens to the protocol.
    pub const PROTOCOL: u8 = 2;
    /// Nobody listens on the port.
    pub const PORT: u8 = 3;
    /// Too long for the next link, and may not be fragmented.
    pub const FRAGMENTATION_NEEDED: u8 = 4;
    /// A source route failed.
    pub const SOURCE_ROUTE_FAILED: u8 = 5;
    /// A filter forbids it (RFC 1812, 5.2.7.1).
    pub const ADMIN_PROHIBITED: u8 = 13;
}

/// Codes of [`message::TIME_EXCEEDED`].
pub mod time_exceeded {
    /// The TTL reached zero on the way.
    pub const TTL: u8 = 0;
    /// Fragments were missing for too long.
    pub const REASSEMBLY: u8 = 1;
}

/// Codes of [`message::REDIRECT`].
pub mod redirect {
    /// For the network.
    pub const NET: u8 = 0;
    /// For the host.
    pub const HOST: u8 = 1;
}

impl<'a> Header<'a> {
    /// Over a whole message, checksum checked.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let header = Self::new(bytes).ok_or(Error::short("ICMP", Self::LEN, bytes.len()))?;
        if checksum::is_valid(bytes) {
            return Ok(header);
        }
        let found = header.checksum();
        let expected = checksum::Sum::ZERO.bytes(bytes).u16(!found).checksum();
        Err(Error::Checksum { what: "ICMP", found, expected })
    }

    /// Whether it tells of an error; no error may be sent about such a message (RFC 1812, 4.3.2.7).
    #[inline]
    pub fn is_error(self) -> bool {
        is_error(self.message_type())
    }
}

/// Whether a message type tells of an error.
#[inline]
pub const fn is_error(message_type: u8) -> bool {
    use message::{PARAMETER_PROBLEM, REDIRECT, SOURCE_QUENCH, TIME_EXCEEDED, UNREACHABLE};
    matches!(
        message_type,
        UNREACHABLE | SOURCE_QUENCH | REDIRECT | TIME_EXCEEDED | PARAMETER_PROBLEM
    )
}

impl HeaderMut<'_> {
    /// Turns an echo request into its reply in place, checksum updated.
    #[inline]
    pub fn make_echo_reply(&mut self) {
        let (old_type, code) = (self.view().message_type(), self.view().code());
        let old = u16::from_be_bytes([old_type, code]);
        let new = u16::from_be_bytes([message::ECHO_REPLY, code]);
        let checksum = checksum::update_u16(self.view().checksum(), old, new);
        self.set_message_type(message::ECHO_REPLY);
        self.set_checksum(checksum);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::craft;

    #[test]
    fn a_known_echo_request_is_read() {
        let bytes = [8, 0, 0xf7, 0xe8, 0, 7, 0, 1, 0xff, 0x0d, 1, 2];
        let mut whole = bytes;
        whole[2..4].fill(0);
        let sum = checksum::of(&whole);
        HeaderMut::new(&mut whole).unwrap().set_checksum(sum);
        let header = Header::parse(&whole).unwrap();
        assert_eq!((header.message_type(), header.identifier(), header.sequence()), (8, 7, 1));
        assert!(!header.is_error());
    }

    #[test]
    fn only_errors_are_errors() {
        let errors: Vec<u8> = (0..=255).filter(|t| is_error(*t)).collect();
        assert_eq!(errors, [3, 4, 5, 11, 12]);
    }

    #[test]
    fn damage_is_found() {
        let packet = craft::ipv4(1, 2).icmp_echo(7, 1).payload(b"abc").build();
        let mut message = packet[20..].to_vec();
        assert!(Header::parse(&message).is_ok());
        message[9] ^= 4;
        assert!(matches!(Header::parse(&message), Err(Error::Checksum { .. })));
        assert!(Header::parse(&message[..7]).is_err());
    }

    proptest! {
        #[test]
        fn a_reply_made_in_place_is_valid(
            (id, seq) in any::<(u16, u16)>(),
            data in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            let mut packet = craft::ipv4(1, 2).icmp_echo(id, seq).payload(&data).build();
            HeaderMut::new(&mut packet[20..]).unwrap().make_echo_reply();
            let header = Header::parse(&packet[20..]).unwrap();
            prop_assert_eq!((header.message_type(), header.identifier(), header.sequence()), (0, id, seq));
        }

        #[test]
        fn any_bytes_parse_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..32)) {
            prop_assert_eq!(Header::parse(&bytes).is_ok(), bytes.len() >= 8 && checksum::is_valid(&bytes));
        }
    }
}
