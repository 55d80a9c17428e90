//! Hands packets for us that are not ours to answer to the kernel's twin of their interface, so
//! many of each class a second.
//!
//! ```text
//!  ethernet_input                              ─▶ twin_output ┬▶ (the twin)
//!  arp_input, nd_input, ip6_link                       ▲      └▶ drop
//!  ip4_local, ip6_local, icmp_input, udp_local ────────┘
//! ```
//! The kernel gets the frame as it came in, less its VLAN tags: the twin of a sub-interface knows
//! nothing of them.

use crate::tables::{
    Interface, Interfaces, RateLimit, Setup, ToTwin, TwinClass, TwinLimits, TwinQueue,
    WorkerCounters,
};
use graph::{Context, ExitIndex, Exits, Node, add};
use packet::{Frame, PacketView};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::ethernet::{self, ethertype};

/// Cause: the packet is a frame.
pub const FRAME: u16 = 1;
/// Cause: the packet's Ethernet header was read already.
pub const PACKET: u16 = 2;

/// The kernel has an interface beside this one, which gets what is for us and not ours to answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Twin;

impl Interfaces {
    /// True if the kernel has a twin of an interface.
    #[inline]
    pub fn has_twin(&self, id: u16) -> bool {
        self.get(id).is_some_and(Interface::has::<Twin>)
    }
}

/// See the module.
pub struct TwinOutput {
    queue: TwinQueue,
    allowed: Arc<TwinLimits>,
    limits: [RateLimit; TwinClass::COUNT],
    counters: Arc<WorkerCounters>,
}

graph::exits! {
    /// What becomes of a packet that no twin gets.
    pub enum Exit {
        /// More ARP and neighbour discovery than twins get a second.
        NeighborsLimited => drop "Raise `neighbors_pps` in [twins] if the kernel is to hear more; \
            a flood of it is kept from the kernel by this.",
        /// More packets of routing protocols than twins get a second.
        RoutingLimited => drop "Raise `routing_pps` in [twins] if sessions need more.",
        /// More of TCP than twins get a second.
        TcpLimited => drop "Raise `tcp_pps` in [twins], or send bulk data past the router's own \
            addresses.",
        /// More of everything else than twins get a second.
        RestLimited => drop "Raise `rest_pps` in [twins] if the kernel is to hear more.",
        /// The kernel does not take them as fast as they come.
        QueueFull => drop "The machine has no time for the kernel's part: lower the rates in \
            [twins], or give it a core without a worker.",
        /// It came without a link header, out of a tunnel perhaps.
        NoLinkHeader => drop "Take the twin off the tunnel of packets: it carries no frames.",
    }
}

impl From<TwinClass> for Exit {
    fn from(limited: TwinClass) -> Self {
        match limited {
            TwinClass::Neighbors => Self::NeighborsLimited,
            TwinClass::Routing => Self::RoutingLimited,
            TwinClass::Tcp => Self::TcpLimited,
            TwinClass::Rest => Self::RestLimited,
        }
    }
}

impl Node for TwinOutput {
    const NAME: &'static str = "twin-output";
    const ABOUT: &'static str = "hands packets for us to the kernel";
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            queue: setup.shared.twins.clone(),
            allowed: Arc::clone(&setup.shared.twin_limits),
            limits: std::array::from_fn(|_| RateLimit::new(0)),
            counters: Arc::clone(&setup.counters),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        for (limit, allowed) in self.limits.iter_mut().zip(&self.allowed.0) {
            limit.follow(allowed.load(Ordering::Relaxed));
        }
        for slot in 0..frame.len() {
            match self.hand_over(frame.view(slot), context.now_tsc) {
                Ok(()) => exits.set(slot, ExitIndex::TAKEN),
                Err(exit) => exits.set(slot, exit),
            }
        }
        self.queue.wake();
    }
}

impl TwinOutput {
    fn hand_over(&mut self, mut packet: PacketView<'_>, now_tsc: u64) -> Result<(), Exit> {
        const HEADER: usize = ethernet::Header::LEN;
        if packet.cause() != FRAME {
            packet.consumed_last::<HEADER>().ok_or(Exit::NoLinkHeader)?;
            packet.prepend(HEADER);
        }
        let interface = packet.rx();
        let class = class_of(packet.header()).ok_or(Exit::NoLinkHeader)?;
        let counters = self.counters.twinned.get(usize::from(interface));
        if !self.limits[class as usize].take(now_tsc) {
            counters.into_iter().for_each(|it| add(&it.limited[class as usize], 1));
            return Err(class.into());
        }
        let taken = packet.take().ok_or(Exit::QueueFull)?;
        if let Err(back) = self.queue.hand(ToTwin { interface, packet: taken }) {
            packet.put_back(back.packet);
            return Err(Exit::QueueFull);
        }
        counters.into_iter().for_each(|it| add(&it.passed[class as usize], 1));
        Ok(())
    }
}

fn class_of(frame: &[u8]) -> Option<TwinClass> {
    let header = ethernet::Header::new(frame)?;
    let packet = frame.get(ethernet::Header::LEN..)?;
    Some(match header.ethertype() {
        ethertype::ARP => TwinClass::Neighbors,
        ethertype::IPV4 => TwinClass::of_ip4(packet),
        ethertype::IPV6 => TwinClass::of_ip6(packet),
        _ => TwinClass::Rest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{HOST, HOST_MAC, QUEUE, US, World, our_mac};
    use graph::harness::NodeHarness;
    use wire::craft;

    fn segment() -> Vec<u8> {
        craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, US).tcp(1000, 22).build()
    }

    type Node = NodeHarness<TwinOutput>;

    fn node(world: &World) -> Node {
        NodeHarness::new(&world.setup).unwrap()
    }

    /// The exits of `count` frames that come with `cause`, of which so many bytes were read. What a
    /// twin gets lives as long as the node does.
    fn exits(node: &mut Node, count: usize, cause: u16, read: u16) -> Vec<String> {
        let out = node.run_prepared(&vec![segment(); count], 0, 0, |frame| {
            frame.fill_cause(0, cause);
            assert!(read == 0 || frame.advance(read));
        });
        out.into_iter().map(|out| out.exit).collect()
    }

    #[test]
    fn the_twin_gets_the_frame_as_it_came() {
        for (cause, read) in [(FRAME, 0), (PACKET, 14)] {
            let world = World::new();
            let mut node = node(&world);
            assert_eq!(exits(&mut node, 1, cause, read), ["taken"]);
            let got = world.twin_packets.try_recv().unwrap();
            assert_eq!((got.interface, got.packet.bytes()), (0, &segment()[..]));
            let counters = &world.setup.counters.twinned[0];
            assert_eq!(counters.passed[TwinClass::Tcp as usize].load(Ordering::Relaxed), 1);
        }
    }

    #[test]
    fn each_class_has_its_allowance() {
        let world = World::new();
        world.setup.shared.twin_limits.0[TwinClass::Tcp as usize].store(2, Ordering::Relaxed);
        let exits = exits(&mut node(&world), 3, FRAME, 0);
        assert_eq!(exits, ["taken", "taken", "tcp-limited"]);
        let counters = &world.setup.counters.twinned[0];
        assert_eq!(counters.limited[TwinClass::Tcp as usize].load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_full_queue_and_a_missing_link_header_drop() {
        let full = exits(&mut node(&World::new()), QUEUE + 1, FRAME, 0);
        assert_eq!(full.last().unwrap(), "queue-full");
        assert_eq!(exits(&mut node(&World::new()), 1, PACKET, 0), ["no-link-header"]);
    }
}
