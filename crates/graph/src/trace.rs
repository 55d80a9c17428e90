//! The walk of chosen packets through the graph, written down.

/// Bytes of a packet that a record keeps: enough for Ethernet, IPv6 and a transport header.
pub(crate) const TRACE_BYTES: usize = 96;

/// Which packets to follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceRequest {
    /// Only packets that come in by this interface; any if none is given.
    pub rx: Option<u16>,
    /// How many packets.
    pub count: u32,
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
    /// Bytes from the header to the frame's end, as the node saw it.
    pub length: usize,
    /// Bytes between the frame's start and that header.
    pub consumed: usize,
    /// First bytes of the frame, as the node saw it.
    pub bytes: Vec<u8>,
}
