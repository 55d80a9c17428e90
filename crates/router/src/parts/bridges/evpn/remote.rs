//! What a routing daemon has put into the mailbox of a bridge: others' stations, where frames are
//! flooded to, and who has which address.
//!
//! ```text
//!  the kernel's changes ─▶ hear ─▶ stations, floods, addresses
//!  clock ─▶ next_to_ask: is it still meant? ─ it is put back ─▶ it is
//!                                            └ nobody does, for `hold` ─▶ gone
//! ```
//! A daemon that ends without a word leaves all of it behind, and one that starts again does not
//! know what the one before it left. So each is asked for now and then: it is taken out of the
//! mailbox, and who means it puts it back at once. Meanwhile it counts.

use super::take_out;
use netlink::neighbor::{About, NeighborChange};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::ops::Bound;
use std::time::{Duration, Instant};

/// Most stations of a mailbox, and most addresses: more than that are refused.
const MOST: usize = 1 << 20;
/// Most ends that frames are flooded to.
const MOST_FLOODS: usize = 1024;

/// The kernel's numbers of a mailbox's links.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    /// What its addresses are on.
    pub(super) bridge: u32,
    /// The port of our stations.
    pub(super) stations: u32,
    /// The port of others'.
    pub(super) remotes: u32,
}

/// What is known of a station.
#[derive(Clone, Copy, Debug, Default)]
struct Station {
    /// The bridge has it behind the tunnel.
    is_there: bool,
    /// Behind which end.
    to: Option<IpAddr>,
    /// Since when it has been asked for.
    asked: Option<Instant>,
}

/// Who has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) mac: [u8; 6],
    pub(super) is_router: bool,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Station([u8; 6]),
    Flood(IpAddr),
    Address(IpAddr),
}

/// What changed, for whoever keeps tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// A station is behind this end, or no end's any more.
    Station([u8; 6], Option<IpAddr>),
    /// One of ours is another's now, by the routing daemon's word.
    LeftUs([u8; 6]),
    /// Somebody took one of ours out of the mailbox.
    Lost([u8; 6]),
    /// Somebody took an address of ours out of it.
    LostAddress(IpAddr),
    /// Where frames are flooded to is another.
    Floods,
    /// Who has which address is another.
    Addresses,
}

/// See the module.
#[derive(Default)]
pub(super) struct Remote {
    stations: BTreeMap<[u8; 6], Station>,
    floods: BTreeMap<IpAddr, Option<Instant>>,
    addresses: BTreeMap<IpAddr, (Owner, Option<Instant>)>,
    /// To be asked for, in this round.
    questions: VecDeque<Question>,
    /// When the round began.
    round: Option<Instant>,
    /// What is taken out of it stays as what is asked for does, and as long as somebody uses it.
    lingers: bool,
    /// What there was no room for.
    pub(super) refused: u64,
}

impl Remote {
    /// Of a mailbox where nothing is told yet, whose entries linger or do not.
    pub(super) fn new(lingers: bool) -> Self {
        Self { lingers, ..Self::default() }
    }

    /// The end that a station is behind.
    pub(super) fn end_of(&self, mac: [u8; 6]) -> Option<IpAddr> {
        self.stations.get(&mac).and_then(Station::end)
    }

    /// All stations with the ends that they are behind.
    pub(super) fn stations(&self) -> impl Iterator<Item = ([u8; 6], IpAddr)> {
        self.stations.iter().filter_map(|(mac, station)| Some((*mac, station.end()?)))
    }

    /// The same behind one, with those whose end is not known; in order.
    pub(super) fn stations_from(
        &self,
        from: Bound<[u8; 6]>,
    ) -> impl Iterator<Item = ([u8; 6], Option<IpAddr>)> {
        let range = self.stations.range((from, Bound::Unbounded));
        range.map(|(mac, station)| (*mac, station.end()))
    }

    /// How many stations there are, with those whose end is not known.
    pub(super) fn count(&self) -> usize {
        self.stations.len()
    }

    /// Where frames to groups and unknown stations go.
    pub(super) fn floods(&self) -> impl Iterator<Item = IpAddr> {
        self.floods.keys().copied()
    }

    /// Who has which address.
    pub(super) fn addresses(&self) -> impl Iterator<Item = (IpAddr, Owner)> {
        self.addresses.iter().map(|(address, (owner, _))| (*address, *owner))
    }

    /// Who has an address.
    pub(super) fn owner_of(&self, address: IpAddr) -> Option<Owner> {
        self.addresses.get(&address).map(|(owner, _)| *owner)
    }

    /// The mailbox is new, or not all that changed in it was seen: this is all of it.
    pub(super) fn hear_all(&mut self, links: Links, all: &[NeighborChange], out: &mut Vec<Told>) {
        let had: Vec<_> = self.stations().map(|(mac, _)| mac).collect();
        *self = Self { refused: self.refused, lingers: self.lingers, ..Self::default() };
        all.iter().for_each(|change| self.hear(links, change, out));
        let gone = had.into_iter().filter(|mac| self.end_of(*mac).is_none());
        out.extend(gone.map(|mac| Told::Station(mac, None)));
        out.extend([Told::Floods, Told::Addresses]);
    }

    /// Something changed in the mailbox.
    pub(super) fn hear(&mut self, links: Links, change: &NeighborChange, out: &mut Vec<Told>) {
        let NeighborChange { link, about, is_learned_elsewhere, is_router, .. } = *change;
        // The kernel tells of a neighbour that is taken out that it does not answer, first.
        let is_new = change.is_new && !matches!(about, About::Neighbor(_, None));
        if self.lingers && !is_new {
            return self.linger(links, link, about);
        }
        match about {
            About::Station(mac) if link == links.remotes => {
                // What the kernel's bridge learned by itself is not meant.
                if is_new && is_learned_elsewhere {
                    self.change(mac, out, |station| {
                        (station.is_there, station.asked) = (true, None)
                    });
                    out.push(Told::LeftUs(mac));
                } else if !is_new {
                    self.change(mac, out, |station| station.is_there &= station.asked.is_some());
                }
            }
            About::Station(mac) if link == links.stations => match is_new {
                true => self.change(mac, out, |station| {
                    (station.is_there, station.asked) = (false, None);
                }),
                false => out.push(Told::Lost(mac)),
            },
            About::Remote(mac, to) if link == links.remotes => {
                self.change(mac, out, |station| match is_new {
                    true => station.to = Some(to),
                    false => station.to = station.to.filter(|had| *had != to),
                });
            }
            About::Flood(to) if link == links.remotes => {
                let is_asked = self.floods.get(&to).is_some_and(Option::is_some);
                let room = self.floods.len() < MOST_FLOODS || self.floods.contains_key(&to);
                match (is_new, room) {
                    (true, true) => {
                        if self.floods.insert(to, None).is_none() {
                            out.push(Told::Floods);
                        }
                    }
                    (true, false) => self.refused += 1,
                    (false, _) if !is_asked && self.floods.remove(&to).is_some() => {
                        out.push(Told::Floods);
                    }
                    (false, _) => {}
                }
            }
            About::Neighbor(address, mac) if link == links.bridge => {
                let mac = mac.filter(|_| is_new && is_learned_elsewhere);
                self.change_address(address, mac.map(|mac| Owner { mac, is_router }), is_new, out);
            }
            _ => {}
        }
    }

    /// It counts still, as if it had been asked for.
    fn linger(&mut self, links: Links, link: u32, about: About) {
        let question = match about {
            About::Station(mac) if link == links.remotes => Question::Station(mac),
            About::Flood(to) if link == links.remotes => Question::Flood(to),
            About::Neighbor(address, _) if link == links.bridge => Question::Address(address),
            _ => return,
        };
        self.asked(question, Instant::now());
    }

    fn change(&mut self, mac: [u8; 6], out: &mut Vec<Told>, change: impl FnOnce(&mut Station)) {
        if !self.stations.contains_key(&mac) && self.stations.len() >= MOST {
            self.refused += 1;
            return;
        }
        let station = self.stations.entry(mac).or_default();
        let had = station.end();
        change(station);
        let has = station.end();
        if !station.is_there && station.to.is_none() {
            self.stations.remove(&mac);
        }
        if had != has {
            out.push(Told::Station(mac, has));
        }
    }

    fn change_address(
        &mut self,
        address: IpAddr,
        owner: Option<Owner>,
        is_new: bool,
        out: &mut Vec<Told>,
    ) {
        let known = self.addresses.get(&address).copied();
        match (owner, known) {
            (Some(_), None) if self.addresses.len() >= MOST => self.refused += 1,
            (Some(owner), known) => {
                self.addresses.insert(address, (owner, None));
                if known.is_none_or(|(had, _)| had != owner) {
                    out.push(Told::Addresses);
                }
            }
            // Taken out by ourselves, to ask.
            (None, Some((_, Some(_)))) if !is_new => {}
            (None, Some(_)) => {
                self.addresses.remove(&address);
                out.push(Told::Addresses);
            }
            (None, None) if !is_new => out.push(Told::LostAddress(address)),
            (None, None) => {}
        }
    }

    /// What is to be asked for next, if it is time; all is asked for once every `hold`.
    pub(super) fn next_to_ask(&mut self, now: Instant, hold: Duration) -> Option<Question> {
        let round = *self.round.get_or_insert(now);
        if self.questions.is_empty() && now.duration_since(round) >= hold {
            self.round = Some(now);
            let stations = self.stations.iter().filter(|(_, it)| it.is_there && it.asked.is_none());
            let floods = self.floods.iter().filter(|(_, asked)| asked.is_none());
            let addresses = self.addresses.iter().filter(|(_, (_, asked))| asked.is_none());
            self.questions.extend(stations.map(|(mac, _)| Question::Station(*mac)));
            self.questions.extend(floods.map(|(to, _)| Question::Flood(*to)));
            self.questions.extend(addresses.map(|(address, _)| Question::Address(*address)));
        }
        self.questions.pop_front()
    }

    /// It was asked for.
    pub(super) fn asked(&mut self, question: Question, now: Instant) {
        let asked = match question {
            Question::Station(mac) => self.stations.get_mut(&mac).map(|it| &mut it.asked),
            Question::Flood(to) => self.floods.get_mut(&to),
            Question::Address(address) => self.addresses.get_mut(&address).map(|(_, asked)| asked),
        };
        if let Some(asked) = asked {
            *asked = Some(now);
        }
    }

    /// Whether there is something that was asked for and nobody means.
    pub(super) fn may_give_up(&self, now: Instant, hold: Duration) -> bool {
        let stations = self.stations.values().map(|it| it.asked);
        let addresses = self.addresses.values().map(|(_, asked)| *asked);
        let mut all = stations.chain(self.floods.values().copied()).chain(addresses);
        all.any(|asked| is_over(asked, now, hold))
    }

    /// Forgets what was asked for and nobody means, unless it is of an address that is used:
    /// stations of which the mailbox still has the end come back.
    pub(super) fn give_up(
        &mut self,
        now: Instant,
        hold: Duration,
        is_used: impl Fn(IpAddr) -> bool,
        out: &mut Vec<Told>,
    ) -> Vec<([u8; 6], IpAddr)> {
        let used = self.addresses.iter().filter(|(address, _)| is_used(**address));
        let kept: BTreeSet<[u8; 6]> = used.map(|(_, (owner, _))| owner.mac).collect();
        let is_over = |asked| is_over(asked, now, hold);
        let gone = take_out(&mut self.stations, usize::MAX, |mac, station| {
            is_over(station.asked) && !kept.contains(mac)
        });
        let gone = gone.into_iter().filter_map(|(mac, station)| Some((mac, station.end()?)));
        let gone: Vec<_> = gone.collect();
        out.extend(gone.iter().map(|(mac, _)| Told::Station(*mac, None)));
        let had = (self.floods.len(), self.addresses.len());
        self.floods.retain(|_, asked| !is_over(*asked));
        self.addresses.retain(|address, (_, asked)| !is_over(*asked) || is_used(*address));
        out.extend((self.floods.len() != had.0).then_some(Told::Floods));
        out.extend((self.addresses.len() != had.1).then_some(Told::Addresses));
        gone
    }
}

fn is_over(asked: Option<Instant>, now: Instant, hold: Duration) -> bool {
    asked.is_some_and(|asked| now.duration_since(asked) >= hold)
}

impl Station {
    fn end(&self) -> Option<IpAddr> {
        self.to.filter(|_| self.is_there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKS: Links = Links { bridge: 1, stations: 2, remotes: 3 };
    const MAC: [u8; 6] = [6, 0, 0, 0, 0, 1];
    const HOLD: Duration = Duration::from_secs(60);

    fn end(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn change(link: u32, about: About, is_new: bool) -> NeighborChange {
        let is_learned_elsewhere = link != LINKS.stations;
        NeighborChange { link, about, is_new, is_learned_elsewhere, is_router: false }
    }

    fn told(remote: &mut Remote, link: u32, about: About, is_new: bool) -> Vec<Told> {
        let mut out = Vec::new();
        remote.hear(LINKS, &change(link, about, is_new), &mut out);
        out
    }

    /// A station behind the end 9, one end flooded to, one address.
    fn filled() -> Remote {
        let mut remote = Remote::default();
        told(&mut remote, 3, About::Station(MAC), true);
        told(&mut remote, 3, About::Remote(MAC, end(9)), true);
        told(&mut remote, 3, About::Flood(end(9)), true);
        told(&mut remote, 1, About::Neighbor(end(7), Some(MAC)), true);
        remote
    }

    #[test]
    fn a_station_is_there_when_bridge_and_tunnel_say_so() {
        let mut remote = Remote::default();
        let left = Told::LeftUs(MAC);
        assert_eq!(told(&mut remote, 3, About::Station(MAC), true), [left]);
        let there = [Told::Station(MAC, Some(end(9)))];
        assert_eq!(told(&mut remote, 3, About::Remote(MAC, end(9)), true), there);
        let moved = [Told::Station(MAC, Some(end(8)))];
        assert_eq!(told(&mut remote, 3, About::Remote(MAC, end(8)), true), moved);
        assert_eq!(told(&mut remote, 3, About::Remote(MAC, end(9)), false), []);
        // It comes to us: the tunnel may know it still.
        let gone = [Told::Station(MAC, None)];
        assert_eq!(told(&mut remote, 2, About::Station(MAC), true), gone);
        assert_eq!(remote.end_of(MAC), None);
        let back = [Told::Station(MAC, Some(end(8))), left];
        assert_eq!(told(&mut remote, 3, About::Station(MAC), true), back);
        assert_eq!(told(&mut remote, 3, About::Station(MAC), false), gone);
        assert_eq!(told(&mut remote, 3, About::Remote(MAC, end(8)), false), []);
        assert!(remote.stations.is_empty());
    }

    #[test]
    fn what_the_kernel_learned_by_itself_and_other_links_do_not_count() {
        let mut remote = Remote::default();
        let learned =
            NeighborChange { is_learned_elsewhere: false, ..change(3, About::Station(MAC), true) };
        let mut out = Vec::new();
        remote.hear(LINKS, &learned, &mut out);
        for about in [About::Station(MAC), About::Flood(end(9)), About::Neighbor(end(7), Some(MAC))]
        {
            remote.hear(LINKS, &change(9, about, true), &mut out);
        }
        assert!(out.is_empty() && remote.stations.is_empty());
    }

    #[test]
    fn what_is_asked_for_counts_until_nobody_puts_it_back() {
        let (mut remote, start) = (filled(), Instant::now());
        assert_eq!(remote.next_to_ask(start, HOLD), None);
        let later = start + HOLD;
        let mut questions = Vec::new();
        while let Some(question) = remote.next_to_ask(later, HOLD) {
            remote.asked(question, later);
            questions.push(question);
        }
        let all = [Question::Station(MAC), Question::Flood(end(9)), Question::Address(end(7))];
        assert_eq!(questions, all);
        // Our own taking out is seen as well.
        assert_eq!(told(&mut remote, 3, About::Station(MAC), false), []);
        assert_eq!(told(&mut remote, 3, About::Flood(end(9)), false), []);
        assert_eq!(told(&mut remote, 1, About::Neighbor(end(7), None), true), []);
        assert_eq!(told(&mut remote, 1, About::Neighbor(end(7), None), false), []);
        assert_eq!(remote.owner_of(end(7)).map(|owner| owner.mac), Some(MAC));
        assert_eq!(remote.end_of(MAC), Some(end(9)));
        // The end that is flooded to is meant, the rest is not.
        assert_eq!(told(&mut remote, 3, About::Flood(end(9)), true), []);
        let mut out = Vec::new();
        assert!(!remote.may_give_up(later + HOLD / 2, HOLD));
        assert!(remote.may_give_up(later + HOLD, HOLD));
        assert_eq!(remote.give_up(later + HOLD, HOLD, |_| false, &mut out), [(MAC, end(9))]);
        assert_eq!(out, [Told::Station(MAC, None), Told::Addresses]);
        assert_eq!(remote.floods().collect::<Vec<_>>(), [end(9)]);
    }

    #[test]
    fn a_router_that_routes_lead_by_stays_whatever_is_taken_out() {
        let mut remote = Remote { lingers: true, ..filled() };
        assert_eq!(told(&mut remote, 3, About::Station(MAC), false), []);
        assert_eq!(told(&mut remote, 3, About::Remote(MAC, end(9)), false), []);
        assert_eq!(told(&mut remote, 1, About::Neighbor(end(7), None), true), []);
        let (later, mut out) = (Instant::now() + HOLD, Vec::new());
        assert_eq!(remote.give_up(later, HOLD, |used| used == end(7), &mut out), []);
        assert_eq!((remote.end_of(MAC), out.len()), (Some(end(9)), 0));
        assert_eq!(remote.give_up(later, HOLD, |_| false, &mut out), [(MAC, end(9))]);
        assert_eq!(remote.addresses().count(), 0);
    }

    #[test]
    fn what_is_withdrawn_goes_at_once() {
        let mut remote = filled();
        let gone = [Told::Station(MAC, None)];
        assert_eq!(told(&mut remote, 3, About::Station(MAC), false), gone);
        assert_eq!(told(&mut remote, 3, About::Flood(end(9)), false), [Told::Floods]);
        assert_eq!(told(&mut remote, 1, About::Neighbor(end(7), None), false), [Told::Addresses]);
        // An address of our own that somebody takes out is to be told again.
        let lost = [Told::LostAddress(end(7))];
        assert_eq!(told(&mut remote, 1, About::Neighbor(end(7), None), false), lost);
        assert_eq!(told(&mut remote, 2, About::Station(MAC), false), [Told::Lost(MAC)]);
    }

    #[test]
    fn all_of_a_mailbox_takes_the_place_of_what_was_known() {
        let mut remote = filled();
        let other = [6, 0, 0, 0, 0, 2];
        let all = [
            change(3, About::Station(other), true),
            change(3, About::Remote(other, end(8)), true),
            change(3, About::Flood(end(8)), true),
        ];
        let mut out = Vec::new();
        remote.hear_all(LINKS, &all, &mut out);
        assert_eq!(remote.stations().collect::<Vec<_>>(), [(other, end(8))]);
        assert_eq!(remote.floods().collect::<Vec<_>>(), [end(8)]);
        assert_eq!(remote.addresses().count(), 0);
        assert!(out.contains(&Told::Station(MAC, None)) && out.contains(&Told::Addresses));
        assert!(out.contains(&Told::Station(other, Some(end(8)))));
    }
}
