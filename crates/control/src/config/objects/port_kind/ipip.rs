//! `ipip`: a link of packets in nothing but an outer IP header (RFC 2003, RFC 2473, RFC 4213).
//!
//! ```text
//!  over IPv4  │ IPv4, protocol 4 or 41    │ IPv4 or IPv6 packet   Linux: ipip, sit, `mode any`
//!  over IPv6  │ IPv6, next header 4 or 41 │ IPv4 or IPv6 packet   Linux: ip6tnl, `mode any`
//! ```

use super::super::tunnel_outer::{OuterDscp, OuterTtl};
use super::ends::Ends;
use super::kind::{DEFAULT_MTU, Kind};
use crate::config::declare::object;

object! {
    /// A link that routes lead over, of IPv4 and IPv6 packets in IPv4 or IPv6
    pub struct Ipip {
        /// Class of service of its packets: that of what is inside (`inherit`), or one for all
        pub dscp: OuterDscp = OuterDscp::Inherit,
        /// TTL of its packets: that of what is inside (`inherit`), or one for all
        pub ttl: OuterTtl = OuterTtl::Is(64),
        /// Where it begins and ends
        pub ends: Ends,
    }
}

impl Kind for Ipip {
    fn is_virtual(&self) -> bool {
        true
    }

    fn ends(&self) -> Option<&Ends> {
        Some(&self.ends)
    }

    fn is_point_to_point(&self) -> bool {
        true
    }

    /// What is left of an ordinary port's inside.
    fn default_mtu(&self) -> u16 {
        DEFAULT_MTU - self.ends.ip_bytes()
    }
}
