//! What interfaces have done to their frames: each lists features, and its frames take a turn at every one of them, in
//! the order of their places.
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
//!  place      0        10        20    30     40        50          63
//!  received   mirror   sources   ACL   uRPF   policer   redirects
//!  sent                          ACL          policer               mirror
//! ```
//! A port's features see its frames with their tags, those of its sub-interfaces too; a sub-interface's and a tunnel's
//! see them without. What is sent has its link header, not yet a sub-interface's tags nor a tunnel's headers, and is
//! not counted before the last feature has let it pass.
//!
//! A feature is a node that says where it stands ([`Node::TURN`]) and what an interface's setting is. The engine wires
//! it to those before it; none of them knows it.

use crate::tables::{Interface, Interfaces};
use graph::{ExitIndex, Exits, Node, Turn};
use packet::Frame;
use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// Places in an arc: one bit each.
const PLACES: usize = 64;

/// A node that takes a turn at the frames of interfaces that want it.
pub trait Feature: Node {
    /// Where it stands in its arc, below 64; lower ones come first.
    const PLACE: u8;
    /// It may change a frame: nobody else may hold the same buffer.
    const CHANGES: bool;
    /// What an interface says to it.
    type Setting: Setting;
}

/// The [`Node::TURN`] of a feature of what is received.
pub const fn input_turn<F: Feature>() -> Option<Turn> {
    Some(Turn { arc: "interface-input", place: F::PLACE as u32 })
}

/// The [`Node::TURN`] of a feature of what is sent.
pub const fn output_turn<F: Feature>() -> Option<Turn> {
    Some(Turn { arc: "interface-output", place: F::PLACE as u32 })
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
    /// Takes a feature in, or out.
    pub fn set<F: Feature>(&mut self, setting: Option<F::Setting>) {
        let bit = 1 << F::PLACE;
        self.places &= !bit;
        self.changing &= !bit;
        self.settings.retain(|(place, _)| *place != F::PLACE);
        let Some(setting) = setting else { return };
        self.places |= bit;
        self.changing |= if F::CHANGES { bit } else { 0 };
        self.settings.push((F::PLACE, Arc::new(setting)));
        self.settings.sort_unstable_by_key(|(place, _)| *place);
    }

    /// What the interface says to a feature.
    pub fn of<F: Feature>(&self) -> Option<&F::Setting> {
        let (_, setting) = self.settings.iter().find(|(place, _)| *place == F::PLACE)?;
        (&**setting as &dyn Any).downcast_ref()
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

/// Which of an interface's two arcs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// What it receives.
    Received,
    /// What it sends.
    Sent,
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
}

/// The ways on from a node of an arc: an exit for each feature behind it.
pub struct Turns {
    known: u64,
    exits: [Option<ExitIndex>; PLACES],
}

impl Turns {
    /// None yet.
    pub fn new() -> Self {
        Self { known: 0, exits: [None; PLACES] }
    }

    /// There is one at a place ([`Node::attach`]).
    pub fn attach(&mut self, place: u32, exit: ExitIndex) {
        self.known |= 1 << place;
        self.exits[place as usize % PLACES] = Some(exit);
    }

    /// The exit to the first of these features that stands behind the node.
    #[inline]
    pub fn next(&self, features: &Features) -> Option<ExitIndex> {
        let left = self.known & features.places;
        self.exits.get(left.trailing_zeros() as usize).copied().flatten()
    }

    /// A feature's turn: sends all frames on, by its exit `last` where no feature is left, and has `hold` look at those
    /// whose interface lists it.
    #[inline]
    pub fn take<F: Feature>(
        &self,
        side: Side,
        interfaces: &Interfaces,
        frame: &mut Frame,
        exits: &mut Exits<'_, F::Exit>,
        last: F::Exit,
        mut hold: impl FnMut(Run<'_, F::Setting>, &mut Frame, &mut Exits<'_, F::Exit>),
    ) {
        let mut from = 0;
        while from < frame.len() {
            let (id, until) = match side {
                Side::Received => run_of(frame.rx(), from),
                Side::Sent => run_of(frame.tx(), from),
            };
            let listed = interfaces.get(id).map(|row| match side {
                Side::Received => (row, &row.input),
                Side::Sent => (row, &row.output),
            });
            let next = listed.and_then(|(_, features)| self.next(features));
            exits.run(from..until, next.unwrap_or(last.into()));
            if let Some((row, features)) = listed
                && let Some(setting) = features.of::<F>()
            {
                hold(Run { id, row, setting, slots: from..until }, frame, exits);
            }
            from = until;
        }
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self::new()
    }
}

/// The interface of the packet in slot `from`, and the end of those that follow it and are of the same.
#[inline]
pub fn run_of(interfaces: &[u16], from: usize) -> (u16, usize) {
    let id = interfaces[from];
    let same = interfaces[from..].iter().take_while(|other| **other == id);
    (id, from + same.count())
}

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

    #[test]
    fn a_run_ends_with_its_interface() {
        assert_eq!(run_of(&[7, 7, 5], 0), (7, 2));
        assert_eq!(run_of(&[7, 7, 5], 2), (5, 3));
    }
}
