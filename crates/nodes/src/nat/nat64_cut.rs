//! Cuts packets of IPv4 that became too long for what every link of IPv6 takes (RFC 7915 section
//! 4.1): in IPv6 no router does that.
//!
//! ```text
//!  call 1   │ IPv6, fragment 48 │ piece 1 │ rest ... │     piece 1 leaves as a packet of its own,
//!  call 2             │ IPv6, fragment 48 │ piece 2 │     what fits goes on as it is
//! ```
//! One piece a call, as in `ip4-fragment`. The fragment header is there already.

use crate::tables::Setup;
use graph::{Context, Exits, Node};
use packet::{Frame, PacketView};
use wire::ipv6::extension::FragmentMut;
use wire::ipv6::{self, MIN_MTU, extension::Fragment};

/// See the module.
pub struct Nat64Cut;

/// Octets of both headers.
const HEADERS: usize = ipv6::Header::LEN + Fragment::LEN;
/// Octets of all pieces but the last: whole eights, as offsets count them.
const PIECE: usize = (MIN_MTU - HEADERS) & !7;

graph::exits! {
    /// What becomes of a packet, or of what is left of it.
    pub enum Exit {
        /// It fits now.
        Routed => node "ip6-input",
        /// Still too long: once more.
        Again => node "nat64-cut",
        /// No buffer for a piece.
        NoBuffer => drop "Raise `buffers` in [memory]: `volley show memory` tells how many are in \
            use.",
    }
}

impl Node for Nat64Cut {
    const NAME: &'static str = "nat64-cut";
    const ABOUT: &'static str = "cuts packets that became too long for IPv6";
    type Exit = Exit;
    type Setup = Setup;

    fn new(_: &Setup) -> Self {
        Self
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        exits.each(frame, |packet| match packet.length() {
            ..=MIN_MTU => Exit::Routed,
            _ => cut(packet, context),
        });
    }
}

/// Sends the first piece and leaves the rest.
fn cut(packet: &mut PacketView<'_>, context: &mut Context<'_>) -> Exit {
    let front = &packet.header()[..HEADERS + PIECE];
    let Some(bits) = offset_bits(front) else { return Exit::NoBuffer };
    let Some(copy) = context.cache.copy_of(front) else { return Exit::NoBuffer };
    match context.emit(copy, packet.rx(), Exit::Routed) {
        Ok(mut piece) => set_place(piece.header_mut(), bits | 1),
        Err(copy) => {
            context.cache.release_one(copy);
            return Exit::NoBuffer;
        }
    }
    packet.header_mut().copy_within(..HEADERS, PIECE);
    packet.advance(PIECE);
    // What was a packet of IPv4 ends before its offset does.
    set_place(packet.header_mut(), bits.wrapping_add(PIECE as u16));
    Exit::Again
}

fn offset_bits(packet: &[u8]) -> Option<u16> {
    Some(Fragment::new(packet.get(ipv6::Header::LEN..)?)?.offset_bits())
}

/// Makes the headers say how long the packet is and which piece.
fn set_place(packet: &mut [u8], bits: u16) {
    let length = packet.len() - ipv6::Header::LEN;
    if let Some(mut header) = ipv6::HeaderMut::new(packet) {
        header.set_payload_len(length as u16);
    }
    if let Some(mut header) = packet.get_mut(ipv6::Header::LEN..).and_then(FragmentMut::new) {
        header.set_offset_bits(bits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FAR6, HOST6, World};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn piece(offset: usize, more: bool, data: &[u8]) -> Vec<u8> {
        craft::ipv6(FAR6, HOST6)
            .hop_limit(9)
            .fragment_header(offset, more, 77)
            .payload(data)
            .build()
    }

    /// The pieces of a packet in the order they leave.
    fn pieces(mut packet: Vec<u8>) -> Vec<Vec<u8>> {
        let mut node = NodeHarness::<Nat64Cut>::new(&World::new().setup).unwrap();
        let mut pieces = Vec::new();
        loop {
            let out = node.run(&[packet], 1, 0).remove(0);
            pieces.extend(node.emitted().into_iter().map(|piece| piece.header));
            packet = out.header;
            if out.exit == "routed" {
                pieces.push(packet);
                return pieces;
            }
            assert_eq!(out.exit, "again");
        }
    }

    #[test]
    fn pieces_are_as_long_as_every_link_takes_and_in_order() {
        let data: Vec<u8> = (0..3000).map(|n| n as u8).collect();
        let expected = [
            piece(0, true, &data[..1232]),
            piece(1232, true, &data[1232..2464]),
            piece(2464, false, &data[2464..]),
        ];
        assert_eq!(pieces(piece(0, false, &data)), expected);
        assert_eq!(pieces(piece(0, false, &data[..1232])), [piece(0, false, &data[..1232])]);
    }

    #[test]
    fn a_piece_keeps_its_place() {
        let data = [5; 1440];
        let expected = [piece(1480, true, &data[..1232]), piece(2712, true, &data[1232..])];
        assert_eq!(pieces(piece(1480, true, &data)), expected);
    }
}
