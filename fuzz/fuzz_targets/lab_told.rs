//! What devices, the kernel and measuring tools say of themselves, on any text: no panic, whatever
//! their version or how much of it arrived.
//!
//! ```text
//! input: text ─▶ counters of each device, Volley's out of three lines of its API
//!             ─▶ perf, callgrind, iperf3, round trips, the kernel's tables
//! ```
#![no_main]

use lab_trial::dut;
use lab_trial::endpoint::{iperf, round_trip};
use lab_trial::watch::{modelled, perf, telemetry};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for (device, mut counters) in dut::told(text) {
        let nothing = counters.since(&counters);
        assert_eq!((nothing.received, nothing.sent), (0, 0), "{device}");
        assert!(nothing.drops.is_empty() && nothing.away.is_empty(), "{device}");
        assert!(nothing.stalls.is_none_or(|it| it.count == 0 && it.total_us == 0), "{device}");
        counters.tell_once([("d0", "d1"), ("g0", "g1")]);
        assert!(counters.drops.values().all(|&count| count > 0), "{device}");
    }
    let _ = perf::parse_stat(text);
    let _ = perf::parse_report(text);
    let _ = modelled::events(text);
    let _ = telemetry::busy_ticks(text, "0-1");
    let _ = round_trip::read(text);
    for both in [false, true] {
        if let Ok(run) = iperf::read(text, both) {
            assert_eq!(run.ways.len(), 1 + usize::from(both));
            assert!(run.ways.iter().all(|way| way.bps >= 0.0 && way.bps.is_finite()));
        }
    }
});
