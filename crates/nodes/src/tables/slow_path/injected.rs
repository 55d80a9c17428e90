//! Packets that the control thread gives to a worker, each with where in the graph it goes on.

use flow::InTunnel;
use packet::PacketBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
    /// A frame that flows leave to `NORMAL`, as if it had come in by this interface.
    Normal {
        /// The interface.
        rx: u16,
        /// What flows say of it in a tunnel that lets them.
        own: InTunnel,
        /// The frame.
        packet: PacketBuf,
    },
    /// A whole frame, to leave by a tunnel that lets flows say its number, or its other end.
    InTunnel {
        /// The tunnel.
        interface: u16,
        /// What they say.
        own: InTunnel,
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
            | Self::Normal { packet, .. }
            | Self::InTunnel { packet, .. }
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
