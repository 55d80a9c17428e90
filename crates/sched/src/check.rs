//! What is refused, and why: ranges, names, loops, promises that nothing can keep, more state than
//! is allowed.

use crate::config::Config;
use crate::memory::memory;
use crate::names::Names;
use crate::plan::Shape;
use crate::settings::within;
use crate::{Error, Warning};

/// As many as a major number can name.
const MAX_CLASSES: usize = 65_534;
/// Disciplines one under the other.
const MAX_NESTING: usize = 8;

/// Says why there can be no such scheduler, if so.
pub fn check(config: &Config) -> Result<(), Error> {
    within("scheduler", "mtu_bytes", u64::from(config.mtu_bytes), 64, 65_535, "64 to 65535")?;
    if let Some(packets) = config.pool_packets {
        within("scheduler", "pool_packets", u64::from(packets), 1, 1 << 26, "1 to 2^26")?;
    }
    let count = count_classes(&config.root, 0)?;
    if count > MAX_CLASSES {
        return Err(Error::TooManyClasses { count, limit: MAX_CLASSES });
    }
    let mut names = Names::default();
    shape(&config.root, &mut names)?;
    config.root.plan().leaves().into_iter().flatten().try_for_each(belongs_to_one_worker)?;
    for (at, filter) in config.filters.iter().enumerate() {
        filter.check()?;
        names.expect_leaf(filter.class, || format!("filter {}", at + 1))?;
    }
    let (needed, limit) = (memory(config), config.memory_limit);
    if needed > limit {
        return Err(Error::Memory { needed, limit });
    }
    Ok(())
}

fn count_classes(shape: &Shape, depth: usize) -> Result<usize, Error> {
    if depth >= MAX_NESTING {
        return Err(Error::TooDeep { limit: MAX_NESTING });
    }
    let below = shape.plan().leaves().into_iter().flatten();
    below
        .map(|leaf| count_classes(leaf, depth + 1))
        .sum::<Result<usize, Error>>()
        .map(|below| below + shape.plan().count_classes())
}

fn shape(shape_: &Shape, names: &mut Names) -> Result<(), Error> {
    let plan = shape_.plan();
    plan.check_ranges()?;
    plan.handle().map_or(Ok(()), |handle| names.add_handle(handle))?;
    plan.check(names)?;
    plan.leaves().into_iter().flatten().try_for_each(|leaf| shape(leaf, names))?;
    // A default that is no class yet is only warned of: it may become one.
    plan.default_class()
        .filter(|id| names.is_inner(*id))
        .map_or(Ok(()), |id| names.expect_leaf(id, || format!("the default of {}", plan.kind())))
}

/// Below another discipline, or a bucket of the whole, a tree has one worker.
fn belongs_to_one_worker(shape: &Shape) -> Result<(), Error> {
    if shape.plan().all_workers() {
        let reason = "the tree stands under another discipline, or under the bucket that a `rate` \
            makes, which one worker serves; give the rate to its top class";
        return Err(Error::AllWorkers { reason });
    }
    shape.plan().leaves().into_iter().flatten().try_for_each(belongs_to_one_worker)
}

/// What a configuration that can be had had better not say.
pub fn warnings(config: &Config) -> Vec<Warning> {
    let mut names = Names::default();
    let mut warnings = Vec::new();
    if shape(&config.root, &mut names).is_ok() {
        warn(&config.root, config, &names, &mut warnings);
    }
    warnings
}

fn warn(shape: &Shape, config: &Config, names: &Names, warnings: &mut Vec<Warning>) {
    let plan = shape.plan();
    plan.warn(config.mtu_bytes, config.link_rate, warnings);
    if let Some(id) = plan.default_class().filter(|id| !names.is_leaf(*id)) {
        let meanwhile = plan.without_default();
        warnings.push(Warning::NoDefault { kind: plan.kind(), id, meanwhile });
    }
    plan.leaves().into_iter().flatten().for_each(|leaf| warn(leaf, config, names, warnings));
}

#[cfg(test)]
mod tests;
