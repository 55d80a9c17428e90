//! What came of it, in words.

use std::io::{IsTerminal, Write};

use lab_record::Histogram;
use lab_traffic::memory::Done;
use lab_traffic::port_times::{LatencyClock, PortTimes};
use lab_traffic::result::{StreamResult, TrafficResult};

use crate::say::say;

/// A line that says how far it is, on a terminal alone.
pub(super) struct Progress {
    duration_s: f64,
    shown: u64,
    wanted: bool,
}

impl Progress {
    pub(super) fn new(duration_ns: u64) -> Self {
        let wanted = std::io::stderr().is_terminal();
        Self { duration_s: duration_ns as f64 / 1e9, shown: u64::MAX, wanted }
    }

    pub(super) fn tell(&mut self, elapsed_ns: u64) {
        let second = elapsed_ns / 1_000_000_000;
        if self.wanted && second != self.shown {
            self.shown = second;
            eprint!("\r{second} of {:.0} s ", self.duration_s);
            let _ = std::io::stderr().flush();
        }
    }

    pub(super) fn finish(&self) {
        if self.wanted {
            eprint!("\r\x1b[K");
        }
    }
}

/// Prints a result.
pub(super) fn tell(result: &TrafficResult) {
    let seconds = result.duration_ns as f64 / 1e9;
    for stream in &result.streams {
        tell_stream(stream, seconds);
    }
    say!(
        "packets came by the clock of {}",
        match result.latency_clock {
            LatencyClock::Processor => "the processor",
            LatencyClock::Port => "the ports",
        }
    );
    for end in &result.ends {
        say!("{}", end.name);
        if end.gaps.count() > 0 {
            say!("  gaps sent    {}", distribution(&end.gaps));
            say!("  sent late by {}", distribution(&end.lateness));
        }
        let others = [
            ("foreign", end.foreign),
            ("stale", end.stale),
            ("misdirected", end.misdirected),
            ("missed", end.missed),
            ("starved", end.starved),
        ];
        let others = others.iter().filter(|&&(_, count)| count > 0);
        let others: Vec<String> = others.map(|(name, count)| format!("{name} {count}")).collect();
        if !others.is_empty() {
            say!("  also         {}", others.join(", "));
        }
        if let Some(times) = &end.port_times {
            tell_port_times(times);
        }
        for scale in &end.rates {
            say!(
                "  each {:>4} ms {:.0} to {:.0} pps, {} of {} windows empty",
                scale.window_ms,
                scale.min_pps,
                scale.max_pps,
                scale.empty,
                scale.windows
            );
        }
    }
    let away = &result.away;
    say!(
        "the generator was away {} times, {:.3} ms in all, {:.3} ms at most",
        away.count,
        away.total_ns as f64 / 1e6,
        away.longest_ns() as f64 / 1e6
    );
    if result.stopped {
        say!("stopped early");
    }
}

/// By which clock the port told the time, how far it can be believed, and what the receiver's own
/// says.
fn tell_port_times(times: &PortTimes) {
    let fit = &times.fit;
    say!(
        "  port's clock {}, within {:.3} us: {:.3} ticks a microsecond, set {} times, read {} times",
        times.clock,
        fit.uncertainty_ns / 1e3,
        fit.ticks_per_s / 1e6,
        fit.steps,
        fit.readings
    );
    say!("  at hand by   {}", distribution(&times.software_latency));
    let odd = [
        ("without a time", times.unstamped, 0),
        ("before they left", times.before_sent, times.before_sent_ns),
        ("after they were at hand", times.after_seen, times.after_seen_ns),
    ];
    for (what, packets, most_ns) in odd.into_iter().filter(|&(_, packets, _)| packets > 0) {
        say!("  {packets} packets {what}, by up to {:.3} us", most_ns as f64 / 1e3);
    }
}

/// Share of the packets asked for that must be sent for a rate to count as reached.
const REACHED: f64 = 0.99;

fn tell_stream(stream: &StreamResult, seconds: f64) {
    let counts = &stream.sequence;
    say!("{}: {} to {}", stream.name, stream.from, stream.to);
    say!(
        "  intended {}, sent {} ({:.4} Mpps, {:.4} Gbit/s), received {} ({:.4} Mpps)",
        stream.intended,
        stream.offered,
        stream.offered as f64 / seconds / 1e6,
        stream.octets as f64 * 8.0 / seconds / 1e9,
        counts.unique,
        counts.unique as f64 / seconds / 1e6
    );
    let sent_share = stream.offered as f64 / stream.intended.max(1) as f64;
    if sent_share < REACHED {
        say!("  NOT REACHED: {:.2} % of what was asked could be sent", 100.0 * sent_share);
    }
    say!(
        "  lost {} ({:.6} %), longest run {}, duplicates {}, reordered {} (extent {})",
        counts.lost,
        100.0 * counts.lost as f64 / stream.offered.max(1) as f64,
        counts.longest_loss_run,
        counts.duplicates,
        counts.reordered,
        counts.largest_extent
    );
    if !counts.is_exact() {
        say!("  {} packets came too late to be judged", counts.beyond_window);
    }
    say!("  latency      {}", distribution(&stream.latency));
    say!(
        "  jitter {:.3} us, delay variation p99.9 {:.3} us",
        stream.jitter_ns / 1e3,
        stream.variation.pdv_p999_ns as f64 / 1e3
    );
}

fn distribution(times: &Histogram) -> String {
    let us = |percent: f64| times.percentile_ns(percent) as f64 / 1e3;
    format!(
        "min {:.3} p50 {:.3} p99 {:.3} p99.9 {:.3} max {:.3} us",
        times.min_ns() as f64 / 1e3,
        us(50.0),
        us(99.0),
        us(99.9),
        times.max_ns() as f64 / 1e3
    )
}

/// What a line in memory did on purpose: the truth to hold the rest against.
pub(super) fn tell_line(done: &Done) {
    say!(
        "the line lost {} on purpose, {} for want of room, sent {} twice, held {} back",
        done.lost,
        done.overflowed,
        done.duplicated,
        done.held
    );
}
