//! Frame sizes.

use super::axis::{Axis, Figure, SetBy};

/// Frame sizes that the generator can send, checksum included.
pub const RANGE: std::ops::RangeInclusive<u64> = 64..=9_018;

/// Frame sizes in octets, checksum included.
#[derive(Debug)]
pub struct FrameBytes;

impl Axis for FrameBytes {
    const NAME: &'static str = "frame_bytes";
    const SET_BY: SetBy = SetBy::Generator;
    const FIGURE: Option<Figure> =
        Some(Figure { place: 6, label: "frame size, octets", log: true });
    type Value = u64;

    fn fault(bytes: &u64) -> Option<String> {
        let (low, high) = (RANGE.start(), RANGE.end());
        (!RANGE.contains(bytes)).then(|| format!("frame of {bytes} octets ({low} to {high})"))
    }
}
