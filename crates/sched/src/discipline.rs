//! What every discipline does.

use crate::ClassId;
use crate::packet::Packet;
use crate::pool::{Backlog, Context, Pool, SlotId};
use crate::report::Report;
use crate::units::{Rate, Time};

/// Whether the offered packet is now queued (others may have been dropped for it).
pub(crate) type Accepted = bool;

/// What a discipline answers to `dequeue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Packet(SlotId),
    Wait(u64),
    Empty,
}

/// Where a drained packet stood, and its slot.
pub(crate) type Drained<'a> = &'a mut dyn FnMut(ClassId, SlotId);

/// `enqueue` and `dequeue` stand in line in the root's loop over a burst (`inline(always)`: left to
/// itself the compiler makes calls of them, and saves and restores as many registers as the work
/// itself takes).
pub(crate) trait Discipline {
    /// Takes a slot whose `note` is its packet's arrival.
    fn enqueue<T: Copy>(&mut self, cx: &mut Context<'_, T>, id: SlotId, class: ClassId)
    -> Accepted;
    fn dequeue<T: Copy>(&mut self, cx: &mut Context<'_, T>) -> Step;
    /// Takes packets out of one leaf, for which it accounts together: `out` gets them, one at
    /// least, and says whether it has room for more. Else what there is in place of a packet.
    #[inline(always)]
    fn visit<T: Copy>(
        &mut self,
        cx: &mut Context<'_, T>,
        mut out: impl FnMut(&mut Context<'_, T>, SlotId) -> bool,
    ) -> Option<Step> {
        match self.dequeue(cx) {
            Step::Packet(id) => {
                out(cx, id);
                None
            }
            other => Some(other),
        }
    }
    /// Asks for the memory that these packets, offered next, will touch.
    #[inline(always)]
    fn foresee<T: Copy>(&self, _pool: &Pool<T>, _packets: &[Packet<T>]) {}
    fn backlog(&self) -> Backlog;
    /// Gives out every packet in the order of its queue, with `class` or the class that it stood
    /// in.
    fn drain<T: Copy>(&mut self, cx: &mut Context<'_, T>, class: ClassId, out: Drained<'_>);
    fn report(&self) -> Report;

    /// How many flows wait, where it tells them apart: who has more of them has a greater part.
    fn busy_flows(&self) -> u32 {
        1
    }
    /// Its buckets are empty now, and those of what stands under it.
    fn spend(&mut self, _now_ns: u64) {}
    /// The count of what waits, where the discipline keeps one: a packet taken out early is still
    /// counted in its limit.
    fn own_backlog(&mut self) -> Option<&mut Backlog> {
        None
    }
    /// What `dequeue` would give, where that can be told without taking a packet out.
    fn peek<T: Copy>(&mut self, _cx: &mut Context<'_, T>) -> Option<Peek> {
        None
    }
}

/// What a leaf may send in one visit on a link of that rate, its last packet beside: what the link
/// takes in a microsecond, and no more than two packets of the usual length. Up to some 10 Gbit/s
/// that is one packet of that length.
pub(crate) fn visit_bytes(link: Rate) -> u32 {
    link.bytes_in(Time(1_000)).min(2_800) as u32
}

/// [`Discipline::dequeue`] of one that has a [`Discipline::visit`] of its own.
#[inline(always)]
pub(crate) fn visit_for_one<T: Copy>(
    discipline: &mut impl Discipline,
    cx: &mut Context<'_, T>,
) -> Step {
    let mut chosen = Step::Empty;
    let other = discipline.visit(cx, |_, id| {
        chosen = Step::Packet(id);
        false
    });
    other.unwrap_or(chosen)
}

/// What stands at the head of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peek {
    Length(u32),
    Wait(u64),
    Empty,
}
