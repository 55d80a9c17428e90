//! HTB's wait queue: for each class the time at which its mode changes, and at the top the soonest of all.
//!
//! ```text
//!                  [1: soonest of all]            a change replays the matches on the way up and stops where the
//!            [2]                 [3]              winner stays the same; a class that does not wait is at NEVER
//!         [4]   [5]           [6]   [7]
//!          c0    c1            c2    c3
//! ```
//!
//! Time O(log classes), a cache line for two levels; space 32 bytes a class (rounded up to a power of two).

const NEVER: u64 = u64::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
struct Alarm {
    at_ns: u64,
    class: u32,
}

pub(super) struct Alarms {
    /// Heap order from 1; classes stand at `classes..2 * classes`.
    nodes: Vec<Alarm>,
    classes: usize,
}

impl Alarms {
    pub(super) fn new(classes: usize) -> Self {
        let classes = classes.max(1).next_power_of_two();
        let mut alarms =
            Self { nodes: vec![Alarm { at_ns: NEVER, class: 0 }; 2 * classes], classes };
        for class in 0..classes {
            alarms.nodes[classes + class].class = class as u32;
        }
        alarms
    }

    /// Sets the time of a class.
    #[inline]
    pub(super) fn set(&mut self, class: u32, at_ns: u64) {
        let mut at = self.classes + class as usize;
        let mut winner = Alarm { at_ns, class };
        self.nodes[at].at_ns = at_ns;
        while at > 1 {
            let brother = self.nodes[at ^ 1];
            if brother.at_ns < winner.at_ns {
                winner = brother;
            }
            at /= 2;
            if self.nodes[at] == winner {
                return;
            }
            self.nodes[at] = winner;
        }
    }

    /// The class does not wait.
    #[inline]
    pub(super) fn clear(&mut self, class: u32) {
        self.set(class, NEVER);
    }

    /// The class whose time comes soonest, and that time.
    #[inline]
    pub(super) fn soonest(&self) -> Option<(u32, u64)> {
        let Alarm { at_ns, class } = self.nodes[1];
        (at_ns != NEVER).then_some((class, at_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_soonest_is_what_a_search_from_end_to_end_finds(
            classes in 1usize..40,
            moves in prop::collection::vec((0usize..40, prop::option::of(0u64..50)), 1..200),
        ) {
            let mut alarms = Alarms::new(classes);
            let mut times = vec![NEVER; classes];
            for (class, at_ns) in moves {
                let class = class % classes;
                times[class] = at_ns.unwrap_or(NEVER);
                match at_ns {
                    Some(at_ns) => alarms.set(class as u32, at_ns),
                    None => alarms.clear(class as u32),
                }
                let soonest = alarms.soonest();
                let least = times.iter().copied().min().filter(|&time| time != NEVER);
                prop_assert_eq!(soonest.map(|(_, at_ns)| at_ns), least);
                if let Some((class, at_ns)) = soonest {
                    prop_assert_eq!(times[class as usize], at_ns);
                }
            }
        }
    }
}
