//! Link aggregation control of one bond (IEEE 802.1AX-2014 section 6.4): what each member hears,
//! which of them are of one group, and what they say. Times come in, messages go out; nothing else
//! is touched.
//!
//! ```text
//!  receive   Disabled ─link─▶ Expired ─3 s─▶ Defaulted      a message: Current, for 3 or 90 s, then Expired
//!  mux       Detached ─selected─▶ Waiting ─2 s─▶ Attached ─they are in sync─▶ Collecting ─they collect─▶ Distributing
//!  periodic  every 1 or 30 s, as the other end wants it, if either end is active
//!  transmit  what changed, at most three messages a second
//! ```
//! All members are of one key. Selected are those whose other ends are of one system and key: of
//! that which the bond has already, while any is left, else of that with most members. A member
//! whose other end says nothing carries nothing.

use std::collections::BTreeMap;
use wire::lacp::{End, Pdu, state};

const SECOND_NS: u64 = 1_000_000_000;
/// Section 6.4.4: between messages where the other end wants to hear soon, and where not.
const FAST_PERIODIC_NS: u64 = SECOND_NS;
const SLOW_PERIODIC_NS: u64 = 30 * SECOND_NS;
/// Three messages missed.
const SHORT_TIMEOUT_NS: u64 = 3 * SECOND_NS;
const LONG_TIMEOUT_NS: u64 = 90 * SECOND_NS;
/// How long is waited for other members before one joins.
const AGGREGATE_WAIT_NS: u64 = 2 * SECOND_NS;
/// Messages of a member in [`FAST_PERIODIC_NS`].
const MOST_SENT: usize = 3;

/// What a bond says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Own {
    pub(crate) system_priority: u16,
    pub(crate) system: [u8; 6],
    pub(crate) key: u16,
    pub(crate) port_priority: u16,
    /// It speaks without being spoken to.
    pub(crate) is_active: bool,
    /// It wants to hear every second.
    pub(crate) is_fast: bool,
}

/// What a member has heard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Receive {
    /// Its link is down.
    Disabled,
    /// Nothing for too long: soon it is given up.
    Expired,
    /// Nothing at all.
    Defaulted,
    /// A message, and the next is not due yet.
    Current,
}

/// Whether a member is of the group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mux {
    /// It is not.
    Detached,
    /// It is to be, from then on.
    Waiting(u64),
    /// It is, and the other end is told.
    Attached,
    /// It takes frames in.
    Collecting,
    /// It sends frames, too.
    Distributing,
}

impl Receive {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Expired => "expired",
            Self::Defaulted => "defaulted",
            Self::Current => "current",
        }
    }
}

impl Mux {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Detached => "detached",
            Self::Waiting(_) => "waiting",
            Self::Attached => "attached",
            Self::Collecting => "collecting",
            Self::Distributing => "distributing",
        }
    }
}

/// One member.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) receive: Receive,
    pub(crate) mux: Mux,
    /// What is known of the other end.
    pub(crate) partner: End,
    /// Messages that came, and that went.
    pub(crate) heard: u64,
    pub(crate) sent: u64,
    is_selected: bool,
    /// When what is known of the other end is too old.
    current_until: u64,
    next_periodic: Option<u64>,
    wants_to_say: bool,
    /// When the last messages went.
    last_sent: [Option<u64>; MOST_SENT],
}

/// Whose ports may be one: system priority, system and key.
type Group = (u16, [u8; 6], u16);

/// A bond's members, by their port numbers.
#[derive(Debug)]
pub(crate) struct Machine {
    own: Own,
    members: BTreeMap<u16, Member>,
    group: Option<Group>,
}

impl Member {
    fn new() -> Self {
        Self {
            receive: Receive::Disabled,
            mux: Mux::Detached,
            partner: End::default(),
            heard: 0,
            sent: 0,
            is_selected: false,
            current_until: 0,
            next_periodic: None,
            wants_to_say: false,
            last_sent: [None; MOST_SENT],
        }
    }

    /// It takes frames in.
    pub(crate) fn collects(&self) -> bool {
        matches!(self.mux, Mux::Collecting | Mux::Distributing)
    }

    /// It sends frames.
    pub(crate) fn distributes(&self) -> bool {
        self.mux == Mux::Distributing
    }

    fn is_up(&self) -> bool {
        self.receive != Receive::Disabled
    }

    fn expire(&mut self, now: u64) {
        self.receive = Receive::Expired;
        self.partner.state &= !state::SYNCHRONIZATION;
        self.partner.state |= state::SHORT_TIMEOUT;
        self.current_until = now + SHORT_TIMEOUT_NS;
        self.wants_to_say = true;
    }

    /// Whose group it could be of.
    fn candidate(&self, own: &Own) -> Option<Group> {
        let knows = matches!(self.receive, Receive::Current | Receive::Expired);
        let other = &self.partner;
        let is_fit = knows && other.is(state::AGGREGATION) && other.system != own.system;
        is_fit.then_some((other.system_priority, other.system, other.key))
    }

    fn follow_timers(&mut self, now: u64, own: &Own) {
        if !self.is_up() || now < self.current_until {
            return;
        }
        match self.receive {
            Receive::Current => self.expire(now),
            Receive::Expired => {
                self.receive = Receive::Defaulted;
                // Who wants to hear soon goes on asking soon.
                let state = if own.is_fast { state::SHORT_TIMEOUT } else { 0 };
                self.partner = End { state, ..End::default() };
                self.is_selected = false;
                self.wants_to_say = true;
            }
            Receive::Disabled | Receive::Defaulted => {}
        }
    }

    /// Goes on to the next state of the group, if there is one now.
    fn step(&mut self, now: u64) -> bool {
        let is_in_sync = self.is_selected && self.partner.is(state::SYNCHRONIZATION);
        let next = match self.mux {
            Mux::Detached if self.is_selected => Mux::Waiting(now + AGGREGATE_WAIT_NS),
            Mux::Waiting(_) | Mux::Attached if !self.is_selected => Mux::Detached,
            Mux::Waiting(until) if now >= until => Mux::Attached,
            Mux::Attached if is_in_sync => Mux::Collecting,
            Mux::Collecting | Mux::Distributing if !is_in_sync => Mux::Attached,
            Mux::Collecting if self.partner.is(state::COLLECTING) => Mux::Distributing,
            Mux::Distributing if !self.partner.is(state::COLLECTING) => Mux::Collecting,
            same => same,
        };
        let steps = next != self.mux;
        self.wants_to_say |= steps && !matches!(next, Mux::Waiting(_));
        self.mux = next;
        steps
    }

    fn follow_period(&mut self, now: u64, own: &Own) {
        let speaks = own.is_active || self.partner.is(state::ACTIVITY);
        if !self.is_up() || !speaks {
            (self.next_periodic, self.wants_to_say) = (None, false);
            return;
        }
        let is_fast = self.partner.is(state::SHORT_TIMEOUT);
        let period = if is_fast { FAST_PERIODIC_NS } else { SLOW_PERIODIC_NS };
        // The other end wants to hear sooner than it was to.
        let is_due = self.next_periodic.is_none_or(|next| next <= now || next > now + period);
        if is_due {
            self.wants_to_say = true;
            self.next_periodic = Some(now + period);
        }
    }

    /// When it may say something again.
    fn may_say(&self) -> u64 {
        self.last_sent[MOST_SENT - 1].map_or(0, |oldest| oldest + FAST_PERIODIC_NS)
    }
}

impl Machine {
    pub(crate) fn new(own: Own) -> Self {
        Self { own, members: BTreeMap::new(), group: None }
    }

    /// The members, by number.
    #[cfg(test)]
    pub(crate) fn members(&self) -> impl Iterator<Item = (u16, &Member)> {
        self.members.iter().map(|(port, member)| (*port, member))
    }

    pub(crate) fn member(&self, port: u16) -> Option<&Member> {
        self.members.get(&port)
    }

    /// Whose group the bond is of.
    pub(crate) fn group(&self) -> Option<Group> {
        self.group
    }

    /// Says other things of itself from now on.
    pub(crate) fn set_own(&mut self, own: Own) {
        if self.own != own {
            self.own = own;
            self.members.values_mut().for_each(|member| member.wants_to_say = true);
        }
    }

    /// The members that there are now, and whether their links are up.
    pub(crate) fn set_links(&mut self, now: u64, links: &BTreeMap<u16, bool>) {
        self.members.retain(|port, _| links.contains_key(port));
        for (port, up) in links {
            let member = self.members.entry(*port).or_insert_with(Member::new);
            match (member.is_up(), up) {
                (false, true) => {
                    member.partner = End::default();
                    member.expire(now);
                }
                (true, false) => {
                    let Member { heard, sent, .. } = *member;
                    *member = Member { heard, sent, ..Member::new() };
                }
                _ => {}
            }
        }
    }

    /// A member has heard a message.
    pub(crate) fn heard(&mut self, now: u64, port: u16, pdu: &Pdu) {
        let Some(own) = self.members.get(&port).map(|member| self.end_of(port, member)) else {
            return;
        };
        let timeout = if self.own.is_fast { SHORT_TIMEOUT_NS } else { LONG_TIMEOUT_NS };
        let is_active = self.own.is_active;
        let Some(member) = self.members.get_mut(&port).filter(|member| member.is_up()) else {
            return;
        };
        member.heard += 1;
        let Pdu { mut actor, partner: told } = *pdu;
        let kept = state::ACTIVITY | state::SHORT_TIMEOUT | state::SYNCHRONIZATION;
        let knows_us = is_same(&told, &own);
        member.wants_to_say |= !knows_us || (told.state ^ own.state) & kept != 0;
        let is_spoken = actor.is(state::ACTIVITY) || is_active && pdu.partner.is(state::ACTIVITY);
        let is_alone = !actor.is(state::AGGREGATION);
        if !(is_spoken && (knows_us || is_alone)) {
            actor.state &= !state::SYNCHRONIZATION;
        }
        member.partner = actor;
        member.receive = Receive::Current;
        member.current_until = now + timeout;
    }

    /// Goes on as time and what was heard say: messages to be sent, by port.
    pub(crate) fn turn(&mut self, now: u64) -> Vec<(u16, Pdu)> {
        let own = self.own;
        self.members.values_mut().for_each(|member| member.follow_timers(now, &own));
        self.select();
        for member in self.members.values_mut() {
            while member.step(now) {}
            member.follow_period(now, &own);
        }
        let mut said = Vec::new();
        for (port, member) in &self.members {
            if member.wants_to_say && now >= member.may_say() {
                said.push((
                    *port,
                    Pdu { actor: self.end_of(*port, member), partner: member.partner },
                ));
            }
        }
        for (port, _) in &said {
            let Some(member) = self.members.get_mut(port) else { continue };
            member.wants_to_say = false;
            member.last_sent.rotate_right(1);
            member.last_sent[0] = Some(now);
            member.sent += 1;
        }
        said
    }

    /// Of one group are the members whose other ends are.
    fn select(&mut self) {
        let candidates = || self.members.values().filter_map(|it| it.candidate(&self.own));
        if !self.group.is_some_and(|group| candidates().any(|it| it == group)) {
            let mut counts: BTreeMap<Group, usize> = BTreeMap::new();
            candidates().for_each(|group| *counts.entry(group).or_default() += 1);
            // The best of those with most, by priority, system and key.
            let most = counts.values().copied().max();
            self.group = counts.into_iter().find(|(_, count)| Some(*count) == most).map(|it| it.0);
        }
        let (own, group) = (self.own, self.group);
        for member in self.members.values_mut() {
            let is_of = member.candidate(&own);
            member.is_selected = is_of.is_some() && is_of == group;
        }
    }

    /// What is said of a member.
    fn end_of(&self, port: u16, member: &Member) -> End {
        let Own { system_priority, system, key, port_priority, is_active, is_fast } = self.own;
        let attached = !matches!(member.mux, Mux::Detached | Mux::Waiting(_));
        let bits = [
            (is_active, state::ACTIVITY),
            (is_fast, state::SHORT_TIMEOUT),
            (true, state::AGGREGATION),
            (attached, state::SYNCHRONIZATION),
            (member.collects(), state::COLLECTING),
            (member.distributes(), state::DISTRIBUTING),
            (member.receive == Receive::Defaulted, state::DEFAULTED),
            (member.receive == Receive::Expired, state::EXPIRED),
        ];
        let state = bits.into_iter().filter(|(is, _)| *is).map(|(_, bit)| bit).sum();
        End { system_priority, system, key, port_priority, port, state }
    }
}

/// Whether both tell of the same port, which may be one of several alike.
fn is_same(one: &End, other: &End) -> bool {
    let names = |end: &End| End { state: end.state & state::AGGREGATION, ..*end };
    names(one) == names(other)
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
