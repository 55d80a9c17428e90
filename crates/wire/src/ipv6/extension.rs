//! The walk over IPv6 extension headers, bounded (RFC 8200, 4; RFC 7045; RFC 8504, 5.3).
//!
//! ```text
//! next header ─▶ hop-by-hop ─▶ routing ─▶ fragment ─▶ destination ─▶ … ─▶ upper layer
//!  ┌─────────────┬─────────┬─────────────      ┌─────────────┬───┬───────────────┬─┬─┬────────────────┐
//!  │ next header │ len     │ (len+1)·8 octets  │ next header │ 0 │ offset (13)   │0│M│ identification │
//!  └─────────────┴─────────┴─────────────      └─────────────┴───┴───────────────┴─┴─┴────────────────┘
//!   all but fragment (AH counts in fours, plus 2)   fragment: 8 octets
//! ```

use crate::ip::protocol;

view! {
    /// A fragment header (RFC 8200, 4.5).
    Fragment, FragmentMut: 8 octets {
        /// What follows.
        next_header, set_next_header: u8 = 0;
        /// Offset and the "more" flag in one.
        offset_bits, set_offset_bits: u16 = 2;
        /// Tells the fragments of one packet from those of another.
        identification, set_identification: u32 = 4;
    }
}

impl Fragment<'_> {
    /// Where in the fragmentable part this piece begins, in octets.
    #[inline]
    pub fn offset(self) -> usize {
        usize::from(self.offset_bits() & 0xfff8)
    }

    /// Whether more fragments follow.
    #[inline]
    pub fn more_fragments(self) -> bool {
        self.offset_bits() & 1 != 0
    }

    /// Whether it is first and last at once: to be handled apart from all other fragments (RFC
    /// 6946).
    #[inline]
    pub fn is_atomic(self) -> bool {
        self.offset_bits() & 0xfff9 == 0
    }
}

/// More headers than this are not walked (RFC 8504, 5.3 lets a node set a limit).
pub const MAX_HEADERS: usize = 8;

/// Where the walk came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upper<'a> {
    /// The protocol that follows the extension headers.
    pub protocol: u8,
    /// Octets from the end of the IPv6 header to it.
    pub offset: usize,
    /// Octets from the start of the IPv6 header to the next-header field that named it: where a
    /// parameter problem points.
    pub named_at: usize,
    /// The fragment header passed. If its offset is not zero, no upper-layer header follows.
    pub fragment: Option<Fragment<'a>>,
    /// The hop-by-hop options passed, without next header and length.
    pub hop_by_hop: Option<&'a [u8]>,
}

/// Why the walk failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The packet ends within a header.
    Truncated,
    /// More than [`MAX_HEADERS`].
    TooMany,
    /// Hop-by-hop options anywhere but first.
    HopByHopNotFirst {
        /// Octets from the start of the IPv6 header to the next-header field that names them.
        named_at: usize,
    },
}

/// Whether this next-header value names an extension header that [`walk`] passes over.
#[inline]
pub const fn is_extension(next_header: u8) -> bool {
    use protocol::{AH, DESTINATION_OPTIONS, FRAGMENT, HIP, HOP_BY_HOP, MOBILITY, ROUTING, SHIM6};
    matches!(
        next_header,
        HOP_BY_HOP | ROUTING | FRAGMENT | AH | DESTINATION_OPTIONS | MOBILITY | HIP | SHIM6
    )
}

/// Walks from the IPv6 header's `next_header` over `payload` to the upper layer.
///
/// It stops behind a fragment header whose offset is not zero: the rest is the middle of something.
#[inline]
pub fn walk(next_header: u8, payload: &[u8]) -> Result<Upper<'_>, Stop> {
    let mut upper = Upper {
        protocol: next_header,
        offset: 0,
        named_at: NEXT_HEADER_AT,
        fragment: None,
        hop_by_hop: None,
    };
    for count in 0.. {
        let is_inner = upper.fragment.is_some_and(|fragment| fragment.offset() != 0);
        if is_inner || !is_extension(upper.protocol) {
            break;
        }
        if count == MAX_HEADERS {
            return Err(Stop::TooMany);
        }
        if upper.protocol == protocol::HOP_BY_HOP && count != 0 {
            return Err(Stop::HopByHopNotFirst { named_at: upper.named_at });
        }
        pass(&mut upper, payload)?;
    }
    Ok(upper)
}

/// Octets from the start of the IPv6 header to its next-header field, and to its end.
const NEXT_HEADER_AT: usize = 6;
const IPV6_LEN: usize = super::Header::LEN;

/// The extension header that `rest` begins with, whose number is `kind`; none if it is cut short.
#[inline]
pub fn header(kind: u8, rest: &[u8]) -> Option<&[u8]> {
    let &[_, len, ..] = rest else { return None };
    let len = match kind {
        protocol::FRAGMENT => Fragment::LEN,
        protocol::AH => (usize::from(len) + 2) * 4,
        _ => (usize::from(len) + 1) * 8,
    };
    rest.get(..len)
}

/// Moves over the header that stands at `upper.offset`.
fn pass<'a>(upper: &mut Upper<'a>, payload: &'a [u8]) -> Result<(), Stop> {
    let rest = payload.get(upper.offset..).ok_or(Stop::Truncated)?;
    let header = header(upper.protocol, rest).ok_or(Stop::Truncated)?;
    match upper.protocol {
        protocol::FRAGMENT => upper.fragment = Fragment::new(header),
        protocol::HOP_BY_HOP => upper.hop_by_hop = Some(&header[2..]),
        _ => {}
    }
    upper.protocol = header[0];
    upper.named_at = IPV6_LEN + upper.offset;
    upper.offset += header.len();
    Ok(())
}

/// What a node must do with an option it does not know, by the type's two high bits (RFC 8200,
/// 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownAction {
    /// Go on.
    Skip,
    /// Drop the packet.
    Drop,
    /// Drop it and send a parameter problem.
    DropAndTell,
    /// Drop it and send a parameter problem unless it went to a group.
    DropAndTellUnlessMulticast,
}

/// One option of a hop-by-hop or destination header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Which option.
    pub kind: u8,
    /// What it carries.
    pub data: &'a [u8],
    /// Octets from the start of the options to its type.
    pub offset: usize,
}

impl Entry<'_> {
    /// What to do with it if unknown.
    pub const fn unknown_action(&self) -> UnknownAction {
        match self.kind >> 6 {
            0 => UnknownAction::Skip,
            1 => UnknownAction::Drop,
            2 => UnknownAction::DropAndTell,
            _ => UnknownAction::DropAndTellUnlessMulticast,
        }
    }
}

/// Walks the options of a hop-by-hop or destination header; padding is skipped.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Options<'a> {
    /// Over the octets after next header and length.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }
}

/// Option type: one octet of padding, without a length.
const PAD1: u8 = 0;
/// Option type: padding.
const PADN: u8 = 1;

impl<'a> Iterator for Options<'a> {
    type Item = Result<Entry<'a>, Stop>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let offset = self.offset;
            let rest = self.bytes.get(offset..)?;
            let (&kind, after) = rest.split_first()?;
            if kind == PAD1 {
                self.offset += 1;
                continue;
            }
            let data = after.split_first().and_then(|(&len, data)| data.get(..usize::from(len)));
            let Some(data) = data else {
                self.offset = self.bytes.len();
                return Some(Err(Stop::Truncated));
            };
            self.offset += 2 + data.len();
            if kind != PADN {
                return Some(Ok(Entry { kind, data, offset }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{craft, ipv6::Packet};

    fn walked(packet: &[u8]) -> Result<Upper<'_>, Stop> {
        let packet = Packet::parse(packet).unwrap();
        walk(packet.header.next_header(), packet.payload)
    }

    #[test]
    fn a_chain_in_the_order_of_the_rfc_is_walked_to_its_end() {
        let packet = craft::ipv6(1, 2)
            .hop_by_hop(&[5, 2, 0, 0])
            .routing(&[0; 6])
            .fragment_header(0, true, 77)
            .destination_options(&[])
            .udp(1, 2)
            .build();
        let upper = walked(&packet).unwrap();
        assert_eq!((upper.protocol, upper.offset), (protocol::UDP, 32));
        assert_eq!(upper.hop_by_hop.unwrap()[..4], [5, 2, 0, 0]);
        assert_eq!(upper.fragment.unwrap().identification(), 77);
        assert_eq!(packet[upper.named_at], protocol::UDP);
    }

    #[test]
    fn a_later_fragment_hides_what_follows() {
        let packet = craft::ipv6(1, 2).fragment_header(1448, false, 7).hop_by_hop(&[]).build();
        let upper = walked(&packet).unwrap();
        assert_eq!((upper.protocol, upper.offset), (protocol::HOP_BY_HOP, 8));
        assert_eq!(upper.fragment.unwrap().offset(), 1448);
        assert!(!upper.fragment.unwrap().is_atomic());
    }

    #[test]
    fn hop_by_hop_options_must_come_first() {
        let packet = craft::ipv6(1, 2).destination_options(&[]).hop_by_hop(&[]).build();
        assert_eq!(walked(&packet), Err(Stop::HopByHopNotFirst { named_at: 40 }));
    }

    #[test]
    fn a_header_cut_short_stops_the_walk() {
        assert_eq!(walk(protocol::ROUTING, &[17, 1, 0, 0, 0, 0, 0, 0]), Err(Stop::Truncated));
        assert_eq!(walk(protocol::FRAGMENT, &[17; 7]), Err(Stop::Truncated));
        assert_eq!(walk(protocol::HOP_BY_HOP, &[]), Err(Stop::Truncated));
    }

    #[test]
    fn a_chain_without_end_is_given_up() {
        let chain = [protocol::DESTINATION_OPTIONS, 0, 1, 4, 0, 0, 0, 0].repeat(100);
        assert_eq!(walk(protocol::DESTINATION_OPTIONS, &chain), Err(Stop::TooMany));
    }

    #[test]
    fn authentication_headers_count_in_words_of_four() {
        let mut payload = [0; 24];
        payload[..2].copy_from_slice(&[protocol::TCP, 4]);
        let upper = walk(protocol::AH, &payload).unwrap();
        assert_eq!((upper.protocol, upper.offset), (protocol::TCP, 24));
    }

    #[test]
    fn options_skip_padding_and_tell_what_to_do_with_the_unknown() {
        let bytes = [0, 1, 1, 9, 0xc2, 1, 7, 0x45, 0, 0x80, 0, 5, 9];
        let mut options = Options::new(&bytes);
        let first = options.next().unwrap().unwrap();
        assert_eq!((first.kind, first.data, first.offset), (0xc2, &[7][..], 4));
        assert_eq!(first.unknown_action(), UnknownAction::DropAndTellUnlessMulticast);
        assert_eq!(options.next().unwrap().unwrap().unknown_action(), UnknownAction::Drop);
        assert_eq!(options.next().unwrap().unwrap().unknown_action(), UnknownAction::DropAndTell);
        assert_eq!(options.next(), Some(Err(Stop::Truncated)));
        assert_eq!(options.next(), None);
    }

    proptest! {
        #[test]
        fn a_walk_of_any_bytes_stays_inside_them(
            next: u8,
            payload in prop::collection::vec(
                prop_oneof![Just(0u8), Just(43), Just(44), Just(60), any::<u8>()],
                0..200,
            ),
        ) {
            if let Ok(upper) = walk(next, &payload) {
                prop_assert!(upper.offset <= payload.len());
            }
        }

        #[test]
        fn options_of_any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(Options::new(&bytes).count() <= 32);
        }
    }
}
