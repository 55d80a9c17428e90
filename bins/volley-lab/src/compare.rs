//! `volley-lab compare A B SCENARIO`, and `bisect`: is one faster than the other, and since when?
//!
//! ```text
//! bisect   build 0 … good … │ … bad … build n      the first build against one in the middle, again
//!                           ▲ found                and again: lower there means before there
//! ```

use lab_record::{ComparisonRecord, Error, Finding};
use lab_report::html;
use lab_search::search::Manner;

use crate::Failure;
use crate::arguments::Arguments;
use crate::bench::{FLAGS, Setting};
use crate::say::say;

/// Blocks, where nothing else is said: 20 find 1 % on a quiet host.
const BLOCKS: u64 = 20;

fn flags() -> Vec<&'static str> {
    FLAGS.iter().copied().chain(["blocks"]).collect()
}

/// Holds B against A.
pub(crate) fn compare(arguments: &Arguments) -> Result<(), Failure> {
    arguments.only(&flags())?;
    let [base, other, file] = &arguments.words[..] else {
        return Err(Failure::Usage("compare needs two devices and a scenario".into()));
    };
    let blocks = blocks(arguments)?;
    let devices = [base.clone(), other.clone()];
    let setting = enter(arguments, file, &devices)?;
    let mut recorder = setting.recorder()?;
    let found =
        setting.campaign(&devices, |campaign| campaign.compare(&mut recorder, base, other, blocks));
    html::write(&setting.out)?;
    for record in stopped(found)? {
        tell(&record);
    }
    say!("{}", setting.out.join("report.html").display());
    Ok(())
}

/// Finds the first of several builds, oldest first, that is slower than the first of them.
pub(crate) fn bisect(arguments: &Arguments) -> Result<(), Failure> {
    arguments.only(&flags())?;
    let [file, builds @ ..] = &arguments.words[..] else {
        return Err(Failure::Usage("bisect needs a scenario and builds, oldest first".into()));
    };
    if builds.len() < 2 {
        return Err(Failure::Usage("bisect needs two builds or more, oldest first".into()));
    }
    let blocks = blocks(arguments)?;
    let devices: Vec<String> = builds.iter().map(|folder| format!("volley={folder}")).collect();
    let setting = enter(arguments, file, &devices)?;
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
fn enter(arguments: &Arguments, file: &str, devices: &[String]) -> Result<Setting, Failure> {
    let setting = Setting::enter(arguments, file, devices)?;
    let search = setting.scenario.measure.search;
    match search.manner {
        Manner::Checks => Err(Failure::Usage(format!(
            "{file}: search = \"{}\" finds no rate that could be compared",
            search.name
        ))),
        _ => Ok(setting),
    }
}

fn blocks(arguments: &Arguments) -> Result<usize, Failure> {
    Ok(arguments.count("blocks", BLOCKS)?.clamp(6, 10_000) as usize)
}

fn stopped<T>(found: Result<T, Error>) -> Result<T, Failure> {
    found.map_err(|error| match error {
        Error::Stopped => Failure::Stopped,
        error => error.into(),
    })
}

fn tell(record: &ComparisonRecord) {
    let it = &record.comparison;
    say!(
        "{} / {}, {}: {:.4} [{:.4}, {:.4}], p = {:.4}, {:?}; nothing below {:.2} % is believed here",
        record.other,
        record.base,
        record.case,
        it.ratio,
        it.ratio_95.low,
        it.ratio_95.high,
        it.p,
        it.finding,
        100.0 * it.smallest_believable.unwrap_or(0.0)
    );
    for device in &record.unexhausted {
        say!("{device} lost nothing at the largest load: it may do more than was seen");
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
