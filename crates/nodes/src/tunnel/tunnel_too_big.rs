//! Tells senders inside a tunnel how long their packets may be (RFC 1191, RFC 8201), where a
//! tunnel's packet is too long for the way to its other end.
//!
//! ```text
//!  icmp4_error, icmp6_error ─▶ tunnel_too_big ┬▶ (an entrance)          as a frame that the tunnel brought
//!                                             ├▶ ip4_input, ip6_input   as a packet that it brought
//!                                             └▶ drop
//! ```
//! What was wrapped is taken out again and becomes the quotation of the message, which has the
//! address that it was for: a bridge has none of its own, and finds the sender's station as it
//! would for an answer from the other end.

use crate::interface::entrances;
use crate::ip::{OwnIp4, OwnIp6};
use crate::local::{
    ICMP_BYTES, LONGEST_BYTES, NEEDS_FRAGMENTS, PRECEDENCE, TOO_BIG, is_answerable4,
    is_answerable6, write_icmp_error,
};
use crate::tables::{IcmpLimits, Inside, Interfaces, Link, RateLimit, Setup, tell_own};
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use flow::InTunnel;
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::checksum::Sum;
use wire::ethernet::{self, ethertype};
use wire::ip::{self, protocol};
use wire::vlan::{MAX_TAGS, Tag};
use wire::{checksum, ipv4, ipv6, lisp, udp, vlan};

/// See the module.
pub struct TunnelTooBig {
    interfaces: Published<Interfaces>,
    adjacencies: Arc<AdjacencyTable>,
    allowed: Arc<IcmpLimits>,
    limit: RateLimit,
    identification: u16,
}

/// RFC 791: every link carries as much.
const LEAST_MTU4: usize = 68;
/// Octets of the longest link header inside.
const MOST_LINK_BYTES: usize = ethernet::Header::LEN + MAX_TAGS * Tag::LEN;

entrances! {
    /// What becomes of a tunnel's packet that is too long.
    pub enum Exit {
        /// The message, to a sender by a tunnel of packets.
        Ip4 => node "ip4-input",
        /// The same over IPv6.
        Ip6 => node "ip6-input",
        /// Nobody can be told: the packet may be cut, which a bridge does not do, is an error, no
        /// IP, to or from a group; or what is left is less than any link carries. The MTU of the
        /// tunnel, or of the way to its other end, is set wrong.
        Untellable => drop "Lower the tunnel's `mtu`, or raise that of the way to its other end.",
        /// A mirror's copy is longer than its way: nobody is told, as nobody sent it.
        CopyTooLong => drop "Set `truncate` at the mirror, or raise the MTU of the way to who \
            listens.",
        /// Enough errors for this second.
        RateLimited => drop "Lower the tunnel's `mtu` by what its headers take, so that senders \
            need not be told so often.",
        /// No room for the message's headers in front of the packet.
        NoHeadroom => drop "Fewer tunnels and tags inside each other.",
    }
}

impl Node for TunnelTooBig {
    const NAME: &'static str = "tunnel-too-big";
    const ABOUT: &'static str = "tells senders inside tunnels how long their packets may be";
    const BEGINS_AGAIN: bool = true;
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            adjacencies: Arc::clone(&setup.shared.adjacencies),
            allowed: Arc::clone(&setup.shared.icmp),
            limit: RateLimit::new(0),
            identification: 0,
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        self.limit.follow(self.allowed.errors_per_second.load(Ordering::Relaxed));
        let interfaces = self.interfaces.get(context);
        exits.each(frame, |packet| match self.tell(packet, interfaces, context.now_tsc) {
            Ok(exit) | Err(exit) => exit,
        });
    }
}

impl TunnelTooBig {
    /// The packet begins with the tunnel's IP header, and names the adjacency that it is too long
    /// for.
    fn tell(
        &mut self,
        packet: &mut PacketView<'_>,
        interfaces: &Interfaces,
        now_tsc: u64,
    ) -> Result<Exit, Exit> {
        if interfaces.is_for_copies(packet.rx()) {
            return Err(Exit::CopyTooLong);
        }
        let row = interfaces.get(packet.rx()).ok_or(Exit::InterfaceDown)?;
        let (wrap_bytes, kind, own) = match row.link {
            Link::Tunnel(tunnel) => {
                let sent = tunnel.of_packet(packet.header());
                (sent.header_bytes(), sent.inside, tunnel.own_in(packet.header()))
            }
            Link::Lisp(_) => (lisp_bytes(packet.header()), Inside::Packets, InTunnel::default()),
            Link::Port | Link::Bond | Link::Vlan(_) | Link::Bridge => return Err(Exit::Untellable),
        };
        let inside = packet.header().get(wrap_bytes..).ok_or(Exit::Untellable)?;
        let (link_bytes, is_ip6) = match kind {
            Inside::Packets => (0, ip::version(inside) == 6),
            Inside::Frames => read_link(inside).ok_or(Exit::Untellable)?,
        };
        let (link, quoted) = inside.split_at(link_bytes);
        let mut header = [0; MOST_LINK_BYTES];
        header[..link_bytes].copy_from_slice(link);
        // Back to where it came from.
        let (to, rest) = header.split_at_mut(6);
        to.swap_with_slice(&mut rest[..6]);
        let way = self.adjacencies.entry(AdjacencyId(packet.adjacency()));
        let way_bytes = way.map_or(0, |entry| usize::from(entry.fields().mtu()));
        let mtu = way_bytes.saturating_sub(wrap_bytes + link_bytes);
        let asked = if is_ip6 { Told::of_ip6(quoted, mtu) } else { Told::of_ip4(quoted, mtu) };
        let told = asked.ok_or(Exit::Untellable)?;
        if !self.limit.take(now_tsc) {
            return Err(Exit::RateLimited);
        }
        packet.advance(wrap_bytes + link_bytes);
        self.identification = self.identification.wrapping_add(1);
        told.write(packet, mtu as u32, self.identification)?;
        if !packet.prepend(link_bytes) {
            return Err(Exit::NoHeadroom);
        }
        packet.header_mut()[..link_bytes].copy_from_slice(&header[..link_bytes]);
        packet.start_here();
        tell_own(packet, own);
        Ok(match kind {
            Inside::Frames => interfaces.entrance(packet.rx()).into(),
            Inside::Packets if is_ip6 => Exit::Ip6,
            Inside::Packets => Exit::Ip4,
        })
    }
}

/// Octets of the headers of a packet between locators.
fn lisp_bytes(packet: &[u8]) -> usize {
    let ip = if ip::version(packet) == 6 { ipv6::Header::LEN } else { ipv4::Header::LEN };
    ip + udp::Header::LEN + lisp::Header::LEN
}

/// Octets of a frame's link header, tags included, and whether IPv6 follows; none of what goes to
/// or comes from a group, and where no IP follows.
fn read_link(frame: &[u8]) -> Option<(usize, bool)> {
    let link = ethernet::Header::new(frame)?;
    let walk = vlan::walk(frame)?;
    let is_between_two = link.source().is_unicast() && link.destination().is_unicast();
    let is_ip = matches!(walk.ethertype, ethertype::IPV4 | ethertype::IPV6);
    (is_between_two && is_ip).then_some((walk.offset, walk.ethertype == ethertype::IPV6))
}

/// Who is told, and in whose name: that of the host that the packet was for.
enum Told {
    Ip4 { sender: u32, target: u32 },
    Ip6 { sender: u128, target: u128 },
}

impl Told {
    fn of_ip4(packet: &[u8], mtu: usize) -> Option<Self> {
        let header = ipv4::Header::new(packet).filter(|header| header.is_sound())?;
        let (sender, target) = (header.source(), header.destination());
        let is_host = !ipv4::is_martian_source(sender) && !ipv4::is_martian_source(target);
        let is_told = header.dont_fragment() && is_answerable4(packet, header);
        (is_host && is_told && mtu >= LEAST_MTU4).then_some(Self::Ip4 { sender, target })
    }

    fn of_ip6(packet: &[u8], mtu: usize) -> Option<Self> {
        let header = ipv6::Header::new(packet).filter(|header| header.version() == 6)?;
        let (sender, target) = (header.source(), header.destination());
        let is_node = |address| address != 0 && !ipv6::is_martian_source(address);
        let is_told = is_answerable6(header, packet) && mtu >= ipv6::MIN_MTU;
        (is_node(sender) && is_node(target) && is_told).then_some(Self::Ip6 { sender, target })
    }

    /// Makes the packet the message, without a link header.
    fn write(self, packet: &mut PacketView<'_>, mtu: u32, identification: u16) -> Result<(), Exit> {
        let (ip_bytes, most) = match self {
            Self::Ip4 { .. } => (ipv4::Header::LEN, LONGEST_BYTES),
            Self::Ip6 { .. } => (ipv6::Header::LEN, ipv6::MIN_MTU),
        };
        packet.truncate(most - ip_bytes - ICMP_BYTES);
        if !packet.prepend(ip_bytes + ICMP_BYTES) {
            return Err(Exit::NoHeadroom);
        }
        let bytes = packet.header_mut();
        match self {
            Self::Ip4 { sender, target } => {
                let (protocol, source, destination) = (protocol::ICMP4, target, sender);
                let (tos, flags) = (PRECEDENCE, 0);
                OwnIp4 { tos, identification, flags, protocol, source, destination }.write(bytes);
                write_icmp_error(&mut bytes[ip_bytes..], NEEDS_FRAGMENTS, mtu, Sum::ZERO);
            }
            Self::Ip6 { sender, target } => {
                let (next_header, source, destination) = (protocol::ICMP6, target, sender);
                OwnIp6 { traffic_class: 0, next_header, source, destination }.write(bytes);
                let message = &mut bytes[ip_bytes..];
                let length = message.len() as u32;
                let pseudo = checksum::pseudo6(source, destination, next_header, length);
                write_icmp_error(message, TOO_BIG, mtu, pseudo);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::OWN_TTL;
    use crate::testing::{
        FAR, FAR6, HOST, HOST_MAC, HOST6, IPIP, IPIP6, TO_GATEWAY, VXLAN, VXLAN6, World,
    };
    use graph::harness::NodeHarness;
    use wire::craft::{self, Craft, Ethernet};

    const STATION: [u8; 6] = [4; 6];

    /// What becomes of a frame that tunnel `id` wrapped, where the way carries `way` octets.
    fn run(id: u16, frame: &[u8], way: u16) -> (String, Vec<u8>) {
        let world = World::new();
        world.setup.shared.adjacencies.set_mtu(AdjacencyId(TO_GATEWAY), way);
        let headers = world.interfaces.tunnel_headers(id).unwrap();
        let wrapped = [&vec![0; headers.tunnel.header_bytes()][..], frame].concat();
        let mut node = NodeHarness::<TunnelTooBig>::new(&world.setup).unwrap();
        let by = |frame: &mut Frame| frame.adjacencies_mut().fill(TO_GATEWAY);
        let out = node.run_prepared(&[wrapped], id, 0, by).remove(0);
        (out.exit, out.header)
    }

    fn from_host() -> Craft<Ethernet> {
        craft::ethernet(HOST_MAC, STATION)
    }

    fn back() -> Craft<Ethernet> {
        craft::ethernet(STATION, HOST_MAC)
    }

    #[test]
    fn a_sender_in_a_bridge_is_told_what_the_way_leaves_it() {
        for (id, wrap) in [(VXLAN, 36), (VXLAN6, 56)] {
            let frame = from_host().ipv4(HOST, FAR).dont_fragment().udp(1, 2).payload_len(1472);
            let frame = frame.build();
            let [high, low] = (1500_u16 - wrap - 14).to_be_bytes();
            let told = back().ipv4(FAR, HOST).ttl(OWN_TTL).tos(PRECEDENCE).identification(1);
            let told = told.icmp4(3, 4, [0, 0, high, low]).payload(&frame[14..14 + 548]).build();
            assert_eq!(run(id, &frame, 1500), ("bridge".to_owned(), told));
        }
    }

    #[test]
    fn a_sender_behind_a_link_of_ip_in_ip_is_told_as_a_packet() {
        for (id, wrap) in [(IPIP, 20_u16), (IPIP6, 40)] {
            let packet = craft::ipv4(HOST, FAR).dont_fragment().udp(1, 2).payload_len(1412).build();
            let [high, low] = (1400 - wrap).to_be_bytes();
            let told = craft::ipv4(FAR, HOST).ttl(OWN_TTL).tos(PRECEDENCE).identification(1);
            let told = told.icmp4(3, 4, [0, 0, high, low]).payload(&packet[..548]).build();
            assert_eq!(run(id, &packet, 1400), ("ip4".to_owned(), told));
            let packet = craft::ipv6(HOST6, FAR6).udp(1, 2).payload_len(1400).build();
            assert_eq!(run(id, &packet, 1400).0, "ip6");
        }
    }

    #[test]
    fn over_ipv6_likewise() {
        let frame = from_host().ipv6(HOST6, FAR6).udp(1, 2).payload_len(1452).build();
        let told = back().ipv6(FAR6, HOST6).hop_limit(OWN_TTL);
        let told = told.icmp6(2, 0, [0, 0, 0x05, 0xaa]).payload(&frame[14..14 + 1232]).build();
        assert_eq!(run(VXLAN, &frame, 1500), ("bridge".to_owned(), told));
        // Less than IPv6 needs is nothing that a sender could do anything about.
        assert_eq!(run(VXLAN, &frame, 1329).0, "untellable");
        assert_eq!(run(VXLAN, &frame, 1330).0, "bridge");
    }

    #[test]
    fn a_tag_inside_is_kept_and_counts() {
        let packet = craft::ipv4(HOST, FAR).dont_fragment().udp(1, 2).payload_len(1472).build();
        let link = |to: [u8; 6], from: [u8; 6]| [&to[..], &from, &[0x81, 0, 0, 7, 8, 0]].concat();
        let (exit, told) = run(VXLAN, &[&link(STATION, HOST_MAC)[..], &packet].concat(), 1500);
        assert_eq!((exit.as_str(), &told[..18]), ("bridge", &link(HOST_MAC, STATION)[..]));
        assert_eq!(told[18 + 20 + 6..18 + 20 + 8], 1446_u16.to_be_bytes());
    }

    #[test]
    fn who_cannot_be_told_is_not() {
        let long = |craft: Craft<wire::craft::Ipv4>| craft.udp(1, 2).payload_len(1472).build();
        let whole = || from_host().ipv4(HOST, FAR).dont_fragment();
        assert_eq!(run(VXLAN, &long(whole()), 1500).0, "bridge");
        let to_all = craft::ethernet(HOST_MAC, [0xff; 6]).ipv4(HOST, FAR).dont_fragment();
        for frame in [
            long(from_host().ipv4(HOST, FAR)),
            long(to_all),
            long(whole().fragment(8, false)),
            long(from_host().ipv4(HOST, [224, 0, 0, 9]).dont_fragment()),
            whole().icmp4(3, 1, [0; 4]).payload_len(1472).build(),
            from_host().ipv6(HOST6, FAR6).icmp6(1, 1, [0; 4]).payload_len(1472).build(),
            from_host().ethertype(0x88b5).payload(&[7; 1500]).build(),
            vec![4; 13],
        ] {
            assert_eq!(run(VXLAN, &frame, 1500).0, "untellable", "{:x?}", &frame[..13]);
        }
        assert_eq!(run(VXLAN, &long(whole()), 117).0, "untellable");
        assert_eq!(run(VXLAN, &long(whole()), 118).0, "bridge");
    }
}
