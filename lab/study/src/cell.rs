//! A number of ours for a place in the source, or the reason why there is none.
//!
//! ```text
//! pick, device ─▶ rates, quantities ─▶ Number
//!              └▶ a reason of the study ▸ not among the devices ▸ refused ▸ failed ▸ cut ▸ not run
//! ```

use std::collections::BTreeMap;

use lab_record::axes::{Axis, LoadPercent};
use lab_record::{FailureRecord, Interval, Subject};
use lab_report::{quantities, summary};

use crate::folder::{Measured, plain};
use crate::scenario::Planned;
use crate::study::Pick;

/// A number with what it comes with.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// The number itself: packets a second, or in its own unit.
    pub value: f64,
    /// Where it lies.
    pub interval: Interval,
    /// What that is: an interval, or of few restarts a bracket.
    pub spread: &'static str,
    /// Restarts that it is of.
    pub runs: usize,
    /// Whether the device may do more.
    pub at_least: bool,
    /// Of a rate: the cycles that a packet costs the device by its own count, where it tells them.
    pub cost: Option<f64>,
    /// What it must be read with, in words.
    pub anomalies: Vec<String>,
    /// The run that it is of.
    pub run: String,
}

/// A place in the report.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A number.
    Number(Number),
    /// Why there is none.
    Reason(String),
}

/// All runs, to be asked.
pub struct Runs<'a> {
    measured: &'a [Measured],
    rows: BTreeMap<&'a str, (Vec<summary::Row>, Vec<quantities::Row>)>,
}

impl<'a> Runs<'a> {
    /// Makes ready to be asked.
    pub fn of(measured: &'a [Measured]) -> Self {
        let of = |it: &'a Measured| {
            let results = it.results.as_ref()?;
            Some((it.id.as_str(), (summary::rows(results), quantities::rows(results))))
        };
        Self { measured, rows: measured.iter().filter_map(of).collect() }
    }

    /// A run, by its name.
    pub fn run(&self, id: &str) -> Option<&'a Measured> {
        self.measured.iter().find(|it| it.id == id)
    }

    /// All of them.
    pub fn all(&self) -> &'a [Measured] {
        self.measured
    }

    /// The rates of a run.
    pub fn rates(&self, id: &str) -> &[summary::Row] {
        self.rows.get(id).map_or(&[], |(rates, _)| rates)
    }

    /// What packets cost in a run.
    pub fn costs(&self, id: &str) -> impl Iterator<Item = &quantities::Row> {
        let quantities = self.rows.get(id).map_or(&[][..], |(_, quantities)| quantities);
        quantities.iter().filter(|row| row.is_cost())
    }

    /// The number that is picked, of a device as it was named; or why there is none.
    pub fn cell(&self, pick: &Pick, device: &str) -> Cell {
        let mut reasons = Vec::new();
        for id in &pick.runs {
            match self.in_run(id, pick, device) {
                Ok(number) => return Cell::Number(number),
                Err(reason) => reasons.push(reason),
            }
        }
        // Of several runs, that which has something to do with it.
        reasons.sort_by_key(|reason| reason.rank);
        let first = reasons.into_iter().next();
        Cell::Reason(first.map_or_else(|| "no run is named".into(), |reason| reason.words))
    }

    fn in_run(&self, id: &str, pick: &Pick, device: &str) -> Result<Number, Lacking> {
        let run = self.run(id).ok_or_else(|| Lacking::new(9, format!("there is no run {id}")))?;
        let metric = |name: &str| pick.metric.as_deref().is_none_or(|wanted| wanted == name);
        let rates = self.rates(id).iter();
        let mut rates = rates.filter(|row| fits(&row.subject, pick, device) && metric(&row.metric));
        if let Some(row) = rates.next() {
            let cost = self.costs(id).find(|cost| cost.subject == row.subject);
            return Ok(Number {
                cost: cost.map(|cost| cost.median),
                value: row.value_pps,
                interval: row.interval,
                spread: row.spread(),
                runs: row.runs,
                at_least: row.is_at_least(),
                anomalies: row.verdicts.iter().map(lab_report::words::verdict).collect(),
                run: id.to_owned(),
            });
        }
        let quantities = self.rows.get(id).map_or(&[][..], |(_, quantities)| quantities);
        let mut found = quantities
            .iter()
            .filter(|row| fits(&row.subject, pick, device) && metric_begins(&row.metric, pick));
        if let Some(row) = found.next() {
            return Ok(Number {
                cost: None,
                value: row.median,
                interval: row.interval,
                spread: summary::spread(row.runs),
                runs: row.runs,
                at_least: row.at_least || row.metric.contains("no refusal"),
                anomalies: row.note.iter().cloned().collect(),
                run: id.to_owned(),
            });
        }
        match pick.metric.as_deref() {
            Some(CHECK) => checked(run, pick, device).ok_or_else(|| lacking(run, pick, device)),
            _ => Err(lacking(run, pick, device)),
        }
    }
}

/// The metric that is no rate and no quantity: the share of packets that were as they had to be.
const CHECK: &str = "check";

/// What checks of a function came to, over all starts of the device.
fn checked(run: &Measured, pick: &Pick, device: &str) -> Option<Number> {
    let all = run.results.iter().flat_map(|results| &results.checks);
    let mine: Vec<_> = all.filter(|check| fits(&check.subject, pick, device)).collect();
    let right = |check: &&lab_record::CheckRecord| {
        let [sent, came, kept_out, slipped] = check.counts();
        let right = came.min(sent) + kept_out.saturating_sub(slipped);
        // What came and was not what it had to be is counted as come: its fault tells it.
        let share = right as f64 / (sent + kept_out).max(1) as f64;
        if check.passed() { share } else { share.min(1.0 - 1.0 / (sent + kept_out).max(1) as f64) }
    };
    let shares: Vec<f64> = mine.iter().map(right).collect();
    let faults = mine.iter().filter_map(|check| check.fault.as_ref());
    Some(Number {
        cost: None,
        value: *shares.iter().min_by(|a, b| a.total_cmp(b))?,
        interval: summary::interval_of_bounds(&shares, &shares),
        spread: summary::spread(shares.len()),
        runs: shares.len(),
        at_least: false,
        anomalies: faults.map(|fault| format!("{}: {}", fault.stream, fault.reason)).collect(),
        run: run.id.clone(),
    })
}

/// Whether the quantity's name is, or begins with, the one that is picked.
fn metric_begins(name: &str, pick: &Pick) -> bool {
    pick.metric.as_deref().is_none_or(|wanted| name.starts_with(wanted))
}

/// Why a run has no number.
struct Lacking {
    /// The lower, the more it has to do with the number.
    rank: u8,
    words: String,
}

impl Lacking {
    fn new(rank: u8, words: String) -> Self {
        Self { rank, words }
    }
}

/// Whether a record is of this device and this pick: its function and all of its axes.
pub fn fits(subject: &Subject, pick: &Pick, device: &str) -> bool {
    let axis = |(name, value): (&String, &String)| subject.axes.get(name) == Some(value);
    subject.device == device
        && pick.function.as_deref().is_none_or(|function| function == subject.function)
        && pick.axes.iter().all(axis)
}

/// Why there is nothing of a pick in a run, in words.
pub fn reason(run: &Measured, pick: &Pick, device: &str) -> String {
    lacking(run, pick, device).words
}

fn lacking(run: &Measured, pick: &Pick, device: &str) -> Lacking {
    let told = Lacking::new;
    if !run.devices.iter().any(|it| it == device) {
        return told(8, format!("run {} is not for {}", run.id, plain(device)));
    }
    let cut = pick.axes.iter().find(|(axis, value)| run.planned.has_cut(axis, value));
    if let Some((axis, value)) = cut {
        return told(1, format!("cut by --quick: {} {value}", axis.replace('_', " ")));
    }
    if let Some(function) = pick.function.as_deref().filter(|it| !has_function(&run.planned, it)) {
        return told(7, format!("run {} has no {function}", run.id));
    }
    let mut failures = run.results.iter().flat_map(|results| &results.failures);
    // A search that fails has no loads to be timed at: its failure knows of none.
    let mut whole = pick.clone();
    whole.axes.remove(LoadPercent::NAME);
    let is_of = |it: &&FailureRecord| {
        let one = it.subject.axes.contains_key(LoadPercent::NAME);
        fits(&it.subject, if one { pick } else { &whole }, device)
    };
    if let Some(failure) = failures.rfind(is_of) {
        return told(0, in_words(failure));
    }
    match (&run.results, &run.ended) {
        (_, Some(ended)) if ended.failure.is_some() => {
            let failure = ended.failure.clone().unwrap_or_default();
            told(2, format!("run {}: {failure}", run.id))
        }
        (None, _) => told(3, format!("run {} has not been carried out yet", run.id)),
        (Some(_), None) => told(3, format!("run {} has not come to it yet", run.id)),
        (Some(_), Some(_)) => told(4, format!("run {} measured none", run.id)),
    }
}

/// What went wrong, in words.
pub fn in_words(failure: &FailureRecord) -> String {
    match failure.refused {
        true => format!("refused: {}", bare(&failure.reason)),
        false => format!("failed: {}", in_one_line(&failure.reason)),
    }
}

/// What a program said in several lines.
fn in_one_line(reason: &str) -> String {
    let lines = reason.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// A refusal without the device and the job, which stand beside it anyway.
fn bare(reason: &str) -> &str {
    let job = reason.split_once(" refuses ").and_then(|(_, rest)| rest.split_once(": "));
    job.map_or(reason, |(_, why)| why)
}

/// Whether a scenario has a function of this name.
fn has_function(planned: &Planned, name: &str) -> bool {
    let functions = planned.carried.get("function").and_then(toml::Value::as_array);
    let named = |it: &toml::Value| {
        let of = |key: &str| it.get(key).and_then(toml::Value::as_str);
        of("label").or_else(|| of("kind")) == Some(name)
    };
    functions.is_some_and(|all| all.iter().any(named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Ended;
    use lab_record::{AnswerRecord, Results};

    fn planned(carried: &str) -> Planned {
        let whole = "[[function]]\nkind = 'ip4'\n[sweep]\nentries = [1, 2, 3]";
        Planned { whole: toml::from_str(whole).unwrap(), carried: toml::from_str(carried).unwrap() }
    }

    fn subject(entries: &str) -> Subject {
        let axes = [("entries".to_owned(), entries.to_owned())].into();
        Subject { device: "vpp=/x".into(), function: "ip4".into(), axes, run: 0 }
    }

    #[test]
    fn a_check_is_the_share_of_packets_that_were_right_and_a_fault_is_never_all() {
        let stream = |must_emerge, sent, came| lab_record::Checked {
            must_emerge,
            sent,
            came,
            ..lab_record::Checked::default()
        };
        let check = |came, fault: Option<&str>| lab_record::CheckRecord {
            subject: subject("1"),
            streams: vec![stream(true, 8, came), stream(false, 2, 0)],
            fault: fault.map(|reason| lab_record::Fault {
                stream: "s".into(),
                packet: None,
                reason: reason.into(),
                difference: None,
            }),
            ..lab_record::CheckRecord::default()
        };
        let number = |check| {
            let results = Results { checks: vec![check], ..Results::default() };
            let run = Measured {
                id: "r".into(),
                planned: planned("[[function]]\nkind = 'ip4'"),
                devices: vec!["vpp=/x".into()],
                results: Some(results),
                ended: None,
            };
            let pick =
                Pick { runs: vec!["r".into()], metric: Some(CHECK.into()), ..Pick::default() };
            match Runs::of(&[run]).cell(&pick, "vpp=/x") {
                Cell::Number(number) => number,
                Cell::Reason(why) => panic!("{why}"),
            }
        };
        assert_eq!(number(check(8, None)).value, 1.0);
        assert_eq!(number(check(7, Some("lost"))).value, 0.9);
        let bent = number(check(8, Some("bent")));
        assert_eq!((bent.value, bent.anomalies), (0.9, vec!["s: bent".to_owned()]));
    }

    #[test]
    fn a_place_has_a_number_or_the_reason_nearest_to_it() {
        let answer = AnswerRecord {
            subject: subject("1"),
            metric: "MRR".into(),
            low_pps: 2e6,
            high_pps: 2e6,
            ..AnswerRecord::default()
        };
        let failure = FailureRecord {
            subject: subject("2"),
            refused: true,
            reason: "vpp refuses ip4 over memif: no room".into(),
        };
        let results =
            Results { answers: vec![answer], failures: vec![failure], ..Results::default() };
        let run = Measured {
            id: "r".into(),
            planned: planned("[[function]]\nkind = 'ip4'\n[sweep]\nentries = [1, 2]"),
            devices: vec!["vpp=/x".into()],
            results: Some(results),
            ended: Some(Ended { run: "r".into(), failure: None, seconds: 1.0 }),
        };
        let other = Measured {
            id: "q".into(),
            planned: planned("[[function]]\nkind = 'ip6'"),
            results: None,
            ..run.clone()
        };
        let all = [other, run];
        let runs = Runs::of(&all);
        let of = |entries: &str, device: &str| {
            let axes = [("entries".to_owned(), entries.to_owned())].into();
            let (runs_of, function) = (vec!["q".into(), "r".into()], Some("ip4".to_owned()));
            let pick = Pick { runs: runs_of, function, axes, metric: Some("MRR".into()) };
            runs.cell(&pick, device)
        };
        let Cell::Number(number) = of("1", "vpp=/x") else { panic!() };
        assert_eq!((number.value, number.runs, number.run.as_str()), (2e6, 1, "r"));
        let reason = |cell: Cell| match cell {
            Cell::Reason(words) => words,
            Cell::Number(number) => panic!("{number:?}"),
        };
        assert_eq!(reason(of("2", "vpp=/x")), "refused: no room");
        assert_eq!(reason(of("3", "vpp=/x")), "cut by --quick: entries 3");
        assert!(reason(of("1", "ovs")).contains("is not for ovs"));
        assert_eq!(in_one_line("it died:\n  no memory\n\nabort"), "it died: no memory abort");
        assert_eq!(reason(of("4", "vpp=/x")), "run r measured none");
        // A load at which it should have been timed, of a search that failed.
        let axes = [("entries", "2"), ("load_percent", "50")];
        let axes = axes.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let pick = Pick { runs: vec!["r".into()], axes, ..Pick::default() };
        assert_eq!(reason(runs.cell(&pick, "vpp=/x")), "refused: no room");
    }
}
