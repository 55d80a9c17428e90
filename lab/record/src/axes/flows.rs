//! Flows at once.

use super::axis::{Axis, Figure, SetBy};

/// Flows at once.
#[derive(Debug)]
pub struct Flows;

impl Axis for Flows {
    const NAME: &'static str = "flows";
    const SET_BY: SetBy = SetBy::Generator;
    const FIGURE: Option<Figure> = Some(Figure { place: 2, label: "flows", log: true });
    type Value = u64;
}
