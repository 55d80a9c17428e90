//! `lisp`: a link to the sites of LISP (RFC 9300), of one instance. Routes lead into it; which site
//! a packet goes to, and by which of its locators, the map cache says.

use std::net::IpAddr;

use super::super::tunnel_outer::{OuterDscp, OuterTtl};
use super::super::vrf::VrfName;
use super::kind::{DEFAULT_MTU, Kind};
use crate::config::declare::{as_field, object};
use crate::config::field::word_field;
use wire::lisp::MAX_INSTANCE;

word_field! {
    /// How much is asked of who sends an endpoint's packet.
    SourceCheck {
        /// Nothing.
        Off = "off",
        /// That it is at the endpoint's site, if that is known.
        Loose = "loose",
        /// That it is at the endpoint's site; what is not known is asked for, and does not pass.
        Strict = "strict",
    }
}

object! {
    /// Where a site is reached
    pub struct Locator {
        /// Its address
        pub address: IpAddr as "192.0.2.2",
        /// The lowest there is gets the flows; 255: none
        pub priority: u8 = 1,
        /// Share of the flows among those of one priority
        pub weight: u8 [1..=u8::MAX] = 1,
    }
}
as_field!(Locator or address: IpAddr => Locator::new);

object! {
    /// A link to the sites of LISP (RFC 9300), that routes lead into
    pub struct Lisp {
        /// The instance, that tells endpoints of several networks apart
        pub instance_id: u32 [0..=MAX_INSTANCE] = 0,
        /// Our locators, addresses of ports: the first of a family is the source of what we send
        pub locators: Vec<Locator> as "192.0.2.1" = Vec::new(),
        /// The VRF of packets between locators, whatever VRF that is in which endpoints are
        pub underlay_vrf: Option<VrfName> as "red" = None,
        /// Class of service of its packets: that of what is inside (`inherit`), or one for all
        pub dscp: OuterDscp = OuterDscp::Inherit,
        /// TTL of its packets: that of what is inside (`inherit`), or one for all
        pub ttl: OuterTtl = OuterTtl::Inherit,
        /// Whether what comes takes over class and TTL of the packet outside
        pub uniform: bool = true,
        /// Whether its datagrams over IPv6 have UDP checksums
        pub checksum: bool = false,
        /// How much is asked of who sends an endpoint's packet
        pub source_check: SourceCheck as "strict" = SourceCheck::Off,
        /// Whether what comes by it may leave by it again
        pub reencapsulate: bool = false,
        /// The proxy that gets packets to what is no site's (PETR); the underlay when left out
        pub petr: Option<IpAddr> as "203.0.113.9" = None,
    }
    by { "instance": instance_id, "underlay": underlay_vrf, "locator": locators }
}

impl Lisp {
    /// Octets in front of a packet, at the most.
    pub fn header_bytes(&self) -> u16 {
        let to = self.petr.iter().chain(self.locators.iter().map(|own| &own.address));
        if to.into_iter().any(IpAddr::is_ipv6) { 40 + 8 + 8 } else { 20 + 8 + 8 }
    }
}

impl Kind for Lisp {
    fn is_virtual(&self) -> bool {
        true
    }

    fn is_point_to_point(&self) -> bool {
        true
    }

    fn routes(&self) -> bool {
        true
    }

    fn underlay_vrf(&self) -> Option<&VrfName> {
        self.underlay_vrf.as_ref()
    }

    /// What is left of an ordinary port's.
    fn default_mtu(&self) -> u16 {
        DEFAULT_MTU - self.header_bytes()
    }
}
