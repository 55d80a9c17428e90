//! `volley-lab compare A B SCENARIO`, and `bisect` of builds: is one faster than the other, and
//! since when?
//!
//! ```text
//! bisect   build 0 … good … │ … bad … build n      the first build against one in the middle, again
//!                           ▲ found                and again: lower there means before there
//! ```

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use lab_record::{ComparisonRecord, Error, Finding, Results};
use lab_report::{gate, html, words};
use lab_search::search::Manner;
use lab_trial::cut::Cut;

use crate::Failure;
use crate::bench::{Flags, Setting};
use crate::gate::{FailBelow, Junit};
use crate::say::say;

/// Blocks, where nothing else is said: 20 find 1 % on a quiet host.
const BLOCKS: u32 = 20;

/// After as many blocks of A against itself, which tell what is too small to be believed here.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The device that the other is held against
    a: String,
    /// The device that is held against it
    b: String,
    /// The scenario
    #[arg(value_hint = ValueHint::FilePath)]
    scenario: PathBuf,
    #[command(flatten)]
    blocks: Blocks,
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    fail_below: FailBelow,
    #[command(flatten)]
    junit: Junit,
}

/// Blocks of a comparison.
#[derive(Debug, Args)]
pub(crate) struct Blocks {
    /// Blocks of four starts, for the comparison and again for A against itself
    #[arg(long, value_name = "N", default_value_t = BLOCKS,
        value_parser = clap::value_parser!(u32).range(6..=10_000))]
    blocks: u32,
}

impl Blocks {
    /// How many.
    pub(crate) fn count(&self) -> usize {
        self.blocks as usize
    }
}

/// Holds B against A.
pub(crate) fn compare(arguments: &Compare) -> Result<(), Failure> {
    let Compare { a: base, b: other, scenario, blocks, flags, .. } = arguments;
    let blocks = blocks.count();
    let devices = [base.clone(), other.clone()];
    let setting = enter(flags, scenario, &devices)?;
    let mut recorder = setting.recorder()?;
    let found =
        setting.campaign(&devices, |campaign| campaign.compare(&mut recorder, base, other, blocks));
    html::write(&setting.out)?;
    let comparisons = stopped(found)?;
    comparisons.iter().for_each(tell);
    say!("{}", setting.out.join("report.html").display());
    let results = Results { comparisons, ..Results::default() };
    let gate = gate::of(&results, arguments.fail_below.fail_below);
    arguments.junit.close(setting.scenario.name.get_ref(), &gate)
}

/// Finds the first of several builds, oldest first, that is slower than the first of them.
pub(crate) fn of_builds(
    scenario: &Path,
    builds: &[String],
    blocks: &Blocks,
    flags: &Flags,
) -> Result<(), Failure> {
    let blocks = blocks.count();
    let devices: Vec<String> = builds.iter().map(|folder| format!("volley={folder}")).collect();
    let setting = enter(flags, scenario, &devices)?;
    let mut recorder = setting.recorder()?;
    let found = setting.campaign(&devices, |campaign| {
        first_slower(devices.len(), |at| {
            let records = campaign.compare(&mut recorder, &devices[0], &devices[at], blocks)?;
            records.iter().for_each(tell);
            Ok(records.iter().any(|record| record.comparison.finding == Finding::Lower))
        })
    });
    html::write(&setting.out)?;
    match stopped(found)? {
        Some(at) => say!("slower since {}", builds[at]),
        None => say!("{} is not slower than {}", builds[builds.len() - 1], builds[0]),
    }
    Ok(())
}

/// The first of `count` builds that is slower than number 0; none if the last is not.
fn first_slower(
    count: usize,
    mut slower: impl FnMut(usize) -> Result<bool, Error>,
) -> Result<Option<usize>, Error> {
    let (mut good, mut bad) = (0, count - 1);
    if !slower(bad)? {
        return Ok(None);
    }
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        if slower(middle)? {
            bad = middle;
        } else {
            good = middle;
        }
    }
    Ok(Some(bad))
}

/// What is compared are rates: a scenario that only checks has none.
fn enter(flags: &Flags, file: &Path, devices: &[String]) -> Result<Setting, Failure> {
    let setting = Setting::enter(flags, (Cut::default(), None), file, devices)?;
    setting.must_be_new()?;
    let search = setting.scenario.measure.search;
    match search.manner {
        Manner::Checks => Err(Failure::Usage(format!(
            "{}: search = \"{}\" finds no rate that could be compared",
            file.display(),
            search.name
        ))),
        _ => Ok(setting),
    }
}

fn stopped<T>(found: Result<T, Error>) -> Result<T, Failure> {
    found.map_err(|error| match error {
        Error::Stopped => Failure::Stopped,
        error => error.into(),
    })
}

/// Says what came of a comparison; of two devices that may both do more, no ratio.
pub(crate) fn tell(record: &ComparisonRecord) {
    let ComparisonRecord { base, other, case, comparison: it, .. } = record;
    match record.reading().sign() {
        Some(sign) => say!(
            "{other} / {base}, {case}{}: {sign}{:.4} [{:.4}, {:.4}], p = {:.4}, {}; nothing below {:.2} % is believed here",
            if record.cost.is_some() { ", by cost" } else { "" },
            it.ratio,
            it.ratio_95.low,
            it.ratio_95.high,
            it.p,
            finding(it.finding),
            100.0 * it.smallest_believable.unwrap_or(0.0)
        ),
        None => say!("{other} / {base}, {case}: no ratio, as neither was brought to its limit"),
    }
    if let Some(cost) = &record.cost {
        say!("cost: {}", words::compared_cost(cost));
    }
    for device in &record.unexhausted {
        say!("{device} lost next to nothing at the largest load: it may do more than was seen");
    }
}

fn finding(finding: Finding) -> &'static str {
    match finding {
        Finding::Higher => "higher",
        Finding::Lower => "lower",
        Finding::NoDifference => "no difference",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_slower_build_is_found_in_few_comparisons() {
        for first in 1..40 {
            let mut asked = 0;
            let found = first_slower(40, |at| {
                asked += 1;
                Ok(at >= first)
            });
            assert_eq!(found.unwrap(), Some(first));
            assert!(asked <= 7, "{asked}");
        }
        assert_eq!(first_slower(5, |_| Ok(false)).unwrap(), None);
    }
}
