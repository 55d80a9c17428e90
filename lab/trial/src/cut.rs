//! A scenario in short: the same questions on fewer points and in less time, and what that loses.
//!
//! ```text
//! entries   1 2 3 4 6 8 … 8388608   ─▶  1, 7684        N of each axis, ends included
//! a × b     a1b1 a1b2 a2b1 a2b2     ─▶  a1b1 a2b1 a1b2  quick: an axis at a time
//! trials    1 s, decided in 21 s    ─▶  0.05 s, one of which decides
//! ```
//! For a first look, and for tests that everything works. Nothing of it is a number to publish, and
//! each cut says so.

use lab_record::axes::{Axis, Entries};
use lab_search::search::{Manner, ref_ndr};

use crate::scenario::Scenario;

/// How much is cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cut {
    /// Values of each axis.
    pub points: Option<usize>,
    /// Whether everything else is as short as it can be.
    pub quick: bool,
    /// Whether an NDR is held against what it was in place of being searched for.
    pub verify: bool,
}

/// Values of an axis in short, unless so many are asked for.
const QUICK_POINTS: usize = 2;
/// Largest table.
const MOST_ENTRIES: u64 = 10_000;
/// Longest trial; streams have whole seconds.
const TRIAL_S: f64 = 0.05;
const STREAM_S: f64 = 1.0;
/// Time after which a load is decided: a trial's.
const DURATION_SUM_S: f64 = TRIAL_S;
/// How close bounds come.
const RELATIVE_WIDTH: f64 = 0.1;

impl Cut {
    /// Cuts a scenario; what was cut, and what that loses, in words, a line each.
    pub fn apply(self, scenario: &mut Scenario) -> Vec<String> {
        let mut told = Vec::new();
        if self.verify {
            verify(scenario, &mut told);
        }
        let points = self.points.or(self.quick.then_some(QUICK_POINTS));
        if let Some(points) = points {
            let most = |name: &str| (self.quick && name == Entries::NAME).then_some(MOST_ENTRIES);
            for (axis, left, all) in scenario.sweep.cut(points, most) {
                told.push(format!(
                    "{axis}: {} of {all} values; what lies between and beyond is not seen",
                    left.join(", ")
                ));
            }
        }
        if !self.quick {
            return told;
        }
        if scenario.sweep.axes().filter(|(_, values)| values.texts().len() > 1).count() > 1 {
            scenario.one_at_a_time = true;
            told.push("an axis at a time: not how they act together".into());
        }
        tables(scenario, &mut told);
        times(scenario, &mut told);
        told
    }
}

/// A few trials at a reference in place of a search, and nothing beside them.
fn verify(scenario: &mut Scenario, told: &mut Vec<String>) {
    let measure = &mut scenario.measure;
    measure.search = &ref_ndr::KIND;
    measure.loss_ratios.get_mut().truncate(1);
    (measure.latency_at_percent, measure.telemetry) = (Vec::new(), false);
    told.push(
        "the NDR is held against the baseline's, not searched for: whether it is what it was, no number".into(),
    );
}

/// Tables, and changes of them.
fn tables(scenario: &mut Scenario, told: &mut Vec<String>) {
    let mut cut = false;
    for function in &mut scenario.functions {
        let entries = &mut function.get_mut().entries;
        cut |= entries.is_some_and(|entries| entries > MOST_ENTRIES);
        *entries = entries.map(|entries| entries.min(MOST_ENTRIES));
    }
    let measure = &mut scenario.measure;
    for parameter in measure.search.parameters {
        // What is not given may be more than anybody waits for.
        let given = measure.parameters.get(parameter.name).map(|it| *it.get_ref());
        if given.or(parameter.usual).is_some_and(|value| value > MOST_ENTRIES) {
            let short = toml::Spanned::new(0..0, MOST_ENTRIES);
            measure.parameters.insert(parameter.name.to_owned(), short);
            cut = true;
        }
    }
    if cut {
        told.push(format!(
            "tables of {MOST_ENTRIES} entries: they fit caches that the scenario's do not"
        ));
    }
}

/// Trials, restarts, and what is watched beside them.
fn times(scenario: &mut Scenario, told: &mut Vec<String>) {
    let (measure, campaign) = (&mut scenario.measure, &mut scenario.campaign);
    let (trial_s, duration_sum_s) = match measure.manner() {
        Manner::Streams => (STREAM_S, STREAM_S),
        Manner::Loads | Manner::Checks => (TRIAL_S, DURATION_SUM_S),
    };
    let sum_s = measure.duration_sum_s.get_mut();
    measure.trial_s = measure.trial_s.min(trial_s);
    *sum_s = sum_s.min(duration_sum_s);
    measure.relative_width = measure.relative_width.max(RELATIVE_WIDTH);
    told.push(match measure.manner() {
        Manner::Streams => format!("streams of {trial_s} s: slow starts are most of them"),
        Manner::Checks => format!("packets of {trial_s} s"),
        Manner::Loads => format!(
            "trials of {} s, loads decided in {} s, bounds {:.0} % apart: rates are rough, rare \
             losses are not seen",
            measure.trial_s,
            measure.duration_sum_s.get_ref(),
            100.0 * measure.relative_width
        ),
    });
    measure.repetitions = measure.search.repeats.map(|_| toml::Spanned::new(0..0, 1));
    (campaign.restarts, campaign.minutes) = (1, None);
    told.push(
        "one start, nothing repeated: no intervals, and nothing of what a start changes".into(),
    );
    if std::mem::take(&mut measure.telemetry) {
        told.push("no telemetry".into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: &str = "name = 'x'\ntitle = 'X'\nabout = 'y'\n\
        [[function]]\nkind = 'ip4'\nentries = 255000\n\
        [sweep]\nvector_packets = [16, 64, 256, 1024]\nframe_bytes = [64, 512, 1518]\n\
        [measure]\nsearch = 'mlr'\ntelemetry = true\n[campaign]\nrestarts = 10\nminutes = 5\n";

    fn cut(text: &str, cut: Cut) -> (Scenario, Vec<String>) {
        let mut scenario = Scenario::parse(text, "x").unwrap();
        let told = cut.apply(&mut scenario);
        (scenario, told)
    }

    #[test]
    fn nothing_is_cut_unless_it_is_asked_for() {
        let (scenario, told) = cut(LONG, Cut::default());
        assert_eq!(scenario, Scenario::parse(LONG, "x").unwrap());
        assert!(told.is_empty(), "{told:?}");
    }

    #[test]
    fn points_are_spread_over_an_axis_ends_included_and_all_else_stays() {
        let (scenario, told) = cut(LONG, Cut { points: Some(3), ..Cut::default() });
        assert_eq!(scenario.cases().len(), 3 * 3);
        assert_eq!((scenario.measure.trial_s, scenario.campaign.restarts), (1.0, 10));
        assert_eq!(
            told,
            ["vector_packets: 16, 256, 1024 of 4 values; what lies between and beyond is not seen"]
        );
    }

    #[test]
    fn in_short_an_axis_is_varied_at_a_time_over_small_tables_and_each_cut_is_told() {
        let (scenario, told) = cut(LONG, Cut { quick: true, ..Cut::default() });
        let axes: Vec<_> = scenario
            .cases()
            .iter()
            .map(|it| [&it.axes["vector_packets"], &it.axes["frame_bytes"]].map(String::clone))
            .collect();
        assert_eq!(axes, [["16", "64"], ["1024", "64"], ["16", "1518"]]);
        let measure = &scenario.measure;
        assert_eq!(
            (measure.trial_s, measure.telemetry, measure.repetitions.as_ref()),
            (0.05, false, None)
        );
        assert_eq!(scenario.functions[0].get_ref().entries, Some(10_000));
        assert_eq!((scenario.campaign.restarts, scenario.campaign.minutes), (1, None));
        for words in
            ["vector_packets: 16, 1024 of 4", "at a time", "10000 entries", "rough", "no telemetry"]
        {
            assert!(told.iter().any(|line| line.contains(words)), "{words}: {told:?}");
        }
        // It is a scenario as any other.
        let text = toml::to_string(&scenario).unwrap();
        assert!(Scenario::parse(&text, "x").is_ok(), "{text}");
    }

    #[test]
    fn tables_beyond_what_is_short_are_left_out_but_one_stays() {
        let entries = |values: &str| {
            let text = LONG.replace("vector_packets = [16, 64, 256, 1024]", values);
            let (scenario, _) = cut(&text, Cut { points: Some(2), quick: true, verify: false });
            scenario.sweep.axes().next().unwrap().1.texts()
        };
        let range = entries("entries = { from = 1, to = 8388608, factor = 1.4 }");
        assert_eq!(range[0], "1");
        assert!((5_000..=10_000).contains(&range[1].parse::<u64>().unwrap()), "{range:?}");
        assert_eq!(entries("entries = [100000, 200000]"), ["100000"]);
    }

    #[test]
    fn what_a_search_does_unless_told_is_cut_as_well() {
        let text = LONG.replace("'mlr'", "'largest-table'");
        let (scenario, _) = cut(&text, Cut { quick: true, ..Cut::default() });
        let terms = scenario.measure.terms(1.0, 0.0);
        assert_eq!(terms.parameters["most_entries"], MOST_ENTRIES);
    }
}
