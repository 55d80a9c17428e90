//! Checks the IPv4 header (RFC 1812 section 5.2.2) and the source address (section 5.3.7).
//!
//! ```text
//!   0       4       8               16                            31
//!  +-------+-------+---------------+------------------------------+
//!  |version|  IHL  |      TOS      |         total length         |
//!  +-------+-------+---------------+------+-----------------------+
//!  |        identification         | flags|    fragment offset    |
//!  +---------------+---------------+------+-----------------------+
//!  |      TTL      |   protocol    |       header checksum        |
//!  +---------------+---------------+------------------------------+
//!  |                           source                             |
//!  |                         destination                          |
//!  +--------------------------------------------------------------+
//! ```
//! TTL is judged where the packet is forwarded: one that is for us may arrive with any.

use crate::ip::ByPolicy;
use crate::ip::ip4_headers::{Ip4Headers, PLAIN};
use crate::tables::{Ip4Rules, Setup};
use graph::{Attach, Context, Exits, Node};
use packet::{Frame, PacketView};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::{checksum, ethernet::ethertype, ipv4};

/// See the module.
pub struct Ip4Input {
    rules: Arc<Ip4Rules>,
    policy: ByPolicy,
    headers: Ip4Headers,
}

graph::exits! {
    /// The checks in order.
    pub enum Exit {
        /// A good header without options.
        Lookup => node "ip4-lookup",
        /// A good header with options.
        Options => node "ip4-options",
        /// A good header without options, where some port's packets are routed by a policy.
        Policy => node "ip4-policy",
        /// Fewer bytes than an IPv4 header.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// Not version 4.
        BadVersion => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// The header length is below 20 bytes or above the packet's.
        BadHeaderLength => drop "The sender, or a device on the way, makes wrong packets: capture \
            some and look who it is.",
        /// The total length is below the header's or above the packet's.
        BadTotalLength => drop "The sender, or a device on the way, makes wrong packets: capture \
            some and look who it is.",
        /// RFC 1812 section 5.2.2 (2): the header checksum is wrong.
        BadChecksum => drop "A link or a device on the way damages packets: look at the error \
            counters along it.",
        /// RFC 1812 section 5.3.7: no host has this source address.
        MartianSource => drop "The sender has no proper address, or forges one: capture some, and \
            look at the MAC address. Addresses of 240.0.0.0/4 are hosts' with `class_e = true` in \
            [ip4].",
    }
}

impl Node for Ip4Input {
    const NAME: &'static str = "ip4-input";
    const ABOUT: &'static str = "checks IPv4 headers";
    const ATTACH: &'static [Attach] =
        &[Attach { of: "ethernet-input", key: ethertype::IPV4 as u32 }];
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let rules = Arc::clone(&setup.shared.ip4);
        Self { rules, policy: ByPolicy::new(setup), headers: Ip4Headers::new() }
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        let class_e = self.rules.class_e.load(Ordering::Relaxed);
        let headers = &mut self.headers;
        let all = frame.each_front(|slot, header| headers.put(slot, header));
        if all && headers.are_good(0, frame.lengths(), class_e) {
            // Ethernet pads short packets: what is behind the total length is not the packet's.
            frame.truncate(headers.totals());
            exits.all(if self.policy.is_on() { Exit::Policy } else { Exit::Lookup });
        } else {
            exits.each(frame, |packet| check(packet, class_e));
            self.policy.lead(frame.len(), exits, [Exit::Lookup, Exit::Policy]);
        }
    }
}

#[inline(always)]
fn check(packet: &mut PacketView<'_>, class_e: bool) -> Exit {
    let length = packet.length();
    let Some(bytes) = packet.header().first_chunk::<{ ipv4::Header::LEN }>() else {
        return Exit::Truncated;
    };
    let header = ipv4::Header::of(bytes);
    if bytes[0] != PLAIN || !checksum_is_right(bytes) {
        return check_unusual(packet, class_e);
    }
    let total = usize::from(header.total_len());
    if total < ipv4::Header::LEN || total > length {
        return Exit::BadTotalLength;
    }
    if is_martian_source(header, class_e) {
        return Exit::MartianSource;
    }
    // Ethernet pads short packets: what is behind the total length is not the packet's.
    packet.truncate(total);
    Exit::Lookup
}

/// Sum of ten big-endian words, added as they lie in memory: byte order does not matter to a
/// one's complement sum (RFC 1071 section 2).
#[inline(always)]
fn checksum_is_right(header: &[u8; 20]) -> bool {
    let (head, tail) = header.split_at(16);
    let (words, _) = head.as_chunks::<8>();
    let [a, b] = [u64::from_ne_bytes(words[0]), u64::from_ne_bytes(words[1])];
    let last = tail.first_chunk::<4>().map_or(0, |word| u64::from(u32::from_ne_bytes(*word)));
    let fold32 = |word: u64| (word >> 32) + (word & 0xffff_ffff);
    let sum = fold32(a) + fold32(b) + last;
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    (sum >> 16) + (sum & 0xffff) == 0xffff
}

/// Loopback, "this network", multicast and, unless told otherwise, class E are nobody's source
/// (0.0.0.0 included: hosts without an address speak to servers on their own link, not through
/// routers).
#[inline(always)]
fn is_martian_source(header: ipv4::Header<'_>, class_e: bool) -> bool {
    let source = header.source();
    ipv4::is_martian_source(source) && !(class_e && ipv4::is_class_e(source))
}

/// Everything that is not a plain good header, told apart.
#[cold]
fn check_unusual(packet: &mut PacketView<'_>, class_e: bool) -> Exit {
    let length = packet.length();
    let Some(header) = ipv4::Header::new(packet.header()) else { return Exit::Truncated };
    if header.version() != 4 {
        return Exit::BadVersion;
    }
    let (header_len, total) = (header.header_len(), usize::from(header.total_len()));
    if header_len < ipv4::Header::LEN || header_len > length {
        return Exit::BadHeaderLength;
    }
    if total < header_len || total > length {
        return Exit::BadTotalLength;
    }
    if !checksum::is_valid(&packet.header()[..header_len]) {
        return Exit::BadChecksum;
    }
    if is_martian_source(header, class_e) {
        return Exit::MartianSource;
    }
    packet.truncate(total);
    if header_len > ipv4::Header::LEN { Exit::Options } else { Exit::Lookup }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FAR, HOST, World};
    use graph::harness::{NodeHarness, Outcome};
    use packet::VECTOR;
    use proptest::prelude::*;
    use wire::craft::{self, Craft, Ipv4};

    fn run(packet: &[u8]) -> Outcome {
        let mut node = NodeHarness::<Ip4Input>::new(&World::new().setup).unwrap();
        node.run(&[packet.to_vec()], 0, 0).remove(0)
    }

    fn good() -> Craft<Ipv4> {
        craft::ipv4(HOST, FAR)
    }

    #[test]
    fn a_good_packet_goes_on_without_the_padding_of_its_link() {
        let packet = good().udp(1, 2).build();
        let out = run(&good().udp(1, 2).pad_to(46).build());
        assert_eq!((out.exit.as_str(), out.header), ("lookup", packet));
    }

    #[test]
    fn options_are_looked_at_elsewhere() {
        let packet = good().option(148, &[0, 0]).udp(1, 2).build();
        assert_eq!(run(&packet).exit, "options");
        assert_eq!(run(&[packet, vec![0; 9]].concat()).header.len(), 32);
    }

    #[test]
    fn each_lie_of_the_header_is_told_apart() {
        let with_options = || good().option(148, &[0, 0]);
        for (exit, packet) in [
            ("bad-version", good().version(6).udp(1, 2).build()),
            ("bad-header-length", good().ihl(4).udp(1, 2).build()),
            ("bad-header-length", good().ihl(15).udp(1, 2).build()),
            ("bad-total-length", good().length(19).udp(1, 2).build()),
            ("bad-total-length", good().length(29).udp(1, 2).build()),
            ("bad-total-length", with_options().length(23).udp(1, 2).build()),
            ("bad-total-length", with_options().length(33).udp(1, 2).build()),
            ("bad-checksum", good().checksum(1).udp(1, 2).build()),
            ("bad-checksum", with_options().checksum(1).udp(1, 2).build()),
            ("truncated", good().build()[..19].to_vec()),
            ("truncated", Vec::new()),
        ] {
            assert_eq!(run(&packet).exit, exit, "{packet:x?}");
        }
    }

    #[test]
    fn nobody_has_a_martian_source() {
        for source in [[0, 0, 0, 0], [127, 0, 0, 1], [224, 0, 0, 1], [240, 0, 0, 1], [255; 4]] {
            assert_eq!(run(&craft::ipv4(source, FAR).build()).exit, "martian-source");
            let with_options = craft::ipv4(source, FAR).option(148, &[0, 0]).build();
            assert_eq!(run(&with_options).exit, "martian-source");
        }
        assert_eq!(run(&craft::ipv4([223, 255, 255, 255], FAR).build()).exit, "lookup");
    }

    #[test]
    fn class_e_may_be_hosts() {
        let world = World::new();
        world.setup.shared.ip4.class_e.store(true, Ordering::Relaxed);
        let mut node = NodeHarness::<Ip4Input>::new(&world.setup).unwrap();
        for (source, exit) in [
            ([240, 0, 0, 1], "lookup"),
            ([255, 255, 255, 254], "lookup"),
            ([255; 4], "martian-source"),
            ([224, 0, 0, 1], "martian-source"),
            ([239, 255, 255, 255], "martian-source"),
            ([127, 0, 0, 1], "martian-source"),
        ] {
            let packet = craft::ipv4(source, FAR).udp(1, 2).build();
            // By itself, and among many of its kind.
            assert_eq!(node.run(&[good().build(), packet.clone()], 0, 0)[1].exit, exit);
            let with_options = craft::ipv4(source, FAR).option(148, &[0, 0]).build();
            let options = if exit == "lookup" { "options" } else { exit };
            assert_eq!(node.run(&[with_options], 0, 0)[0].exit, options);
        }
    }

    #[test]
    fn one_bad_packet_anywhere_in_a_vector_is_told_from_the_good_ones() {
        let mut node = NodeHarness::<Ip4Input>::new(&World::new().setup).unwrap();
        for (bad, exit) in [
            (good().checksum(1).udp(1, 2).build(), "bad-checksum"),
            (good().length(29).udp(1, 2).build(), "bad-total-length"),
            (good().build()[..19].to_vec(), "truncated"),
            (craft::ipv4([127, 0, 0, 1], FAR).build(), "martian-source"),
        ] {
            for place in [0, 7, 8, 100, VECTOR - 1] {
                let packet = |n| if n == place { bad.clone() } else { good().udp(1, 2).build() };
                let out = node.run(&(0..VECTOR).map(packet).collect::<Vec<_>>(), 0, 0);
                for (n, out) in out.iter().enumerate() {
                    assert_eq!(out.exit, if n == place { exit } else { "lookup" }, "packet {n}");
                }
            }
        }
    }

    #[test]
    fn a_vector_of_good_packets_goes_on_without_padding() {
        let mut node = NodeHarness::<Ip4Input>::new(&World::new().setup).unwrap();
        let padded = |n: usize| good().udp(1, 2).payload_len(n % 9).pad_to(60).build();
        let out = node.run(&(0..VECTOR).map(padded).collect::<Vec<_>>(), 0, 0);
        for (n, out) in out.iter().enumerate() {
            assert_eq!((out.exit.as_str(), out.header.len()), ("lookup", 28 + n % 9));
        }
    }

    #[test]
    fn any_time_to_live_may_arrive() {
        assert_eq!(run(&good().ttl(0).build()).exit, "lookup");
    }

    proptest! {
        #[test]
        fn what_goes_on_is_what_the_parser_takes(
            mut bytes in prop::collection::vec(any::<u8>(), 0..80),
            plain: bool,
            words in 5u8..8,
            total in 18u8..80,
        ) {
            if plain && bytes.len() >= 28 {
                bytes[..4].copy_from_slice(&[0x40 | words, 0, 0, total]);
                bytes[10..12].fill(0);
                let sum = checksum::of(&bytes[..usize::from(words) * 4]);
                bytes[10..12].copy_from_slice(&sum.to_be_bytes());
            }
            let exit = run(&bytes).exit;
            let parsed = ipv4::Packet::parse(&bytes);
            let good = parsed.is_ok_and(|p| !ipv4::is_martian_source(p.header.source()));
            prop_assert_eq!(exit == "lookup" || exit == "options", good, "{}", exit);
        }
    }
}
