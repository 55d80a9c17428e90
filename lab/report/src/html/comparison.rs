//! Devices held against each other.

use super::section::{Page, Section, figure};
use crate::figures::forest;
use crate::svg::canvas::escape;

pub(super) fn section(page: &Page<'_>) -> Option<Section> {
    let results = page.results;
    let svg = forest::draw(&results.comparisons)?;
    let lead =
        "Interleaved blocks, compared pair by pair: a ratio whose interval keeps off 1 is a \
                difference."
            .into();
    let mut body = figure(&svg, "Ratios of rates.");
    for record in &results.comparisons {
        for device in &record.unexhausted {
            let (device, case) = (escape(device), escape(&record.case));
            body.push_str(&format!(
                "<p>{case}: {device} lost nothing at the largest load, so it may do more than was seen.</p>\n"
            ));
        }
    }
    Some(Section { title: "Comparison", lead, body })
}
