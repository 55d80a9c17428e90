//! What is still to be evaluated, where a change has spread too far for one call.
//!
//! ```text
//!  a next hop resolves otherwise ─▶ hops: its users, from a place on ─┐
//!  an interface comes or goes ────▶ walk: all prefixes, from a place ─┴─▶ a slice at a time
//! ```
//! Places are prefixes, so that routes may come and go meanwhile. What changes behind the place
//! is evaluated as it changes; a next hop or an interface that changes again begins anew.

use std::collections::{HashSet, VecDeque};

use crate::{Address, Prefix};

/// See the module.
#[derive(Debug)]
pub(super) struct Pending<A: Address> {
    /// Next hops whose users wait, each once. Of the first some may be done.
    hops: VecDeque<A>,
    queued: HashSet<A>,
    /// Where the users of the first go on.
    user: Prefix<A>,
    /// Interfaces whose routes are looked for, and where.
    over: HashSet<u16>,
    walk: Option<Prefix<A>>,
}

impl<A: Address> Default for Pending<A> {
    fn default() -> Self {
        let (hops, queued, over) = (VecDeque::new(), HashSet::new(), HashSet::new());
        Self { hops, queued, user: Prefix::all(), over, walk: None }
    }
}

impl<A: Address> Pending<A> {
    pub(super) fn is_empty(&self) -> bool {
        self.hops.is_empty() && self.walk.is_none()
    }

    /// All users of a next hop are to be evaluated.
    pub(super) fn hop_changed(&mut self, address: A) {
        if self.queued.insert(address) {
            self.hops.push_back(address);
        } else if self.hops.front() == Some(&address) {
            self.user = Prefix::all();
        }
    }

    /// Whose users are next, and from where.
    pub(super) fn next_hop(&self) -> Option<(A, Prefix<A>)> {
        self.hops.front().map(|address| (*address, self.user))
    }

    /// The users of the first next hop before `next` are taken; all, if there is none.
    pub(super) fn hop_is_done_to(&mut self, next: Option<Prefix<A>>) {
        if next.is_none()
            && let Some(done) = self.hops.pop_front()
        {
            self.queued.remove(&done);
        }
        self.user = next.unwrap_or(Prefix::all());
    }

    /// All routes over an interface are to be evaluated, from the first on.
    pub(super) fn look_for_routes_over(&mut self, interface: u16) {
        self.over.insert(interface);
        self.walk = Some(Prefix::all());
    }

    /// Where routes are looked for, and over which interfaces.
    pub(super) fn walk(&self) -> Option<(Prefix<A>, &HashSet<u16>)> {
        self.walk.map(|from| (from, &self.over))
    }

    /// Routes were looked for as far as `next`; everywhere, if there is none.
    pub(super) fn walked_to(&mut self, next: Option<Prefix<A>>) {
        self.walk = next;
        if next.is_none() {
            self.over.clear();
        }
    }
}
