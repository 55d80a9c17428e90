//! Copies of what interfaces carry, for who listens at another one.
//!
//! ```text
//!  interface_input  ─▶ mirror_input  ─▶ (the next feature)
//!  interface_output ─▶ mirror_output ─▶ interface_leave
//!                           └─ the copy ─▶ interface_output ─▶ a port, a VLAN, a tunnel
//! ```
//! A copy that is to leave by a VLAN or a tunnel is said to have come by that: what is said so is
//! copied no more, wherever it leaves. One that leaves by a port as it is meets no mirror.
//!
//! Where neither the frame nor its copy is changed any more, both are references of one buffer.

use crate::interface::{mirror_input::MirrorInput, mirror_output::MirrorOutput};
use crate::tables::{
    BridgePort, Heeds, Interface, Interfaces, Link, MOST_INTERFACES, MirroredCounters, Mode,
    Received, Run, Sent, Setup, Side, Work, WorkerCounters,
};
use crate::tunnel::CopyTold;
use graph::{Context, ExitIndex, Exits, add};
use packet::{Frame, PacketView};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The interface that copies of an interface's frames go to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MirrorTo(pub u16);

/// Copies of what others carry leave by the interface, put into tags or a tunnel; and nothing else
/// does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForCopies;

/// What is copied of an interface's frames, each way; all, where it says nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MirrorParts {
    /// Of those that it receives.
    pub received: MirrorPart,
    /// Of those that it sends.
    pub sent: MirrorPart,
}

/// What is copied of frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MirrorPart {
    /// Octets of each, from the first, at most.
    pub most: u32,
    /// One of so many, on each worker.
    pub one_of: u32,
}

impl Default for MirrorPart {
    fn default() -> Self {
        Self { most: u32::MAX, one_of: 1 }
    }
}

/// How copies of one interface's frames are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Copies {
    to: u16,
    shares: bool,
    part: MirrorPart,
    told: CopyTold,
    /// They are said to have come by where they leave.
    marks: bool,
}

impl Interfaces {
    /// How to copy what `id` receives, if that is wanted.
    pub fn copies_of_received(&self, id: u16) -> Option<Copies> {
        let row = self.get(id)?;
        let MirrorTo(to) = *row.setting::<MirrorInput>()?;
        let shares = self.passes_on_unchanged(id, row) && self.sends_unchanged(to);
        Some(self.copies(row, to, shares, false))
    }

    /// How to copy what `id` sends, if that is wanted.
    pub fn copies_of_sent(&self, id: u16) -> Option<Copies> {
        let row = self.get(id)?;
        let MirrorTo(to) = *row.setting::<MirrorOutput>()?;
        let shares = row.sends_unchanged() && self.sends_unchanged(to);
        Some(self.copies(row, to, shares, true))
    }

    fn copies(&self, row: &Interface, to: u16, shares: bool, sent: bool) -> Copies {
        let parts = row.get::<MirrorParts>().copied().unwrap_or_default();
        let part = if sent { parts.sent } else { parts.received };
        let told = CopyTold { truncated: false, sent, vlan: row.outer_vlan() };
        Copies { to, shares, part, told, marks: self.is_for_copies(to) }
    }

    fn sends_unchanged(&self, id: u16) -> bool {
        self.get(id).is_some_and(Interface::sends_unchanged)
    }

    /// True if what `id` receives leaves, if it leaves at all, as it came.
    fn passes_on_unchanged(&self, id: u16, row: &Interface) -> bool {
        // A question that the bridge answers becomes the answer.
        let bridges = |port: BridgePort| {
            let mut members = self.members(port.bridge).iter();
            let answers = port.heeds.has(Heeds::ARP) || port.heeds.has(Heeds::ND);
            !answers && members.all(|&member| self.sends_unchanged(member))
        };
        self.vlans(id).is_none()
            && !row.input.may_change()
            && match row.mode {
                Mode::Routed | Mode::Member(_) => false,
                Mode::CrossConnect(peer) => self.sends_unchanged(peer.0),
                Mode::Bridged(port) => bridges(port),
            }
    }

    /// True if `id` has sub-interfaces that its own frames may belong to.
    pub fn has_sub_interfaces(&self, id: u16) -> bool {
        let stands = |row: &Interface| matches!(row.link, Link::Port | Link::Bond);
        self.vlans(id).is_some() && self.get(id).is_some_and(stands)
    }
}

impl Copies {
    /// Sends a copy of the packet from its header on by `exit`; false where there is no buffer.
    fn make(
        self,
        packet: &mut PacketView<'_>,
        exit: impl Into<ExitIndex>,
        context: &mut Context<'_>,
    ) -> bool {
        let rx = if self.marks { self.to } else { packet.rx() };
        if context.room() == 0 {
            return false;
        }
        let most = self.part.most as usize;
        let truncated = packet.length() > most;
        let emitted = if self.shares && !truncated {
            let Some(reference) = packet.share(1).next() else { return false };
            context.emit_shared(reference, rx, exit)
        } else {
            let bytes = packet.header();
            let Some(copy) = context.cache.copy_of(&bytes[..bytes.len().min(most)]) else {
                return false;
            };
            context.emit(copy, rx, exit)
        };
        // There is room: it was asked for.
        let told = CopyTold { truncated, ..self.told };
        emitted
            .map(|mut copy| {
                copy.set_tx(self.to);
                copy.set_adjacency(told.to_bits());
            })
            .is_ok()
    }
}

/// A side that frames are copied on.
pub trait Mirrored: Side {
    /// How to copy what an interface carries, if that is wanted.
    fn copies(interfaces: &Interfaces, id: u16) -> Option<Copies>;

    /// What counts the copies.
    fn counter(counters: &MirroredCounters) -> &AtomicU64;
}

impl Mirrored for Received {
    fn copies(interfaces: &Interfaces, id: u16) -> Option<Copies> {
        interfaces.copies_of_received(id)
    }

    fn counter(counters: &MirroredCounters) -> &AtomicU64 {
        &counters.received
    }
}

impl Mirrored for Sent {
    fn copies(interfaces: &Interfaces, id: u16) -> Option<Copies> {
        interfaces.copies_of_sent(id)
    }

    fn counter(counters: &MirroredCounters) -> &AtomicU64 {
        &counters.sent
    }
}

/// Copies frames for who listens; they themselves go on.
pub struct Mirroring<S> {
    counters: Arc<WorkerCounters>,
    /// Frames of each interface that are not copied before the next that is.
    passed_over: Box<[u32]>,
    side: PhantomData<S>,
}

graph::exits! {
    /// What becomes of a copy.
    pub enum Exit {
        /// A copy, to who listens.
        Copy => node "interface-output",
    }
}

impl<S: Mirrored> Work for Mirroring<S> {
    type Setting = MirrorTo;
    type Exit = Exit;

    fn new(setup: &Setup) -> Self {
        let passed_over = vec![0; MOST_INTERFACES].into();
        Self { counters: Arc::clone(&setup.counters), passed_over, side: PhantomData }
    }

    fn hold(
        &mut self,
        run: Run<'_, MirrorTo>,
        frame: &mut Frame,
        _: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let Some(copies) = S::copies(run.interfaces, run.id) else { return };
        let counters = self.counters.mirrored.get(usize::from(run.id));
        for slot in run.slots {
            if run.interfaces.is_for_copies(frame.rx()[slot]) {
                continue;
            }
            if copies.part.one_of > 1
                && let Some(left) = self.passed_over.get_mut(usize::from(run.id))
            {
                *left = if *left == 0 { copies.part.one_of } else { *left } - 1;
                if *left != copies.part.one_of - 1 {
                    continue;
                }
            }
            let made = copies.make(&mut frame.view(slot), Exit::Copy, context);
            if let Some(counters) = counters {
                add(if made { S::counter(counters) } else { &counters.lost }, 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Shaped;
    use crate::testing::{BESIDE_TUNNELS, World};

    type Found = Option<(u16, bool)>;

    fn copies(change: impl FnOnce(&mut World), id: u16) -> (Found, Found) {
        let mut world = World::new();
        world.change_interface(id, |row| {
            row.set::<MirrorInput>(Some(MirrorTo(5)));
            row.set::<MirrorOutput>(Some(MirrorTo(5)));
        });
        change(&mut world);
        let found = |copies: Option<Copies>| copies.map(|it| (it.to, it.shares));
        let interfaces = &world.interfaces;
        (found(interfaces.copies_of_received(id)), found(interfaces.copies_of_sent(id)))
    }

    #[test]
    fn frames_that_stay_as_they_are_are_not_copied_byte_by_byte() {
        let with = |shares| Some((5, shares));
        assert_eq!(copies(|_| (), 2), (with(true), with(true)));
        assert_eq!(copies(|_| (), 7), (with(true), with(true)));
        assert_eq!(copies(|_| (), 0), (with(false), with(true)));
        assert_eq!(copies(|_| (), BESIDE_TUNNELS), (with(false), with(true)));
        let shaped = |id: u16| {
            move |world: &mut World| world.change_interface(id, |row| row.put(Some(Shaped)))
        };
        assert_eq!(copies(shaped(3), 2), (with(false), with(true)));
        assert_eq!(copies(shaped(2), 2), (with(true), with(false)));
        assert_eq!(copies(shaped(5), 2), (with(false), with(false)));
        let answers = |world: &mut World| {
            world.change_interface(7, |row| {
                if let Mode::Bridged(port) = &mut row.mode {
                    port.heeds = Heeds::ARP;
                }
            });
        };
        assert_eq!(copies(answers, 7), (with(false), with(true)));
    }

    #[test]
    fn an_interface_that_nobody_listens_to_has_no_copies() {
        let interfaces = World::new().interfaces;
        assert_eq!((interfaces.copies_of_received(2), interfaces.copies_of_sent(99)), (None, None));
    }
}
