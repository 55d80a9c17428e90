//! Offered load.

use super::axis::{Axis, SetBy};

/// Offered load as a percentage of the device's own throughput.
#[derive(Debug)]
pub struct LoadPercent;

impl Axis for LoadPercent {
    const NAME: &'static str = "load_percent";
    const SET_BY: SetBy = SetBy::Generator;
    type Value = u64;
}
