//! What a scenario varies: values of axes.

use std::fmt;

use lab_record::axes::{ALL, Axis, Spec, named};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Spanned;

use super::numbers::Numbers;
use super::wrong::{Wrong, wrong};

/// The axes that are varied; a case is one value of each.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sweep(Vec<(&'static Spec, Values)>);

/// The values of an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Values {
    /// Of one of numbers.
    Numbers(Spanned<Numbers>),
    /// Of one of words.
    Words(Vec<Spanned<String>>),
}

impl Sweep {
    /// The axes that are varied, outermost first.
    pub fn axes(&self) -> impl Iterator<Item = (&'static Spec, &Values)> {
        self.0.iter().map(|(axis, values)| (*axis, values))
    }

    /// The numbers of an axis, where it is varied.
    pub fn numbers<A: Axis<Value = u64>>(&self) -> Option<&Spanned<Numbers>> {
        self.0.iter().find(|(axis, _)| axis.name == A::NAME).and_then(|(_, values)| match values {
            Values::Numbers(numbers) => Some(numbers),
            Values::Words(_) => None,
        })
    }

    /// The words of an axis, where it is varied.
    pub fn words<A: Axis>(&self) -> &[Spanned<String>] {
        match self.0.iter().find(|(axis, _)| axis.name == A::NAME) {
            Some((_, Values::Words(words))) => words,
            _ => &[],
        }
    }

    /// Leaves so many values of each axis, ends included, none above `most` of it but where all
    /// are. The axes that were cut: name, what is left, how many there were.
    pub(crate) fn cut(
        &mut self,
        points: usize,
        most: impl Fn(&str) -> Option<u64>,
    ) -> Vec<(&'static str, Vec<String>, usize)> {
        let mut cut = Vec::new();
        for (axis, values) in &mut self.0 {
            let all = values.texts().len();
            values.cut(points, most(axis.name));
            let left = values.texts();
            if left.len() < all {
                cut.push((axis.name, left, all));
            }
        }
        cut
    }

    pub(super) fn check(&self) -> Result<(), Wrong> {
        for (axis, values) in &self.0 {
            match values {
                Values::Numbers(numbers) => {
                    if let Some(fault) = numbers.get_ref().fault() {
                        return wrong(numbers, fault);
                    }
                    let texts = numbers.get_ref().values().into_iter().map(|it| it.to_string());
                    if let Some(fault) = texts.into_iter().find_map(|text| (axis.fault)(&text)) {
                        return wrong(numbers, fault);
                    }
                }
                Values::Words(words) => {
                    let known =
                        |word: &&Spanned<String>| axis.words.contains(&word.get_ref().as_str());
                    if let Some(word) = words.iter().find(|word| !known(word)) {
                        let reason =
                            format!("{:?} is none of {}", word.get_ref(), axis.words.join(", "));
                        return wrong(word, reason);
                    }
                }
            }
        }
        Ok(())
    }
}

/// So many of some values: the first, the last, and in between evenly.
fn spread<T: Clone>(values: &[T], points: usize) -> Vec<T> {
    let (last, steps) = (values.len().saturating_sub(1), points.saturating_sub(1).max(1));
    let mut places: Vec<usize> =
        (0..points.max(1)).map(|at| (at * last + steps / 2) / steps).collect();
    places.dedup();
    places.into_iter().filter_map(|at| values.get(at).cloned()).collect()
}

impl Values {
    fn cut(&mut self, points: usize, most: Option<u64>) {
        match self {
            Self::Numbers(numbers) => {
                let all = numbers.get_ref().values();
                let below = |value: &&u64| most.is_none_or(|most| **value <= most);
                let mut left: Vec<u64> = all.iter().filter(below).copied().collect();
                if left.is_empty() {
                    left.extend(all.first());
                }
                *numbers.get_mut() = Numbers::List(spread(&left, points));
            }
            Self::Words(words) => *words = spread(words, points),
        }
    }

    /// As texts.
    pub fn texts(&self) -> Vec<String> {
        match self {
            Self::Numbers(numbers) => {
                numbers.get_ref().values().iter().map(u64::to_string).collect()
            }
            Self::Words(words) => words.iter().map(|word| word.get_ref().clone()).collect(),
        }
    }
}

impl Serialize for Sweep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = serializer.serialize_map(Some(self.0.len()))?;
        for (axis, values) in &self.0 {
            table.serialize_entry(axis.name, values)?;
        }
        table.end()
    }
}

/// The name of an axis.
struct Name(&'static Spec);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || {
            let all: Vec<String> = ALL.iter().map(|axis| format!("`{}`", axis.name)).collect();
            D::Error::custom(format!("unknown field `{name}`, expected one of {}", all.join(", ")))
        };
        named(&name).map(Self).ok_or_else(unknown)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Sweep;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct Sweep")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut table: M) -> Result<Sweep, M::Error> {
        let mut read = Vec::new();
        while let Some(Name(axis)) = table.next_key()? {
            let values = match axis.words {
                [] => Values::Numbers(table.next_value()?),
                _ => Values::Words(table.next_value()?),
            };
            read.push((axis, values));
        }
        // No words at all are an axis that is not varied.
        read.retain(|(_, values)| !matches!(values, Values::Words(words) if words.is_empty()));
        read.sort_by_key(|(axis, _)| ALL.iter().position(|known| known == *axis));
        Ok(Sweep(read))
    }
}

impl<'de> Deserialize<'de> for Sweep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reading)
    }
}
