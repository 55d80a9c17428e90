//! A search carried out on a running device, to its end or until the time is up.

use std::time::Instant;

use lab_record::{Changed, Latency, Outcome, Trial, Unit, Verdict};
use lab_search::search::loss_scan::LossScan;
use lab_search::search::max_rate::MaxRate;
use lab_search::search::mlr::{self, GoalAnswer, MlrSearch};
use lab_search::search::reconfigure::{Reconfigure, ReconfigureAnswer};
use lab_search::search::rfc2544::{
    BackToBack, FrameLoss, LatencyAnswer, LatencyTest, Recovery, Reset, Throughput,
};
use lab_search::search::soak::Soak;
use lab_search::search::{Search, Step};

use crate::Error;
use crate::scenario::{Measure, SearchKind};

/// A number that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its name: NDR, PDR 0.5 %, MRR …
    pub metric: String,
    /// Lower bound, or the number itself.
    pub low_pps: f64,
    /// Upper bound, or the number itself.
    pub high_pps: f64,
    /// What it must be read with.
    pub verdicts: Vec<Verdict>,
}

/// A quantity that a search found which is no rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// Its name.
    pub metric: &'static str,
    /// What it is counted in.
    pub unit: Unit,
    /// The value of each repetition.
    pub values: Vec<f64>,
    /// What they must be read with, in words.
    pub note: Option<String>,
}

impl Quantity {
    /// One that nothing need be said of.
    pub(super) fn new(metric: &'static str, unit: Unit, values: Vec<f64>) -> Self {
        Self { metric, unit, values, note: None }
    }
}

/// All that a search found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Findings {
    /// Rates.
    pub rates: Vec<Found>,
    /// Everything else.
    pub quantities: Vec<Quantity>,
}

impl From<Vec<Found>> for Findings {
    fn from(rates: Vec<Found>) -> Self {
        Self { rates, quantities: Vec::new() }
    }
}

/// Share of the largest load at which bursts are sent: above it the generator itself is the limit.
const BURST_SHARE: f64 = 0.9;
/// Repetitions of a burst that RFC 2544 asks for, and of overloads and resets.
const BURSTS: u32 = 50;
const UPSETS: u32 = 5;
/// Trials of latency that RFC 2544 asks for.
const LATENCIES: u32 = 20;
/// Share of the throughput at which a device is changed: a load that it carries, with room for a
/// stall of the host.
const CARRIED_SHARE: f64 = 0.8;
/// Shortest trial with a reset: devices take their time to start.
const SHORTEST_RESET_S: f64 = 6.0;
/// Loads that a loss scan tries each way.
const SCAN_STEPS: usize = 20;
/// A soak shorter than this knows nothing.
const SHORTEST_SOAK_S: f64 = 60.0;
/// Trials of a maximum receive rate.
const MAX_RATE_TRIALS: usize = 10;
/// The smallest load searched, as a share of the largest.
const LEAST_SHARE: f64 = 1e-3;

/// Searches up to `max_pps`, until `deadline` at the latest. On a host that stalls, an MLRsearch
/// makes more and shorter trials: a long one would nearly always meet a stall and call it loss.
pub fn pursue(
    measure: &Measure,
    max_pps: f64,
    stalls_per_s: f64,
    deadline: Option<Instant>,
    trial: &mut dyn FnMut(Trial) -> Result<Outcome, Error>,
) -> Result<Findings, Error> {
    let repeated = |usual: u32| measure.repetitions.unwrap_or(usual).max(1) as usize;
    let trial_s = measure.trial_s;
    let quantity = match measure.search {
        SearchKind::BackToBack => {
            let mut search = BackToBack {
                max_pps: max_pps * BURST_SHARE,
                longest_s: trial_s,
                repetitions: repeated(BURSTS),
                relative_width: measure.relative_width,
            };
            let (answer, _) = carry_out(&mut search, deadline, trial)?;
            let answer = answer.ok_or(Error::TimeUp { search: "the longest burst" })?;
            let values = answer.frames.iter().map(|&frames| frames as f64).collect();
            let quantity = Quantity::new("back-to-back", Unit::Frames, values);
            return Ok(Findings { rates: Vec::new(), quantities: vec![quantity] });
        }
        SearchKind::Latency
        | SearchKind::Recovery
        | SearchKind::Reset
        | SearchKind::Reconfigure => measure.search,
        _ => return rates(measure, max_pps, stalls_per_s, deadline, trial).map(Findings::from),
    };
    let throughput = throughput(measure, max_pps, deadline, trial)?;
    let throughput_pps = throughput.low_pps;
    if quantity == SearchKind::Latency {
        let trials = repeated(LATENCIES);
        let mut search = LatencyTest { load_pps: throughput_pps, trial_s, trials };
        let (answer, _) = carry_out(&mut search, deadline, trial)?;
        let answer = answer.ok_or(Error::TimeUp { search: "the latency" })?;
        return Ok(Findings { rates: vec![throughput], quantities: of_latency(&answer) });
    }
    if quantity == SearchKind::Reconfigure {
        let load_pps = CARRIED_SHARE * throughput_pps;
        let mut search = Reconfigure { load_pps, trial_s, pairs: repeated(UPSETS) };
        let (answer, _) = carry_out(&mut search, deadline, trial)?;
        let answer = answer.ok_or(Error::TimeUp { search: "the cost of the change" })?;
        return Ok(Findings { rates: vec![throughput], quantities: of_change(answer) });
    }
    let (metric, values) = if quantity == SearchKind::Recovery {
        let repetitions = repeated(UPSETS);
        let mut search = Recovery { throughput_pps, max_pps, trial_s, repetitions };
        let (answer, _) = carry_out(&mut search, deadline, trial)?;
        ("recovery", answer.ok_or(Error::TimeUp { search: "the recovery" })?.recovery_s)
    } else {
        let trial_s = trial_s.max(SHORTEST_RESET_S);
        let mut search = Reset { load_pps: throughput_pps, trial_s, repetitions: repeated(UPSETS) };
        let (answer, _) = carry_out(&mut search, deadline, trial)?;
        ("reset", answer.ok_or(Error::TimeUp { search: "the reset" })?.outage_s)
    };
    let quantity = Quantity::new(metric, Unit::Seconds, values);
    Ok(Findings { rates: vec![throughput], quantities: vec![quantity] })
}

/// Latency at the throughput: the mean and the largest of each trial.
fn of_latency(answer: &LatencyAnswer) -> Vec<Quantity> {
    let of = |ns: fn(&Latency) -> f64| answer.trials.iter().map(|it| ns(it) / 1e9).collect();
    let lossy = answer.worst_loss_ratio > 0.0;
    let note =
        lossy.then(|| format!("the worst trial lost {:.4} %", 100.0 * answer.worst_loss_ratio));
    vec![
        Quantity { note, ..Quantity::new("latency, mean", Unit::Seconds, of(|it| it.mean_ns)) },
        Quantity::new("latency, largest", Unit::Seconds, of(|it| it.max_ns)),
    ]
}

/// What a change cost: in time without traffic, and in the rate while it was made and after it.
fn of_change(answer: ReconfigureAnswer) -> Vec<Quantity> {
    let ReconfigureAnswer { changed_s, bare_s, blocked_s, throughput_change, changes } = answer;
    let of = |value: fn(&Changed) -> f64| changes.iter().map(value).collect::<Vec<f64>>();
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let note = format!(
        "{:.3} ms more than without, on average: {:+.3} % of the throughput of a trial",
        1e3 * blocked_s,
        100.0 * throughput_change
    );
    let during: Vec<f64> = changes.iter().map(|it| share(it.during_pps, it.before_pps)).collect();
    let after: Vec<f64> = changes.iter().map(|it| share(it.after_pps, it.before_pps)).collect();
    vec![
        Quantity {
            note: Some(note),
            ..Quantity::new("blocked with a change", Unit::Seconds, changed_s)
        },
        Quantity::new("blocked without", Unit::Seconds, bare_s),
        Quantity::new("the change took", Unit::Seconds, of(|it| it.took_s)),
        Quantity::new("rate during it, of that before", Unit::Share, during),
        Quantity::new("rate after it, of that before", Unit::Share, after),
    ]
}

/// RFC 2544 throughput.
fn throughput(
    measure: &Measure,
    max_pps: f64,
    deadline: Option<Instant>,
    trial: &mut dyn FnMut(Trial) -> Result<Outcome, Error>,
) -> Result<Found, Error> {
    let mut search = Throughput::strict(max_pps * LEAST_SHARE, max_pps, measure.relative_width);
    search.trial_s = measure.trial_s;
    let (answer, _) = carry_out(&mut search, deadline, trial)?;
    let answer = answer.ok_or(Error::TimeUp { search: "RFC 2544 throughput" })?;
    Ok(Found {
        metric: "RFC 2544".into(),
        low_pps: answer.throughput_pps.unwrap_or(0.0),
        high_pps: answer.upper_pps.unwrap_or(max_pps),
        verdicts: Vec::new(),
    })
}

fn rates(
    measure: &Measure,
    max_pps: f64,
    stalls_per_s: f64,
    deadline: Option<Instant>,
    trial: &mut dyn FnMut(Trial) -> Result<Outcome, Error>,
) -> Result<Vec<Found>, Error> {
    let min_pps = max_pps * LEAST_SHARE;
    let trial_s = measure.trial_s;
    match measure.search {
        SearchKind::Mlr => {
            let goals = measure.goals()?.into_iter();
            let goals = goals.map(|goal| goal.on_stalling_host(stalls_per_s)).collect();
            let warmup_s = trial_s.min(0.2);
            let config = mlr::Config { min_pps, max_pps, warmup_s, goals };
            let mut search = MlrSearch::new(&config)?;
            let (answer, trials) = carry_out(&mut search, deadline, trial)?;
            let cut = answer.is_none().then_some(trials);
            let mut answers = answer.unwrap_or_else(|| search.answers());
            if cut.is_some() {
                // Between nothing and the largest load nothing is known.
                answers.retain(|it| it.lower_pps.is_some() || it.upper_pps.is_some());
                if answers.is_empty() {
                    return Err(Error::TimeUp { search: "any bound of an MLRsearch" });
                }
            }
            Ok(answers.into_iter().map(|answer| goal(answer, max_pps, cut)).collect())
        }
        SearchKind::MaxRate => {
            let mut search = MaxRate { max_pps, trial_s, trials: MAX_RATE_TRIALS };
            let (answer, _) = carry_out(&mut search, deadline, trial)?;
            let answer = answer.ok_or(Error::TimeUp { search: "the maximum rate" })?;
            Ok(vec![one("MRR", answer.mean_pps)])
        }
        SearchKind::Throughput => Ok(vec![throughput(measure, max_pps, deadline, trial)?]),
        SearchKind::Soak => {
            let total_s = measure.duration_sum_s.get_ref().max(SHORTEST_SOAK_S);
            let mut search = Soak { total_s, ..Soak::usual(max_pps) };
            let (answer, _) = carry_out(&mut search, deadline, trial)?;
            let answer = answer.ok_or(Error::TimeUp { search: "the critical load" })?;
            Ok(vec![Found {
                metric: "critical".into(),
                low_pps: answer.critical_pps - answer.sd_pps,
                high_pps: answer.critical_pps + answer.sd_pps,
                verdicts: Vec::new(),
            }])
        }
        SearchKind::FrameLoss => {
            let mut search = FrameLoss { max_pps, step: 0.1, trial_s };
            let (answer, _) = carry_out(&mut search, deadline, trial)?;
            let points = answer.ok_or(Error::TimeUp { search: "the frame loss" })?.points;
            let whole = points.iter().find(|&&(_, loss)| loss == 0.0);
            Ok(vec![one("largest load without loss", whole.map_or(0.0, |&(load, _)| load))])
        }
        SearchKind::LossScan => {
            let mut search =
                LossScan::linear(max_pps / SCAN_STEPS as f64, max_pps, SCAN_STEPS, trial_s);
            let (answer, _) = carry_out(&mut search, deadline, trial)?;
            let answer = answer.ok_or(Error::TimeUp { search: "the loss scan" })?;
            Ok(vec![
                one("way up", answer.carried_up_pps.unwrap_or(0.0)),
                one("way down", answer.carried_down_pps.unwrap_or(0.0)),
            ])
        }
        other => Err(Error::NoSearch { search: format!("{other:?}") }),
    }
}

fn one(metric: &str, pps: f64) -> Found {
    Found { metric: metric.into(), low_pps: pps, high_pps: pps, verdicts: Vec::new() }
}

fn goal(answer: GoalAnswer, max_pps: f64, cut: Option<usize>) -> Found {
    let metric = match answer.loss_ratio {
        0.0 => "NDR".to_owned(),
        ratio => format!("PDR {} %", 100.0 * ratio),
    };
    let mut verdicts = Vec::new();
    if !answer.inversions_pps.is_empty() {
        verdicts.push(Verdict::LossInversion { loads_pps: answer.inversions_pps });
    }
    verdicts.extend(cut.map(|trials| Verdict::CutShort { trials: trials as u64 }));
    let low_pps = answer.lower_pps.unwrap_or(0.0);
    Found { metric, low_pps, high_pps: answer.upper_pps.unwrap_or(max_pps), verdicts }
}

/// The answer, if there was time for it, and the number of trials.
fn carry_out<S: Search>(
    search: &mut S,
    deadline: Option<Instant>,
    trial: &mut dyn FnMut(Trial) -> Result<Outcome, Error>,
) -> Result<(Option<S::Answer>, usize), Error> {
    let mut history = Vec::new();
    loop {
        match search.next(&history)? {
            Step::Done(answer) => return Ok((Some(answer), history.len())),
            Step::Measure(next) => {
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    return Ok((None, history.len()));
                }
                history.push(trial(next)?);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use lab_search::sim::{Device, Model};
    use std::time::Duration;

    fn measure(search: &str) -> Measure {
        let change = if search == "reconfigure" { "change_entries = 9\n" } else { "" };
        let text = format!(
            "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'ip4'\n\
             [measure]\nsearch = '{search}'\nloss_ratios = [0.0]\n{change}"
        );
        Scenario::parse(&text, "x").unwrap().measure
    }

    fn found(search: &str, deadline: Option<Instant>) -> Result<Vec<Found>, Error> {
        findings(search, deadline).map(|found| found.rates)
    }

    fn findings(search: &str, deadline: Option<Instant>) -> Result<Findings, Error> {
        let model = Model { recovery_s: 0.03, reset_s: 1.5, ..Model::quiet(4e6) };
        let mut device = Device::new(model, 1);
        pursue(&measure(search), 1e7, 0.0, deadline, &mut |trial| Ok(device.measure(trial)))
    }

    #[test]
    fn bursts_recovery_and_reset_are_found_as_often_as_they_are_repeated() {
        let found = |search: &str| findings(search, None).unwrap().quantities.remove(0);
        let Quantity { unit, values, .. } = found("back-to-back");
        // The simulated device buffers nothing: at 9 Mpps even a burst of one loses a frame now and
        // then.
        assert_eq!((unit, values.len()), (Unit::Frames, 50));
        for (search, seconds) in [("recovery", 0.03), ("reset", 1.5)] {
            let Quantity { unit, values, .. } = found(search);
            assert_eq!((unit, values.len()), (Unit::Seconds, 5));
            assert!(values.iter().all(|it| (it - seconds).abs() < 1e-6), "{search}: {values:?}");
        }
    }

    #[test]
    fn latency_is_that_of_twenty_trials_at_the_throughput() {
        let mut device = Device::new(Model::quiet(4e6), 1);
        let mut loads_pps = Vec::new();
        let mut trial = |trial: Trial| {
            loads_pps.push(trial.load_pps);
            Ok(device.measure(trial))
        };
        let found = pursue(&measure("latency"), 1e7, 0.0, None, &mut trial).unwrap();
        let [mean, largest] = &found.quantities[..] else { panic!() };
        assert_eq!((mean.values.len(), mean.unit, mean.note.as_deref()), (20, Unit::Seconds, None));
        assert!(mean.values.iter().zip(&largest.values).all(|(mean, largest)| mean <= largest));
        assert!(loads_pps.ends_with(&[found.rates[0].low_pps; 20]));
    }

    #[test]
    fn a_live_change_is_held_against_trials_without_one() {
        let mut device = Device::new(Model { reset_s: 0.01, ..Model::quiet(4e6) }, 1);
        let measure = measure("reconfigure");
        let mut trial = |trial: Trial| {
            let per_ms = [3_200; 1_000];
            let changed = trial.change.then(|| Changed::of(&per_ms, 0.2, 0.1, 1.0).unwrap());
            Ok(Outcome { changed, ..device.measure(trial) })
        };
        let found = pursue(&measure, 1e7, 0.0, None, &mut trial).unwrap();
        assert!(found.rates[0].low_pps > 3.4e6);
        let [blocked, bare, took, during, after] = &found.quantities[..] else { panic!() };
        assert!(
            blocked.values.len() == 5 && blocked.values.iter().all(|it| (it - 0.01).abs() < 1e-6)
        );
        assert_eq!((&bare.values, &took.values), (&vec![0.0; 5], &vec![0.1; 5]));
        assert_eq!((during.values[0], after.values[0], during.unit), (1.0, 1.0, Unit::Share));
        assert!(blocked.note.as_ref().unwrap().contains("10.000 ms more"), "{:?}", blocked.note);
    }

    #[test]
    fn each_search_finds_the_capacity_of_a_quiet_device() {
        for search in ["mlr", "max-rate", "throughput", "loss-scan", "frame-loss"] {
            let found = found(search, None).unwrap();
            let (low, high) = (found[0].low_pps, found[0].high_pps);
            assert!(low > 3.4e6 && low <= 4.01e6 && high < 4.6e6, "{search}: {low} to {high}");
        }
        assert!(found("stream", None).unwrap_err().to_string().contains("Stream"));
    }

    #[test]
    fn a_search_whose_time_is_up_says_what_it_knows_and_nothing_where_that_is_nothing() {
        let past = Instant::now().checked_sub(Duration::from_secs(1));
        for search in ["mlr", "throughput"] {
            assert!(matches!(found(search, past), Err(Error::TimeUp { .. })), "{search}");
        }
        let deadline = Instant::now() + Duration::from_secs(2);
        let mut device = Device::new(Model::quiet(4e6), 1);
        let mut trials = 0;
        let mut trial = |trial: Trial| {
            trials += 1;
            while trials == 20 && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(10));
            }
            Ok(device.measure(trial))
        };
        let cut = pursue(&measure("mlr"), 1e7, 0.0, Some(deadline), &mut trial).unwrap().rates;
        assert!(cut[0].high_pps < 1e7 && cut[0].low_pps < 4.01e6, "{cut:?}");
        assert!(matches!(cut[0].verdicts[..], [.., Verdict::CutShort { .. }]), "{cut:?}");
    }
}
