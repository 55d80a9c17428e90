//! What varies from packet to packet, and where in the frame it stands.

use serde::{Deserialize, Serialize};

use crate::arrivals::Field;
use crate::header::Header;

/// A field of the innermost header that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldName {
    /// Source MAC.
    SourceMac,
    /// Destination MAC.
    DestinationMac,
    /// Number of the VLAN; the priority stays.
    VlanId,
    /// Source IP; of IPv6 its lower half.
    SourceIp,
    /// Destination IP; of IPv6 its lower half.
    DestinationIp,
    /// The upper half of an IPv6 destination.
    DestinationPrefix,
    /// Source port.
    SourcePort,
    /// Destination port.
    DestinationPort,
    /// VXLAN network.
    Vni,
}

/// A field that varies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Vary {
    /// The field that varies.
    pub field: FieldName,
    /// What one more means: with 256, the next /24.
    #[serde(default = "one")]
    pub step: u64,
    /// In which order.
    #[serde(flatten)]
    pub order: Field,
}

fn one() -> u64 {
    1
}

/// Where a field is in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// First octet.
    pub(crate) at: usize,
    /// Octets, at most 8.
    pub(crate) width: usize,
    /// Bits of them that are the field's.
    pub(crate) mask: u64,
}

/// The field of the innermost header that has it.
pub(crate) fn place(headers: &[Header], field: FieldName) -> Option<Place> {
    use FieldName::*;
    let mut found = None;
    let mut start = 0;
    for header in headers {
        let within = match (header, field) {
            (Header::Ethernet { .. }, DestinationMac) => Some((0, 6)),
            (Header::Ethernet { .. }, SourceMac) => Some((6, 6)),
            (Header::Vlan { .. }, VlanId) => Some((0, 2)),
            (Header::Ipv4 { .. }, SourceIp) => Some((12, 4)),
            (Header::Ipv4 { .. }, DestinationIp) => Some((16, 4)),
            (Header::Ipv6 { .. }, SourceIp) => Some((16, 8)),
            (Header::Ipv6 { .. }, DestinationIp) => Some((32, 8)),
            (Header::Ipv6 { .. }, DestinationPrefix) => Some((24, 8)),
            (Header::Udp { .. } | Header::Tcp { .. }, SourcePort) => Some((0, 2)),
            (Header::Udp { .. } | Header::Tcp { .. }, DestinationPort) => Some((2, 2)),
            (Header::Vxlan { .. }, Vni) => Some((4, 3)),
            _ => None,
        };
        if let Some((at, width)) = within {
            let mask = if field == VlanId { 0xfff } else { u64::MAX >> (64 - 8 * width) };
            found = Some(Place { at: start + at, width, mask });
        }
        start += header.len();
    }
    found
}
