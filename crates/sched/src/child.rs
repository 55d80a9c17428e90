//! A discipline that stands under another.

use crate::ClassId;
use crate::discipline::{Accepted, Discipline, Drained, Peek, Step};
use crate::fifo::Fifo;
use crate::kind::{Kind, each};
use crate::pool::{Backlog, Context, SlotId};
use crate::report::Report;

/// A discipline under another: the usual leaf in line and in one cache line, the others behind a
/// pointer.
pub(crate) enum Child {
    Fifo(Fifo),
    Other(Box<Other>),
}

/// A discipline that is no FIFO, with the packet that was taken out of it to learn its length, if
/// any.
pub(crate) struct Other {
    kind: Kind,
    held: SlotId,
    held_bytes: u32,
    /// Whether the discipline itself counts that packet still.
    held_is_counted: bool,
}

impl Child {
    pub(crate) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Fifo(fifo) => Self::Fifo(fifo),
            kind => {
                let (held, held_bytes, held_is_counted) = (SlotId::NIL, 0, false);
                Self::Other(Box::new(Other { kind, held, held_bytes, held_is_counted }))
            }
        }
    }

    /// Nothing waits here.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Fifo(fifo) => fifo.is_empty(),
            Self::Other(other) => other.backlog().packets == 0,
        }
    }

    /// The next packet, if one may go now, and its length.
    #[inline(always)]
    pub(crate) fn take<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Option<(SlotId, u32)> {
        match self {
            Self::Fifo(fifo) => fifo.take(cx),
            Self::Other(other) => other.take(cx),
        }
    }

    /// The length of the packet that the next `dequeue` gives. A discipline that only knows by
    /// choosing chooses now.
    #[inline(always)]
    pub(crate) fn peek<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Peek {
        match self {
            Self::Fifo(fifo) => fifo.head(cx),
            Self::Other(other) => other.peek(cx),
        }
    }
}

impl Other {
    #[inline(never)]
    fn enqueue<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        id: SlotId,
        class: ClassId,
    ) -> Accepted {
        each!(&mut self.kind, one => one.enqueue(cx, id, class))
    }

    #[inline(never)]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        if !self.held.is_nil() {
            return Step::Packet(self.take_held());
        }
        each!(&mut self.kind, one => one.dequeue(cx))
    }

    #[inline(never)]
    fn take<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Option<(SlotId, u32)> {
        match self.dequeue(cx) {
            Step::Packet(id) => Some((id, cx.length_bytes(id))),
            Step::Wait(_) | Step::Empty => None,
        }
    }

    fn take_held(&mut self) -> SlotId {
        if let Some(backlog) = each!(&mut self.kind, one => one.own_backlog()) {
            backlog.remove(self.held_bytes);
        }
        std::mem::replace(&mut self.held, SlotId::NIL)
    }

    #[inline(never)]
    fn peek<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Peek {
        if !self.held.is_nil() {
            return Peek::Length(self.held_bytes);
        }
        if let Some(peek) = each!(&mut self.kind, one => one.peek(cx)) {
            return peek;
        }
        match self.dequeue(cx) {
            Step::Packet(id) => {
                self.held = id;
                self.held_bytes = cx.length_bytes(id);
                let backlog = each!(&mut self.kind, one => one.own_backlog());
                self.held_is_counted = backlog.is_some();
                if let Some(backlog) = backlog {
                    backlog.add(self.held_bytes);
                }
                Peek::Length(self.held_bytes)
            }
            Step::Wait(until_ns) => Peek::Wait(until_ns),
            Step::Empty => Peek::Empty,
        }
    }

    fn backlog(&self) -> Backlog {
        let mut backlog = each!(&self.kind, one => one.backlog());
        if !self.held.is_nil() && !self.held_is_counted {
            backlog.add(self.held_bytes);
        }
        backlog
    }
}

impl Discipline for Child {
    #[inline]
    fn enqueue<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        id: SlotId,
        class: ClassId,
    ) -> Accepted {
        match self {
            Self::Fifo(fifo) => fifo.enqueue(cx, id, class),
            Self::Other(other) => other.enqueue(cx, id, class),
        }
    }

    #[inline]
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step {
        match self {
            Self::Fifo(fifo) => fifo.dequeue(cx),
            Self::Other(other) => other.dequeue(cx),
        }
    }

    fn backlog(&self) -> Backlog {
        match self {
            Self::Fifo(fifo) => fifo.backlog(),
            Self::Other(other) => other.backlog(),
        }
    }

    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>) {
        match self {
            Self::Fifo(fifo) => fifo.drain(cx, class, out),
            Self::Other(other) => {
                if !other.held.is_nil() {
                    out(class, other.take_held());
                }
                each!(&mut other.kind, one => one.drain(cx, class, out));
            }
        }
    }

    fn report(&self) -> Report {
        match self {
            Self::Fifo(fifo) => fifo.report(),
            Self::Other(other) => each!(&other.kind, one => one.report()),
        }
    }

    fn busy_flows(&self) -> u32 {
        match self {
            Self::Fifo(fifo) => fifo.busy_flows(),
            Self::Other(other) => each!(&other.kind, one => one.busy_flows()),
        }
    }

    fn spend(&mut self, now_ns: u64) {
        if let Self::Other(other) = self {
            each!(&mut other.kind, one => one.spend(now_ns));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_a_cache_line() {
        assert_eq!(size_of::<Option<Child>>(), 64);
    }
}
