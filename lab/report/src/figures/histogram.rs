//! Latency histograms: the share of packets in each bin of a logarithmic axis.
//!
//! ```text
//! share │  ▟▙              ▗▖
//!       │ ▟██▙           ▗▟██▙▖
//!       └───────────────────────── log latency      series drawn over each other, see-through
//! ```

use lab_record::Histogram;

use crate::svg::scale::Unit;
use crate::svg::{Plot, Scale, palette};

/// Bins of an octave of latency: fine enough to see two modes, coarse enough not to see buckets.
const BINS_PER_OCTAVE: f64 = 12.0;

/// Draws the figure; none without a value.
pub fn draw(series: &[(String, &Histogram)]) -> Option<String> {
    let used: Vec<_> = series.iter().filter(|(_, histogram)| histogram.count() > 0).collect();
    let least = used.iter().map(|it| it.1.min_ns().max(1)).min()? as f64;
    let most = used.iter().map(|it| it.1.percentile_ns(99.99)).max()?.max(2) as f64;
    let bins: Vec<Vec<f64>> = used.iter().map(|(_, histogram)| shares(histogram, least)).collect();
    let tallest = bins.iter().flatten().copied().fold(0.0, f64::max);
    let x = Scale::log(least, most, Unit::Nanoseconds);
    // A tail that reaches far is seen on a log scale only.
    let middle = used.iter().map(|it| it.1.percentile_ns(50.0)).max()?.max(1) as f64;
    let most_count = used.iter().map(|it| it.1.count()).max()?;
    let floor = if most > 20.0 * middle { 0.5 / most_count as f64 } else { 0.0 };
    let y = if floor > 0.0 {
        Scale::log(floor, tallest, Unit::Share)
    } else {
        Scale::linear(0.0, tallest, Unit::Share)
    };
    let mut plot = Plot::new(340.0, (x, "one-way latency"), (y, "share of packets"));
    for (index, bins) in bins.iter().enumerate() {
        let mut outline = Vec::new();
        for (bin, &share) in bins.iter().enumerate() {
            for edge in [bin, bin + 1] {
                let latency = least * 2f64.powf(edge as f64 / BINS_PER_OCTAVE);
                let x = plot.x(latency).min(plot.area.2);
                outline.push((x, plot.y(share.max(floor)).min(plot.area.3)));
            }
        }
        let colour = palette::colour(index);
        let (first, last) = (outline.first().copied()?, outline.last().copied()?);
        let mut shape = vec![(first.0, plot.area.3)];
        shape.extend(&outline);
        shape.push((last.0, plot.area.3));
        plot.canvas.polygon(&shape, &format!(r#"fill="{colour}" fill-opacity="0.22""#));
        plot.canvas.polyline(&shape, &format!(r#"stroke="{colour}" stroke-width="1.4""#));
    }
    let names: Vec<String> = used.iter().map(|(name, _)| name.clone()).collect();
    plot.legend(&names);
    Some(plot.canvas.finish("Histogram of latency of each series"))
}

/// Share of the values in each bin above `least`. A bucket wider than a bin is spread over several.
fn shares(histogram: &Histogram, least: f64) -> Vec<f64> {
    let bin = |value: f64| ((value.max(least) / least).log2() * BINS_PER_OCTAVE).max(0.0);
    let mut shares = Vec::new();
    for (low, width, count) in histogram.buckets() {
        let (from, to) = (bin(low as f64), bin((low + width) as f64).max(bin(low as f64) + 1e-9));
        let whole = count as f64 / histogram.count() as f64;
        for index in from as usize..=to as usize {
            let overlap = to.min(index as f64 + 1.0) - from.max(index as f64);
            if shares.len() <= index {
                shares.resize(index + 1, 0.0);
            }
            shares[index] += whole * overlap.max(0.0) / (to - from);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_packet_is_in_one_bin() {
        let mut histogram = Histogram::default();
        (1..5_000u64).for_each(|value| histogram.record(value * 7));
        let sum: f64 = shares(&histogram, 7.0).iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }
}
