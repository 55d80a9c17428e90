//! A feature as a node: frames take their turn at it, and go to the next feature of their
//! interface.
//!
//! ```text
//!  frame ─▶ runs of one interface ─▶ the feature's exits, where it is listed and does not let pass
//!                                 └▶ (the next feature), where none is left the end of the arc
//! ```

use crate::tables::{Feature, Features, Interfaces, Run, Setup, Side, Work};
use graph::{Context, Exit, ExitIndex, ExitSpec, Exits, Node, Published, Turn};
use packet::Frame;

/// Places in an arc: one bit each.
const PLACES: usize = 64;

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
        let left = self.known & features.places();
        self.exits.get(left.trailing_zeros() as usize).copied().flatten()
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self::new()
    }
}

/// What the packet in slot `from` has, an interface for one, and the end of those that follow it
/// and have the same.
#[inline]
pub fn run_of<T: Copy + PartialEq>(of: &[T], from: usize) -> (T, usize) {
    let its = of[from];
    let same = of[from..].iter().take_while(|other| **other == its);
    (its, from + same.count())
}

/// The node of a feature.
pub struct InTurn<F: Feature> {
    interfaces: Published<Interfaces>,
    turns: Turns,
    work: F::Work,
}

/// The exits of a feature's node: the feature's own, then the one to the end of the arc.
pub enum Onward<F: Feature> {
    /// By an exit of the feature.
    Own(<F::Work as Work>::Exit),
    /// It passes, and nothing else is asked.
    End,
}

/// A feature has no more exits of its own.
const MOST_OWN: usize = 15;

impl<F: Feature> Onward<F> {
    const OWN: &'static [ExitSpec] = <F::Work as Work>::Exit::SPECS;
    /// All of them, and the end again in the places that are left.
    const FILLED: &'static [ExitSpec; MOST_OWN + 1] = &{
        let (mut all, mut at) = ([F::Side::END; MOST_OWN + 1], 0);
        while at < Self::OWN.len() {
            all[at] = Self::OWN[at];
            at += 1;
        }
        all
    };
}

impl<F: Feature> Exit for Onward<F> {
    const SPECS: &'static [ExitSpec] = Self::FILLED.split_at(Self::OWN.len() + 1).0;
}

impl<F: Feature> From<Onward<F>> for ExitIndex {
    #[inline(always)]
    fn from(exit: Onward<F>) -> Self {
        match exit {
            Onward::Own(exit) => exit.into(),
            Onward::End => graph::exit_index(Onward::<F>::OWN.len() as u8),
        }
    }
}

impl<F: Feature> Clone for Onward<F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Feature> Copy for Onward<F> {}

impl<F: Feature> Node for InTurn<F> {
    const NAME: &'static str = F::NAME;
    const ABOUT: &'static str = F::ABOUT;
    const TURN: Option<Turn> = Some(Turn { arc: F::Side::ARC, place: F::PLACE as u32 });
    type Exit = Onward<F>;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        let interfaces = setup.shared.interfaces.clone();
        Self { interfaces, turns: Turns::new(), work: F::Work::new(setup) }
    }

    fn attach(&mut self, key: u32, exit: ExitIndex) {
        self.turns.attach(key, exit);
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Onward<F>>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let mut from = 0;
        while from < frame.len() {
            let (id, until) = run_of(F::Side::interfaces(frame), from);
            let row = interfaces.get(id);
            let next = row.and_then(|row| self.turns.next(F::Side::features(row)));
            exits.run(from..until, next.unwrap_or(Onward::<F>::End.into()));
            if let Some(row) = row
                && let Some(setting) = row.setting::<F>()
            {
                let run = Run { id, row, setting, slots: from..until, interfaces };
                self.work.hold(run, frame, &mut exits.of_part(), context);
            }
            from = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::AclInput;
    use crate::interface::MirrorOutput;

    #[test]
    fn a_run_ends_with_its_interface() {
        assert_eq!(run_of(&[7, 7, 5], 0), (7, 2));
        assert_eq!(run_of(&[7, 7, 5], 2), (5, 3));
    }

    #[test]
    fn behind_a_features_own_exits_is_the_end_of_its_arc() {
        fn names<F: Feature>() -> Vec<&'static str> {
            let exits = Onward::<F>::SPECS;
            let end = ExitIndex::from(Onward::<F>::End);
            assert_eq!(end, graph::exit_index(exits.len() as u8 - 1));
            exits.iter().map(|exit| exit.name).collect()
        }
        assert_eq!(
            names::<AclInput>(),
            ["Denied", "Unreadable", "NoConnection", "Busy", "Tagged", "Enter"]
        );
        assert_eq!(names::<MirrorOutput>(), ["Copy", "Leave"]);
    }
}
