//! Takes frames and packets out of VXLAN, GRE and IP packets to ourselves (RFC 7348 section 4.1,
//! RFC 2784, RFC 2890, RFC 7676; RFC 2003, RFC 2473, RFC 4213).
//!
//! ```text
//!  udp4_local, ip4_local ┐                 ┌▶ (an entrance)           frames, by the tunnel's mode
//!                        ├▶ tunnel_decap ──┼▶ interface_input         of a tunnel with features
//!  udp6_local, ip6_local ┘                 ├▶ ip4_input, ip6_input    packets
//!                                          └▶ drop
//! ```
//! GRE's sequence numbers are read over: what comes is taken as it comes.

use super::ecn;
use crate::interface::{Entrance, ReceivedRun, entrances};
use crate::local::ip6_local::{upper_layer, upper_protocol};
use crate::tables::{
    Ends, Inside, Interfaces, Link, Punt, RateLimits, RemoteHeard, Setup, SlowPath, Tunnel,
    TunnelKey, VrfId, WorkerCounters, Wrap,
};
use graph::{Attach, Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::net::IpAddr;
use std::sync::Arc;
use wire::ethernet::{self, ethertype};
use wire::ip::{self, protocol};
use wire::{gre, ipv4, udp, vxlan};

/// Remotes told a second and worker, of sources that are alike: more than a network gets in a
/// hurry.
const REMOTES_PER_SECOND: u32 = 10;
/// Kinds of sources that are told apart, so that a flood from some leaves others heard.
const SOURCES: usize = 1024;

/// See the module.
pub struct TunnelDecap {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
    slow_path: SlowPath,
    limits: RateLimits,
}

entrances! {
    /// What becomes of a tunnel's packet.
    pub enum Exit {
        /// The tunnel has features for what it receives: these first.
        Features => node "interface-input",
        /// An IPv4 packet.
        Ip4 => node "ip4-input",
        /// An IPv6 packet.
        Ip6 => node "ip6-input",
        /// Shorter than its headers.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// RFC 7348 section 5: the flag that says that there is a network identifier must be set.
        BadVxlanFlags => drop "The other end speaks something else at this UDP port, Geneve or GPE \
            perhaps: set both alike.",
        /// RFC 6936 section 4: over IPv6 the tunnel wants a UDP checksum, and there is none.
        NoChecksum => drop "Have the other end send UDP checksums, or set `checksum = false` at \
            the tunnel.",
        /// RFC 2784 section 2: reserved bits set, another version, or a wrong checksum.
        BadGreHeader => drop "The sender, or a device on the way, makes wrong packets: capture \
            some and look who it is.",
        /// A frame where the tunnel carries packets, a packet where it carries frames, or neither.
        WrongPayload => drop "Set `payload` of the tunnel as the other end has it: frames or \
            packets.",
        /// What is inside IP is not of the version that the outer header tells.
        WrongVersion => drop "The sender, or a device on the way, makes wrong packets: capture \
            some and look who it is.",
        /// A packet out of a tunnel that has no address, or is told not to route.
        NotRouted => drop "Give the tunnel an address, `unnumbered`, or `routing = true`.",
        /// No tunnel has this network identifier or key, source and destination; or none of IP in
        /// IP has these ends.
        UnknownTunnel => drop "Compare `vni` or `key`, `local` and `remote` with the other end's: \
            `volley config show`.",
        /// From an end that is not known yet. The control thread hears of it; what comes later is
        /// taken.
        NewRemote => drop "Nothing, if it ends: the first packets of a new end only.",
        /// The frame inside is shorter than an Ethernet header.
        InnerRunt => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// RFC 6040 section 4.2: congestion was met outside, and the sender inside asked for drops
        /// to hear of it by.
        Congested => drop "Nothing, if few: the senders inside slow down by it. Much of it means \
            that the underlay is too full.",
        /// It came by a tunnel, perhaps by our own: tunnels inside tunnels are not opened.
        Nested => drop "Look for a route that leads a tunnel's packets into the tunnel itself.",
    }
}

impl Node for TunnelDecap {
    const NAME: &'static str = "tunnel-decap";
    const ABOUT: &'static str = "takes frames and packets out of VXLAN, GRE and IP packets";
    const ATTACH: &'static [Attach] = &[
        Attach { of: "udp4-local", key: udp::port::VXLAN as u32 },
        Attach { of: "ip4-local", key: protocol::GRE as u32 },
        Attach { of: "udp6-local", key: udp::port::VXLAN as u32 },
        Attach { of: "ip6-local", key: protocol::GRE as u32 },
        Attach { of: "ip4-local", key: protocol::IPV4 as u32 },
        Attach { of: "ip4-local", key: protocol::IPV6 as u32 },
        Attach { of: "ip6-local", key: protocol::IPV4 as u32 },
        Attach { of: "ip6-local", key: protocol::IPV6 as u32 },
    ];
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            counters: Arc::clone(&setup.counters),
            slow_path: setup.shared.slow_path.clone(),
            limits: RateLimits::new(SOURCES, REMOTES_PER_SECOND),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let Self { counters, slow_path, limits, .. } = self;
        let mut tell = |hub: u16, underlay: u16, key: TunnelKey| {
            let remote = key.ends.remote();
            // Who is not heard of now is heard of by its next packet.
            if limits.take(alike(underlay, remote), context.now_tsc) {
                let punt = RemoteHeard { interface: hub, underlay, remote };
                let _missed = slow_path.tell(Punt::RemoteHeard(punt));
            }
        };
        // Whether a tunnel brought it, and the VRF that it is in.
        let heard = |rx: u16| {
            let nested = interfaces
                .get(rx)
                .is_some_and(|row| matches!(row.link, Link::Tunnel(_) | Link::Lisp(_)));
            (nested, interfaces.vrf(rx))
        };
        let mut rx = frame.rx()[0];
        let (mut nested, mut vrf) = heard(rx);
        // The last packet's tunnel is often the next one's, too.
        let mut last: Option<((TunnelKey, VrfId), Result<Found, Exit>)> = None;
        let mut received = ReceivedRun::new(counters);
        exits.each(frame, |packet| {
            let opened = match open(packet) {
                Ok(opened) => opened,
                Err(exit) => return exit,
            };
            if packet.rx() != rx {
                rx = packet.rx();
                (nested, vrf) = heard(rx);
            }
            if nested {
                return Exit::Nested;
            }
            let found = match last {
                Some((known, found)) if known == (opened.key, vrf) => found,
                _ => {
                    let found = find(interfaces, opened.key, vrf, |hub, key| tell(hub, rx, key));
                    last = Some(((opened.key, vrf), found));
                    found
                }
            };
            let found = match found {
                Ok(found) => found,
                Err(exit) => return exit,
            };
            let exit = match enter(&found, &opened, packet.length()) {
                Ok(exit) => exit,
                Err(exit) => return exit,
            };
            packet.advance(opened.bytes);
            // Nobody on the way said anything where nothing is marked.
            if opened.ecn != 0 && !ecn::tell(packet.header_mut(), opened.kind, opened.ecn) {
                return Exit::Congested;
            }
            packet.start_here();
            packet.set_rx(found.id);
            received.add(found.id, packet.length());
            exit
        });
    }
}

/// What is known of a packet for us once its headers are read.
struct Opened {
    key: TunnelKey,
    /// Ethertype of what is inside.
    kind: u16,
    /// Octets in front of it.
    bytes: usize,
    /// There is a UDP checksum, if there is UDP.
    summed: bool,
    /// Congestion marks outside.
    ecn: u8,
}

/// A tunnel's interface and the way in by it.
#[derive(Clone, Copy)]
struct Found {
    id: u16,
    exit: Exit,
    inside: Inside,
    summed: bool,
}

/// The tunnel that a packet is of, and where that which is inside begins.
#[inline(always)]
fn open(packet: &PacketView<'_>) -> Result<Opened, Exit> {
    let bytes = packet.header();
    let (ends, protocol, inside, ecn) = if ip::version(bytes) == 6 {
        let (header, inside) = upper_layer(packet).ok_or(Exit::Truncated)?;
        let (local, remote) = (header.destination(), header.source());
        let protocol = upper_protocol(packet).ok_or(Exit::Truncated)?;
        (Ends::V6 { local, remote }, protocol, inside, header.ecn())
    } else {
        let header = ipv4::Header::new(bytes).ok_or(Exit::Truncated)?;
        let inside = bytes.get(header.header_len()..).ok_or(Exit::Truncated)?;
        let (local, remote) = (header.destination(), header.source());
        (Ends::V4 { local, remote }, header.protocol(), inside, header.ecn())
    };
    let (wrap, kind, rest, summed) = match protocol {
        protocol::GRE => open_gre(inside)?,
        protocol::IPV4 => open_ip(inside, 4, ethertype::IPV4)?,
        protocol::IPV6 => open_ip(inside, 6, ethertype::IPV6)?,
        _ => {
            let datagram = udp::Header::new(inside).ok_or(Exit::Truncated)?;
            let inside = &inside[udp::Header::LEN..];
            let header = vxlan::Header::new(inside).ok_or(Exit::Truncated)?;
            if !header.is_valid() {
                return Err(Exit::BadVxlanFlags);
            }
            let summed = datagram.checksum() != 0;
            let rest = inside.len() - vxlan::Header::LEN;
            let wrap = Wrap::Vxlan { vni: header.vni(), port: datagram.destination_port() };
            (wrap, ethertype::TEB, rest, summed)
        }
    };
    Ok(Opened { key: TunnelKey { wrap, ends }, kind, bytes: bytes.len() - rest, summed, ecn })
}

/// What wraps in a GRE packet, the kind of what is inside, and its octets.
fn open_gre(packet: &[u8]) -> Result<(Wrap, u16, usize, bool), Exit> {
    let parsed = gre::Packet::parse(packet).map_err(|fault| match fault {
        wire::Error::Short { .. } => Exit::Truncated,
        _ => Exit::BadGreHeader,
    })?;
    Ok((Wrap::Gre(parsed.key), parsed.ethertype, parsed.payload.len(), true))
}

/// The same of IP in IP, whose outer header tells the version of what is inside.
fn open_ip(packet: &[u8], version: u8, kind: u16) -> Result<(Wrap, u16, usize, bool), Exit> {
    match packet.first() {
        None => Err(Exit::Truncated),
        Some(_) if ip::version(packet) != version => Err(Exit::WrongVersion),
        Some(_) => Ok((Wrap::Ip, kind, packet.len(), true)),
    }
}

/// A number for sources that are alike: of one interface and network (/24, /64).
fn alike(underlay: u16, remote: IpAddr) -> usize {
    let network = match remote {
        IpAddr::V4(remote) => u64::from(u32::from(remote) >> 8),
        IpAddr::V6(remote) => (u128::from(remote) >> 64) as u64,
    };
    // Fibonacci hashing: near networks are spread.
    let mixed = (network ^ u64::from(underlay) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 54) as usize
}

/// The interface of a tunnel, and where frames go that come in by it. Of one that takes remotes in,
/// those that are not known are told.
fn find(
    interfaces: &Interfaces,
    key: TunnelKey,
    vrf: VrfId,
    mut tell: impl FnMut(u16, TunnelKey),
) -> Result<Found, Exit> {
    let tunnel_of = |id: u16| match interfaces.get(id)?.link {
        Link::Tunnel(tunnel) => Some(tunnel),
        _ => None,
    };
    let Some(id) = interfaces.tunnel(key, vrf) else {
        let any = TunnelKey { ends: key.ends.with_any_remote(), ..key };
        let hub = interfaces.tunnel(any, vrf).filter(|_| any != key).ok_or(Exit::UnknownTunnel)?;
        return match tunnel_of(hub) {
            Some(Tunnel { learns: true, .. }) => {
                tell(hub, key);
                Err(Exit::NewRemote)
            }
            _ => Err(Exit::UnknownTunnel),
        };
    };
    let routes = || interfaces.get(id).is_some_and(|row| row.routes || !row.carries_packets());
    let exit = match interfaces.entrance(id) {
        Entrance::InterfaceDown => return Err(Exit::InterfaceDown),
        _ if interfaces.has_input_features(id) => Exit::Features,
        _ if !routes() => return Err(Exit::NotRouted),
        entrance => entrance.into(),
    };
    let tunnel = tunnel_of(id).ok_or(Exit::UnknownTunnel)?;
    Ok(Found { id, exit, inside: tunnel.inside, summed: tunnel.summed })
}

/// The way in of what is inside, if the tunnel carries such.
#[inline(always)]
fn enter(found: &Found, opened: &Opened, length: usize) -> Result<Exit, Exit> {
    if found.summed && !opened.summed && matches!(opened.key.ends, Ends::V6 { .. }) {
        return Err(Exit::NoChecksum);
    }
    match (found.inside, opened.kind) {
        (Inside::Frames, ethertype::TEB) => {
            let runt = length < opened.bytes + ethernet::Header::LEN;
            if runt { Err(Exit::InnerRunt) } else { Ok(found.exit) }
        }
        (Inside::Packets, ethertype::IPV4 | ethertype::IPV6) if found.exit == Exit::Features => {
            Ok(found.exit)
        }
        (Inside::Packets, ethertype::IPV4) => Ok(Exit::Ip4),
        (Inside::Packets, ethertype::IPV6) => Ok(Exit::Ip6),
        _ => Err(Exit::WrongPayload),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        FAR, FAR6, GRE, GRE_KEY, HOST, HOST_MAC, US, US6, VNI, VXLAN, VXLAN6, World,
    };
    use graph::harness::NodeHarness;
    use wire::craft;

    fn inner() -> Vec<u8> {
        craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
    }

    fn vxlan(vni: u32, source: [u8; 4]) -> Vec<u8> {
        let tunnel = craft::ipv4(source, US).udp(50000, 4789).vxlan(vni);
        tunnel.ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
    }

    fn vxlan6() -> Vec<u8> {
        let tunnel = craft::ipv6(FAR6, US6).udp(50000, 4789).vxlan(VNI);
        tunnel.ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
    }

    fn gre(flags: u16, kind: u16, rest: &[u8]) -> Vec<u8> {
        let header = [&flags.to_be_bytes()[..], &kind.to_be_bytes(), rest, &inner()].concat();
        craft::ipv4(FAR, US).protocol(47).payload(&header).build()
    }

    fn run(world: &World, packet: Vec<u8>, rx: u16, upper: u32) -> (String, Vec<u8>) {
        let mut node = NodeHarness::<TunnelDecap>::new(&world.setup).unwrap();
        let by = |frame: &mut Frame| frame.adjacencies_mut().fill(upper);
        let out = node.run_prepared(&[packet], rx, 0, by).remove(0);
        (out.exit, out.header)
    }

    fn exit_of(packet: Vec<u8>, rx: u16) -> String {
        run(&World::new(), packet, rx, 40).0
    }

    #[test]
    fn the_frame_inside_comes_in_by_the_tunnel() {
        let mut node = NodeHarness::<TunnelDecap>::new(&World::new().setup).unwrap();
        let mut by = Vec::new();
        let out = node.run(&[vxlan(VNI, FAR), vxlan(VNI, FAR)], 0, 0);
        by.extend(out.iter().map(|out| (out.exit.as_str(), &out.header)));
        assert_eq!(by, [("bridge", &inner()); 2]);
    }

    #[test]
    fn ipv6_is_opened_as_well_behind_extension_headers_too() {
        assert_eq!(run(&World::new(), vxlan6(), 0, 40), ("bridge".to_owned(), inner()));
        let mut behind = vxlan6();
        behind.splice(40..40, [17, 0, 1, 4, 0, 0, 0, 0]);
        behind[6] = 60;
        assert_eq!(run(&World::new(), behind, 0, 48), ("bridge".to_owned(), inner()));
    }

    #[test]
    fn a_datagram_over_ipv6_needs_a_checksum_unless_the_tunnel_needs_none() {
        let mut bare = vxlan6();
        bare[46..48].fill(0);
        let mut world = World::new();
        assert_eq!(run(&world, bare.clone(), 0, 40).0, "no-checksum");
        world.change_interface(VXLAN6, |row| {
            if let Link::Tunnel(tunnel) = &mut row.link {
                tunnel.summed = false;
            }
        });
        assert_eq!(run(&world, bare, 0, 40).0, "bridge");
        assert_eq!(run(&world, vxlan6(), 0, 40).0, "bridge");
    }

    #[test]
    fn packets_of_no_tunnel_are_told_apart() {
        let mut flags = vxlan(VNI, FAR);
        flags[28] = 0;
        let runt = craft::ipv4(FAR, US).udp(50000, 4789).vxlan(VNI).payload(&[0; 13]).build();
        let short = craft::ipv4(FAR, US).udp(50000, 4789).payload(&[8; 7]).build();
        for (packet, exit) in [
            (vxlan(VNI + 1, FAR), "unknown-tunnel"),
            (vxlan(VNI, US), "unknown-tunnel"),
            (flags, "bad-vxlan-flags"),
            (runt, "inner-runt"),
            (short, "truncated"),
        ] {
            assert_eq!(exit_of(packet, 0), exit);
        }
        assert_eq!(exit_of(vxlan(VNI, FAR), VXLAN), "nested");
    }

    #[test]
    fn gre_is_checked_and_its_key_tells_tunnels_apart() {
        let key = GRE_KEY.to_be_bytes();
        for (packet, exit) in [
            (gre(0x2000, 0x6558, &key), "bridge"),
            (gre(0, 0x6558, &[]), "unknown-tunnel"),
            (gre(0x2000, 0x0800, &key), "wrong-payload"),
            (gre(0x4000, 0x6558, &[]), "bad-gre-header"),
            (gre(0x8000, 0x6558, &[0, 1, 0, 0]), "bad-gre-header"),
        ] {
            assert_eq!(exit_of(packet, 0), exit);
        }
        let short = craft::ipv4(FAR, US).protocol(47).payload(&[0x20, 0]).build();
        assert_eq!(exit_of(short, 0), "truncated");
    }

    #[test]
    fn congestion_outside_is_told_inside_or_dropped_for() {
        let inside = |tos| craft::ipv4([10, 9, 0, 1], [10, 9, 0, 2]).tos(tos).udp(5, 6).build();
        let frame = |tos| {
            [&craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x0800).build()[..], &inside(tos)]
                .concat()
        };
        let over4 = |tos: u8, inner: &[u8]| {
            let outer = craft::ipv4(FAR, US).tos(tos).udp(50000, 4789).checksum(0).vxlan(VNI);
            outer.payload(inner).build()
        };
        let over6 = |class: u8, inner: &[u8]| {
            let outer = craft::ipv6(FAR6, US6).traffic_class(class).udp(50000, 4789).vxlan(VNI);
            outer.payload(inner).build()
        };
        for outside in 0..4 {
            for within in 0..4 {
                let (inner, outer) = (frame(0x28 | within), 0xb8 | outside);
                for packet in [over4(outer, &inner), over6(outer, &inner)] {
                    let (exit, packet) = run(&World::new(), packet, 0, 40);
                    match ecn::leaving(within, outside) {
                        Some(marks) => {
                            assert_eq!((exit.as_str(), packet), ("bridge", frame(0x28 | marks)));
                        }
                        None => assert_eq!(exit, "congested"),
                    }
                }
            }
        }
        for packet in [over4(3, &inner()), over6(3, &inner())] {
            assert_eq!(run(&World::new(), packet, 0, 40), ("bridge".to_owned(), inner()));
        }
    }

    #[test]
    fn another_udp_port_is_another_tunnel() {
        let at = |port| {
            let tunnel = craft::ipv4(FAR, US).udp(50000, port).vxlan(VNI);
            tunnel.ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build()
        };
        let mut world = World::new();
        world.change_interface(VXLAN, |row| {
            if let Link::Tunnel(tunnel) = &mut row.link {
                tunnel.key.wrap = Wrap::Vxlan { vni: VNI, port: 8472 };
            }
        });
        assert_eq!(run(&world, at(8472), 0, 40), ("bridge".to_owned(), inner()));
        assert_eq!(run(&world, at(4789), 0, 40).0, "unknown-tunnel");
    }

    #[test]
    fn packets_inside_gre_go_to_their_protocol() {
        let mut world = World::new();
        world.change_interface(GRE, |row| {
            if let Link::Tunnel(tunnel) = &mut row.link {
                tunnel.inside = Inside::Packets;
            }
        });
        let key = GRE_KEY.to_be_bytes();
        for (kind, exit) in [(0x0800, "ip4"), (0x86dd, "ip6"), (0x6558, "wrong-payload")] {
            assert_eq!(run(&world, gre(0x2000, kind, &key), 0, 40).0, exit);
        }
    }

    #[test]
    fn packets_inside_ip_are_told_by_the_outer_protocol() {
        let world = World::new();
        let four = craft::ipv4([203, 0, 116, 9], FAR).udp(1, 2).build();
        let six = craft::ipv6(FAR6, US6).udp(1, 2).build();
        let over4 =
            |number: u8, inner: &[u8]| craft::ipv4(FAR, US).protocol(number).payload(inner).build();
        let over6 = |number: u8, inner: &[u8]| {
            craft::ipv6(FAR6, US6).next_header(number).payload(inner).build()
        };
        for (number, inner, exit) in [(4, &four, "ip4"), (41, &six, "ip6")] {
            for packet in [over4(number, inner), over6(number, inner)] {
                assert_eq!(run(&world, packet, 0, 40), (exit.to_owned(), inner.clone()));
            }
        }
        for (packet, exit) in [
            (over4(41, &four), "wrong-version"),
            (over4(4, &six), "wrong-version"),
            (over6(4, &[0x50; 20]), "wrong-version"),
            (over4(4, &[]), "truncated"),
            (over6(41, &[]), "truncated"),
            (craft::ipv4(HOST, US).protocol(4).payload(&four).build(), "unknown-tunnel"),
        ] {
            assert_eq!(run(&world, packet, 0, 40).0, exit);
        }
        // Behind the option of Linux that limits how deep tunnels are put into each other.
        let mut limited = over6(4, &four);
        limited.splice(40..40, [4, 0, 4, 1, 4, 1, 1, 0]);
        limited[6] = 60;
        assert_eq!(run(&world, limited, 0, 48), ("ip4".to_owned(), four));
    }

    #[test]
    fn a_remote_that_is_not_known_is_told_where_remotes_are_learned() {
        let mut world = World::new();
        let hub = |learns: bool| {
            let ends = Ends::new(std::net::Ipv4Addr::from(US).into(), [0, 0, 0, 0].into());
            let tunnel = Tunnel::new(Wrap::vxlan(7), ends.unwrap());
            Link::Tunnel(Tunnel { learns, ..tunnel })
        };
        world.change_interface(VXLAN, |row| row.link = hub(false));
        assert_eq!(run(&world, vxlan(7, FAR), 0, 40).0, "unknown-tunnel");
        world.change_interface(VXLAN, |row| row.link = hub(true));
        assert_eq!(run(&world, vxlan(7, FAR), 0, 40).0, "new-remote");
        assert_eq!(run(&world, vxlan(8, FAR), 0, 40).0, "unknown-tunnel");
        let punts = world.all_punts();
        assert!(
            matches!(punts[..], [Punt::RemoteHeard(RemoteHeard { interface: VXLAN, underlay: 0, remote })]
                if remote == std::net::IpAddr::from(FAR)),
            "{punts:?}"
        );
    }

    #[test]
    fn a_flood_of_remotes_from_one_network_leaves_another_heard() {
        let mut world = World::new();
        let ends = Ends::new(std::net::Ipv4Addr::from(US).into(), [0, 0, 0, 0].into());
        let tunnel = Tunnel { learns: true, ..Tunnel::new(Wrap::vxlan(7), ends.unwrap()) };
        world.change_interface(VXLAN, |row| row.link = Link::Tunnel(tunnel));
        let mut packets: Vec<_> = (0..200).map(|last| vxlan(7, [203, 0, 113, last])).collect();
        packets.push(vxlan(7, [198, 18, 0, 1]));
        let mut node = NodeHarness::<TunnelDecap>::new(&world.setup).unwrap();
        let heard: Vec<IpAddr> = packets
            .chunks(1)
            .flat_map(|packet| {
                node.run_prepared(packet, 0, 0, |frame| frame.adjacencies_mut().fill(40));
                world.all_punts()
            })
            .map(|punt| match punt {
                Punt::RemoteHeard(heard) => heard.remote,
                punt => panic!("{punt:?}"),
            })
            .collect();
        assert!(heard.len() < 100, "{}", heard.len());
        assert_eq!(heard.last(), Some(&IpAddr::from([198, 18, 0, 1])));
    }
}
