//! The figures of the sources, drawn from their own numbers.
//!
//! With LAB_FIGURES set to a folder, the drawings are left there for a person to look at.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // all of it is test code

use lab_record::{Histogram, Interval};
use lab_report::figures::curves::{AxisStyle, Point, Series};
use lab_report::figures::{bars, curves, percentiles};
use lab_report::svg::scale::Unit;
use lab_search::model::clock::{OneTerm, TwoTerm};
use lab_search::model::fit::Model;
use lab_search::model::latency::{LatencyCurve, SOURCE};
use lab_search::model::reference::{CLOCKS_GHZ, OTHERS_MPPS, VPP_MPPS};

fn keep(name: &str, svg: &str) {
    if let Some(folder) = std::env::var_os("LAB_FIGURES") {
        std::fs::write(std::path::Path::new(&folder).join(name), svg).unwrap();
    }
}

fn markers(svg: &str) -> usize {
    svg.matches("stroke-width=\"0.8\"").count() + svg.matches("fill=\"#fff\" stroke=").count()
}

#[test]
fn routers_against_table_size_have_a_marker_a_point_and_a_cache_mark() {
    let series: Vec<Series> = OTHERS_MPPS
        .iter()
        .map(|(name, points)| {
            let point = |&(routes, mpps): &(u64, f64)| {
                let interval = Interval { low: 0.98 * mpps * 1e6, high: 1.02 * mpps * 1e6 };
                Point { x: routes as f64, y: mpps * 1e6, interval: Some(interval), at_least: false }
            };
            let points = points.iter().map(point).collect();
            Series { name: (*name).to_owned(), points, model: Vec::new() }
        })
        .collect();
    let x = AxisStyle { label: "IPv4 routes", unit: Unit::Count, log: true };
    let y = AxisStyle { label: "packets per second", unit: Unit::Count, log: false };
    let marks = [(16_384.0, "L2 cache".to_owned()), (524_288.0, "L3 cache".to_owned())];
    let svg = curves::draw(&series, x, y, &marks).unwrap();
    keep("table-size.svg", &svg);
    let points: usize = OTHERS_MPPS.iter().map(|(_, points)| points.len()).sum();
    assert_eq!(markers(&svg), points + OTHERS_MPPS.len(), "points and legend");
    assert!(svg.contains("L3 cache") && svg.contains("MoonRoute"));
}

#[test]
fn the_clock_figure_shows_the_model_dashed() {
    let points: Vec<(f64, f64)> = CLOCKS_GHZ.into_iter().zip(VPP_MPPS[0].1).collect();
    let one = OneTerm { max_ghz: 3.2 };
    let (line, curve) = (one.solve(&points).unwrap(), TwoTerm.solve(&points).unwrap());
    let along = |value: &dyn Fn(f64) -> f64| {
        (8..=32).map(|it| f64::from(it) / 10.0).map(|c| (c, 1e6 * value(c))).collect::<Vec<_>>()
    };
    let measured =
        points.iter().map(|&(x, y)| Point { x, y: 1e6 * y, interval: None, at_least: false });
    let series = [
        Series {
            name: "measured, two terms".into(),
            points: measured.collect(),
            model: along(&|c| TwoTerm.value(&curve, c)),
        },
        Series { name: "one term".into(), points: vec![], model: along(&|c| one.value(&line, c)) },
    ];
    let x = AxisStyle { label: "clock, GHz", unit: Unit::Plain, log: false };
    let y = AxisStyle { label: "packets per second", unit: Unit::Count, log: false };
    let svg = curves::draw(&series, x, y, &[]).unwrap();
    keep("clock.svg", &svg);
    assert_eq!(svg.matches("stroke-dasharray=\"6 4\"").count(), 2);
}

#[test]
fn latency_against_load_follows_the_sources_curve() {
    let shares = || (1..=19).map(|step| f64::from(step) / 20.0);
    let model =
        (2..=98).map(|it| f64::from(it) / 100.0).map(|t| (t, 1e3 * LatencyCurve.value(&SOURCE, t)));
    let wobble = |share: f64| 1.0 + 0.06 * (37.0 * share).sin();
    let points = shares().map(|t| Point {
        at_least: false,
        x: t,
        y: 1e3 * LatencyCurve.value(&SOURCE, t) * wobble(t),
        interval: None,
    });
    let series =
        [Series { name: "median".into(), points: points.collect(), model: model.collect() }];
    let x = AxisStyle { label: "load, share of the maximum", unit: Unit::Share, log: false };
    let y = AxisStyle { label: "one-way latency", unit: Unit::Nanoseconds, log: false };
    let svg = curves::draw(&series, x, y, &[]).unwrap();
    keep("latency-model.svg", &svg);
    assert!(svg.contains("dashed: fitted model") && svg.contains("µs"));
}

#[test]
fn points_that_the_generator_limited_are_drawn_although_none_has_an_upper_end() {
    let interval = Some(Interval { low: 1e6, high: f64::INFINITY });
    let point = |x| Point { x, y: 2e6, interval, at_least: true };
    let points = [64.0, 512.0].map(point).to_vec();
    let series = [Series { name: "ours".into(), points, model: Vec::new() }];
    let style = |label, log| AxisStyle { label, unit: Unit::Count, log };
    let svg = curves::draw(&series, style("octets", true), style("rate", false), &[]).unwrap();
    assert!(svg.contains('≥') && !svg.contains("inf") && !svg.contains("NaN"), "{svg}");
}

#[test]
fn schedulers_are_bars_in_groups_with_intervals() {
    let kinds = ["namespace", "container", "virtual machine"].map(str::to_owned);
    let groups: Vec<bars::Group> = ["fifo", "sfq", "codel", "fq-codel", "htb", "hfsc"]
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let bar = |kind: usize| {
                let value = 94e6 - 2.5e6 * kind as f64 - 0.8e6 * index as f64;
                Some((value, Interval { low: value - 1.5e6, high: value + 1.5e6 }, kind == 2))
            };
            let bars = (0..3).map(bar).map(|bar| bar.filter(|_| index != 4)).collect();
            bars::Group { name: (*name).to_owned(), bars }
        })
        .collect();
    let svg = bars::draw(&groups, &kinds, Unit::Count, ("TCP throughput, bit/s", bars::WHISKERS));
    keep("schedulers.svg", &svg);
    assert_eq!(svg.matches("fill-opacity=\"0.85\"").count(), 15, "htb was not measured");
    assert_eq!(svg.matches('≥').count(), 5, "what is at least so much says so");
}

#[test]
fn percentiles_stop_where_fewer_than_ten_values_are_beyond() {
    let mut histogram = Histogram::default();
    (0..1_000u64).for_each(|value| histogram.record(4_000 + value));
    let svg = percentiles::draw(&[("few".to_owned(), &histogram)]).unwrap();
    assert!(svg.contains(">99 %<") && !svg.contains(">99.9 %<"));
    assert_eq!(percentiles::draw(&[("none".to_owned(), &Histogram::default())]), None);
}
