//! ICMP for IPv6 (RFC 4443); neighbour discovery is in [`crate::nd`].
//!
//! ```text
//! ┌───────────────┬───────────────┬───────────────────────────────┐
//! │     type      │     code      │  checksum (with pseudo header)│  0
//! ├───────────────┴───────────────┼───────────────────────────────┤
//! │   identifier   (echo)         │   sequence        (echo)      │  4
//! │   MTU (too big), pointer (parameter problem), 0 otherwise     │
//! └───────────────────────────────┴───────────────────────────────┘  8: data, or the packet in error
//! ```

use crate::{Error, checksum, ip::protocol};

view! {
    /// An ICMPv6 header.
    Header, HeaderMut: 8 octets {
        /// One of [`message`].
        message_type, set_message_type: u8 = 0;
        /// What the type makes of it.
        code, set_code: u8 = 1;
        /// Over pseudo header, header and data.
        checksum, set_checksum: u16 = 2;
        /// Identifier of an echo.
        identifier, set_identifier: u16 = 4;
        /// Sequence number of an echo.
        sequence, set_sequence: u16 = 6;
        /// Octets 4 to 7, whatever they mean: MTU of "packet too big", pointer of "parameter
        /// problem".
        rest, set_rest: u32 = 4;
    }
}

/// Message types.
pub mod message {
    /// Could not be delivered.
    pub const UNREACHABLE: u8 = 1;
    /// Too long for the next link.
    pub const PACKET_TOO_BIG: u8 = 2;
    /// Hop limit or reassembly time ran out.
    pub const TIME_EXCEEDED: u8 = 3;
    /// A header field is wrong.
    pub const PARAMETER_PROBLEM: u8 = 4;
    /// Please send this back.
    pub const ECHO_REQUEST: u8 = 128;
    /// Answer to an echo request.
    pub const ECHO_REPLY: u8 = 129;
    /// Who listens to which groups?
    pub const MLD_QUERY: u8 = 130;
    /// I listen to a group (version 1).
    pub const MLD_REPORT: u8 = 131;
    /// I no longer do (version 1).
    pub const MLD_DONE: u8 = 132;
    /// Which routers are here?
    pub const ROUTER_SOLICITATION: u8 = 133;
    /// A router is here.
    pub const ROUTER_ADVERTISEMENT: u8 = 134;
    /// Who has this address?
    pub const NEIGHBOR_SOLICITATION: u8 = 135;
    /// I have this address.
    pub const NEIGHBOR_ADVERTISEMENT: u8 = 136;
    /// There is a better first hop.
    pub const REDIRECT: u8 = 137;
    /// I listen to these groups (version 2).
    pub const MLD2_REPORT: u8 = 143;
}

/// Codes of [`message::UNREACHABLE`].
pub mod unreachable {
    /// No route.
    pub const NO_ROUTE: u8 = 0;
    /// A filter forbids it.
    pub const ADMIN_PROHIBITED: u8 = 1;
    /// The source address does not reach that far.
    pub const BEYOND_SCOPE: u8 = 2;
    /// The next hop does not answer.
    pub const ADDRESS: u8 = 3;
    /// Nobody listens on the port.
    pub const PORT: u8 = 4;
    /// The source address fails a policy.
    pub const SOURCE_POLICY: u8 = 5;
    /// A route says reject.
    pub const REJECT_ROUTE: u8 = 6;
}

/// Codes of [`message::TIME_EXCEEDED`].
pub mod time_exceeded {
    /// The hop limit reached zero on the way.
    pub const HOP_LIMIT: u8 = 0;
    /// Fragments were missing for too long.
    pub const REASSEMBLY: u8 = 1;
}

/// Codes of [`message::PARAMETER_PROBLEM`].
pub mod parameter_problem {
    /// A header field holds what it must not.
    pub const FIELD: u8 = 0;
    /// A next header is not known.
    pub const NEXT_HEADER: u8 = 1;
    /// An option is not known.
    pub const OPTION: u8 = 2;
    /// The first fragment lacks headers (RFC 7112).
    pub const HEADERS_MISSING: u8 = 3;
}

impl<'a> Header<'a> {
    /// Over a whole message between two addresses, checksum checked.
    pub fn parse(bytes: &'a [u8], source: u128, destination: u128) -> Result<Self, Error> {
        let header = Self::new(bytes).ok_or(Error::short("ICMPv6", Self::LEN, bytes.len()))?;
        let sum = checksum::pseudo6(source, destination, protocol::ICMP6, bytes.len() as u32)
            .bytes(bytes);
        if sum.is_valid() {
            return Ok(header);
        }
        let found = header.checksum();
        Err(Error::Checksum { what: "ICMPv6", found, expected: sum.u16(!found).checksum() })
    }

    /// Whether it tells of an error; no error may be sent about such a message (RFC 4443, 2.4 e).
    #[inline]
    pub fn is_error(self) -> bool {
        is_error(self.message_type())
    }
}

/// Whether a message type tells of an error: the high bit is clear.
#[inline]
pub const fn is_error(message_type: u8) -> bool {
    message_type < 128
}

impl HeaderMut<'_> {
    /// Turns an echo request into its reply in place, checksum updated; swapped addresses sum the
    /// same.
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
    fn the_checksum_covers_the_addresses() {
        let packet = craft::ipv6(1, 2).icmp_echo(7, 1).payload(b"abc").build();
        assert!(Header::parse(&packet[40..], 1, 2).is_ok());
        assert!(matches!(Header::parse(&packet[40..], 1, 3), Err(Error::Checksum { .. })));
        assert!(Header::parse(&packet[40..47], 1, 2).is_err());
    }

    #[test]
    fn a_known_echo_request_has_its_known_checksum() {
        // fe80::1 > fe80::2: fe80+1 + fe80+2 + len 8 + protocol 58 + 8000 + id 7 + seq 1, folded,
        // inverted.
        let source = 0xfe80 << 112 | 1;
        let packet = craft::ipv6(source, source + 1).icmp_echo(7, 1).build();
        let sum = 0xfe80 * 2 + 3 + 8 + 58 + 0x8000 + 7 + 1u32;
        let folded = (sum & 0xffff) + (sum >> 16);
        assert_eq!(Header::new(&packet[40..]).unwrap().checksum(), !(folded as u16));
    }

    proptest! {
        #[test]
        fn a_reply_made_in_place_is_valid(a: u128, b: u128, id: u16, seq: u16) {
            let mut packet = craft::ipv6(a, b).icmp_echo(id, seq).payload(b"abc").build();
            HeaderMut::new(&mut packet[40..]).unwrap().make_echo_reply();
            let header = Header::parse(&packet[40..], b, a).unwrap();
            prop_assert_eq!((header.message_type(), header.identifier(), header.sequence()), (129, id, seq));
            prop_assert!(!header.is_error());
        }
    }
}
