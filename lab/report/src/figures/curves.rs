//! Curves over an axis: throughput against table size, workers, clock; latency against load.
//!
//! ```text
//! Mpps │●──●──●╮         ┊L2      ┊L3        measured points with intervals,
//!      │        ╰●──●──●─┊╮       ┊          model curves dashed, marks such as cache sizes
//!      └─────────────────┊────────┊── entries
//! ```

use lab_record::Interval;

use crate::svg::scale::Unit;
use crate::svg::{Anchor, Plot, Scale, palette};

/// A measured point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Value on the axis.
    pub x: f64,
    /// What was measured.
    pub y: f64,
    /// Its interval, where there is one.
    pub interval: Option<Interval>,
    /// Not the device limited it: it may do more.
    pub at_least: bool,
}

/// A measured series, with the curve of a model where one was fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Points by rising x.
    pub points: Vec<Point>,
    /// The model's curve.
    pub model: Vec<(f64, f64)>,
}

/// An axis: label, unit, and whether it is logarithmic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AxisStyle<'a> {
    /// What it shows.
    pub label: &'a str,
    /// How its values are written.
    pub unit: Unit,
    /// Equal ratios instead of equal differences.
    pub log: bool,
}

impl AxisStyle<'_> {
    fn scale(&self, low: f64, high: f64) -> Scale {
        if self.log {
            Scale::log(low, high, self.unit)
        } else {
            Scale::linear(low, high, self.unit)
        }
    }
}

/// Draws the figure; `marks` are vertical lines with names. None without a point.
pub fn draw(
    series: &[Series],
    x: AxisStyle<'_>,
    y: AxisStyle<'_>,
    marks: &[(f64, String)],
) -> Option<String> {
    let points = || series.iter().flat_map(|series| &series.points);
    let xs = || points().map(|point| point.x);
    // An interval without an upper end reaches no higher than its point.
    let high = |it: Interval| if it.high.is_finite() { it.high } else { f64::NEG_INFINITY };
    let tops = points().map(|point| point.interval.map_or(point.y, |it| high(it).max(point.y)));
    let (left, right) = (xs().reduce(f64::min)?, xs().reduce(f64::max)?);
    let top = tops.filter(|it| it.is_finite()).reduce(f64::max)?;
    let least = points().map(|point| point.y).reduce(f64::min)?;
    let x_scale = x.scale(if x.log { left } else { left.min(0.0) }, right);
    let y_scale = y.scale(if y.log { least } else { 0.0 }, top);
    let mut plot = Plot::new(380.0, (x_scale, x.label), (y_scale, y.label));
    for (value, name) in marks.iter().filter(|mark| (left..=right).contains(&mark.0)) {
        let (_, top, _, bottom) = plot.area;
        let x = plot.x(*value);
        plot.canvas.line((x, top), (x, bottom), r##"stroke="#888" stroke-dasharray="5 3""##);
        plot.canvas.text((x + 4.0, top + 12.0), Anchor::Start, "note", name);
    }
    for (index, series) in series.iter().enumerate() {
        draw_series(&mut plot, series, index);
    }
    let names: Vec<String> = series.iter().map(|series| series.name.clone()).collect();
    plot.legend(&names);
    if series.iter().any(|series| !series.model.is_empty()) {
        plot.note("dashed: fitted model");
    }
    Some(plot.canvas.finish(&format!("{} against {}", y.label, x.label)))
}

fn draw_series(plot: &mut Plot, series: &Series, index: usize) {
    let colour = palette::colour(index);
    let place =
        |plot: &Plot, x: f64, y: f64| (plot.x(x), plot.y(y).clamp(plot.area.1, plot.area.3));
    if !series.model.is_empty() {
        let curve: Vec<_> = series.model.iter().map(|&(x, y)| place(plot, x, y)).collect();
        let style = format!(r#"stroke="{colour}" stroke-width="1.4" stroke-dasharray="6 4""#);
        plot.canvas.polyline(&curve, &style);
    } else {
        let curve: Vec<_> = series.points.iter().map(|it| place(plot, it.x, it.y)).collect();
        let style = format!(r#"stroke="{colour}" stroke-width="1.6" stroke-linejoin="round""#);
        plot.canvas.polyline(&curve, &style);
    }
    for point in &series.points {
        if let Some(interval) = point.interval {
            let style = format!(r#"stroke="{colour}" stroke-width="1.2""#);
            let (low, high) =
                (place(plot, point.x, interval.low), place(plot, point.x, interval.high));
            plot.canvas.line(low, high, &style);
            for (x, y) in [low, high] {
                plot.canvas.line((x - 3.0, y), (x + 3.0, y), &style);
            }
        }
        let at = place(plot, point.x, point.y);
        if point.at_least {
            let style = format!(r##"fill="#fff" stroke="{colour}" stroke-width="1.6""##);
            plot.canvas.circle(at, 4.0, &style);
            plot.canvas.text((at.0, at.1 - 7.0), Anchor::Middle, "note", "≥");
        } else {
            palette::marker(&mut plot.canvas, at, index);
        }
    }
}
