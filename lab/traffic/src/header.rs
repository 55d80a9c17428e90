//! Headers of a frame as stream files name them: what they say, and which may follow which.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};
use wire::MacAddr;

/// A header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Header {
    /// Ethernet. The type is that of the next header, 0x88b5 (for experiments) without one.
    Ethernet {
        /// Who sends.
        #[serde(with = "mac_text")]
        source: MacAddr,
        /// Who is meant.
        #[serde(with = "mac_text")]
        destination: MacAddr,
        /// Another type than the next header's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ethertype: Option<u16>,
    },
    /// An 802.1Q tag.
    Vlan {
        /// VLAN, below 4096.
        id: u16,
        /// Priority, below 8.
        #[serde(default)]
        priority: u8,
    },
    /// IPv4 without options (RFC 791).
    Ipv4 {
        /// Who sends.
        source: Ipv4Addr,
        /// Who is meant.
        destination: Ipv4Addr,
        /// Hops left.
        #[serde(default = "hops")]
        ttl: u8,
        /// Class of service (RFC 2474), below 64.
        #[serde(default)]
        dscp: u8,
    },
    /// IPv6 without extension headers (RFC 8200).
    Ipv6 {
        /// Who sends.
        source: Ipv6Addr,
        /// Who is meant.
        destination: Ipv6Addr,
        /// Hops left.
        #[serde(default = "hops")]
        hop_limit: u8,
    },
    /// UDP. In front of VXLAN and LISP without a checksum (RFC 7348 section 5, RFC 9300 section
    /// 5.3).
    Udp {
        /// Port of who sends.
        source_port: u16,
        /// Port of who is meant.
        destination_port: u16,
    },
    /// TCP, an acknowledgement with data.
    Tcp {
        /// Port of who sends.
        source_port: u16,
        /// Port of who is meant.
        destination_port: u16,
    },
    /// VXLAN; an Ethernet header follows.
    Vxlan {
        /// Network, below 2^24.
        vni: u32,
    },
    /// GRE without options (RFC 2784); IPv4 or IPv6 follows.
    Gre,
    /// LISP with an instance and without a nonce (RFC 9300); IPv4 or IPv6 follows.
    Lisp {
        /// Instance, below 2^24.
        instance: u32,
    },
    /// What an application says, in front of the filler; nothing follows.
    Message {
        /// Its octets.
        #[serde(with = "hexadecimal")]
        octets: Vec<u8>,
    },
}

fn hops() -> u8 {
    64
}

impl Header {
    /// How many octets it takes in a frame.
    pub fn len(&self) -> usize {
        match self {
            Self::Ethernet { .. } => 14,
            Self::Vlan { .. } | Self::Gre => 4,
            Self::Ipv4 { .. } | Self::Tcp { .. } => 20,
            Self::Ipv6 { .. } => 40,
            Self::Udp { .. } | Self::Vxlan { .. } | Self::Lisp { .. } => 8,
            Self::Message { octets } => octets.len(),
        }
    }

    /// A message may be.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is wrong with this header behind that one, if anything.
    pub(crate) fn fault(&self, before: Option<&Self>) -> Option<String> {
        use Header::*;
        match self {
            Vlan { id, .. } if *id > 4_095 => return Some(format!("VLAN {id} is above 4095")),
            Vlan { priority, .. } if *priority > 7 => {
                return Some(format!("priority {priority} is above 7"));
            }
            Ipv4 { dscp, .. } if *dscp > 63 => return Some(format!("DSCP {dscp} is above 63")),
            Vxlan { vni } if *vni >> 24 != 0 => {
                return Some(format!("VNI {vni} is above 2^24 - 1"));
            }
            Lisp { instance } if *instance >> 24 != 0 => {
                return Some(format!("instance {instance} is above 2^24 - 1"));
            }
            _ => {}
        }
        let follows = match self {
            Ethernet { .. } => matches!(before, None | Some(Vxlan { .. })),
            Vlan { .. } | Ipv4 { .. } | Ipv6 { .. } => {
                let link = matches!(before, Some(Ethernet { .. } | Vlan { .. }));
                let tunnel = matches!(before, Some(Gre | Lisp { .. }));
                link || !matches!(self, Vlan { .. }) && tunnel
            }
            Udp { .. } | Tcp { .. } | Gre => matches!(before, Some(Ipv4 { .. } | Ipv6 { .. })),
            Vxlan { .. } | Lisp { .. } => matches!(before, Some(Udp { .. })),
            Message { .. } => matches!(before, Some(Udp { .. } | Tcp { .. })),
        };
        (!follows).then(|| match before {
            None => format!("a frame begins with ethernet, not with {}", self.name()),
            Some(before) => format!("{} cannot follow {}", self.name(), before.name()),
        })
    }

    /// Its name, as in stream files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ethernet { .. } => "ethernet",
            Self::Vlan { .. } => "vlan",
            Self::Ipv4 { .. } => "ipv4",
            Self::Ipv6 { .. } => "ipv6",
            Self::Udp { .. } => "udp",
            Self::Tcp { .. } => "tcp",
            Self::Vxlan { .. } => "vxlan",
            Self::Gre => "gre",
            Self::Lisp { .. } => "lisp",
            Self::Message { .. } => "message",
        }
    }
}

/// Octets as hexadecimal digits.
mod hexadecimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(octets: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&octets.iter().map(|octet| format!("{octet:02x}")).collect::<String>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
            [high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digits = [char::from(*high), char::from(*low)];
                u8::from_str_radix(&String::from_iter(digits), 16).ok()
            }
            _ => None,
        });
        let octets: Option<Vec<u8>> = pairs.collect();
        octets
            .ok_or_else(|| D::Error::custom(format!("{text:?} are no pairs of hexadecimal digits")))
    }
}

/// MAC addresses as people write them.
mod mac_text {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use wire::MacAddr;

    pub(super) fn serialize<S: Serializer>(mac: &MacAddr, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(mac)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<MacAddr, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_written_in_hexadecimal() {
        let message = Header::Message { octets: vec![0x0a, 0xff] };
        let written = r#"{"kind":"message","octets":"0aff"}"#;
        assert_eq!(serde_json::to_string(&message).unwrap(), written);
        let read = |octets: &str| {
            let text = written.replace("0aff", octets);
            serde_json::from_str::<Header>(&text).map_err(|error| error.to_string())
        };
        assert_eq!(read("0aFF"), Ok(message));
        for wrong in ["0af", "0g", "+1", "é"] {
            assert!(read(wrong).unwrap_err().contains("no pairs of hexadecimal digits"), "{wrong}");
        }
    }
}
