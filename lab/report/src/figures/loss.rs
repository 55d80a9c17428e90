//! Loss against load: every trial a point; loss on a log scale, with a floor for none at all.
//!
//! ```text
//!  10 %  │                 ■ ■ ■
//!  0.1 % │              ■
//!  none  │● ● ● ● ● ● ●
//!        └──────────────────────── offered load
//! ```

use std::collections::BTreeSet;

use crate::svg::scale::Unit;
use crate::svg::{Anchor, Plot, Scale, palette};

/// The trials of one series: (load, loss ratio).
pub type Points = Vec<(f64, f64)>;

/// Where an axis of loads begins: at 0, unless all of them lie together far above it. One load
/// alone tells no scale.
pub(super) fn start(least_pps: f64, most_pps: f64) -> f64 {
    if least_pps > 0.4 * most_pps && least_pps < 0.999 * most_pps {
        least_pps - 0.1 * (most_pps - least_pps)
    } else {
        0.0
    }
}

/// Draws the figure; none without a trial.
pub fn draw(series: &[(String, Points)]) -> Option<String> {
    let all = || series.iter().flat_map(|(_, points)| points);
    let most_pps = all().map(|point| point.0).fold(0.0, f64::max);
    if most_pps <= 0.0 {
        return None;
    }
    let lossy = all().map(|point| point.1).filter(|&loss| loss > 0.0);
    let least = lossy.fold(0.1, f64::min);
    // A decade below the least loss is the floor where trials without any stand.
    let floor = 10f64.powf(least.log10().floor() - 1.0);
    let least_pps = all().map(|point| point.0).fold(most_pps, f64::min);
    let x = Scale::linear(start(least_pps, most_pps), most_pps, Unit::Count);
    let y = Scale::log(floor, 1.0, Unit::Share);
    let mut plot = Plot::new(360.0, (x, "offered load, packets per second"), (y, "loss ratio"));
    let (left, _, right, _) = plot.area;
    let none_y = plot.y(floor);
    plot.canvas.line((left, none_y), (right, none_y), r##"stroke="#999" stroke-dasharray="2 3""##);
    for (index, (_, points)) in series.iter().enumerate() {
        let mut drawn = BTreeSet::new();
        for &(load, loss) in points {
            let at = (plot.x(load), plot.y(loss.max(floor)));
            // Thousands of trials at one load are one marker.
            if !drawn.insert((at.0.round() as i64, at.1.round() as i64)) {
                continue;
            }
            let colour = palette::colour(index);
            plot.canvas.circle(at, 2.4, &format!(r#"fill="{colour}" fill-opacity="0.55""#));
        }
    }
    plot.canvas.text((left + 6.0, none_y - 7.0), Anchor::Start, "note", "no loss");
    let names: Vec<String> = series.iter().map(|(name, _)| name.clone()).collect();
    plot.legend(&names);
    Some(plot.canvas.finish("Loss ratio of each trial against its offered load"))
}
