//! What steps in front of one say of what it sends.

use flow::Step;

/// The number that what the step at a place sends has in a tunnel, if the one before it says that.
pub(super) fn number_before(steps: &[Step], next: usize) -> Option<u32> {
    match steps.get(next.checked_sub(1)?)? {
        Step::Number(number) => Some(*number),
        _ => None,
    }
}

/// The queue of what is sent behind these.
pub(super) fn last_queue(steps: &[Step]) -> Option<u32> {
    let queue = |step: &Step| if let Step::Queue(queue) = step { Some(*queue) } else { None };
    steps.iter().rev().find_map(queue).flatten()
}
