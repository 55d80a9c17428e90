//! Brings in what the control thread sends: frames of its own, and packets that waited with it.
//!
//! ```text
//!  control thread ─▶ inject ┬▶ interface_output   a whole frame
//!                           ├▶ ip4_rewrite, ip6_rewrite    the next hop's MAC is known now
//!                           ├▶ icmp4_error, icmp6_error    nobody answered for the next hop, or pieces did not come
//!                           ├▶ ip4_local, ip6_local        came in pieces
//!                           ├▶ ip4_lookup, ip6_lookup, ip6_link    of our own
//!                           ├▶ lisp_encap         the endpoint's locators are known now
//!                           ├▶ flow_normal        flows leave it to NORMAL
//!                           └▶ drop
//! ```

use crate::ip::ip6_link;
use crate::local::icmp_cause;
use crate::tables::{Injected, InjectedQueue, Interfaces, Setup, WorkerCounters, tell_own};
use crate::tunnel::takes;
use fib::adjacency::AdjacencyTable;
use flow::InTunnel;
use graph::{Context, Exits, Node, Published, Role, Watch};
use packet::Frame;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use wire::{icmp4, icmp6, ip, ipv4, ipv6};

/// See the module.
pub struct Inject {
    interfaces: Published<Interfaces>,
    adjacencies: Arc<AdjacencyTable>,
    counters: Arc<WorkerCounters>,
    /// None on all workers but one.
    injected: Option<InjectedQueue>,
    /// What was injected before it is in the graph.
    fence: Option<Arc<AtomicBool>>,
}

graph::exits! {
    /// By what is asked.
    pub enum Exit {
        /// A frame of the control thread's.
        Output => node "interface-output",
        /// An IPv4 packet whose adjacency is complete.
        Rewrite4 => node "ip4-rewrite",
        /// An IPv6 packet whose adjacency is complete.
        Rewrite6 => node "ip6-rewrite",
        /// RFC 1812 section 5.2.7.1: the next hop does not answer.
        Unreachable4 => answer "icmp4-error"
            "See whether the host is up and its address right: `volley show neighbors`."
            cause icmp_cause(icmp4::message::UNREACHABLE, icmp4::unreachable::HOST),
        /// RFC 4861 section 7.2.2: the next hop does not answer.
        Unreachable6 => answer "icmp6-error"
            "See whether the host is up and its address right: `volley show neighbors`."
            cause icmp_cause(icmp6::message::UNREACHABLE, icmp6::unreachable::ADDRESS),
        /// RFC 792: the other pieces of a packet to us did not come.
        Late4 => answer "icmp4-error"
            "See why pieces are lost on the way; a smaller MTU at the sender has none."
            cause icmp_cause(icmp4::message::TIME_EXCEEDED, icmp4::time_exceeded::REASSEMBLY),
        /// RFC 8200 section 4.5: the other pieces of a packet to us did not come.
        Late6 => answer "icmp6-error"
            "See why pieces are lost on the way; a smaller MTU at the sender has none."
            cause icmp_cause(icmp6::message::TIME_EXCEEDED, icmp6::time_exceeded::REASSEMBLY),
        /// An IPv4 packet to us that came in pieces.
        Local4 => node "ip4-local",
        /// An IPv6 packet to us that came in pieces.
        Local6 => node "ip6-local",
        /// An IPv4 packet of ours.
        Own4 => node "ip4-lookup",
        /// An IPv6 packet of ours.
        Own6 => node "ip6-lookup",
        /// An IPv6 packet of ours to a link-local address.
        OwnOnLink => node "ip6-link" cause ip6_link::OURS,
        /// A packet whose endpoint is known now.
        Mapped => node "lisp-encap",
        /// A controller's frame, which flows leave to `NORMAL`.
        Normal => node "flow-normal",
        /// It waited for a neighbour that did not answer, or that others waited for too.
        Unresolved => drop "The neighbour is down, or its address is wrong: `volley show \
            neighbors`; more may wait with `hold_packets` in [arp].",
    }
}

impl Node for Inject {
    const NAME: &'static str = "inject";
    const ABOUT: &'static str = "brings in what the control thread sends";
    const ROLE: Role = Role::Input;
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let mut injected = setup.injected.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            interfaces: setup.shared.interfaces.clone(),
            adjacencies: Arc::clone(&setup.shared.adjacencies),
            counters: Arc::clone(&setup.counters),
            injected: injected.take(),
            fence: None,
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let Some(injected) = &self.injected else { return };
        if let Some(fence) = self.fence.take() {
            fence.store(true, Ordering::Release);
        }
        while frame.room() != 0
            && let Some(next) = injected.next()
        {
            let slot = frame.len();
            let exit = match next {
                Injected::Frame { interface, packet } => {
                    frame.push(packet, interface);
                    let mut packet = frame.view(slot);
                    packet.set_tx(interface);
                    // Flows said nothing of it.
                    tell_own(&mut packet, InTunnel::UNSAID);
                    Exit::Output
                }
                Injected::InTunnel { interface, own, packet } => {
                    frame.push(packet, interface);
                    let mut packet = frame.view(slot);
                    packet.set_tx(interface);
                    tell_own(&mut packet, own);
                    Exit::Output
                }
                Injected::Normal { rx, own, packet } => {
                    frame.push(packet, rx);
                    tell_own(&mut frame.view(slot), own);
                    Exit::Normal
                }
                Injected::Resolved { adjacency, rx, packet } => {
                    let is_ip6 = ip::version(packet.bytes()) == 6;
                    self.count_tunnels(packet.bytes(), rx, adjacency, context);
                    frame.push(packet, rx);
                    frame.view(slot).set_adjacency(adjacency);
                    if is_ip6 { Exit::Rewrite6 } else { Exit::Rewrite4 }
                }
                Injected::Unreachable { rx, packet } => {
                    let is_ip6 = ip::version(packet.bytes()) == 6;
                    frame.push(packet, rx);
                    if is_ip6 { Exit::Unreachable6 } else { Exit::Unreachable4 }
                }
                Injected::Late { rx, packet } => {
                    let is_ip6 = ip::version(packet.bytes()) == 6;
                    frame.push(packet, rx);
                    if is_ip6 { Exit::Late6 } else { Exit::Late4 }
                }
                Injected::Whole { rx, packet } => {
                    let is_ip6 = ip::version(packet.bytes()) == 6;
                    frame.push(packet, rx);
                    if is_ip6 { Exit::Local6 } else { Exit::Local4 }
                }
                Injected::Own { rx, packet } => {
                    let exit = way_of_own(packet.bytes());
                    frame.push(packet, rx);
                    exit
                }
                Injected::Mapped { interface, rx, packet } => {
                    frame.push(packet, rx);
                    frame.view(slot).set_tx(interface);
                    Exit::Mapped
                }
                Injected::Discard { rx, packet } => {
                    frame.push(packet, rx);
                    Exit::Unresolved
                }
                Injected::Fence(fence) => {
                    self.fence = Some(fence);
                    return;
                }
            };
            exits.set(slot, exit);
        }
    }

    /// Who injects rings.
    fn before_rest(&mut self, _: &mut Watch) {}
}

impl Inject {
    /// What a tunnel sends is counted when its packet does not wait any more.
    fn count_tunnels(&self, packet: &[u8], rx: u16, adjacency: u32, context: &Context<'_>) {
        let interfaces = self.interfaces.get(context);
        let Some(headers) = interfaces.tunnel_headers(rx) else { return };
        let ends = match (ipv4::Header::new(packet), ipv6::Header::new(packet)) {
            (Some(header), _) if ip::version(packet) == 4 => {
                Some((header.source_addr().into(), header.destination_addr().into()))
            }
            (_, Some(header)) if ip::version(packet) == 6 => {
                Some((header.source_addr().into(), header.destination_addr().into()))
            }
            _ => None,
        };
        let is_own = ends.is_some_and(|(source, destination): (IpAddr, IpAddr)| {
            interfaces.is_tunnels_own(rx, source, destination)
        });
        if is_own && takes(&self.adjacencies, adjacency, packet.len()) {
            let headers = headers.tunnel.of_packet(packet).header_bytes();
            let inside = packet.len().saturating_sub(headers);
            self.counters.count_sent(rx, 1, inside as u64);
        }
    }
}

/// The way of a packet of ours to where it is for.
fn way_of_own(packet: &[u8]) -> Exit {
    match ipv6::Header::new(packet).filter(|_| ip::version(packet) == 6) {
        Some(header) if ipv6::is_link_local(header.destination()) => Exit::OwnOnLink,
        Some(_) => Exit::Own6,
        None => Exit::Own4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{
        FAR, HOST, HOST6, INCOMPLETE, LINK_HOST, TO_GATEWAY, US, US6, VXLAN, World,
    };
    use graph::Doorbell;
    use graph::harness::NodeHarness;
    use packet::{HeapPool, Pool};
    use wire::craft;

    #[test]
    fn each_kind_goes_where_it_is_meant_to() {
        let (world, pool) = (World::new(), HeapPool::new(16, 64).unwrap());
        let mut cache = pool.cache();
        let mut node = NodeHarness::<Inject>::new(&world.setup).unwrap();
        let mut packet = |first: u8| cache.copy_of(&[first, 1, 2]).unwrap();
        let resolved = |packet| Injected::Resolved { adjacency: TO_GATEWAY, rx: 0, packet };
        let expected = [
            (Injected::Frame { interface: 1, packet: packet(0) }, "output"),
            (resolved(packet(0x45)), "rewrite4"),
            (resolved(packet(0x60)), "rewrite6"),
            (Injected::Unreachable { rx: 0, packet: packet(0x45) }, "unreachable4"),
            (Injected::Unreachable { rx: 0, packet: packet(0x60) }, "unreachable6"),
            (Injected::Late { rx: 0, packet: packet(0x45) }, "late4"),
            (Injected::Late { rx: 0, packet: packet(0x60) }, "late6"),
            (Injected::Whole { rx: 0, packet: packet(0x45) }, "local4"),
            (Injected::Whole { rx: 0, packet: packet(0x60) }, "local6"),
            (Injected::Own { rx: 0, packet: packet(0x45) }, "own4"),
            (Injected::Normal { rx: 0, own: InTunnel::default(), packet: packet(0) }, "normal"),
            (Injected::Discard { rx: 0, packet: packet(0) }, "unresolved"),
        ];
        for (injected, exit) in expected {
            world.injector.send(injected).unwrap();
            let out = node.run(&[], 0, 0).remove(0);
            assert_eq!((out.exit.as_str(), &out.header[1..]), (exit, &[1, 2][..]));
            assert_eq!(out.tx, u16::from(exit == "output"));
            assert_eq!(out.adjacency == TO_GATEWAY, exit.starts_with("rewrite"));
        }
        assert!(node.run(&[], 0, 0).is_empty());
    }

    #[test]
    fn a_tunnels_packet_is_counted_when_its_neighbour_has_answered() {
        let (world, pool) = (World::new(), HeapPool::new(16, 2048).unwrap());
        let mut cache = pool.cache();
        let mut node = NodeHarness::<Inject>::new(&world.setup).unwrap();
        let mut inject = |from: [u8; 4], payload: usize, adjacency: u32| {
            let packet = craft::ipv4(from, FAR).udp(1, 4789).payload_len(payload).build();
            let packet = cache.copy_of(&packet).unwrap();
            world.injector.send(Injected::Resolved { adjacency, rx: VXLAN, packet }).unwrap();
            node.run(&[], 0, 0);
            let counted = &world.setup.counters.interfaces[usize::from(VXLAN)];
            [&counted.tx_packets, &counted.tx_bytes].map(|counter| counter.load(Ordering::Relaxed))
        };
        assert_eq!(inject(US, 68, TO_GATEWAY), [1, 60]);
        // What came out of the tunnel, what is too long, and what has to wait again.
        assert_eq!(inject(HOST, 68, TO_GATEWAY), [1, 60]);
        assert_eq!(inject(US, 1473, TO_GATEWAY), [1, 60]);
        assert_eq!(inject(US, 68, INCOMPLETE), [1, 60]);
    }

    #[test]
    fn a_packet_of_ours_to_a_neighbour_stays_on_the_link() {
        let way = |to| way_of_own(&craft::ipv6(US6, to).build());
        assert!(matches!((way(LINK_HOST), way(HOST6)), (Exit::OwnOnLink, Exit::Own6)));
    }

    #[test]
    fn a_fence_is_passed_when_what_came_before_it_has_left() {
        let (world, pool) = (World::new(), HeapPool::new(16, 64).unwrap());
        let mut node = NodeHarness::<Inject>::new(&world.setup).unwrap();
        let (passed, mut cache) = (Arc::new(AtomicBool::new(false)), pool.cache());
        let mut frame = || Injected::Frame { interface: 1, packet: cache.copy_of(b"1").unwrap() };
        for injected in [frame(), Injected::Fence(Arc::clone(&passed)), frame()] {
            world.injector.send(injected).unwrap();
        }
        assert_eq!(node.run(&[], 0, 0).len(), 1);
        assert!(!passed.load(Ordering::Acquire));
        assert_eq!(node.run(&[], 0, 0).len(), 1);
        assert!(passed.load(Ordering::Acquire));
    }

    #[test]
    fn who_injects_rings_so_that_nobody_has_to_look() {
        let (world, doorbell) = (World::new(), Doorbell::default());
        let mut node = NodeHarness::<Inject>::new(&world.setup).unwrap();
        assert!(!node.watched().must_look());
        world.injector.rings(&doorbell);
        assert!(!doorbell.answer());
        world.injector.send(Injected::Fence(Arc::default())).unwrap();
        assert!(doorbell.answer());
    }

    #[test]
    fn only_the_first_worker_injects() {
        let (world, pool) = (World::new(), HeapPool::new(16, 64).unwrap());
        let _first = NodeHarness::<Inject>::new(&world.setup).unwrap();
        let mut second = NodeHarness::<Inject>::new(&world.setup).unwrap();
        let packet = pool.cache().copy_of(b"bytes").unwrap();
        world.injector.send(Injected::Frame { interface: 1, packet }).unwrap();
        assert!(second.run(&[], 0, 0).is_empty());
    }
}
