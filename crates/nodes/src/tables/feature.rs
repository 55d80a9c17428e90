//! What interfaces have done to their frames: each lists features, and its frames take a turn at
//! every one of them, in the order of their places.
//!
//! ```text
//!  port_rx, vlan_input, tunnel_decap, l2_forward, l2_flood         what is received
//!    ├─ no features ────────────────────────────────────────▶ (an entrance)
//!    └─▶ interface_input ─▶ mirror_input ─▶ allow_input ─▶ acl_input ─▶ … ─▶ interface_enter ─▶ (an entrance)
//!
//!  ip4_rewrite, ip6_rewrite, l2_forward, …                         what is sent
//!    └─▶ interface_output ┬─ no features ───────────────────▶ (a departure)
//!                         └─▶ acl_output ─▶ … ─▶ mirror_output ─▶ interface_leave ─▶ (a departure)
//!
//!  place      0        5        10        20    30     40        44, 45  50          55       63
//!  received   mirror   export   sources   ACL   uRPF   policer   NAT     redirects
//!  sent                                   ACL   NAT    policer                       export   mirror
//! ```
//! A port's features see its frames with their tags, those of its sub-interfaces too; a
//! sub-interface's and a tunnel's see them without. What is sent has its link header, not yet a
//! sub-interface's tags nor a tunnel's headers, and is not counted before the last feature has let
//! it pass.
//!
//! A feature says where it stands, and its work holds runs of frames to what their interface says.
//! The rest of its node is [`InTurn`](crate::interface::InTurn); the engine wires it to those
//! before it, and none of them knows it.

use crate::tables::{Interface, Interfaces, Setup};
use graph::{Context, Exit, ExitSpec, Exits, To};
use packet::Frame;
use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// Something that interfaces may have done to their frames: a node of one of the two arcs.
pub trait Feature: 'static {
    /// The node's name: the file's with hyphens.
    const NAME: &'static str;
    /// What it does, one line.
    const ABOUT: &'static str;
    /// Where it stands in its arc, below 64; lower ones come first.
    const PLACE: u8;
    /// Which arc.
    type Side: Side;
    /// What it does: `Self`, where no other feature does the same on the other side.
    type Work: Work;
}

/// What a feature does.
pub trait Work: Send + Sized + 'static {
    /// It may change a frame: nobody else may hold the same buffer.
    const CHANGES: bool = false;
    /// What an interface says to it.
    type Setting: Setting;
    /// Its exits, but for the one by which frames go on that it lets pass.
    type Exit: Exit;

    /// One for a worker.
    fn new(setup: &Setup) -> Self;

    /// Looks at frames whose interface lists it: those that it gives no exit go on.
    fn hold(
        &mut self,
        run: Run<'_, Self::Setting>,
        frame: &mut Frame,
        exits: &mut Exits<'_, Self::Exit>,
        context: &mut Context<'_>,
    );
}

/// What an interface says to a feature.
pub type SettingOf<F> = <<F as Feature>::Work as Work>::Setting;

/// One of an interface's two arcs.
pub trait Side: Send + 'static {
    /// The node that it begins at.
    const ARC: &'static str;
    /// The exit to where it ends.
    const END: ExitSpec;

    /// The interfaces of a frame's packets.
    fn interfaces(frame: &Frame) -> &[u16];

    /// What an interface lists.
    fn features(row: &Interface) -> &Features;

    /// What an interface lists, to be changed.
    fn features_mut(row: &mut Interface) -> &mut Features;
}

/// What an interface receives.
pub enum Received {}

impl Side for Received {
    const ARC: &'static str = "interface-input";
    const END: ExitSpec = end("Enter", "interface-enter");

    #[inline(always)]
    fn interfaces(frame: &Frame) -> &[u16] {
        frame.rx()
    }

    #[inline(always)]
    fn features(row: &Interface) -> &Features {
        &row.input
    }

    fn features_mut(row: &mut Interface) -> &mut Features {
        &mut row.input
    }
}

/// What an interface sends.
pub enum Sent {}

impl Side for Sent {
    const ARC: &'static str = "interface-output";
    const END: ExitSpec = end("Leave", "interface-leave");

    #[inline(always)]
    fn interfaces(frame: &Frame) -> &[u16] {
        frame.tx()
    }

    #[inline(always)]
    fn features(row: &Interface) -> &Features {
        &row.output
    }

    fn features_mut(row: &mut Interface) -> &mut Features {
        &mut row.output
    }
}

const fn end(name: &'static str, node: &'static str) -> ExitSpec {
    let about = " It passes, and nothing else is asked.";
    ExitSpec { name, about, to: To::Node(node, 0), mend: "" }
}

impl Interface {
    /// Takes a feature in, or out.
    pub fn set<F: Feature>(&mut self, setting: Option<SettingOf<F>>) {
        F::Side::features_mut(self).set::<F>(setting);
    }

    /// What it says to a feature.
    #[inline]
    pub fn setting<F: Feature>(&self) -> Option<&SettingOf<F>> {
        F::Side::features(self).of::<F>()
    }
}

/// Frames of one interface that follow each other, for a feature that it lists.
pub struct Run<'a, S> {
    /// The interface's number.
    pub id: u16,
    /// The interface.
    pub row: &'a Interface,
    /// What it says to the feature.
    pub setting: &'a S,
    /// Where the frames are.
    pub slots: Range<usize>,
    /// All interfaces.
    pub interfaces: &'a Interfaces,
}

/// What an interface says to a feature: anything that can be compared.
pub trait Setting: Any + Debug + Send + Sync {
    /// Whether both say the same.
    fn is(&self, other: &dyn Setting) -> bool;
}

impl<T: Any + Debug + Send + Sync + PartialEq> Setting for T {
    fn is(&self, other: &dyn Setting) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }
}

/// The features of an interface in one direction.
#[derive(Clone, Debug, Default)]
pub struct Features {
    /// A bit for each.
    places: u64,
    /// Those that may change frames.
    changing: u64,
    /// What it says to each, by place.
    settings: Vec<(u8, Arc<dyn Setting>)>,
}

impl Features {
    fn set<F: Feature>(&mut self, setting: Option<SettingOf<F>>) {
        let bit = 1 << F::PLACE;
        self.places &= !bit;
        self.changing &= !bit;
        self.settings.retain(|(place, _)| *place != F::PLACE);
        let Some(setting) = setting else { return };
        self.places |= bit;
        self.changing |= if F::Work::CHANGES { bit } else { 0 };
        self.settings.push((F::PLACE, Arc::new(setting)));
        self.settings.sort_unstable_by_key(|(place, _)| *place);
    }

    #[inline]
    fn of<F: Feature>(&self) -> Option<&SettingOf<F>> {
        let (_, setting) = self.settings.iter().find(|(place, _)| *place == F::PLACE)?;
        (&**setting as &dyn Any).downcast_ref()
    }

    /// A bit for each, by place.
    #[inline]
    pub(crate) fn places(&self) -> u64 {
        self.places
    }

    /// True if there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.places == 0
    }

    /// True if one of them may change a frame.
    pub fn may_change(&self) -> bool {
        self.changing != 0
    }
}

impl PartialEq for Features {
    fn eq(&self, other: &Self) -> bool {
        let mut both = self.settings.iter().zip(&other.settings);
        self.places == other.places && both.all(|((_, own), (_, other))| own.is(&**other))
    }
}

impl Eq for Features {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::acl_input::AclInput;
    use crate::interface::{MirrorTo, mirror_input::MirrorInput};

    #[test]
    fn features_are_the_same_that_say_the_same() {
        let with = |to: u16| {
            let mut features = Features::default();
            features.set::<MirrorInput>(Some(MirrorTo(to)));
            features
        };
        assert_eq!(with(3), with(3));
        assert_ne!(with(3), with(4));
        let mut gone = with(3);
        assert_eq!(gone.of::<MirrorInput>(), Some(&MirrorTo(3)));
        assert_eq!(gone.of::<AclInput>(), None);
        gone.set::<MirrorInput>(None);
        assert!(gone.is_empty() && gone == Features::default() && gone != with(3));
    }
}
