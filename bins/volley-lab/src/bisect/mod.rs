//! `volley-lab bisect`: since which revision, or build, is it slower?
//!
//! ```text
//! revisions  good … bad ─▶ build each once ─▶ against the good one, block by block ─▶ the first slower
//! builds     folders, oldest first ──────────┘
//! ```
//! A revision is slower where its ratio to the good one lies below a limit: what `--fail-below`
//! allows, or half of the way to the bad one. While the limit lies within the interval there are
//! more blocks, up to four times as many; then the ratio alone decides.

mod builds;
mod hunt;
mod measure;
mod revisions;

use std::collections::BTreeMap;
use std::path::PathBuf;

use builds::{Builds, Built};
use clap::{Args, ValueHint};
use hunt::{Found, Said, first_slower};
use measure::{Candidate, Evidence, Measure};
use revisions::Revision;

use crate::Failure;
use crate::bench::Flags;
use crate::compare::{self, Blocks};
use crate::gate::FailBelow;
use crate::say::say;

/// Of revisions of a repository, each built once, or of builds that are there.
#[derive(Debug, Args)]
pub(crate) struct Bisect {
    /// The scenario; none with --measure
    #[arg(required_unless_present = "measure", value_hint = ValueHint::FilePath)]
    scenario: Option<PathBuf>,
    /// Folders of builds, oldest first; none with --good
    #[arg(value_name = "FOLDER", conflicts_with = "good", value_hint = ValueHint::DirPath)]
    builds: Vec<String>,
    /// A revision that is as fast as it should be
    #[arg(long, value_name = "REV")]
    good: Option<String>,
    /// A later one that is slower
    #[arg(long, value_name = "REV", default_value = "HEAD", requires = "good")]
    bad: String,
    /// The repository
    #[arg(long, value_name = "DIR", default_value = ".", requires = "good",
        value_hint = ValueHint::DirPath)]
    repository: PathBuf,
    /// Builds a revision that is checked out here into the folder $OUT
    #[arg(long, value_name = "COMMAND", default_value = builds::USUAL, hide_default_value = true,
        requires = "good")]
    build: String,
    /// Where builds are kept
    #[arg(long, value_name = "DIR", default_value = "target/bisect", requires = "good",
        value_hint = ValueHint::DirPath)]
    cache: PathBuf,
    /// Measures one start of the build in $BUILD, in place of the lab: its last line is how fast
    /// that was
    #[arg(long, value_name = "COMMAND", requires = "good")]
    measure: Option<String>,
    #[command(flatten)]
    fail_below: FailBelow,
    #[command(flatten)]
    blocks: Blocks,
    #[command(flatten)]
    flags: Flags,
}

/// Finds the first that is slower.
pub(crate) fn bisect(arguments: &Bisect) -> Result<(), Failure> {
    let Bisect { scenario, builds, good, blocks, flags, .. } = arguments;
    match (good, scenario, &builds[..]) {
        (Some(good), _, _) => of_revisions(arguments, good),
        (None, Some(scenario), [_, _, ..]) => compare::of_builds(scenario, builds, blocks, flags),
        (None, ..) => {
            let told = "either --good REV, or two folders of builds or more";
            Err(Failure::Usage(told.to_owned()))
        }
    }
}

/// A bisection of revisions.
struct Hunt<'a> {
    revisions: Vec<Revision>,
    builds: Builds,
    measure: Measure<'a>,
    blocks: (usize, u64),
    evidence: BTreeMap<usize, Evidence>,
    failed: BTreeMap<usize, PathBuf>,
}

fn of_revisions(arguments: &Bisect, good: &str) -> Result<(), Failure> {
    let Bisect { scenario, bad, repository, build, cache, measure, .. } = arguments;
    let Bisect { fail_below, blocks, flags, .. } = arguments;
    let measure = match (measure, scenario) {
        (Some(command), _) => Measure::Command(command),
        (None, Some(scenario)) => {
            let (words, out) = (flags.words(), flags.out_or(&cache.join("results")));
            Measure::Lab { scenario, words, out }
        }
        (None, None) => return Err(Failure::Usage("no scenario".to_owned())),
    };
    let mut hunt = Hunt {
        revisions: revisions::between(repository, good, bad)?,
        builds: Builds::open(repository, cache, build)?,
        measure,
        blocks: (blocks.count(), flags.seed_or(1)),
        evidence: BTreeMap::new(),
        failed: BTreeMap::new(),
    };
    let last = hunt.revisions.len() - 1;
    say!("{} revisions after {}", last, hunt.revisions[0].words());
    for end in [0, last] {
        if let Built::Failed(log) = hunt.build(end)? {
            let told = format!("{} does not build: {}", hunt.revisions[end].short(), log.display());
            return Err(Failure::Missing(told));
        }
    }
    let allowed = (fail_below.fail_below > 0.0).then_some(1.0 - fail_below.fail_below);
    let whole = hunt.ask(last, allowed.unwrap_or(1.0), None)?;
    let is_slower =
        whole.ratio < allowed.unwrap_or(1.0) && (allowed.is_some() || whole.interval.high < 1.0);
    if !is_slower {
        say!(
            "{} is not slower than {}: {}",
            hunt.revisions[last].short(),
            hunt.revisions[0].short(),
            whole.words()
        );
        return Ok(());
    }
    let limit = allowed.unwrap_or_else(|| whole.ratio.sqrt());
    say!("slower is what lies below {limit:.4} of {}", hunt.revisions[0].short());
    let found = first_slower(last + 1, |at| {
        if matches!(hunt.build(at)?, Built::Failed(_)) {
            return Ok::<_, Failure>(Said::Skipped);
        }
        let evidence = hunt.ask(at, limit, Some(&whole.case))?;
        Ok(if evidence.ratio < limit { Said::Slower } else { Said::Good })
    })?;
    hunt.tell(&found, limit);
    Ok(())
}

impl Hunt<'_> {
    fn build(&mut self, at: usize) -> Result<Built, Failure> {
        let revision = &self.revisions[at];
        let built = self.builds.build(revision)?;
        match &built {
            Built::Here(_, true) => say!("{}: built before", revision.words()),
            Built::Here(_, false) => say!("{}: built", revision.words()),
            Built::Failed(log) => {
                say!("{}: does not build, passed over: {}", revision.words(), log.display());
                self.failed.insert(at, log.clone());
            }
        }
        Ok(built)
    }

    fn folder(&self, at: usize) -> Result<PathBuf, Failure> {
        match self.builds.build(&self.revisions[at])? {
            Built::Here(folder, _) => Ok(folder),
            Built::Failed(log) => Err(Failure::Missing(format!("no build: {}", log.display()))),
        }
    }

    /// Holds a revision against the first.
    fn ask(&mut self, at: usize, limit: f64, case: Option<&str>) -> Result<Evidence, Failure> {
        let (good, other) = (self.folder(0)?, self.folder(at)?);
        let good = Candidate { revision: &self.revisions[0], build: &good };
        let other = Candidate { revision: &self.revisions[at], build: &other };
        let evidence = self.measure.compare(&good, &other, self.blocks, limit, case)?;
        say!("{}: {}", self.revisions[at].short(), evidence.words());
        self.evidence.insert(at, evidence.clone());
        Ok(evidence)
    }

    /// Says what was found, with what it stands on.
    fn tell(&self, found: &Found, limit: f64) {
        let Found { first, last_good, skipped } = found;
        let words = |at: &usize| {
            let evidence = self.evidence.get(at).map(Evidence::words);
            evidence.unwrap_or_else(|| "what all is held against".to_owned())
        };
        say!("first slower: {}", self.revisions[*first].words());
        say!("  it: {}; below {limit:.4} is slower", words(first));
        say!(
            "  {}, the last that is not: {}",
            self.revisions[*last_good].short(),
            words(last_good)
        );
        let undecided = self.evidence.iter().filter(|(_, it)| it.interval.contains(limit));
        for (at, _) in undecided {
            say!(
                "  {}: the limit lies within its interval, its ratio alone decided",
                self.revisions[*at].short()
            );
        }
        for at in skipped {
            let log = self.failed.get(at).map_or_else(String::new, |it| it.display().to_string());
            say!("  or it was {}, which does not build: {log}", self.revisions[*at].words());
        }
    }
}
