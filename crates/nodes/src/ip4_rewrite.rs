//! Counts down the time to live and writes the link header of the packet's adjacency.
//!
//! RFC 1812 section 5.3.1 (TTL), RFC 1624 (the checksum follows without summing again).

use crate::ip4_lookup::icmp4_cause;
use crate::plumbing::Setup;
use fib::adjacency::{AdjacencyEntry, AdjacencyTable};
use graph::{Context, Exits, Node};
use packet::{Frame, PacketView, prefetch_read};
use std::sync::Arc;
use wire::icmp4::{message, time_exceeded, unreachable};
use wire::ipv4;

/// See the module.
pub struct Ip4Rewrite {
    adjacencies: Arc<AdjacencyTable>,
}

graph::exits! {
    /// What becomes of a routed packet.
    pub enum Exit {
        /// Its frame is complete.
        Output => node "interface-output",
        /// RFC 1812 section 5.3.1: its time to live is used up.
        TtlExpired => node "icmp4-error" cause icmp4_cause(message::TIME_EXCEEDED, time_exceeded::TTL),
        /// RFC 1191: longer than the link takes, and it must not be fragmented.
        FragmentationNeeded => node "icmp4-error" cause icmp4_cause(message::UNREACHABLE, unreachable::FRAGMENTATION_NEEDED),
        /// Longer than the link takes.
        TooBig => node "ip4-fragment",
        /// The next hop's MAC address is not known.
        Unresolved => node "ip4-resolve",
        /// No room for the link header in front of the packet.
        NoHeadroom => drop,
    }
}

impl Node for Ip4Rewrite {
    const NAME: &'static str = "ip4-rewrite";
    const ABOUT: &'static str = "counts down TTL and writes the link header";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self { adjacencies: Arc::clone(&setup.shared.adjacencies) }
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        let entries = self.adjacencies.entries();
        for &id in frame.adjacencies() {
            if let Some(entry) = entries.get(id as usize) {
                prefetch_read(entry);
            }
        }
        exits.each(frame, |packet| match entries.get(packet.adjacency() as usize) {
            Some(entry) => rewrite(packet, entry),
            None => Exit::Unresolved,
        });
    }
}

#[inline(always)]
fn rewrite(packet: &mut PacketView<'_>, adjacency: &AdjacencyEntry) -> Exit {
    let fields = adjacency.fields();
    if !fields.is_complete() {
        return Exit::Unresolved;
    }
    let length = packet.length();
    let Some(mut header) = ipv4::HeaderMut::new(packet.header_mut()) else {
        return Exit::NoHeadroom;
    };
    if header.view().ttl() <= 1 {
        return Exit::TtlExpired;
    }
    if length > usize::from(fields.mtu()) {
        return too_big(header.view());
    }
    header.decrement_ttl();
    packet.set_tx(fields.interface());
    let link = fields.rewrite_len();
    if !packet.prepend(link) {
        return Exit::NoHeadroom;
    }
    // Two overlapping stores would do for 14 bytes; copying by the usual lengths lets the
    // compiler make each case plain moves.
    let bytes = adjacency.rewrite_bytes();
    let front = packet.header_mut();
    match link {
        14 => front[..14].copy_from_slice(&bytes[..14]),
        link => front[..link].copy_from_slice(&bytes[..link]),
    }
    Exit::Output
}

#[cold]
fn too_big(header: ipv4::Header<'_>) -> Exit {
    if header.dont_fragment() { Exit::FragmentationNeeded } else { Exit::TooBig }
}
