//! A chart of a number over commits: a small figure that is read at the width of a telephone.
//!
//! ```text
//! 9.4M ┤   ●  ●           ┆ -3.0 %        ┆ = a change; a bar through points = a level
//! 9.2M ┤━━━━━━━━━━━       ┆               ring = an anomaly; a thin upright = the interval
//! 9.0M ┤             ━━━━━┆━━━━
//!       1a2b3c4d          5e6f7a8b
//! ```

use std::fmt::Write;

use super::entry::Entry;
use super::series::Series;
use super::style::colour;
use crate::svg::canvas::{escape, number};
use crate::svg::scale::{Scale, Unit};

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 200.0;
/// Left, top, right, bottom of the area.
const AREA: (f64, f64, f64, f64) = (50.0, 26.0, 350.0, 178.0);
/// The least range, as a share of the value: noise is not to look like mountains.
const LEAST_RANGE: f64 = 0.03;
/// Above so many points markers are small.
const MANY: usize = 60;

/// A chart of the series of one case, each with its device's number in the legend.
pub(super) fn chart(series: &[(usize, &Series)], entries: &[&Entry], title: &str) -> String {
    let Some(first) = series.iter().find_map(|it| it.1.number()) else { return String::new() };
    // Of several devices each by its own first level: a change of one is not lost in what another
    // is faster.
    let several = series.len() > 1;
    let (factor, unit) = match first.unit.as_str() {
        _ if several => (1.0, Unit::Share),
        "seconds" => (1e9, Unit::Nanoseconds),
        "share" => (1.0, Unit::Share),
        "cycles" => (1.0, Unit::Plain),
        _ => (1.0, Unit::Count),
    };
    let factor = |it: &Series| match it.levels.first() {
        Some((_, level)) if several => 1.0 / level.max(f64::MIN_POSITIVE),
        _ => factor,
    };
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (_, it) in series {
        // Anomalies are drawn at the edge: they would press all else flat.
        for (_, point) in it.points.iter().enumerate().filter(|(at, _)| !it.anomalies.contains(at))
        {
            let value = factor(it) * point.number.value;
            (low, high) = (low.min(value), high.max(value));
        }
    }
    let room = (0.08 * (high - low)).max(0.5 * LEAST_RANGE * high.abs());
    let scale = Scale::linear((low - room).max(0.0), high + room, unit);
    let (left, top, right, bottom) = AREA;
    let place =
        |it: &Series| Place { count: entries.len().max(1) as f64, scale, factor: factor(it) };
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
        escape(title)
    );
    for (at, label) in scale.ticks() {
        let y = bottom - at * (bottom - top);
        line(&mut svg, (left, y), (right, y), "grid");
        text(&mut svg, (left - 5.0, y + 4.0), "end", "", &label);
    }
    line(&mut svg, (left, bottom), (right, bottom), "axis");
    if let (Some(one), Some(other)) = (entries.first(), entries.last()) {
        text(&mut svg, (left, bottom + 15.0), "start", "", &one.label());
        if entries.len() > 1 {
            text(&mut svg, (right, bottom + 15.0), "end", "", &other.label());
        }
    }
    let small = entries.len() > MANY;
    for &(device, it) in series {
        draw(&mut svg, &place(it), device, it, entries, small);
    }
    cuts(&mut svg, entries.len().max(1) as f64, series);
    svg.push_str("</svg>\n");
    svg
}

/// Where things lie.
struct Place {
    count: f64,
    scale: Scale,
    factor: f64,
}

impl Place {
    fn x(&self, entry: usize) -> f64 {
        AREA.0 + (entry as f64 + 0.5) / self.count * (AREA.2 - AREA.0)
    }

    fn y(&self, value: f64) -> f64 {
        let at = self.scale.place(self.factor * value).clamp(0.0, 1.0);
        AREA.3 - at * (AREA.3 - AREA.1)
    }
}

fn draw(
    svg: &mut String,
    place: &Place,
    device: usize,
    series: &Series,
    entries: &[&Entry],
    small: bool,
) {
    let colour = colour(device);
    let at = |point: usize| {
        let it = &series.points[point];
        (place.x(it.entry), place.y(it.number.value))
    };
    let through: Vec<String> = (0..series.points.len())
        .filter(|it| !series.anomalies.contains(it))
        .map(|it| format!("{},{}", number(at(it).0), number(at(it).1)))
        .collect();
    let _ = writeln!(svg, "<polyline class=\"thin d{colour}\" points=\"{}\"/>", through.join(" "));
    for (members, mean) in &series.levels {
        let (Some(&from), Some(&to)) = (members.first(), members.last()) else { continue };
        let y = place.y(*mean);
        line(svg, (at(from).0 - 3.0, y), (at(to).0 + 3.0, y), &format!("level d{colour}"));
    }
    for (index, point) in series.points.iter().enumerate() {
        let it = &point.number;
        let (x, y) = at(index);
        if !small && let Some(high) = it.high {
            line(svg, (x, place.y(it.low)), (x, place.y(high)), &format!("span d{colour}"));
        }
        if series.anomalies.contains(&index) {
            let _ = writeln!(
                svg,
                "<circle class=\"ring\" cx=\"{}\" cy=\"{}\" r=\"6.5\"/>",
                number(x),
                number(y)
            );
        }
        let entry = entries.get(point.entry);
        let told = format!(
            "{}, {}: {}, {} starts",
            entry.map_or_else(String::new, |it| it.label()),
            it.device,
            it.words(),
            it.runs
        );
        marker(svg, (x, y), device, if small { 1.8 } else { 3.2 }, &told);
    }
}

/// The upright of each change, with by how much; those that would lie on each other stand below.
fn cuts(svg: &mut String, count: f64, series: &[(usize, &Series)]) {
    let mut labels: Vec<(f64, String, &str)> = Vec::new();
    for (_, it) in series {
        for change in &it.changes {
            let x = AREA.0 + it.points[change.at].entry as f64 / count * (AREA.2 - AREA.0);
            let class = if change.better < 0.0 { "worse" } else { "better" };
            line(svg, (x, AREA.1), (x, AREA.3), &format!("cut {class}"));
            let share = 100.0 * (change.after / change.before.max(f64::MIN_POSITIVE) - 1.0);
            let sure = if change.is_confirmed() { "" } else { "?" };
            labels.push((x, format!("{share:+.1} %{sure}"), class));
        }
    }
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut rows: Vec<f64> = Vec::new();
    for (x, told, class) in labels {
        let x = x.clamp(AREA.0 + 22.0, AREA.2 - 22.0);
        // The first row whose last label ends before this one begins.
        let row = rows.iter().position(|last| x - last > 50.0).unwrap_or(rows.len());
        match rows.get_mut(row) {
            Some(last) => *last = x,
            None => rows.push(x),
        }
        text(svg, (x, 11.0 + 11.0 * row.min(6) as f64), "middle", class, &told);
    }
}

/// A device's marker: its shape, too, tells it from the others.
pub(super) fn marker(svg: &mut String, (x, y): (f64, f64), device: usize, size: f64, told: &str) {
    let class = format!("f{}", colour(device));
    let title =
        if told.is_empty() { String::new() } else { format!("<title>{}</title>", escape(told)) };
    let corners = |points: &[(f64, f64)]| {
        let each = points
            .iter()
            .map(|(dx, dy)| format!("{},{}", number(x + size * dx), number(y + size * dy)));
        format!(
            "<polygon class=\"{class}\" points=\"{}\">{title}</polygon>",
            each.collect::<Vec<_>>().join(" ")
        )
    };
    let shape = match device % 4 {
        0 => format!(
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\">{title}</circle>",
            number(x),
            number(y),
            number(size)
        ),
        1 => corners(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => corners(&[(0.0, -1.25), (1.15, 0.85), (-1.15, 0.85)]),
        _ => corners(&[(0.0, -1.3), (1.2, 0.0), (0.0, 1.3), (-1.2, 0.0)]),
    };
    svg.push_str(&shape);
    svg.push('\n');
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), class: &str) {
    let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
    let _ =
        writeln!(svg, "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
}

fn text(svg: &mut String, at: (f64, f64), anchor: &str, class: &str, text: &str) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\"{class}>{}</text>",
        number(at.0),
        number(at.1),
        escape(text)
    );
}
