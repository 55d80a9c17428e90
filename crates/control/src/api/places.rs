//! Who may be connected: places for those who have shown that they may ask, and a few for others.
//!
//! ```text
//!  TCP ──▶ unknown: 32, of one machine 8 ──▶ a valid token ──▶ known: 256, of one peer 64
//!          one more: the oldest goes                           one more: who is idle longest goes,
//!  Unix socket: its rights have decided ─────────────────────▶ or it is refused; the last 16 are root's
//! ```
//! Whoever has the token shows it in its first request, in milliseconds; so of those who have not,
//! the oldest is the one to go, of the machine that has most. Of those who may ask, one that waits
//! for nothing gives way to one that may have something to ask: of its own peer, where that has its
//! share, else of the peer that has most. Only where all wait for answers is one more refused. A
//! machine that was wrong [`MOST_FAILURES`] times is not heard for a while.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;

use super::activity::Activity;

/// Connections of those who may ask.
const MOST_KNOWN: usize = 256;
/// Of them those of one user or machine.
const MOST_KNOWN_OF_ONE: usize = 64;
/// Of them those that are left to root.
const FOR_ROOT: usize = 16;
/// Connections of those who have shown nothing yet.
const MOST_UNKNOWN: usize = 32;
/// Of them those of one machine.
const MOST_UNKNOWN_OF_ONE: usize = 8;
/// Requests without a valid token, in [`FAILURE_TIME`].
const MOST_FAILURES: u32 = 10;
/// How long failures are remembered.
const FAILURE_TIME: Duration = Duration::from_secs(60);
/// Machines whose failures are remembered.
const MOST_FAILING: usize = 1024;

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Peer {
    /// A user of this machine.
    User(u32),
    /// A machine; of IPv6 its network, of which it has all addresses.
    Machine(IpAddr),
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// All are taken.
    All,
    /// The peer has as many as one may have.
    OfPeer,
    /// It was wrong too often.
    Wrong,
}

/// The places of one listener.
#[derive(Clone, Default)]
pub(super) struct Places(Arc<Mutex<Table>>);

/// A place. Dropped, it is free.
pub(super) struct Place {
    places: Places,
    number: u64,
    peer: Peer,
    activity: Arc<Activity>,
}

#[derive(Default)]
struct Table {
    taken: BTreeMap<u64, Taken>,
    failures: HashMap<Peer, (u32, Instant)>,
    next: u64,
}

struct Taken {
    peer: Peer,
    is_known: bool,
    task: Option<AbortHandle>,
    activity: Arc<Activity>,
}

impl Peer {
    /// The machine of an address.
    pub(super) fn machine(address: IpAddr) -> Self {
        Self::Machine(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6((address.to_bits() & !u128::from(u64::MAX)).into()),
            address => address,
        })
    }

    fn is_root(self) -> bool {
        self == Self::User(0)
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(number) => write!(f, "user {number}"),
            Self::Machine(address) => address.fmt(f),
        }
    }
}

impl Full {
    /// In words.
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::All => "as many are connected as may be",
            Self::OfPeer => "this peer has as many connections as one may have",
            Self::Wrong => "too many requests without a valid token: try again in a minute",
        }
    }
}

impl Places {
    /// Takes a place for a peer that may ask already.
    pub(super) fn of_known(&self, peer: Peer) -> Result<Arc<Place>, Full> {
        let evicted = self.table().room_for_known(peer)?;
        end(evicted);
        Ok(self.take(peer, true))
    }

    /// Takes a place for a peer that has yet to show that it may ask.
    pub(super) fn of_unknown(&self, peer: Peer, now: Instant) -> Result<Arc<Place>, Full> {
        let evicted = self.table().room_for_unknown(peer, now)?;
        end(evicted);
        Ok(self.take(peer, false))
    }

    fn take(&self, peer: Peer, is_known: bool) -> Arc<Place> {
        let mut table = self.table();
        let number = table.next;
        table.next += 1;
        let activity = Activity::new();
        let taken = Taken { peer, is_known, task: None, activity: Arc::clone(&activity) };
        table.taken.insert(number, taken);
        Arc::new(Place { places: self.clone(), number, peer, activity })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// The task that ends when somebody else gets the place.
    pub(super) fn is_served_by(&self, task: AbortHandle) {
        if let Some(taken) = self.places.table().taken.get_mut(&self.number) {
            taken.task = Some(task);
        }
    }

    /// The peer has shown that it may ask.
    pub(super) fn is_known(&self) -> Result<(), Full> {
        let mut table = self.places.table();
        if table.taken.get(&self.number).is_none_or(|taken| taken.is_known) {
            return Ok(());
        }
        let evicted = table.room_for_known(self.peer)?;
        if let Some(taken) = table.taken.get_mut(&self.number) {
            taken.is_known = true;
        }
        drop(table);
        end(evicted);
        Ok(())
    }

    /// The peer was wrong.
    pub(super) fn failed(&self, now: Instant) {
        self.places.table().failed(self.peer, now);
    }

    /// Who it is.
    pub(super) fn peer(&self) -> Peer {
        self.peer
    }

    /// What goes on there.
    pub(super) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }
}

/// Ends the connection of who had to give way.
fn end(evicted: Option<Taken>) {
    let Some(Taken { peer, task: Some(task), .. }) = evicted else { return };
    task.abort();
    tracing::info!(fault = "api-gave-way", %peer, "an idle connection to the API gave way to another");
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.table().taken.remove(&self.number);
    }
}

impl Taken {
    /// When it was heard last, if it is known, waits for nothing, and can be ended.
    fn idle_since(&self) -> Option<u64> {
        let can_end = self.is_known && self.task.is_some();
        can_end.then(|| self.activity.idle_since()).flatten()
    }
}

impl Table {
    fn count(&self, which: impl Fn(&Taken) -> bool) -> usize {
        self.taken.values().filter(|taken| which(taken)).count()
    }

    /// Makes room; what had it before comes back.
    fn room_for_known(&mut self, peer: Peer) -> Result<Option<Taken>, Full> {
        let of = |peer| self.count(|taken| taken.is_known && taken.peer == peer);
        if of(peer) >= MOST_KNOWN_OF_ONE && !peer.is_root() {
            return self.idlest(|it| it == peer).ok_or(Full::OfPeer).map(Some);
        }
        let most = if peer.is_root() { MOST_KNOWN } else { MOST_KNOWN - FOR_ROOT };
        if self.count(|taken| taken.is_known) < most {
            return Ok(None);
        }
        let idle = self.taken.values().filter(|taken| taken.idle_since().is_some());
        let whose = idle.map(|taken| taken.peer).max_by_key(|peer| of(*peer));
        self.idlest(|it| Some(it) == whose).ok_or(Full::All).map(Some)
    }

    /// Of these peers the connection that nobody waits at, for longest.
    fn idlest(&mut self, whose: impl Fn(Peer) -> bool) -> Option<Taken> {
        let theirs = self.taken.iter().filter(|(_, taken)| whose(taken.peer));
        let since = theirs.filter_map(|(number, taken)| Some((taken.idle_since()?, *number)));
        let (_, number) = since.min()?;
        self.taken.remove(&number)
    }

    /// Makes room; what had it before comes back.
    fn room_for_unknown(&mut self, peer: Peer, now: Instant) -> Result<Option<Taken>, Full> {
        self.failures.retain(|_, (_, since)| now.duration_since(*since) < FAILURE_TIME);
        if self.failures.get(&peer).is_some_and(|(times, _)| *times >= MOST_FAILURES) {
            return Err(Full::Wrong);
        }
        let unknown = |taken: &Taken| !taken.is_known;
        let of = |peer| self.count(|taken| unknown(taken) && taken.peer == peer);
        let whose = if of(peer) >= MOST_UNKNOWN_OF_ONE {
            peer
        } else if self.count(unknown) >= MOST_UNKNOWN {
            let peers = self.taken.values().filter(|taken| unknown(taken)).map(|taken| taken.peer);
            peers.max_by_key(|peer| of(*peer)).unwrap_or(peer)
        } else {
            return Ok(None);
        };
        let mut theirs =
            self.taken.iter().filter(|(_, taken)| unknown(taken) && taken.peer == whose);
        let oldest = theirs.next().map(|(number, _)| *number);
        Ok(oldest.and_then(|number| self.taken.remove(&number)))
    }

    fn failed(&mut self, peer: Peer, now: Instant) {
        if self.failures.len() < MOST_FAILING || self.failures.contains_key(&peer) {
            self.failures.entry(peer).or_insert((0, now)).0 += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(last: u8) -> Peer {
        Peer::machine([192, 0, 2, last].into())
    }

    fn unknown(places: &Places) -> usize {
        places.table().count(|taken| !taken.is_known)
    }

    #[test]
    fn idle_strangers_do_not_keep_out_who_comes() {
        let (places, now) = (Places::default(), Instant::now());
        let flood: Vec<_> =
            (0..1000).map(|_| places.of_unknown(machine(1), now).unwrap()).collect();
        assert_eq!(unknown(&places), MOST_UNKNOWN_OF_ONE);
        let other = places.of_unknown(machine(2), now).unwrap();
        assert_eq!(unknown(&places), MOST_UNKNOWN_OF_ONE + 1);
        assert_eq!(other.is_known(), Ok(()));
        drop(flood);
        assert_eq!(unknown(&places), 0);
    }

    #[test]
    fn of_many_machines_the_one_that_has_most_gives_way() {
        let (places, now) = (Places::default(), Instant::now());
        let mut all: Vec<_> = (0..8).map(|_| places.of_unknown(machine(1), now).unwrap()).collect();
        all.extend((2..100).map(|last| places.of_unknown(machine(last), now).unwrap()));
        let of_first = places.table().count(|taken| taken.peer == machine(1));
        assert_eq!((unknown(&places), of_first), (MOST_UNKNOWN, 1));
        let newest = places.of_unknown(machine(200), now).unwrap();
        assert!(places.table().taken.contains_key(&newest.number));
    }

    #[test]
    fn a_user_has_its_share_and_root_a_reserve() {
        let places = Places::default();
        let of = |user, count: usize| -> Vec<_> {
            (0..count).map_while(|_| places.of_known(Peer::User(user)).ok()).collect()
        };
        let one = of(1000, 1000);
        assert_eq!(one.len(), MOST_KNOWN_OF_ONE);
        assert_eq!(places.of_known(Peer::User(1000)).err(), Some(Full::OfPeer));
        let others: Vec<_> = (1..10).map(|user| of(user, 1000)).collect();
        assert_eq!(others.iter().map(Vec::len).sum::<usize>(), MOST_KNOWN - FOR_ROOT - one.len());
        assert_eq!(places.of_known(Peer::User(77)).err(), Some(Full::All));
        assert_eq!(of(0, 1000).len(), FOR_ROOT);
    }

    #[tokio::test]
    async fn who_waits_for_nothing_longest_gives_way_to_one_more() {
        let places = Places::default();
        let taken = |user, count: usize| -> Vec<_> {
            let one = || {
                let place = places.of_known(Peer::User(user)).unwrap();
                place.is_served_by(tokio::spawn(std::future::pending::<()>()).abort_handle());
                place
            };
            (0..count).map(|_| one()).collect()
        };
        let is_there = |place: &Place| places.table().taken.contains_key(&place.number);
        let of_one = taken(1000, MOST_KNOWN_OF_ONE);
        // It asks for something; the next was heard since.
        let waits = of_one[0].activity().busy();
        of_one[1].activity().hear();
        let more = taken(1000, 2);
        let gone: Vec<_> = (0..5).filter(|n| !is_there(&of_one[*n])).collect();
        assert_eq!(gone, [2, 3]);
        assert!(more.iter().all(|place| is_there(place)));
        // Of all, somebody of the one who has most; where all wait, nobody.
        let others: Vec<_> = (1..=4).map(|user| taken(user, 44)).collect();
        let known = places.table().count(|taken| taken.is_known);
        assert_eq!(known, MOST_KNOWN - FOR_ROOT);
        drop(taken(77, 1));
        assert!(others.iter().flatten().all(|place| is_there(place)));
        assert_eq!(of_one.iter().filter(|place| is_there(place)).count(), MOST_KNOWN_OF_ONE - 3);
        let _filled = taken(77, 1);
        let all = [&of_one, &more, &_filled].into_iter().chain(&others);
        let waiting: Vec<_> = all.flatten().map(|place| place.activity().busy()).collect();
        assert_eq!(places.of_known(Peer::User(78)).err(), Some(Full::All));
        drop((waiting, waits));
        assert!(places.of_known(Peer::User(78)).is_ok());
    }

    #[test]
    fn a_machine_that_guesses_is_not_heard_for_a_while() {
        let (places, now) = (Places::default(), Instant::now());
        let place = places.of_unknown(machine(1), now).unwrap();
        (0..MOST_FAILURES).for_each(|_| place.failed(now));
        assert_eq!(places.of_unknown(machine(1), now).err(), Some(Full::Wrong));
        assert!(places.of_unknown(machine(2), now).is_ok());
        assert!(places.of_unknown(machine(1), now + FAILURE_TIME).is_ok());
    }

    #[test]
    fn a_network_of_ipv6_is_one_machine() {
        let of = |text: &str| Peer::machine(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:0:0:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.7"), machine(7));
    }
}
