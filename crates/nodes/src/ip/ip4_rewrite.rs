//! Counts down the time to live and writes the link header of the packet's adjacency.
//!
//! RFC 1812 section 5.3.1 (TTL), RFC 1624 (the checksum follows without summing again).

use crate::ip::{NextHopCount, each_with_adjacency, ip_resolve, leave_by, leave_by_sole_next_hop};
use crate::local::icmp_cause;
use crate::tables::Setup;
use core::cell::Cell;
use fib::adjacency::{AdjacencyEntry, AdjacencyId, AdjacencyTable};
use graph::{Context, Exits, Node};
use packet::{Frame, PacketView};
use std::sync::Arc;
use wire::icmp4::{message, time_exceeded, unreachable};
use wire::ipv4;

/// See the module.
pub struct Ip4Rewrite {
    adjacencies: Arc<AdjacencyTable>,
    count: NextHopCount,
}

graph::exits! {
    /// What becomes of a routed packet.
    pub enum Exit {
        /// Its frame is complete.
        Output => node "interface-output",
        /// RFC 1812 section 5.3.1: its time to live is used up.
        TtlExpired => answer "icmp4-error"
            "Nothing, if somebody traces the way; else two routers may send it to each other: \
            `volley lookup ADDRESS`."
            cause icmp_cause(message::TIME_EXCEEDED, time_exceeded::TTL),
        /// RFC 1191: longer than the link takes, and it must not be fragmented.
        FragmentationNeeded => answer "icmp4-error"
            "Nothing: the sender is told how long it may be; where it stays so, something on the \
            way keeps ICMP from him."
            cause icmp_cause(message::UNREACHABLE, unreachable::FRAGMENTATION_NEEDED),
        /// Longer than the link takes.
        TooBig => node "ip4-fragment",
        /// The next hop's MAC address is not known.
        Unresolved => node "ip-resolve" cause ip_resolve::ADJACENCY,
        /// No room for the link header in front of the packet.
        NoHeadroom => drop "Fewer tunnels and tags inside each other.",
    }
}

impl Node for Ip4Rewrite {
    const NAME: &'static str = "ip4-rewrite";
    const ABOUT: &'static str = "counts down TTL and writes the link header";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let adjacencies = Arc::clone(&setup.shared.adjacencies);
        Self { adjacencies, count: NextHopCount::new(setup) }
    }

    fn process(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>, _: &mut Context<'_>) {
        if self.count.is_on() {
            return self.process_counted(frame, exits);
        }
        let table = &self.adjacencies;
        let names = (Exit::Output, Exit::NoHeadroom);
        if leave_by_sole_next_hop(frame, exits, table, names, count_down) {
            return;
        }
        let some_are_long = Cell::new(false);
        each_with_adjacency(frame, exits, &self.adjacencies, Exit::Unresolved, |packet, entry| {
            rewrite(packet, entry, &some_are_long)
        });
        if some_are_long.get() {
            self.look_for_large(frame, exits);
        }
    }
}

impl Ip4Rewrite {
    /// The same, and what leaves is counted by its next hop, from its IP header on.
    #[inline(never)]
    fn process_counted(&mut self, frame: &mut Frame, exits: &mut Exits<'_, Exit>) {
        let (count, some_are_long) = (&self.count, Cell::new(false));
        each_with_adjacency(frame, exits, &self.adjacencies, Exit::Unresolved, |packet, entry| {
            let (adjacency, octets) = (packet.adjacency(), packet.length());
            let exit = rewrite(packet, entry, &some_are_long);
            if matches!(exit, Exit::Output) {
                count.add(adjacency, octets);
            }
            exit
        });
        if some_are_long.get() {
            self.look_for_large(frame, exits);
        }
    }

    /// Of what was found too long, a large frame passes where what it is cut into does. Apart from
    /// the others: a call in their loop would cost all of them.
    #[cold]
    #[inline(never)]
    fn look_for_large(&self, frame: &mut Frame, exits: &mut Exits<'_, Exit>) {
        let is_on = self.count.is_on();
        for slot in 0..frame.len() {
            if !exits.is(slot, Exit::TooBig) && !exits.is(slot, Exit::FragmentationNeeded) {
                continue;
            }
            let mut packet = frame.view(slot);
            let (adjacency, octets) = (packet.adjacency(), packet.length());
            let Some(entry) = self.adjacencies.entry(AdjacencyId(adjacency)) else { continue };
            let fields = entry.fields();
            if !packet.is_cut_to(fields.mtu().into()) {
                continue;
            }
            if let Some(mut header) = ipv4::HeaderMut::new(packet.header_mut()) {
                header.decrement_ttl();
            }
            if !leave_by(&mut packet, entry, fields) {
                exits.set(slot, Exit::NoHeadroom);
                continue;
            }
            exits.set(slot, Exit::Output);
            if is_on {
                self.count.add(adjacency, octets);
            }
        }
    }
}

#[inline(always)]
fn rewrite(
    packet: &mut PacketView<'_>,
    adjacency: &AdjacencyEntry,
    some_are_long: &Cell<bool>,
) -> Exit {
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
        some_are_long.set(true);
        return too_big(header.view());
    }
    header.decrement_ttl();
    if leave_by(packet, adjacency, fields) { Exit::Output } else { Exit::NoHeadroom }
}

/// One hop less; none of a packet that has no more.
#[inline(always)]
fn count_down(header: &mut [u8; ipv4::Header::LEN]) -> Option<Exit> {
    let mut header = ipv4::HeaderMut::of(header);
    if header.view().ttl() <= 1 {
        return Some(Exit::TtlExpired);
    }
    header.decrement_ttl();
    None
}

#[cold]
fn too_big(header: ipv4::Header<'_>) -> Exit {
    if header.dont_fragment() { Exit::FragmentationNeeded } else { Exit::TooBig }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        FAR, GATEWAY_MAC, HOST, INCOMPLETE, NARROW, TO_GATEWAY, World, alone_and_beside,
        fare_as_alone, make_large, our_mac,
    };
    use graph::harness::{NodeHarness, Outcome};
    use packet::Large;
    use wire::craft::{self, Craft, Ipv4};

    fn run(packet: &[u8], adjacency: u32) -> Outcome {
        alone_and_beside::<Ip4Rewrite>(packet, adjacency, INCOMPLETE)
    }

    fn packet() -> Craft<Ipv4> {
        craft::ipv4(HOST, FAR).identification(7)
    }

    #[test]
    fn a_packet_leaves_with_one_hop_less_behind_its_new_link_header() {
        let link = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv4(HOST, FAR).identification(7);
        for ttl in [2, 64, 255] {
            let out = run(&packet().ttl(ttl).udp(1, 2).build(), TO_GATEWAY);
            assert_eq!((out.exit.as_str(), out.tx), ("output", 1));
            assert_eq!(out.header, link.clone().ttl(ttl - 1).udp(1, 2).build());
        }
    }

    #[test]
    fn the_last_hop_is_not_forwarded_and_not_changed() {
        for ttl in [0, 1] {
            let sent = packet().ttl(ttl).udp(1, 2).build();
            let out = run(&sent, TO_GATEWAY);
            assert_eq!((out.exit.as_str(), out.header), ("ttl-expired", sent));
        }
    }

    #[test]
    fn who_does_not_leave_is_no_matter_to_the_others() {
        let of = |ttl: u8| packet().ttl(ttl).udp(1, 2).build();
        let short = of(9)[..19].to_vec();
        fare_as_alone::<Ip4Rewrite>(&[of(9), of(1), of(64), short, of(2)], TO_GATEWAY);
    }

    #[test]
    fn a_packet_of_the_mtu_fits_and_one_byte_more_does_not() {
        let of = |length: usize| packet().udp(1, 2).payload_len(length - 28);
        assert_eq!(run(&of(100).build(), NARROW).exit, "output");
        assert_eq!(run(&of(101).build(), NARROW).exit, "too-big");
        let whole = packet().dont_fragment().udp(1, 2).payload_len(101 - 28).build();
        assert_eq!(run(&whole, NARROW).exit, "fragmentation-needed");
    }

    #[test]
    fn without_a_mac_a_packet_waits() {
        assert_eq!(run(&packet().udp(1, 2).build(), INCOMPLETE).exit, "unresolved");
        assert_eq!(run(&packet().udp(1, 2).build(), 9999).exit, "unresolved");
    }

    #[test]
    fn a_large_frame_passes_where_what_it_is_cut_into_does() {
        let sent = craft::ipv4(HOST, FAR).dont_fragment().tcp(1, 2).payload_len(5000).build();
        for (size, exit) in [(60, "output"), (61, "fragmentation-needed")] {
            let mut node = NodeHarness::<Ip4Rewrite>::new(&World::new().setup).unwrap();
            let out = node.run_prepared(std::slice::from_ref(&sent), 0, 0, |frame| {
                frame.adjacencies_mut().fill(NARROW);
                make_large(frame, Large { transport: 20, payload: 40, size });
            });
            assert_eq!(out[0].exit, exit);
            let whole = match exit {
                "output" => 14 + sent.len(),
                _ => sent.len(),
            };
            assert_eq!(out[0].header.len(), whole);
        }
    }
}
