//! TCP headers (RFC 9293, 3.1; ECN flags RFC 3168, 6.1).
//!
//! ```text
//! ┌───────────────────────────────┬───────────────────────────────┐
//! │          source port          │       destination port        │  0
//! ├───────────────────────────────┴───────────────────────────────┤
//! │                        sequence number                        │  4
//! ├───────────────────────────────────────────────────────────────┤
//! │                     acknowledgement number                    │  8
//! ├───────┬───────┬─┬─┬─┬─┬─┬─┬─┬─┬───────────────────────────────┤
//! │ offset│   0   │C│E│U│A│P│R│S│F│            window             │ 12
//! ├───────┴───────┴─┴─┴─┴─┴─┴─┴─┴─┼───────────────────────────────┤
//! │           checksum            │        urgent pointer         │ 16
//! └───────────────────────────────┴───────────────────────────────┘ 20: options …
//! ```

use crate::{Error, options::Options};

view! {
    /// The fixed part of a TCP header.
    Header, HeaderMut: 20 octets {
        /// Port it comes from.
        source_port, set_source_port: u16 = 0;
        /// Port it goes to.
        destination_port, set_destination_port: u16 = 2;
        /// Number of the first octet of data.
        sequence, set_sequence: u32 = 4;
        /// Number of the next octet awaited.
        acknowledgement, set_acknowledgement: u32 = 8;
        /// Data offset in its upper four bits.
        offset_bits, set_offset_bits: u8 = 12;
        /// See [`flag`].
        flags, set_flags: u8 = 13;
        /// Octets the sender will take.
        window, set_window: u16 = 14;
        /// Over pseudo header, header and data.
        checksum, set_checksum: u16 = 16;
        /// Where urgent data ends.
        urgent, set_urgent: u16 = 18;
    }
}

/// Flag bits.
pub mod flag {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 0x02;
    /// The connection is over at once, or was never there.
    pub const RST: u8 = 0x04;
    /// Hand over at once.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement number counts.
    pub const ACK: u8 = 0x10;
    /// The urgent pointer counts.
    pub const URG: u8 = 0x20;
    /// Congestion echo.
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced.
    pub const CWR: u8 = 0x80;
}

/// Option kinds.
pub mod option {
    /// Maximum segment size, two octets.
    pub const MSS: u8 = 2;
    /// Window scale, one octet.
    pub const WINDOW_SCALE: u8 = 3;
    /// Selective acknowledgement permitted.
    pub const SACK_PERMITTED: u8 = 4;
    /// Selective acknowledgement.
    pub const SACK: u8 = 5;
    /// Timestamps, eight octets.
    pub const TIMESTAMPS: u8 = 8;
}

/// Well-known ports.
pub mod port {
    /// Secure shell.
    pub const SSH: u16 = 22;
    /// Hypertext, in the clear.
    pub const HTTP: u16 = 80;
    /// Border gateway protocol.
    pub const BGP: u16 = 179;
    /// Hypertext over TLS.
    pub const HTTPS: u16 = 443;
    /// Where a server of iperf3 listens.
    pub const IPERF3: u16 = 5201;
}

impl Header<'_> {
    /// Octets of the header, options included, as it says: 0 to 60, valid from 20.
    #[inline]
    pub fn header_len(self) -> usize {
        usize::from(self.offset_bits() >> 4) * 4
    }
}

/// A segment whose data offset passed its checks; the checksum needs the IP header and is the
/// caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// The fixed part of the header.
    pub header: Header<'a>,
    /// Octets of the options.
    pub options: &'a [u8],
    /// The data.
    pub payload: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Checks that the data offset holds the header and lies within `bytes`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let header =
            Header::new(bytes).ok_or(Error::short("TCP header", Header::LEN, bytes.len()))?;
        let header_len = header.header_len();
        if header_len < Header::LEN {
            return Err(Error::field("TCP header length", header_len as u64, "at least 20"));
        }
        let (head, payload) = bytes.split_at_checked(header_len).ok_or(Error::short(
            "TCP options",
            header_len,
            bytes.len(),
        ))?;
        Ok(Self { header, options: &head[Header::LEN..], payload })
    }

    /// Walks the options.
    pub fn options(&self) -> Options<'a> {
        Options::new(self.options)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{checksum, craft, ip::protocol};

    #[test]
    fn a_crafted_segment_parses_and_its_checksum_holds() {
        let packet = craft::ipv4(1, 2)
            .tcp(1000, port::HTTP)
            .flags(flag::SYN | flag::ECE)
            .sequence(7)
            .acknowledgement(8)
            .window(9)
            .option(option::MSS, &1460u16.to_be_bytes())
            .payload(b"abc")
            .build();
        let segment = Segment::parse(&packet[20..]).unwrap();
        let header = segment.header;
        assert_eq!((header.source_port(), header.destination_port()), (1000, 80));
        assert_eq!((header.sequence(), header.acknowledgement(), header.window()), (7, 8, 9));
        assert_eq!((header.flags(), header.header_len(), header.urgent()), (0x42, 24, 0));
        assert_eq!(segment.payload, b"abc");
        let mss = segment.options().next().unwrap().unwrap();
        assert_eq!((mss.kind, mss.data), (option::MSS, &[0x05, 0xb4][..]));
        assert!(checksum::pseudo4(1, 2, protocol::TCP, 27).bytes(&packet[20..]).is_valid());
    }

    #[test]
    fn a_data_offset_that_lies_is_refused() {
        for offset in [0x00, 0x40, 0x60, 0xf0] {
            let mut packet = craft::ipv4(1, 2).tcp(1, 2).build();
            HeaderMut::new(&mut packet[20..]).unwrap().set_offset_bits(offset);
            assert!(Segment::parse(&packet[20..]).is_err(), "{offset:#x} was taken");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_parse_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(segment) = Segment::parse(&bytes) {
                prop_assert_eq!(20 + segment.options.len() + segment.payload.len(), bytes.len());
                prop_assert!(segment.options().count() <= 40);
            }
        }
    }
}
