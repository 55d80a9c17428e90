//! Who sent a frame, as far as filters ask: whose source can be looked up.

use wire::ethernet::{self, ethertype};
use wire::vlan::{self, Tag};
use wire::{ip, ipv4, ipv6};

/// Who sent a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A host of IPv4.
    Ip4(u32),
    /// A host of IPv6.
    Ip6(u128),
    /// One that has no address yet, one of the link alone, or a sub-interface's: nobody who could
    /// have a route.
    Free,
    /// It is no IP packet.
    NotIp,
    /// It ends before its source.
    Truncated,
}

impl Source {
    /// Reads a frame, or a packet where interfaces carry such. In line: as a call it would come
    /// back by way of memory.
    #[inline(always)]
    pub fn of(bytes: &[u8], has_packets: bool) -> Self {
        if has_packets {
            return match ip::version(bytes) {
                4 => ip4_source(bytes),
                6 => ip6_source(bytes),
                _ => Self::NotIp,
            };
        }
        let Some(header) = ethernet::Header::new(bytes) else { return Self::NotIp };
        let mut behind = &bytes[ethernet::Header::LEN..];
        let mut kind = header.ethertype();
        if let Some(tag) = Tag::new(behind).filter(|_| vlan::is_tag(kind)) {
            // IEEE 802.1Q section 9.6: VLAN 0 is none, and the frame the interface's own.
            if tag.tci().vid() != 0 {
                return Self::Free;
            }
            (kind, behind) = (tag.ethertype(), &behind[Tag::LEN..]);
        }
        match kind {
            ethertype::IPV4 => ip4_source(behind),
            ethertype::IPV6 => ip6_source(behind),
            _ => Self::NotIp,
        }
    }
}

/// A source that is looked up; not that of a host without one that asks all for it (RFC 2131
/// section 4.1).
#[inline(always)]
fn ip4_source(packet: &[u8]) -> Source {
    match ipv4::Header::new(packet) {
        None => Source::Truncated,
        Some(header) if header.source() == 0 && header.destination() == u32::MAX => Source::Free,
        Some(header) => Source::Ip4(header.source()),
    }
}

/// A source that is looked up; not those of one link, nor none in what goes to a group (RFC 4862
/// section 5.4.2).
#[inline]
fn ip6_source(packet: &[u8]) -> Source {
    match ipv6::Header::new(packet) {
        None => Source::Truncated,
        Some(header) if ipv6::is_link_local(header.source()) => Source::Free,
        Some(header) if header.source() == 0 && ipv6::is_multicast(header.destination()) => {
            Source::Free
        }
        Some(header) => Source::Ip6(header.source()),
    }
}
