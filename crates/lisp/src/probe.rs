//! Whether locators of other sites are reached: they are asked, now and then (RFC 9300, 11.2; RFC
//! 9301, 7.1).

use crate::SECOND;
use std::collections::BTreeMap;
use std::net::IpAddr;
use wire::lisp::Eid;

/// Probes in a row that are not answered until a locator counts as silent.
const MISSES: u32 = 3;

/// The locators that are probed.
#[derive(Default)]
pub struct Prober {
    locators: BTreeMap<IpAddr, State>,
}

struct State {
    eid: Eid,
    nonce: Option<u64>,
    next_ns: u64,
    misses: u32,
}

/// A probe that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The locator.
    pub locator: IpAddr,
    /// A network that it is said to reach.
    pub eid: Eid,
    /// What the answer must bring back.
    pub nonce: u64,
}

impl Prober {
    /// These are probed from now on, each with a network that it is said to reach.
    pub fn set(&mut self, now_ns: u64, wanted: &BTreeMap<IpAddr, Eid>) {
        self.locators.retain(|address, _| wanted.contains_key(address));
        for (address, eid) in wanted {
            let fresh = || State { eid: *eid, nonce: None, next_ns: now_ns, misses: 0 };
            self.locators.entry(*address).or_insert_with(fresh).eid = *eid;
        }
    }

    /// The probes that are to be sent now, one each period; says whether a locator fell silent.
    pub fn due(
        &mut self,
        now_ns: u64,
        period_ns: u64,
        mut nonce: impl FnMut() -> Option<u64>,
    ) -> (Vec<Probe>, bool) {
        let (mut probes, mut fell_silent) = (Vec::new(), false);
        for (address, it) in self.locators.iter_mut().filter(|(_, it)| it.next_ns <= now_ns) {
            if it.nonce.is_some() {
                it.misses = it.misses.saturating_add(1);
                fell_silent |= it.misses == MISSES;
            }
            it.nonce = nonce();
            it.next_ns = now_ns + period_ns.max(SECOND);
            let probe = |nonce| Probe { locator: *address, eid: it.eid, nonce };
            probes.extend(it.nonce.map(probe));
        }
        (probes, fell_silent)
    }

    /// A probe's answer; none if it is none. Says whether the locator was silent.
    pub fn answered(&mut self, nonce: u64) -> Option<bool> {
        let it = self.locators.values_mut().find(|it| it.nonce == Some(nonce))?;
        it.nonce = None;
        let was_silent = it.misses >= MISSES;
        it.misses = 0;
        Some(was_silent)
    }

    /// Whether a locator does not answer.
    pub fn is_silent(&self, locator: IpAddr) -> bool {
        self.locators.get(&locator).is_some_and(|it| it.misses >= MISSES)
    }

    /// When one is to be sent next.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.locators.values().map(|it| it.next_ns).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locator_is_silent_after_three_probes_in_vain_and_back_with_the_first_answer() {
        let (locator, eid) = ([192, 0, 2, 2].into(), Eid::host(0, [10, 2, 0, 1].into()));
        let mut prober = Prober::default();
        prober.set(0, &BTreeMap::from([(locator, eid)]));
        let mut nonce = 0;
        let mut due = |prober: &mut Prober, second: u64| {
            let (probes, fell) = prober.due(second * SECOND, 10 * SECOND, || {
                nonce += 1;
                Some(nonce)
            });
            (probes.len(), fell)
        };
        assert_eq!(due(&mut prober, 0), (1, false));
        assert_eq!(due(&mut prober, 9), (0, false));
        assert_eq!([10, 20].map(|second| due(&mut prober, second)), [(1, false); 2]);
        assert!(!prober.is_silent(locator));
        assert_eq!(due(&mut prober, 30), (1, true));
        assert!(prober.is_silent(locator));
        assert_eq!(due(&mut prober, 40), (1, false));
        // An answer to an older probe is none.
        assert_eq!(
            [prober.answered(4), prober.answered(5), prober.answered(5)],
            [None, Some(true), None]
        );
        assert!(!prober.is_silent(locator));
        prober.set(0, &BTreeMap::new());
        assert_eq!(prober.next_due_ns(), None);
    }
}
