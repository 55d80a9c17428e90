//! `gre`: an Ethernet network, or a link of packets, over IPv4 or IPv6 (RFC 2784, RFC 2890).

use super::super::tunnel_number::GreKey;
use super::super::tunnel_outer::{OuterDscp, OuterTtl};
use super::ends::Ends;
use super::kind::{DEFAULT_MTU, Kind};
use crate::config::declare::object;
use crate::config::field::word_field;
use crate::config::report::{Problem, Report};

word_field! {
    /// What a GRE tunnel carries.
    Payload {
        /// Ethernet frames.
        Frames = "frames",
        /// IPv4 and IPv6 packets: it is a link that routes lead over.
        Packets = "packets",
    }
}

object! {
    /// An Ethernet network over IPv4 or IPv6, or a link that routes lead over
    pub struct Gre {
        /// Tells several tunnels between the same ends apart; `flow`: what flows say of each
        /// packet, in a bridge of flows
        pub key: Option<GreKey> as "7" = None,
        /// The key that what comes must have, where that is another one than `key`
        pub key_in: Option<u32> as "8" = None,
        /// The key that what goes gets, where that is another one than `key`
        pub key_out: Option<u32> as "9" = None,
        /// What it carries
        pub payload: Payload as "frames" = Payload::Frames,
        /// Class of service of its packets: that of what is inside (`inherit`), or one for all
        pub dscp: OuterDscp = OuterDscp::Inherit,
        /// TTL of its packets: that of what is inside (`inherit`), or one for all
        pub ttl: OuterTtl = OuterTtl::Is(64),
        /// Where it begins and ends
        pub ends: Ends,
    }
    also { "packets": payload = "\"packets\"" }
}

impl Gre {
    fn header_bytes(&self) -> u16 {
        self.ends.ip_bytes() + if self.outgoing_key().is_some() { 8 } else { 4 }
    }

    /// The key that what comes has.
    pub fn incoming_key(&self) -> Option<GreKey> {
        self.key_in.map(GreKey::Is).or(self.key)
    }

    /// The key that what goes has.
    pub fn outgoing_key(&self) -> Option<GreKey> {
        self.key_out.map(GreKey::Is).or(self.key)
    }
}

impl Kind for Gre {
    fn is_virtual(&self) -> bool {
        true
    }

    fn ends(&self) -> Option<&Ends> {
        Some(&self.ends)
    }

    fn is_point_to_point(&self) -> bool {
        self.payload == Payload::Packets
    }

    fn is_numbered_by_flows(&self) -> bool {
        self.key == Some(GreKey::Flow)
    }

    fn check(&self, port: &str, report: &mut Report) {
        if !self.is_numbered_by_flows() {
            return;
        }
        let mut refuse = |key: &str, message: &str, expected: &str| {
            let problem = Problem::new(format!("{port}.{key}"), message);
            report.push(problem.expected(expected));
        };
        if self.key_in.or(self.key_out).is_some() {
            let key = if self.key_in.is_some() { "key_in" } else { "key_out" };
            refuse(key, "flows say the key, in and out", "`key` alone");
        }
        if self.payload == Payload::Packets {
            let message = "flows are of frames, not of packets";
            refuse("payload", message, "payload = \"frames\", or a key for all");
        }
    }

    /// What is left of an ordinary port's inside a tunnel of packets. A bridge's ports take frames
    /// of one length, tunnels among them.
    fn default_mtu(&self) -> u16 {
        if self.is_point_to_point() { DEFAULT_MTU - self.header_bytes() } else { DEFAULT_MTU }
    }
}
