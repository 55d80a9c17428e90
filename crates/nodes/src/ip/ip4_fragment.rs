//! Cuts packets that are too long for their link (RFC 791 section 3.2, RFC 1812 section 4.2.2.7).
//!
//! ```text
//!  call 1   │ header │ piece 1 │ rest ............ │     piece 1 leaves as a packet of its own,
//!  call 2            │ header' │ piece 2 │ rest .. │     the rest gets a header and comes again
//!  call 3                      │ header' │ piece 3 │     what fits goes on as it is
//! ```
//! One piece a call: so a call makes at most one packet for each it was shown, the pieces leave in
//! order, and each byte is copied once. `header'` has fillers where options were that only the
//! first piece carries.

use crate::ip::{blank_options, sum_ip4_header};
use crate::tables::Setup;
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use graph::{Context, Exits, Node};
use packet::{Frame, PacketView};
use std::sync::Arc;
use wire::ipv4::{self, MORE_FRAGMENTS, OFFSET_MASK, option};

/// See the module.
pub struct Ip4Fragment {
    adjacencies: Arc<AdjacencyTable>,
}

graph::exits! {
    /// What becomes of a packet, or of what is left of it.
    pub enum Exit {
        /// It fits now.
        Rewrite => node "ip4-rewrite",
        /// Still too long: once more.
        Again => node "ip4-fragment",
        /// The link takes less than a header and eight bytes.
        MtuTooSmall => drop "Raise the port's `mtu`.",
        /// No buffer for a piece.
        NoBuffer => drop "Raise `buffers` in [memory]: `volley show memory` tells how many are in \
            use.",
    }
}

impl Node for Ip4Fragment {
    const NAME: &'static str = "ip4-fragment";
    const ABOUT: &'static str = "cuts packets that are too long for their link";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { adjacencies: Arc::clone(&setup.shared.adjacencies) }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        exits.each(frame, |packet| {
            let adjacency = self.adjacencies.entry(AdjacencyId(packet.adjacency()));
            let mtu = adjacency.map_or(0, |entry| usize::from(entry.fields().mtu()));
            if packet.length() <= mtu {
                return Exit::Rewrite;
            }
            cut(packet, mtu, context).unwrap_or_else(|exit| exit)
        });
    }
}

/// Sends the first piece and leaves the rest.
fn cut(packet: &mut PacketView<'_>, mtu: usize, context: &mut Context<'_>) -> Result<Exit, Exit> {
    let header = ipv4::Header::new(packet.header()).ok_or(Exit::MtuTooSmall)?;
    let (header_len, bits) = (header.header_len(), header.fragment_bits());
    // Offsets count eights, so all pieces but the last are whole eights long.
    let piece_len = mtu.saturating_sub(header_len) & !7;
    if piece_len == 0 {
        return Err(Exit::MtuTooSmall);
    }
    let front = &packet.header()[..header_len + piece_len];
    let copy = context.cache.copy_of(front).ok_or(Exit::NoBuffer)?;
    let (rx, adjacency) = (packet.rx(), packet.adjacency());
    match context.emit(copy, rx, Exit::Rewrite) {
        Ok(mut piece) => {
            piece.set_adjacency(adjacency);
            set_place(piece.header_mut(), header_len, bits | MORE_FRAGMENTS);
        }
        Err(copy) => {
            context.cache.release_one(copy);
            return Err(Exit::NoBuffer);
        }
    }
    let bytes = packet.header_mut();
    blank_options(&mut bytes[..header_len], |kind| kind & option::COPIED != 0);
    bytes.copy_within(..header_len, piece_len);
    packet.advance(piece_len);
    // The offset cannot overflow its 13 bits: the packet was at most 65,535 bytes long with it.
    let offset = (bits & OFFSET_MASK) + (piece_len / 8) as u16;
    set_place(packet.header_mut(), header_len, bits & !OFFSET_MASK | offset & OFFSET_MASK);
    Ok(Exit::Again)
}

/// Makes the header say how long the packet is and which piece.
fn set_place(packet: &mut [u8], header_len: usize, bits: u16) {
    let total_len = packet.len() as u16;
    if let Some(mut header) = ipv4::HeaderMut::new(packet) {
        header.set_total_len(total_len);
        header.set_fragment_bits(bits);
    }
    sum_ip4_header(&mut packet[..header_len]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FAR, HOST, NARROW, TO_GATEWAY, World};
    use graph::harness::NodeHarness;
    use wire::craft::{self, Craft, Ipv4};

    /// The pieces of `packet` in the order they leave, for the link with an MTU of 100.
    fn pieces(mut packet: Vec<u8>) -> Vec<Vec<u8>> {
        let mut node = NodeHarness::<Ip4Fragment>::new(&World::new().setup).unwrap();
        let mut pieces = Vec::new();
        loop {
            let narrow = |frame: &mut Frame| frame.adjacencies_mut().fill(NARROW);
            let out = node.run_prepared(&[packet], 0, 0, narrow).remove(0);
            if out.exit == "rewrite" {
                pieces.push(out.header);
                return pieces;
            }
            assert_eq!(out.exit, "again");
            for piece in node.emitted() {
                assert_eq!((piece.exit.as_str(), piece.adjacency), ("rewrite", NARROW));
                pieces.push(piece.header);
            }
            packet = out.header;
        }
    }

    fn original() -> Craft<Ipv4> {
        craft::ipv4(HOST, FAR).ttl(9).identification(77).protocol(17)
    }

    #[test]
    fn pieces_are_as_long_as_fits_in_whole_eights_and_in_order() {
        let data: Vec<u8> = (0..200).collect();
        let piece = |at: usize, end: usize, more| {
            original().fragment(at, more).payload(&data[at..end]).build()
        };
        let expected = [piece(0, 80, true), piece(80, 160, true), piece(160, 200, false)];
        assert_eq!(pieces(original().payload(&data).build()), expected);
    }

    #[test]
    fn a_fragment_is_cut_like_a_packet_and_keeps_its_place() {
        let data: Vec<u8> = (0..120).collect();
        let piece = |at: usize, end: usize| {
            original().fragment(800 + at, true).payload(&data[at..end]).build()
        };
        let whole = original().fragment(800, true).payload(&data).build();
        assert_eq!(pieces(whole), [piece(0, 80), piece(80, 120)]);
    }

    #[test]
    fn later_pieces_keep_only_the_options_that_are_copied() {
        let options = [7, 3, 4, 148, 4, 0, 0, 0];
        let pieces = pieces(original().raw_options(&options).payload_len(100).build());
        let kept: Vec<_> = pieces.iter().map(|p| ipv4::Packet::parse(p).unwrap().options).collect();
        assert_eq!(kept, [options, [1, 1, 1, 148, 4, 0, 0, 0]]);
    }

    #[test]
    fn what_fits_goes_on_unchanged() {
        let packet = original().payload_len(80).build();
        assert_eq!(pieces(packet.clone()), [packet]);
    }

    #[test]
    fn a_link_too_narrow_for_eight_bytes_takes_nothing() {
        let world = World::new();
        let narrowest = AdjacencyId(TO_GATEWAY);
        world.setup.shared.adjacencies.set_mtu(narrowest, 27);
        let mut node = NodeHarness::<Ip4Fragment>::new(&world.setup).unwrap();
        let to_gateway = |frame: &mut Frame| frame.adjacencies_mut().fill(TO_GATEWAY);
        let out = node.run_prepared(&[original().payload_len(80).build()], 0, 0, to_gateway);
        assert_eq!((out[0].exit.as_str(), node.emitted().len()), ("mtu-too-small", 0));
    }
}
