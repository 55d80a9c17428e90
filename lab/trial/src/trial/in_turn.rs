//! What a packet costs two devices that run side by side, each held against the other at the same
//! time: a turn of one, a turn of the other, on the same core.
//!
//! ```text
//! turns     A │ B   B │ A   A │ B   …   each some windows, of which the quietest counts; a first one
//! ratios    ╰───╯   ╰───╯   ╰───╯       fills the caches that the other had, and is not counted
//! told      the median of the ratios
//! ```
//! What a neighbour takes, and a clock that changes, both have. So what is left of noise is which
//! memory each of them was given when it started.

use lab_record::NodeCost;
use lab_search::stats::summary::median;

use crate::Error;
use crate::load::frames::Load;
use crate::trial::cost::{Cost, too_slow, window, windows};
use crate::trial::rig::Rig;

/// Turns of each device in twenty blocks, which tell 1 %. Who asks for half as many blocks would
/// tell a larger difference, and a quarter of the turns does.
const TURNS: usize = 80;
const BLOCKS: usize = 20;
const FEWEST_TURNS: usize = 5;
/// Windows of a turn that are counted.
const WINDOWS: usize = 3;

/// What each node did in each window of a turn.
type Turn = Vec<Vec<NodeCost>>;

/// What it cost each of two, and how much more it cost the second.
pub(crate) struct InTurn {
    pub(crate) costs: [Cost; 2],
    /// Logarithm of the second's cycles a packet over the first's.
    pub(crate) ratio: f64,
}

impl InTurn {
    /// Of turns of both: those of a place belong together.
    fn of(turns: &[Vec<Turn>; 2]) -> Option<Self> {
        let quietest =
            |turn: &Turn| turn.iter().filter_map(|it| Some(window(it)?.0)).min_by(f64::total_cmp);
        let pairs = turns[0].iter().zip(&turns[1]);
        let ratio = |(first, second)| Some((quietest(second)? / quietest(first)?).ln());
        let ratios: Vec<f64> = pairs.filter_map(ratio).collect();
        let cost = |turns: &Vec<Turn>| Cost::of(turns.iter().flatten());
        let costs = [cost(&turns[0])?, cost(&turns[1])?];
        (!ratios.is_empty()).then(|| Self { costs, ratio: median(&ratios) })
    }
}

/// Measures it in one of so many blocks; none where one of them does not tell, or the wires are too
/// slow.
pub(crate) fn measure(
    rigs: &mut [Rig<'_>; 2],
    load: &Load,
    both: bool,
    blocks: usize,
) -> Result<Option<InTurn>, Error> {
    for rig in &mut *rigs {
        if too_slow(rig) || rig.nodes()?.is_empty() {
            return Ok(None);
        }
    }
    let mut turns = [Vec::new(), Vec::new()];
    for pair in 0..turns_of(blocks) {
        let first = pair % 2;
        for side in [first, 1 - first] {
            turns[side].push(windows(&mut rigs[side], load, both, 1 + WINDOWS)?.split_off(1));
        }
    }
    for rig in rigs {
        rig.forget_counts()?;
    }
    Ok(InTurn::of(&turns))
}

/// Turns of each device where there are so many blocks.
fn turns_of(blocks: usize) -> usize {
    (TURNS * blocks * blocks / (BLOCKS * BLOCKS)).max(FEWEST_TURNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_blocks_have_more_turns() {
        assert_eq!([1, 6, 10, 20, 40].map(turns_of), [5, 7, 20, 80, 320]);
    }

    fn costing(cycles: f64) -> Vec<NodeCost> {
        let (packets, cycles) = (10_000, 10_000.0 * cycles);
        vec![NodeCost { node: "xconnect".into(), calls: 40, packets, cycles }]
    }

    #[test]
    fn a_neighbour_that_comes_and_goes_slows_both_and_changes_no_ratio() {
        let pace = |at: usize| if (at / 7).is_multiple_of(2) { 100.0 } else { 160.0 };
        let mut turns = [Vec::new(), Vec::new()];
        for at in 0..40 {
            // One window of each turn has something else beside.
            turns[0].push(vec![costing(pace(at)), costing(1.3 * pace(at))]);
            turns[1].push(vec![costing(7.0 * pace(at)), costing(1.01 * pace(at))]);
        }
        // Now and then one has the core and the other has not, or a turn is lost.
        turns[0][3] = vec![costing(900.0)];
        turns[1][8] = vec![costing(7_000.0)];
        turns[1][9] = vec![Vec::new()];
        let told = InTurn::of(&turns).unwrap();
        assert!((told.ratio - 1.01f64.ln()).abs() < 1e-9, "{}", told.ratio);
        assert!((told.costs[0].least() - 100.0).abs() < 1e-9);
        assert!((told.costs[1].least() - 101.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_told_by_one_alone() {
        assert!(InTurn::of(&[vec![vec![costing(1.0)]], Vec::new()]).is_none());
        assert!(InTurn::of(&[vec![vec![costing(1.0)]], vec![vec![Vec::new()]]]).is_none());
    }
}
