//! The processor's clock.

use super::axis::{Axis, Figure, SetBy};

/// The processor's clock, as a percentage of its maximum: the lab lowers it for the whole host.
#[derive(Debug)]
pub struct ClockPercent;

impl Axis for ClockPercent {
    const NAME: &'static str = "clock_percent";
    const SET_BY: SetBy = SetBy::Lab;
    const FIGURE: Option<Figure> =
        Some(Figure { place: 4, label: "clock, % of its maximum", log: false });
    type Value = u64;
}
