//! Packets that the device handles at once.

use super::axis::{Axis, Figure, SetBy};

/// Packets that the device handles at once, at most.
#[derive(Debug)]
pub struct VectorPackets;

impl Axis for VectorPackets {
    const NAME: &'static str = "vector_packets";
    const SET_BY: SetBy = SetBy::Adapter;
    const FIGURE: Option<Figure> =
        Some(Figure { place: 5, label: "vector size, packets", log: true });
    type Value = u64;
}
