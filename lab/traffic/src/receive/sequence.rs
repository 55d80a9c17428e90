//! Loss, duplicates and reordering told apart exactly, in bounded memory.
//!
//! ```text
//!            base                              next
//!   ─ lost / seen for good ─┤ 1 1 0 1 1 1 0 1 1 ├─ not expected yet ─
//!                           └──── window ───────┘   a bit a number; arrivals of in-order ones
//! ```
//! A number leaves the window when `next` runs ahead of it; if its bit is still 0 then, it is lost.
//! RFC 4737 section 3: a packet is reordered if its number is below `next` when it arrives (and it
//! is no duplicate); section 4.2: its extent is the number of packets since the first that overtook
//! it. A number older than the window cannot be told from a duplicate: it is counted apart as
//! `beyond_window`, and a tracker where that is not 0 says itself that it is not exact.

use lab_record::SequenceCounts;

/// What a packet is to its stream when it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Newer than all before it.
    InOrder,
    /// Overtaken by a newer one.
    Reordered,
    /// Its number came before.
    Duplicate,
    /// Too old to judge.
    BeyondWindow,
}

/// Tracks the numbers of one stream, which start at 0.
#[derive(Debug, Clone)]
pub struct SequenceTracker {
    seen: Vec<u64>,
    /// Arrival of each number in the window that came in order; 0 for the others.
    in_order_arrivals: Vec<u64>,
    mask: u64,
    base: u64,
    next: u64,
    run: u64,
    counts: SequenceCounts,
}

impl SequenceTracker {
    /// A tracker with a window of at least `window` numbers (a power of two, 64 or more): 8.1
    /// octets each.
    pub fn new(window: usize) -> Self {
        let size = window.next_power_of_two().max(64);
        Self {
            seen: vec![0; size / 64],
            in_order_arrivals: vec![0; size],
            mask: size as u64 - 1,
            base: 0,
            next: 0,
            run: 0,
            counts: SequenceCounts::default(),
        }
    }

    /// Different numbers so far.
    #[inline]
    pub fn unique(&self) -> u64 {
        self.counts.unique
    }

    /// Takes note of a packet's number.
    #[inline]
    pub fn observe(&mut self, number: u64) -> Arrival {
        self.counts.received += 1;
        if number >= self.next {
            self.advance_base((number + 1).saturating_sub(self.mask + 1));
            self.clear(self.next.max(self.base), number);
            self.set(number);
            self.in_order_arrivals[(number & self.mask) as usize] = self.counts.received;
            self.counts.unique += 1;
            self.next = number + 1;
            Arrival::InOrder
        } else if number < self.base {
            self.counts.beyond_window += 1;
            Arrival::BeyondWindow
        } else if self.is_set(number) {
            self.counts.duplicates += 1;
            Arrival::Duplicate
        } else {
            self.set(number);
            self.counts.unique += 1;
            self.counts.reordered += 1;
            let extent = self.counts.received - self.first_overtaker(number);
            self.counts.largest_extent = self.counts.largest_extent.max(extent);
            Arrival::Reordered
        }
    }

    /// Counts what is missing of `sent` numbers, and gives the whole account.
    pub fn finish(mut self, sent: u64) -> SequenceCounts {
        let beyond = self.next.saturating_sub(sent);
        if beyond > 0 {
            let from = sent.max(self.base);
            let wrong = (from..self.next).filter(|&number| self.is_set(number)).count() as u64;
            self.counts.never_sent = wrong;
            self.counts.unique -= wrong;
        }
        let seen_up_to = self.next.min(sent);
        self.advance_base(seen_up_to);
        // What was sent after the last number received was lost, in one run with what came before.
        let tail = sent.saturating_sub(self.next);
        self.counts.lost += tail;
        self.run += tail;
        if tail > 0 {
            self.counts.last_lost = Some(sent - 1);
        }
        self.end_run();
        self.counts
    }

    /// When the first packet with a larger number came: the smallest in-order number above it.
    fn first_overtaker(&self, number: u64) -> u64 {
        let above = number + 1..self.next;
        let arrivals = above.map(|later| self.in_order_arrivals[(later & self.mask) as usize]);
        arrivals.into_iter().find(|&arrival| arrival > 0).unwrap_or(self.counts.received)
    }

    /// Lets numbers below `base` go, counting the lost among them.
    fn advance_base(&mut self, base: u64) {
        while self.base < base {
            if self.base >= self.next {
                // A jump over the whole window: numbers never stored, all lost.
                let gap = base - self.base;
                self.counts.lost += gap;
                self.run += gap;
                self.counts.last_lost = Some(base - 1);
                self.base = base;
                return;
            }
            let whole_word = self.base.is_multiple_of(64) && base.min(self.next) - self.base >= 64;
            if whole_word && self.run == 0 && self.word(self.base) == u64::MAX {
                self.base += 64;
                continue;
            }
            if self.is_set(self.base) {
                self.end_run();
            } else {
                self.counts.lost += 1;
                self.counts.last_lost = Some(self.base);
                self.run += 1;
            }
            self.base += 1;
        }
    }

    fn end_run(&mut self) {
        if self.run == 0 {
            return;
        }
        let bucket = (u64::BITS - (self.run - 1).leading_zeros()) as usize;
        if self.counts.loss_runs.len() <= bucket {
            self.counts.loss_runs.resize(bucket + 1, 0);
        }
        self.counts.loss_runs[bucket] += 1;
        self.counts.longest_loss_run = self.counts.longest_loss_run.max(self.run);
        self.run = 0;
    }

    fn word(&self, number: u64) -> u64 {
        self.seen[((number & self.mask) / 64) as usize]
    }

    fn is_set(&self, number: u64) -> bool {
        self.word(number) >> (number % 64) & 1 == 1
    }

    fn set(&mut self, number: u64) {
        self.seen[((number & self.mask) / 64) as usize] |= 1 << (number % 64);
    }

    /// Forgets what the slots of `from..=to` held a window ago.
    fn clear(&mut self, from: u64, to: u64) {
        for number in from..=to {
            self.seen[((number & self.mask) / 64) as usize] &= !(1 << (number % 64));
            self.in_order_arrivals[(number & self.mask) as usize] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_search::random::Random;
    use proptest::prelude::*;

    fn track(window: usize, numbers: &[u64], sent: u64) -> SequenceCounts {
        let mut tracker = SequenceTracker::new(window);
        numbers.iter().for_each(|&number| {
            tracker.observe(number);
        });
        tracker.finish(sent)
    }

    /// The same account by remembering everything.
    fn naive(numbers: &[u64], sent: u64) -> SequenceCounts {
        let mut counts = SequenceCounts::default();
        for (index, &number) in numbers.iter().enumerate() {
            let before = &numbers[..index];
            counts.received += 1;
            if before.contains(&number) {
                counts.duplicates += 1;
                continue;
            }
            counts.unique += 1;
            if let Some(first) = before.iter().position(|&earlier| earlier > number) {
                counts.reordered += 1;
                counts.largest_extent = counts.largest_extent.max((index - first) as u64);
            }
        }
        let mut run = 0u64;
        for number in 0..=sent {
            if number < sent && !numbers.contains(&number) {
                counts.lost += 1;
                counts.last_lost = Some(number);
                run += 1;
            } else if run > 0 {
                let bucket = run.next_power_of_two().ilog2() as usize;
                counts.loss_runs.resize(counts.loss_runs.len().max(bucket + 1), 0);
                counts.loss_runs[bucket] += 1;
                counts.longest_loss_run = counts.longest_loss_run.max(run);
                run = 0;
            }
        }
        counts
    }

    #[test]
    fn an_extent_counts_the_packets_since_the_first_that_overtook() {
        // 6 is the fifth to arrive and overtakes 4 (the eighth) and 5 (the ninth).
        let counts = track(64, &[0, 1, 2, 3, 6, 7, 8, 4, 5, 9, 10], 11);
        assert_eq!((counts.reordered, counts.largest_extent, counts.lost), (2, 4, 0));
    }

    #[test]
    fn injected_loss_duplicates_and_reordering_are_counted_exactly() {
        let sent = 1_000_000u64;
        let mut random = Random::new(1);
        let (mut lost, mut duplicated, mut swapped) = (0, 0, 0);
        let mut numbers = Vec::with_capacity(sent as usize);
        let mut late: Option<(u64, u64)> = None;
        for number in 0..sent {
            if number % 10_000 == 5_000 {
                lost += 1;
            } else if number % 7_001 == 0 && late.is_none() && number + 50 < sent {
                late = Some((number, number + 1 + random.below(40)));
                swapped += 1;
            } else {
                numbers.push(number);
                if number % 3_333 == 7 {
                    numbers.push(number);
                    duplicated += 1;
                }
            }
            if let Some((held, _)) = late.filter(|&(_, until)| until == number) {
                numbers.push(held);
                late = None;
            }
        }
        let counts = track(4_096, &numbers, sent);
        assert_eq!((counts.lost, lost), (100, 100), "0.01 %");
        assert_eq!((counts.duplicates, counts.reordered), (duplicated, swapped));
        assert_eq!(counts.loss_runs, [100]);
        assert!(counts.is_exact() && duplicated > 200 && swapped > 100);
    }

    #[test]
    fn what_never_came_at_the_end_is_one_run_with_what_was_missing_before() {
        let counts = track(64, &[0, 1, 2, 5], 10);
        assert_eq!((counts.lost, counts.longest_loss_run), (6, 4));
        assert_eq!(counts.loss_runs, [0, 1, 1]);
        assert_eq!(track(64, &[], 5).longest_loss_run, 5);
    }

    #[test]
    fn a_jump_over_the_whole_window_loses_all_that_it_skips() {
        let counts = track(64, &[0, 1_000, 1_001], 1_002);
        assert_eq!((counts.lost, counts.longest_loss_run, counts.unique), (999, 999, 3));
    }

    #[test]
    fn a_packet_older_than_the_window_makes_the_account_inexact() {
        let counts = track(64, &[1, 100, 0], 101);
        assert_eq!((counts.beyond_window, counts.is_exact()), (1, false));
    }

    #[test]
    fn numbers_that_were_never_sent_are_told_apart() {
        let counts = track(64, &[0, 1, 7], 3);
        assert_eq!((counts.never_sent, counts.unique, counts.lost), (1, 2, 1));
    }

    proptest! {
        #[test]
        fn the_tracker_agrees_with_a_naive_account(
            steps in prop::collection::vec((0u64..60, prop::bool::weighted(0.3)), 1..150),
        ) {
            // Numbers wander forward, at most 60 behind the newest: within a window of 256.
            let mut newest = 0;
            let numbers: Vec<u64> = steps.into_iter().map(|(distance, back)| {
                let number = if back { u64::saturating_sub(newest, distance) } else { newest + distance % 4 };
                newest = newest.max(number);
                number
            }).collect();
            prop_assert_eq!(track(256, &numbers, newest + 5), naive(&numbers, newest + 5));
        }
    }
}
