//! A forest plot: ratios of one device over another, with their intervals, around 1.
//!
//! ```text
//! ip4, 64 octets      ┊   ├──■──┤      1.043 [1.031, 1.056]
//! bridge, 64 octets ├─┼■──┤            no difference
//!                     1.0
//! ```

use lab_record::{ComparisonRecord, Finding};

use super::throughput::whisker;
use crate::svg::scale::Unit;
use crate::svg::{Plot, Scale};

const ROW: f64 = 26.0;

/// Draws the figure; none without comparisons.
pub fn draw(comparisons: &[ComparisonRecord]) -> Option<String> {
    let ends = comparisons.iter().flat_map(|it| {
        let interval = it.comparison.ratio_95;
        [interval.low, interval.high, it.comparison.ratio, 1.0]
    });
    let (low, high) = ends
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)));
    if comparisons.is_empty() {
        return None;
    }
    let margin = 0.08 * (high - low).max(0.01);
    let scale = Scale::linear(low - margin, high + margin, Unit::Plain);
    let name = |it: &ComparisonRecord| format!("{} / {} — {}", it.other, it.base, it.case);
    let rows: Vec<String> = comparisons.iter().map(name).collect();
    let mut plot = Plot::with_rows(&rows, ROW, (scale, "ratio of rates"));
    let (_, top, _, bottom) = plot.area;
    let one = plot.x(1.0);
    plot.canvas.line((one, top), (one, bottom), r##"stroke="#444" stroke-dasharray="4 3""##);
    for (index, record) in comparisons.iter().enumerate() {
        let it = &record.comparison;
        let colour = match it.finding {
            Finding::Higher => "#009e73",
            Finding::Lower => "#d55e00",
            Finding::NoDifference => "#777",
        };
        let y = plot.row(index, ROW);
        whisker(&mut plot, y, it.ratio_95, colour);
        let (x, half) = (plot.x(it.ratio), 2.0 + (it.blocks as f64).sqrt().min(5.0) / 1.5);
        let style = format!(r##"fill="{colour}" stroke="#fff""##);
        plot.canvas.rect((x - half, y - half), (2.0 * half, 2.0 * half), &style);
        let interval = it.ratio_95;
        let sign = record.reading().sign().unwrap_or_default();
        let (ratio, low, high) = (it.ratio, interval.low, interval.high);
        plot.number(y, &format!("{sign}{ratio:.3} [{low:.3}, {high:.3}]"));
    }
    plot.note("■ shift of paired blocks, 95 % interval");
    Some(plot.canvas.finish("Ratios of rates between devices with their 95 % intervals"))
}
