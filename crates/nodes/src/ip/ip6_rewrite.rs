//! Counts down the hop limit and writes the link header of the packet's adjacency.
//!
//! RFC 8200 section 3 (hop limit) and section 5 (who forwards does not fragment).

use crate::ip::{NextHopCount, each_with_adjacency, ip_resolve, leave_by, leave_by_sole_next_hop};
use crate::local::icmp_cause;
use crate::tables::Setup;
use core::cell::Cell;
use fib::adjacency::{AdjacencyEntry, AdjacencyId, AdjacencyTable};
use graph::{Context, Exits, Node};
use packet::{Frame, PacketView};
use std::sync::Arc;
use wire::icmp6::{message, time_exceeded};
use wire::ipv6;

/// See the module.
pub struct Ip6Rewrite {
    adjacencies: Arc<AdjacencyTable>,
    count: NextHopCount,
}

graph::exits! {
    /// What becomes of a routed packet.
    pub enum Exit {
        /// Its frame is complete.
        Output => node "interface-output",
        /// RFC 4443 section 3.3: its hop limit is used up.
        HopLimitExceeded => answer "icmp6-error"
            "Nothing, if somebody traces the way; else two routers may send it to each other: \
            `volley lookup ADDRESS`."
            cause icmp_cause(message::TIME_EXCEEDED, time_exceeded::HOP_LIMIT),
        /// RFC 4443 section 3.2: longer than the link takes.
        TooBig => answer "icmp6-error"
            "Nothing: the sender is told how long it may be; where it stays so, something on the \
            way keeps ICMP from him."
            cause icmp_cause(message::PACKET_TOO_BIG, 0),
        /// The next hop's MAC address is not known.
        Unresolved => node "ip-resolve" cause ip_resolve::ADJACENCY,
        /// No room for the link header in front of the packet.
        NoHeadroom => drop "Fewer tunnels and tags inside each other.",
    }
}

impl Node for Ip6Rewrite {
    const NAME: &'static str = "ip6-rewrite";
    const ABOUT: &'static str = "counts down the hop limit and writes the link header";
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

impl Ip6Rewrite {
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
            if !exits.is(slot, Exit::TooBig) {
                continue;
            }
            let mut packet = frame.view(slot);
            let (adjacency, octets) = (packet.adjacency(), packet.length());
            let Some(entry) = self.adjacencies.entry(AdjacencyId(adjacency)) else { continue };
            let fields = entry.fields();
            if !packet.is_cut_to(fields.mtu().into()) {
                continue;
            }
            if let Some(mut header) = ipv6::HeaderMut::new(packet.header_mut()) {
                header.decrement_hop_limit();
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
    let Some(mut header) = ipv6::HeaderMut::new(packet.header_mut()) else {
        return Exit::NoHeadroom;
    };
    if header.view().hop_limit() <= 1 {
        return Exit::HopLimitExceeded;
    }
    if length > usize::from(fields.mtu()) {
        some_are_long.set(true);
        return Exit::TooBig;
    }
    header.decrement_hop_limit();
    if leave_by(packet, adjacency, fields) { Exit::Output } else { Exit::NoHeadroom }
}

/// One hop less; none of a packet that has no more.
#[inline(always)]
fn count_down(header: &mut [u8; ipv6::Header::LEN]) -> Option<Exit> {
    let mut header = ipv6::HeaderMut::of(header);
    if header.view().hop_limit() <= 1 {
        return Some(Exit::HopLimitExceeded);
    }
    header.decrement_hop_limit();
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        FAR6, GATEWAY_MAC, HOST6, INCOMPLETE6, NARROW6, TO_GATEWAY6, World, alone_and_beside,
        fare_as_alone, make_large, our_mac,
    };
    use graph::harness::{NodeHarness, Outcome};
    use packet::Large;
    use wire::craft::{self, Craft, Ipv6};

    fn run(packet: &[u8], adjacency: u32) -> Outcome {
        alone_and_beside::<Ip6Rewrite>(packet, adjacency, INCOMPLETE6)
    }

    fn packet() -> Craft<Ipv6> {
        craft::ipv6(HOST6, FAR6).flow_label(7).traffic_class(0xb9)
    }

    #[test]
    fn a_packet_leaves_with_one_hop_less_behind_its_new_link_header() {
        let link = craft::ethernet(our_mac(1), GATEWAY_MAC).ipv6(HOST6, FAR6);
        let link = link.flow_label(7).traffic_class(0xb9);
        for hops in [2, 64, 255] {
            let out = run(&packet().hop_limit(hops).udp(1, 2).build(), TO_GATEWAY6);
            assert_eq!((out.exit.as_str(), out.tx), ("output", 1));
            assert_eq!(out.header, link.clone().hop_limit(hops - 1).udp(1, 2).build());
        }
    }

    #[test]
    fn who_does_not_leave_is_no_matter_to_the_others() {
        let of = |hops: u8| packet().hop_limit(hops).udp(1, 2).build();
        let short = of(9)[..39].to_vec();
        fare_as_alone::<Ip6Rewrite>(&[of(9), of(1), of(64), short, of(2)], TO_GATEWAY6);
    }

    #[test]
    fn the_last_hop_is_not_forwarded_and_not_changed() {
        for hops in [0, 1] {
            let sent = packet().hop_limit(hops).udp(1, 2).build();
            let out = run(&sent, TO_GATEWAY6);
            assert_eq!((out.exit.as_str(), out.header), ("hop-limit-exceeded", sent));
        }
    }

    #[test]
    fn a_packet_of_the_mtu_fits_and_one_byte_more_does_not() {
        let of = |length: usize| packet().udp(1, 2).payload_len(length - 48).build();
        assert_eq!(run(&of(1280), NARROW6).exit, "output");
        let out = run(&of(1281), NARROW6);
        assert_eq!((out.exit.as_str(), out.adjacency), ("too-big", NARROW6));
    }

    #[test]
    fn without_a_mac_a_packet_waits() {
        assert_eq!(run(&packet().udp(1, 2).build(), INCOMPLETE6).exit, "unresolved");
        assert_eq!(run(&packet().udp(1, 2).build(), 9999).exit, "unresolved");
    }

    #[test]
    fn a_large_frame_passes_where_what_it_is_cut_into_does() {
        let sent = packet().tcp(1, 2).payload_len(5000).build();
        for (size, exit) in [(1220, "output"), (1221, "too-big")] {
            let mut node = NodeHarness::<Ip6Rewrite>::new(&World::new().setup).unwrap();
            let out = node.run_prepared(std::slice::from_ref(&sent), 0, 0, |frame| {
                frame.adjacencies_mut().fill(NARROW6);
                make_large(frame, Large { transport: 40, payload: 60, size });
            });
            assert_eq!(out[0].exit, exit);
        }
    }
}
