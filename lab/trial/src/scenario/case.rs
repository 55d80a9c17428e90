//! The cases of a scenario: every combination of function, traffic and axis values.
//!
//! ```text
//! function ─ ethertype ─ scheduler ─ endpoint ─ workers ─ … ─ load_percent
//! outermost: what restarts the device                innermost: what only the generator changes
//! ```

use std::collections::BTreeMap;

use lab_record::axes::{Axis, Value};

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
    /// The value of an axis, where the scenario varies it.
    pub fn get<A: Axis>(&self) -> Option<A::Value> {
        A::Value::read(self.axes.get(A::NAME)?)
    }
}

impl Scenario {
    /// All cases, whatever its shard, in the order in which they cost least to change.
    pub fn all_cases(&self) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        for function in &self.functions {
            let routed = function.get_ref().kind.is_routed();
            let all = &self.traffic.ethertype;
            let carried = all.iter().filter(|it| !routed || **it != Ethertype::Unknown);
            for &ethertype in carried {
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
        if self.one_at_a_time {
            return self.one_at_a_time(&cases);
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
        for (axis, values) in self.sweep.axes() {
            multiply(axis.name, values.texts());
        }
        cases
    }

    /// Each axis by itself, all others at their first value.
    fn one_at_a_time(&self, bare: &[Case]) -> Vec<Case> {
        let axes: Vec<_> = self.sweep.axes().map(|(axis, it)| (axis.name, it.texts())).collect();
        let first = axes.iter().filter_map(|(name, texts)| Some((*name, texts.first()?.clone())));
        let first: Vec<(&str, String)> = first.collect();
        let with = |case: &Case, name: &str, value: &str| {
            let mut case = case.clone();
            case.axes.insert(name.to_owned(), value.to_owned());
            case
        };
        let mut cases = Vec::new();
        for case in bare {
            let start = first.iter().fold(case.clone(), |case, (name, it)| with(&case, name, it));
            cases.push(start.clone());
            for (name, texts) in &axes {
                cases.extend(texts.iter().skip(1).map(|value| with(&start, name, value)));
            }
        }
        cases
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::axes::{Flows, FrameBytes, Workers};

    #[test]
    fn what_routes_is_sent_no_frames_of_an_unknown_ethertype() {
        let text = "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'cross-connect'\n\
                    [[function]]\nkind = 'ip4'\n[traffic]\nethertype = ['udp4', 'unknown']\n\
                    [measure]\nsearch = 'mlr'\n";
        let cases = Scenario::parse(text, "x").unwrap().cases();
        let told = |case: &Case| format!("{} {}", case.function.name(), case.axes["ethertype"]);
        let told: Vec<String> = cases.iter().map(told).collect();
        assert_eq!(told, ["cross-connect udp4", "cross-connect unknown", "ip4 udp4"]);
        let alone = text.replace("'udp4', ", "");
        let fault = Scenario::parse(&alone, "x").unwrap_err().to_string();
        assert!(fault.contains("ip4 does not forward frames of an unknown ethertype"), "{fault}");
    }

    #[test]
    fn cases_are_the_product_of_functions_and_axes_innermost_last() {
        let text = "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'ip4'\n\
                    [[function]]\nkind = 'ip6'\n[sweep]\nworkers = [1, 2]\nframe_bytes = [84, 128]\n\
                    [measure]\nsearch = 'mlr'\n";
        let cases = Scenario::parse(text, "x").unwrap().cases();
        assert_eq!(cases.len(), 8);
        assert_eq!((cases[0].get::<Workers>(), cases[0].get::<FrameBytes>()), (Some(1), Some(84)));
        assert_eq!((cases[1].get::<Workers>(), cases[1].get::<FrameBytes>()), (Some(1), Some(128)));
        assert_eq!(cases[7].function.name(), "ip6");
        assert_eq!(cases[0].get::<Flows>(), None);
    }
}
