//! A number over the commits, cut where it changed.
//!
//! ```text
//! 9.1 9.2 9.1 5.0 9.2 | 8.4 8.5 8.4        5.0 = an anomaly: a campaign apart    | = a change
//! ```
//! Groups by minimum description length, as `trend` has them. A campaign by itself amid others is
//! an anomaly and takes no part. A change has to be larger than four standard errors besides: of
//! many series a few would seem to change by chance.

use lab_search::stats::groups::{Group, groups};
use lab_search::stats::summary::{deviation, mean, robust_deviation};

use super::number::Number;

/// Standard errors that a change has to be larger than.
const ERRORS: f64 = 4.0;

/// A number of one entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Which entry of the line.
    pub entry: usize,
    /// The number.
    pub number: Number,
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The first point of the new level, and the last of the old one.
    pub at: usize,
    /// See `at`.
    pub last_before: usize,
    /// Mean of the level before.
    pub before: f64,
    /// Mean of the level from there on.
    pub after: f64,
    /// By how much better, as a share; negative where it is worse.
    pub better: f64,
    /// Points of the new level: one alone may be an anomaly yet.
    pub points: usize,
}

impl Change {
    /// Whether more than one campaign shows it.
    pub fn is_confirmed(&self) -> bool {
        self.points > 1
    }
}

/// A number over the entries of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The points, in order of the entries.
    pub points: Vec<Point>,
    /// Levels: the points of each, and their mean.
    pub levels: Vec<(Vec<usize>, f64)>,
    /// Where it changed.
    pub changes: Vec<Change>,
    /// Points apart.
    pub anomalies: Vec<usize>,
}

impl Series {
    /// Of points in order of their entries; at least one.
    pub fn of(points: Vec<Point>) -> Self {
        let value = |at: usize| points[at].number.value;
        let mut kept: Vec<usize> = (0..points.len()).collect();
        let mut anomalies = Vec::new();
        let cut = |kept: &[usize]| groups(&kept.iter().map(|&at| value(at)).collect::<Vec<_>>());
        let mut found = cut(&kept);
        while let Some(lonely) = lonely(&found) {
            anomalies.push(kept.remove(lonely));
            found = cut(&kept);
        }
        anomalies.sort_unstable();
        let noise = noise(&values(&kept, value));
        let mut levels: Vec<Vec<usize>> = Vec::new();
        for group in &found {
            let members = kept[group.from..group.from + group.count].to_vec();
            match levels.last_mut() {
                Some(last) if !differ(&values(last, value), &values(&members, value), noise) => {
                    last.extend(members);
                }
                _ => levels.push(members),
            }
        }
        let level = |members: &[usize]| mean(&values(members, value));
        let more_is_better = points.first().is_none_or(|it| it.number.more_is_better());
        let changes = levels.windows(2).filter_map(|pair| {
            let (before, after) = (level(&pair[0]), level(&pair[1]));
            let share = after / before.max(f64::MIN_POSITIVE) - 1.0;
            Some(Change {
                at: *pair[1].first()?,
                last_before: *pair[0].last()?,
                before,
                after,
                better: if more_is_better { share } else { -share },
                points: pair[1].len(),
            })
        });
        let changes = changes.collect();
        let means: Vec<f64> = levels.iter().map(|it| level(it)).collect();
        Self { levels: levels.into_iter().zip(means).collect(), points, changes, anomalies }
    }

    /// The first of its points: what all of them are of.
    pub fn number(&self) -> Option<&Number> {
        self.points.first().map(|it| &it.number)
    }

    /// The mean of a level without the point, as a share of which it lies off.
    pub fn off(&self, anomaly: usize) -> f64 {
        let near = self.levels.iter().rfind(|(members, _)| members.first() <= Some(&anomaly));
        let level = near.or(self.levels.first()).map_or(0.0, |it| it.1);
        self.points[anomaly].number.value / level.max(f64::MIN_POSITIVE) - 1.0
    }
}

fn values(members: &[usize], value: impl Fn(usize) -> f64) -> Vec<f64> {
    members.iter().map(|&at| value(at)).collect()
}

/// Where a group of one lies amid others, if one does: as an index of what was cut. The one that is
/// farthest off goes first.
fn lonely(groups: &[Group]) -> Option<usize> {
    let inner = groups.windows(3).filter(|it| it[1].count == 1);
    let off = |it: &[Group]| {
        let distance = |other: &Group| (it[1].mean - other.mean).abs();
        distance(&it[0]).min(distance(&it[2]))
    };
    let farthest = inner.max_by(|a, b| off(a).total_cmp(&off(b)))?;
    Some(farthest[1].from)
}

/// Whether two groups differ by more than chance would have it, where values spread at least so.
fn differ(one: &[f64], other: &[f64], noise: f64) -> bool {
    let distance = (mean(one) - mean(other)).abs();
    // Few values may seem to spread less than they do.
    let (a, b) = (deviation(one).max(noise), deviation(other).max(noise));
    let error = (a * a / one.len() as f64 + b * b / other.len() as f64).sqrt();
    distance > ERRORS * error && distance > 0.0
}

/// How values spread about their level, whatever steps there are: by what neighbours differ.
fn noise(values: &[f64]) -> f64 {
    let steps: Vec<f64> = values.windows(2).map(|it| it[1] - it[0]).collect();
    robust_deviation(&steps) / std::f64::consts::SQRT_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_search::random::Random;

    fn series(values: &[f64], unit: &str) -> Series {
        let point = |(entry, &value): (usize, &f64)| Point {
            entry,
            number: Number { value, unit: unit.into(), ..Number::default() },
        };
        Series::of(values.iter().enumerate().map(point).collect())
    }

    fn noisy(levels: &[(usize, f64)], noise: f64, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let level = |&(count, level): &(usize, f64)| vec![level; count];
        let plain: Vec<f64> = levels.iter().flat_map(level).collect();
        plain.into_iter().map(|it| it * (1.0 + noise * random.normal())).collect()
    }

    #[test]
    fn a_step_of_three_percent_is_found_where_it_is_and_says_which_way() {
        for seed in 0..40 {
            let values = noisy(&[(12, 9.2e6), (8, 9.2e6 * 0.97)], 0.004, seed);
            let found = series(&values, "pps");
            let [change] = &found.changes[..] else { panic!("{seed}: {:?}", found.changes) };
            assert_eq!((change.at, change.last_before, change.points), (12, 11, 8), "{seed}");
            assert!((change.better + 0.03).abs() < 0.006 && change.is_confirmed(), "{change:?}");
        }
        let costs = noisy(&[(10, 100.0), (10, 103.0)], 0.004, 1);
        assert!(series(&costs, "cycles").changes[0].better < -0.02);
    }

    #[test]
    fn noise_makes_no_change() {
        let alarms = (0..200).filter(|&seed| {
            let found = series(&noisy(&[(40, 9.2e6)], 0.01, seed), "pps");
            !found.changes.is_empty()
        });
        let alarms = alarms.count();
        assert!(alarms <= 2, "{alarms} of 200");
    }

    #[test]
    fn a_campaign_by_itself_is_an_anomaly_and_no_change() {
        let mut values = noisy(&[(20, 10.0)], 0.001, 1);
        values[12] = 5.0;
        let found = series(&values, "pps");
        assert_eq!((found.anomalies.clone(), found.changes.len()), (vec![12], 0), "{found:?}");
        assert!((found.off(12) + 0.5).abs() < 0.01);
        // A step beside it is found all the same.
        let mut values = noisy(&[(20, 10.0), (10, 9.0)], 0.001, 2);
        values[7] = 12.0;
        let found = series(&values, "pps");
        assert_eq!((found.anomalies[..].to_vec(), found.changes[0].at), (vec![7], 20));
    }

    #[test]
    fn the_last_campaign_may_be_either_and_is_not_confirmed() {
        let mut values = noisy(&[(20, 10.0)], 0.001, 1);
        values.push(9.0);
        let found = series(&values, "pps");
        assert_eq!((found.changes[0].at, found.changes[0].is_confirmed()), (20, false));
        assert!(series(&[10.0], "pps").changes.is_empty());
    }

    #[test]
    fn numbers_that_never_vary_change_by_the_least() {
        let mut values = vec![100.0; 10];
        values.extend([101.0; 10]);
        let found = series(&values, "cycles");
        assert_eq!(found.changes[0].at, 10);
    }
}
