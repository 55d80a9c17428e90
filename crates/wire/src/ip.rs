//! What IPv4 and IPv6 share: protocol numbers, congestion marks, service classes.

/// The version that a packet's first octet claims; 0 of no octets.
#[inline]
pub fn version(packet: &[u8]) -> u8 {
    packet.first().map_or(0, |first| first >> 4)
}

/// Protocol and next-header numbers (IANA registry "Protocol Numbers").
pub mod protocol {
    /// IPv6 hop-by-hop options.
    pub const HOP_BY_HOP: u8 = 0;
    /// ICMP for IPv4.
    pub const ICMP4: u8 = 1;
    /// Group membership (RFC 9776).
    pub const IGMP: u8 = 2;
    /// IPv4 inside IP.
    pub const IPV4: u8 = 4;
    /// A connection of octets (RFC 9293).
    pub const TCP: u8 = 6;
    /// Datagrams (RFC 768).
    pub const UDP: u8 = 17;
    /// IPv6 inside IP.
    pub const IPV6: u8 = 41;
    /// IPv6 routing header.
    pub const ROUTING: u8 = 43;
    /// IPv6 fragment header.
    pub const FRAGMENT: u8 = 44;
    /// A tunnel of any protocol (RFC 2784).
    pub const GRE: u8 = 47;
    /// Encapsulating security payload.
    pub const ESP: u8 = 50;
    /// Authentication header.
    pub const AH: u8 = 51;
    /// ICMP for IPv6.
    pub const ICMP6: u8 = 58;
    /// Nothing follows.
    pub const NO_NEXT: u8 = 59;
    /// IPv6 destination options.
    pub const DESTINATION_OPTIONS: u8 = 60;
    /// Routing by link states (RFC 2328, RFC 5340).
    pub const OSPF: u8 = 89;
    /// Multicast routing between routers (RFC 7761).
    pub const PIM: u8 = 103;
    /// Messages of many streams (RFC 9260).
    pub const SCTP: u8 = 132;
    /// IPv6 mobility header.
    pub const MOBILITY: u8 = 135;
    /// Host identity protocol.
    pub const HIP: u8 = 139;
    /// Several addresses of one host (RFC 5533).
    pub const SHIM6: u8 = 140;
    /// For experiments (RFC 3692).
    pub const EXPERIMENT: u8 = 253;
}

/// Explicit congestion notification (RFC 3168, 5).
pub mod ecn {
    /// Not capable.
    pub const NOT_ECT: u8 = 0;
    /// Capable, mark 1.
    pub const ECT1: u8 = 1;
    /// Capable, mark 0.
    pub const ECT0: u8 = 2;
    /// Congestion experienced.
    pub const CE: u8 = 3;
    /// Its bits of the octet that also has the class of service.
    pub const MASK: u8 = 3;
}

/// Differentiated services code points (RFC 4594, 8622).
pub mod dscp {
    /// Best effort.
    pub const DEFAULT: u8 = 0;
    /// Less than best effort.
    pub const LE: u8 = 1;
    /// Assured forwarding, class 1, low drop precedence.
    pub const AF11: u8 = 10;
    /// Assured forwarding, class 2, low drop precedence.
    pub const AF21: u8 = 18;
    /// Assured forwarding, class 3, low drop precedence.
    pub const AF31: u8 = 26;
    /// Assured forwarding, class 4, low drop precedence.
    pub const AF41: u8 = 34;
    /// Voice admitted.
    pub const VA: u8 = 44;
    /// Expedited forwarding.
    pub const EF: u8 = 46;
    /// Network control.
    pub const CS6: u8 = 48;
}
