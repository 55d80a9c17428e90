//! Puts what leaves by tunnels into packets to their other ends (RFC 7348 section 5, RFC 8926,
//! RFC 2784, RFC 7676, RFC 2003, RFC 2473, RFC 4213), and finds their way.
//!
//! ```text
//!                                       ┌▶ interface_output           with its next hop's link header
//!                                       ├▶ ip4_rewrite, ip6_rewrite   by an adjacency
//!  interface_output ─▶ tunnel_encap ────┼▶ ip_resolve                 the other end is on a link of ours
//!                                       └▶ drop
//! ```
//! All packets of a tunnel go to one address, in one VRF: that is looked up once for those that
//! follow each other. A tunnel whose other end is reached through itself ends here, too: each turn
//! takes headroom, and there is none for a third.
//!
//! Of the usual tunnel, VXLAN or Geneve over IPv4, all headers are written here in one piece, the
//! link's of its next hop among them, of a vector at once (`headers/whole.rs`): that saves a node.
//!
//! A tunnel that lets flows say an end, or has none of ours, has its headers and its way made for
//! the ends of a packet, and once more for those behind it that go between the same
//! (`settling.rs`).
//!
//! A mirror's copy is known by the interface that it is said to have come by, and stays known by it
//! in whatever tunnels it is put: it is copied once.
//!
//! What is sent is counted here, where it is known whether it will be: a packet without a way, or
//! longer than its way takes, is not; one that waits for a neighbour is counted by `inject`, once
//! that has answered.

use super::inner::{flow_of_frame, flow_of_packet, packet_of_frame};
use crate::ip::{MemberPicker, NextHopCount, ip_resolve};
use crate::tables::{Ends, Inside, Interfaces, Kind, Setup, Tunnel, Vrfs, WorkerCounters};
use crate::tunnel::headers::{Different, WholeHeaders};
use crate::tunnel::settling::{Settling, Underlay};
use crate::tunnel::{TunnelHeaders, takes, takes_packet};
use fib::Forward;
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use fib::ecmp::{EcmpTable, GroupId};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, Group, PacketView, alike};
use std::sync::Arc;
use wire::ip;

/// See the module.
pub struct TunnelEncap {
    interfaces: Published<Interfaces>,
    vrfs: Published<Vrfs>,
    adjacencies: Arc<AdjacencyTable>,
    counters: Arc<WorkerCounters>,
    members: MemberPicker,
    groups: Arc<EcmpTable>,
    count: NextHopCount,
    different: Box<Different>,
}

graph::exits! {
    /// What becomes of a frame that is to leave by a tunnel.
    pub enum Exit {
        /// Wrapped, with the link header of its next hop.
        Output => node "interface-output",
        /// Wrapped: an IPv4 packet of ours, out by an adjacency.
        Rewrite4 => node "ip4-rewrite",
        /// Wrapped: an IPv6 packet of ours, out by an adjacency.
        Rewrite6 => node "ip6-rewrite",
        /// Wrapped: a packet to a neighbour that is not known yet.
        Resolve => node "ip-resolve" cause ip_resolve::INTERFACE,
        /// No room for the headers in front of the frame: too many tunnels inside each other.
        NoHeadroom => drop "Fewer tunnels and tags inside each other.",
        /// What is no IP packet, by a tunnel of packets.
        NoPacket => drop "Bridge it by a tunnel with `payload = \"frames\"`, if it is to pass.",
        /// No route of the tunnel's VRF leads to its other end, or one that forbids it.
        NoRoute => drop "Give the tunnel's `underlay_vrf` a route to its other end: `volley lookup \
            ADDRESS --vrf NAME`.",
        /// The other end is an address of ours.
        ToOurselves => drop "Correct the tunnel's `remote`: it is one of our own addresses.",
        /// The tunnel lets flows say its other end, and they said none, or one of another family.
        NoRemote => drop "Have flows set `tun_dst` (over IPv6 `tun_ipv6_dst`) before they send by \
            the tunnel.",
        /// The tunnel has no `local`, and no port of its underlay's VRF has an address that its
        /// packets could leave from; or flows said one of another family than the other end's.
        NoLocal => drop "Give the port towards the other end an address, or the tunnel a `local`.",
        /// The tunnel was removed while the frame was under way.
        NoTunnel => drop "Nothing, if it ends: the configuration changed just then.",
    }
}

/// A tunnel's headers, and where its packets go.
struct Way<'a> {
    headers: &'a TunnelHeaders,
    to: Forward,
    exit: Exit,
}

impl<'a> Way<'a> {
    fn new(headers: &'a TunnelHeaders, to: Forward) -> Self {
        Self { headers, to, exit: exit_of(&headers.tunnel, to) }
    }
}

/// Where a tunnel's packets go on their way, if it is none of several.
pub(super) fn exit_of(tunnel: &Tunnel, to: Forward) -> Exit {
    let is = |kind: Kind| to.kind() == kind as u8;
    match tunnel.key.ends {
        Ends::V4 { .. } if is(Kind::Rewrite) => Exit::Rewrite4,
        Ends::V6 { .. } if is(Kind::Rewrite) => Exit::Rewrite6,
        _ if is(Kind::Glean) => Exit::Resolve,
        _ if is(Kind::Local) => Exit::ToOurselves,
        _ => Exit::NoRoute,
    }
}

impl Node for TunnelEncap {
    const NAME: &'static str = "tunnel-encap";
    const ABOUT: &'static str =
        "wraps what leaves by VXLAN, Geneve, GRE, IP in IP and ERSPAN tunnels";
    const BEGINS_AGAIN: bool = true;
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            vrfs: setup.shared.vrfs.clone(),
            adjacencies: Arc::clone(&setup.shared.adjacencies),
            counters: Arc::clone(&setup.counters),
            members: MemberPicker::new(setup),
            groups: Arc::clone(&setup.shared.groups),
            count: NextHopCount::new(setup),
            different: Different::new(),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let (interfaces, vrfs) = (self.interfaces.get(context), self.vrfs.get(context));
        let way_of = |tx: u16| {
            let headers = interfaces.tunnel_headers(tx)?;
            Some(Way::new(headers, headers.tunnel.way(vrfs)))
        };
        let tx = frame.tx()[0];
        let way = way_of(tx);
        if let Some(way) = &way
            && self.takes_all(frame, way)
        {
            let (packets, bytes) = (frame.len() as u64, frame.bytes_of(&Group::All));
            if let Some(whole) = self.whole(frame, way, interfaces)
                && self.different.put(frame, &whole)
            {
                frame.rx_mut().fill(tx);
                frame.tx_mut().fill(whole.interface());
                frame.adjacencies_mut().fill(way.to.id());
                if let Some(next_hop) = self.adjacencies.entry(AdjacencyId(way.to.id())) {
                    next_hop.mark_used();
                }
                self.counters.count_sent(tx, packets, bytes);
                return exits.all(Exit::Output);
            }
            let sent = self.send_all(frame, exits, way, interfaces, context.now_tsc);
            self.counters.count_sent(tx, sent.packets, sent.bytes);
            return;
        }
        self.send_each(frame, exits, interfaces, vrfs, context.now_tsc);
    }
}

/// What was sent of a frame.
struct Sent {
    packets: u64,
    bytes: u64,
}

impl TunnelEncap {
    /// Sends packets that all leave by one way, which is as wide as the longest of them.
    #[inline(always)]
    fn send_all(
        &self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        way: &Way<'_>,
        interfaces: &Interfaces,
        now_tsc: u64,
    ) -> Sent {
        let mut all = Sent { packets: frame.len() as u64, bytes: frame.bytes_of(&Group::All) };
        exits.each(frame, |packet| {
            let sent = self.send(packet, way, interfaces, now_tsc);
            sent.unwrap_or_else(|exit| {
                all.packets -= 1;
                all.bytes -= packet.length() as u64;
                exit
            })
        });
        all
    }

    /// Sends packets that leave by several ways, or of which some are longer than theirs takes.
    /// Apart from those that do not: what is asked of a large frame is a call.
    #[inline(never)]
    fn send_each(
        &self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        interfaces: &Interfaces,
        vrfs: &Vrfs,
        now_tsc: u64,
    ) {
        let way_of = |tx: u16| {
            let headers = interfaces.tunnel_headers(tx)?;
            Some(Way::new(headers, headers.tunnel.way(vrfs)))
        };
        let mut tx = frame.tx()[0];
        let mut way = way_of(tx);
        let underlay =
            Underlay { interfaces, vrfs, adjacencies: &self.adjacencies, groups: &self.groups };
        let mut settling = Settling::new(underlay);
        exits.each(frame, |packet| {
            if packet.tx() != tx {
                tx = packet.tx();
                way = way_of(tx);
            }
            let Some(way) = &way else { return Exit::NoTunnel };
            if way.headers.tunnel.is_settled() {
                return self.send_one(packet, way, interfaces, now_tsc);
            }
            match settling.of_packet(packet, &way.headers.tunnel) {
                Ok((headers, to)) => {
                    self.send_one(packet, &Way::new(headers, *to), interfaces, now_tsc)
                }
                Err(exit) => *exit,
            }
        });
    }

    /// Sends a packet, and counts it if it will be sent.
    fn send_one(
        &self,
        packet: &mut PacketView<'_>,
        way: &Way<'_>,
        interfaces: &Interfaces,
        now_tsc: u64,
    ) -> Exit {
        let (tx, bytes) = (packet.tx(), packet.length() as u64);
        match self.send(packet, way, interfaces, now_tsc) {
            Ok(exit) => {
                if matches!(exit, Exit::Rewrite4 | Exit::Rewrite6)
                    && takes_packet(&self.adjacencies, packet)
                {
                    self.counters.count_sent(tx, 1, bytes);
                }
                exit
            }
            Err(exit) => exit,
        }
    }

    /// The headers of a way in one piece with the link's, where that is to be had: what is counted
    /// by its next hop is so by the node behind, and copies of what others carry stay known by it.
    #[inline(always)]
    fn whole(&self, frame: &Frame, way: &Way<'_>, interfaces: &Interfaces) -> Option<WholeHeaders> {
        if self.count.is_on() || interfaces.some_are_for_copies(frame.rx()) {
            return None;
        }
        WholeHeaders::new(way.headers, self.adjacencies.entry(AdjacencyId(way.to.id()))?)
    }

    /// Whether all packets of a frame leave by one way, and it is as wide as that.
    fn takes_all(&self, frame: &Frame, way: &Way<'_>) -> bool {
        alike(frame.tx()).is_some()
            && way.headers.tunnel.is_settled()
            && matches!(way.exit, Exit::Rewrite4 | Exit::Rewrite6)
            && takes(&self.adjacencies, way.to.id(), frame.longest() as usize + way.headers.bytes())
    }

    /// The next hop of several that a wrapped packet takes, by the flow inside.
    #[inline(never)]
    fn member(&self, packet: &[u8], way: &Way<'_>, came_by: u16) -> Forward {
        let tunnel = &way.headers.tunnel;
        let inside = packet.get(way.headers.bytes()..).unwrap_or_default();
        // The headers know it already, but where there is one next hop nobody else asks.
        let (flow, inside) = match tunnel.inside {
            Inside::Packets => (flow_of_packet(inside), Some(inside)),
            Inside::Frames => (flow_of_frame(inside), packet_of_frame(inside)),
        };
        self.members.pick_inside(GroupId(way.to.id()), flow, inside, came_by)
    }

    /// Wraps a packet, and names its way; what is dropped is an error.
    #[inline(always)]
    fn send(
        &self,
        packet: &mut PacketView<'_>,
        way: &Way<'_>,
        interfaces: &Interfaces,
        now_tsc: u64,
    ) -> Result<Exit, Exit> {
        let tunnel = &way.headers.tunnel;
        // What was in front of the frame is of no use any more, the tag it came with included.
        packet.start_here();
        if tunnel.inside == Inside::Packets && !matches!(ip::version(packet.header()), 4 | 6) {
            return Err(Exit::NoPacket);
        }
        if !packet.prepend(way.headers.bytes()) {
            return Err(Exit::NoHeadroom);
        }
        let told = packet.adjacency();
        way.headers.write_all(packet.header_mut(), told, now_tsc);
        // Packets of our own have come from the tunnel: errors about them are known by that.
        let (tx, came_by) = (packet.tx(), packet.rx());
        if !interfaces.is_for_copies(came_by) {
            packet.set_rx(tx);
        }
        if way.to.kind() == Kind::Group as u8 {
            let member = self.member(packet.header(), way, came_by);
            packet.set_adjacency(member.id());
            return Ok(Way::new(way.headers, member).exit);
        }
        packet.set_adjacency(way.to.id());
        Ok(way.exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{FlowRule, Link, VrfId, Wrap, flow_field};
    use crate::testing::{
        FAR, GRE, GRE_LINK, HOST, HOST_MAC, INCOMPLETE, RED, TO_GATEWAY, TO_GATEWAY6, TO_HOST,
        TO_HOST6, US, VNI, VXLAN, VXLAN6, World, member,
    };
    use graph::harness::NodeHarness;
    use std::net::Ipv4Addr;
    use std::sync::atomic::{AtomicU64, Ordering};
    use wire::craft;

    fn run(consumed: usize, tx: u16, times: usize) -> (String, Vec<u8>) {
        let inner = craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).payload(&[7; 46]).build();
        let mut node = NodeHarness::<TunnelEncap>::new(&World::new().setup).unwrap();
        let mut bytes = vec![0; consumed];
        bytes.extend(&inner);
        let out = node.run_prepared(&[bytes], 9, consumed, |frame| {
            frame.tx_mut()[0] = tx;
            for _ in 1..times {
                frame.view(0).start_here();
                assert!(frame.view(0).prepend(50));
            }
        });
        let is_sent = ["output", "rewrite4", "rewrite6"].contains(&&*out[0].exit);
        assert!(!is_sent || out[0].header.ends_with(&inner));
        (out[0].exit.clone(), out[0].header.clone())
    }

    #[test]
    fn a_frame_is_wrapped_whatever_was_in_front_of_it() {
        let (exit, packet) = run(0, VXLAN, 1);
        assert_eq!((exit.as_str(), packet.len(), packet[14]), ("output", 60 + 50, 0x45));
        let (exit, packet) = run(0, VXLAN6, 1);
        assert_eq!((exit.as_str(), packet.len(), packet[0] >> 4), ("rewrite6", 60 + 56, 6));
        assert_eq!(run(4, VXLAN6, 1).1, packet);
    }

    #[test]
    fn tunnels_inside_each_other_come_to_an_end() {
        assert_eq!(run(0, VXLAN, 3).0, "no-headroom");
    }

    #[test]
    fn the_link_header_is_written_by_the_node_behind_where_there_is_no_room_or_it_is_counted() {
        let world = World::new();
        let frames = [vec![7; 60], vec![7; 70]];
        let sent = |world: &World| {
            let mut node = NodeHarness::<TunnelEncap>::new(&world.setup).unwrap();
            let out = node.run_prepared(&frames, 0, 0, |frame| {
                frame.tx_mut().fill(VXLAN);
                // Room for 40 octets: more than the tunnel's, less than with the link's.
                let mut packet = frame.view(1);
                while packet.prepend(1) {}
                assert!(packet.advance(40));
            });
            [0, 1].map(|slot: usize| (out[slot].exit.clone(), out[slot].header.len()))
        };
        let wide = 70 + packet::HEADROOM_BYTES;
        assert_eq!(
            sent(&world),
            [("rewrite4".to_owned(), 60 + 36), ("rewrite4".to_owned(), wide - 40 + 36)]
        );
        world.setup.shared.counts_next_hops.store(true, Ordering::Relaxed);
        let exits = sent(&world).map(|(exit, _)| exit);
        assert_eq!(exits, ["rewrite4", "rewrite4"]);
        let counted = &world.setup.counters.interfaces[usize::from(VXLAN)];
        assert_eq!(counted.tx_packets.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn a_tunnel_that_is_gone_takes_nothing() {
        assert_eq!(run(0, 0, 1).0, "no-tunnel");
    }

    /// What is counted as sent by the VXLAN tunnel of frames that leave by it on this way.
    fn counted(world: &World, lengths: &[usize], tx: &[u16]) -> (u64, u64) {
        let frames: Vec<_> = lengths.iter().map(|length| vec![7; *length]).collect();
        let mut node = NodeHarness::<TunnelEncap>::new(&world.setup).unwrap();
        node.run_prepared(&frames, 0, 0, |frame| frame.tx_mut().copy_from_slice(tx));
        let counted = &world.setup.counters.interfaces[usize::from(VXLAN)];
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (read(&counted.tx_packets), read(&counted.tx_bytes))
    }

    #[test]
    fn what_leaves_is_counted_and_what_is_dropped_later_is_not() {
        let world = World::new();
        assert_eq!(counted(&world, &[60, 100], &[VXLAN; 2]), (2, 160));
        assert_eq!(counted(&world, &[60, 100, 70], &[VXLAN, VXLAN6, VXLAN]), (4, 290));
        // The way carries 1500 octets, 36 of which are the tunnel's.
        assert_eq!(counted(&World::new(), &[1464], &[VXLAN]), (1, 1464));
        assert_eq!(counted(&World::new(), &[1465, 60], &[VXLAN; 2]), (1, 60));
        for (remote, sent) in [
            (FAR, (1, 60)),
            ([10, 6, 0, 1], (1, 60)),
            ([10, 4, 0, 1], (0, 0)),
            ([198, 51, 100, 77], (0, 0)),
            (US, (0, 0)),
            ([172, 16, 0, 1], (0, 0)),
        ] {
            let mut world = World::new();
            way_to(&mut world, remote, VrfId::DEFAULT);
            let counted = &world.setup.counters.interfaces[usize::from(VXLAN)];
            counted.tx_packets.store(0, Ordering::Relaxed);
            counted.tx_bytes.store(0, Ordering::Relaxed);
            assert_eq!(self::counted(&world, &[60], &[VXLAN]), sent, "{remote:?}");
        }
    }

    /// Where packets of the VXLAN tunnel go whose other end is this.
    fn way_to(world: &mut World, remote: [u8; 4], underlay: VrfId) -> (String, u32) {
        world.change_interface(VXLAN, |row| {
            let ends = Ends::new(Ipv4Addr::from(US).into(), Ipv4Addr::from(remote).into());
            let tunnel = Tunnel::new(Wrap::vxlan(VNI), ends.unwrap());
            row.link = Link::Tunnel(Tunnel { underlay, ..tunnel });
        });
        let frame = craft::ethernet(HOST_MAC, [4; 6]).ipv4(HOST, FAR).udp(1, 2).build();
        let mut node = NodeHarness::<TunnelEncap>::new(&world.setup).unwrap();
        let out = node.run_prepared(&[frame], 0, 0, |frame| frame.tx_mut()[0] = VXLAN).remove(0);
        (out.exit, out.adjacency)
    }

    #[test]
    fn the_way_is_that_to_the_other_end() {
        let mut world = World::new();
        for (remote, exit, id) in [
            (FAR, "output", TO_GATEWAY),
            ([10, 4, 0, 1], "rewrite4", INCOMPLETE),
            ([198, 51, 100, 77], "resolve", 1),
            (US, "to-ourselves", 0),
            ([10, 1, 0, 1], "no-route", 0),
            ([172, 16, 0, 1], "no-route", 0),
        ] {
            assert_eq!(way_to(&mut world, remote, VrfId::DEFAULT), (exit.to_owned(), id));
        }
        let (exit, id) = way_to(&mut world, [10, 6, 0, 1], VrfId::DEFAULT);
        assert!(exit == "rewrite4" && [TO_HOST, TO_GATEWAY].contains(&id), "a member of the group");
    }

    #[test]
    fn the_way_is_looked_for_in_the_underlays_vrf() {
        let mut world = World::new();
        let to_host = Forward::new(Kind::Rewrite as u8, TO_HOST);
        world.add_red().ip4.insert("10.0.0.0/8".parse().unwrap(), to_host).unwrap();
        assert_eq!(way_to(&mut world, FAR, RED), ("output".to_owned(), TO_HOST));
        // Where the tunnel's own packets are is nothing that what is inside is asked for.
        world.change_interface(VXLAN, |row| row.vrf = RED);
        assert_eq!(way_to(&mut world, FAR, VrfId::DEFAULT), ("output".to_owned(), TO_GATEWAY));
        assert_eq!(way_to(&mut world, FAR, VrfId(9)).0, "no-route");
    }

    /// How many of 600 flows in tunnel `id` go to the first of two next hops.
    fn to_first(world: &mut World, id: u16, frame: impl Fn(u16) -> Vec<u8>) -> usize {
        let groups = &world.setup.shared.groups;
        groups.set_members(GroupId(0), &[member(TO_HOST, 1), member(TO_GATEWAY, 1)]).unwrap();
        groups.set_members(GroupId(1), &[member(TO_HOST6, 1), member(TO_GATEWAY6, 1)]).unwrap();
        let far6: std::net::Ipv6Addr = "2001:db8:a:6::1".parse().unwrap();
        world.change_interface(id, |row| {
            let Link::Tunnel(tunnel) = &mut row.link else { unreachable!() };
            tunnel.key.ends = match tunnel.key.ends {
                Ends::V4 { local, .. } => Ends::V4 { local, remote: 0x0a06_0001 },
                Ends::V6 { local, .. } => Ends::V6 { local, remote: far6.into() },
            };
        });
        let mut node = NodeHarness::<TunnelEncap>::new(&world.setup).unwrap();
        let frames: Vec<_> = (0..600).map(frame).collect();
        let vectors = frames
            .chunks(200)
            .flat_map(|frames| node.run_prepared(frames, 0, 0, |frame| frame.tx_mut().fill(id)));
        let first = vectors.filter(|out| {
            assert!(out.exit.starts_with("rewrite"), "{}", out.exit);
            [TO_HOST, TO_HOST6].contains(&out.adjacency)
        });
        first.count()
    }

    #[test]
    fn flows_in_a_tunnel_share_the_next_hops_of_its_way() {
        let frame = |port| craft::ethernet(HOST_MAC, [4; 6]).ipv4(HOST, FAR).udp(port, 2).build();
        let tagged =
            |port| craft::ethernet(HOST_MAC, [4; 6]).vlan(7).ipv4(HOST, FAR).udp(port, 2).build();
        let packet = |port| craft::ipv4(HOST, FAR).udp(port, 2).build();
        for id in [VXLAN, VXLAN6, GRE] {
            for first in
                [to_first(&mut World::new(), id, frame), to_first(&mut World::new(), id, tagged)]
            {
                assert!((240..=360).contains(&first), "{first} of 600 in {id}");
            }
        }
        let first = to_first(&mut World::new(), GRE_LINK, packet);
        assert!((240..=360).contains(&first), "{first} of 600");
        // Pieces have no ports: all go one way.
        let piece = |port| craft::ipv4(HOST, FAR).fragment(0, true).udp(port, 2).build();
        assert!([0, 600].contains(&to_first(&mut World::new(), GRE_LINK, piece)));
    }

    #[test]
    fn the_fields_that_tell_flows_apart_do_so_in_tunnels() {
        let bits = flow_field::SOURCE | flow_field::DESTINATION;
        let ports = |port| craft::ipv4(HOST, FAR).udp(port, 2).build();
        let hosts =
            |last: u16| craft::ipv4([10, 0, (last >> 8) as u8, last as u8], FAR).udp(1, 2).build();
        let chosen = || {
            let world = World::new();
            world.setup.shared.flows.set(FlowRule { bits, ..FlowRule::USUAL });
            world
        };
        assert!([0, 600].contains(&to_first(&mut chosen(), GRE_LINK, ports)));
        let first = to_first(&mut chosen(), GRE_LINK, hosts);
        assert!((240..=360).contains(&first), "{first} of 600");
    }
}
