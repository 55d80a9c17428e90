//! What a record is about.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::axes::{Axis, Value};

/// What was measured: which device, doing what, in which case, on which run of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Subject {
    /// The device.
    pub device: String,
    /// The function.
    pub function: String,
    /// Value of each axis.
    pub axes: BTreeMap<String, String>,
    /// Restart of the device, from 0.
    pub run: u32,
}

impl Subject {
    /// The value of an axis, where it was varied.
    pub fn get<A: Axis>(&self) -> Option<A::Value> {
        A::Value::read(self.axes.get(A::NAME)?)
    }

    /// The case in words, without the device and the run.
    pub fn case(&self) -> String {
        let mut words = vec![self.function.clone()];
        words.extend(self.axes.iter().map(|(name, value)| match name.strip_suffix("_percent") {
            Some(name) => format!("{value} % {}", name.replace('_', " ")),
            None => format!("{} {value}", name.replace('_', " ")),
        }));
        words.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_reads_like_a_phrase() {
        let axes = [("frame_bytes", "64"), ("load_percent", "50")];
        let axes = axes.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let subject = Subject { function: "ip4".into(), axes, ..Subject::default() };
        assert_eq!(subject.case(), "ip4, frame bytes 64, 50 % load");
    }
}
