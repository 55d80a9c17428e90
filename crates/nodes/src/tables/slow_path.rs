//! Between workers and the control thread: punts one way, packets to send the other.
//!
//! ```text
//!  workers ─┬─ answers: who has an address that was asked for ─┐
//!           ├─ notices: questions, announcements, the rest ────┼─▶ control thread ── injected ──▶ worker 0
//!           └─ packets that wait, pieces ──────────────────────┘
//! ```
//! All queues are bounded and made beforehand, a full one refuses, and of each no interface and
//! family has more than a share: a flood costs its own packets and nothing else. The control thread
//! takes answers first.

use crate::tables::{Bound, BridgeId, EchoHeard, MOST_INTERFACES};
use graph::Doorbell;
use packet::PacketBuf;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
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
            | Self::ListenersWanted(_)
            | Self::Arp(_)
            | Self::Nd(_)
            | Self::RouterWanted(_)
            | Self::Echo(_) => None,
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
    /// A packet that waited for its endpoint, to leave by this interface.
    Mapped {
        /// The interface of LISP.
        interface: u16,
        /// Interface it came in by.
        rx: u16,
        /// From its IP header on.
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
            | Self::Mapped { packet, .. }
            | Self::Discard { packet, .. } => Some(packet),
            Self::Fence(_) => None,
        }
    }
}

/// What is told apart between workers and the control thread, in the order in which it is heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lane {
    /// Who has an address: what somebody waits for.
    Answers,
    /// What need not be heard: it is said again.
    Notices,
    /// Packets, each in a buffer.
    Packets,
}

impl Lane {
    /// All, the first heard first.
    pub const ALL: [Self; 3] = [Self::Answers, Self::Notices, Self::Packets];

    /// Shares that fit the lane while all are full. Packets hold buffers.
    fn shares(self) -> usize {
        match self {
            Self::Answers | Self::Notices => 16,
            Self::Packets => 4,
        }
    }
}

impl Punt {
    /// The lane it takes.
    pub fn lane(&self) -> Lane {
        match self {
            Self::Unresolved(_)
            | Self::Piece(_)
            | Self::BetterWay6(_)
            | Self::FlowTold(_)
            | Self::GroupsSaid(_)
            | Self::EidWanted(_)
            | Self::LispSaid(_) => Lane::Packets,
            Self::Arp(heard) if heard.is_reply && !heard.is_gratuitous => Lane::Answers,
            Self::Nd(NdHeard { said: NdSaid::Advertised { solicited: true, .. }, .. }) => {
                Lane::Answers
            }
            Self::Arp(_)
            | Self::Nd(_)
            | Self::Moved(_)
            | Self::Binding(_)
            | Self::RemoteHeard(_)
            | Self::BetterWay(_)
            | Self::Lacp(_)
            | Self::ListenersWanted(_)
            | Self::RouterWanted(_)
            | Self::Echo(_) => Lane::Notices,
        }
    }

    /// Whose share of the lane it takes: an interface's (or bridge's), and which of its [`KINDS`].
    fn share(&self) -> (u16, usize) {
        let family = |address: &IpAddr| usize::from(address.is_ipv6());
        match self {
            Self::Unresolved(it) => (it.interface, family(&it.next_hop)),
            Self::RemoteHeard(it) => (it.underlay, family(&it.remote)),
            Self::Arp(ArpHeard { interface, .. })
            | Self::BetterWay(BetterWay { interface, .. })
            | Self::Moved(StationMoved { to: interface, .. }) => (*interface, 0),
            Self::ListenersWanted(ListenersWanted { interface, .. })
            | Self::Nd(NdHeard { interface, .. })
            | Self::RouterWanted(RouterWanted { interface, .. }) => (*interface, 1),
            Self::FlowTold(it) => (it.interface, 3),
            Self::GroupsSaid(it) => (it.interface, 2),
            Self::Piece(it) => (it.packet.rx(), 2),
            Self::Lacp(it) => (it.interface, 2),
            Self::Binding(it) => (it.bridge.0, 2),
            Self::Echo(it) => (it.interface, 3),
            // Apart from those that wait for a neighbour.
            Self::BetterWay6(it) => (it.interface, 3),
            Self::EidWanted(it) => (it.interface, family(&it.endpoint)),
            Self::LispSaid(it) => (it.interface, 2),
        }
    }
}

/// Shares of an interface in a lane: of IPv4, of IPv6, of what is of neither, and of answers to
/// echo requests of ours.
const KINDS: usize = 4;

/// How many punts of each share wait.
struct Waiting {
    most: u32,
    shares: Vec<AtomicU32>,
}

impl Waiting {
    fn of(&self, punt: &Punt) -> &AtomicU32 {
        let (interface, kind) = punt.share();
        &self.shares[(usize::from(interface) * KINDS + kind) % self.shares.len()]
    }

    /// Whether there is room for one more of its share.
    fn enter(&self, punt: &Punt) -> bool {
        let share = self.of(punt);
        let enters = share.fetch_add(1, Ordering::Relaxed) < self.most;
        if !enters {
            share.fetch_sub(1, Ordering::Relaxed);
        }
        enters
    }

    fn leave(&self, punt: &Punt) {
        self.of(punt).fetch_sub(1, Ordering::Relaxed);
    }
}

/// The workers' end: tells the control thread, and wakes it.
#[derive(Clone)]
pub struct SlowPath {
    lanes: [(SyncSender<Punt>, Arc<Waiting>); Lane::ALL.len()],
    wake: Arc<dyn Fn() + Send + Sync>,
}

/// The control thread's end of the punts.
pub struct Punts([(Receiver<Punt>, Arc<Waiting>); Lane::ALL.len()]);

/// The control thread's end of a worker's injection queue.
#[derive(Clone)]
pub struct Injector {
    queue: SyncSender<Injected>,
    waiting: Arc<AtomicUsize>,
    most: usize,
    /// The worker's, once there is one.
    doorbell: Arc<OnceLock<Doorbell>>,
}

/// The worker's end of its injection queue.
pub struct InjectedQueue {
    queue: Receiver<Injected>,
    waiting: Arc<AtomicUsize>,
}

/// A slow path that holds, in each lane, at most `most` punts of each interface and family; `wake`
/// is called (by workers) after each.
pub fn slow_path(most: usize, wake: Arc<dyn Fn() + Send + Sync>) -> (SlowPath, Punts) {
    let waiting = || {
        let shares = (0..MOST_INTERFACES * KINDS).map(|_| AtomicU32::new(0)).collect();
        Arc::new(Waiting { most: most as u32, shares })
    };
    let lanes = Lane::ALL.map(|lane| (sync_channel(most * lane.shares()), waiting()));
    let told =
        lanes.map(|((send, receive), waiting)| ((send, Arc::clone(&waiting)), (receive, waiting)));
    let [answers, notices, packets] = told;
    let lanes = [answers.0, notices.0, packets.0];
    (SlowPath { lanes, wake }, Punts([answers.1, notices.1, packets.1]))
}

impl SlowPath {
    /// Tells the control thread; gives the punt back when it has too much to do.
    pub fn tell(&self, punt: Punt) -> Result<(), Punt> {
        use std::sync::mpsc::TrySendError::{Disconnected, Full};
        let (queue, waiting) = &self.lanes[punt.lane() as usize];
        if !waiting.enter(&punt) {
            return Err(punt);
        }
        match queue.try_send(punt) {
            Ok(()) => {
                (self.wake)();
                Ok(())
            }
            Err(Full(punt) | Disconnected(punt)) => {
                waiting.leave(&punt);
                Err(punt)
            }
        }
    }
}

impl Punts {
    /// The oldest punt of the first lane that has any.
    pub fn next(&self) -> Option<Punt> {
        Lane::ALL.into_iter().find_map(|lane| self.next_of(lane))
    }

    /// The oldest punt of a lane, if there is any.
    pub fn next_of(&self, lane: Lane) -> Option<Punt> {
        let (queue, waiting) = &self.0[lane as usize];
        let punt = queue.try_recv().ok()?;
        waiting.leave(&punt);
        Some(punt)
    }
}

impl Injector {
    /// A queue of at most `most` packets, and the worker's end of it.
    pub fn new(most: usize) -> (Self, InjectedQueue) {
        let (send, queue) = sync_channel(most);
        let waiting = Arc::new(AtomicUsize::new(0));
        let injector =
            Self { queue: send, waiting: Arc::clone(&waiting), most, doorbell: Arc::default() };
        (injector, InjectedQueue { queue, waiting })
    }

    /// From now on this is rung for all that is sent: the bell of the worker that reads.
    pub fn rings(&self, doorbell: &Doorbell) {
        let _first = self.doorbell.set(doorbell.clone());
    }

    /// Whether more than half of the queue is free.
    pub fn has_room(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < self.most / 2
    }

    /// Sends; gives the packet back when the queue is full.
    pub fn send(&self, injected: Injected) -> Result<(), Injected> {
        use std::sync::mpsc::TrySendError::{Disconnected, Full};
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.queue.try_send(injected).map_err(|error| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            match error {
                Full(injected) | Disconnected(injected) => injected,
            }
        })?;
        if let Some(doorbell) = self.doorbell.get() {
            doorbell.ring();
        }
        Ok(())
    }
}

impl InjectedQueue {
    /// The next, if there is any.
    pub fn next(&self) -> Option<Injected> {
        let injected = self.queue.try_recv().ok()?;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        Some(injected)
    }
}

#[cfg(test)]
mod tests;
