//! Congestion marks through tunnels (RFC 6040): what goes in is marked outside as it is inside, and
//! what comes out tells of congestion inside that was met outside.
//!
//! ```text
//!              outside   not-ECT   ECT(0)    ECT(1)    CE
//!  inside  not-ECT       not-ECT   not-ECT   not-ECT   drop
//!          ECT(0)        ECT(0)    ECT(0)    ECT(1)    CE
//!          ECT(1)        ECT(1)    ECT(1)    ECT(1)    CE
//!          CE            CE        CE        CE        CE          section 4.2
//! ```
//! The class of service (DSCP) inside stays as it was (RFC 2983, the pipe model).

use wire::ethernet::ethertype;
use wire::ip::ecn::{CE, ECT0, ECT1, MASK, NOT_ECT};
use wire::{ip, ipv4, ipv6, vlan};

/// The marks with which a packet comes out; none where it must not: the network would have dropped
/// it, but for its outer header.
pub(super) fn leaving(inside: u8, outside: u8) -> Option<u8> {
    match (inside, outside) {
        (NOT_ECT, CE) => None,
        (ECT0, ECT1 | CE) | (ECT1, CE) => Some(outside),
        _ => Some(inside),
    }
}

/// Marks what came out, a frame or a packet of `kind`, by what stood outside; false where it must
/// be dropped. What is no IP packet has no marks.
#[inline(never)]
pub(super) fn tell(inside: &mut [u8], kind: u16, outside: u8) -> bool {
    let (kind, offset) = match kind {
        ethertype::TEB => match vlan::walk(inside) {
            Some(walk) => (walk.ethertype, walk.offset),
            None => return true,
        },
        kind => (kind, 0),
    };
    let packet = &mut inside[offset..];
    match (kind, ip::version(packet)) {
        (ethertype::IPV4, 4) => {
            let Some(mut header) = ipv4::HeaderMut::new(packet) else { return true };
            let tos = header.view().tos();
            let Some(marks) = leaving(tos & MASK, outside) else { return false };
            if marks != tos & MASK {
                header.remark(tos & !MASK | marks);
            }
        }
        (ethertype::IPV6, 6) => {
            let Some(mut header) = ipv6::HeaderMut::new(packet) else { return true };
            let class = header.view().traffic_class();
            let Some(marks) = leaving(class & MASK, outside) else { return false };
            header.remark(class & !MASK | marks);
        }
        _ => {}
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{checksum, craft};

    #[test]
    fn all_sixteen_combinations_are_those_of_the_rfc() {
        let table = [
            (NOT_ECT, [Some(NOT_ECT), Some(NOT_ECT), Some(NOT_ECT), None]),
            (ECT0, [Some(ECT0), Some(ECT0), Some(ECT1), Some(CE)]),
            (ECT1, [Some(ECT1), Some(ECT1), Some(ECT1), Some(CE)]),
            (CE, [Some(CE), Some(CE), Some(CE), Some(CE)]),
        ];
        for (inside, row) in table {
            for (outside, wanted) in [NOT_ECT, ECT0, ECT1, CE].into_iter().zip(row) {
                assert_eq!(leaving(inside, outside), wanted, "{inside} in {outside}");
                let tos = 0x48 | inside;
                let four = |tos| craft::ipv4(1, 2).tos(tos).udp(3, 4).build();
                let six = |tos| craft::ipv6(1, 2).traffic_class(tos).udp(3, 4).build();
                let frame = || craft::ethernet([2; 6], [4; 6]);
                let tagged = |tos| frame().vlan(7).ipv4(1, 2).tos(tos).udp(3, 4).build();
                let framed = |tos| frame().ipv6(1, 2).traffic_class(tos).udp(3, 4).build();
                let after = 0x48 | wanted.unwrap_or(inside);
                for (kind, mut packet, expected) in [
                    (ethertype::IPV4, four(tos), four(after)),
                    (ethertype::IPV6, six(tos), six(after)),
                    (ethertype::TEB, tagged(tos), tagged(after)),
                    (ethertype::TEB, framed(tos), framed(after)),
                ] {
                    assert_eq!(tell(&mut packet, kind, outside), wanted.is_some());
                    assert_eq!(packet, expected);
                }
                let mut packet = four(tos);
                tell(&mut packet, ethertype::IPV4, outside);
                assert!(checksum::is_valid(&packet[..20]));
            }
        }
    }

    #[test]
    fn what_has_no_marks_passes_as_it_is() {
        let arp = craft::ethernet([2; 6], [255; 6]).arp_request([2; 6], 1, 2).build();
        let (mut short, mut lying) = (vec![0x45; 19], vec![0x65; 40]);
        for (packet, kind) in [
            (&mut arp.clone(), ethertype::TEB),
            (&mut arp[..13].to_vec(), ethertype::TEB),
            (&mut short, ethertype::IPV4),
            (&mut lying, ethertype::IPV4),
        ] {
            let before = packet.clone();
            assert!(tell(packet, kind, CE));
            assert_eq!(*packet, before);
        }
    }
}
