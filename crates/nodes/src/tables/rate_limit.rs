//! A token bucket on the TSC: so many a second, at most a second's worth at once.
//!
//! ```text
//!  credit (cycles)  ◀── + time passed, up to a second ──   each event takes second / rate
//! ```

use graph::tsc_hz;

/// One worker's allowance. Time is the credit: what happens costs its share of a second.
pub struct RateLimit {
    per_second: u32,
    cost_tsc: u64,
    most_tsc: u64,
    credit_tsc: u64,
    last_tsc: u64,
}

impl RateLimit {
    /// Allows `per_second`; none at all if that is 0.
    pub fn new(per_second: u32) -> Self {
        let cost_tsc = tsc_hz().checked_div(u64::from(per_second)).unwrap_or(u64::MAX);
        let most_tsc = if per_second == 0 { 0 } else { cost_tsc * u64::from(per_second) };
        Self { per_second, cost_tsc, most_tsc, credit_tsc: most_tsc, last_tsc: 0 }
    }

    /// Allows `per_second` from now on.
    #[inline]
    pub fn follow(&mut self, per_second: u32) {
        if per_second != self.per_second {
            *self = Self { last_tsc: self.last_tsc, ..Self::new(per_second) };
        }
    }

    /// True if it may happen now, at TSC `now_tsc`; it is paid for then.
    #[inline]
    pub fn take(&mut self, now_tsc: u64) -> bool {
        let elapsed_tsc = now_tsc.saturating_sub(self.last_tsc);
        self.last_tsc = now_tsc;
        self.credit_tsc = self.credit_tsc.saturating_add(elapsed_tsc).min(self.most_tsc);
        let allowed = self.credit_tsc >= self.cost_tsc;
        if allowed {
            self.credit_tsc -= self.cost_tsc;
        }
        allowed
    }
}

/// One worker's allowances, one for each interface (or what else is numbered): a flood on one takes
/// nothing of another's.
pub struct RateLimits(Vec<RateLimit>);

impl RateLimits {
    /// Allows `per_second` to each of `count`.
    pub fn new(count: usize, per_second: u32) -> Self {
        Self((0..count).map(|_| RateLimit::new(per_second)).collect())
    }

    /// True if it may happen now, at TSC `now_tsc`, on this one; it is paid for then.
    #[inline]
    pub fn take(&mut self, number: usize, now_tsc: u64) -> bool {
        let slot = number % self.0.len().max(1);
        self.0.get_mut(slot).is_some_and(|limit| limit.take(now_tsc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(limit: &mut RateLimit, now_tsc: u64) -> usize {
        (0..100).filter(|_| limit.take(now_tsc)).count()
    }

    #[test]
    fn a_second_brings_as_many_as_are_allowed_and_no_more_are_saved() {
        let (mut limit, second) = (RateLimit::new(5), tsc_hz());
        assert_eq!(taken(&mut limit, 7), 5);
        assert_eq!(taken(&mut limit, 7 + second / 5), 1);
        assert_eq!(taken(&mut limit, 7 + second * 9), 5);
    }

    #[test]
    fn a_changed_allowance_counts_at_once() {
        let mut limit = RateLimit::new(0);
        assert_eq!(taken(&mut limit, 9), 0);
        limit.follow(3);
        assert_eq!(taken(&mut limit, 10), 3);
        limit.follow(3);
        assert_eq!(taken(&mut limit, 11), 0);
    }

    #[test]
    fn what_one_takes_is_taken_from_no_other() {
        let mut limits = RateLimits::new(4, 5);
        let taken = |limits: &mut RateLimits, of| (0..9).filter(|_| limits.take(of, 7)).count();
        assert_eq!([1, 2, 1].map(|of| taken(&mut limits, of)), [5, 5, 0]);
    }

    #[test]
    fn none_a_second_is_none_ever() {
        let mut limit = RateLimit::new(0);
        assert_eq!(taken(&mut limit, 0) + taken(&mut limit, u64::MAX), 0);
    }
}
