//! Whether an IPv6 address of ours is anybody else's (RFC 4862 section 5.4): a state machine over
//! the caller's clock.
//!
//! ```text
//!                 solicited, nobody answers for a second
//!  new ─▶ TENTATIVE ─────────────────────────────────────▶ VALID
//!             └── another claims it ──▶ DUPLICATE          a claim on it is answered, not obeyed
//!
//!  the link is lost, or the address taken from the port ─▶ forgotten
//! ```
//! Owned by the control thread.

use std::collections::BTreeMap;

/// How long nobody may answer (RFC 4861's RETRANS_TIMER; one question is asked).
const WAIT_NS: u64 = 1_000_000_000;

/// How far an address is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Whether anybody has it is being found out.
    Tentative {
        /// It is ours at this time.
        until_ns: u64,
    },
    /// Nobody objected: it is ours to use.
    Valid,
    /// Another's: not used.
    Duplicate,
}

/// The addresses of all interfaces that carry packets.
#[derive(Default)]
pub(crate) struct Trials {
    states: BTreeMap<u16, BTreeMap<u128, State>>,
}

impl Trials {
    /// The addresses of `interface` are `wanted` now. Those that are new are to be solicited.
    pub(crate) fn set(&mut self, now_ns: u64, interface: u16, wanted: &[u128]) -> Vec<u128> {
        if wanted.is_empty() {
            self.states.remove(&interface);
            return Vec::new();
        }
        let states = self.states.entry(interface).or_default();
        states.retain(|address, _| wanted.contains(address));
        let mut new = Vec::new();
        for &address in wanted {
            states.entry(address).or_insert_with(|| {
                new.push(address);
                State::Tentative { until_ns: now_ns + WAIT_NS }
            });
        }
        new
    }

    /// Somebody claims `address`: if it is tentative, it is not to be ours.
    pub(crate) fn claimed(&mut self, interface: u16, address: u128) {
        let states = self.states.get_mut(&interface);
        let state = states.and_then(|states| states.get_mut(&address));
        if let Some(state @ State::Tentative { .. }) = state {
            *state = State::Duplicate;
        }
    }

    /// Lets the time pass: interfaces some of whose addresses are valid now, and these.
    pub(crate) fn tick(&mut self, now_ns: u64) -> Vec<(u16, u128)> {
        let mut valid = Vec::new();
        for (&interface, states) in &mut self.states {
            for (&address, state) in states {
                if matches!(*state, State::Tentative { until_ns } if until_ns <= now_ns) {
                    *state = State::Valid;
                    valid.push((interface, address));
                }
            }
        }
        valid
    }

    /// When [`Trials::tick`] has something to do next.
    pub(crate) fn next_due_ns(&self) -> Option<u64> {
        let due = |state: &State| match *state {
            State::Tentative { until_ns } => Some(until_ns),
            State::Valid | State::Duplicate => None,
        };
        self.states.values().flat_map(BTreeMap::values).filter_map(due).min()
    }

    /// How far `address` is.
    pub(crate) fn state(&self, interface: u16, address: u128) -> Option<State> {
        self.states.get(&interface)?.get(&address).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn an_address_that_nobody_claims_is_ours_after_a_second() {
        let mut trials = Trials::default();
        assert_eq!(trials.set(5, 1, &[7, 8]), [7, 8]);
        assert_eq!((trials.next_due_ns(), trials.tick(SECOND_NS)), (Some(SECOND_NS + 5), vec![]));
        assert_eq!(trials.tick(SECOND_NS + 5), [(1, 7), (1, 8)]);
        assert_eq!((trials.state(1, 7), trials.next_due_ns()), (Some(State::Valid), None));
        assert_eq!(trials.set(9, 1, &[8, 7]), []);
    }

    #[test]
    fn a_claim_takes_a_tentative_address_and_no_valid_one() {
        let mut trials = Trials::default();
        trials.set(0, 1, &[7]);
        trials.claimed(1, 7);
        trials.claimed(2, 7);
        assert_eq!((trials.tick(SECOND_NS), trials.state(1, 7)), (vec![], Some(State::Duplicate)));
        trials.set(0, 2, &[7]);
        trials.tick(SECOND_NS);
        trials.claimed(2, 7);
        assert_eq!(trials.state(2, 7), Some(State::Valid));
    }

    #[test]
    fn what_is_taken_away_begins_anew_when_it_comes_back() {
        let mut trials = Trials::default();
        trials.set(0, 1, &[7]);
        trials.set(0, 2, &[9]);
        trials.tick(SECOND_NS);
        trials.set(SECOND_NS, 1, &[]);
        assert_eq!((trials.state(1, 7), trials.state(2, 9)), (None, Some(State::Valid)));
        assert_eq!(trials.set(SECOND_NS, 1, &[7]), [7]);
    }
}
