//! What a scheduler wants to know of a frame: its flow, its priority, its class, whether it may be
//! marked.
//!
//! ```text
//!  Ethernet ─ up to two tags ─▶ IPv4 (RFC 791) │ IPv6 (RFC 8200) ─▶ ports of TCP, UDP, SCTP
//!              PCP                DSCP, ECN, addresses, protocol
//! ```
//! Nothing here is an error: what cannot be read is not known, and filters that ask for it do not
//! fit.

use sched::{Asks, ClassId, Config, Fields, Filter, Hosts, Offer, Packet, first_of};
use std::net::IpAddr;
use wire::ethernet::ethertype;
use wire::ip::ecn::CE;
use wire::options::{BadOption, Entry};
use wire::{ipv4, ipv6, tcp, vlan};

const TCP: u8 = 6;
/// Protocols that begin with two ports: TCP, UDP, SCTP.
const WITH_PORTS: [u8; 3] = [6, 17, 132];

/// Linux's priority for bits 3 and 4 of the type of service: best effort, bulk, interactive,
/// interactive bulk.
const PRIORITIES: [u8; 4] = [0, 2, 6, 4];

/// Puts frames into classes by a list of filters.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    filters: Vec<Filter>,
    /// Some filter asks for the bridge or VRF.
    by_domain: bool,
    /// Some filter asks for the queue.
    by_queue: bool,
    /// What the scheduler asks for.
    asks: Asks,
}

/// What a packet was forwarded in, by name; empty where it was in none.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForwardedIn<'a> {
    /// The bridge.
    pub bridge: &'a str,
    /// The VRF.
    pub vrf: &'a str,
}

/// What was found behind the link header.
#[derive(Default)]
struct Found {
    service: u8,
    protocol: u8,
    /// Where the transport header begins, unless only a later fragment would have it.
    transport: Option<usize>,
    /// Where the packet ends, as it says itself.
    end: usize,
    hash: u32,
}

impl Classifier {
    /// The first filter that fits decides.
    pub fn new(filters: Vec<Filter>) -> Self {
        let by_domain =
            filters.iter().any(|filter| filter.bridge.is_some() || filter.vrf.is_some());
        let by_queue = filters.iter().any(|filter| filter.queue.is_some());
        Self { filters, by_domain, by_queue, asks: Asks::default() }
    }

    /// That of a scheduler: by its filters, and with what it asks for.
    pub fn of_scheduler(config: &Config) -> Self {
        Self { asks: config.asks(), ..Self::new(config.filters.clone()) }
    }

    /// What a scheduler is told of `frame`; `forwarded_in` tells the bridge and the
    /// VRF, `queue` the queue that flows chose, where a filter asks for them. With it the code
    /// point that the frame is to leave with, where the filter that takes it says one.
    pub fn describe<'a>(
        &self,
        frame: &[u8],
        forwarded_in: impl FnOnce() -> ForwardedIn<'a>,
        queue: impl FnOnce() -> Option<u32>,
    ) -> (Packet<()>, Option<u8>) {
        let mut fields = Fields::default();
        if self.by_domain {
            ForwardedIn { bridge: fields.bridge, vrf: fields.vrf } = forwarded_in();
        }
        if self.by_queue {
            fields.queue = queue();
        }
        let walk = vlan::walk(frame);
        if let Some(walk) = &walk {
            // The outer tag's priority is the one that the next bridge looks at.
            fields.vlan_pcp = walk.tags().first().map(|tag| tag.pcp());
        }
        let mut offer = Offer::default();
        let found = walk.and_then(|walk| {
            read_ip(walk.ethertype, &frame[walk.offset..], &mut fields, self.asks, &mut offer)
        });
        if found.is_none() {
            fields.flow_hash = frame.iter().take(12).fold(0, |hash, &byte| mix(hash, byte.into()));
        }
        let taken = first_of(&self.filters, &fields);
        let packet = Packet {
            handle: (),
            length_bytes: u32::try_from(frame.len()).unwrap_or(u32::MAX),
            flow_hash: fields.flow_hash,
            class: taken.map_or(ClassId::NONE, |filter| filter.class),
            priority: fields.priority,
            ecn_capable: found.is_some_and(|ecn| ecn != 0),
            code_point: fields.dscp.unwrap_or_default(),
            offer,
        };
        (packet, taken.and_then(|filter| filter.set_dscp))
    }
}

/// Fills in what an IP packet says; returns its ECN field.
fn read_ip(
    ethertype: u16,
    ip: &[u8],
    fields: &mut Fields<'_>,
    asks: Asks,
    offer: &mut Offer,
) -> Option<u8> {
    let found = match ethertype {
        ethertype::IPV4 => read_ipv4(ip, fields)?,
        ethertype::IPV6 => read_ipv6(ip, fields)?,
        _ => return None,
    };
    fields.dscp = Some(found.service >> 2);
    fields.priority = PRIORITIES[usize::from(found.service >> 3 & 3)];
    fields.protocol = Some(found.protocol);
    if let Some(at) = found.transport.filter(|_| WITH_PORTS.contains(&found.protocol))
        && let Some(&[a, b, c, d]) = ip.get(at..).and_then(|transport| transport.first_chunk())
    {
        fields.ports = Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])));
    }
    if asks.hosts
        && let Some((source, destination)) = fields.addresses
    {
        offer.hosts = Hosts { source: host(source), destination: host(destination) };
    }
    if asks.acks && found.protocol == TCP {
        offer.pure_ack = found.transport.and_then(|at| pure_ack(ip.get(at..found.end)?));
    }
    let (source, target) = fields.ports.unwrap_or_default();
    let ports = u32::from(source) << 16 | u32::from(target);
    fields.flow_hash = mix(mix(found.hash, ports), found.protocol.into());
    Some(found.service & CE)
}

fn read_ipv4(ip: &[u8], fields: &mut Fields<'_>) -> Option<Found> {
    let header = ipv4_header(ip)?;
    let (source, target) = (header.source_addr(), header.destination_addr());
    fields.addresses = Some((IpAddr::V4(source), IpAddr::V4(target)));
    Some(Found {
        service: header.tos(),
        protocol: header.protocol(),
        // So that one datagram stays one flow, its first fragment counts as without ports, too.
        transport: (!header.is_fragment()).then_some(header.header_len()),
        end: header.total_len().into(),
        hash: mix(mix(0, header.source()), header.destination()),
    })
}

fn read_ipv6(ip: &[u8], fields: &mut Fields<'_>) -> Option<Found> {
    let header = ipv6_header(ip)?;
    let (source, target) = (header.source_addr(), header.destination_addr());
    fields.addresses = Some((IpAddr::V6(source), IpAddr::V6(target)));
    let words = [header.source(), header.destination()];
    let words =
        words.iter().flat_map(|address| [96, 64, 32, 0].map(|shift| (address >> shift) as u32));
    Some(Found {
        service: header.traffic_class(),
        protocol: header.next_header(),
        transport: Some(ipv6::Header::LEN),
        end: ipv6::Header::LEN + usize::from(header.payload_len()),
        hash: words.fold(0, mix),
    })
}

/// A header that is what its ethertype says, and long enough that the transport header lies behind
/// it.
fn ipv4_header(ip: &[u8]) -> Option<ipv4::Header<'_>> {
    ipv4::Header::new(ip).filter(|header| header.is_sound())
}

fn ipv6_header(ip: &[u8]) -> Option<ipv6::Header<'_>> {
    ipv6::Header::new(ip).filter(|header| header.version() == 6)
}

/// A host of its own for each address.
fn host(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(address) => mix(0, address.to_bits()),
        IpAddr::V6(address) => {
            let words = [96, 64, 32, 0].map(|shift| (address.to_bits() >> shift) as u32);
            words.into_iter().fold(0, mix)
        }
    }
}

/// What a segment of TCP acknowledges, if it does nothing else: no data, no flag but ACK, and no
/// option but padding and timestamps (a selective acknowledgement says more than its number).
fn pure_ack(segment: &[u8]) -> Option<u32> {
    let segment = tcp::Segment::parse(segment).ok()?;
    let says_more = |option: Result<Entry<'_>, BadOption>| {
        option.map_or(true, |option| option.kind != tcp::option::TIMESTAMPS)
    };
    let only = segment.header.flags() == tcp::flag::ACK
        && segment.payload.is_empty()
        && !segment.options().any(says_more);
    only.then(|| segment.header.acknowledgement())
}

/// Takes one more word into a hash: a multiplication and two rotations, enough to spread flows.
#[inline]
fn mix(hash: u32, word: u32) -> u32 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b1).rotate_left(15)
}

/// Marks Congestion Experienced in an IP header (RFC 3168 section 5); of anything else, nothing.
pub fn mark_congestion(frame: &mut [u8]) {
    let Some(walk) = vlan::walk(frame) else { return };
    let ip = &mut frame[walk.offset..];
    match walk.ethertype {
        ethertype::IPV4 if ipv4_header(ip).is_some() => {
            if let Some(mut header) = ipv4::HeaderMut::new(ip) {
                let tos = header.view().tos();
                header.remark(tos | CE);
            }
        }
        ethertype::IPV6 if ipv6_header(ip).is_some() => {
            if let Some(mut header) = ipv6::HeaderMut::new(ip) {
                let word = header.view().first_word();
                header.set_first_word(word | u32::from(CE) << 20);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::craft::{self, Craft, Ethernet};

    fn frame() -> Craft<Ethernet> {
        craft::ethernet([2; 6], [4; 6])
    }

    /// The class that the filter's fitting gives, and all else that was found.
    fn described(filter: Filter, frame: &[u8]) -> (bool, Packet<()>) {
        let class = ClassId::new(1, 1);
        let forwarded_in = || ForwardedIn { bridge: "blue", vrf: "office" };
        let classifier = Classifier::new(vec![Filter { class, ..filter }]);
        let (found, _) = classifier.describe(frame, forwarded_in, || Some(3));
        (found.class == class, found)
    }

    fn fits(filter: Filter, frame: &[u8]) -> bool {
        described(filter, frame).0
    }

    fn flow(frame: &[u8]) -> u32 {
        described(Filter::default(), frame).1.flow_hash
    }

    #[test]
    fn dscp_ecn_and_priority_are_read_from_both_ip_versions() {
        let mut v4 = frame().ipv4([10, 0, 0, 1], [10, 0, 0, 2]).udp(5, 6).build();
        let mut v6 = frame().ipv6([1; 16], [2; 16]).udp(5, 6).build();
        // 46 (expedited forwarding), ECT(0).
        v4[15] = 46 << 2 | 2;
        (v6[14], v6[15]) = (0x60 | 0xb, 0xa0);
        for frame in [v4, v6] {
            let (fits, found) = described(Filter { dscp: Some(46), ..Filter::default() }, &frame);
            assert!(fits && found.ecn_capable);
            assert_eq!((found.priority, found.length_bytes as usize), (4, frame.len()));
        }
    }

    #[test]
    fn filters_see_tags_addresses_protocols_and_ports() {
        let plain = frame().ipv4([10, 0, 0, 1], [10, 9, 0, 2]).tcp(5, 443).build();
        let mut tagged = plain[..12].to_vec();
        tagged.extend([0x81, 0, 5 << 5, 7]);
        tagged.extend(&plain[12..]);
        let https = sched::Ports { first: 400, last: 443 };
        let filter = Filter {
            destination: Some("10.9.0.0/16".parse().unwrap()),
            protocol: Some(6),
            destination_port: Some(https),
            ..Filter::default()
        };
        assert!(fits(filter.clone(), &plain) && fits(filter.clone(), &tagged));
        let urgent = Filter { vlan_pcp: Some(5), ..filter };
        assert!(fits(urgent.clone(), &tagged) && !fits(urgent, &plain));
    }

    #[test]
    fn filters_see_the_bridge_and_the_vrf_that_a_frame_was_forwarded_in() {
        let bridge = |name: &str| Filter { bridge: Some(name.into()), ..Filter::default() };
        assert!(fits(bridge("blue"), &frame().build()) && !fits(bridge("red"), &frame().build()));
        let vrf = |name: &str| Filter { vrf: Some(name.into()), ..Filter::default() };
        assert!(fits(vrf("office"), &frame().build()) && !fits(vrf("blue"), &frame().build()));
    }

    #[test]
    fn filters_see_the_queue_that_flows_chose_and_say_a_code_point() {
        let queue = |queue| Filter { queue: Some(queue), ..Filter::default() };
        assert!(fits(queue(3), &frame().build()) && !fits(queue(0), &frame().build()));
        let marking = Filter { set_dscp: Some(46), ..queue(3) };
        let classifier = Classifier::new(vec![marking]);
        let told = |queue| classifier.describe(&frame().build(), Default::default, || queue).1;
        assert_eq!((told(Some(3)), told(None)), (Some(46), None));
    }

    #[test]
    fn a_flow_is_addresses_protocol_and_ports() {
        let of = |source, port| {
            flow(&frame().ipv4([10, 0, 0, source], [10, 0, 0, 2]).udp(port, 6).build())
        };
        assert_eq!(of(1, 5), of(1, 5));
        assert!(of(1, 5) != of(1, 6) && of(1, 5) != of(2, 5));
        let six = |last: u8| {
            let mut source = [0; 16];
            source[15] = last;
            flow(&frame().ipv6(source, [2; 16]).udp(5, 6).build())
        };
        assert!(six(1) == six(1) && six(1) != six(2));
        assert_ne!(flow(&frame().build()), flow(&craft::ethernet([6; 6], [4; 6]).build()));
    }

    #[test]
    fn all_fragments_of_a_datagram_are_one_flow() {
        let to = || frame().ipv4([10, 0, 0, 1], [10, 0, 0, 2]);
        let first = to().fragment(0, true).udp(5, 6).build();
        let later = to().fragment(185, false).protocol(17).payload(&[7; 40]).build();
        assert_eq!(flow(&first), flow(&later));
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        let mut v4 = frame().ipv4([10, 0, 0, 1], [10, 0, 0, 2]).udp(5, 6).build();
        mark_congestion(&mut v4);
        assert_eq!(v4[15] & 3, 3);
        assert_eq!(wire::checksum::of(&v4[14..34]), 0);
        let mut v6 = frame().ipv6([1; 16], [2; 16]).udp(5, 6).build();
        mark_congestion(&mut v6);
        assert_eq!(v6[15] >> 4 & 3, 3);
    }

    /// Found by fuzzing: without its own length to go by, the header itself was read as ports, and
    /// a mark moved it to another flow.
    #[test]
    fn a_header_of_another_version_or_too_short_is_not_known_and_not_marked() {
        let v4 = frame().ipv4([10, 0, 0, 1], [10, 9, 0, 2]).tcp(5, 443).build();
        let v6 = frame().ipv6([1; 16], [2; 16]).udp(5, 6).build();
        for (frame, first) in [(&v4, 0x65), (&v4, 0x44), (&v4, 0), (&v6, 0x40)] {
            let mut lying = frame.clone();
            lying[14] = first;
            assert!(!fits(Filter { dscp: Some(0), ..Filter::default() }, &lying));
            let before = lying.clone();
            mark_congestion(&mut lying);
            assert_eq!(lying, before);
        }
    }

    #[test]
    fn whatever_is_cut_short_is_simply_not_known() {
        let whole = frame().ipv4([10, 0, 0, 1], [10, 9, 0, 2]).tcp(5, 443).build();
        for end in 0..whole.len() {
            let mut cut = whole[..end].to_vec();
            assert!(!fits(Filter { dscp: Some(9), ..Filter::default() }, &cut));
            mark_congestion(&mut cut);
        }
    }
}
