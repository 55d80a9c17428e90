//! What every node of one worker is made from.

use crate::tables::{
    Bindings, EchoIds, FlowAsked, FlowBridges, FlowClock, FlowRules, FlowState, InjectedQueue,
    Interfaces, LastDropped, Lisp, Listeners, Mailbox, NextHopCounters, RxAttachment, ShapeLetters,
    SlowPath, Stations, TwinLimits, TwinQueue, TxAttachment, Vrfs, WorkerCounters,
};
use fib::adjacency::AdjacencyTable;
use fib::ecmp::EcmpTable;
use fib::ip6::Ip6Table;
use graph::{Handed, Published};
use sched::WaitingRoom;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex};

/// What a route's [`fib::Forward`] says to do; its id then means what stands beside it.
/// The exits of `ip4-lookup` and `ip6-lookup` have the same numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// No route at all.
    NoRoute = 0,
    /// Send by the adjacency of this id.
    Rewrite = 1,
    /// One of our own addresses.
    Local = 2,
    /// A connected subnet: the destination itself is the next hop, on the interface of this id.
    Glean = 3,
    /// Drop without a word.
    Blackhole = 4,
    /// Drop and tell the sender that the host cannot be reached.
    Unreachable = 5,
    /// Drop and tell the sender that this is forbidden.
    Prohibit = 6,
    /// An address that no router forwards to: loopback, reserved, IPv4 multicast.
    Martian = 7,
    /// An address that one link alone knows: of IPv4 the broadcast address of a connected subnet,
    /// of IPv6 link-local and group addresses.
    Link = 8,
    /// As the VRF of this id says. The exit of what is led from VRF to VRF too often.
    Vrf = 9,
    /// To the member of the group of this id that the packet's flow takes. The highest, and no
    /// exit: the member's own kind takes its place.
    Group = 10,
}

/// How much ICMP each worker may send, a second; the control thread changes it at any time.
#[derive(Debug)]
pub struct IcmpLimits {
    /// Messages that tell of errors (RFC 4443 section 2.4 (f) wants them limited).
    pub errors_per_second: AtomicU32,
    /// Echo replies; 0: echo requests are not answered.
    pub echoes_per_second: AtomicU32,
    /// Echo requests to all stations of a link are answered, too.
    pub echoes_broadcasts: AtomicBool,
}

/// What of IPv4 is not everywhere the same; the control thread changes it at any time.
#[derive(Debug, Default)]
pub struct Ip4Rules {
    /// 240.0.0.0/4 (class E, RFC 1112 section 4) are addresses of hosts like others.
    pub class_e: AtomicBool,
}

/// How workers take packets from ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reception {
    /// Packets taken at once, at most: 1 to [`packet::VECTOR`].
    pub vector_packets: usize,
    /// Cycles of the time-stamp counter that each packet costs more than it would: for
    /// measurements.
    pub burn_cycles: u32,
}

impl Default for Reception {
    fn default() -> Self {
        Self { vector_packets: packet::VECTOR, burn_cycles: 0 }
    }
}

/// Tables and queues that all workers share.
#[derive(Clone)]
pub struct Shared {
    /// Interface rows.
    pub interfaces: Published<Interfaces>,
    /// Routes, of each VRF.
    pub vrfs: Published<Vrfs>,
    /// Link-local addresses, ours and known neighbours', as [`link_key`](crate::tables::link_key)
    /// writes them.
    pub ip6_links: Arc<Ip6Table>,
    /// Where routes lead.
    pub adjacencies: Arc<AdjacencyTable>,
    /// Who is where, in all bridges.
    pub stations: Stations,
    /// Who has which address in bridges that answer ARP.
    pub bindings: Published<Bindings>,
    /// Who listens to which groups in bridges that know it.
    pub listeners: Published<Listeners>,
    /// Bridges of flows.
    pub flow_bridges: Published<FlowBridges>,
    /// The time that flows count by.
    pub flow_clock: FlowClock,
    /// Map caches of LISP, and locators.
    pub lisp: Published<Lisp>,
    /// Next hops that share flows.
    pub groups: Arc<EcmpTable>,
    /// Makes this router choose differently from the one before it.
    pub flow_seed: u32,
    /// What tells flows apart.
    pub flows: Arc<FlowRules>,
    /// Whether packets are counted by next hop.
    pub counts_next_hops: Arc<AtomicBool>,
    /// Whether some interface's packets are routed by a policy.
    pub has_policies: Arc<AtomicBool>,
    /// To the control thread.
    pub slow_path: SlowPath,
    /// How much ICMP each worker may send.
    pub icmp: Arc<IcmpLimits>,
    /// Which IPv4 addresses are hosts'.
    pub ip4: Arc<Ip4Rules>,
    /// Whose echo requests are under way.
    pub echo_ids: Arc<EchoIds>,
    /// To the kernel's twins of interfaces.
    pub twins: TwinQueue,
    /// How much each worker may hand to them.
    pub twin_limits: Arc<TwinLimits>,
    /// How packets are received.
    pub reception: Reception,
    /// Buffers that packets may wait in.
    pub waiting_room: Arc<WaitingRoom>,
}

/// One worker's share.
#[derive(Clone)]
pub struct Setup {
    /// What all workers share.
    pub shared: Shared,
    /// What this worker counts.
    pub counters: Arc<WorkerCounters>,
    /// What it dropped last.
    pub dropped: Arc<LastDropped>,
    /// What it counts by next hop.
    pub next_hops: Arc<NextHopCounters>,
    /// What it remembers of flows, which its nodes hand to each other.
    pub flow: Handed<FlowState>,
    /// Who asks what it remembers.
    pub flow_asked: Arc<FlowAsked>,
    /// Receive queues that come and go.
    pub rx: Arc<Mailbox<RxAttachment>>,
    /// Transmit queues that come and go.
    pub tx: Arc<Mailbox<TxAttachment>>,
    /// Schedulers of ports that this worker owns, and ways to those of others.
    pub shape: Arc<ShapeLetters>,
    /// Packets of the control thread's; one worker has them.
    pub injected: Arc<Mutex<Option<InjectedQueue>>>,
}
