//! What may be compared over time: entries of one scenario, of like hosts, measured alike.

use lab_record::MethodRecord;

use super::entry::Entry;
use super::number::Number;
use super::series::{Point, Series};

/// Such entries, in order of their commits, and their numbers over them.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    /// The entries.
    pub entries: Vec<&'a Entry>,
    /// Each number that one of them has: those of a case together, in the order of the reports.
    pub series: Vec<Series>,
}

impl Line<'_> {
    /// The last entry.
    pub fn last(&self) -> Option<&Entry> {
        self.entries.last().copied()
    }

    /// What it is called: a name of a page. The number tells apart what was measured otherwise.
    pub fn name(&self, number: usize) -> String {
        let Some(entry) = self.last() else { return String::new() };
        let plain = |it: char| if it.is_ascii_alphanumeric() || it == '-' { it } else { '-' };
        let scenario: String = entry.scenario.chars().map(plain).collect();
        let more = if number > 0 { format!("-{}", number + 1) } else { String::new() };
        format!("{scenario}-{}{more}", entry.host_id())
    }

    /// Devices, in the order in which they appear.
    pub fn devices(&self) -> Vec<&str> {
        let mut seen: Vec<&str> = Vec::new();
        for number in self.series.iter().filter_map(Series::number) {
            if !seen.contains(&number.device.as_str()) {
                seen.push(&number.device);
            }
        }
        seen
    }

    /// Cases with their metrics, in the order in which they appear: each with its series.
    pub fn charts(&self) -> Vec<(&Number, Vec<&Series>)> {
        let mut charts: Vec<(&Number, Vec<&Series>)> = Vec::new();
        for series in &self.series {
            let Some(number) = series.number() else { continue };
            let same = |it: &&mut (&Number, Vec<&Series>)| {
                (&it.0.case, &it.0.metric, &it.0.unit)
                    == (&number.case, &number.metric, &number.unit)
            };
            match charts.iter_mut().find(same) {
                Some(chart) => chart.1.push(series),
                None => charts.push((number, vec![series])),
            }
        }
        charts
    }
}

/// Sorts entries into lines; the lines by scenario, then host, then as they first appear.
pub fn lines(entries: &[Entry]) -> Vec<Line<'_>> {
    let mut groups: Vec<Vec<&Entry>> = Vec::new();
    for entry in entries {
        let same = |group: &&mut Vec<&Entry>| {
            let first = group[0];
            first.scenario == entry.scenario
                && first.fingerprint() == entry.fingerprint()
                && measured_alike(first.method.as_ref(), entry.method.as_ref())
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(entry),
            None => groups.push(vec![entry]),
        }
    }
    groups.sort_by(|a, b| {
        let key = |it: &[&Entry]| (it[0].scenario.clone(), it[0].host_id());
        key(a).cmp(&key(b))
    });
    groups.into_iter().map(line).collect()
}

fn measured_alike(one: Option<&MethodRecord>, other: Option<&MethodRecord>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.agrees_with(other),
        (None, None) => true,
        _ => false,
    }
}

fn line(entries: Vec<&Entry>) -> Line<'_> {
    let mut gathered: Vec<Vec<Point>> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        for number in &entry.numbers {
            let point = Point { entry: index, number: number.clone() };
            match gathered.iter_mut().find(|it| it[0].number.is_same_as(number)) {
                Some(points) => points.push(point),
                None => gathered.push(vec![point]),
            }
        }
    }
    Line { entries, series: gathered.into_iter().map(Series::of).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(scenario: &str, processor: &str, trial_s: f64) -> Entry {
        let method = MethodRecord { trial_s, ..MethodRecord::default() };
        let number =
            |device: &str| Number { device: device.into(), value: 1.0, ..Number::default() };
        Entry {
            scenario: scenario.into(),
            host: [("processor".to_owned(), processor.to_owned())].into(),
            method: Some(method),
            numbers: vec![number("volley"), number("ovs")],
            ..Entry::default()
        }
    }

    #[test]
    fn unlike_hosts_other_scenarios_and_other_methods_are_other_lines() {
        let all = [
            entry("b", "A", 1.0),
            entry("a", "A", 1.0),
            entry("a", "B", 1.0),
            entry("a", "A", 0.01),
            entry("a", "A", 1.0),
        ];
        let found = lines(&all);
        let sizes: Vec<usize> = found.iter().map(|it| it.entries.len()).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 5);
        assert_eq!((found.len(), sizes.iter().max()), (4, Some(&2)));
        let two = found.iter().find(|it| it.entries.len() == 2).unwrap();
        assert_eq!((two.series.len(), two.devices()), (2, vec!["volley", "ovs"]));
        // Both devices of a case share a chart.
        assert_eq!((two.charts().len(), two.charts()[0].1.len()), (1, 2));
        assert!(two.name(0).starts_with("a-") && two.name(1).ends_with("-2"));
    }
}
