//! Worker threads.

use super::axis::{Axis, Figure, SetBy};

/// Worker threads, the main thread apart.
#[derive(Debug)]
pub struct Workers;

impl Axis for Workers {
    const NAME: &'static str = "workers";
    const SET_BY: SetBy = SetBy::Adapter;
    const FIGURE: Option<Figure> = Some(Figure { place: 3, label: "workers", log: false });
    type Value = u64;

    fn is_usual(workers: &u64) -> bool {
        *workers <= 1
    }
}
