//! Added cost per packet.

use super::axis::{Axis, SetBy};

/// Cycles that each packet costs on top, where the clock cannot be set.
#[derive(Debug)]
pub struct CostCycles;

impl Axis for CostCycles {
    const NAME: &'static str = "cost_cycles";
    const SET_BY: SetBy = SetBy::Adapter;
    type Value = u64;

    /// Nothing on top is what every device does.
    fn is_usual(cycles: &u64) -> bool {
        *cycles == 0
    }
}
