//! Devices held against each other.

use lab_record::{ComparisonRecord, RatioReading};

use super::section::{Page, Section, figure};
use crate::figures::forest;
use crate::svg::canvas::escape;
use crate::words;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    if results.comparisons.is_empty() {
        return None;
    }
    let told = |it: &&ComparisonRecord| it.reading() != RatioReading::Nothing;
    let drawn: Vec<_> = results.comparisons.iter().filter(told).cloned().collect();
    let svg = forest::draw(&drawn);
    let lead =
        "Interleaved blocks, compared pair by pair: a ratio whose interval keeps off 1 is a \
                difference."
            .into();
    let mut body = svg.map_or_else(String::new, |svg| figure(&svg, "Ratios of rates."));
    for record in &results.comparisons {
        for device in &record.unexhausted {
            let (device, case) = (escape(device), escape(&record.case));
            body.push_str(&format!(
                "<p>{case}: {device} lost next to nothing at the largest load, so it may do more than was seen.</p>\n"
            ));
        }
        if let Some(cost) = &record.cost {
            let (case, told) = (escape(&record.case), words::compared_cost(cost));
            body.push_str(&format!("<p>{case}: compared by cost: {told}.</p>\n"));
        }
        if record.reading() == RatioReading::Nothing {
            let (case, other, base) =
                (escape(&record.case), escape(&record.other), escape(&record.base));
            body.push_str(&format!(
                "<p class=\"verdict\">{case}: no ratio of {other} to {base}: neither was brought to its limit.</p>\n"
            ));
        }
    }
    Some(Section { title: "Comparison", lead, body })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_record::{Comparison, Finding, Interval, Results};

    #[test]
    fn two_devices_that_were_not_brought_to_their_limit_have_no_ratio() {
        let body = |unexhausted: &[&str]| {
            let comparison = Comparison {
                blocks: 6,
                ratio: 1.234,
                ratio_95: Interval { low: 1.2, high: 1.3 },
                p: 0.01,
                smallest_believable: None,
                finding: Finding::Higher,
            };
            let comparisons = vec![ComparisonRecord {
                base: "a".into(),
                other: "b".into(),
                case: "ip4".into(),
                comparison,
                unexhausted: unexhausted.iter().map(|it| (*it).to_owned()).collect(),
                cost: None,
            }];
            section(&Page::of(&Results { comparisons, ..Results::default() })).unwrap().body
        };
        assert!(body(&[]).contains(">1.234 ["));
        assert!(body(&["b"]).contains("≥1.234") && body(&["a"]).contains("≤1.234"));
        let neither = body(&["a", "b"]);
        assert!(!neither.contains("1.234") && neither.contains("no ratio of b to a"), "{neither}");
    }
}
