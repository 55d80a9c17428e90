//! The machine: events in, actions out.

use std::collections::{BTreeSet, HashMap};

use super::rate::Rate;
use super::shares::{Newcomer, Place, Room, Shares, Spare, Turn};
use super::{
    Action, DropReason, Heard, Mac, Need, NeighborConfig, NeighborKey, NeighborState, NeighborView,
    ShareView,
};
use crate::FibError;
use crate::adjacency::AdjacencyId;

/// Until a request that could not be sent follows: soon, and yet not so often that a router
/// without buffers does nothing else.
const UNSENT_NS: u64 = 20_000_000;

/// All neighbours of a router.
#[derive(Debug)]
pub struct Neighbors {
    config: NeighborConfig,
    entries: HashMap<NeighborKey, Neighbor>,
    /// When each entry wants to be looked at next.
    timers: BTreeSet<(u64, NeighborKey)>,
    /// Places and turns of each interface and family.
    shares: Shares,
    rate: Rate,
}

#[derive(Clone, Copy, Debug)]
struct Neighbor {
    state: NeighborState,
    mac: Mac,
    adjacency: Option<AdjacencyId>,
    /// A route leads here.
    pinned: bool,
    /// Used since it last answered, or needed while it had failed.
    wanted: bool,
    tries: u8,
    failures: u8,
    heard_ns: u64,
    timer_ns: Option<u64>,
    /// It is to be asked for as soon as the rate allows; no timer runs meanwhile.
    waits: Option<(Turn, u64)>,
}

impl Neighbor {
    fn view(&self, key: NeighborKey) -> NeighborView {
        NeighborView {
            key,
            state: self.state,
            mac: self.has_mac().then_some(self.mac),
            adjacency: self.adjacency,
            heard_ns: self.heard_ns,
        }
    }

    fn new(state: NeighborState, now_ns: u64) -> Neighbor {
        Neighbor {
            state,
            mac: [0; 6],
            adjacency: None,
            pinned: false,
            wanted: false,
            tries: 0,
            failures: 0,
            heard_ns: now_ns,
            timer_ns: None,
            waits: None,
        }
    }

    fn has_mac(&self) -> bool {
        use NeighborState::{Probing, Reachable, Stale, Static};
        matches!(self.state, Reachable | Stale | Probing | Static)
    }

    /// What shares have of it. Without an adjacency nobody can have sent to it.
    fn place(&self) -> Place {
        let rank = match self.state {
            NeighborState::Failed => Some(Spare::Failed),
            NeighborState::Incomplete if self.tries == 0 => Some(Spare::Unasked),
            NeighborState::Incomplete => Some(Spare::Asked),
            NeighborState::Stale if self.adjacency.is_none() => Some(Spare::Unused),
            NeighborState::Stale
            | NeighborState::Reachable
            | NeighborState::Probing
            | NeighborState::Static => None,
        };
        let spare = rank.filter(|_| !self.pinned).map(|rank| (rank, self.heard_ns));
        Place { spare, waits: self.waits }
    }
}

impl Neighbors {
    /// No neighbours yet.
    pub fn new(config: NeighborConfig) -> Neighbors {
        Neighbors {
            config,
            entries: HashMap::new(),
            timers: BTreeSet::new(),
            shares: Shares::new(config.least_each),
            rate: Rate::new(config.requests_per_s, config.request_burst),
        }
    }

    /// Someone wants to send to `key` by `adjacency`.
    pub fn need(
        &mut self,
        now_ns: u64,
        key: NeighborKey,
        adjacency: AdjacencyId,
        need: Need,
        out: &mut Vec<Action>,
    ) -> Result<(), FibError> {
        let known = self.entries.get(&key).copied();
        let mut entry = match (known, need) {
            (Some(entry), _) => entry,
            (None, Need::Packet) => self.room_for(now_ns, key, Newcomer::Unresolved, out)?,
            (None, Need::Route) => self.room_for(now_ns, key, Newcomer::Fixed, out)?,
        };
        entry.wanted = true;
        entry.pinned |= need == Need::Route;
        if entry.adjacency != Some(adjacency) {
            entry.adjacency = Some(adjacency);
            if entry.has_mac() {
                out.push(Action::Complete { adjacency, mac: entry.mac });
            }
        }
        if need == Need::Packet && entry.has_mac() {
            out.push(Action::ReleaseHeld { key });
        }
        if known.is_none() {
            self.ask(now_ns, key, &mut entry, out);
        }
        self.put(key, entry);
        Ok(())
    }

    /// Other times and rates from now on; what runs already ends as it was begun.
    pub fn set_config(&mut self, config: NeighborConfig) {
        self.config = config;
        self.rate = Rate::new(config.requests_per_s, config.request_burst);
    }

    /// No route leads to `key` any more.
    pub fn release(&mut self, key: NeighborKey) {
        if let Some(mut entry) = self.entries.get(&key).copied() {
            entry.pinned = false;
            self.put(key, entry);
        }
    }

    /// `mac` was heard to have `key`. What was not asked for makes no entry, unless its owner asks
    /// for us: it is about to send to us, so we are about to answer.
    pub fn learned(
        &mut self,
        now_ns: u64,
        key: NeighborKey,
        mac: Mac,
        heard: Heard,
        out: &mut Vec<Action>,
    ) {
        // A group address is nobody's own (RFC 1812, 3.3.2).
        if mac[0] & 1 == 1 || mac == [0; 6] {
            return;
        }
        let known = self.entries.get(&key).copied();
        let mut entry = match known {
            Some(entry) => entry,
            None if heard == Heard::Request => {
                // Who finds no room is counted: it will ask again.
                let Ok(entry) = self.room_for(now_ns, key, Newcomer::Heard, out) else { return };
                entry
            }
            None => return,
        };
        let (had_mac, moved) = (entry.has_mac(), entry.mac != mac);
        let fresh = now_ns.saturating_sub(entry.heard_ns) < self.config.conflict_ns;
        if had_mac && moved && (fresh || entry.state == NeighborState::Static) {
            out.push(Action::Conflict { key, held: entry.mac, claimed: mac });
        }
        if entry.state == NeighborState::Static {
            return;
        }
        entry.mac = mac;
        entry.heard_ns = now_ns;
        let due_ns = match heard {
            Heard::Reply => {
                (entry.state, entry.wanted) = (NeighborState::Reachable, false);
                Some(now_ns + self.config.reachable_ns - self.lead_ns())
            }
            // RFC 4861 section 7.2.3: it told where it is, not that it hears us.
            Heard::Request | Heard::Gratuitous if !had_mac || moved => {
                entry.state = NeighborState::Stale;
                Some(now_ns + self.config.delay_ns)
            }
            Heard::Request | Heard::Gratuitous => entry.timer_ns,
        };
        if due_ns != entry.timer_ns {
            (entry.tries, entry.failures) = (0, 0);
            self.set_timer(key, &mut entry, due_ns);
        }
        if let Some(adjacency) = entry.adjacency.filter(|_| !had_mac || moved) {
            out.push(Action::Complete { adjacency, mac });
        }
        if !had_mac && known.is_some() {
            out.push(Action::ReleaseHeld { key });
        }
        self.put(key, entry);
    }

    /// `mac` was known to have `key`, some time ago, to a router before this one: packets can
    /// leave, and it is asked whether it is so as soon as it is in use. What is known by now stays.
    pub fn recall(
        &mut self,
        now_ns: u64,
        key: NeighborKey,
        mac: Mac,
        age_ns: u64,
        out: &mut Vec<Action>,
    ) {
        let known = self.entries.get(&key).copied();
        if known.is_some_and(|entry| entry.has_mac()) || age_ns >= self.config.reachable_ns {
            return;
        }
        self.learned(now_ns, key, mac, Heard::Request, out);
        if let Some(mut entry) = self.entries.get(&key).copied() {
            entry.heard_ns = now_ns.saturating_sub(age_ns);
            self.put(key, entry);
        }
    }

    /// Does what is due by `now_ns`. `used` says whether packets left by an adjacency since it was
    /// last asked.
    pub fn tick(&mut self, now_ns: u64, used: &dyn Fn(AdjacencyId) -> bool, out: &mut Vec<Action>) {
        while let Some((due_ns, key)) = self.timers.first().copied()
            && due_ns <= now_ns
        {
            self.timers.pop_first();
            let Some(mut entry) = self.entries.get(&key).copied() else { continue };
            entry.timer_ns = None;
            entry.wanted |= entry.has_mac() && entry.adjacency.is_some_and(used);
            if self.expire(now_ns, key, &mut entry, out) {
                self.put(key, entry);
            } else {
                self.take(key);
                out.push(Action::Forgotten { key, adjacency: entry.adjacency });
            }
        }
        while let Some(key) = self.shares.next_turn()
            && self.rate.take(now_ns).is_ok()
        {
            if let Some(mut entry) = self.entries.get(&key).copied() {
                self.send(now_ns, key, &mut entry, out);
                self.put(key, entry);
            }
            self.shares.end_turn();
        }
    }

    /// The request for `key` found no buffer: it is counted, and [`Neighbors::unsent`].
    pub fn no_buffer(&mut self, now_ns: u64, key: NeighborKey) {
        self.shares.no_buffer(key.share());
        self.unsent(now_ns, key);
    }

    /// The request for `key` could not be sent: it counts as no try, and follows soon.
    pub fn unsent(&mut self, now_ns: u64, key: NeighborKey) {
        let Some(mut entry) = self.entries.get(&key).copied() else { return };
        let asks = matches!(entry.state, NeighborState::Incomplete | NeighborState::Probing);
        // Who waits for a turn is asked again in any case.
        if asks && entry.waits.is_none() {
            entry.tries = entry.tries.saturating_sub(1);
            self.set_timer(key, &mut entry, Some(now_ns + UNSENT_NS));
            self.put(key, entry);
        }
    }

    /// How long a neighbour that nobody ever heard is asked for, and packets wait for it.
    pub fn patience_ns(&self) -> u64 {
        self.config.retry_ns.saturating_mul(self.config.tries.into())
    }

    /// When [`Neighbors::tick`] has something to do next.
    pub fn next_due_ns(&self) -> Option<u64> {
        let timer_ns = self.timers.first().map(|(due_ns, _)| *due_ns);
        let turn_ns = self.shares.is_waiting().then(|| self.rate.next_ns());
        [timer_ns, turn_ns].into_iter().flatten().min()
    }

    /// The operator sets `key`'s MAC.
    pub fn add_static(
        &mut self,
        now_ns: u64,
        key: NeighborKey,
        mac: Mac,
        out: &mut Vec<Action>,
    ) -> Result<(), FibError> {
        let mut entry = match self.entries.get(&key) {
            Some(entry) => *entry,
            None => self.room_for(now_ns, key, Newcomer::Fixed, out)?,
        };
        let changed = !entry.has_mac() || entry.mac != mac;
        (entry.state, entry.mac, entry.heard_ns) = (NeighborState::Static, mac, now_ns);
        if let Some(adjacency) = entry.adjacency.filter(|_| changed) {
            out.push(Action::Complete { adjacency, mac });
        }
        out.push(Action::ReleaseHeld { key });
        self.set_timer(key, &mut entry, None);
        self.put(key, entry);
        Ok(())
    }

    /// The operator takes a static MAC back: a pinned neighbour is asked for anew.
    pub fn remove_static(&mut self, now_ns: u64, key: NeighborKey, out: &mut Vec<Action>) -> bool {
        let is_static =
            self.entries.get(&key).is_some_and(|entry| entry.state == NeighborState::Static);
        if is_static {
            self.drop_entry(now_ns, key, DropReason::Flushed, true, out);
        }
        is_static
    }

    /// Forgets what was learned on `interface`, or everywhere; static entries stay.
    pub fn flush(&mut self, now_ns: u64, interface: Option<u16>, out: &mut Vec<Action>) {
        for key in self.learned_on(interface) {
            self.drop_entry(now_ns, key, DropReason::Flushed, true, out);
        }
    }

    /// The link of `interface` is down: what was learned there is void. Pinned neighbours stay,
    /// failed, and are asked for when a packet or a pause brings them up again.
    pub fn interface_down(&mut self, now_ns: u64, interface: u16, out: &mut Vec<Action>) {
        for key in self.learned_on(Some(interface)) {
            self.drop_entry(now_ns, key, DropReason::InterfaceDown, false, out);
        }
    }

    /// All neighbours, in order of interface and address.
    pub fn list(&self) -> Vec<NeighborView> {
        let mut list = self.unsorted();
        list.sort_unstable_by_key(|view| view.key);
        list
    }

    /// The same, in no order: for whoever sorts them elsewhere.
    pub fn unsorted(&self) -> Vec<NeighborView> {
        self.entries.iter().map(|(key, entry)| entry.view(*key)).collect()
    }

    /// One neighbour.
    pub fn get(&self, key: NeighborKey) -> Option<NeighborView> {
        self.entries.get(&key).map(|entry| entry.view(key))
    }

    /// How many neighbours there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The shares of all interfaces and families that have or had neighbours.
    pub fn shares(&self) -> Vec<ShareView> {
        self.shares.all().map(|share| self.shares.view(share, &self.config)).collect()
    }

    /// The shares in which somebody gave way or was refused since the last call.
    pub fn take_crowded(&mut self) -> Vec<ShareView> {
        let crowded = self.shares.take_crowded().into_iter();
        crowded.map(|share| self.shares.view(share, &self.config)).collect()
    }

    /// An interface is another one now: its shares count from zero.
    pub fn clear_counts(&mut self, interface: u16) {
        self.shares.clear_counts(interface);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Steps an entry whose time has come; false if it is to be forgotten.
    fn expire(
        &mut self,
        now_ns: u64,
        key: NeighborKey,
        entry: &mut Neighbor,
        out: &mut Vec<Action>,
    ) -> bool {
        let in_use = entry.pinned || entry.wanted;
        match entry.state {
            NeighborState::Static => {}
            NeighborState::Reachable | NeighborState::Stale if in_use || self.config.keep => {
                (entry.state, entry.tries) = (NeighborState::Probing, 0);
                self.ask(now_ns, key, entry, out);
            }
            NeighborState::Stale if now_ns < entry.heard_ns + self.config.reachable_ns => {
                self.set_timer(key, entry, Some(now_ns + self.config.delay_ns));
            }
            NeighborState::Reachable | NeighborState::Stale => {
                out.extend(entry.adjacency.map(|adjacency| Action::Incomplete { adjacency }));
                return false;
            }
            NeighborState::Incomplete | NeighborState::Probing
                if entry.tries < self.config.tries =>
            {
                self.ask(now_ns, key, entry, out);
            }
            NeighborState::Incomplete | NeighborState::Probing => {
                self.fail(now_ns, key, entry, DropReason::Unanswered, out);
            }
            NeighborState::Failed if in_use => {
                (entry.state, entry.tries) = (NeighborState::Incomplete, 0);
                self.ask(now_ns, key, entry, out);
            }
            NeighborState::Failed => return false,
        }
        true
    }

    /// Sends a request if the rate allows and nobody waits; else it waits for its turn.
    fn ask(&mut self, now_ns: u64, key: NeighborKey, entry: &mut Neighbor, out: &mut Vec<Action>) {
        if self.shares.next_turn().is_none() && self.rate.take(now_ns).is_ok() {
            self.send(now_ns, key, entry, out);
            return;
        }
        let turn = match (entry.has_mac() || entry.pinned, entry.tries) {
            (true, _) => Turn::Known,
            (false, 0) => Turn::New,
            (false, _) => Turn::Again,
        };
        self.set_timer(key, entry, None);
        entry.waits = Some(self.shares.wait(turn));
    }

    fn send(&mut self, now_ns: u64, key: NeighborKey, entry: &mut Neighbor, out: &mut Vec<Action>) {
        entry.tries += 1;
        let to = (entry.state == NeighborState::Probing).then_some(entry.mac);
        out.push(Action::SendRequest { key, to });
        self.set_timer(key, entry, Some(now_ns + self.config.retry_ns));
    }

    fn fail(
        &mut self,
        now_ns: u64,
        key: NeighborKey,
        entry: &mut Neighbor,
        reason: DropReason,
        out: &mut Vec<Action>,
    ) {
        if entry.has_mac() {
            out.extend(entry.adjacency.map(|adjacency| Action::Incomplete { adjacency }));
        }
        out.push(Action::DropHeld { key, reason });
        let pause_ns = self.config.pause_ns.saturating_mul(1 << entry.failures.min(20));
        entry.failures = entry.failures.saturating_add(1);
        (entry.state, entry.wanted) = (NeighborState::Failed, false);
        let until_ns = now_ns + pause_ns.min(self.config.longest_pause_ns);
        self.set_timer(key, entry, Some(until_ns));
    }

    /// Voids an entry. A pinned one is asked for again, now or after the pause.
    fn drop_entry(
        &mut self,
        now_ns: u64,
        key: NeighborKey,
        reason: DropReason,
        ask_now: bool,
        out: &mut Vec<Action>,
    ) {
        let Some(mut entry) = self.take(key) else { return };
        entry.failures = 0;
        self.fail(now_ns, key, &mut entry, reason, out);
        if !entry.pinned {
            self.set_timer(key, &mut entry, None);
            out.push(Action::Forgotten { key, adjacency: entry.adjacency });
            return;
        }
        if ask_now {
            (entry.state, entry.tries, entry.failures) = (NeighborState::Incomplete, 0, 0);
            self.ask(now_ns, key, &mut entry, out);
        }
        self.put(key, entry);
    }

    fn learned_on(&self, interface: Option<u16>) -> Vec<NeighborKey> {
        let mut keys: Vec<_> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.state != NeighborState::Static)
            .map(|(key, _)| *key)
            .filter(|key| interface.is_none_or(|interface| key.interface == interface))
            .collect();
        keys.sort_unstable();
        keys
    }

    /// It is looked at then; it waits for no turn.
    fn set_timer(&mut self, key: NeighborKey, entry: &mut Neighbor, at_ns: Option<u64>) {
        entry.waits = None;
        if let Some(old_ns) = std::mem::replace(&mut entry.timer_ns, at_ns) {
            self.timers.remove(&(old_ns, key));
        }
        self.timers.extend(at_ns.map(|at_ns| (at_ns, key)));
    }

    fn put(&mut self, key: NeighborKey, entry: Neighbor) {
        let old = self.entries.insert(key, entry);
        self.shares.change(key, old.map(|old| old.place()), Some(entry.place()));
    }

    fn take(&mut self, key: NeighborKey) -> Option<Neighbor> {
        let entry = self.entries.remove(&key)?;
        self.shares.change(key, Some(entry.place()), None);
        Some(Neighbor { waits: None, ..entry })
    }

    /// A new entry; another one may give way to it.
    fn room_for(
        &mut self,
        now_ns: u64,
        key: NeighborKey,
        who: Newcomer,
        out: &mut Vec<Action>,
    ) -> Result<Neighbor, FibError> {
        match self.shares.room(key.share(), who, &self.config) {
            Room::There => {}
            Room::Of(spare) => self.evict(spare, out),
            Room::Nowhere => {
                self.shares.refused(key.share());
                let capacity = self.config.most_each.min(self.config.capacity);
                return Err(FibError::Full {
                    table: "the neighbour table",
                    unit: "neighbours",
                    capacity,
                });
            }
        }
        Ok(Neighbor::new(NeighborState::Incomplete, now_ns))
    }

    /// A neighbour that nobody needs gives way.
    fn evict(&mut self, key: NeighborKey, out: &mut Vec<Action>) {
        let Some(mut entry) = self.take(key) else { return };
        self.set_timer(key, &mut entry, None);
        self.shares.evicted(key.share());
        out.push(Action::DropHeld { key, reason: DropReason::Evicted });
        out.push(Action::Forgotten { key, adjacency: entry.adjacency });
    }

    /// How long before its end a MAC is confirmed: time for every try.
    fn lead_ns(&self) -> u64 {
        let lead_ns = self.config.retry_ns.saturating_mul(u64::from(self.config.tries) + 1);
        lead_ns.min(self.config.reachable_ns / 2)
    }
}
