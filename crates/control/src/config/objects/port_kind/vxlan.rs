//! `vxlan`: an Ethernet network over IPv4 or IPv6 (RFC 7348).

use super::super::tunnel_number::Vni;
use super::super::tunnel_outer::{OuterDscp, OuterTtl};
use super::ends::Ends;
use super::kind::Kind;
use crate::config::declare::object;

object! {
    /// An Ethernet network over IPv4 or IPv6
    pub struct Vxlan {
        /// Network identifier; `flow`: what flows say of each packet, in a bridge of flows
        pub vni: Vni as "42",
        /// UDP port that its packets go to, here and at the other end; 8472 with old Linux
        pub udp_port: u16 [1..=u16::MAX] = 4789,
        /// Whether its datagrams have UDP checksums; over IPv6 alone when left out (RFC 6936)
        pub checksum: Option<bool> as "true" = None,
        /// Class of service of its packets: that of what is inside (`inherit`), or one for all
        pub dscp: OuterDscp = OuterDscp::Inherit,
        /// TTL of its packets: that of what is inside (`inherit`), or one for all
        pub ttl: OuterTtl = OuterTtl::Is(64),
        /// Where it begins and ends
        pub ends: Ends,
    }
}

impl Kind for Vxlan {
    fn is_virtual(&self) -> bool {
        true
    }

    fn ends(&self) -> Option<&Ends> {
        Some(&self.ends)
    }

    fn is_numbered_by_flows(&self) -> bool {
        self.vni == Vni::Flow
    }
}
