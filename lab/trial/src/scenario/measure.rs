//! What a scenario searches for.
//!
//! ```text
//! [measure]
//! search = "reconfigure"       a name of lab_search::search::ALL
//! trial_s = 1.0  …             what every search is carried out with
//! change_entries = 1000        what this one has of its own: whole numbers
//! ```

use std::collections::BTreeMap;
use std::fmt;

use lab_search::search::mlr::Goal;
use lab_search::search::{ALL, Kind, Manner, Terms, named, names};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use toml::Spanned;

use super::wrong::{Wrong, wrong};
use crate::Error;

/// A search with its goals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measure {
    /// The search, by name.
    #[serde(serialize_with = "name_of")]
    pub search: &'static Kind,
    /// Loss ratios of the goals: 0 for an NDR.
    pub loss_ratios: Spanned<Vec<f64>>,
    /// Longest trial.
    pub trial_s: f64,
    /// Trial time after which a load is decided.
    pub duration_sum_s: Spanned<f64>,
    /// How close bounds must come, relative.
    pub relative_width: f64,
    /// Loads, in percent of the throughput, at which latency is measured afterwards.
    pub latency_at_percent: Vec<u64>,
    /// How often bursts, overloads, resets, changes or trials at one load are repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<Spanned<u32>>,
    /// Whether per-node cycles and the like are collected in runs of their own.
    pub telemetry: bool,
    /// What the search has of its own, by name.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, Spanned<u64>>,
}

/// What all searches have.
const COMMON: [&str; 8] = [
    "search",
    "loss_ratios",
    "trial_s",
    "duration_sum_s",
    "relative_width",
    "latency_at_percent",
    "repetitions",
    "telemetry",
];

impl Measure {
    /// By what it measures.
    pub fn manner(&self) -> Manner {
        self.search.manner
    }

    /// What its search is carried out with.
    pub fn terms(&self, max_pps: f64, stalls_per_s: f64) -> Terms<'_> {
        let own = self.parameters.iter().map(|(name, value)| (name.as_str(), *value.get_ref()));
        Terms {
            max_pps,
            load_share: 1.0,
            stalls_per_s,
            trial_s: self.trial_s,
            relative_width: self.relative_width,
            duration_sum_s: *self.duration_sum_s.get_ref(),
            loss_ratios: self.loss_ratios.get_ref(),
            repetitions: self.repetitions.as_ref().map(|it| *it.get_ref()),
            reference: None,
            parameters: own.collect(),
        }
    }

    /// The goals of an MLRsearch; an error names what is out of range.
    pub fn goals(&self) -> Result<Vec<Goal>, Error> {
        Goal::all(&self.terms(1.0, 0.0))
    }

    pub(super) fn check(&self) -> Result<(), Wrong> {
        if self.loss_ratios.get_ref().is_empty() {
            return wrong(&self.loss_ratios, "at least one loss ratio");
        }
        if let Err(error) = self.goals() {
            return wrong(&self.loss_ratios, error.to_string());
        }
        if let (Some(given), None) = (&self.repetitions, self.search.repeats) {
            let repeat = ALL.iter().filter(|it| it.repeats.is_some()).map(|it| it.name);
            let repeat = repeat.collect::<Vec<_>>().join(", ");
            return wrong(
                given,
                format!(
                    "search = \"{:?}\" repeats nothing; `repetitions` goes with {repeat}",
                    self.search
                ),
            );
        }
        let goes_with = |parameter: &str, search: &Kind| {
            format!("{parameter} goes with search = \"{search:?}\", and with it only")
        };
        for (name, value) in &self.parameters {
            let own = |kind: &&Kind| kind.parameters.iter().any(|it| it.name == *name);
            let Some(parameter) = self.search.parameters.iter().find(|it| it.name == *name) else {
                let whose = ALL.iter().copied().find(own);
                return wrong(value, whose.map_or_else(String::new, |kind| goes_with(name, kind)));
            };
            let (number, range) = (value.get_ref(), &parameter.range);
            if !range.contains(number) {
                let (what, low, high) = (parameter.what, range.start(), range.end());
                return wrong(value, format!("{number} {what} ({low} to {high})"));
            }
        }
        let mut needed = self.search.parameters.iter().filter(|it| it.usual.is_none());
        match needed.find(|it| !self.parameters.contains_key(it.name)) {
            Some(parameter) => wrong(&self.loss_ratios, goes_with(parameter.name, self.search)),
            None => Ok(()),
        }
    }
}

fn name_of<S: serde::Serializer>(kind: &&'static Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name)
}

/// A search, by its name.
struct Named(&'static Kind);

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || {
            let all: Vec<String> = names().map(|name| format!("`{name}`")).collect();
            D::Error::custom(format!(
                "unknown variant `{name}`, expected one of {}",
                all.join(", ")
            ))
        };
        named(&name).map(Self).ok_or_else(unknown)
    }
}

/// A name that stands in `[measure]`, of whichever search.
struct Field(String);

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let own = ALL.iter().flat_map(|kind| kind.parameters).map(|it| it.name);
        let all: Vec<&str> = COMMON.into_iter().chain(own).collect();
        if all.contains(&name.as_str()) {
            return Ok(Self(name));
        }
        let all: Vec<String> = all.into_iter().map(|name| format!("`{name}`")).collect();
        Err(D::Error::custom(format!("unknown field `{name}`, expected one of {}", all.join(", "))))
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Measure;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct Measure")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut table: M) -> Result<Measure, M::Error> {
        let mut search = None;
        let mut measure = Measure {
            search: &lab_search::search::mlr::KIND,
            loss_ratios: Spanned::new(0..0, vec![0.0, 0.005]),
            trial_s: 1.0,
            duration_sum_s: Spanned::new(0..0, 21.0),
            relative_width: 0.005,
            latency_at_percent: Vec::new(),
            repetitions: None,
            telemetry: false,
            parameters: BTreeMap::new(),
        };
        while let Some(Field(name)) = table.next_key()? {
            match name.as_str() {
                "search" => search = Some(table.next_value::<Named>()?.0),
                "loss_ratios" => measure.loss_ratios = table.next_value()?,
                "trial_s" => measure.trial_s = table.next_value()?,
                "duration_sum_s" => measure.duration_sum_s = table.next_value()?,
                "relative_width" => measure.relative_width = table.next_value()?,
                "latency_at_percent" => measure.latency_at_percent = table.next_value()?,
                "repetitions" => measure.repetitions = table.next_value()?,
                "telemetry" => measure.telemetry = table.next_value()?,
                _ => drop(measure.parameters.insert(name, table.next_value()?)),
            }
        }
        let search = search.ok_or_else(|| M::Error::missing_field("search"))?;
        Ok(Measure { search, ..measure })
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reading)
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::Scenario;

    fn measure(lines: &str) -> Result<Scenario, String> {
        let text = format!(
            "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'ip4'\n[measure]\n{lines}\n"
        );
        Scenario::parse(&text, "x").map_err(|error| error.to_string())
    }

    #[test]
    fn a_search_reads_its_own_parameters_and_says_whose_others_are() {
        let read = measure("search = 'reconfigure'\nchange_entries = 9").unwrap().measure;
        assert_eq!(read.terms(1.0, 0.0).parameters, [("change_entries", 9)].into());
        let told = measure("search = 'mlr'\nmost_entries = 9").unwrap_err();
        assert!(
            told.starts_with("x:8:16: most_entries goes with search = \"largest-table\""),
            "{told}"
        );
        let told = measure("search = 'reconfigure'").unwrap_err();
        assert!(told.contains("change_entries goes with search = \"reconfigure\""), "{told}");
    }

    #[test]
    fn what_no_search_has_is_refused_at_its_place() {
        let told = measure("search = 'mrr'").unwrap_err();
        assert!(
            told.starts_with("x:7:10: unknown variant `mrr`, expected one of `mlr`, "),
            "{told}"
        );
        let told = measure("search = 'mlr'\nmost = 9").unwrap_err();
        assert!(
            told.starts_with("x:8:1: unknown field `most`, expected one of `search`, "),
            "{told}"
        );
        assert!(measure("trial_s = 1").unwrap_err().starts_with("x:6:1: missing field `search`"));
    }
}
