//! Every file of text that the lab reads, and every word of its command line, on any text: refused
//! with a reason, or what is read holds what its reader promises.
//!
//! ```text
//! input: text ─▶ scenario, as TOML or as the IETF's JSON ─▶ written as JSON ─▶ the same scenario
//!        text ─▶ streams, as TOML or as the IETF's JSON ─▶ each fit to be sent
//!        text ─▶ results ─▶ report, CSV, OpenMetrics, the IETF's JSON
//!        text ─▶ genome, rate, line in memory, port
//!        text ─▶ points ─▶ every model that can be fitted to them
//! ```
#![no_main]

use std::path::Path;

use lab_record::Results;
use lab_report::{csv, html, openmetrics, summary};
use lab_search::model::clock::{OneTerm, TwoTerm};
use lab_search::model::fit::Model;
use lab_search::model::latency::LatencyCurve;
use lab_search::model::lookup::LookupShare;
use lab_search::model::workers::Workers;
use lab_search::model::{cache, points};
use lab_traffic::arrivals::Imix;
use lab_traffic::memory::Line;
use lab_traffic::{Rate, file, ports};
use lab_trial::scenario::Scenario;
use lab_trial::yang;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for read in [Scenario::parse, yang::import] {
        match read(text, "fuzz") {
            Ok(scenario) => again(&scenario),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    // Captures are looked for where there are none.
    let made = file::parse(text, "fuzz", Path::new("/proc/self/nowhere"));
    let told = yang::streams(text, "fuzz").map(|ways| ways.into_iter().flatten().collect());
    for stream in [made, told].into_iter().flatten().flatten() {
        stream.check().expect("what was read can be sent");
        assert!(stream.mean_bytes() <= f64::from(stream.largest_bytes()));
    }
    report(&Results::parse(text));
    words(text);
    points(text);
});

/// A scenario says the same as instance data.
fn again(scenario: &Scenario) {
    let Ok(document) = yang::export(scenario) else { return };
    let text = document.to_string();
    let read = yang::import(&text, "written").unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(&read, scenario, "{text}");
}

/// A report of whatever was recorded.
fn report(results: &Results) {
    assert!(csv::render(results).lines().count() > summary::rows(results).len(), "and the header");
    assert!(openmetrics::render(results).ends_with("# EOF\n"));
    assert!(html::render(results).ends_with("</html>\n"));
    let _ = (csv::quantities(results), csv::checks(results), lab_report::yang::results(results));
}

/// Points are numbers, and a model fits them or says why it cannot.
fn points(text: &str) {
    let Ok(points) = points::parse(text, Path::new("fuzz")) else { return };
    assert!(points.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
    let points = &points[..points.len().min(64)];
    let max = 3.2;
    let _ = (OneTerm { max_ghz: max }.fit(points), TwoTerm.fit(points));
    let _ = (Workers { line_rate: max }.fit(points), LookupShare.fit(points));
    let _ = (LatencyCurve.fit(points), cache::knee(points));
}

fn words(text: &str) {
    if let Ok(sizes) = Imix::parse(text, 1_518) {
        let (least, most) = (sizes.sequence().iter().min(), sizes.sequence().iter().max());
        let mean = sizes.mean_bytes();
        assert!(least.is_some_and(|&least| least >= 64 && mean >= f64::from(least)));
        assert!(most.is_some_and(|&most| mean <= f64::from(most)));
    }
    if let Ok(rate) = text.parse::<Rate>() {
        let pps = rate.pps(64.0, 10e9);
        assert!(pps.is_none_or(|pps| pps > 0.0 && pps.is_finite()), "{pps:?}");
        assert_eq!(rate.to_string().parse::<Rate>().expect("a rate that is told"), rate);
    }
    if let Ok(line) = text.parse::<Line>() {
        assert!(line.capacity_pps > 0.0);
    }
    let _ = ports::parse(text);
}
