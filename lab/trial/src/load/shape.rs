//! What comes out of a device for what goes in: function by function, header by header.
//!
//! ```text
//!                       at the first link             at the second link
//! cross-connect, bridge a frame                  ◀──▶ the same frame
//! ip4, ip6, lists       a packet, TTL 64          ──▶ one hop less, addresses of the link
//! vlan-tagging          a frame                  ◀──▶ ethernet · vlan 100 · what it carries
//! vxlan-encap           a frame                  ◀──▶ ethernet · ipv4 · udp · vxlan 100 · the frame
//! gre                   ethernet · packet, TTL 64 ──▶ ethernet · ipv4 · gre · packet, one hop less
//! lisp                  ethernet · packet, TTL 64 ──▶ ethernet · ipv4 · udp · lisp 100 · packet, one hop less
//! dhcp4                 a client's message        ◀──▶ a server's, as `leases` has it
//! ```
//! Ways that are encapsulated one way are decapsulated the other: what is sent at the second link
//! carries the headers already. So each device shows both halves, and either can be the slower.

use lab_traffic::Rate;
use lab_traffic::arrivals::Field;
use lab_traffic::{FieldName, Header, Stream, Vary};

use super::frames::{self, Load};
use super::leases;
use super::tunnels::tunnel;
pub use super::tunnels::{INSTANCE, VLAN, VNI};
use crate::link::{DEVICE_MACS, LAB_MACS};
use crate::scenario::FunctionKind;

/// The destination port that an access list denies.
pub const DENIED_PORT: u16 = 5_002;
/// Headers of a VXLAN tunnel: ethernet, ipv4, udp, vxlan.
const VXLAN_HEADERS: usize = 4;
/// Headers of a GRE tunnel behind the link's own: ipv4, gre.
const GRE_HEADERS: usize = 2;
/// The same of LISP: ipv4, udp, lisp.
const LISP_HEADERS: usize = 3;

/// Frames of one kind, and what must become of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// What is sent.
    pub sent: Stream,
    /// At which end.
    pub side: usize,
    /// What must come out at the other; none of frames that must not come out.
    pub emerges: Option<Stream>,
}

/// What must come out at `side` for what went in at the other.
pub fn emerging(function: FunctionKind, sent: &Stream, side: usize) -> Stream {
    if function == FunctionKind::Dhcp4 {
        return leases::emerging(&sent.frame_bytes, sent.rate, side);
    }
    let mut out = sent.clone();
    let headers = &mut out.headers;
    let overhead_bytes = function.overhead_bytes();
    match (function, side) {
        (FunctionKind::VlanTagging, 1) => {
            headers.insert(1, Header::Vlan { id: VLAN, priority: 0 });
        }
        (FunctionKind::VlanTagging, _) => {
            headers.remove(1);
        }
        (FunctionKind::VxlanEncap, 1) => {
            headers.splice(0..0, tunnel(function, true));
        }
        (FunctionKind::VxlanEncap, _) => {
            headers.drain(..VXLAN_HEADERS);
        }
        (FunctionKind::Gre | FunctionKind::Lisp, 1) => {
            hop(headers, side);
            headers.splice(0..1, tunnel(function, true));
        }
        (FunctionKind::Gre, _) => {
            headers.drain(1..=GRE_HEADERS);
            hop(headers, side);
        }
        (FunctionKind::Lisp, _) => {
            headers.drain(1..=LISP_HEADERS);
            hop(headers, side);
        }
        _ if function.is_routed() => hop(headers, side),
        _ => {}
    }
    out.frame_bytes = match side {
        1 => sent.frame_bytes.grown(overhead_bytes),
        _ => sent.frame_bytes.shrunk(overhead_bytes),
    };
    out
}

/// What a router does: a hop less, and the addresses of the link that it sends to.
fn hop(headers: &mut [Header], side: usize) {
    for header in headers {
        match header {
            Header::Ethernet { source, destination, .. } => {
                (*source, *destination) = (DEVICE_MACS[side], LAB_MACS[side]);
            }
            Header::Ipv4 { ttl: hops, .. } | Header::Ipv6 { hop_limit: hops, .. } => *hops -= 1,
            _ => {}
        }
    }
}

impl Load {
    /// Everything that is sent to see whether a device does what its function says, the first
    /// link's before the second's: what must come out, and beside it what must not.
    pub fn probes(&self, rate: Rate) -> Vec<Probe> {
        let pass = |sent: Stream, side: usize| {
            let emerges = Some(emerging(self.function, &sent, 1 - side));
            Probe { sent, side, emerges }
        };
        let stop = |sent: Stream, side: usize| Probe { sent, side, emerges: None };
        let there = self.stream(rate);
        let back = Stream { name: "back".into(), ..self.stream_back(rate) };
        let mut probes = vec![pass(there.clone(), 0)];
        match self.function {
            FunctionKind::Acl => {
                probes.push(stop(self.denied(&there), 0));
                probes.push(pass(self.not_quite_denied(&there), 0));
            }
            FunctionKind::SourceAllowList => {
                let [below, above] = frames::unlisted_sources(self.entries);
                probes.push(stop(from(&there, below, "from below the list"), 0));
                probes.push(stop(from(&there, above, "from above the list"), 0));
            }
            _ => {}
        }
        let (first, second): (Vec<_>, Vec<_>) = match self.function {
            FunctionKind::Dhcp4 => leases::kept_out(&self.sizes, rate)
                .into_iter()
                .map(|(sent, side)| stop(sent, side))
                .partition(|probe| probe.side == 0),
            _ => Default::default(),
        };
        probes.extend(first);
        if self.function.is_routed() {
            probes.push(stop(with_last_hop(&there), 0));
        }
        probes.push(pass(back.clone(), 1));
        probes.extend(second);
        let other = match self.function {
            FunctionKind::VlanTagging => {
                Some(("back in another VLAN", other_vlan as fn(&mut [Header])))
            }
            FunctionKind::VxlanEncap => Some(("back in another network", other_network as _)),
            FunctionKind::Gre => Some(("back from another tunnel", other_tunnel as _)),
            FunctionKind::Lisp => Some(("back in another instance", other_instance as _)),
            _ => None,
        };
        if let Some((name, change)) = other {
            let mut sent = Stream { name: name.into(), ..back };
            change(&mut sent.headers);
            probes.push(stop(sent, 1));
        }
        probes
    }

    /// Packets that each rule in turn denies.
    fn denied(&self, there: &Stream) -> Stream {
        let order = Field::Increment { count: self.entries };
        let step = frames::step(self.entries);
        let vary = match self.entries {
            0 | 1 => Vec::new(),
            _ => vec![Vary { field: FieldName::DestinationIp, step, order }],
        };
        let mut sent = Stream { name: "denied".into(), vary, ..there.clone() };
        to_port(&mut sent.headers, DENIED_PORT);
        sent
    }

    /// Packets to the port that is denied, by a network beside those of the rules.
    fn not_quite_denied(&self, there: &Stream) -> Stream {
        let name = "to a denied port elsewhere".into();
        let mut sent = Stream { name, vary: Vec::new(), ..there.clone() };
        to_port(&mut sent.headers, DENIED_PORT);
        for header in &mut sent.headers {
            if let Header::Ipv4 { destination, .. } = header {
                *destination = frames::beyond_routes(self.entries);
            }
        }
        sent
    }
}

fn to_port(headers: &mut [Header], port: u16) {
    for header in headers {
        if let Header::Udp { destination_port, .. } = header {
            *destination_port = port;
        }
    }
}

fn from(there: &Stream, address: std::net::Ipv4Addr, name: &str) -> Stream {
    let mut sent = Stream { name: name.into(), vary: Vec::new(), ..there.clone() };
    for header in &mut sent.headers {
        if let Header::Ipv4 { source, .. } = header {
            *source = address;
        }
    }
    sent
}

/// Packets that a router may not send on (RFC 1812 section 5.3.1).
fn with_last_hop(there: &Stream) -> Stream {
    let mut sent = Stream { name: "with one hop left".into(), ..there.clone() };
    for header in &mut sent.headers {
        if let Header::Ipv4 { ttl: hops, .. } | Header::Ipv6 { hop_limit: hops, .. } = header {
            *hops = 1;
        }
    }
    sent
}

fn other_vlan(headers: &mut [Header]) {
    for header in headers {
        if let Header::Vlan { id, .. } = header {
            *id += 1;
        }
    }
}

fn other_network(headers: &mut [Header]) {
    for header in headers {
        if let Header::Vxlan { vni } = header {
            *vni += 1;
        }
    }
}

fn other_instance(headers: &mut [Header]) {
    for header in headers {
        if let Header::Lisp { instance } = header {
            *instance += 1;
        }
    }
}

/// From an address that no tunnel leads to.
fn other_tunnel(headers: &mut [Header]) {
    if let Some(Header::Ipv4 { source, .. }) = headers.get_mut(1) {
        *source = std::net::Ipv4Addr::from(u32::from(*source) + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Addresses, Ethertype, Traffic};
    use lab_traffic::arrivals::Imix;
    use lab_traffic::template::Template;

    fn load(function: FunctionKind, entries: u64) -> Load {
        let traffic = Traffic { destinations: Addresses::Increment, ..Traffic::default() };
        let load = Load::new(function, Ethertype::Udp4, &traffic, Imix::single(84));
        Load { entries, ..load }
    }

    /// Names of headers, and the size with checksum.
    fn layers(stream: &Stream) -> (String, u16) {
        stream.check().unwrap();
        let names: Vec<&str> = stream.headers.iter().map(Header::name).collect();
        (names.join(" "), stream.frame_bytes.sequence()[0])
    }

    #[test]
    fn encapsulation_is_put_on_one_way_and_taken_off_the_other() {
        let plain = ("ethernet ipv4 udp".to_owned(), 84);
        for (function, wrapped) in [
            (FunctionKind::Bridge, plain.clone()),
            (FunctionKind::VlanTagging, ("ethernet vlan ipv4 udp".into(), 88)),
            (FunctionKind::VxlanEncap, ("ethernet ipv4 udp vxlan ethernet ipv4 udp".into(), 134)),
            (FunctionKind::Gre, ("ethernet ipv4 gre ipv4 udp".into(), 108)),
            (FunctionKind::Lisp, ("ethernet ipv4 udp lisp ipv4 udp".into(), 120)),
        ] {
            let load = load(function, 1);
            let (there, back) = (load.stream(Rate::Pps(1.0)), load.stream_back(Rate::Pps(1.0)));
            assert_eq!(layers(&there), plain, "{function:?}");
            assert_eq!(layers(&emerging(function, &there, 1)), wrapped, "{function:?}");
            assert_eq!(layers(&back), wrapped, "{function:?}");
            assert_eq!(layers(&emerging(function, &back, 0)), plain, "{function:?}");
        }
    }

    #[test]
    fn only_the_routed_packet_in_a_tunnel_loses_a_hop() {
        let there = load(FunctionKind::Gre, 1).stream(Rate::Pps(1.0));
        let hops: Vec<u8> = emerging(FunctionKind::Gre, &there, 1)
            .headers
            .iter()
            .filter_map(|it| if let Header::Ipv4 { ttl, .. } = it { Some(*ttl) } else { None })
            .collect();
        assert_eq!(hops, [64, 63]);
    }

    #[test]
    fn every_probe_of_every_function_is_a_frame_that_can_be_sent() {
        use FunctionKind::*;
        for function in [
            CrossConnect,
            Bridge,
            Ip4,
            Ip6,
            VxlanEncap,
            VlanTagging,
            Gre,
            Lisp,
            SourceAllowList,
            Acl,
            Dhcp4,
        ] {
            for entries in [1, 7] {
                let probes = load(function, entries).probes(Rate::Pps(1.0));
                for Probe { sent, emerges, .. } in &probes {
                    for stream in [Some(sent), emerges.as_ref()].into_iter().flatten() {
                        Template::new(stream, stream.frame_bytes.sequence()[0]).unwrap();
                    }
                }
                assert!(probes.is_sorted_by_key(|probe| probe.side), "{function:?}");
                let kept_out = probes.iter().filter(|probe| probe.emerges.is_none()).count();
                let wanted = match function {
                    CrossConnect | Bridge => 0,
                    Acl | Gre | Lisp => 2,
                    SourceAllowList | Dhcp4 => 3,
                    _ => 1,
                };
                assert_eq!(kept_out, wanted, "{function:?}");
            }
        }
    }

    #[test]
    fn what_a_list_denies_differs_from_what_it_permits_in_its_port_alone() {
        let load = load(FunctionKind::Acl, 7);
        let there = load.stream(Rate::Pps(1.0));
        let mut denied = load.denied(&there);
        assert_eq!(denied.vary.len(), 1);
        to_port(&mut denied.headers, 5_001);
        assert_eq!(denied.headers, there.headers);
    }
}
