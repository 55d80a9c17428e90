//! The usual tunnel's headers and the link's in one piece, for packets that all leave by one next
//! hop.
//!
//! ```text
//!  by two nodes   tunnel_encap ─▶ │ IPv4 │ UDP │ VXLAN │ frame …   ip4_rewrite ─▶ │ link │ IPv4, TTL − 1 │ …
//!  in one piece   tunnel_encap ─▶ │ link │ IPv4, TTL − 1 │ UDP │ VXLAN │ frame …
//! ```
//! What is the same of all packets is written once, and copied in front of each. Octet for octet it
//! is what both nodes would write, as a test says.

use super::{FIRST_PORT, TunnelHeaders, WRAP_BYTES};
use crate::tables::{Ends, Wrap};
use crate::tunnel::inner::{Marks, flow_of_frame};
use fib::adjacency::AdjacencyEntry;
use packet::PacketView;
use wire::{checksum, ethernet, ipv4, udp};

const LINK: usize = ethernet::Header::LEN;
const IP: usize = ipv4::Header::LEN;
/// Octets of all headers.
const BYTES: usize = LINK + IP + WRAP_BYTES;

/// See the module.
pub(in crate::tunnel) struct WholeHeaders<'a> {
    /// With the marks of the last packet, which are nearly always the next one's, too.
    octets: [u8; BYTES],
    marks: (u8, u8),
    /// Of the IPv4 header with those marks, and without its length.
    sum: checksum::Sum,
    headers: &'a TunnelHeaders,
    interface: u16,
}

impl<'a> WholeHeaders<'a> {
    /// Those of VXLAN and Geneve over IPv4 and Ethernet, without a checksum of their datagrams.
    /// None of other tunnels, and none where packets wait for the next hop's MAC address, or are
    /// not to go as far as that.
    pub(in crate::tunnel) fn new(
        headers: &'a TunnelHeaders,
        next_hop: &AdjacencyEntry,
    ) -> Option<Self> {
        let tunnel = &headers.tunnel;
        let is_usual = matches!(tunnel.key.ends, Ends::V4 { .. })
            && matches!(tunnel.key.wrap, Wrap::Vxlan { .. } | Wrap::Geneve { .. })
            && !tunnel.is_summed()
            && headers.ttl != 1;
        let fields = next_hop.fields();
        if !is_usual || !fields.is_complete() || fields.rewrite_len() != LINK {
            return None;
        }
        next_hop.mark_used();
        let mut octets = [0; BYTES];
        octets[..LINK].copy_from_slice(&next_hop.rewrite_bytes()[..LINK]);
        octets[LINK..][..IP].copy_from_slice(&headers.ip[..IP]);
        octets[LINK + IP..].copy_from_slice(&headers.wrap);
        let interface = fields.interface();
        let mut new = Self { octets, marks: (0, 0), sum: headers.sum, headers, interface };
        new.mark(new.marks);
        Some(new)
    }

    /// Puts them in front of a frame, which leaves by the next hop's interface; false where the
    /// buffer has no room for them.
    #[inline(always)]
    pub(in crate::tunnel) fn put(&mut self, packet: &mut PacketView<'_>) -> bool {
        if !packet.prepend(BYTES) {
            return false;
        }
        packet.set_tx(self.interface);
        if let Some((front, inside)) = packet.header_mut().split_first_chunk_mut() {
            self.write(front, inside);
        }
        true
    }

    #[inline(always)]
    fn write(&mut self, front: &mut [u8; BYTES], inside: &[u8]) {
        let flow = flow_of_frame(inside);
        let marks = self.headers.marks(Marks::of_frame(inside));
        if marks != self.marks {
            self.mark(marks);
        }
        let length = (IP + WRAP_BYTES + inside.len()) as u16;
        copy(&self.octets, front);
        if let Some(mut header) = ipv4::HeaderMut::new(&mut front[LINK..LINK + IP]) {
            header.set_total_len(length);
            header.set_checksum(self.sum.u16(length).checksum());
        }
        if let Some(mut udp) = udp::HeaderMut::new(&mut front[LINK + IP..]) {
            udp.set_source_port(FIRST_PORT | (flow & 0x3fff) as u16);
            udp.set_length(length - IP as u16);
        }
    }

    #[cold]
    #[inline(never)]
    fn mark(&mut self, (tos, ttl): (u8, u8)) {
        self.marks = (tos, ttl);
        // It leaves, and that counts.
        let ttl = ttl.wrapping_sub(1);
        self.sum = self.headers.sum.u16(tos.into()).u16(u16::from(ttl) << 8);
        if let Some(mut header) = ipv4::HeaderMut::new(&mut self.octets[LINK..LINK + IP]) {
            header.set_tos(tos);
            header.set_ttl(ttl);
        }
    }
}

/// Copies headers as two overlapping pieces: their odd length would be a call.
#[inline(always)]
fn copy(from: &[u8; BYTES], to: &mut [u8; BYTES]) {
    const PIECE: usize = 32;
    const { assert!(PIECE <= BYTES && BYTES <= 2 * PIECE) };
    let (Some(first), Some(last)) = (from.first_chunk::<PIECE>(), from.last_chunk::<PIECE>())
    else {
        return;
    };
    to[..PIECE].copy_from_slice(first);
    to[BYTES - PIECE..].copy_from_slice(last);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{Numbered, Tunnel};
    use crate::testing::{INCOMPLETE, TO_GATEWAY, World};
    use fib::adjacency::{Adjacency, AdjacencyId, MAX_REWRITE};
    use wire::craft;

    const V4: Ends = Ends::V4 { local: 0xc000_0201, remote: 0x0a00_0001 };

    /// What tunnels carry: packets of both families with marks and of all reaches, with tags and
    /// without, pieces, what is no packet, and what is hardly a frame.
    fn frames() -> Vec<Vec<u8>> {
        let link = || craft::ethernet([2; 6], [4; 6]);
        let mut frames = vec![vec![], vec![7; 13], vec![8; 14]];
        for (ttl, tos) in [(0, 0), (1, 0xb8), (9, 0xbb), (64, 3), (254, 0xff), (255, 1)] {
            let four = || link().ipv4([10, 0, 0, 1], [10, 0, 0, 2]).ttl(ttl).tos(tos);
            frames.push(four().udp(3, 4).build());
            frames.push(four().udp(5, 6).payload(&[9; 1400]).build());
            frames.push(four().fragment(8, true).udp(3, 4).build());
            frames.push(link().vlan(7).ipv4(1, 2).ttl(ttl).tos(tos).udp(3, 4).build());
            let six = craft::ipv6(1, 2).hop_limit(ttl).traffic_class(tos).udp(3, 4).build();
            frames.push([&link().ethertype(0x86dd).build()[..], &six].concat());
        }
        frames.push(craft::ethernet([2; 6], [255; 6]).arp_request([2; 6], 1, 2).build());
        // It says that it is IPv4, and is too short.
        frames.push([&link().ethertype(0x0800).build()[..14], &[0x45, 0xff, 3]].concat());
        frames
    }

    #[test]
    fn they_are_octet_for_octet_what_two_nodes_write() {
        let world = World::new();
        let next_hop = world.setup.shared.adjacencies.entry(AdjacencyId(TO_GATEWAY)).unwrap();
        for wrap in [Wrap::vxlan(42), Wrap::Vxlan { vni: 9, port: 8472 }, Wrap::geneve(7)] {
            for (dscp, ttl) in [(None, Some(64)), (Some(10), None), (None, Some(1)), (None, None)] {
                let headers = TunnelHeaders::new(Tunnel { dscp, ttl, ..Tunnel::new(wrap, V4) });
                let mut whole = WholeHeaders::new(&headers, next_hop).unwrap();
                for frame in frames() {
                    let mut packet = [&[0; IP + WRAP_BYTES][..], &frame].concat();
                    headers.write_all(&mut packet, 0, 0);
                    ipv4::HeaderMut::new(&mut packet).unwrap().decrement_ttl();
                    let wanted = [&next_hop.rewrite_bytes()[..LINK], &packet].concat();
                    let mut front = [0; BYTES];
                    whole.write(&mut front, &frame);
                    assert_eq!(front, wanted[..BYTES], "{wrap:?} {dscp:?} {ttl:?} {frame:x?}");
                }
            }
        }
    }

    #[test]
    fn other_tunnels_and_next_hops_have_none() {
        let world = World::new();
        let table = &world.setup.shared.adjacencies;
        let is_whole = |tunnel: Tunnel, id: u32| {
            let headers = TunnelHeaders::new(tunnel);
            WholeHeaders::new(&headers, table.entry(AdjacencyId(id)).unwrap()).is_some()
        };
        let usual = Tunnel::new(Wrap::vxlan(42), V4);
        assert!(is_whole(usual, TO_GATEWAY));
        assert!(!is_whole(usual, INCOMPLETE));
        let (next_hop, rewrite_len) = (std::net::Ipv4Addr::LOCALHOST.into(), 18);
        let tagged =
            Adjacency { interface: 7, mtu: 1500, next_hop, rewrite: [3; MAX_REWRITE], rewrite_len };
        let tagged = table.allocate(&tagged).unwrap();
        table.complete_as_is(tagged);
        assert!(!is_whole(usual, tagged.0));
        // What would be used up at our own next hop is told by it.
        assert!(!is_whole(Tunnel { ttl: Some(0), ..usual }, TO_GATEWAY));
        assert!(!is_whole(Tunnel { summed: true, ..usual }, TO_GATEWAY));
        for wrap in [Wrap::Gre(None), Wrap::Ip, Wrap::ByFlows(Numbered::Vxlan { port: 4789 })] {
            assert!(!is_whole(Tunnel::new(wrap, V4), TO_GATEWAY), "{wrap:?}");
        }
        let six = Ends::V6 { local: 7, remote: 8 };
        let summed = false;
        assert!(!is_whole(Tunnel { summed, ..Tunnel::new(Wrap::vxlan(42), six) }, TO_GATEWAY));
    }
}
