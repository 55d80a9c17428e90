//! Grouped bars with intervals: a quantity for each combination of two kinds of thing.
//!
//! ```text
//!  │ █ ▒ ░   █ ▒ ░
//!  └─FIFO────CoDel──     █ namespace ▒ container ░ VM
//! ```

use lab_record::Interval;

use crate::svg::canvas::text_width;
use crate::svg::scale::Unit;
use crate::svg::{Anchor, Plot, Scale, palette};

/// What whiskers usually are.
pub const WHISKERS: &str = "whiskers: 95 % interval";

/// The bars of one group, one for each series; none where nothing was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Height and interval of each bar, and whether it may be more.
    pub bars: Vec<Option<(f64, Interval, bool)>>,
}

/// Draws the figure; the note says what the whiskers are, if there are any.
pub fn draw(
    groups: &[Group],
    series: &[String],
    unit: Unit,
    (label, whiskers): (&str, &str),
) -> String {
    let ends = groups.iter().flat_map(|group| group.bars.iter().flatten());
    let top = ends.map(|(value, interval, _)| value.max(interval.high)).filter(|it| it.is_finite());
    let scale = Scale::linear(0.0, top.fold(0.0, f64::max), unit);
    let mut plot = Plot::with_categories(360.0, series, (scale, label));
    let (left, _, right, bottom) = plot.area;
    let share = (right - left) / groups.len().max(1) as f64;
    let bar = (0.76 * share / series.len().max(1) as f64).min(46.0);
    for (index, group) in groups.iter().enumerate() {
        let centre = left + share * (index as f64 + 0.5);
        let start = centre - bar * series.len() as f64 / 2.0;
        for (place, entry) in group.bars.iter().enumerate() {
            let x = start + bar * place as f64;
            let Some((value, interval, at_least)) = entry else {
                let at = (x + bar / 2.0, bottom - 5.0);
                plot.canvas.text(at, Anchor::Middle, "note", "n/a");
                continue;
            };
            let y = plot.y(*value);
            let style = format!(r#"fill="{}" fill-opacity="0.85""#, palette::colour(place));
            plot.canvas.rect((x + 1.0, y), (bar - 2.0, bottom - y), &style);
            let whisker = r##"stroke="#222" stroke-width="1.2""##;
            let middle = x + bar / 2.0;
            if *at_least {
                plot.canvas.text((middle, y - 6.0), Anchor::Middle, "note", "≥");
            }
            if interval.low == interval.high {
                continue;
            }
            let ends =
                [interval.low, interval.high].map(|end| plot.y(end.max(0.0)).max(plot.area.1));
            plot.canvas.line((middle, ends[0]), (middle, ends[1]), whisker);
            for end in ends {
                plot.canvas.line((middle - 4.0, end), (middle + 4.0, end), whisker);
            }
        }
        group_name(&mut plot, centre, share, &group.name);
    }
    plot.canvas.line((left, bottom), (right, bottom), r##"stroke="#444""##);
    plot.legend(series);
    plot.note(whiskers);
    plot.canvas.finish(&format!("{label} by group"))
}

/// A group's name under it, on two lines where one is too narrow.
fn group_name(plot: &mut Plot, centre: f64, share: f64, name: &str) {
    let bottom = plot.area.3;
    let lines: Vec<&str> = if text_width(name, 11.0) > share - 6.0 {
        let middle = name.len() / 2;
        let spaces = name.char_indices().filter(|(_, letter)| *letter == ' ').map(|(at, _)| at);
        match spaces.min_by_key(|at| at.abs_diff(middle)) {
            Some(at) => vec![&name[..at], &name[at + 1..]],
            None => vec![name],
        }
    } else {
        vec![name]
    };
    for (index, line) in lines.into_iter().enumerate() {
        let y = bottom + 17.0 + 13.0 * index as f64;
        plot.canvas.text((centre, y), Anchor::Middle, "tick", line);
    }
}
