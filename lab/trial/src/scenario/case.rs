//! The cases of a scenario: every combination of function, traffic and axis values.
//!
//! ```text
//! function ─ ethertype ─ scheduler ─ endpoint ─ workers ─ … ─ load_percent
//! outermost: what restarts the device                innermost: what only the generator changes
//! ```

use std::collections::BTreeMap;

use super::{Ethertype, Function, Scenario};

/// One combination.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What the device does.
    pub function: Function,
    /// What the frames carry.
    pub ethertype: Ethertype,
    /// Value of each axis, by its name.
    pub axes: BTreeMap<String, String>,
}

impl Case {
    /// A numeric axis' value, where the scenario varies it.
    pub fn number(&self, axis: &str) -> Option<u64> {
        self.axes.get(axis)?.parse().ok()
    }
}

impl Scenario {
    /// All cases, in the order in which they cost least to change.
    pub fn cases(&self) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        for function in &self.functions {
            for &ethertype in &self.traffic.ethertype {
                let function = function.get_ref().clone();
                cases.push(Case { function, ethertype, axes: BTreeMap::new() });
            }
        }
        if self.traffic.ethertype.len() > 1 {
            for case in &mut cases {
                let name = match case.ethertype {
                    Ethertype::Udp4 => "udp4",
                    Ethertype::Udp6 => "udp6",
                    Ethertype::Unknown => "unknown",
                };
                case.axes.insert("ethertype".into(), name.into());
            }
        }
        let mut multiply = |name: &str, values: Vec<String>| {
            let each = |case: &Case| {
                let with = |value: &String| {
                    let mut case = case.clone();
                    case.axes.insert(name.to_owned(), value.clone());
                    case
                };
                values.iter().map(with).collect::<Vec<_>>()
            };
            cases = cases.iter().flat_map(each).collect();
        };
        let words = [("scheduler", &self.sweep.scheduler), ("endpoint", &self.sweep.endpoint)];
        for (name, values) in words.into_iter().filter(|(_, values)| !values.is_empty()) {
            multiply(name, values.iter().map(|value| value.get_ref().clone()).collect());
        }
        for (name, axis) in self.sweep.axes() {
            multiply(name, axis.get_ref().values().iter().map(u64::to_string).collect());
        }
        cases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_the_product_of_functions_and_axes_innermost_last() {
        let text = "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'ip4'\n\
                    [[function]]\nkind = 'ip6'\n[sweep]\nworkers = [1, 2]\nframe_bytes = [84, 128]\n\
                    [measure]\nsearch = 'mlr'\n";
        let cases = Scenario::parse(text, "x").unwrap().cases();
        assert_eq!(cases.len(), 8);
        assert_eq!(
            (cases[0].number("workers"), cases[0].number("frame_bytes")),
            (Some(1), Some(84))
        );
        assert_eq!(
            (cases[1].number("workers"), cases[1].number("frame_bytes")),
            (Some(1), Some(128))
        );
        assert_eq!(cases[7].function.name(), "ip6");
        assert_eq!(cases[0].number("flows"), None);
    }
}
