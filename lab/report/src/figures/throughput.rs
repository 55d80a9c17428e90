//! Throughput with its interval, a row for each device and case.
//!
//! ```text
//! volley — ip4   ├──●──┤    ├─■─┤        ● NDR  ■ PDR
//! linux — ip4  ●┤ ■┤
//!              0          5          10 Mpps
//! ```

use lab_record::Interval;

use crate::svg::scale::Unit;
use crate::svg::{Plot, Scale, palette};
use crate::words::digits;

/// One number with its interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// Index of the row.
    pub row: usize,
    /// Index of the metric.
    pub metric: usize,
    /// The number.
    pub value_pps: f64,
    /// 95 % interval.
    pub interval: Interval,
    /// Not the device limited it: it may do more.
    pub at_least: bool,
}

/// Room of one metric within a row.
const LINE: f64 = 11.0;

/// Draws the figure.
pub fn draw(rows: &[String], metrics: &[String], dots: &[Dot]) -> String {
    let ends = dots.iter().map(|dot| dot.interval.high.max(dot.value_pps));
    let most = ends.filter(|end| end.is_finite()).fold(0.0, f64::max);
    let unit = match most {
        most if most >= 1e6 => (1e6, "M"),
        most if most >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let scale = Scale::linear(0.0, most, Unit::Count);
    let row_height = LINE * metrics.len() as f64 + 14.0;
    let mut plot = Plot::with_rows(rows, row_height, (scale, "packets per second"));
    for dot in dots {
        // Metrics of a row lie a little apart, so that whiskers do not cover each other.
        let shift = LINE * (dot.metric as f64 - (metrics.len() as f64 - 1.0) / 2.0);
        let y = plot.row(dot.row, row_height) + shift;
        whisker(&mut plot, y, dot.interval, palette::colour(dot.metric));
        let x = plot.x(dot.value_pps);
        if dot.at_least {
            let style = format!(
                r##"fill="#fff" stroke="{}" stroke-width="1.6""##,
                palette::colour(dot.metric)
            );
            plot.canvas.circle((x, y), 4.0, &style);
        } else {
            palette::marker(&mut plot.canvas, (x, y), dot.metric);
        }
        let [value, low, high] = [dot.value_pps, dot.interval.low, dot.interval.high]
            .map(|number| if number.is_finite() { digits(number / unit.0) } else { "?".into() });
        let sign = if dot.at_least { "≥ " } else { "" };
        plot.number(y, &format!("{sign}{value} [{low}, {high}] {}", unit.1));
    }
    plot.legend(metrics);
    plot.canvas.finish("Throughput of each device and case with its 95 % interval")
}

/// A horizontal interval with caps, cut at the area's edges.
pub(super) fn whisker(plot: &mut Plot, y: f64, interval: Interval, colour: &str) {
    let style = format!(r#"stroke="{colour}" stroke-width="1.5""#);
    let (left, _, right, _) = plot.area;
    let [low, high] = [interval.low, interval.high].map(|end| plot.x(end).clamp(left, right));
    plot.canvas.line((low, y), (high, y), &style);
    for end in [low, high] {
        plot.canvas.line((end, y - 3.5), (end, y + 3.5), &style);
    }
}
