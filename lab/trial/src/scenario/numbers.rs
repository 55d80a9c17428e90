//! Numbers of a sweep: a list, or a range in equal steps or in equal factors.
//!
//! ```text
//! [64, 512, 1518]                             a list
//! { from = 1, to = 16 }                       1, 2, 3 …            step 1 unless given
//! { from = 1, to = 8388608, factor = 1.4 }    1, 2, 3, 4, 6, 8 …   the last value is always there
//! ```

use serde::{Deserialize, Serialize};

/// Most values of an axis.
pub(super) const LONGEST: usize = 4_096;

/// The values of an axis of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a list of whole numbers, or { from, to } with step or factor")]
pub enum Numbers {
    /// One after the other.
    List(Vec<u64>),
    /// From one value to another.
    Range(Range),
}

/// A range of values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// First value.
    pub from: u64,
    /// Last value.
    pub to: u64,
    /// What is added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// What is multiplied with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
}

impl Numbers {
    /// The values, rising, none twice; an empty list where they make no sense.
    pub fn values(&self) -> Vec<u64> {
        let range = match self {
            Self::List(values) => return values.clone(),
            Self::Range(range) => range,
        };
        let mut values = Vec::new();
        match (range.factor, range.step.unwrap_or(1)) {
            (Some(factor), _) if factor > 1.0 && range.from > 0 => {
                let mut exact = range.from as f64;
                while exact.round() < range.to as f64 && values.len() < LONGEST {
                    values.push(exact.round() as u64);
                    exact *= factor;
                }
            }
            (None, step) if step > 0 => {
                values.extend((range.from..range.to).step_by(step as usize).take(LONGEST));
            }
            _ => return Vec::new(),
        }
        if range.from <= range.to {
            values.push(range.to);
        }
        values.dedup();
        values
    }

    /// What is wrong with it, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        if let Self::Range(Range { step: Some(_), factor: Some(_), .. }) = self {
            return Some("a range has a step or a factor, not both".into());
        }
        let values = self.values();
        if values.is_empty() {
            return Some("the axis has no values".into());
        }
        if values.len() > LONGEST {
            return Some(format!("more than {LONGEST} values"));
        }
        (!values.is_sorted_by(|a, b| a < b)).then(|| "the values must rise".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: u64, to: u64, step: Option<u64>, factor: Option<f64>) -> Vec<u64> {
        Numbers::Range(Range { from, to, step, factor }).values()
    }

    #[test]
    fn a_range_steps_or_multiplies_and_always_ends_at_its_end() {
        assert_eq!(range(1, 4, None, None), [1, 2, 3, 4]);
        assert_eq!(range(0, 10, Some(4), None), [0, 4, 8, 10]);
        assert_eq!(range(1, 10, None, Some(1.4)), [1, 2, 3, 4, 5, 8, 10]);
        assert_eq!(range(5, 5, None, Some(2.0)), [5]);
    }

    #[test]
    fn the_source_steps_of_1_4_reach_two_to_the_23() {
        let values = range(1, 1 << 23, None, Some(1.4));
        assert!((45..55).contains(&values.len()) && values.last() == Some(&(1 << 23)));
    }

    #[test]
    fn axes_that_make_no_sense_say_why() {
        let fault = |axis: Numbers| axis.fault().unwrap_or_default();
        assert_eq!(fault(Numbers::List(vec![])), "the axis has no values");
        assert_eq!(fault(Numbers::List(vec![2, 1])), "the values must rise");
        let both = Range { from: 1, to: 9, step: Some(1), factor: Some(2.0) };
        assert!(fault(Numbers::Range(both)).contains("not both"));
        assert_eq!(range(9, 1, None, None), [0u64; 0]);
        assert_eq!(range(1, 9, None, Some(1.0)), [0u64; 0]);
    }
}
