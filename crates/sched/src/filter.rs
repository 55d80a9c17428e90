//! Which class a packet goes to: a list of filters over what the router read from its headers; the
//! first that fits decides.
//!
//! ```text
//!   Fields { dscp, vlan_pcp, addresses, protocol, ports, … } ─▶ filter 1 ─▶ filter 2 ─▶ … ─▶ class, or none: the default
//! ```
//!
//! Time O(filters); space 100 bytes a filter.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

use crate::{ClassId, Error};

/// An address prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix {
    /// The address, its bits past the length zero or not.
    pub address: IpAddr,
    /// How many leading bits count.
    pub length: u8,
}

impl Prefix {
    /// Whether the address lies in the prefix.
    pub fn contains(&self, address: IpAddr) -> bool {
        let (own, other, width) = match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (u128::from(u32::from(own)), u128::from(u32::from(other)), 32)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => (u128::from(own), u128::from(other), 128),
            _ => return false,
        };
        (own ^ other).checked_shr(width - u32::from(self.length)).unwrap_or(0) == 0
    }
}

impl std::str::FromStr for Prefix {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = |reason: &str| Error::Quantity {
            what: "prefix",
            text: text.to_string(),
            reason: reason.to_string(),
        };
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| refuse("its address cannot be read"))?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let length = match length {
            None => width,
            Some(length) => length
                .parse()
                .ok()
                .filter(|&length| length <= width)
                .ok_or_else(|| refuse("its length is not within the address"))?,
        };
        Ok(Self { address, length })
    }
}

impl TryFrom<String> for Prefix {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

impl std::fmt::Display for Prefix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> String {
        prefix.to_string()
    }
}

/// An inclusive range of ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ports {
    /// The first.
    pub first: u16,
    /// The last.
    pub last: u16,
}

/// Everything given must fit; what is not given fits always.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Where the packet goes.
    pub class: ClassId,
    /// The differentiated-services code point, 0 to 63.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<u8>,
    /// The packet's priority, 0 to 15.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// The VLAN priority, 0 to 7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vlan_pcp: Option<u8>,
    /// Where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Prefix>,
    /// Where it goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination: Option<Prefix>,
    /// The IP protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u8>,
    /// The source port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_port: Option<Ports>,
    /// The destination port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_port: Option<Ports>,
    /// The flow hash modulo this many…
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash_modulus: Option<u32>,
    /// …equals this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash_value: Option<u32>,
    /// The bridge that it was forwarded in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridge: Option<String>,
    /// The VRF that it was routed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vrf: Option<String>,
    /// The queue that flows chose for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
    /// The code point that what it takes leaves with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_dscp: Option<u8>,
}

/// What the router knows of a packet.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fields<'a> {
    /// The differentiated-services code point.
    pub dscp: Option<u8>,
    /// The priority.
    pub priority: u8,
    /// The VLAN priority.
    pub vlan_pcp: Option<u8>,
    /// Source and destination.
    pub addresses: Option<(IpAddr, IpAddr)>,
    /// The IP protocol.
    pub protocol: Option<u8>,
    /// Source and destination port; none in a later fragment.
    pub ports: Option<(u16, u16)>,
    /// The flow hash.
    pub flow_hash: u32,
    /// The bridge; empty if it was forwarded in none.
    pub bridge: &'a str,
    /// The VRF; empty if it was routed in none.
    pub vrf: &'a str,
    /// The queue that flows chose.
    pub queue: Option<u32>,
}

fn fits<V: Copy>(wanted: Option<V>, test: impl FnOnce(V) -> bool) -> bool {
    wanted.is_none_or(test)
}

impl Filter {
    /// A filter that takes every packet.
    pub fn to(class: ClassId) -> Self {
        Self { class, ..Self::default() }
    }

    /// Whether everything that the filter asks for is so.
    pub fn accepts(&self, fields: &Fields<'_>) -> bool {
        let within = |ports: Ports, port: u16| (ports.first..=ports.last).contains(&port);
        let hash = self.hash_modulus.map(|modulus| (modulus, self.hash_value.unwrap_or(0)));
        fits(self.dscp, |dscp| fields.dscp == Some(dscp))
            && fits(self.priority, |priority| fields.priority == priority)
            && fits(self.vlan_pcp, |pcp| fields.vlan_pcp == Some(pcp))
            && fits(self.source, |prefix| fields.addresses.is_some_and(|a| prefix.contains(a.0)))
            && fits(self.destination, |prefix| {
                fields.addresses.is_some_and(|a| prefix.contains(a.1))
            })
            && fits(self.protocol, |protocol| fields.protocol == Some(protocol))
            && fits(self.source_port, |range| fields.ports.is_some_and(|p| within(range, p.0)))
            && fits(self.destination_port, |range| fields.ports.is_some_and(|p| within(range, p.1)))
            && fits(hash, |(modulus, value)| fields.flow_hash.checked_rem(modulus) == Some(value))
            && fits(self.bridge.as_deref(), |bridge| fields.bridge == bridge)
            && fits(self.vrf.as_deref(), |vrf| fields.vrf == vrf)
            && fits(self.queue, |queue| fields.queue == Some(queue))
    }

    /// Refuses what no packet can have.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let at_most = |setting, value: Option<u64>, most: u64, range| match value {
            Some(value) if value > most => {
                Err(Error::Range { kind: "filter", setting, value, range })
            }
            _ => Ok(()),
        };
        at_most("dscp", self.dscp.map(u64::from), 63, "0 to 63")?;
        at_most("set_dscp", self.set_dscp.map(u64::from), 63, "0 to 63")?;
        at_most("priority", self.priority.map(u64::from), 15, "0 to 15")?;
        at_most("vlan_pcp", self.vlan_pcp.map(u64::from), 7, "0 to 7")?;
        for ports in [self.source_port, self.destination_port].into_iter().flatten() {
            let (first, last) = (u64::from(ports.first), u64::from(ports.last));
            at_most("first port", Some(first), last, "the last port")?;
        }
        match (self.hash_modulus, self.hash_value.map(u64::from)) {
            (Some(0), _) => Err(Error::Range {
                kind: "filter",
                setting: "hash_modulus",
                value: 0,
                range: "1 and more",
            }),
            (Some(modulus), value) => {
                at_most("hash_value", value, u64::from(modulus) - 1, "0 to below hash_modulus")
            }
            (None, Some(value)) => Err(Error::Range {
                kind: "filter",
                setting: "hash_value",
                value,
                range: "use: it needs a hash_modulus",
            }),
            (None, None) => Ok(()),
        }
    }
}

/// The class of the first filter that accepts the packet; none if there is no such.
pub fn classify(filters: &[Filter], fields: &Fields<'_>) -> ClassId {
    first_of(filters, fields).map_or(ClassId::NONE, |filter| filter.class)
}

/// The first filter that accepts the packet.
pub fn first_of<'f>(filters: &'f [Filter], fields: &Fields<'_>) -> Option<&'f Filter> {
    filters.iter().find(|filter| filter.accepts(fields))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> Fields<'static> {
        Fields {
            dscp: Some(46),
            addresses: Some(("10.1.2.3".parse().unwrap(), "192.0.2.9".parse().unwrap())),
            protocol: Some(17),
            ports: Some((5000, 53)),
            flow_hash: 7,
            bridge: "blue",
            vrf: "office",
            ..Fields::default()
        }
    }

    #[test]
    fn the_first_filter_that_fits_decides() {
        let class = |minor| ClassId::new(1, minor);
        let filters = [
            Filter { protocol: Some(6), ..Filter::to(class(1)) },
            Filter { dscp: Some(46), bridge: Some("blue".into()), ..Filter::to(class(2)) },
            Filter::to(class(3)),
        ];
        assert_eq!(classify(&filters, &fields()), class(2));
        let other = Fields { bridge: "red", ..fields() };
        assert_eq!(classify(&filters, &other), class(3));
    }

    #[test]
    fn every_criterion_can_exclude() {
        let dns = Ports { first: 53, last: 53 };
        let prefix = |text: &str| Some(text.parse::<Prefix>().unwrap());
        let any = Filter::to(ClassId::new(1, 1));
        let not: [Filter; 10] = [
            Filter { dscp: Some(0), ..any.clone() },
            Filter { vlan_pcp: Some(0), ..any.clone() },
            Filter { source: prefix("10.2.0.0/16"), ..any.clone() },
            Filter { destination: prefix("2001:db8::/32"), ..any.clone() },
            Filter { source_port: Some(dns), ..any.clone() },
            Filter { hash_modulus: Some(4), hash_value: Some(2), ..any.clone() },
            Filter { bridge: Some("red".into()), ..any.clone() },
            Filter { vrf: Some("guests".into()), ..any.clone() },
            Filter { queue: Some(1), ..any.clone() },
            Filter { priority: Some(3), ..any.clone() },
        ];
        assert!(not.iter().all(|filter| !filter.accepts(&fields())));
        let all = Filter {
            source: prefix("10.0.0.0/8"),
            destination: prefix("192.0.2.9"),
            destination_port: Some(dns),
            hash_modulus: Some(4),
            hash_value: Some(3),
            bridge: Some("blue".into()),
            vrf: Some("office".into()),
            ..any
        };
        assert!(all.accepts(&fields()));
    }

    #[test]
    fn the_whole_address_space_is_a_prefix() {
        for (prefix, address) in [("0.0.0.0/0", "255.1.2.3"), ("::/0", "2001:db8::1")] {
            assert!(prefix.parse::<Prefix>().unwrap().contains(address.parse().unwrap()));
        }
        assert!("10.0.0.0/33".parse::<Prefix>().is_err());
    }

    #[test]
    fn what_no_packet_can_have_is_refused() {
        let any = Filter::to(ClassId::new(1, 1));
        let wrong = [
            Filter { dscp: Some(64), ..any.clone() },
            Filter { hash_modulus: Some(0), ..any.clone() },
            Filter { hash_modulus: Some(4), hash_value: Some(4), ..any.clone() },
            Filter { hash_value: Some(4), ..any.clone() },
            Filter { source_port: Some(Ports { first: 9, last: 8 }), ..any },
        ];
        assert!(wrong.iter().all(|filter| filter.check().is_err()));
    }
}
