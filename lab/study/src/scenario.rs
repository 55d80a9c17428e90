//! The scenario of a run: one of scenarios/, with what the study changes in it, whole or cut.
//!
//! ```text
//! scenarios/NAME.toml ◀ study.change ◀ run.change            whole
//!                     ◀ study.quick  ◀ run.quick             cut: what differs is what is lost
//! ```

use toml::{Table, Value};

use crate::study::{Run, Study};
use crate::{Error, known};

/// A run's scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// As the study wants it.
    pub whole: Table,
    /// As it is carried out.
    pub carried: Table,
}

impl Planned {
    /// The scenario of a run.
    pub fn of(study: &Study, run: &Run, quick: bool) -> Result<Self, Error> {
        let text = known::scenario(&run.scenario)?;
        let mut whole: Table = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            Error::in_text(text, &run.scenario, at, error.message())
        })?;
        whole.insert("name".into(), format!("{}-{}", study.name, run.id).into());
        whole.insert("title".into(), run.title.clone().into());
        merge(&mut whole, &study.change);
        merge(&mut whole, &run.change);
        let mut carried = whole.clone();
        if quick {
            merge(&mut carried, &study.quick);
            merge(&mut carried, &run.quick);
        }
        Ok(Self { whole, carried })
    }

    /// As text, for the lab to run.
    pub fn text(&self) -> String {
        self.carried.to_string()
    }

    /// What was cut, in words.
    pub fn lost(&self) -> Vec<String> {
        let mut told = Vec::new();
        differences(&self.whole, &self.carried, "", &mut told);
        told
    }

    /// Whether a value of an axis was cut.
    pub fn has_cut(&self, axis: &str, value: &str) -> bool {
        let values = |table: &Table| swept(table, axis);
        let (whole, carried) = (values(&self.whole), values(&self.carried));
        has(&whole, value) && !has(&carried, value)
    }

    /// The scenario's own words for what is searched.
    pub fn search(&self) -> &str {
        let measure = self.carried.get("measure").and_then(Value::as_table);
        measure.and_then(|it| it.get("search")).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Puts what one table says into another: tables are joined, all else is replaced.
pub fn merge(into: &mut Table, from: &Table) {
    for (name, value) in from {
        match (into.get_mut(name), value) {
            (Some(Value::Table(old)), Value::Table(new)) => merge(old, new),
            _ => drop(into.insert(name.clone(), value.clone())),
        }
    }
}

fn swept(scenario: &Table, axis: &str) -> Option<Value> {
    scenario.get("sweep")?.as_table()?.get(axis).cloned()
}

/// Whether an axis has a value. Of a range, whether the value lies in it.
fn has(values: &Option<Value>, value: &str) -> bool {
    match values {
        Some(Value::Array(list)) => list.iter().any(|it| plain(it) == value),
        Some(Value::Table(range)) => {
            let end = |name| range.get(name).and_then(Value::as_integer);
            let (Some(from), Some(to), Ok(value)) = (end("from"), end("to"), value.parse()) else {
                return false;
            };
            (from..=to).contains(&value)
        }
        _ => false,
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Values of an axis, in words.
fn values_in_words(value: &Value) -> String {
    match value {
        Value::Array(list) if list.iter().all(|it| !it.is_table()) => {
            list.iter().map(plain).collect::<Vec<_>>().join(", ")
        }
        Value::Array(list) => {
            let label = |it: &Value| {
                let named = it.as_table().and_then(|it| it.get("label").or_else(|| it.get("kind")));
                named.map(plain).unwrap_or_default()
            };
            list.iter().map(label).collect::<Vec<_>>().join(", ")
        }
        Value::Table(range) => {
            let part = |name: &str| range.get(name).map(plain).unwrap_or_default();
            let steps = match range.get("factor") {
                Some(factor) => format!("in steps of ×{}", plain(factor)),
                None => format!("in steps of {}", range.get("step").map_or("1".into(), plain)),
            };
            format!("{} to {} {steps}", part("from"), part("to"))
        }
        other => plain(other),
    }
}

fn differences(whole: &Table, carried: &Table, path: &str, told: &mut Vec<String>) {
    let is_range = |value: &Value| value.as_table().is_some_and(|it| it.contains_key("from"));
    for (name, now) in carried {
        let name = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match whole.get(name.rsplit('.').next().unwrap_or_default()) {
            Some(before) if before == now => {}
            Some(Value::Table(before)) if now.is_table() && !is_range(now) => {
                let Some(now) = now.as_table() else { continue };
                differences(before, now, &name, told);
            }
            Some(before) => told.push(format!(
                "{name}: {} in place of {}",
                values_in_words(now),
                values_in_words(before)
            )),
            None => told.push(format!("{name}: {}", values_in_words(now))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn what_is_cut_is_told_by_its_name_and_values() {
        let whole = table(
            "[sweep]\nentries = { from = 1, to = 100, factor = 1.4 }\n[campaign]\nrestarts = 10\nseed = 1",
        );
        let mut carried = whole.clone();
        merge(&mut carried, &table("[sweep]\nentries = [1, 50]\n[campaign]\nrestarts = 1"));
        let planned = Planned { whole, carried };
        assert_eq!(
            planned.lost(),
            [
                "campaign.restarts: 1 in place of 10",
                "sweep.entries: 1, 50 in place of 1 to 100 in steps of ×1.4"
            ]
        );
        assert!(planned.has_cut("entries", "7") && !planned.has_cut("entries", "50"));
        assert!(!planned.has_cut("entries", "101"));
    }

    #[test]
    fn every_run_of_every_known_study_has_a_scenario_whole_and_cut() {
        for (name, _) in known::STUDIES {
            let study = known::study(name).unwrap();
            for run in &study.runs {
                let whole = Planned::of(&study, run, false).unwrap();
                assert!(whole.lost().is_empty() && !whole.search().is_empty(), "{}", run.id);
                let cut = Planned::of(&study, run, true).unwrap();
                assert!(!cut.lost().is_empty(), "{} is not cut", run.id);
                assert!(toml::from_str::<Table>(&cut.text()).is_ok());
            }
        }
    }
}
