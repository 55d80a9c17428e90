//! The usual tunnel's headers and the link's in one piece, for a vector that leaves by one next
//! hop.
//!
//! ```text
//!  by two nodes   tunnel_encap ─▶ │ IPv4 │ UDP │ VXLAN │ frame …   ip4_rewrite ─▶ │ link │ IPv4, TTL − 1 │ …
//!  in one piece   tunnel_encap ─▶ │ link │ IPv4, TTL − 1 │ UDP │ VXLAN │ frame …
//! ```
//! What is the same of all packets is written once, and copied in front of each. What is not, their
//! lengths, flows, marks and sums, is worked out for many at once, from arrays. Octet for octet it
//! is what both nodes would write, as a test says.

use super::{FIRST_PORT, TunnelHeaders, WRAP_BYTES};
use crate::ip::OWN_TTL;
use crate::tables::{Ends, Wrap};
use crate::tunnel::inner::{Marks, flow_of_frame, flow_of_words};
use fib::adjacency::AdjacencyEntry;
use packet::{Frame, VECTOR, vectorized};
use wire::ethernet::{self, ethertype};
use wire::ip::protocol;
use wire::{ipv4, udp};

const LINK: usize = ethernet::Header::LEN;
const IP: usize = ipv4::Header::LEN;
/// Octets of all headers.
const BYTES: usize = LINK + IP + WRAP_BYTES;
/// Octets of a frame that its flow and its marks are in, if it is the usual one.
const INSIDE: usize = LINK + IP + 4;

/// The headers of a tunnel, as they leave by a next hop.
pub(in crate::tunnel) struct WholeHeaders {
    octets: [u8; BYTES],
    own: Own,
    interface: u16,
}

/// What of them goes into the words that are different.
#[derive(Clone, Copy)]
struct Own {
    tos: u32,
    /// Bits of what is inside that are taken over.
    inner_tos: u32,
    /// 0: that of what is inside.
    ttl: u32,
    /// Sum of the IPv4 header but for what is different.
    sum: u32,
    udp_port: u32,
}

impl WholeHeaders {
    /// Those of VXLAN and Geneve over IPv4 and Ethernet, without a checksum of their datagrams.
    /// None of other tunnels, and none where packets wait for the next hop's MAC address, or are
    /// not to go as far as that.
    pub(in crate::tunnel) fn new(
        headers: &TunnelHeaders,
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
        let mut octets = [0; BYTES];
        octets[..LINK].copy_from_slice(&next_hop.rewrite_bytes()[..LINK]);
        octets[LINK..][..IP].copy_from_slice(&headers.ip[..IP]);
        octets[LINK + IP..].copy_from_slice(&headers.wrap);
        let own = Own {
            tos: headers.tos.into(),
            inner_tos: headers.inner_tos.into(),
            ttl: headers.ttl.into(),
            sum: u32::from(!headers.sum.checksum()),
            udp_port: u16::from_be_bytes([headers.wrap[2], headers.wrap[3]]).into(),
        };
        Some(Self { octets, own, interface: fields.interface() })
    }

    /// The interface that packets leave by.
    pub(in crate::tunnel) fn interface(&self) -> u16 {
        self.interface
    }
}

/// What is different of the headers of a vector's packets.
pub(in crate::tunnel) struct Different {
    /// Of the frames inside: class, fragment, hops and protocol, addresses, ports.
    inside: [[u32; VECTOR]; 5],
    flows: [u32; VECTOR],
    tos: [u32; VECTOR],
    ttl: [u32; VECTOR],
    /// As they are written: the first word and the third of the IPv4 header, both of UDP's.
    words: [[u32; VECTOR]; 4],
}

impl Different {
    /// Nothing yet.
    pub(in crate::tunnel) fn new() -> Box<Self> {
        let none = [0; VECTOR];
        let (inside, words) = ([none; 5], [none; 4]);
        Box::new(Self { inside, flows: none, tos: none, ttl: none, words })
    }

    /// Puts the headers in front of all packets; false, and nothing done, where a buffer has no
    /// room for them, or others may hold it.
    #[inline(always)]
    pub(in crate::tunnel) fn put(&mut self, frame: &mut Frame, whole: &WholeHeaders) -> bool {
        if self.read(frame) {
            vectorized(|| self.look_inside(frame.len()));
        } else {
            self.look_inside_each(frame);
        }
        if !frame.prepend(BYTES as u16) {
            return false;
        }
        let lengths = frame.lengths();
        vectorized(|| self.work_out(whole.own, lengths));
        frame.each_front_mut(|slot, _, front| self.write(slot, whole, front))
    }

    /// Reads what is inside, if all are plain IPv4 packets without tags.
    #[inline(always)]
    fn read(&mut self, frame: &Frame) -> bool {
        let mut wrong = 0;
        let all = frame.each_front::<INSIDE>(|slot, front| {
            let at = |offset: usize| {
                let octets = front[offset..].first_chunk().copied().unwrap_or_default();
                u32::from_ne_bytes(octets)
            };
            // The ethertype and the first two octets of the header.
            wrong |=
                (u32::from_be(at(LINK - 2)) ^ u32::from(ethertype::IPV4) << 16 ^ PLAIN) & !0xff;
            let words = [at(LINK - 2), at(LINK + 6), at(LINK + 12), at(LINK + 16), at(LINK + IP)];
            for (inside, word) in self.inside.iter_mut().zip(words) {
                inside[slot % VECTOR] = word;
            }
        });
        all && wrong == 0
    }

    /// The flows and marks of what was read.
    #[inline(always)]
    fn look_inside(&mut self, count: usize) {
        let count = count.min(VECTOR);
        let [class, reach, source, destination, ports] =
            self.inside.each_ref().map(|words| &words[..count]);
        let (flows, tos, ttl) =
            (&mut self.flows[..count], &mut self.tos[..count], &mut self.ttl[..count]);
        for slot in 0..count {
            let reach = u32::from_be(reach[slot]);
            let number = reach & 0xff;
            let has_ports = (number == u32::from(protocol::TCP))
                | (number == u32::from(protocol::UDP))
                | (number == u32::from(protocol::SCTP));
            let is_whole = reach >> 16 & FRAGMENT == 0;
            let ports = if has_ports & is_whole { u32::from_be(ports[slot]) } else { 0 };
            let (from, to) = (u32::from_be(source[slot]), u32::from_be(destination[slot]));
            flows[slot] = flow_of_words(from, to, number, ports);
            tos[slot] = u32::from_be(class[slot]) & 0xff;
            ttl[slot] = reach >> 8 & 0xff;
        }
    }

    /// The flows and marks of all packets, whatever they are.
    #[inline(never)]
    fn look_inside_each(&mut self, frame: &mut Frame) {
        frame.each(|packet| {
            let (slot, marks) = (packet.index() % VECTOR, Marks::of_frame(packet.header()));
            self.flows[slot] = flow_of_frame(packet.header());
            (self.tos[slot], self.ttl[slot]) = (marks.tos.into(), marks.ttl.into());
        });
    }

    /// The words of packets that have these lengths with all headers.
    #[inline(always)]
    fn work_out(&mut self, own: Own, lengths: &[u32]) {
        let count = lengths.len().min(VECTOR);
        let [first, third, ports, length] = self.words.each_mut().map(|words| &mut words[..count]);
        let (flows, tos, ttl) = (&self.flows[..count], &self.tos[..count], &self.ttl[..count]);
        for slot in 0..count {
            let total = (lengths[slot] - LINK as u32) & 0xffff;
            let tos = own.tos | tos[slot] & own.inner_tos;
            let inside = if ttl[slot] == 0 { OWN_TTL.into() } else { (ttl[slot] + 1).min(255) };
            // It leaves, and that counts.
            let ttl = (if own.ttl == 0 { inside } else { own.ttl }) - 1;
            let sum = own.sum + total + tos + (ttl << 8);
            let sum = (sum & 0xffff) + (sum >> 16);
            let sum = (sum & 0xffff) + (sum >> 16);
            let version = u32::from(PLAIN_VERSION) << 24;
            first[slot] = (version | tos << 16 | total).to_be();
            third[slot] = (ttl << 24 | u32::from(protocol::UDP) << 16 | !sum & 0xffff).to_be();
            let source = u32::from(FIRST_PORT) | flows[slot] & 0x3fff;
            ports[slot] = (source << 16 | own.udp_port).to_be();
            length[slot] = (total.wrapping_sub(IP as u32) << 16).to_be();
        }
    }

    #[inline(always)]
    fn write(&self, slot: usize, whole: &WholeHeaders, front: &mut [u8; BYTES]) {
        copy(&whole.octets, front);
        let places = [LINK, LINK + 8, LINK + IP, LINK + IP + udp::Header::LEN - 4];
        for (words, place) in self.words.iter().zip(places) {
            front[place..][..4].copy_from_slice(&words[slot % VECTOR].to_ne_bytes());
        }
    }
}

/// Version 4 and a header without options.
const PLAIN_VERSION: u8 = 0x45;
/// The same in the second octet of a word.
const PLAIN: u32 = (PLAIN_VERSION as u32) << 8;
/// What is not zero in the flags and the offset of a fragment.
const FRAGMENT: u32 = 0x3fff;

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
    use packet::{HeapPool, Pool};
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

    /// Those whose flow and marks are worked out together.
    fn plain_frames() -> Vec<Vec<u8>> {
        let is_plain = |frame: &Vec<u8>| frame.len() >= INSIDE && frame[12..15] == [8, 0, 0x45];
        let mut plain: Vec<_> = frames().into_iter().filter(is_plain).collect();
        let link = || craft::ethernet([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2]);
        for number in 0..=255 {
            plain.push(link().protocol(number).payload(&[number; 8]).build());
        }
        plain.truncate(VECTOR);
        plain
    }

    /// The packets that a vector of these frames becomes.
    fn in_one_piece(whole: &WholeHeaders, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let pool = HeapPool::new(512, 2048).unwrap();
        let mut cache = pool.cache();
        let mut frame = Frame::new();
        frames.iter().for_each(|it| frame.push(cache.copy_of(it).unwrap(), 0));
        assert!(Different::new().put(&mut frame, whole));
        let packets = (0..frames.len()).map(|slot| frame.view(slot).header().to_vec()).collect();
        cache.release(frame.take_all());
        packets
    }

    #[test]
    fn they_are_octet_for_octet_what_two_nodes_write() {
        let world = World::new();
        let next_hop = world.setup.shared.adjacencies.entry(AdjacencyId(TO_GATEWAY)).unwrap();
        for wrap in [Wrap::vxlan(42), Wrap::Vxlan { vni: 9, port: 8472 }, Wrap::geneve(7)] {
            for (dscp, ttl) in [(None, Some(64)), (Some(10), None), (None, Some(1)), (None, None)] {
                let headers = TunnelHeaders::new(Tunnel { dscp, ttl, ..Tunnel::new(wrap, V4) });
                let whole = WholeHeaders::new(&headers, next_hop).unwrap();
                let by_two_nodes = |frame: &Vec<u8>| {
                    let mut packet = [&[0; IP + WRAP_BYTES][..], frame].concat();
                    headers.write_all(&mut packet, 0, 0);
                    ipv4::HeaderMut::new(&mut packet).unwrap().decrement_ttl();
                    [&next_hop.rewrite_bytes()[..LINK], &packet].concat()
                };
                // All kinds in one vector, and those alone that are worked out at once.
                for frames in [frames(), plain_frames()] {
                    let wanted: Vec<_> = frames.iter().map(by_two_nodes).collect();
                    assert_eq!(in_one_piece(&whole, &frames), wanted, "{wrap:?} {dscp:?} {ttl:?}");
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
