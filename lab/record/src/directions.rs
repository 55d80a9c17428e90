//! Which directions a number is of.

use serde::{Deserialize, Serialize};

/// Which directions a rate is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Directions {
    /// Packets went one way alone.
    #[serde(rename = "one way")]
    One,
    /// Packets went both ways, as many a second each: the number is of either.
    #[serde(rename = "each way")]
    Each,
    /// Packets went both ways, and the number is of all of them.
    #[serde(rename = "both ways together")]
    Together,
}

impl Directions {
    /// Those of a number of trials that go both ways or one, told of all packets or of each way's.
    pub fn of(both: bool, together: bool) -> Self {
        match (both, together) {
            (false, _) => Self::One,
            (true, false) => Self::Each,
            (true, true) => Self::Together,
        }
    }

    /// Its name, as in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "one way",
            Self::Each => "each way",
            Self::Together => "both ways together",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_of_both_ways_only_where_packets_go_both() {
        use Directions::{Each, One, Together};
        let of = [(false, false), (false, true), (true, false), (true, true)];
        assert_eq!(of.map(|(both, sum)| Directions::of(both, sum)), [One, One, Each, Together]);
        for directions in [One, Each, Together] {
            let text = serde_json::to_string(&directions).unwrap();
            assert_eq!(text, format!("\"{}\"", directions.name()));
        }
    }
}
