//! A part of a scenario's cases: a campaign spread over like machines.
//!
//! ```text
//! cases    a1 a2 a3 a4 b1 b2 b3 b4        in the order in which they cost least to change
//! shard 1/3 ──────┤ 2/3 ─────┤ 3/3 ──     cut where a third, and two, of the time is over
//! ```
//! A function of the scenario alone: every machine cuts it in the same places. All devices of a
//! case are measured by one shard, and all its starts: ratios and intervals are of one machine.

use std::fmt;
use std::str::FromStr;

use lab_record::axes::{SetBy, named};

use super::{Case, Scenario};

/// Which part, from 0, of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

/// Most parts.
const MOST: u32 = 10_000;
/// Seconds of a start of a device, beside those that its entries take.
const START_S: f64 = 2.0;
/// Entries that devices take in a second.
const ENTRIES_PER_S: f64 = 2e5;
/// Loads that a search decides, roughly.
const LOADS: f64 = 8.0;

impl Shard {
    /// All parts.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Of all cases in order, with the seconds of each, those of this part. Where there are as many
    /// cases as parts none is empty.
    fn take(self, cases: Vec<(Case, f64)>) -> Vec<Case> {
        let (count, parts) = (cases.len(), self.count as usize);
        let total_s: f64 = cases.iter().map(|it| it.1).sum();
        let mut owners = Vec::with_capacity(count);
        let mut before_s = 0.0;
        for (_, seconds) in &cases {
            let share = (before_s + seconds / 2.0) / total_s.max(f64::MIN_POSITIVE);
            let after = owners.last().map_or(0, |last| last + 1);
            owners.push(((share * parts as f64) as usize).min(parts - 1).min(after));
            before_s += seconds;
        }
        // The last parts have a case each, however short.
        for (at, owner) in owners.iter_mut().enumerate() {
            *owner = (*owner).max((parts + at).saturating_sub(count).min(parts - 1));
        }
        let own = cases.into_iter().zip(owners).filter(|it| it.1 == self.index as usize);
        own.map(|((case, _), _)| case).collect()
    }
}

impl Scenario {
    /// The cases of its shard, or all.
    pub fn cases(&self) -> Vec<Case> {
        let all = self.all_cases();
        let Some(shard) = self.shard else { return all };
        let mut last = None;
        let weighed = all.into_iter().map(|case| {
            let start = started(&case);
            let anew = last.replace(start.clone()) != Some(start);
            let entries = case.get::<lab_record::axes::Entries>().or(case.function.entries);
            let filling_s = entries.unwrap_or(0) as f64 / ENTRIES_PER_S;
            let start_s = if anew { START_S + filling_s } else { 0.0 };
            let search_s = LOADS * self.measure.duration_sum_s.get_ref().max(self.measure.trial_s);
            (case, search_s + start_s)
        });
        shard.take(weighed.collect())
    }
}

/// What a device is started with in a case.
fn started(case: &Case) -> (String, Vec<(String, String)>) {
    let by_start = |name: &str| named(name).is_some_and(|it| it.set_by != SetBy::Generator);
    let axes = case.axes.iter().filter(|(name, _)| by_start(name));
    let axes = axes.map(|(name, value)| (name.clone(), value.clone()));
    (case.function.name().to_owned(), axes.collect())
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(index, count)| {
            Some((index.parse::<u32>().ok()?, count.parse::<u32>().ok()?))
        });
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) && count <= MOST => {
                Ok(Self { index: index - 1, count })
            }
            _ => Err(format!("not a part, as in 2/3: from 1/3 to 3/3, and at most {MOST}")),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index + 1, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(sweep: &str) -> Scenario {
        let text = format!(
            "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'ip4'\n[[function]]\nkind = 'ip6'\n\
             [sweep]\n{sweep}\n[measure]\nsearch = 'mlr'\n"
        );
        Scenario::parse(&text, "x").unwrap()
    }

    fn shards(scenario: &Scenario, count: u32) -> Vec<Vec<Case>> {
        let shard = |index| Scenario { shard: Some(Shard { index, count }), ..scenario.clone() };
        (0..count).map(|index| shard(index).cases()).collect()
    }

    #[test]
    fn shards_together_are_the_scenario_and_nothing_is_in_two() {
        let sweep = "entries = [1, 10, 1000, 100000, 4000000]\nframe_bytes = [84, 128, 512, 1518]";
        let whole = scenario(sweep);
        for count in 1..=45 {
            let parts = shards(&whole, count);
            assert_eq!(parts.concat(), whole.all_cases(), "{count} shards");
            assert_eq!(shards(&whole, count), parts, "the same again");
            if count <= 40 {
                assert!(parts.iter().all(|part| !part.is_empty()), "{count} shards");
            }
        }
    }

    #[test]
    fn shards_take_about_as_long_as_each_other() {
        let parts = shards(&scenario("frame_bytes = [84, 128, 256, 512, 1024, 1518]"), 3);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 4]);
        // A table of four million takes 20 s to fill, a search under 3 minutes.
        let parts = shards(&scenario("entries = [1, 4000000]\nframe_bytes = [84, 128]"), 4);
        assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 2]);
    }

    #[test]
    fn every_scenario_that_comes_with_the_lab_can_be_spread() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
        let mut seen = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let whole = Scenario::parse(&text, &path.display().to_string()).unwrap();
            assert_eq!(shards(&whole, 3).concat(), whole.all_cases(), "{}", path.display());
            seen += 1;
        }
        assert!(seen > 20);
    }

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
        for wrong in ["0/3", "4/3", "1", "a/b", "1/0", "1/20000", "-1/3", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
