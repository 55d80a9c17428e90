//! Between workers and the kernel's twins of interfaces: packets for us that the kernel answers.
//!
//! ```text
//!  workers ── to twin (bounded, a full queue drops) ──▶ who writes to the twins
//! ```
//! What the kernel sends comes back as [`Injected`](crate::tables::Injected) frames.

use packet::PacketBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use wire::ip::protocol;
use wire::{icmp6, ipv4, ipv6, tcp, udp};

/// What a packet for a twin is about. Each class has an allowance of its own, so that a flood of
/// one leaves the others what they need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum TwinClass {
    /// Who is where on the link: ARP, neighbour discovery.
    Neighbors = 0,
    /// Routing protocols and what they stand on: OSPF, BGP, BFD, RIP, VRRP, PIM, IGMP, MLD.
    Routing = 1,
    /// Other TCP connections.
    Tcp = 2,
    /// Everything else.
    Rest = 3,
}

impl TwinClass {
    /// How many there are.
    pub const COUNT: usize = 4;
    /// Every class, by number.
    pub const ALL: [Self; Self::COUNT] = [Self::Neighbors, Self::Routing, Self::Tcp, Self::Rest];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Neighbors => "neighbors",
            Self::Routing => "routing",
            Self::Tcp => "tcp",
            Self::Rest => "rest",
        }
    }

    /// The class of an IPv4 packet.
    pub fn of_ip4(packet: &[u8]) -> Self {
        let Some(header) = ipv4::Header::new(packet) else { return Self::Rest };
        // Only the first piece of a packet tells more than its protocol.
        let payload = packet.get(header.header_len()..).unwrap_or_default();
        let payload = if header.is_fragment() { &[] } else { payload };
        Self::of_payload(header.protocol(), payload)
    }

    /// The class of an IPv6 packet.
    pub fn of_ip6(packet: &[u8]) -> Self {
        let Some(header) = ipv6::Header::new(packet) else { return Self::Rest };
        let payload = packet.get(ipv6::Header::LEN..).unwrap_or_default();
        let (mut next, mut payload) = (header.next_header(), payload);
        // MLD comes behind a hop-by-hop header (RFC 3810 section 5).
        if next == protocol::HOP_BY_HOP
            && let Some(header) = ipv6::extension::header(next, payload)
        {
            (next, payload) = (header[0], payload.get(header.len()..).unwrap_or_default());
        }
        Self::of_payload(next, payload)
    }

    fn of_payload(number: u8, payload: &[u8]) -> Self {
        match number {
            protocol::TCP => match tcp::Header::new(payload) {
                Some(tcp) if is_routing_tcp(tcp.source_port(), tcp.destination_port()) => {
                    Self::Routing
                }
                _ => Self::Tcp,
            },
            protocol::UDP => match udp::Header::new(payload) {
                Some(udp) if ROUTING_UDP.contains(&udp.destination_port()) => Self::Routing,
                _ => Self::Rest,
            },
            protocol::ICMP6 => match icmp6::Header::new(payload).map(|it| it.message_type()) {
                Some(icmp6::message::ROUTER_SOLICITATION..=icmp6::message::REDIRECT) => {
                    Self::Neighbors
                }
                Some(
                    icmp6::message::MLD_QUERY
                    | icmp6::message::MLD_REPORT
                    | icmp6::message::MLD_DONE
                    | icmp6::message::MLD2_REPORT,
                ) => Self::Routing,
                _ => Self::Rest,
            },
            protocol::IGMP | EIGRP | protocol::OSPF | PIM | VRRP => Self::Routing,
            _ => Self::Rest,
        }
    }
}

const EIGRP: u8 = 88;
const PIM: u8 = 103;
const VRRP: u8 = 112;

/// BGP, LDP.
const ROUTING_TCP: [u16; 2] = [179, 646];
/// RIP, RIPng, LDP, BFD (one hop, echo, many hops).
const ROUTING_UDP: [u16; 6] = [520, 521, 646, 3784, 3785, 4784];

fn is_routing_tcp(source: u16, destination: u16) -> bool {
    ROUTING_TCP.contains(&source) || ROUTING_TCP.contains(&destination)
}

/// How many packets of each class a worker may hand over, a second; the control thread changes it
/// at any time.
#[derive(Debug)]
pub struct TwinLimits(pub [AtomicU32; TwinClass::COUNT]);

impl Default for TwinLimits {
    fn default() -> Self {
        Self([2_000, 10_000, 20_000, 2_000].map(AtomicU32::new))
    }
}

/// A packet for a twin. Who has it owns it.
#[derive(Debug)]
pub struct ToTwin {
    /// The interface whose twin it is.
    pub interface: u16,
    /// The frame, from its Ethernet header on.
    pub packet: PacketBuf,
}

/// The workers' end: hands packets over, and wakes who writes them.
#[derive(Clone)]
pub struct TwinQueue {
    packets: SyncSender<ToTwin>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

/// A queue of at most `most` packets, and its other end.
pub fn twin_queue(most: usize, wake: Arc<dyn Fn() + Send + Sync>) -> (TwinQueue, Receiver<ToTwin>) {
    let (packets, receiver) = sync_channel(most);
    (TwinQueue { packets, wake }, receiver)
}

impl TwinQueue {
    /// Hands a packet over, or gives it back when there are too many. [`TwinQueue::wake`] it then.
    pub fn hand(&self, to: ToTwin) -> Result<(), ToTwin> {
        use std::sync::mpsc::TrySendError::{Disconnected, Full};
        self.packets.try_send(to).map_err(|error| match error {
            Full(to) | Disconnected(to) => to,
        })
    }

    /// Wakes who writes them.
    pub fn wake(&self) {
        (self.wake)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{HOST, HOST6, US, US6};
    use wire::craft;

    #[test]
    fn packets_are_told_apart_by_what_they_are_about() {
        let ip4 = || craft::ipv4(HOST, US);
        for (packet, class) in [
            (ip4().protocol(89).build(), TwinClass::Routing),
            (ip4().tcp(179, 4000).build(), TwinClass::Routing),
            (ip4().tcp(4000, 179).build(), TwinClass::Routing),
            (ip4().tcp(4000, 22).build(), TwinClass::Tcp),
            (ip4().fragment(8, false).tcp(179, 4000).build(), TwinClass::Tcp),
            (ip4().udp(3784, 3784).build(), TwinClass::Routing),
            (ip4().udp(1, 53).build(), TwinClass::Rest),
            (ip4().icmp_echo_reply(1, 1).build(), TwinClass::Rest),
            (vec![0x45; 3], TwinClass::Rest),
        ] {
            assert_eq!(TwinClass::of_ip4(&packet), class, "{packet:x?}");
        }
    }

    #[test]
    fn ipv6_packets_are_as_well() {
        let ip6 = || craft::ipv6(HOST6, US6);
        for (packet, class) in [
            (ip6().next_header(89).build(), TwinClass::Routing),
            (ip6().tcp(4000, 179).build(), TwinClass::Routing),
            (ip6().tcp(4000, 22).build(), TwinClass::Tcp),
            (ip6().icmp6(136, 0, [0; 4]).build(), TwinClass::Neighbors),
            (ip6().hop_by_hop(&[]).icmp6(130, 0, [0; 4]).build(), TwinClass::Routing),
            (ip6().icmp6(129, 0, [0; 4]).build(), TwinClass::Rest),
            (vec![0x60; 3], TwinClass::Rest),
        ] {
            assert_eq!(TwinClass::of_ip6(&packet), class, "{packet:x?}");
        }
    }
}
