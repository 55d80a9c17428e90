//! Where in a frame its IPv4 header is.

use wire::ethernet::{self, ethertype};
use wire::vlan::{self, Tag};
use wire::{ip, ipv4};

/// Octets in front of the IPv4 header of a frame, or of a packet where interfaces carry such; none
/// of other frames, those of sub-interfaces included.
#[inline(always)]
pub fn ip4_at(bytes: &[u8], has_packets: bool) -> Option<usize> {
    let at = match has_packets {
        true if ip::version(bytes) == 4 => 0,
        true => return None,
        false => {
            let header = ethernet::Header::new(bytes)?;
            match header.ethertype() {
                ethertype::IPV4 => ethernet::Header::LEN,
                kind if vlan::is_tag(kind) => behind_tag(&bytes[ethernet::Header::LEN..])?,
                _ => return None,
            }
        }
    };
    (bytes.len() >= at + ipv4::Header::LEN).then_some(at)
}

/// IEEE 802.1Q section 9.6: VLAN 0 is none, and the frame the interface's own.
#[cold]
fn behind_tag(behind: &[u8]) -> Option<usize> {
    let tag = Tag::new(behind)?;
    let is_ours = tag.tci().vid() == 0 && tag.ethertype() == ethertype::IPV4;
    is_ours.then_some(ethernet::Header::LEN + Tag::LEN)
}
