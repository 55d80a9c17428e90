//! Copies of what interfaces carry, for who listens at another one.
//!
//! ```text
//!  interface_input  ─▶ mirror_input  ─▶ (the next feature)
//!  interface_output ─▶ mirror_output ─▶ interface_leave
//!                           └─ the copy ─▶ interface_output
//! ```
//! Where neither the frame nor its copy is changed any more, both are references of one buffer.

use crate::interface::{mirror_input::MirrorInput, mirror_output::MirrorOutput};
use crate::tables::{BridgePort, Interface, Interfaces, Link, Mode};
use graph::{Context, Exit, ExitIndex, Exits};
use packet::{Frame, PacketView};

/// The interface that copies of an interface's frames go to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MirrorTo(pub u16);

/// How copies of one interface's frames are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Copies {
    to: u16,
    shares: bool,
}

impl Interfaces {
    /// How to copy what `id` receives, if that is wanted.
    pub fn copies_of_received(&self, id: u16) -> Option<Copies> {
        let row = self.get(id)?;
        let MirrorTo(to) = *row.input.of::<MirrorInput>()?;
        Some(Copies { to, shares: self.passes_on_unchanged(id, row) && self.sends_unchanged(to) })
    }

    /// How to copy what `id` sends, if that is wanted.
    pub fn copies_of_sent(&self, id: u16) -> Option<Copies> {
        let row = self.get(id)?;
        let MirrorTo(to) = *row.output.of::<MirrorOutput>()?;
        Some(Copies { to, shares: row.sends_unchanged() && self.sends_unchanged(to) })
    }

    fn sends_unchanged(&self, id: u16) -> bool {
        self.get(id).is_some_and(Interface::sends_unchanged)
    }

    /// True if what `id` receives leaves, if it leaves at all, as it came.
    fn passes_on_unchanged(&self, id: u16, row: &Interface) -> bool {
        // A question that the bridge answers becomes the answer.
        let bridges = |port: BridgePort| {
            let mut members = self.members(port.bridge).iter();
            let answers = port.answers_arp || port.answers_nd;
            !answers && members.all(|&member| self.sends_unchanged(member))
        };
        self.vlans(id).is_none()
            && !row.input.may_change()
            && match row.mode {
                Mode::Routed => false,
                Mode::CrossConnect(peer) => self.sends_unchanged(peer.0),
                Mode::Bridged(port) => bridges(port),
            }
    }

    /// True if `id` has sub-interfaces that its own frames may belong to.
    pub fn has_sub_interfaces(&self, id: u16) -> bool {
        self.vlans(id).is_some() && self.get(id).is_some_and(|row| row.link == Link::Port)
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
        let rx = packet.rx();
        if context.room() == 0 {
            return false;
        }
        let emitted = if self.shares {
            context.emit_shared(packet.share(1), rx, exit)
        } else {
            let Some(copy) = context.cache.copy_of(packet.header()) else { return false };
            context.emit(copy, rx, exit)
        };
        // There is room: it was asked for.
        emitted.map(|mut copy| copy.set_tx(self.to)).is_ok()
    }
}

/// Gives each packet the exit of its interface, and who listens there a copy; `count` is told whether there was a
/// buffer for it.
pub(crate) fn copy_each<E: Exit>(
    frame: &mut Frame,
    exits: &mut Exits<'_, E>,
    context: &mut Context<'_>,
    copy: E,
    interface: impl Fn(&PacketView<'_>) -> u16,
    way: impl Fn(u16) -> (ExitIndex, Option<Copies>),
    count: impl Fn(u16, bool),
) {
    let mut id = interface(&frame.view(0));
    let (mut exit, mut copies) = way(id);
    for slot in 0..frame.len() {
        let mut packet = frame.view(slot);
        if interface(&packet) != id {
            id = interface(&packet);
            (exit, copies) = way(id);
        }
        exits.set(slot, exit);
        if let Some(copies) = copies {
            count(id, copies.make(&mut packet, copy, context));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{BESIDE_TUNNELS, World};

    fn copies(change: impl FnOnce(&mut World), id: u16) -> (Option<Copies>, Option<Copies>) {
        let mut world = World::new();
        world.change_interface(id, |row| {
            row.input.set::<MirrorInput>(Some(MirrorTo(5)));
            row.output.set::<MirrorOutput>(Some(MirrorTo(5)));
        });
        change(&mut world);
        (world.interfaces.copies_of_received(id), world.interfaces.copies_of_sent(id))
    }

    #[test]
    fn frames_that_stay_as_they_are_are_not_copied_byte_by_byte() {
        let with = |shares| Some(Copies { to: 5, shares });
        assert_eq!(copies(|_| (), 2), (with(true), with(true)));
        assert_eq!(copies(|_| (), 7), (with(true), with(true)));
        assert_eq!(copies(|_| (), 0), (with(false), with(true)));
        assert_eq!(copies(|_| (), BESIDE_TUNNELS), (with(false), with(true)));
        let shaped =
            |id: u16| move |world: &mut World| world.change_interface(id, |row| row.shaped = true);
        assert_eq!(copies(shaped(3), 2), (with(false), with(true)));
        assert_eq!(copies(shaped(2), 2), (with(true), with(false)));
        assert_eq!(copies(shaped(5), 2), (with(false), with(false)));
        let answers = |world: &mut World| {
            world.change_interface(7, |row| {
                if let Mode::Bridged(port) = &mut row.mode {
                    port.answers_arp = true;
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
