//! The walk of chosen packets through the graph, written down.

use std::net::IpAddr;
use std::sync::Arc;

/// Bytes of a packet that a record keeps: enough for Ethernet, IPv6 and a transport header.
pub(crate) const TRACE_BYTES: usize = 96;

/// Says of a frame, as it came in, whether it is wanted.
pub type Wants = Arc<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// Exits, each by its node's slot and its number.
pub type ExitSet = Arc<[(usize, u8)]>;

/// Which packets to follow.
#[derive(Clone, Default)]
pub struct TraceRequest {
    /// Only packets that come in by this interface; any if none is given.
    pub rx: Option<u16>,
    /// Only frames that it wants.
    pub wants: Option<Wants>,
    /// Only packets of whose walk this is so.
    pub walk: WalkWanted,
    /// How many packets.
    pub count: u32,
}

/// What a walk must have. Until it is known a walk is kept back, so it costs more to ask for.
#[derive(Clone, Default)]
pub struct WalkWanted {
    /// A step at which the packet has come in by this interface: one that stands on another.
    pub by: Option<u16>,
    /// A step that takes one of these exits, by slot and number.
    pub exits: Option<ExitSet>,
}

/// One step of one packet.
#[derive(Clone, Debug)]
pub struct TraceRecord {
    /// Number of the packet in its trace, from 1.
    pub packet: u32,
    /// Slot of the node.
    pub slot: usize,
    /// Number of the exit it took; 255: the node took the packet.
    pub exit: u8,
    /// The node made it, and sent it there.
    pub made: bool,
    /// TSC when the node's call ended.
    pub tsc: u64,
    /// TSC cycles of the call, and how many packets shared them.
    pub call_cycles: u64,
    /// Packets in the call.
    pub call_packets: usize,
    /// Interface it came in by.
    pub rx: u16,
    /// Interface it was to leave by, as the node left it.
    pub tx: u16,
    /// Adjacency, as the node left it.
    pub adjacency: u32,
    /// The other end of its tunnel that it was told last, if any, as the node saw it.
    pub remote: Option<IpAddr>,
    /// Our end of it, likewise.
    pub local: Option<IpAddr>,
    /// Bytes from the header to the frame's end, as the node saw it.
    pub length: usize,
    /// Bytes between the frame's start and that header.
    pub consumed: usize,
    /// First bytes of the frame, as the node saw it.
    pub bytes: Vec<u8>,
}
