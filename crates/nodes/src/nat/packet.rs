//! Where in a frame its IP header is.

use wire::ethernet::{self, ethertype};
use wire::vlan::{self, Tag};
use wire::{ip, ipv4, ipv6};

/// Octets in front of the IPv4 header of a frame, or of a packet where interfaces carry such; none
/// of other frames, those of sub-interfaces included.
#[inline(always)]
pub fn ip4_at(bytes: &[u8], has_packets: bool) -> Option<usize> {
    ip_at::<4, { ethertype::IPV4 }, { ipv4::Header::LEN }>(bytes, has_packets)
}

/// The same of IPv6.
#[inline(always)]
pub fn ip6_at(bytes: &[u8], has_packets: bool) -> Option<usize> {
    ip_at::<6, { ethertype::IPV6 }, { ipv6::Header::LEN }>(bytes, has_packets)
}

#[inline(always)]
fn ip_at<const VERSION: u8, const KIND: u16, const LEN: usize>(
    bytes: &[u8],
    has_packets: bool,
) -> Option<usize> {
    let at = match has_packets {
        true if ip::version(bytes) == VERSION => 0,
        true => return None,
        false => {
            let header = ethernet::Header::new(bytes)?;
            match header.ethertype() {
                kind if kind == KIND => ethernet::Header::LEN,
                kind if vlan::is_tag(kind) => behind_tag(&bytes[ethernet::Header::LEN..], KIND)?,
                _ => return None,
            }
        }
    };
    (bytes.len() >= at + LEN).then_some(at)
}

/// IEEE 802.1Q section 9.6: VLAN 0 is none, and the frame the interface's own.
#[cold]
fn behind_tag(behind: &[u8], kind: u16) -> Option<usize> {
    let tag = Tag::new(behind)?;
    let is_ours = tag.tci().vid() == 0 && tag.ethertype() == kind;
    is_ours.then_some(ethernet::Header::LEN + Tag::LEN)
}
