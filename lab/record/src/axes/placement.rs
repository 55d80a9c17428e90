//! Where workers stand: on a core of their own, or as hyper-threads of one.

use super::axis::{Axis, SetBy, Value};

/// Which of the devices' processors workers get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Hyper-threads of the same cores: two share what one core has.
    Siblings,
    /// A core each; its other hyper-threads stay idle.
    Cores,
}

impl Value for Placement {
    const WORDS: &'static [&'static str] = &["siblings", "cores"];

    fn read(text: &str) -> Option<Self> {
        match text {
            "siblings" => Some(Self::Siblings),
            "cores" => Some(Self::Cores),
            _ => None,
        }
    }
}

/// The lab chooses the processors, whatever the device.
impl Axis for Placement {
    const NAME: &'static str = "placement";
    const SET_BY: SetBy = SetBy::Lab;
    type Value = Self;
}
