//! How fast one build is beside another: by the lab, or by a command of the user's own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lab_record::{Error, Interval, Results};
use lab_search::stats::blocks::{Side, log_ratio, order};
use lab_search::stats::paired;

use super::revisions::Revision;
use crate::Failure;

/// Times as many blocks as asked for that are made at most where fewer do not decide.
const MOST: usize = 4;

/// How one build stands to the good one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Evidence {
    /// Less than 1 is slower.
    pub(super) ratio: f64,
    /// Where it lies with 95 %.
    pub(super) interval: Interval,
    /// Blocks that it is of.
    pub(super) blocks: usize,
    /// Of which case.
    pub(super) case: String,
}

impl Evidence {
    /// It in words.
    pub(super) fn words(&self) -> String {
        let Self { ratio, interval, blocks, case } = self;
        let case = if case.is_empty() { String::new() } else { format!(", {case}") };
        format!("{ratio:.4} [{:.4}, {:.4}], {blocks} blocks{case}", interval.low, interval.high)
    }

    /// Whether it lies on one side of a limit for sure.
    fn decides(&self, limit: f64) -> bool {
        !self.interval.contains(limit)
    }
}

/// By what builds are measured.
pub(super) enum Measure<'a> {
    /// `volley-lab compare`: a scenario, what else it is told, and where results go.
    Lab { scenario: &'a Path, words: Vec<String>, out: PathBuf },
    /// A command that measures one start of `$BUILD` and says how fast it was in its last line.
    Command(&'a str),
}

/// A revision with its build.
pub(super) struct Candidate<'a> {
    pub(super) revision: &'a Revision,
    pub(super) build: &'a Path,
}

impl Measure<'_> {
    /// Holds a build against the good one, by more blocks while the limit lies within the interval.
    /// Of several cases that one which is asked for, else the slowest.
    pub(super) fn compare(
        &self,
        good: &Candidate<'_>,
        other: &Candidate<'_>,
        (blocks, seed): (usize, u64),
        limit: f64,
        case: Option<&str>,
    ) -> Result<Evidence, Failure> {
        let mut ratios = Vec::new();
        let mut times = 1;
        loop {
            let found = match self {
                Self::Lab { scenario, words, out } => {
                    let name = format!("{}-{}", other.revision.short(), times * blocks);
                    let line = (*scenario, words.as_slice(), not_there(out, &name));
                    lab(line, good, other, times * blocks, case)?
                }
                Self::Command(command) => {
                    let more = times * blocks - ratios.len();
                    for sides in order(more, seed + ratios.len() as u64) {
                        ratios.push(block(command, sides, good, other)?);
                    }
                    let found = paired::compare(&ratios, None)?;
                    let (ratio, interval, blocks) = (found.ratio, found.ratio_95, found.blocks);
                    Evidence { ratio, interval, blocks, case: String::new() }
                }
            };
            if found.decides(limit) || times >= MOST {
                return Ok(found);
            }
            times *= 2;
        }
    }
}

/// One block by a command: four starts.
fn block(
    command: &str,
    sides: [Side; 4],
    good: &Candidate<'_>,
    other: &Candidate<'_>,
) -> Result<f64, Error> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for side in sides {
        let (of, starts) = match side {
            Side::A => (good, &mut a),
            Side::B => (other, &mut b),
        };
        starts.push(start(command, of)?);
    }
    Ok(log_ratio([a[0], a[1]], [b[0], b[1]]))
}

fn start(command: &str, of: &Candidate<'_>) -> Result<f64, Error> {
    let output = Command::new("sh")
        .args(["-c", command])
        .env("BUILD", of.build)
        .env("REVISION", &of.revision.hash)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(Error::file("sh"))?;
    let failed = |reason: String| Error::Command { line: command.to_owned(), reason };
    if !output.status.success() {
        return Err(failed(format!("it ended with {}", output.status)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.trim_end().lines().last().unwrap_or("").trim();
    let value = last.parse::<f64>().ok().filter(|it| *it > 0.0 && it.is_finite());
    value.ok_or_else(|| {
        failed(format!("{last:?} is no number above 0: its last line has to be how fast it was"))
    })
}

/// A folder of this name, or with a number behind it: a comparison of another bisection stays.
fn not_there(out: &Path, name: &str) -> PathBuf {
    let counted = (2..).map(|number| out.join(format!("{name}-{number}")));
    let mut all = std::iter::once(out.join(name)).chain(counted);
    all.find(|it| !it.exists()).unwrap_or_else(|| out.join(name))
}

/// A comparison by the lab, in a process of its own: it goes into namespaces, where nothing is
/// built.
fn lab(
    (scenario, words, out): (&Path, &[String], PathBuf),
    good: &Candidate<'_>,
    other: &Candidate<'_>,
    blocks: usize,
    case: Option<&str>,
) -> Result<Evidence, Failure> {
    let own = std::env::current_exe().map_err(Error::file("volley-lab"))?;
    let device = |of: &Candidate<'_>| format!("volley={}", of.build.display());
    let status = Command::new(own)
        .arg("compare")
        .args([device(good), device(other)])
        .arg(scenario)
        .args(["--blocks", &blocks.to_string()])
        .arg("--out")
        .arg(&out)
        .args(words)
        .stdin(Stdio::null())
        .status()
        .map_err(Error::file("volley-lab"))?;
    // Slower is an answer as well.
    match status.code() {
        Some(0 | 3) => {}
        Some(130) => return Err(Failure::Stopped),
        _ => {
            let told = format!("comparing {} ended with {status}", other.revision.short());
            return Err(Failure::Missing(told));
        }
    }
    let results = Results::load(&out)?;
    let told = results.comparisons.iter().filter(|it| it.reading().sign().is_some());
    let wanted = told.filter(|it| case.is_none_or(|case| it.case == case));
    let slowest = wanted.min_by(|a, b| a.comparison.ratio.total_cmp(&b.comparison.ratio));
    let record = slowest.ok_or_else(|| {
        Failure::Missing(format!("{} has no ratio: {}", other.revision.short(), out.display()))
    })?;
    let it = &record.comparison;
    let (ratio, interval, blocks) = (it.ratio, it.ratio_95, it.blocks);
    Ok(Evidence { ratio, interval, blocks, case: record.case.clone() })
}
