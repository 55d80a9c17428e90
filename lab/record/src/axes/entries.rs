//! Entries of the function's table.

use super::axis::{Axis, Figure, SetBy};

/// Entries of the function's table: L2 entries or routes.
#[derive(Debug)]
pub struct Entries;

impl Axis for Entries {
    const NAME: &'static str = "entries";
    const SET_BY: SetBy = SetBy::Lab;
    const FIGURE: Option<Figure> = Some(Figure { place: 1, label: "table entries", log: true });
    type Value = u64;
}
