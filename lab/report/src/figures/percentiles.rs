//! Latency percentiles on a scale of nines: the tail is where the eye is.
//!
//! ```text
//! 1 ms │                  ╭──      90 % of the load
//!      │            ╭─────╯
//! 10 us│────────────╯──────────    10 %
//!      └─0──50──90───99───99.9───
//! ```

use lab_record::Histogram;

use crate::svg::scale::Unit;
use crate::svg::{Plot, Scale, palette};

/// Draws the figure; none without a value.
pub fn draw(series: &[(String, &Histogram)]) -> Option<String> {
    let count = series.iter().map(|(_, histogram)| histogram.count()).max().unwrap_or(0);
    if count == 0 {
        return None;
    }
    let least = series.iter().map(|it| it.1.min_ns()).min().unwrap_or(1).max(1) as f64;
    let most = series.iter().map(|it| it.1.max_ns()).max().unwrap_or(1) as f64;
    // A nine needs ten values beyond it to mean anything.
    let nines = ((count as f64).log10() - 1.0).clamp(1.0, 6.0).floor();
    let x = Scale::nines(nines);
    let y = Scale::log(least, most, Unit::Nanoseconds);
    let mut plot = Plot::new(380.0, (x, "percentile"), (y, "one-way latency"));
    let end = 100.0 * (1.0 - 10f64.powf(-nines));
    for (index, (_, histogram)) in series.iter().enumerate() {
        let steps = 240;
        let at =
            |step: i32| 100.0 * (1.0 - 10f64.powf(-nines * f64::from(step) / f64::from(steps)));
        let points: Vec<(f64, f64)> = (0..=steps)
            .map(at)
            .map(|percent| {
                let latency_ns = histogram.percentile_ns(percent).max(1);
                (plot.x(percent), plot.y(latency_ns as f64))
            })
            .collect();
        let colour = palette::colour(index);
        let style = format!(r#"stroke="{colour}" stroke-width="1.8" stroke-linejoin="round""#);
        plot.canvas.polyline(&points, &style);
        for percent in [50.0, 90.0, 99.0, 99.9, 99.99, 99.999].into_iter().filter(|&it| it <= end) {
            let at = (plot.x(percent), plot.y(histogram.percentile_ns(percent).max(1) as f64));
            palette::marker(&mut plot.canvas, at, index);
        }
    }
    let names: Vec<String> = series.iter().map(|(name, _)| name.clone()).collect();
    plot.legend(&names);
    Some(plot.canvas.finish("Latency percentiles of each series on a logarithmic scale"))
}
