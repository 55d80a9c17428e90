//! Reads the Ethernet header: is the frame for us, and which protocol is inside?
//!
//! ```text
//!  ethernet_input ┬▶ whoever attached itself to the ethertype (key: the ethertype)
//!                 ├▶ icmp4_broadcast  IPv4 to all, where echo requests to all are answered
//!                 └▶ twin_output   IPv4 groups of the link, which the router itself does not hear;
//!                                  IP to an interface that does not route
//! ```
//! IEEE 802.3: 14 bytes; a frame for another station's MAC is not for a routed interface. A tag
//! that tells a priority and no VLAN is taken off, and left in front of the frame: a VLAN that it
//! leaves by finds the priority there.

use super::vlan_input::take_off;
use crate::local::twin_output;
use crate::tables::{IcmpLimits, Interface, Interfaces, Setup, TAG_BYTES};
use graph::{Context, ExitIndex, Exits, Node, Published};
use packet::{Frame, alike};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::ethernet::{self, ethertype};
use wire::vlan::{Tag, is_tag};
use wire::{ipv4, ipv6};

/// See the module.
pub struct EthernetInput {
    interfaces: Published<Interfaces>,
    icmp: Arc<IcmpLimits>,
    /// The exit of each attached ethertype.
    by_ethertype: Vec<(u16, ExitIndex)>,
}

graph::exits! {
    /// What becomes of a frame that no protocol gets.
    pub enum Exit {
        /// To a group of the link's, or to an interface that does not route, and it has a twin:
        /// OSPF, DHCP and their like.
        Twin => node "twin-output" cause twin_output::FRAME,
        /// IPv4 to all stations, and echo requests to all are answered.
        Broadcast => node "icmp4-broadcast",
        /// Shorter than an Ethernet header.
        Runt => drop "A link or a device on the way damages packets: look at the error counters \
            along it.",
        /// To another station's MAC address.
        NotForUs => drop "Nothing, if a switch floods; if all of it is lost, the sender has a \
            wrong MAC address for us: `volley show ports` has ours.",
        /// RFC 1812 section 5.3.4: IP to one node in a frame to a group of stations is not
        /// forwarded, nor answered.
        GroupFrame => drop "Nothing: it would be multiplied. A sender with a broadcast MAC for one \
            host is broken or an attacker.",
        /// IP to an interface that has no address, or is told not to route.
        NotRouted => drop "Give the port an address, or set `routing = true`, if it is to route; \
            put it into a bridge or a cross-connect if not.",
        /// A protocol that the router does not speak.
        UnknownEthertype => drop "Nothing, if it is LLDP or its like; where it is to pass, bridge \
            the port or cross-connect it.",
        /// A VLAN tag, and no interface for it.
        UnknownVlan => drop "Add a port of kind `vlan` for the tag, or take the tag off at the \
            switch.",
        /// An IEEE 802.3 length where the ethertype should be: an LLC frame.
        LlcFrame => drop "Nothing: spanning tree and its like, spoken among switches.",
    }
}

impl Node for EthernetInput {
    const NAME: &'static str = "ethernet-input";
    const ABOUT: &'static str = "reads the Ethernet header of frames for us";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let (interfaces, icmp) = (setup.shared.interfaces.clone(), Arc::clone(&setup.shared.icmp));
        Self { interfaces, icmp, by_ethertype: Vec::new() }
    }

    fn attach(&mut self, key: u32, exit: ExitIndex) {
        self.by_ethertype.push((key as u16, exit));
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        if let Some(exit) = self.exit_of_all(frame, interfaces) {
            exits.all(exit);
            return;
        }
        // The last packet's interface and ethertype are nearly always the next one's, too.
        let (mut rx, mut ethertype) = (frame.rx()[0], ethertype::IPV4);
        let mut our_mac = mac_word(interfaces.get(rx));
        let mut exit = self.exit_of(ethertype);
        exits.each(frame, |packet| {
            if packet.rx() != rx {
                rx = packet.rx();
                our_mac = mac_word(interfaces.get(rx));
            }
            if tells_priority_alone(packet.header()) {
                take_off(packet, TAG_BYTES);
            }
            let Some(header) = packet.header().first_chunk::<{ ethernet::Header::LEN }>() else {
                return Exit::Runt.into();
            };
            if destination_word(header) != our_mac
                && let Some(exit) = self.refused(packet.header(), rx, interfaces)
            {
                if matches!(exit, Exit::Broadcast) {
                    packet.advance(ethernet::Header::LEN);
                }
                return exit.into();
            }
            let found = ethertype_of(header);
            if found != ethertype {
                (ethertype, exit) = (found, self.exit_of(found));
            }
            packet.advance(ethernet::Header::LEN);
            exit
        });
    }
}

impl EthernetInput {
    /// The exit of all packets, their headers read, where they are as most vectors are: of one
    /// interface, to its MAC address, and of one ethertype. Else none, and nothing changed.
    #[inline]
    fn exit_of_all(&self, frame: &mut Frame, interfaces: &Interfaces) -> Option<ExitIndex> {
        let rx = alike(frame.rx())?;
        let our_mac = mac_word(interfaces.get(rx));
        let found = ethernet::Header::new(frame.view(0).header())?.ethertype();
        if is_tag(found) {
            return None;
        }
        let exit = self.exit_of(found);
        let alike = frame.all(|packet| {
            let header = packet.header().first_chunk::<{ ethernet::Header::LEN }>();
            header.is_some_and(|header| {
                destination_word(header) == our_mac && ethertype_of(header) == found
            })
        });
        (alike && frame.advance(ethernet::Header::LEN as u16)).then_some(exit)
    }

    /// Of frames to other MACs than ours, only those to groups are heard; not by IPv4, and by IPv6
    /// if they are to a group of nodes. A twin hears IPv4, too.
    ///
    /// An interface that does not route hears no IP to its MAC, its twin does.
    #[cold]
    fn refused(&self, frame: &[u8], rx: u16, interfaces: &Interfaces) -> Option<Exit> {
        let has_twin = interfaces.has_twin(rx);
        let header = ethernet::Header::new(frame)?;
        // The group bit is the lowest of the first byte (IEEE 802.3 section 3.2.3).
        if header.destination().0[0] & 1 == 0 {
            if interfaces.get(rx).is_none_or(|row| row.mac != header.destination().0) {
                return Some(Exit::NotForUs);
            }
            return match header.ethertype() {
                ethertype::IPV4 | ethertype::IPV6 if has_twin => Some(Exit::Twin),
                ethertype::IPV4 | ethertype::IPV6 => Some(Exit::NotRouted),
                _ => None,
            };
        }
        let to_group = || {
            let packet = ipv6::Header::new(&frame[ethernet::Header::LEN..]);
            packet.is_none_or(|packet| ipv6::is_multicast(packet.destination()))
        };
        let on_link = || {
            let packet = ipv4::Header::new(&frame[ethernet::Header::LEN..]);
            packet.is_some_and(|packet| is_on_link(packet.destination()))
        };
        let is_wrong = match header.ethertype() {
            ethertype::IPV4 if has_twin && on_link() => return Some(Exit::Twin),
            ethertype::IPV4 if header.destination().0 == BROADCAST && self.hears_broadcasts() => {
                return Some(Exit::Broadcast);
            }
            ethertype::IPV4 => true,
            ethertype::IPV6 => !to_group(),
            _ => false,
        };
        is_wrong.then_some(Exit::GroupFrame)
    }

    fn hears_broadcasts(&self) -> bool {
        self.icmp.echoes_broadcasts.load(Ordering::Relaxed)
    }

    fn exit_of(&self, ethertype: u16) -> ExitIndex {
        let attached = self.by_ethertype.iter().find(|&&(known, _)| known == ethertype);
        attached.map_or_else(|| unknown(ethertype).into(), |&(_, exit)| exit)
    }
}

/// To all stations of a link (IEEE 802.3 section 3.2.3).
const BROADCAST: [u8; 6] = [0xff; 6];

/// Groups of one link (RFC 5771 section 4), and its broadcast address (RFC 919).
fn is_on_link(destination: u32) -> bool {
    destination >> 8 == 0x00e0_0000 || destination == u32::MAX
}

/// IEEE 802.1Q section 9.6: VLAN 0 tells a priority, and the frame is as one without a tag.
#[inline(always)]
fn tells_priority_alone(frame: &[u8]) -> bool {
    let header = ethernet::Header::new(frame).filter(|header| is_tag(header.ethertype()));
    let tag = header.and_then(|_| Tag::new(&frame[ethernet::Header::LEN..]));
    tag.is_some_and(|tag| tag.tci().vid() == 0)
}

fn unknown(ethertype: u16) -> Exit {
    match ethertype {
        ethertype::VLAN | ethertype::QINQ | ethertype::QINQ_OLD => Exit::UnknownVlan,
        length if length < ethertype::FIRST => Exit::LlcFrame,
        _ => Exit::UnknownEthertype,
    }
}

#[inline(always)]
fn ethertype_of(header: &[u8; 14]) -> u16 {
    u16::from_be_bytes([header[12], header[13]])
}

/// The destination MAC as one word, only to be compared: one load, and what is behind it shifted
/// out.
#[inline(always)]
pub(crate) fn destination_word(header: &[u8; 14]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *header;
    u64::from_le_bytes([a, b, c, d, e, f, g, h]) << 16
}

/// The MAC in the same form by which an interface takes all that comes; of none, and of one that
/// does not route, one that no frame can match: those are looked at more closely.
pub(crate) fn mac_word(interface: Option<&Interface>) -> u64 {
    let Some(interface) = interface.filter(|row| row.routes) else { return u64::MAX };
    let [a, b, c, d, e, f] = interface.mac;
    u64::from_le_bytes([0, 0, a, b, c, d, e, f])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::Twin;
    use crate::testing::{FAR, FAR6, HOST, HOST_MAC, HOST6, World, our_mac};
    use graph::harness::{NodeHarness, Outcome};
    use wire::craft;

    fn run(frames: &[Vec<u8>], rx: u16) -> Vec<Outcome> {
        let mut node = NodeHarness::<EthernetInput>::new(&World::new().setup).unwrap();
        node.attach(0x0800, "ip4");
        node.attach(0x0806, "arp");
        node.attach(0x86dd, "ip6");
        node.run(frames, rx, 0)
    }

    fn exit_of(frame: Vec<u8>) -> String {
        run(&[frame], 0).remove(0).exit
    }

    #[test]
    fn a_frame_for_us_goes_to_its_protocol_without_its_link_header() {
        let packet = craft::ipv4(HOST, FAR).udp(1, 2).build();
        let frame = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR).udp(1, 2).build();
        let out = run(&[frame], 0).remove(0);
        assert_eq!((out.exit.as_str(), out.header), ("ip4", packet));
    }

    #[test]
    fn each_packet_of_a_mixed_vector_is_judged_by_itself() {
        let frame = |to: [u8; 6], kind| craft::ethernet(HOST_MAC, to).ethertype(kind).build();
        let ours = our_mac(0);
        let kinds = [0x0800, 0x0806, 0x1234, 0x0806, 0x0800];
        let out = run(&kinds.map(|kind| frame(ours, kind)), 0);
        let exits: Vec<_> = out.iter().map(|out| out.exit.as_str()).collect();
        assert_eq!(exits, ["ip4", "arp", "unknown-ethertype", "arp", "ip4"]);
        assert_eq!(exit_of(frame(our_mac(1), 0x0800)), "not-for-us");
    }

    #[test]
    fn groups_are_heard_by_arp_and_not_by_ip4() {
        let broadcast = |kind| craft::ethernet(HOST_MAC, [0xff; 6]).ethertype(kind).build();
        assert_eq!(exit_of(broadcast(0x0806)), "arp");
        assert_eq!(exit_of(broadcast(0x0800)), "group-frame");
        let multicast = craft::ethernet(HOST_MAC, [1, 0, 0x5e, 0, 0, 5]).ethertype(0x0800);
        assert_eq!(exit_of(multicast.build()), "group-frame");
    }

    #[test]
    fn what_is_to_all_is_heard_by_ip4_where_echo_requests_to_all_are_answered() {
        let world = World::new();
        world.setup.shared.icmp.echoes_broadcasts.store(true, Ordering::Relaxed);
        let mut node = NodeHarness::<EthernetInput>::new(&world.setup).unwrap();
        let echo = |to| craft::ethernet(HOST_MAC, to).ipv4(HOST, [255; 4]).icmp_echo(1, 1).build();
        let out = node.run(&[echo([0xff; 6]), echo([1, 0, 0x5e, 0, 0, 5])], 0, 0);
        assert_eq!(out[0].exit, "broadcast");
        assert_eq!(out[0].header, craft::ipv4(HOST, [255; 4]).icmp_echo(1, 1).build());
        assert_eq!(out[1].exit, "group-frame");
        let other = craft::ethernet(HOST_MAC, [0xff; 6]).ipv6(HOST6, FAR6).udp(1, 2).build();
        assert_eq!(node.run(&[other], 0, 0)[0].exit, "group-frame");
    }

    #[test]
    fn groups_are_heard_by_ip6_when_the_packet_is_to_a_group_too() {
        let frame = || craft::ethernet(HOST_MAC, [0x33, 0x33, 0, 0, 0, 1]);
        let group: std::net::Ipv6Addr = ipv6::ALL_NODES.into();
        assert_eq!(exit_of(frame().ipv6(HOST6, group).udp(1, 2).build()), "ip6");
        assert_eq!(exit_of(frame().ipv6(HOST6, FAR6).udp(1, 2).build()), "group-frame");
        assert_eq!(exit_of(frame().ethertype(0x86dd).build()), "ip6");
    }

    #[test]
    fn what_is_no_protocol_of_ours_is_told_apart() {
        let frame = |kind| craft::ethernet(HOST_MAC, our_mac(0)).ethertype(kind).build();
        for (kind, exit) in
            [(0x05ff, "llc-frame"), (0x0600, "unknown-ethertype"), (0x88cc, "unknown-ethertype")]
        {
            assert_eq!(exit_of(frame(kind)), exit, "{kind:#x}");
        }
        assert_eq!(exit_of(frame(0x0800)[..13].to_vec()), "runt");
    }

    /// A frame with these tags.
    fn tagged(mut frame: Vec<u8>, tags: &[u16]) -> Vec<u8> {
        for tag in tags.iter().rev() {
            let [a, b] = tag.to_be_bytes();
            frame.splice(12..12, [0x81, 0, a, b]);
        }
        frame
    }

    /// Where a frame goes at an interface that does not route; with a twin, if it has one.
    fn exit_unrouted(frame: Vec<u8>, has_twin: bool) -> String {
        let mut world = World::new();
        world.change_interface(0, |row| {
            row.routes = false;
            row.put(has_twin.then_some(Twin));
        });
        let mut node = NodeHarness::<EthernetInput>::new(&world.setup).unwrap();
        for (kind, exit) in [(0x0800, "ip4"), (0x0806, "arp"), (0x86dd, "ip6")] {
            node.attach(kind, exit);
        }
        node.run(&[frame], 0, 0).remove(0).exit
    }

    #[test]
    fn an_interface_that_does_not_route_gets_no_ip_and_its_twin_all() {
        let frame = |kind| craft::ethernet(HOST_MAC, our_mac(0)).ethertype(kind).build();
        for kind in [0x0800, 0x86dd] {
            assert_eq!(exit_unrouted(frame(kind), false), "not-routed");
            assert_eq!(exit_unrouted(frame(kind), true), "twin");
        }
        assert_eq!(exit_unrouted(frame(0x0806), false), "arp");
        let others = craft::ethernet(HOST_MAC, our_mac(1)).ethertype(0x0800).build();
        assert_eq!(exit_unrouted(others, true), "not-for-us");
        let group = craft::ethernet(HOST_MAC, [0x33, 0x33, 0, 0, 0, 1]);
        let all_nodes: std::net::Ipv6Addr = ipv6::ALL_NODES.into();
        assert_eq!(exit_unrouted(group.ipv6(HOST6, all_nodes).udp(1, 2).build(), false), "ip6");
    }

    #[test]
    fn a_frame_with_a_priority_and_no_vlan_is_as_one_without_a_tag() {
        let frame = |to| craft::ethernet(HOST_MAC, to).ipv4(HOST, FAR).udp(1, 2).build();
        let packet = craft::ipv4(HOST, FAR).udp(1, 2).build();
        let priority = tagged(frame(our_mac(0)), &[5 << 13]);
        let mut service = priority.clone();
        service[12..14].copy_from_slice(&[0x88, 0xa8]);
        // Alone, among others, and all alike.
        for frames in [
            vec![priority.clone()],
            vec![frame(our_mac(0)), priority.clone(), service],
            vec![priority.clone(); 5],
        ] {
            for out in run(&frames, 0) {
                assert_eq!((out.exit.as_str(), &out.header), ("ip4", &packet));
            }
        }
        let broadcast = |kind| craft::ethernet(HOST_MAC, [0xff; 6]).ethertype(kind).build();
        assert_eq!(exit_of(tagged(broadcast(0x0806), &[0])), "arp");
        assert_eq!(exit_of(tagged(broadcast(0x0800), &[0])), "group-frame");
        assert_eq!(exit_of(tagged(frame(our_mac(1)), &[0])), "not-for-us");
        assert_eq!(exit_of(priority[..16].to_vec()), "unknown-vlan");
    }

    #[test]
    fn its_priority_stays_in_front_of_the_frame() {
        let plain = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR).udp(1, 2).build();
        let mut node = NodeHarness::<EthernetInput>::new(&World::new().setup).unwrap();
        node.attach(0x0800, "ip4");
        let priority = tagged(plain.clone(), &[5 << 13]);
        let out = node.run(&[priority], 0, 0).remove(0);
        assert_eq!(out.whole, [&[0x81, 0, 5 << 5, 0][..], &plain].concat());
    }

    #[test]
    fn a_tag_of_a_vlan_that_nobody_has_is_refused() {
        let frame = || craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, FAR).udp(1, 2).build();
        for tags in [&[7][..], &[0, 7], &[5 << 13 | 1]] {
            assert_eq!(exit_of(tagged(frame(), tags)), "unknown-vlan");
        }
        let service = craft::ethernet(HOST_MAC, our_mac(0)).service_vlan(7).ethertype(0x0800);
        assert_eq!(exit_of(service.build()), "unknown-vlan");
    }

    #[test]
    fn an_interface_that_is_gone_hears_nothing() {
        let frame = craft::ethernet(HOST_MAC, our_mac(0)).ethertype(0x0800).build();
        assert_eq!(run(&[frame], 99)[0].exit, "not-for-us");
    }
}
