//! What is still to be evaluated, where a change has spread too far for one call.
//!
//! ```text
//!  a next hop resolves otherwise ─┬▶ its users, from a place on ──────┐
//!  a shared group changes its kind ┘                                  ├─▶ a slice at a time
//!  an interface comes or goes ────▶ walk: all prefixes, from a place ─┘
//! ```
//! Places are prefixes, so that routes may come and go meanwhile. What changes behind the place
//! is evaluated as it changes; what changes again begins anew.

use std::collections::{HashSet, VecDeque};

use super::shared::SharedId;
use crate::{Address, Prefix};

/// Whose users wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum UsersOf<A> {
    /// A next hop's.
    Hop(A),
    /// Those of a group that routes share.
    Group(SharedId),
}

/// See the module.
#[derive(Debug)]
pub(super) struct Pending<A: Address> {
    /// Whose users wait, each once. Of the first some may be done.
    leads: VecDeque<UsersOf<A>>,
    queued: HashSet<UsersOf<A>>,
    /// Where the users of the first go on.
    user: Prefix<A>,
    /// Interfaces whose routes are looked for, and where.
    over: HashSet<u16>,
    walk: Option<Prefix<A>>,
}

impl<A: Address> Default for Pending<A> {
    fn default() -> Self {
        let (leads, queued, over) = (VecDeque::new(), HashSet::new(), HashSet::new());
        Self { leads, queued, user: Prefix::all(), over, walk: None }
    }
}

impl<A: Address> Pending<A> {
    pub(super) fn is_empty(&self) -> bool {
        self.leads.is_empty() && self.walk.is_none()
    }

    /// All users are to be evaluated.
    pub(super) fn changed(&mut self, of: UsersOf<A>) {
        if self.queued.insert(of) {
            self.leads.push_back(of);
        } else if self.leads.front() == Some(&of) {
            self.user = Prefix::all();
        }
    }

    /// Whether users of it wait.
    pub(super) fn waits(&self, of: UsersOf<A>) -> bool {
        self.queued.contains(&of)
    }

    /// Whose users are next, and from where.
    pub(super) fn next_users(&self) -> Option<(UsersOf<A>, Prefix<A>)> {
        self.leads.front().map(|of| (*of, self.user))
    }

    /// The users of the first before `next` are taken; all, if there is none.
    pub(super) fn users_are_done_to(&mut self, next: Option<Prefix<A>>) {
        if next.is_none()
            && let Some(done) = self.leads.pop_front()
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
