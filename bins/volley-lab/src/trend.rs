//! `volley-lab trend DIR…`: one number over many campaigns, cut where it changed.
//!
//! ```text
//! NDR   9.1 9.2 9.1 9.2 | 8.4 8.5 8.4       groups by minimum description length (lab_search::stats::groups)
//! ```
//! Campaigns that were measured otherwise are not held against each other.
//! Where the last group is lower than the one before it, the command does not pass.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use lab_record::Results;
use lab_report::gate::{Gate, Outcome};
use lab_report::{method, summary};
use lab_search::stats::groups::groups;

use crate::Failure;
use crate::gate::{FailBelow, Junit};
use crate::say::say;

/// A number of one campaign: when, where from, how much, and whether it may be more.
type Point = (String, String, f64, bool);

/// Numbers of packets a second that several campaigns have.
#[derive(Debug, Args)]
pub(crate) struct Trend {
    /// Results folders, two or more
    #[arg(required = true, num_args = 2.., value_name = "DIR", value_hint = ValueHint::DirPath)]
    folders: Vec<PathBuf>,
    /// Only this number, as in NDR
    #[arg(long)]
    metric: Option<String>,
    /// Only this device
    #[arg(long)]
    device: Option<String>,
    #[command(flatten)]
    fail_below: FailBelow,
    #[command(flatten)]
    junit: Junit,
}

/// Reads the folders and prints the groups of each number that more than one of them has.
pub(crate) fn run(arguments: &Trend) -> Result<(), Failure> {
    let wanted = |only: &Option<String>, value: &str| only.as_ref().is_none_or(|it| it == value);
    let mut series: BTreeMap<(String, String), Vec<Point>> = BTreeMap::new();
    let (mut first, mut otherwise) = (None::<Results>, Vec::new());
    for folder in &arguments.folders {
        let results = Results::load(folder)?;
        let disagreement = first.as_ref().and_then(|first| method::disagreement(first, &results));
        otherwise.extend(disagreement.map(|why| format!("{}: {why}", folder.display())));
        let started = results.campaigns.first().map(|campaign| campaign.started.clone());
        for row in summary::rows(&results) {
            if wanted(&arguments.metric, &row.metric)
                && wanted(&arguments.device, &row.subject.device)
            {
                let point = (
                    started.clone().unwrap_or_default(),
                    folder.display().to_string(),
                    row.value_pps,
                    row.is_at_least(),
                );
                series.entry((row.name(), row.label())).or_default().push(point);
            }
        }
        first.get_or_insert(results);
    }
    let mut gate = Gate::default();
    if !otherwise.is_empty() {
        // What differs by the method is no change of a device.
        for why in otherwise {
            say!("{why}");
            gate.add("campaigns", "measured alike".into(), Outcome::Error(why));
        }
        return arguments.junit.close("trend", &gate);
    }
    for ((name, metric), mut points) in series {
        if points.len() < 2 {
            continue;
        }
        points.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        say!("{name}, {metric}");
        let outcome = tell(&points, arguments.fail_below.fail_below);
        gate.add(&name, metric, outcome);
    }
    arguments.junit.close("trend", &gate)
}

/// Says the groups; the last must not be lower than the one before by more than is allowed. What
/// may be more than was seen is not known to be lower.
fn tell(points: &[Point], fail_below: f64) -> Outcome {
    let values: Vec<f64> = points.iter().map(|point| point.2).collect();
    let (mut before, mut outcome) = (None::<f64>, Outcome::Passed("steady".into()));
    for group in groups(&values) {
        let members = &points[group.from..group.from + group.count];
        let (started, folder, ..) = &members[0];
        let at_least = members.iter().any(|point| point.3);
        let sign = if at_least { "≥" } else { "" };
        let change = before.map(|before| group.mean / before.max(1e-9) - 1.0);
        let told = change.map_or(String::new(), |it| format!(", {:+.2} %", 100.0 * it));
        say!(
            "  {:>3} campaigns since {started} ({folder}): {sign}{:.4} Mpps, sd {:.4}{told}",
            group.count,
            group.mean / 1e6,
            group.sd / 1e6
        );
        let words = format!("since {started} ({folder}){told}");
        outcome = match change {
            Some(change) if change < -fail_below && !at_least => Outcome::Failed(words),
            _ => Outcome::Passed(words),
        };
        before = Some(group.mean);
    }
    outcome
}
