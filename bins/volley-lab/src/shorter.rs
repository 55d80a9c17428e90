//! `--quick`, `--points` and `--shard`, of `run` and `plan`: a scenario in short, and what that
//! loses.

use clap::Args;
use lab_trial::cut::Cut;
use lab_trial::scenario::{Scenario, Shard};

use crate::Failure;
use crate::say::say;

/// What is cut of a scenario.
#[derive(Debug, Args)]
pub(crate) struct Shorter {
    /// In short, to see that everything works: one start, short trials, two values of each axis, an
    /// axis at a time, small tables. Says what it cuts; its rates are rough
    #[arg(long)]
    quick: bool,
    /// Values of each axis, ends included; all of them unless said
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    points: Option<u64>,
    /// Measure one of N parts of the cases, as in 2/3: about as long as each other. `report` puts
    /// them together
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
}

impl Shorter {
    /// Leaves the cases of the wanted part.
    pub(crate) fn part_of(&self, scenario: &mut Scenario) -> Result<(), Failure> {
        part_of(self.shard, scenario)
    }

    /// Which part is wanted; all unless said.
    pub(crate) fn shard(&self) -> Option<Shard> {
        self.shard
    }

    /// How much of a scenario is cut.
    pub(crate) fn cut(&self) -> Cut {
        Cut {
            points: self.points.map(|points| points as usize),
            quick: self.quick,
            ..Cut::default()
        }
    }
}

/// Leaves the cases of a part, which must be some.
pub(crate) fn part_of(shard: Option<Shard>, scenario: &mut Scenario) -> Result<(), Failure> {
    scenario.shard = shard;
    match shard {
        Some(shard) if scenario.cases().is_empty() => Err(Failure::Usage(format!(
            "--shard {shard}: there are {} cases, and so at most as many parts",
            scenario.all_cases().len()
        ))),
        _ => Ok(()),
    }
}

/// Says what was cut, a line each.
pub(crate) fn tell(cut: &[String]) {
    cut.iter().for_each(|line| say!("in short — {line}"));
}
