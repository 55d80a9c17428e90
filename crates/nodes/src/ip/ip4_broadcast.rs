//! Packets to all hosts of a network of ours, from beyond another interface (directed broadcasts,
//! RFC 1812 section 5.3.5.2): where an interface is told to let them, they leave as broadcasts of
//! its link; else, as RFC 2644 has it, they are dropped.
//!
//! ```text
//!  ip4_lookup ─▶ ip4_broadcast ┬▶ interface_output   to all stations
//!                              └▶ drop
//! ```
//! None leaves by the interface that it came in by, nor any that has an address of ours as its
//! source: what somebody had us answer in the name of a broadcast address goes nowhere.

use crate::ip::PacketRoutes;
use crate::tables::{Interface, Interfaces, Setup, Vrfs};
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use wire::ethernet::ethertype;
use wire::{MacAddr, ethernet, ipv4};

/// That an interface lets directed broadcasts leave by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DirectedBroadcasts;

/// See the module.
pub struct Ip4Broadcast {
    interfaces: Published<Interfaces>,
    vrfs: Published<Vrfs>,
}

graph::exits! {
    /// What becomes of them.
    pub enum Exit {
        /// To all stations of the link.
        Output => node "interface-output",
        /// RFC 2644: directed broadcasts are not forwarded.
        DirectedBroadcast => drop "Nothing: they served attacks. What must reach all hosts needs a \
            relay, as DHCP has, or `directed_broadcasts` of the port and a list of who may.",
        /// It may go no further, and of a broadcast nobody is told.
        TtlExpired => drop "Nothing: its sender gave it too few hops.",
        /// It is longer than the link takes, and broadcasts are not cut.
        TooLong => drop "Have the sender send less at once, or raise the port's `mtu`.",
    }
}

impl Node for Ip4Broadcast {
    const NAME: &'static str = "ip4-broadcast";
    const ABOUT: &'static str = "drops directed broadcasts, or makes them broadcasts of a link";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let (interfaces, vrfs) = (setup.shared.interfaces.clone(), setup.shared.vrfs.clone());
        Self { interfaces, vrfs }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let (interfaces, vrfs) = (self.interfaces.get(context), self.vrfs.get(context));
        exits.each(frame, |packet| {
            let id = packet.adjacency() as u16;
            let row = interfaces.get(id).filter(|row| row.has::<DirectedBroadcasts>());
            let Some(row) = row.filter(|_| id != packet.rx()) else {
                return Exit::DirectedBroadcast;
            };
            let routes = PacketRoutes::new(vrfs, interfaces, packet.rx());
            send(packet, id, row, routes).unwrap_or(Exit::DirectedBroadcast)
        });
    }
}

/// None where it is not to leave.
fn send(
    packet: &mut PacketView<'_>,
    id: u16,
    row: &Interface,
    routes: PacketRoutes<'_>,
) -> Option<Exit> {
    let length = packet.length();
    let mut header = ipv4::HeaderMut::new(packet.header_mut())?;
    let (source, destination) = (header.view().source(), header.view().destination());
    let is_last = |&(own, length): &(u32, u8)| {
        let hosts = u32::MAX.checked_shr(length.into()).unwrap_or(0);
        hosts > 1 && length > 0 && destination == own | hosts
    };
    let is_meant = row.ip4.iter().any(is_last) && !row.carries_packets();
    if !is_meant || routes.are_ours(source) {
        return None;
    }
    if header.view().ttl() <= 1 {
        return Some(Exit::TtlExpired);
    }
    if length > usize::from(row.mtu_bytes) {
        return Some(Exit::TooLong);
    }
    header.decrement_ttl();
    // There is room: a link header stood in front of what was received.
    if !packet.prepend(ethernet::Header::LEN) {
        return None;
    }
    let mut link = ethernet::HeaderMut::new(packet.header_mut())?;
    link.set_destination(MacAddr([0xff; 6]));
    link.set_source(MacAddr(row.mac));
    link.set_ethertype(ethertype::IPV4);
    packet.set_tx(id);
    Some(Exit::Output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{FAR, HOST, US, US_OUTSIDE, World, our_mac};
    use graph::harness::{NodeHarness, Outcome};
    use wire::craft::{self, Craft, Ipv4};

    /// All hosts of interface 1.
    const ALL: [u8; 4] = [198, 51, 100, 255];

    fn run(on: bool, rx: u16, packet: &Craft<Ipv4>, payload: usize) -> Outcome {
        let mut world = World::new();
        world.change_interface(1, |row| row.put(on.then_some(DirectedBroadcasts)));
        let mut node = NodeHarness::<Ip4Broadcast>::new(&world.setup).unwrap();
        let by = |frame: &mut Frame| frame.adjacencies_mut().fill(1);
        let packet = packet.clone().udp(9, 9).payload_len(payload).build();
        node.run_prepared(&[packet], rx, 0, by).remove(0)
    }

    #[test]
    fn a_directed_broadcast_leaves_as_one_of_the_link_where_that_is_wanted() {
        let packet = craft::ipv4(HOST, ALL).ttl(9);
        let out = run(true, 0, &packet, 100);
        let sent = craft::ethernet(our_mac(1), [0xff; 6]).ipv4(HOST, ALL).ttl(8);
        assert_eq!((out.exit.as_str(), out.tx), ("output", 1));
        assert_eq!(out.header, sent.udp(9, 9).payload_len(100).build());
        assert_eq!(run(false, 0, &packet, 100).exit, "directed-broadcast");
    }

    #[test]
    fn what_is_not_for_all_hosts_of_another_link_is_dropped() {
        for (about, rx, packet) in [
            ("back to its own link", 1, craft::ipv4(HOST, ALL)),
            ("from us", 0, craft::ipv4(US, ALL)),
            ("from us there", 0, craft::ipv4(US_OUTSIDE, ALL)),
            ("to the network", 0, craft::ipv4(HOST, [198, 51, 100, 0])),
            ("to another network", 0, craft::ipv4(HOST, FAR)),
        ] {
            assert_eq!(run(true, rx, &packet, 9).exit, "directed-broadcast", "{about}");
        }
        assert_eq!(run(true, 0, &craft::ipv4(HOST, ALL).ttl(1), 9).exit, "ttl-expired");
        assert_eq!(run(true, 0, &craft::ipv4(HOST, ALL), 1472).exit, "output");
        assert_eq!(run(true, 0, &craft::ipv4(HOST, ALL), 1473).exit, "too-long");
    }
}
