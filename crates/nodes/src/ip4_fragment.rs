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

use crate::plumbing::{Setup, blank, sum};
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
        MtuTooSmall => drop,
        /// No buffer for a piece.
        NoBuffer => drop,
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
fn cut(
    packet: &mut PacketView<'_>,
    mtu: usize,
    context: &mut Context<'_>,
) -> Result<Exit, Exit> {
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
            context.cache.release(&[copy]);
            return Err(Exit::NoBuffer);
        }
    }
    let bytes = packet.header_mut();
    blank(&mut bytes[..header_len], |kind| kind & option::COPIED != 0);
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
    sum(&mut packet[..header_len]);
}
