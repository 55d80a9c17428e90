//! A token bucket over the caller's clock: at most so many a second, so many at once.

/// Tokens are counted in nanoseconds of the rate, so that nothing is lost to rounding.
#[derive(Debug)]
pub(super) struct Rate {
    each_ns: u64,
    full_ns: u64,
    have_ns: u64,
    at_ns: u64,
}

impl Rate {
    /// A full bucket; a rate of 0 is taken as 1.
    pub(super) fn new(per_s: u32, burst: u32) -> Rate {
        let each_ns = 1_000_000_000 / u64::from(per_s.max(1));
        let full_ns = each_ns * u64::from(burst.max(1));
        Rate { each_ns, full_ns, have_ns: full_ns, at_ns: 0 }
    }

    /// Takes a token, or says when there will be one.
    pub(super) fn take(&mut self, now_ns: u64) -> Result<(), u64> {
        let passed_ns = now_ns.saturating_sub(self.at_ns);
        self.at_ns = self.at_ns.max(now_ns);
        self.have_ns = self.have_ns.saturating_add(passed_ns).min(self.full_ns);
        if self.have_ns < self.each_ns {
            return Err(now_ns + self.each_ns - self.have_ns);
        }
        self.have_ns -= self.each_ns;
        Ok(())
    }

    /// When there will be a token.
    pub(super) fn next_ns(&self) -> u64 {
        self.at_ns + self.each_ns.saturating_sub(self.have_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let mut rate = Rate::new(10, 2);
        assert!(rate.take(0).is_ok() && rate.take(0).is_ok());
        assert_eq!(rate.take(0), Err(100_000_000));
        assert!(rate.take(100_000_000).is_ok());
        assert_eq!(rate.take(150_000_000), Err(200_000_000));
    }
}
