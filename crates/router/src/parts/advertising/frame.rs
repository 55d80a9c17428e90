//! The router advertisement of a port (RFC 4861 section 4.2), a whole frame.
//!
//! ```text
//!  Ethernet │ IPv6, link-local to all nodes │ advertisement │ our MAC │ MTU │ each prefix once
//! ```

use crate::interfaces::OpenPort;
use control::config::objects::port_ra::Ra;
use fib::Ip6Prefix;
use std::collections::BTreeSet;
use std::net::Ipv6Addr;
use wire::nd::{option, prefix_flag};
use wire::{MacAddr, craft, ipv6};

/// How long a prefix is valid, and addresses of it preferred (RFC 4861 section 6.2.1).
const VALID_S: u32 = 30 * 24 * 3600;
const PREFERRED_S: u32 = 7 * 24 * 3600;

/// Hosts make addresses of prefixes of this length alone (RFC 4862 section 5.5.3, RFC 4291
/// section 2.5.1).
const AUTONOMOUS_LENGTH: u8 = 64;

/// What the port advertises; none as long as it has no link-local address to do so from.
pub(crate) fn frame(port: &OpenPort, ra: &Ra) -> Option<Vec<u8>> {
    let own = port.valid6.iter().find(|&&(own, _)| ipv6::is_link_local(own))?.0;
    let to = craft::ethernet(port.mac, MacAddr::of_ip6_group(ipv6::ALL_NODES));
    let packet = to.ipv6(Ipv6Addr::from(own), Ipv6Addr::from(ipv6::ALL_NODES));
    let lifetime_s = u16::try_from(ra.lifetime.as_secs()).unwrap_or(u16::MAX);
    let [high, low] = port.config.mtu.to_be_bytes();
    let mut message = packet
        .router_advertisement(lifetime_s)
        .nd_option(option::SOURCE_LINK_ADDRESS, &port.mac)
        .nd_option(option::MTU, &[0, 0, 0, 0, high, low]);
    let global = port.valid6.iter().filter(|&&(own, _)| !ipv6::is_link_local(own));
    let prefixes = global.filter_map(|&(own, length)| Ip6Prefix::new(own, length).ok());
    for prefix in prefixes.collect::<BTreeSet<_>>() {
        message = message.nd_option(option::PREFIX_INFORMATION, &prefix_information(prefix));
    }
    Some(message.build())
}

/// The option without its type and length.
fn prefix_information(prefix: Ip6Prefix) -> Vec<u8> {
    let autonomous = prefix.length() == AUTONOMOUS_LENGTH;
    let flags = prefix_flag::ON_LINK | if autonomous { prefix_flag::AUTONOMOUS } else { 0 };
    let mut bytes = vec![prefix.length(), flags];
    bytes.extend(VALID_S.to_be_bytes());
    bytes.extend(PREFERRED_S.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(prefix.address().to_be_bytes());
    bytes
}
