//! A node's pen for naming exits.

use crate::exit::{Exit, ExitIndex};
use core::marker::PhantomData;
use core::ops::Range;
use packet::{ExitBytes, Frame, Group, PacketView};

/// Names an exit for each packet of one frame. A slot that is never named would take exit 0, so
/// the ways to write below all cover the whole frame, or say which slot.
pub struct Exits<'a, E> {
    bytes: &'a mut ExitBytes,
    uniform: &'a mut Option<ExitIndex>,
    exits: PhantomData<E>,
}

impl<'a, E: Exit> Exits<'a, E> {
    pub(crate) fn new(bytes: &'a mut ExitBytes, uniform: &'a mut Option<ExitIndex>) -> Self {
        Self { bytes, uniform, exits: PhantomData }
    }

    /// All packets take this exit: the frame moves whole.
    #[inline]
    pub fn all(&mut self, exit: impl Into<ExitIndex>) {
        *self.uniform = Some(exit.into());
    }

    /// The node took every packet.
    #[inline]
    pub fn all_taken(&mut self) {
        self.all(ExitIndex::TAKEN);
    }

    /// The packet in `slot` takes this exit.
    #[inline]
    pub fn set(&mut self, slot: usize, exit: impl Into<ExitIndex>) {
        self.bytes.0[slot] = exit.into().0;
    }

    /// Whether the packet in `slot` was given this exit, by another call than [`Exits::all`].
    #[inline]
    pub fn is(&self, slot: usize, exit: impl Into<ExitIndex>) -> bool {
        self.bytes.0[slot] == exit.into().0
    }

    /// The packets in these slots take this exit.
    #[inline]
    pub fn run(&mut self, slots: Range<usize>, exit: impl Into<ExitIndex>) {
        self.bytes.0[slots].fill(exit.into().0);
    }

    /// The packets of a group take this exit.
    #[inline(always)]
    pub fn group(&mut self, group: &Group, exit: impl Into<ExitIndex>) {
        let exit = exit.into();
        match group {
            Group::All => self.all(exit),
            Group::Some(slots) => slots.each(|slot| self.bytes.0[slot] = exit.0),
            Group::One(slot) => self.bytes.0[*slot] = exit.0,
        }
    }

    /// The pen of a part of the node, whose exits are the first of the node's.
    #[inline(always)]
    pub fn of_part<X: Exit>(&mut self) -> Exits<'_, X> {
        Exits::new(self.bytes, self.uniform)
    }

    /// Every slot's exit number, for bulk kernels.
    #[inline]
    pub fn bytes(&mut self) -> &mut ExitBytes {
        self.bytes
    }

    /// Looks at each packet and names its exit.
    #[inline(always)]
    pub fn each<X: Into<ExitIndex>>(
        &mut self,
        frame: &mut Frame,
        mut decide: impl FnMut(&mut PacketView<'_>) -> X,
    ) {
        frame.each(|mut packet| {
            let exit = decide(&mut packet).into();
            self.bytes.0[packet.index()] = exit.0;
        });
    }
}
