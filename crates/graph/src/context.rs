//! What a node may use beside the frame: the time, buffers, and a way to send packets of its own.

use crate::exit::ExitIndex;
use packet::{ExitBytes, Frame, PacketBuf, PacketCache, PacketView};

/// One call's surroundings.
pub struct Context<'a> {
    /// TSC at the start of this pass over the graph.
    pub now_tsc: u64,
    /// Which worker runs the node.
    pub worker: u16,
    /// Packets are copied, or looked for that are to be followed: who takes short cuts takes none.
    /// Nor is one for a frame of which some are followed ([`Frame::is_traced`]).
    pub is_observed: bool,
    /// Buffers to take from and give back to.
    pub cache: &'a mut dyn PacketCache,
    pub(crate) emitted: &'a mut Emitted,
    pub(crate) due_tsc: &'a mut u64,
}

/// Packets that nodes made during one call, with their exits.
pub(crate) struct Emitted {
    pub(crate) frame: Box<Frame>,
    pub(crate) exits: ExitBytes,
}

impl Emitted {
    pub(crate) fn new() -> Self {
        Self { frame: Frame::new(), exits: ExitBytes::default() }
    }
}

impl Context<'_> {
    /// Has timed nodes called again once the TSC has come so far, even if the worker rests by then.
    #[inline]
    pub fn call_at(&mut self, tsc: u64) {
        *self.due_tsc = tsc.min(*self.due_tsc);
    }

    /// How many more packets this call may emit.
    #[inline]
    pub fn room_to_emit(&self) -> usize {
        self.emitted.frame.room()
    }

    /// Sends a packet of the node's own by `exit`, behind the frame's; the view sets where it goes.
    /// At most a frame of them a call: a packet too many comes back.
    pub fn emit(
        &mut self,
        mut packet: PacketBuf,
        rx: u16,
        exit: impl Into<ExitIndex>,
    ) -> Result<PacketView<'_>, PacketBuf> {
        if self.room() == 0 {
            return Err(packet);
        }
        packet.set_trace(0);
        self.emit_shared(packet, rx, exit)
    }

    /// How many more packets can be emitted in this call.
    pub fn room(&self) -> usize {
        self.emitted.frame.room()
    }

    /// Sends one more reference of a packet that the frame has, too ([`PacketView::share`]); a
    /// trace follows all of them.
    pub fn emit_shared(
        &mut self,
        packet: PacketBuf,
        rx: u16,
        exit: impl Into<ExitIndex>,
    ) -> Result<PacketView<'_>, PacketBuf> {
        let slot = self.emitted.frame.len();
        if self.room() == 0 {
            return Err(packet);
        }
        if packet.trace() != 0 {
            self.emitted.frame.mark_traced();
        }
        self.emitted.frame.push(packet, rx);
        self.emitted.exits.0[slot] = exit.into().0;
        Ok(self.emitted.frame.view(slot))
    }
}
