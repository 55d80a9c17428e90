//! What few access lists ask of a frame: service, TTL, fragments, the station that it is for, the
//! VLAN behind the outer one.

use acl::{MoreFields, Piece};
use wire::{ethernet, ip, ipv4, ipv6, vlan};

/// Of a frame from its Ethernet header on, whose outer tag was taken off or is put on later where
/// `outer` is set, and whose second one likewise where `inner` tells it.
pub(super) fn of_frame(frame: &[u8], outer: Option<u16>, inner: Option<u16>) -> MoreFields {
    let (Some(header), Some(walk)) = (ethernet::Header::new(frame), vlan::walk(frame)) else {
        return MoreFields::default();
    };
    let behind = walk.tags().get(usize::from(outer.is_none()));
    MoreFields {
        inner_vlan: inner.unwrap_or_else(|| behind.map_or(0, |tag| tag.vid())),
        destination_mac: header.destination().0,
        ..of_packet(&frame[walk.offset..])
    }
}

/// Of a packet from its IP header on.
pub(super) fn of_packet(packet: &[u8]) -> MoreFields {
    match ip::version(packet) {
        4 => ipv4::Header::new(packet).map(|header| MoreFields {
            ttl: header.ttl(),
            tos: header.tos(),
            piece: piece(header.is_fragment(), header.fragment_offset()),
            ..MoreFields::default()
        }),
        6 => ipv6::Header::new(packet).map(|header| {
            let payload = &packet[ipv6::Header::LEN..];
            let upper = ipv6::extension::walk(header.next_header(), payload).ok();
            let fragment = upper.and_then(|upper| upper.fragment);
            let fragment = fragment.filter(|fragment| !fragment.is_atomic());
            MoreFields {
                ttl: header.hop_limit(),
                tos: header.traffic_class(),
                piece: piece(fragment.is_some(), fragment.map_or(0, |it| it.offset())),
                ..MoreFields::default()
            }
        }),
        _ => None,
    }
    .unwrap_or_default()
}

fn piece(is_fragment: bool, offset: usize) -> Piece {
    match (is_fragment, offset) {
        (false, _) => Piece::Whole,
        (true, 0) => Piece::First,
        (true, _) => Piece::Later,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::craft;

    #[test]
    fn a_frame_is_read_from_its_mac_to_its_fragment_offset() {
        let link = || craft::ethernet([2; 6], [4; 6]);
        let ip4 = || link().ipv4([10, 0, 0, 1], [10, 0, 0, 2]).ttl(9).tos(0xb9);
        let plain = ip4().udp(5, 6).build();
        let expected = MoreFields {
            ttl: 9,
            tos: 0xb9,
            piece: Piece::Whole,
            inner_vlan: 0,
            destination_mac: [4; 6],
        };
        assert_eq!(of_frame(&plain, None, None), expected);
        let tags = [0x88, 0xa8, 0, 200, 0x81, 0, 0, 7];
        let tagged = [&plain[..12], &tags, &plain[12..]].concat();
        assert_eq!(of_frame(&tagged, None, None), MoreFields { inner_vlan: 7, ..expected });
        let inner_alone = [&plain[..12], &tags[4..], &plain[12..]].concat();
        assert_eq!(of_frame(&inner_alone, None, None).inner_vlan, 0);
        assert_eq!(of_frame(&inner_alone, Some(200), None).inner_vlan, 7);
        assert_eq!(of_frame(&plain, Some(200), Some(7)).inner_vlan, 7);
        let pieces = [(0, true), (8, true), (8, false)].map(|(offset, more)| {
            of_frame(&ip4().fragment(offset, more).udp(5, 6).build(), None, None).piece
        });
        assert_eq!(pieces, [Piece::First, Piece::Later, Piece::Later]);
        let six = link().ipv6([1; 16], [2; 16]).hop_limit(3).udp(5, 6).build();
        let found = of_frame(&six, None, None);
        assert_eq!((found.ttl, found.piece, found.destination_mac), (3, Piece::Whole, [4; 6]));
        assert_eq!(of_packet(&[]), MoreFields::default());
    }
}
