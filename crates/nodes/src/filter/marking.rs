//! Marks on frames: the DSCP of IP packets (RFC 2474), and the priority of tagged frames (IEEE
//! 802.1Q).
//!
//! ```text
//!  Ethernet ─ PCP │ … ─▶ IPv4 DSCP │ ECN, its checksum updated (RFC 1624)
//!             3 bits      6 bits      IPv6 likewise, in its traffic class
//! ```
//! What a frame has no place for is not marked.

use crate::tables::{Interface, TAG_BYTES};
use packet::PacketView;
use police::Colour;
use wire::ethernet::ethertype;
use wire::{ethernet, ip, ipv4, ipv6, vlan};

/// What is written into a frame; what is `None` stays as it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// Differentiated services code point.
    pub dscp: Option<u8>,
    /// Priority code point of the outer tag.
    pub pcp: Option<u8>,
}

/// Where an interface's frames have what is marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// All of it in the frame.
    Frame,
    /// There is no link header.
    Packet,
    /// The outer tag is off between coming and leaving: it stands in front of the frame, if one
    /// came.
    BehindTag,
}

impl Place {
    pub(crate) fn of(row: &Interface) -> Self {
        match row.outer_vlan() {
            Some(_) => Self::BehindTag,
            None if row.carries_packets() => Self::Packet,
            None => Self::Frame,
        }
    }
}

/// Where a frame's tag and its IP packet are.
struct Found {
    is_tagged: bool,
    ethertype: u16,
    offset: usize,
}

impl Mark {
    /// This, and of what it leaves alone that.
    pub fn or(self, other: Self) -> Self {
        Self { dscp: self.dscp.or(other.dscp), pcp: self.pcp.or(other.pcp) }
    }

    /// Marks a frame, or a packet where there is no link header.
    #[inline]
    pub fn write(self, frame: &mut [u8], is_packet: bool) {
        if self != Self::default()
            && let Some(found) = find(frame, is_packet)
        {
            self.write_found(frame, &found);
        }
    }

    /// Marks what an interface has there.
    #[inline(always)]
    pub(crate) fn write_at(self, packet: &mut PacketView<'_>, place: Place) {
        let Self { dscp, pcp } = self;
        match (place, pcp) {
            (Place::BehindTag, Some(pcp)) => {
                leave_tag(packet, pcp);
                Self { dscp, pcp: None }.write(packet.header_mut(), false);
            }
            _ => self.write(packet.header_mut(), place == Place::Packet),
        }
    }

    fn write_found(self, frame: &mut [u8], found: &Found) {
        if let (Some(pcp), true) = (self.pcp, found.is_tagged)
            && let Some(mut tag) = vlan::TagMut::new(&mut frame[ethernet::Header::LEN..])
        {
            let others = tag.view().tci_bits() & !PCP_BITS;
            tag.set_tci_bits(others | u16::from(pcp) << PCP_SHIFT);
        }
        let (Some(dscp), packet) = (self.dscp, &mut frame[found.offset..]) else { return };
        match found.ethertype {
            ethertype::IPV4
                if ipv4::Header::new(packet).is_some_and(|header| header.is_sound()) =>
            {
                if let Some(mut header) = ipv4::HeaderMut::new(packet) {
                    let ecn = header.view().ecn();
                    header.remark(dscp << 2 | ecn);
                }
            }
            ethertype::IPV6 if ip::version(packet) == 6 => {
                if let Some(mut header) = ipv6::HeaderMut::new(packet) {
                    let others = header.view().first_word() & !DSCP6_BITS;
                    header.set_first_word(others | u32::from(dscp) << DSCP6_SHIFT);
                }
            }
            _ => {}
        }
    }
}

/// Leaves a tag of this priority in front of a frame, where the one that a sub-interface puts on
/// gets it from.
fn leave_tag(packet: &mut PacketView<'_>, pcp: u8) {
    let came = packet.consumed_last::<TAG_BYTES>().copied();
    let came = came.filter(|&[a, b, ..]| vlan::is_tag(u16::from_be_bytes([a, b])));
    let [a, b, c, d] = came.unwrap_or([0x81, 0, 0, 0]);
    if packet.prepend(TAG_BYTES) {
        let tag = [a, b, (c & 0x1f) | pcp << 5, d];
        packet.header_mut()[..TAG_BYTES].copy_from_slice(&tag);
        packet.advance(TAG_BYTES);
    }
}

/// The priority's place in a tag.
const PCP_SHIFT: u32 = 13;
const PCP_BITS: u16 = 7 << PCP_SHIFT;
/// The DSCP's place in the first word of IPv6: version 4, DSCP 6, ECN 2, flow label 20.
const DSCP6_SHIFT: u32 = 22;
const DSCP6_BITS: u32 = 0x3f << DSCP6_SHIFT;

/// The colour that a frame says it has: that of its DSCP. What is no IP is green.
#[inline]
pub fn colour_of(frame: &[u8], is_packet: bool) -> Colour {
    let dscp = find(frame, is_packet).and_then(|found| {
        let packet = &frame[found.offset..];
        match found.ethertype {
            ethertype::IPV4 => ipv4::Header::new(packet).map(|header| header.dscp()),
            ethertype::IPV6 => ipv6::Header::new(packet).map(|header| header.traffic_class() >> 2),
            _ => None,
        }
    });
    dscp.map_or(Colour::Green, Colour::of_dscp)
}

#[inline]
fn find(frame: &[u8], is_packet: bool) -> Option<Found> {
    if is_packet {
        let is_ip6 = ip::version(frame) == 6;
        let ethertype = if is_ip6 { ethertype::IPV6 } else { ethertype::IPV4 };
        return Some(Found { is_tagged: false, ethertype, offset: 0 });
    }
    let walk = vlan::walk(frame)?;
    Some(Found { is_tagged: walk.count > 0, ethertype: walk.ethertype, offset: walk.offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::craft;

    const BOTH: Mark = Mark { dscp: Some(46), pcp: Some(5) };

    fn marked(mark: Mark, mut frame: Vec<u8>, is_packet: bool) -> Vec<u8> {
        mark.write(&mut frame, is_packet);
        frame
    }

    fn tagged(mut frame: Vec<u8>, tci: [u8; 2]) -> Vec<u8> {
        frame.splice(12..12, [0x81, 0, tci[0], tci[1]]);
        frame
    }

    #[test]
    fn ipv4_gets_its_dscp_and_keeps_ecn_and_a_right_checksum() {
        let frame =
            |tos| craft::ethernet([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2]).tos(tos);
        let (before, after) = (frame(0x2b).udp(5, 6).build(), frame(46 << 2 | 3).udp(5, 6).build());
        assert_eq!(marked(BOTH, before.clone(), false), after);
        assert_eq!(marked(BOTH, before[14..].to_vec(), true), after[14..]);
        // A tag keeps its VLAN and its drop eligibility.
        let (before, after) = (tagged(before, [0x31, 7]), tagged(after, [0xb1, 7]));
        assert_eq!(marked(BOTH, before.clone(), false), after);
        assert_eq!(marked(Mark::default(), before.clone(), false), before);
    }

    #[test]
    fn ipv6_gets_its_dscp_in_the_traffic_class() {
        let mut before = craft::ethernet([2; 6], [4; 6]).ipv6([1; 16], [2; 16]).udp(5, 6).build();
        before[14..18].copy_from_slice(&[0x61, 0x2f, 0xab, 0xcd]);
        let mut after = before.clone();
        after[14..18].copy_from_slice(&[0x6b, 0xaf, 0xab, 0xcd]);
        assert_eq!(marked(BOTH, before.clone(), false), after);
        assert_eq!(marked(BOTH, before[14..].to_vec(), true), after[14..]);
    }

    #[test]
    fn what_has_no_place_for_a_mark_stays_as_it_is() {
        let arp =
            craft::ethernet([2; 6], [0xff; 6]).arp_request([2; 6], [10, 0, 0, 1], [10, 0, 0, 2]);
        let mut lying =
            craft::ethernet([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2]).udp(1, 2).build();
        lying[14] = 0x43;
        for frame in [arp.build(), lying.clone(), lying[..20].to_vec(), lying[..9].to_vec()] {
            assert_eq!(marked(BOTH, frame.clone(), false), frame);
        }
        let arp = tagged(arp.build(), [0x20, 7]);
        assert_eq!(marked(BOTH, arp, false)[14..16], [0xa0, 7]);
    }

    #[test]
    fn a_frame_says_its_colour_by_its_dscp() {
        let four = |dscp: u8| {
            craft::ethernet([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2]).tos(dscp << 2 | 1)
        };
        let red = four(14).udp(1, 2).build();
        assert_eq!(colour_of(&red, false), Colour::Red);
        assert_eq!(colour_of(&red[14..], true), Colour::Red);
        assert_eq!(colour_of(&four(12).udp(1, 2).build(), false), Colour::Yellow);
        let six = craft::ethernet([2; 6], [4; 6]).ipv6([1; 16], [2; 16]).udp(5, 6).build();
        assert_eq!(
            colour_of(&marked(Mark { dscp: Some(20), pcp: None }, six, false), false),
            Colour::Yellow
        );
        assert_eq!(colour_of(&[0; 9], false), Colour::Green);
    }
}
