//! What comes out of a packet between locators is as far, and of the class, that it was outside
//! (RFC 9300, section 5.3; RFC 2983, the uniform model).

use wire::ip::ecn;
use wire::{checksum, ip, ipv4, ipv6};

/// Gives a packet the class outside, and its reach where that is less: so that a ring of sites
/// comes to an end. Congestion marks stay.
#[inline]
pub(super) fn take_over(packet: &mut [u8], tos: u8, ttl: u8) {
    match ip::version(packet) {
        4 => {
            let Some(mut header) = ipv4::HeaderMut::new(packet) else { return };
            let view = header.view();
            let (inner_tos, inner_ttl, protocol) = (view.tos(), view.ttl(), view.protocol());
            let class = tos & !ecn::MASK | inner_tos & ecn::MASK;
            if class != inner_tos {
                header.remark(class);
            }
            if ttl < inner_ttl {
                let old = u16::from_be_bytes([inner_ttl, protocol]);
                let new = u16::from_be_bytes([ttl, protocol]);
                let sum = checksum::update_u16(header.view().checksum(), old, new);
                header.set_ttl(ttl);
                header.set_checksum(sum);
            }
        }
        _ => {
            let Some(mut header) = ipv6::HeaderMut::new(packet) else { return };
            let (class, limit) = (header.view().traffic_class(), header.view().hop_limit());
            header.remark(tos & !ecn::MASK | class & ecn::MASK);
            header.set_hop_limit(ttl.min(limit));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::craft;

    #[test]
    fn class_and_the_lesser_reach_are_taken_over_and_marks_are_not() {
        let four = |tos, ttl| craft::ipv4(1, 2).tos(tos).ttl(ttl).udp(3, 4).build();
        let six = |tos, ttl| craft::ipv6(1, 2).traffic_class(tos).hop_limit(ttl).udp(3, 4).build();
        for (inside, outside, after) in [
            ((0x28, 60), (0xb8, 70), (0xb8, 60)),
            ((0x28, 60), (0x28, 9), (0x28, 9)),
            ((0x29, 60), (0xb9, 59), (0xb9, 59)),
            ((0x03, 1), (0xb8, 255), (0xbb, 1)),
        ] {
            let (mut packet4, mut packet6) = (four(inside.0, inside.1), six(inside.0, inside.1));
            take_over(&mut packet4, outside.0, outside.1);
            take_over(&mut packet6, outside.0, outside.1);
            assert_eq!(packet4, four(after.0, after.1));
            assert_eq!(packet6, six(after.0, after.1));
        }
    }

    #[test]
    fn what_is_too_short_stays_as_it_is() {
        for mut packet in [vec![], vec![0x45; 19], vec![0x60; 39]] {
            let before = packet.clone();
            take_over(&mut packet, 0xff, 0);
            assert_eq!(packet, before);
        }
    }
}
