//! `--quick` and `--points`, of `run` and `plan`: a scenario in short, and what that loses.

use clap::Args;
use lab_trial::cut::Cut;

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
}

impl Shorter {
    /// How much of a scenario is cut.
    pub(crate) fn cut(&self) -> Cut {
        Cut { points: self.points.map(|points| points as usize), quick: self.quick }
    }
}

/// Says what was cut, a line each.
pub(crate) fn tell(cut: &[String]) {
    cut.iter().for_each(|line| say!("in short — {line}"));
}
