//! Flows that end by themselves.

use crate::bridge::Bridge;
use crate::flows::gone;
use std::sync::Arc;

const SECOND: u64 = 1_000_000_000;

impl Bridge {
    /// Takes out the flows whose time is over.
    pub fn expire(&mut self, now_ns: u64) {
        if self.timed == 0 {
            return;
        }
        let mut over = Vec::new();
        self.each_flow(|flow| {
            let used = flow.counters.used_ns().max(flow.modified_ns);
            let is_idle = flow.idle != 0 && now_ns >= used + u64::from(flow.idle) * SECOND;
            let is_old =
                flow.hard != 0 && now_ns >= flow.modified_ns + u64::from(flow.hard) * SECOND;
            if is_old || is_idle {
                over.push((Arc::clone(flow), if is_old { gone::HARD } else { gone::IDLE }));
            }
        });
        over.iter().for_each(|(flow, reason)| self.remove(flow, *reason, now_ns));
    }
}
