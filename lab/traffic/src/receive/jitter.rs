//! Interarrival jitter as RTP has it (RFC 3550 section 6.4.1): one running figure for a stream.
//!
//! ```text
//! D(i) = transit(i) - transit(i-1)        J += (|D| - J) / 16
//! ```

/// The running jitter of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Jitter {
    last_transit_ns: Option<i64>,
    jitter_ns: f64,
    largest_ns: f64,
}

impl Jitter {
    /// Takes note of a packet's one-way transit time; an offset between clocks cancels.
    #[inline]
    pub fn observe(&mut self, transit_ns: i64) {
        if let Some(last_ns) = self.last_transit_ns {
            let distance = transit_ns.abs_diff(last_ns) as f64;
            self.jitter_ns += (distance - self.jitter_ns) / 16.0;
            self.largest_ns = self.largest_ns.max(self.jitter_ns);
        }
        self.last_transit_ns = Some(transit_ns);
    }

    /// The jitter now.
    pub fn ns(&self) -> f64 {
        self.jitter_ns
    }

    /// The largest that it was.
    pub fn largest_ns(&self) -> f64 {
        self.largest_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_delay_has_no_jitter_whatever_the_clocks_say() {
        let mut jitter = Jitter::default();
        (0..100).for_each(|_| jitter.observe(-5_000));
        assert_eq!(jitter.ns(), 0.0);
    }

    #[test]
    fn a_known_pattern_converges_to_its_mean_difference() {
        let mut jitter = Jitter::default();
        (0..1_000).for_each(|packet| jitter.observe(if packet % 2 == 0 { 1_000 } else { 1_400 }));
        assert!((jitter.ns() - 400.0).abs() < 1e-6 && jitter.largest_ns() <= 400.0);
    }

    #[test]
    fn one_step_moves_the_figure_by_a_sixteenth() {
        let mut jitter = Jitter::default();
        jitter.observe(0);
        jitter.observe(160);
        assert_eq!(jitter.ns(), 10.0);
    }
}
