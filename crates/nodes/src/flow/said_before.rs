//! What steps in front of one say of what it sends.

use flow::{InTunnel, Step};

/// What is said of what the step at a place sends in a tunnel, if the one before it says that.
pub(super) fn own_before(steps: &[Step], next: usize) -> Option<InTunnel> {
    match steps.get(next.checked_sub(1)?)? {
        Step::Tunnel(own) => Some(*own),
        _ => None,
    }
}

/// The queue of what is sent behind these.
pub(super) fn last_queue(steps: &[Step]) -> Option<u32> {
    let queue = |step: &Step| if let Step::Queue(queue) = step { Some(*queue) } else { None };
    steps.iter().rev().find_map(queue).flatten()
}
