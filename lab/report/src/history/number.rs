//! A number of a campaign, rate or not: what histories keep of it.

use std::collections::BTreeMap;

use lab_record::{Results, Unit};
use serde::{Deserialize, Serialize};

use crate::{quantities, summary, words};

/// What rates are counted in.
const PPS: &str = "pps";
/// Of what is a share, or comes in both kinds: less is better.
const LESS_IS_BETTER: [&str; 1] = [quantities::LOST];

/// A number over all starts of its device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// The device, without the folder of its build where that is not needed to tell two apart.
    pub device: String,
    /// The case in words.
    pub case: String,
    /// Its name, with the directions that it is of.
    pub metric: String,
    /// What it is counted in: `pps`, or the unit of a quantity.
    pub unit: String,
    /// The number: of rates the lower bound, mean over starts; of others the median.
    pub value: f64,
    /// Of rates the upper bound, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
    /// Lower end of its interval, 95 % from three starts on.
    pub low: f64,
    /// Upper end; none where the device may do more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Standard deviation over starts.
    pub sd: f64,
    /// Starts.
    pub runs: usize,
    /// Whether it was not the device that limited it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
}

impl Number {
    /// Whether another is the same number of the same device and case.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.device == other.device
            && self.case == other.case
            && self.metric == other.metric
            && self.unit == other.unit
    }

    /// Whether more of it is better: rates and sizes, not times and costs.
    pub fn more_is_better(&self) -> bool {
        let costs = [Unit::Seconds.name(), Unit::Cycles.name()];
        !costs.contains(&self.unit.as_str()) && !LESS_IS_BETTER.contains(&self.metric.as_str())
    }

    /// Device and case in words.
    pub fn name(&self) -> String {
        format!("{} — {}", self.device, self.case)
    }

    /// A value of its unit as a reader wants it.
    pub fn told(&self, value: f64) -> String {
        told(value, &self.unit)
    }

    /// It with what stands before it.
    pub fn words(&self) -> String {
        format!("{}{}", if self.at_least { "≥" } else { "" }, self.told(self.value))
    }
}

/// A value of a unit, by the unit's name.
pub(super) fn told(value: f64, unit: &str) -> String {
    let known = [
        Unit::Frames,
        Unit::Seconds,
        Unit::Entries,
        Unit::BitsPerSecond,
        Unit::Share,
        Unit::Cycles,
    ];
    match known.into_iter().find(|it| it.name() == unit) {
        Some(unit) => quantities::told(value, unit),
        None => words::rate(value),
    }
}

/// The numbers of a campaign, in the order in which reports have them.
pub fn numbers(results: &Results) -> Vec<Number> {
    let mut found: Vec<Number> = Vec::new();
    for row in summary::rows(results) {
        found.push(Number {
            device: row.subject.device.clone(),
            case: row.subject.case(),
            metric: row.label(),
            unit: PPS.into(),
            value: row.value_pps,
            upper: Some(row.upper_pps),
            low: row.interval.low,
            high: row.interval.high.is_finite().then_some(row.interval.high),
            sd: row.sd_pps,
            runs: row.runs,
            at_least: row.is_at_least(),
        });
    }
    for row in quantities::rows(results) {
        found.push(Number {
            device: row.subject.device.clone(),
            case: row.subject.case(),
            metric: row.metric.clone(),
            unit: row.unit.name().into(),
            value: row.median,
            upper: None,
            low: row.interval.low,
            high: row.interval.high.is_finite().then_some(row.interval.high),
            sd: row.sd,
            runs: row.runs,
            at_least: row.at_least,
        });
    }
    let names = plain_names(found.iter().map(|it| it.device.as_str()));
    for number in &mut found {
        if let Some(plain) = names.get(&number.device) {
            number.device.clone_from(plain);
        }
    }
    found
}

/// Names of devices without the folders of their builds, where they still differ then: another
/// folder is no other device.
fn plain_names<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<String, String> {
    let all: std::collections::BTreeSet<&str> = names.collect();
    let plain = |name: &str| name.split('=').next().unwrap_or(name).to_owned();
    let alone = |name: &&&str| all.iter().filter(|it| plain(it) == plain(name)).count() == 1;
    all.iter().filter(alone).map(|name| ((*name).to_owned(), plain(name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{AnswerRecord, Limit, QuantityRecord, Subject};

    fn subject(device: &str) -> Subject {
        Subject { device: device.into(), function: "ip4".into(), ..Subject::default() }
    }

    fn answer(device: &str, limit: Option<Limit>) -> AnswerRecord {
        AnswerRecord {
            subject: subject(device),
            metric: "NDR".into(),
            low_pps: 9e6,
            high_pps: 9.1e6,
            limit,
            ..AnswerRecord::default()
        }
    }

    #[test]
    fn rates_and_quantities_are_numbers_alike_and_say_which_way_is_better() {
        let results = Results {
            answers: vec![answer("volley=/one", None), answer("ovs", Some(Limit::LARGEST_LOAD))],
            quantities: vec![QuantityRecord {
                subject: subject("ovs"),
                metric: "cost".into(),
                unit: Unit::Cycles,
                values: vec![100.0],
                note: None,
            }],
            ..Results::default()
        };
        let [volley, ovs, cost] = &numbers(&results)[..] else { panic!() };
        assert_eq!((volley.device.as_str(), volley.words()), ("volley", "9.000 Mpps".into()));
        assert_eq!((ovs.words(), ovs.high), ("≥9.000 Mpps".into(), None));
        assert!(volley.more_is_better() && !cost.more_is_better());
        assert_eq!(cost.words(), "100.0 cycles a packet");
        let text = serde_json::to_string(ovs).unwrap();
        assert_eq!(&serde_json::from_str::<Number>(&text).unwrap(), ovs);
    }

    #[test]
    fn two_builds_of_a_device_keep_their_folders() {
        let names = plain_names(["volley=/a", "volley=/b", "vpp=/c"].into_iter());
        assert_eq!(names, [("vpp=/c".to_owned(), "vpp".to_owned())].into());
    }
}
