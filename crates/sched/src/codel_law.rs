//! CoDel's decision (RFC 8289), for one queue: is this packet to be dropped or marked?
//!
//! ```text
//!              sojourn >= target for a whole interval: drop one
//!   ┌─────────┐ ───────────────────────────────────────────────▶ ┌──────────┐ at drop_next: drop one,
//!   │ sending │                                                  │ dropping │ count += 1,
//!   └─────────┘ ◀─────────────────────────────────────────────── └──────────┘ drop_next += interval / sqrt(count)
//!              sojourn < target, or at most one MTU waits
//! ```
//!
//! Times are in Linux's unit of 1024 ns and the inverse square root is its 16-bit fixed point, so
//! that the two agree bit for bit. Time O(1) for a packet that is sent and O(1) for each that is
//! dropped; space 32 bytes a queue.

use crate::packet::DropReason;
use crate::pool::{Context, SlotId};

/// 1024 ns.
pub(crate) type Tick = u64;

pub(crate) fn tick(ns: u64) -> Tick {
    ns >> 10
}

/// The settings, in ticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodelSettings {
    pub(crate) target: Tick,
    pub(crate) interval: Tick,
    /// Mark every ECN-capable packet that waited longer than this.
    pub(crate) ce_threshold: Option<Tick>,
    pub(crate) mtu_bytes: u32,
    pub(crate) ecn: bool,
}

/// What one queue remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodelState {
    /// When the sojourn, above the target ever since, has been so for an interval; 0 while it is
    /// below.
    first_above: Tick,
    drop_next: Tick,
    pub(crate) count: u32,
    last_count: u32,
    /// 1 / sqrt(count) as a fraction of 2^16.
    inverse_sqrt: u16,
    pub(crate) dropping: bool,
}

/// What the law did, for the statistics.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CodelCounters {
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    pub(crate) marked_threshold: u64,
}

/// One step of Newton's method towards 1 / sqrt(count): x' = x * (3 - count * x^2) / 2.
pub(crate) fn newton_step(inverse_sqrt: u16, count: u32) -> u16 {
    let x = u64::from(inverse_sqrt) << 16;
    let x_squared = (x * x) >> 32;
    // Quartered before the last multiplication, which would not fit otherwise.
    let factor = (3u64 << 32).wrapping_sub(u64::from(count).wrapping_mul(x_squared)) >> 2;
    ((factor.wrapping_mul(x) >> 31) >> 16) as u16
}

/// The next drop after one at `at`: interval / sqrt(count) later.
pub(crate) fn control_law(at: Tick, interval: Tick, inverse_sqrt: u16) -> Tick {
    at + ((interval * (u64::from(inverse_sqrt) << 16)) >> 32)
}

impl CodelState {
    pub(crate) const NEW: CodelState = CodelState {
        first_above: 0,
        drop_next: 0,
        count: 0,
        last_count: 0,
        inverse_sqrt: 0,
        dropping: false,
    };

    /// Whether the packet at the head has waited too long for too long.
    fn is_late(&mut self, set: &CodelSettings, now: Tick, head: Head) -> bool {
        let sojourn = now.saturating_sub(tick(head.arrived_ns));
        if sojourn < set.target || head.backlog_bytes <= u64::from(set.mtu_bytes) {
            self.first_above = 0;
            return false;
        }
        if self.first_above == 0 {
            self.first_above = now + set.interval;
            return false;
        }
        now > self.first_above
    }

    fn newton(&mut self) {
        self.inverse_sqrt = newton_step(self.inverse_sqrt, self.count);
    }

    /// The queue turned bad. If it did so a short while ago, the rate of drops that mended it then
    /// is the first guess.
    fn enter_dropping(&mut self, set: &CodelSettings, now: Tick) {
        self.dropping = true;
        let during_last = self.count.wrapping_sub(self.last_count);
        let recently = (now as i64).wrapping_sub(self.drop_next as i64) < 16 * set.interval as i64;
        if during_last > 1 && recently {
            self.count = during_last;
            self.newton();
        } else {
            self.count = 1;
            self.inverse_sqrt = u16::MAX;
        }
        self.last_count = self.count;
        self.drop_next = control_law(now, set.interval, self.inverse_sqrt);
    }

    /// Takes packets from the head until one is to be sent. `pop` gives the head.
    #[inline(always)]
    pub(crate) fn next<T: Copy>(
        &mut self,
        set: &CodelSettings,
        counters: &mut CodelCounters,
        cx: &mut Context<'_, T>,
        mut pop: impl FnMut(&mut Context<'_, T>) -> Option<(SlotId, Head)>,
    ) -> Option<SlotId> {
        let now = tick(cx.now_ns);
        let id = match self.take(set, cx, now, &mut pop) {
            // What nearly every packet is goes in line, what follows on a late one does not: moved
            // there, `pop` need not be written down for the others.
            Some((id, true)) => {
                let mut pop = pop;
                self.after_late(set, counters, cx, id, &mut pop)?
            }
            Some((id, false)) => {
                self.dropping = false;
                id
            }
            None => {
                self.dropping = false;
                return None;
            }
        };
        mark_above_threshold(set, counters, cx, id, now);
        Some(id)
    }

    /// One packet and whether it is late; none is like one in time.
    #[inline(always)]
    fn take<T: Copy>(
        &mut self,
        set: &CodelSettings,
        cx: &mut Context<'_, T>,
        now: Tick,
        pop: &mut impl FnMut(&mut Context<'_, T>) -> Option<(SlotId, Head)>,
    ) -> Option<(SlotId, bool)> {
        let Some((id, head)) = pop(cx) else {
            self.first_above = 0;
            return None;
        };
        Some((id, self.is_late(set, now, head)))
    }

    /// Signals a late packet, and others behind it, when it is time to; tells which one is to be
    /// sent.
    #[inline(never)]
    fn after_late<T: Copy>(
        &mut self,
        set: &CodelSettings,
        counters: &mut CodelCounters,
        cx: &mut Context<'_, T>,
        first: SlotId,
        pop: &mut impl FnMut(&mut Context<'_, T>) -> Option<(SlotId, Head)>,
    ) -> Option<SlotId> {
        let now = tick(cx.now_ns);
        if !self.dropping {
            let mut next = Some(first);
            if signal(set, counters, cx, first) == Signal::Drop {
                next = self.take(set, cx, now, pop).map(|(id, _)| id);
            }
            self.enter_dropping(set, now);
            return next;
        }
        let mut id = first;
        while self.dropping && now >= self.drop_next {
            self.count = self.count.wrapping_add(1);
            self.newton();
            if signal(set, counters, cx, id) == Signal::Mark {
                self.drop_next = control_law(self.drop_next, set.interval, self.inverse_sqrt);
                break;
            }
            let after = self.take(set, cx, now, pop);
            if after.is_some_and(|(_, late)| late) {
                self.drop_next = control_law(self.drop_next, set.interval, self.inverse_sqrt);
            } else {
                self.dropping = false;
            }
            id = after?.0;
        }
        Some(id)
    }
}

/// The packet at the head of a queue.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) arrived_ns: u64,
    /// What waits behind it.
    pub(crate) backlog_bytes: u64,
}

#[derive(PartialEq, Eq)]
enum Signal {
    Mark,
    Drop,
}

/// Tells the sender of congestion: by a mark where it understands marks, else by the loss of this
/// packet.
fn signal<T: Copy>(
    set: &CodelSettings,
    counters: &mut CodelCounters,
    cx: &mut Context<'_, T>,
    id: SlotId,
) -> Signal {
    let slot = cx.pool.get_mut(id);
    if set.ecn && slot.ecn_capable {
        slot.mark = true;
        counters.marked += 1;
        return Signal::Mark;
    }
    counters.dropped += 1;
    cx.drop_packet(id, DropReason::Delay);
    Signal::Drop
}

fn mark_above_threshold<T: Copy>(
    set: &CodelSettings,
    counters: &mut CodelCounters,
    cx: &mut Context<'_, T>,
    id: SlotId,
    now: Tick,
) {
    let Some(threshold) = set.ce_threshold else { return };
    let slot = cx.pool.get_mut(id);
    if slot.ecn_capable && !slot.mark && now.saturating_sub(tick(slot.note)) > threshold {
        slot.mark = true;
        counters.marked_threshold += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formulas as the Linux header states them, in its own widths.
    fn linux_newton(rec_inv_sqrt: u16, count: u32) -> u16 {
        let invsqrt = u32::from(rec_inv_sqrt) << 16;
        let invsqrt2 = ((u64::from(invsqrt) * u64::from(invsqrt)) >> 32) as u32;
        let mut val = (3u64 << 32).wrapping_sub(u64::from(count).wrapping_mul(u64::from(invsqrt2)));
        val >>= 2;
        val = val.wrapping_mul(u64::from(invsqrt)) >> (32 - 2 + 1);
        (val >> 16) as u16
    }

    #[test]
    fn the_newton_step_is_linuxs_bit_for_bit() {
        let mut estimate = u16::MAX;
        for count in 1..100_000 {
            assert_eq!(newton_step(estimate, count), linux_newton(estimate, count));
            estimate = newton_step(estimate, count);
        }
        assert_eq!(newton_step(65535, 2), linux_newton(65535, 2));
    }

    #[test]
    fn the_estimate_follows_the_square_root_as_the_count_grows() {
        let mut estimate = u16::MAX;
        for count in 2..2000u32 {
            estimate = newton_step(estimate, count);
            let exact = 65536.0 / f64::from(count).sqrt();
            if count > 8 {
                assert!((f64::from(estimate) - exact).abs() < 0.03 * exact + 2.0, "{count}");
            }
        }
    }

    #[test]
    fn the_control_law_adds_interval_over_the_root() {
        // reciprocal_scale(interval, rec_inv_sqrt << 16), as Linux has it, in 32-bit operands.
        for (count, inverse) in [(1u32, 65535u16), (4, 32768), (100, 6553)] {
            let interval = tick(100_000_000);
            let linux = ((u64::from(interval as u32) * (u64::from(inverse) << 16)) >> 32) as u32;
            assert_eq!(control_law(5, interval, inverse), 5 + u64::from(linux));
            let exact = interval as f64 / f64::from(count).sqrt();
            assert!((f64::from(linux) - exact).abs() < 0.001 * exact + 1.0);
        }
    }

    #[test]
    fn the_state_of_a_queue_is_half_a_cache_line() {
        assert_eq!(size_of::<CodelState>(), 32);
    }
}
