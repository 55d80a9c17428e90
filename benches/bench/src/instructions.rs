//! Instructions a packet, by valgrind: the same on every run, so that a change that costs a few
//! percent is seen on any machine, however busy.
//!
//! ```text
//! check, write ─▶ for each scenario: valgrind volley-bench --count-instructions SCENARIO ─▶ a sum
//!      └ against the file of the repository: a row that costs 3 % more fails, with both numbers
//! ```
//! Counted is what a vector's way through all nodes takes, the source's copying included.
//! Instructions are no time: what misses a cache costs more than it seems here.

use crate::rig::RigError;
use crate::scenario::Scenario;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Scenarios whose tables are made in a moment under valgrind.
const COUNTED: [&str; 17] = [
    "l2-xconnect",
    "ip4-1",
    "l2-bridge",
    "l2-bridge-learn",
    "vlan-xconnect",
    "vxlan-encap",
    "vxlan-decap",
    "vxlan-routed",
    "gre-encap",
    "lisp-encap",
    "ip4-via-ip6",
    "ip6-1",
    "ip4-acl-1k",
    "ip4-urpf",
    "ip4-police",
    "mixed-ports",
    "mixed-vlans",
];
/// Vectors that are counted, of 256 packets each, after as many that are not.
const VECTORS: usize = 16;
/// By how much a row may cost more.
const ALLOWED: f64 = 0.03;
/// What valgrind looks for: the function below.
const FUNCTION: &str = "*count_these_instructions*";

/// Sends packets through a scenario, under valgrind; says how many of them were counted.
pub(crate) fn count(scenario: &Scenario) -> Result<(), RigError> {
    let mut rig = (scenario.make)()?;
    rig.look_at_clock();
    (0..VECTORS).for_each(|_| rig.turn());
    let before = rig.brought();
    count_these_instructions(&mut rig);
    println!("{}", rig.brought() - before);
    Ok(())
}

#[inline(never)]
fn count_these_instructions(rig: &mut crate::rig::Rig) {
    (0..VECTORS).for_each(|_| rig.turn());
}

/// Counts, and holds the counts against those of a file, or writes them there.
pub(crate) fn run(baseline: &Path, write: bool) -> Result<(), RigError> {
    let now = measure()?;
    let known = match std::fs::read_to_string(baseline) {
        Ok(text) => parse(&text)?,
        Err(_) if write => BTreeMap::new(),
        Err(error) => return Err(format!("{}: {error}", baseline.display()).into()),
    };
    let judged = judge(&known, &now);
    judged.told.iter().for_each(|line| println!("{line}"));
    if write {
        std::fs::write(baseline, render(&now))?;
        println!("written: {}", baseline.display());
        let message = judged.message();
        if !message.is_empty() {
            println!("Say in the commit's message what it costs, and what for:\n{message}");
        }
        return Ok(());
    }
    if !judged.worse.is_empty() {
        println!(
            "If that is worth it: scripts/instructions --write, and in the same commit's message:\n{}",
            judged.message()
        );
    }
    match judged.worse.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "{} of {} rows cost over {:.0} % more",
            judged.worse.len(),
            now.len(),
            100.0 * ALLOWED
        )
        .into()),
    }
}

/// Instructions a packet, by scenario.
type Counts = BTreeMap<String, f64>;

/// Runs this program under valgrind, once for each scenario.
fn measure() -> Result<Counts, RigError> {
    let file = std::env::temp_dir().join(format!("volley-instructions-{}", std::process::id()));
    let counted = COUNTED.iter().map(|name| Ok(((*name).to_owned(), measure_one(name, &file)?)));
    let counts = counted.collect();
    // Of a run that failed there may be none.
    let _: Result<(), _> = std::fs::remove_file(&file);
    counts
}

fn measure_one(name: &str, file: &Path) -> Result<f64, RigError> {
    let output = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind"])
        .arg(format!("--toggle-collect={FUNCTION}"))
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(std::env::current_exe()?)
        .args(["--count-instructions", name])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let told = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("{name}: valgrind ended with {}: {told}", output.status).into());
    }
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let packets = told.trim().parse::<f64>().ok().filter(|it| *it > 0.0);
    match (packets, total(&text).filter(|it| *it > 0)) {
        (Some(packets), Some(all)) => Ok(all as f64 / packets),
        _ => Err(format!("{name}: nothing was counted: {told}").into()),
    }
}

/// All instructions of a file of callgrind's.
fn total(text: &str) -> Option<u64> {
    let sum = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let line = sum("totals:").or_else(|| sum("summary:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What came of holding counts against others.
#[derive(Debug, Default)]
struct Judged {
    /// A line for each row.
    told: Vec<String>,
    /// Rows that cost more than is allowed, and those that nobody has counted before.
    worse: Vec<String>,
    /// Rows that changed by more than rounding.
    changed: Vec<String>,
}

impl Judged {
    /// What a commit's message has to say.
    fn message(&self) -> String {
        self.changed.iter().map(|line| format!("  instructions: {line}\n")).collect()
    }
}

fn judge(known: &Counts, now: &Counts) -> Judged {
    let mut judged = Judged::default();
    for (name, &count) in now {
        let Some(&before) = known.get(name) else {
            judged.told.push(format!("{name:<18} {count:>8.1}   new: --write keeps it"));
            judged.worse.push(name.clone());
            continue;
        };
        let change = count / before - 1.0;
        let told = format!("{name} {before:.1} -> {count:.1} ({:+.1} %)", 100.0 * change);
        let word = match change {
            it if it > ALLOWED => "FAILED",
            it if it < -ALLOWED => "less: --write keeps it so",
            _ => "ok",
        };
        judged.told.push(format!(
            "{name:<18} {before:>8.1} -> {count:>8.1} {:>+6.1} %   {word}",
            100.0 * change
        ));
        if change > ALLOWED {
            judged.worse.push(name.clone());
        }
        if change.abs() > ALLOWED {
            judged.changed.push(told);
        }
    }
    for name in known.keys().filter(|name| !now.contains_key(*name)) {
        judged.told.push(format!("{name:<18} is in the file, and no more counted: FAILED"));
        judged.worse.push(name.clone());
    }
    judged
}

fn render(counts: &Counts) -> String {
    let mut text = String::from(
        "# Instructions a packet, of all nodes, by valgrind. scripts/instructions --check holds a build against them,\n\
         # --write renews them: in the commit whose message says what the change costs, and what for.\n",
    );
    for (name, count) in counts {
        let _ = writeln!(text, "{name} {count:.1}");
    }
    text
}

fn parse(text: &str) -> Result<Counts, RigError> {
    let lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'));
    let row = |line: &str| {
        let (name, count) = line.split_once(' ')?;
        let count = count.trim().parse::<f64>().ok().filter(|it| *it > 0.0)?;
        Some((name.to_owned(), count))
    };
    lines.map(|line| row(line).ok_or_else(|| format!("{line:?} is no row").into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rows: &[(&str, f64)]) -> Counts {
        rows.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn a_row_that_costs_more_than_allowed_fails_with_both_numbers() {
        let known = counts(&[("ip4-1", 100.0), ("ip6-1", 100.0), ("l2", 100.0), ("gone", 1.0)]);
        let now = counts(&[("ip4-1", 102.9), ("ip6-1", 103.1), ("l2", 90.0), ("new", 5.0)]);
        let judged = judge(&known, &now);
        assert_eq!(judged.worse, ["ip6-1", "new", "gone"]);
        assert_eq!(
            judged.message(),
            "  instructions: ip6-1 100.0 -> 103.1 (+3.1 %)\n  instructions: l2 100.0 -> 90.0 (-10.0 %)\n"
        );
        assert!(judged.told.iter().any(|it| it.contains("FAILED") && it.contains("103.1")));
        assert!(judge(&known, &known).worse.is_empty());
    }

    #[test]
    fn what_is_written_is_read_again_and_what_is_no_row_is_told() {
        let rows = counts(&[("ip4-1", 100.1), ("l2", 7.0)]);
        assert_eq!(parse(&render(&rows)).unwrap(), rows);
        for wrong in ["ip4-1", "ip4-1 x", "ip4-1 -3"] {
            assert!(parse(wrong).unwrap_err().to_string().contains(wrong), "{wrong}");
        }
    }

    #[test]
    fn the_sum_of_a_file_of_callgrinds_is_found() {
        assert_eq!(total("events: Ir\nfn=a\n1 5\n\ntotals: 1234\n"), Some(1234));
        assert_eq!(total("summary: 99\nfn=a"), Some(99));
        assert_eq!(total("fn=a"), None);
    }
}
