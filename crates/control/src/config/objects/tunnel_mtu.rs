//! Whether what a tunnel carries fits the way to its other end, as far as the configuration tells
//! that way: the network of a port, or the longest of its routes.
//!
//! ```text
//!  east, MTU 1500      │ IP 20 │ UDP 8 │ VXLAN 8 │ Ethernet 14 │ 1500 │   1550
//!  uplink, MTU 1500    │                                       1500 │   too narrow by 50
//! ```
//! It is a warning: senders inside are told what fits. The router tells the same of the routes that
//! it has while it runs.

use std::net::IpAddr;

use wire::{ethernet, gre, udp, vxlan};

use super::Config;
use super::connected::Connected;
use super::port::Port;
use super::port_kind::PortKind;
use super::port_name::PortName;
use super::route::{NextHop, Route, RouteKey};
use super::vrf::VrfName;
use crate::config::prefix::Prefix;
use crate::config::report::{Problem, Report};

/// Routes that lead from VRF to VRF, one after another, at most.
const MOST_LED_ON: usize = 4;
/// Octets of a key of GRE (RFC 2890).
const GRE_KEY_BYTES: usize = 4;

impl PortKind {
    /// Octets that a tunnel puts around packets of the length of its MTU.
    pub fn tunnel_bytes(&self) -> Option<u16> {
        let ip = usize::from(self.ends()?.ip_bytes());
        let wrap = match self {
            Self::Gre(it) => {
                let key = if it.outgoing_key().is_some() { GRE_KEY_BYTES } else { 0 };
                gre::Header::LEN + key
            }
            Self::Ipip(_) => 0,
            Self::Erspan(it) => it.header_bytes(),
            _ => udp::Header::LEN + vxlan::Header::LEN,
        };
        let link = if self.is_point_to_point() { 0 } else { ethernet::Header::LEN };
        Some((ip + wrap + link) as u16)
    }
}

/// Tells of a tunnel whose MTU is above what the way to its other end leaves it.
pub(super) fn check(
    name: &PortName,
    port: &Port,
    connected: &Connected<'_>,
    config: &Config,
    report: &mut Report,
) {
    let (Some(ends), Some(around)) = (port.kind.ends(), port.kind.tunnel_bytes()) else { return };
    let ways = ends.remotes.listed().iter().filter_map(|remote| {
        let way = way_to(ends.underlay_vrf.as_ref(), *remote, connected, config)?;
        Some((config.ports.get(way)?.mtu, way, *remote))
    });
    let Some((narrowest, way, remote)) = ways.min() else { return };
    let (mtu, left) = (port.mtu, narrowest.saturating_sub(around));
    if mtu <= left {
        return;
    }
    // Copies have no senders: the longest that a mirror makes is what counts.
    let mirrors = || config.mirrors.iter().filter(|(_, mirror)| mirror.destination == *name);
    if mirrors().next().is_some() || port.kind.is_for_copies() {
        let link = ethernet::Header::LEN as u16;
        let fits = |most: Option<u16>| most.is_some_and(|most| most <= left + link);
        if mirrors().any(|(_, mirror)| !fits(mirror.truncate)) {
            let message = format!(
                "copies of frames with more than {left} bytes are too long for {way}, the way to \
                 {remote}, which takes {narrowest}: they are dropped"
            );
            let problem = Problem::new(format!("port.{name}.mtu"), message);
            let help = format!("`truncate = {}` at the mirror", left + link);
            report.warn(problem.expected("copies that fit").help(help));
        }
        return;
    }
    let message = format!(
        "packets of {mtu} bytes are {} with what the tunnel puts around them, and {way}, \
         the way to {remote}, takes {narrowest}",
        u32::from(mtu) + u32::from(around),
    );
    let problem = Problem::new(format!("port.{name}.mtu"), message);
    let help =
        format!("`mtu` of {way}: {}, or of {name}: {left}", u32::from(mtu) + u32::from(around));
    report.warn(problem.expected(format!("at most {left}: senders are told so")).help(help));
}

/// The narrowest port by which packets to an address leave.
fn way_to<'a>(
    vrf: Option<&'a VrfName>,
    address: IpAddr,
    connected: &Connected<'a>,
    config: &'a Config,
) -> Option<&'a PortName> {
    let mut vrf = vrf;
    for _ in 0..MOST_LED_ON {
        if let Some(port) = connected.port_to(vrf, address) {
            return Some(port);
        }
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let key = |length| RouteKey { vrf: vrf.cloned(), prefix: Prefix::of(address, length) };
        match (0..=longest).rev().find_map(|length| config.routes.get(&key(length)))? {
            Route::Via(hops) => {
                let port = |hop: &'a NextHop| {
                    hop.port.as_ref().or_else(|| connected.port_to(vrf, hop.address?))
                };
                let mtu = |name: &&PortName| config.ports.get(name).map(|port| port.mtu);
                return hops.iter().filter_map(port).min_by_key(mtu);
            }
            Route::Vrf(other) => vrf = other.as_ref(),
            Route::Blackhole | Route::Unreachable | Route::Prohibit => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::config::{Host, Source, parse_and_warn};

    /// What is told of a tunnel's MTU beside ports and routes.
    fn told(text: &str) -> Vec<String> {
        let ports = "[port.lan]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\", \"2001:db8::1/64\"]\n\
                     [port.wan]\nkind = \"memory\"\nmtu = 1600\naddresses = [\"198.51.100.1/24\"]\n";
        let source = Source::new("test", format!("{ports}{text}"));
        let (_, warnings) = parse_and_warn(&source, &Host::any()).unwrap();
        warnings.findings().into_iter().map(|finding| finding.message).collect()
    }

    fn vxlan(remote: &str, more: &str) -> String {
        let local = if remote.contains(':') { "2001:db8::1" } else { "192.0.2.1" };
        let head = "[port.east]\nkind = \"vxlan\"\nvni = 7\n";
        format!("{head}local = \"{local}\"\nremote = \"{remote}\"\n{more}\n")
    }

    #[test]
    fn a_tunnel_that_is_wider_than_its_way_is_told_with_numbers() {
        let of = |told: Vec<String>| told.into_iter().next().unwrap_or_default();
        assert_eq!(
            of(told(&vxlan("192.0.2.9", ""))),
            "packets of 1500 bytes are 1550 with what the tunnel puts around them, and lan, \
             the way to 192.0.2.9, takes 1500"
        );
        assert!(of(told(&vxlan("2001:db8::9", ""))).contains("1570"));
        assert!(told(&vxlan("192.0.2.9", "mtu = 1450")).is_empty());
        assert_eq!(told(&vxlan("192.0.2.9", "mtu = 1451")).len(), 1);
        assert!(told(&vxlan("198.51.100.9", "")).is_empty(), "1600 is enough");
        let gre = |more: &str| {
            format!(
                "[port.g]\nkind = \"gre\"\nlocal = \"192.0.2.1\"\nremote = \"192.0.2.9\"\n\
                 payload = \"packets\"\n{more}\n"
            )
        };
        assert!(told(&gre("mtu = 1476")).is_empty());
        assert_eq!(told(&gre("mtu = 1477")).len(), 1);
        assert_eq!(told(&gre("mtu = 1476\nkey = 7")).len(), 1);
        let ipip = |remote: &str, more: &str| {
            let local = if remote.contains(':') { "2001:db8::1" } else { "192.0.2.1" };
            let ends = format!("local = \"{local}\"\nremote = \"{remote}\"");
            told(&format!("[port.i]\nkind = \"ipip\"\n{ends}\n{more}\n")).len()
        };
        assert_eq!((ipip("192.0.2.9", ""), ipip("2001:db8::9", "")), (0, 0), "by itself it fits");
        assert_eq!((ipip("192.0.2.9", "mtu = 1480"), ipip("192.0.2.9", "mtu = 1481")), (0, 1));
        assert_eq!((ipip("2001:db8::9", "mtu = 1460"), ipip("2001:db8::9", "mtu = 1461")), (0, 1));
    }

    #[test]
    fn the_way_is_that_of_the_longest_route() {
        let far = vxlan("10.1.0.9", "");
        let route = |prefix: &str, via: &str| format!("[[route]]\nprefix = \"{prefix}\"\n{via}\n");
        assert!(told(&far).is_empty(), "no way, nothing to tell");
        let wide = route("default", "via = \"198.51.100.7\"");
        assert!(told(&format!("{far}{wide}")).is_empty());
        let narrow = route("10.1.0.0/16", "via = \"192.0.2.7\"");
        assert_eq!(told(&format!("{far}{wide}{narrow}")).len(), 1);
        let both = route("10.1.0.0/16", "via = [\"198.51.100.7\", \"192.0.2.7\"]");
        assert_eq!(told(&format!("{far}{wide}{both}")).len(), 1, "the narrowest decides");
        let closed = route("10.1.0.0/16", "blackhole = true");
        assert!(told(&format!("{far}{closed}")).is_empty());
    }
}
