//! Packet delay variation (RFC 5481): against the fastest packet, and from packet to packet.
//!
//! ```text
//! PDV(i)  = delay(i) - least delay      one-sided: what a receiver must buffer
//! IPDV(i) = delay(i) - delay(i-1)       two-sided: what changes between neighbours
//! ```
//! PDV needs the least delay of the whole stream, known only at its end; it is read off the latency
//! histogram then, since the two differ by a constant.

use lab_record::{DelayVariation, Histogram};

/// Collects the differences between neighbours.
#[derive(Debug, Clone, Default)]
pub struct DelayVariationTracker {
    last_ns: Option<u64>,
    ipdv: Histogram,
}

impl DelayVariationTracker {
    /// Takes note of the delay of the next packet in order of sequence.
    #[inline]
    pub fn observe(&mut self, delay_ns: u64) {
        if let Some(last_ns) = self.last_ns {
            self.ipdv.record(delay_ns.abs_diff(last_ns));
        }
        self.last_ns = Some(delay_ns);
    }

    /// The account, with the delays of all packets.
    pub fn finish(&self, delays: &Histogram) -> DelayVariation {
        let pdv = |percent: f64| delays.percentile_ns(percent).saturating_sub(delays.min_ns());
        DelayVariation {
            pdv_p50_ns: pdv(50.0),
            pdv_p99_ns: pdv(99.0),
            pdv_p999_ns: pdv(99.9),
            pdv_max_ns: delays.max_ns() - delays.min_ns(),
            ipdv_mean_ns: self.ipdv.mean_ns(),
            ipdv_p50_ns: self.ipdv.percentile_ns(50.0),
            ipdv_p99_ns: self.ipdv.percentile_ns(99.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_pattern_has_its_known_variations() {
        let (mut tracker, mut delays) = (DelayVariationTracker::default(), Histogram::default());
        for packet in 0..1_000u64 {
            let delay_ns = if packet % 100 == 99 { 5_000 } else { 100 };
            tracker.observe(delay_ns);
            delays.record(delay_ns);
        }
        let variation = tracker.finish(&delays);
        assert_eq!((variation.pdv_p50_ns, variation.pdv_max_ns), (0, 4_900));
        assert!(variation.pdv_p999_ns.abs_diff(4_900) <= 50);
        assert_eq!(variation.ipdv_p50_ns, 0);
        assert!((variation.ipdv_mean_ns - 4_900.0 * 19.0 / 999.0).abs() < 1e-9);
    }

    #[test]
    fn a_single_packet_varies_from_nothing() {
        let (mut tracker, mut delays) = (DelayVariationTracker::default(), Histogram::default());
        tracker.observe(70);
        delays.record(70);
        let variation = tracker.finish(&delays);
        assert_eq!((variation.pdv_max_ns, variation.ipdv_mean_ns), (0, 0.0));
    }
}
