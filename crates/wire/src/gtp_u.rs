//! GTP-U: users' packets between the parts of a mobile network, in UDP port 2152 (3GPP TS 29.281,
//! 5.1).
//!
//! ```text
//! ┌─────┬──┬─┬─┬─┬──┬───────────────┬───────────────────────────────┐
//! │ ver │PT│*│E│S│PN│  message type │  octets behind the first 8    │  0   version 1, PT 1
//! ├─────┴──┴─┴─┴─┴──┴───────────────┴───────────────────────────────┤
//! │                 tunnel endpoint identifier (TEID)               │  4
//! ├───────────────────────────────┬───────────────┬─────────────────┤
//! │            sequence           │     N-PDU     │ next extension  │  8   if any of E, S, PN is 1
//! └───────────────────────────────┴───────────────┴─────────────────┘
//! extensions: │ length in words of 4 │ … │ type of the next one, 0: none │
//! ```

view! {
    /// The octets every GTP-U header has.
    Header, HeaderMut: 8 octets {
        /// Version and flags.
        flags, set_flags: u8 = 0;
        /// What it is; [`PACKET`] carries a user's packet.
        message_type, set_message_type: u8 = 1;
        /// Names the tunnel at its end.
        teid, set_teid: u32 = 4;
    }
}

/// The type of messages that carry a packet (G-PDU).
pub const PACKET: u8 = 255;
/// Version 1, GTP and not GTP'.
const VERSION: u8 = 0x30;
const VERSION_BITS: u8 = 0xf0;
/// Flag: extensions follow.
const EXTENSIONS: u8 = 4;
/// Any of these flags: four octets more.
const LONGER: u8 = 7;
/// Extensions that are gone past: none of today's packets has more than two.
const MOST_EXTENSIONS: usize = 4;

/// The packet that a datagram's payload carries, if it carries one.
#[inline]
pub fn packet(bytes: &[u8]) -> Option<&[u8]> {
    let header = Header::new(bytes)?;
    let flags = header.flags();
    if flags & VERSION_BITS != VERSION || header.message_type() != PACKET {
        return None;
    }
    let mut rest = bytes.get(Header::LEN..)?;
    if flags & LONGER == 0 {
        return Some(rest);
    }
    let (more, behind) = rest.split_first_chunk::<4>()?;
    rest = behind;
    let mut next = if flags & EXTENSIONS != 0 { more[3] } else { 0 };
    for _ in 0..MOST_EXTENSIONS {
        if next == 0 {
            return Some(rest);
        }
        let (extension, behind) = rest.split_at_checked(4 * usize::from(*rest.first()?))?;
        next = *extension.last()?;
        rest = behind;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(flags: u8, kind: u8, more: &[u8]) -> Vec<u8> {
        [&[flags, kind, 0, 9, 1, 2, 3, 4], more, b"inside"].concat()
    }

    #[test]
    fn what_is_inside_stands_behind_all_that_the_flags_say() {
        assert_eq!(packet(&header(0x30, PACKET, &[])), Some(&b"inside"[..]));
        assert_eq!(packet(&header(0x32, PACKET, &[0, 7, 0, 0x85])), Some(&b"inside"[..]));
        let extended = [0, 0, 0, 0x85, 1, 9, 9, 0x40, 2, 8, 8, 8, 8, 8, 8, 0];
        assert_eq!(packet(&header(0x34, PACKET, &extended)), Some(&b"inside"[..]));
        assert_eq!(Header::new(&header(0x30, PACKET, &[])).map(|it| it.teid()), Some(0x0102_0304));
    }

    #[test]
    fn what_carries_no_packet_is_none() {
        for wrong in [header(0x50, PACKET, &[]), header(0x20, PACKET, &[]), header(0x30, 1, &[])] {
            assert_eq!(packet(&wrong), None);
        }
        // An extension of no length, one that is longer than the rest, and too many.
        for more in [&[0, 0, 0, 0x85, 0, 0, 0, 0][..], &[0, 0, 0, 0x85, 9, 0, 0, 0]] {
            assert_eq!(packet(&header(0x34, PACKET, more)), None);
        }
        let many = [&[0, 0, 0, 1][..], &[1, 0, 0, 1].repeat(MOST_EXTENSIONS)].concat();
        assert_eq!(packet(&header(0x34, PACKET, &many)), None);
        assert_eq!(packet(&[0x30, PACKET, 0, 0, 0, 0, 0]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let bytes = [&[0x34, PACKET][..], &bytes].concat();
            if let Some(inside) = packet(&bytes) {
                prop_assert!(inside.len() + Header::LEN <= bytes.len());
            }
        }
    }
}
