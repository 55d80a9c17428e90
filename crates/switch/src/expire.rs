//! Flows that end by themselves.

use crate::bridge::Bridge;
use crate::flows::gone;
use flow::Flow;
use std::sync::Arc;

const SECOND: u64 = 1_000_000_000;

/// When a flow ends for want of packets, and when whatever comes; the end of time: never.
fn ends_ns(flow: &Flow) -> (u64, u64) {
    let used = flow.counters.used_ns().max(flow.modified_ns);
    let after = |then: u64, seconds: u16| match seconds {
        0 => u64::MAX,
        seconds => then.saturating_add(u64::from(seconds) * SECOND),
    };
    (after(used, flow.idle), after(flow.modified_ns, flow.hard))
}

/// When a flow ends if no packets come; none, if it never does.
pub(crate) fn end_ns(flow: &Flow) -> Option<u64> {
    let (idle, hard) = ends_ns(flow);
    (flow.idle != 0 || flow.hard != 0).then_some(idle.min(hard))
}

impl Bridge {
    /// Takes out the flows whose time is over.
    pub fn expire(&mut self, now_ns: u64) {
        if self.timed == 0 {
            return;
        }
        let mut over = Vec::new();
        self.each_flow(|flow| {
            let (idle, hard) = ends_ns(flow);
            let (is_idle, is_old) = (now_ns >= idle, now_ns >= hard);
            if is_old || is_idle {
                over.push((Arc::clone(flow), if is_old { gone::HARD } else { gone::IDLE }));
            }
        });
        over.iter().for_each(|(flow, reason)| self.remove(flow, *reason, now_ns));
    }
}
