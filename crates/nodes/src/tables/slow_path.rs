//! Between workers and the control thread: punts one way, packets to send the other.
//!
//! ```text
//!  workers ── punts (bounded, a full queue drops) ──▶ control thread ── injected ──▶ worker 0
//! ```
//! Both queues are bounded and made beforehand: a flood costs its own packets and nothing else.

use crate::tables::{Bound, BridgeId};
use graph::Doorbell;
use packet::PacketBuf;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};

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

/// Somebody asks which groups of IPv6 we listen to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListenersWanted {
    /// The interface that heard it.
    pub interface: u16,
    /// How long the answer may take.
    pub within_ms: u32,
}

/// What workers tell the control thread.
#[derive(Debug)]
pub enum Punt {
    /// A packet waits for its next hop's MAC.
    Unresolved(Unresolved),
    /// Something about a station of a bridge.
    Moved(StationMoved),
    /// Who has an address in a bridge.
    Binding(BindingHeard),
    /// A tunnel has another end.
    RemoteHeard(RemoteHeard),
    /// A piece is to be put together with others.
    Piece(PieceCame),
    /// A host is to be told of a better way.
    BetterWay(BetterWay),
    /// Groups of IPv6 are to be told.
    ListenersWanted(ListenersWanted),
    /// Something about an IPv4 neighbour.
    Arp(ArpHeard),
    /// Something about an IPv6 neighbour.
    Nd(NdHeard),
    /// Routers are to advertise themselves.
    RouterWanted(RouterWanted),
}

impl Punt {
    /// The packet that comes with it.
    pub fn into_packet(self) -> Option<PacketBuf> {
        match self {
            Self::Unresolved(Unresolved { packet, .. }) | Self::Piece(PieceCame { packet, .. }) => {
                Some(packet)
            }
            Self::Moved(_)
            | Self::Binding(_)
            | Self::RemoteHeard(_)
            | Self::BetterWay(_)
            | Self::ListenersWanted(_)
            | Self::Arp(_)
            | Self::Nd(_)
            | Self::RouterWanted(_) => None,
        }
    }
}

/// A packet that the control thread sends.
#[derive(Debug)]
pub enum Injected {
    /// A whole frame, to leave by this interface.
    Frame {
        /// The interface.
        interface: u16,
        /// The frame.
        packet: PacketBuf,
    },
    /// A packet that waited for its adjacency, complete now.
    Resolved {
        /// The adjacency.
        adjacency: u32,
        /// Interface it came in by.
        rx: u16,
        /// From its IP header on.
        packet: PacketBuf,
    },
    /// A packet whose next hop does not answer: its sender is to be told.
    Unreachable {
        /// Interface it came in by.
        rx: u16,
        /// From its IP header on.
        packet: PacketBuf,
    },
    /// A packet to ourselves that came in pieces.
    Whole {
        /// Interface that its last piece came in by.
        rx: u16,
        /// The packet.
        packet: PacketBuf,
    },
    /// A packet of our own, to be routed.
    Own {
        /// Interface that its reason came in by.
        rx: u16,
        /// The packet.
        packet: PacketBuf,
    },
    /// The first piece of a packet whose other pieces did not come.
    Late {
        /// Interface it came in by.
        rx: u16,
        /// The piece.
        packet: PacketBuf,
    },
    /// Not a packet: the flag is set once all that was injected before has left the graph.
    Fence(Arc<AtomicBool>),
    /// A packet that nobody wants: its buffer goes back.
    Discard {
        /// Interface it came in by.
        rx: u16,
        /// The packet.
        packet: PacketBuf,
    },
}

impl Injected {
    /// The packet that comes with it.
    pub fn into_packet(self) -> Option<PacketBuf> {
        match self {
            Self::Frame { packet, .. }
            | Self::Resolved { packet, .. }
            | Self::Unreachable { packet, .. }
            | Self::Whole { packet, .. }
            | Self::Own { packet, .. }
            | Self::Late { packet, .. }
            | Self::Discard { packet, .. } => Some(packet),
            Self::Fence(_) => None,
        }
    }
}

/// The workers' end: tells the control thread, and wakes it.
#[derive(Clone)]
pub struct SlowPath {
    punts: SyncSender<Punt>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

/// The control thread's end of the punts.
pub struct Punts(Receiver<Punt>);

/// The control thread's end of a worker's injection queue.
#[derive(Clone)]
pub struct Injector {
    queue: SyncSender<Injected>,
    /// The worker's, once there is one.
    doorbell: Arc<OnceLock<Doorbell>>,
}

/// A slow path that holds at most `most` punts; `wake` is called (by workers) after each.
pub fn slow_path(most: usize, wake: Arc<dyn Fn() + Send + Sync>) -> (SlowPath, Punts) {
    let (punts, queue) = sync_channel(most);
    (SlowPath { punts, wake }, Punts(queue))
}

impl SlowPath {
    /// Tells the control thread; gives the punt back when it has too much to do.
    pub fn tell(&self, punt: Punt) -> Result<(), Punt> {
        use std::sync::mpsc::TrySendError::{Disconnected, Full};
        match self.punts.try_send(punt) {
            Ok(()) => {
                (self.wake)();
                Ok(())
            }
            Err(Full(punt) | Disconnected(punt)) => Err(punt),
        }
    }
}

impl Punts {
    /// The oldest punt, if there is any.
    pub fn next(&self) -> Option<Punt> {
        self.0.try_recv().ok()
    }
}

impl Injector {
    /// A queue of at most `most` packets, and the worker's end of it.
    pub fn new(most: usize) -> (Self, Receiver<Injected>) {
        let (send, receive) = sync_channel(most);
        (Self { queue: send, doorbell: Arc::default() }, receive)
    }

    /// From now on this is rung for all that is sent: the bell of the worker that reads.
    pub fn rings(&self, doorbell: &Doorbell) {
        let _first = self.doorbell.set(doorbell.clone());
    }

    /// Sends; gives the packet back when the queue is full.
    pub fn send(&self, injected: Injected) -> Result<(), Injected> {
        use std::sync::mpsc::TrySendError::{Disconnected, Full};
        self.queue.try_send(injected).map_err(|error| match error {
            Full(injected) | Disconnected(injected) => injected,
        })?;
        if let Some(doorbell) = self.doorbell.get() {
            doorbell.ring();
        }
        Ok(())
    }
}
