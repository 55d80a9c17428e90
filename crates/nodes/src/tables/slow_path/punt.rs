//! What workers tell the control thread: one kind of news each, with the packet that it is about
//! where one waits.

use crate::tables::{Bound, BridgeId, EchoHeard};
use packet::PacketBuf;
use std::net::IpAddr;
use std::sync::Arc;
use wire::lacp::Pdu;
use wire::{ipv6, nd};

/// What an ARP packet said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArpHeard {
    /// Interface that heard it.
    pub interface: u16,
    /// Sender's address.
    pub address: u32,
    /// Sender's MAC.
    pub mac: [u8; 6],
    /// A reply (to us, unless gratuitous); else a request.
    pub is_reply: bool,
    /// An announcement: sender and target address are the same, or the sender claims an address
    /// of ours. It makes no neighbour of whoever sent it.
    pub is_gratuitous: bool,
    /// A request that asked for an address of ours, or a reply sent to our MAC.
    pub is_for_us: bool,
}

/// What a neighbour discovery message said (RFC 4861).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NdHeard {
    /// Interface that heard it.
    pub interface: u16,
    /// Whose the message is; `::` in a solicitation that only looks whether its target is free.
    pub source: u128,
    /// The MAC that the message tells of: its sender's, or its target's in an advertisement; that
    /// of its frame if it is nobody's. None if it tells of none.
    pub mac: Option<[u8; 6]>,
    /// What it says.
    pub said: NdSaid,
}

/// What a neighbour discovery message says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NdSaid {
    /// A question for an address of ours, valid or tentative.
    Solicited {
        /// The address.
        target: u128,
    },
    /// An answer, or an announcement, of a neighbour's.
    Advertised {
        /// The neighbour's address.
        target: u128,
        /// It answers a question.
        solicited: bool,
        /// It replaces what is known.
        overrides: bool,
    },
}

/// A host looks for routers (RFC 4861 section 6.2.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RouterWanted {
    /// Interface that heard it.
    pub interface: u16,
    /// The host; `::` if it has no address yet.
    pub source: u128,
    /// Its MAC, if it told.
    pub mac: Option<[u8; 6]>,
}

/// A station of a bridge was heard behind another port than before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StationMoved {
    /// Bridge and address.
    pub station: fib::mac::MacKey,
    /// The interface that it was behind.
    pub from: u32,
    /// The interface that it is behind.
    pub to: u16,
}

/// A station of a bridge said that it has an IP address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BindingHeard {
    /// The bridge.
    pub bridge: BridgeId,
    /// The address.
    pub address: IpAddr,
    /// The station.
    pub bound: Bound,
}

/// A host's packets would leave by the interface that they came by, for a neighbour of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BetterWay {
    /// That interface.
    pub interface: u16,
    /// The neighbour.
    pub gateway: u32,
    /// The first octets of one of the packets, from its IPv4 header on, without options.
    pub head: [u8; Self::QUOTED],
}

impl BetterWay {
    /// RFC 792: the header, and eight octets.
    pub const QUOTED: usize = 28;
}

/// The same of IPv6. The control thread owns the copy now.
#[derive(Debug)]
pub struct BetterWay6 {
    /// The interface.
    pub interface: u16,
    /// The neighbour: a router by its link-local address, or where the packet is for.
    pub gateway: u128,
    /// The host's MAC address.
    pub mac: [u8; 6],
    /// The first octets of one of the packets, from its IPv6 header on: whole eights.
    pub packet: PacketBuf,
}

impl BetterWay6 {
    /// RFC 4861 section 8.3: as much as leaves the message no longer than the least MTU, behind
    /// headers, redirect, a MAC and the head of the option that this stands in.
    pub const QUOTED: usize = ipv6::MIN_MTU - ipv6::Header::LEN - nd::Redirect::LEN - 8 - 8;
}

/// A packet that must wait until its next hop's MAC is known. The control thread owns it now.
#[derive(Debug)]
pub struct Unresolved {
    /// Its adjacency, which is incomplete; none for a neighbour on a connected subnet that
    /// nobody asked for before.
    pub adjacency: Option<u32>,
    /// The next hop.
    pub next_hop: IpAddr,
    /// The interface it is behind.
    pub interface: u16,
    /// The packet, from its IP header on.
    pub packet: PacketBuf,
}

/// A tunnel's packet came from an end that is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemoteHeard {
    /// The tunnel's own interface.
    pub interface: u16,
    /// The interface that its packet came by.
    pub underlay: u16,
    /// The other end.
    pub remote: IpAddr,
}

/// A piece of a packet to ourselves. The control thread owns it now.
#[derive(Debug)]
pub struct PieceCame {
    /// Whose addresses it has: told apart by VRF, or by link.
    pub scope: u32,
    /// The piece, from its IP header on.
    pub packet: PacketBuf,
}

/// A member of a bond heard what the other end of its link says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LacpHeard {
    /// The member's interface.
    pub interface: u16,
    /// What it says.
    pub pdu: Pdu,
}

/// Another bridge says what it knows of the spanning tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BpduHeard {
    /// The interface that heard it.
    pub interface: u16,
    /// The frame's first octets, behind which nothing is looked at.
    pub bytes: [u8; Self::SEEN],
    /// How many of them it has.
    pub length: u8,
}

impl BpduHeard {
    /// Octets of a frame that are told: as many as the shortest frame has.
    pub const SEEN: usize = 60;

    /// What a frame says that came in by an interface.
    pub fn new(interface: u16, frame: &[u8]) -> Self {
        let length = frame.len().min(Self::SEEN);
        let mut bytes = [0; Self::SEEN];
        bytes[..length].copy_from_slice(&frame[..length]);
        Self { interface, bytes, length: length as u8 }
    }

    /// The frame's first octets.
    pub fn frame(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Somebody asks which groups of IPv6 we listen to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListenersWanted {
    /// The interface that heard it.
    pub interface: u16,
    /// How long the answer may take.
    pub within_ms: u32,
}

/// An endpoint of another site is not known. The packet to it, if there is one, the control thread
/// owns now.
#[derive(Debug)]
pub struct EidWanted {
    /// The interface of its instance.
    pub interface: u16,
    /// The endpoint.
    pub endpoint: IpAddr,
    /// The packet, from its IP header on; none where it is asked who may send.
    pub packet: Option<PacketBuf>,
}

/// A message of LISP's control plane. The control thread owns it now.
#[derive(Debug)]
pub struct LispSaid {
    /// The interface that heard it.
    pub interface: u16,
    /// Where its datagram begins.
    pub upper: usize,
    /// The packet, from its IP header on.
    pub packet: PacketBuf,
}

/// A packet came to a flow that tells somebody. The control thread owns the copy.
#[derive(Debug)]
pub struct FlowTold {
    /// The bridge.
    pub bridge: BridgeId,
    /// The interface that it came in by.
    pub interface: u16,
    /// What is told.
    pub told: Arc<flow::Told>,
    /// The packet.
    pub packet: PacketBuf,
}

/// Somebody said something of groups, in a bridge that listens to that. The control thread owns the
/// copy.
#[derive(Debug)]
pub struct GroupsSaid {
    /// The bridge.
    pub bridge: BridgeId,
    /// The interface that it came in by.
    pub interface: u16,
    /// The whole frame.
    pub packet: PacketBuf,
}

/// What workers tell the control thread.
#[derive(Debug)]
pub enum Punt {
    /// A packet of a bridge of flows.
    FlowTold(FlowTold),
    /// A packet waits for its next hop's MAC.
    Unresolved(Unresolved),
    /// Something about a station of a bridge.
    Moved(StationMoved),
    /// Who has an address in a bridge.
    Binding(BindingHeard),
    /// Who listens to groups in a bridge.
    GroupsSaid(GroupsSaid),
    /// A tunnel has another end.
    RemoteHeard(RemoteHeard),
    /// A piece is to be put together with others.
    Piece(PieceCame),
    /// A host is to be told of a better way.
    BetterWay(BetterWay),
    /// A host of IPv6 is to be told of a better way.
    BetterWay6(BetterWay6),
    /// Something about the other end of a bond's member.
    Lacp(LacpHeard),
    /// Something about the spanning tree.
    Bpdu(BpduHeard),
    /// Groups of IPv6 are to be told.
    ListenersWanted(ListenersWanted),
    /// Something about an IPv4 neighbour.
    Arp(ArpHeard),
    /// Something about an IPv6 neighbour.
    Nd(NdHeard),
    /// Routers are to advertise themselves.
    RouterWanted(RouterWanted),
    /// Something is said of an echo request of ours.
    Echo(EchoHeard),
    /// An endpoint of another site is to be asked for.
    EidWanted(EidWanted),
    /// A message of LISP's.
    LispSaid(LispSaid),
}

impl Punt {
    /// The packet that comes with it.
    pub fn into_packet(self) -> Option<PacketBuf> {
        match self {
            Self::Unresolved(Unresolved { packet, .. })
            | Self::Piece(PieceCame { packet, .. })
            | Self::BetterWay6(BetterWay6 { packet, .. })
            | Self::FlowTold(FlowTold { packet, .. })
            | Self::GroupsSaid(GroupsSaid { packet, .. })
            | Self::LispSaid(LispSaid { packet, .. }) => Some(packet),
            Self::EidWanted(EidWanted { packet, .. }) => packet,
            Self::Moved(_)
            | Self::Binding(_)
            | Self::RemoteHeard(_)
            | Self::BetterWay(_)
            | Self::Lacp(_)
            | Self::Bpdu(_)
            | Self::ListenersWanted(_)
            | Self::Arp(_)
            | Self::Nd(_)
            | Self::RouterWanted(_)
            | Self::Echo(_) => None,
        }
    }
}
