//! Endpoints that are asked for, until somebody answers or nobody does (RFC 9301, 5.2).
//!
//! ```text
//!  wanted ─▶ asked at once ─▶ after 1 s ─▶ 2 s ─▶ 4 s ─▶ after 8 s more: given up
//!                 └── an answer with the question's nonce, for its network ─▶ known
//! ```

use crate::SECOND;
use std::collections::{BTreeMap, HashMap};
use wire::lisp::Eid;

/// How often one question is asked.
const TRIES: u32 = 4;

/// All questions that are not answered yet.
pub struct Asker {
    most: usize,
    pending: BTreeMap<Eid, Pending>,
    by_nonce: HashMap<u64, Eid>,
}

struct Pending {
    nonce: u64,
    tries: u32,
    next_ns: u64,
    is_solicited: bool,
}

/// A question that is to be asked now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is asked for.
    pub eid: Eid,
    /// What the answer must bring back.
    pub nonce: u64,
    /// Somebody had it asked.
    pub is_solicited: bool,
    /// How often it was asked before: another one is asked each time.
    pub tries: u32,
}

impl Asker {
    /// Asks for so many at once, at most.
    pub fn new(most: usize) -> Self {
        Self { most, pending: BTreeMap::new(), by_nonce: HashMap::new() }
    }

    /// Asks for so many at once from now on; what is asked for already is.
    pub fn set_most(&mut self, most: usize) {
        self.most = most;
    }

    /// Has an endpoint asked for, with a nonce that nobody guesses; false if it is not: too many
    /// are.
    pub fn want(&mut self, now_ns: u64, eid: Eid, is_solicited: bool, nonce: u64) -> bool {
        if self.pending.contains_key(&eid) {
            return true;
        }
        if self.pending.len() >= self.most || self.by_nonce.contains_key(&nonce) {
            return false;
        }
        self.pending.insert(eid, Pending { nonce, tries: 0, next_ns: now_ns, is_solicited });
        self.by_nonce.insert(nonce, eid);
        true
    }

    /// The questions that are to be asked now, and what nobody answered.
    pub fn due(&mut self, now_ns: u64) -> (Vec<Question>, Vec<Eid>) {
        let (mut questions, mut given_up) = (Vec::new(), Vec::new());
        for (eid, it) in self.pending.iter_mut().filter(|(_, it)| it.next_ns <= now_ns) {
            if it.tries == TRIES {
                given_up.push(*eid);
                continue;
            }
            let Pending { nonce, tries, is_solicited, .. } = *it;
            questions.push(Question { eid: *eid, nonce, is_solicited, tries });
            it.next_ns = now_ns + (SECOND << tries);
            it.tries += 1;
        }
        given_up.iter().for_each(|eid| self.forget(eid));
        (questions, given_up)
    }

    /// What an answer with this nonce is an answer to, if its network is one that was asked for.
    pub fn answered(&mut self, nonce: u64, network: &Eid) -> Option<Eid> {
        let eid = *self.by_nonce.get(&nonce)?;
        let fits = network.contains(&eid) || eid.contains(network);
        fits.then(|| {
            self.forget(&eid);
            eid
        })
    }

    /// Nobody wants it any more.
    pub fn forget(&mut self, eid: &Eid) {
        if let Some(it) = self.pending.remove(eid) {
            self.by_nonce.remove(&it.nonce);
        }
    }

    /// Forgets what is of none of these instances any more.
    pub fn keep(&mut self, is_kept: impl Fn(u32) -> bool) -> Vec<Eid> {
        let all = self.pending.keys().copied();
        let gone: Vec<Eid> = all.filter(|eid| !is_kept(eid.instance())).collect();
        gone.iter().for_each(|eid| self.forget(eid));
        gone
    }

    /// How many are asked for.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// When something is to be asked next.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.pending.values().map(|it| it.next_ns).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eid(last: u8, length: u8) -> Eid {
        Eid::new(0, [10, 2, 0, last].into(), length).unwrap()
    }

    #[test]
    fn a_question_is_asked_again_ever_later_and_given_up() {
        let mut asker = Asker::new(9);
        assert!(asker.want(0, eid(1, 32), false, 77) && asker.want(0, eid(1, 32), false, 78));
        let mut asked = Vec::new();
        for second in 0..30 {
            let (questions, given_up) = asker.due(second * SECOND);
            asked.extend(questions.iter().map(|it| (second, it.tries, it.nonce)));
            assert_eq!(given_up, if second == 15 { vec![eid(1, 32)] } else { vec![] });
        }
        assert_eq!(asked, [(0, 0, 77), (1, 1, 77), (3, 2, 77), (7, 3, 77)]);
        assert!(asker.is_empty() && asker.by_nonce.is_empty());
        assert_eq!(asker.next_due_ns(), None);
    }

    #[test]
    fn only_an_answer_to_what_was_asked_is_one_and_once() {
        let mut asker = Asker::new(9);
        asker.want(0, eid(1, 32), false, 77);
        let other = Eid::new(0, [10, 3, 0, 0].into(), 16).unwrap();
        let instance = Eid::new(1, [10, 2, 0, 0].into(), 16).unwrap();
        assert_eq!(asker.answered(78, &eid(0, 24)), None);
        assert_eq!(asker.answered(77, &other), None);
        assert_eq!(asker.answered(77, &instance), None);
        assert_eq!(asker.answered(77, &eid(0, 24)), Some(eid(1, 32)));
        assert_eq!(asker.answered(77, &eid(0, 24)), None);
    }

    #[test]
    fn no_more_are_asked_for_at_once_than_are_allowed() {
        let mut asker = Asker::new(2);
        let want = |asker: &mut Asker, last: u8| asker.want(0, eid(last, 32), false, last.into());
        assert_eq!([1, 2, 3].map(|last| want(&mut asker, last)), [true, true, false]);
        asker.forget(&eid(1, 32));
        assert!(want(&mut asker, 3));
        assert_eq!(asker.keep(|_| false).len(), 2);
        assert_eq!(asker.len(), 0);
    }
}
