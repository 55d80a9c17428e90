//! Calls that the kernel refused: told, each the first time in a while.

use crate::core::Core;
use crate::part::Part;
use rights::filter;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Between two looks.
const PERIOD: Duration = Duration::from_millis(500);

/// See the module.
#[derive(Default)]
pub(crate) struct RefusedCalls {
    told: HashMap<i64, u64>,
    next: Option<Instant>,
}

impl Part for RefusedCalls {
    fn turn(&mut self, _: &mut Core, now: Instant) -> bool {
        if self.next.is_some_and(|next| now < next) {
            return false;
        }
        self.next = Some(now + PERIOD);
        for (number, times) in filter::refused() {
            if self.told.insert(number, times) != Some(times) {
                let call = filter::name_of(number);
                tracing::error!(
                    fault = "call-refused",
                    call,
                    times,
                    "the kernel refused a call that no router makes: if it was ours, `[process] \
                     filter` can be false; else somebody is inside"
                );
            }
        }
        false
    }
}
