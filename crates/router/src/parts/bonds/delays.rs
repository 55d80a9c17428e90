//! Links of members as they count: what changes is so once it has stayed for a while, as Linux's
//! `updelay` and `downdelay` have it.
//!
//! ```text
//!  link   ──┐ ┌┐ ┌──────────────
//!           └─┘└─┘
//!  counts ──┐          ┌────────      down after the one delay, up after the other
//!           └──────────┘
//! ```
//! Where none counts as up, the first that comes up does at once: a bond that could carry is not
//! kept waiting.

use std::collections::BTreeMap;

/// Nanoseconds for which a link is to stay as it is before it counts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Delays {
    pub(crate) up_ns: u64,
    pub(crate) down_ns: u64,
}

/// What is known of the links of a bond's members, by their interfaces.
#[derive(Default, Debug)]
pub(crate) struct Delayed(BTreeMap<u16, Link>);

#[derive(Clone, Copy, Debug)]
struct Link {
    counts_as_up: bool,
    /// Since when it is otherwise than it counts.
    differs_since: Option<u64>,
}

impl Delayed {
    /// Says of each link whether it counts as up, now that it is what is told of it. One that was
    /// not there before counts as what it is.
    pub(crate) fn look(&mut self, now: u64, links: &BTreeMap<u16, bool>, delays: Delays) {
        self.0.retain(|id, _| links.contains_key(id));
        for (&id, &up) in links {
            let new = Link { counts_as_up: up, differs_since: None };
            let link = self.0.entry(id).or_insert(new);
            if link.counts_as_up == up {
                link.differs_since = None;
                continue;
            }
            let since = *link.differs_since.get_or_insert(now);
            let delay = if up { delays.up_ns } else { delays.down_ns };
            if now - since >= delay {
                *link = new;
            }
        }
        if !self.0.values().any(|link| link.counts_as_up)
            && let Some(first) = self.first_up(links)
        {
            self.0.insert(first, Link { counts_as_up: true, differs_since: None });
        }
    }

    /// The link that is up for longest and does not count yet.
    fn first_up(&self, links: &BTreeMap<u16, bool>) -> Option<u16> {
        let waiting = self.0.iter().filter(|(id, _)| links.get(id) == Some(&true));
        waiting.min_by_key(|(_, link)| link.differs_since).map(|(id, _)| *id)
    }

    /// Whether a link counts as up.
    pub(crate) fn is_up(&self, id: u16) -> bool {
        self.0.get(&id).is_some_and(|link| link.counts_as_up)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAYS: Delays = Delays { up_ns: 100, down_ns: 10 };

    /// What counts after each look at two links.
    fn seen(looks: &[(u64, [bool; 2])], delays: Delays) -> Vec<[bool; 2]> {
        let mut delayed = Delayed::default();
        let look = |&(now, links): &(u64, [bool; 2])| {
            delayed.look(now, &(0..).zip(links).collect(), delays);
            [0, 1].map(|id| delayed.is_up(id))
        };
        looks.iter().map(look).collect()
    }

    #[test]
    fn a_link_counts_once_it_has_stayed() {
        let looks = [
            (0, [true, true]),
            (1, [true, false]),
            (10, [true, false]),
            (11, [true, false]),
            (20, [true, true]),
            (119, [true, true]),
            (120, [true, true]),
        ];
        let second = seen(&looks, DELAYS).into_iter().map(|it| it[1]);
        assert_eq!(second.collect::<Vec<_>>(), [true, true, true, false, false, false, true]);
        let at_once = seen(&looks, Delays::default()).into_iter().map(|it| it[1]);
        assert_eq!(at_once.collect::<Vec<_>>(), looks.map(|(_, it)| it[1]));
    }

    #[test]
    fn one_that_comes_and_goes_begins_its_time_anew() {
        let looks = [
            (0, [true, false]),
            (1, [true, true]),
            (100, [true, false]),
            (101, [true, true]),
            (200, [true, true]),
            (201, [true, true]),
        ];
        let second = seen(&looks, DELAYS).into_iter().map(|it| it[1]);
        assert_eq!(second.collect::<Vec<_>>(), [false, false, false, false, false, true]);
    }

    #[test]
    fn where_none_counts_the_first_does_at_once() {
        let looks = [
            (0, [false, false]),
            (1, [false, true]),
            (2, [true, true]),
            (3, [true, false]),
            (13, [true, false]),
        ];
        let counts = [
            [false, false],
            [false, true],
            [false, true],
            [false, true],
            // The second is down for long enough, and the first waits no longer.
            [true, false],
        ];
        assert_eq!(seen(&looks, DELAYS), counts);
    }

    #[test]
    fn a_member_that_is_taken_out_and_in_again_is_what_it_is() {
        let mut delayed = Delayed::default();
        delayed.look(0, &[(0, true), (1, false)].into(), DELAYS);
        delayed.look(1, &[(0, true)].into(), DELAYS);
        delayed.look(2, &[(0, true), (1, true)].into(), DELAYS);
        assert!(delayed.is_up(1));
    }
}
