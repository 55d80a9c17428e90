//! How much of its rate each class keeps where more is promised than there is.
//!
//! A class within its rate sends, and lends, without asking its ancestors. So the rates below a
//! class that are more together than it may have would carry it over its ceil. Each keeps its part:
//! by the rates, and what the rates leave by what stands below them. A class that its brothers
//! leave more borrows it, up to its ceil.
//!
//! ```text
//!   due:  from the leaves up     a class's rate, or what is due below it; no more than its ceil
//!   kept: from the top down      what is due, or a part of it, so that the brothers' sum fits
//! ```

use super::HtbClass;
use crate::units::Rate;

/// What the classes below one want together.
#[derive(Clone, Copy, Default)]
struct Sum {
    rates: u128,
    due: u128,
}

/// The rates, by the places of the classes in the order: each with its place in the list, and that
/// of its parent.
pub(super) fn rates(classes: &[HtbClass], order: &[(usize, Option<usize>, bool)]) -> Vec<Rate> {
    let ceil = |at: usize| u128::from(classes[at].ceil().0);
    let rate = |at: usize| u128::from(classes[at].rate.0).min(ceil(at));
    let mut below = vec![Sum::default(); order.len()];
    let mut due = vec![0; order.len()];
    for (place, &(at, parent, _)) in order.iter().enumerate().rev() {
        due[place] = rate(at).max(below[place].due).min(ceil(at));
        if let Some(parent) = parent {
            below[parent].rates += rate(at);
            below[parent].due += due[place];
        }
    }
    let mut kept = due.clone();
    for (place, &(at, parent, _)) in order.iter().enumerate() {
        if let Some(parent) = parent {
            kept[place] = part(kept[parent].max(1), below[parent], rate(at), due[place]);
        }
    }
    let rates = order.iter().zip(kept);
    rates.map(|(&(at, ..), kept)| Rate(kept.min(rate(at)).max(1) as u64)).collect()
}

/// One's part of what there is.
fn part(there_is: u128, Sum { rates, due: all_due }: Sum, rate: u128, due: u128) -> u128 {
    if all_due <= there_is {
        due
    } else if rates >= there_is {
        rate * there_is / rates
    } else {
        rate + (due - rate) * (there_is - rates) / (all_due - rates)
    }
}
