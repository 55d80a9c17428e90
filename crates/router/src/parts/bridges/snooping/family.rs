//! Who listens to the groups of one family in one bridge, over time (RFC 4541 section 2.1.1; the
//! times are RFC 3376's, section 8, and RFC 3810's).
//!
//! ```text
//!  a report ─▶ behind this port, for so long ── nobody says it again ─▶ forgotten
//!  a leave  ─▶ asked twice whether others stay ── nobody does ───────▶ forgotten
//!  a question of a router's ─▶ it asks, we do not; what is behind its port gets all groups
//!  nobody asks ─▶ we do, where we are to
//! ```
//! Owned by the control thread. Bytes: some 100 for each port of a group; ports and groups are
//! bounded.

use nodes::tables::is_for_all;
use std::collections::BTreeMap;
use std::net::IpAddr;
use wire::listeners::{Message, Question, Record};

/// How often a port is asked whether others stay (RFC 3376 section 8.9), and how long after each
/// other (section 8.8).
const ASKED_AGAIN: u8 = 2;
/// See [`ASKED_AGAIN`].
pub(super) const LAST_NS: u64 = 1_000_000_000;
/// How long who stays has to say so, in all: one time more than it is asked, for who is slow.
const STAYS_NS: u64 = LAST_NS * (ASKED_AGAIN as u64 + 1);
/// Questions at the start, a quarter of the interval from each other (sections 8.6 and 8.7).
const AT_START: u8 = 2;
/// Nothing makes it be forgotten.
const NEVER: u64 = u64::MAX;

/// What goes for one bridge and family.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// We ask while nobody else does.
    pub(super) querier: bool,
    /// Whom the questions are from.
    pub(super) own: IpAddr,
    pub(super) interval_ns: u64,
    pub(super) response_ns: u64,
    pub(super) listens_ns: u64,
    pub(super) asks_ns: u64,
    pub(super) most: usize,
    pub(super) most_of_port: usize,
}

/// Where something was heard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behind {
    /// The interface.
    pub(super) port: u16,
    /// It is the router's own station, which our questions do not reach.
    pub(super) is_own: bool,
    /// Routers may be learned behind it.
    pub(super) learns_routers: bool,
    /// Who leaves there is alone.
    pub(super) fast_leave: bool,
}

/// A question to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ask {
    /// By this interface; none: by all.
    pub(super) port: Option<u16>,
    /// Of this group; none: of all.
    pub(super) group: Option<IpAddr>,
    /// How long hosts may take.
    pub(super) within_ns: u64,
}

/// A port behind which somebody listens to a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Membership {
    pub(super) until_ns: u64,
    /// The version that it was said in.
    pub(super) version: u8,
    /// How often it is still asked whether others stay, and when.
    leaving: Option<(u8, u64)>,
}

/// Somebody else who asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Querier {
    pub(super) address: IpAddr,
    pub(super) port: u16,
    until_ns: u64,
}

/// See the module.
#[derive(Default, Debug)]
pub(super) struct Family {
    pub(super) groups: BTreeMap<IpAddr, BTreeMap<u16, Membership>>,
    of_port: BTreeMap<u16, usize>,
    pub(super) routers: BTreeMap<u16, u64>,
    pub(super) querier: Option<Querier>,
    /// When we ask next, and how many questions of the start are left.
    next_ask: Option<(u64, u8)>,
    /// From when on who does not listen is known: somebody asked, and there was time to answer.
    asked_from_ns: Option<u64>,
    /// Whether somebody asks, and hosts had time to answer, as workers were told.
    pub(super) is_asked: bool,
    /// Something else that workers are to know is another.
    changed: bool,
    pub(super) reports: u64,
    pub(super) questions: u64,
    pub(super) refused: u64,
}

impl Family {
    /// Takes in what was heard.
    pub(super) fn hear(
        &mut self,
        now_ns: u64,
        rules: &Rules,
        behind: Behind,
        source: IpAddr,
        message: Message<'_>,
    ) {
        match message {
            Message::Question(question) => self.asked(now_ns, rules, behind, source, question),
            Message::Router => self.router(now_ns + rules.asks_ns, behind),
            Message::Records(records) => {
                self.reports += 1;
                for record in records.iter().filter(|record| is_learned(record.group)) {
                    self.said(now_ns, rules, behind, records.version, record);
                }
            }
            Message::Other => {}
        }
    }

    fn asked(
        &mut self,
        now_ns: u64,
        rules: &Rules,
        behind: Behind,
        source: IpAddr,
        question: Question,
    ) {
        self.questions += 1;
        let within_ns = u64::from(question.within_ms) * 1_000_000;
        if let Some(group) = question.group {
            // Whoever does not answer has left (RFC 3376 section 6.6.1).
            let until_ns = now_ns + within_ns * u64::from(ASKED_AGAIN) + LAST_NS;
            let ports = self.groups.get_mut(&group).filter(|_| !question.suppress);
            for membership in ports.into_iter().flat_map(BTreeMap::values_mut) {
                if membership.until_ns != NEVER {
                    membership.until_ns = membership.until_ns.min(until_ns);
                }
            }
            return;
        }
        // A switch that asks for others is no router (RFC 4541 section 2.1.1).
        if !source.is_unspecified() {
            self.router(now_ns + rules.asks_ns, behind);
        }
        // The lower address asks (RFC 3376 section 6.6.2); one that is none, none other's.
        let we_ask = rules.querier && self.querier.is_none();
        let is_lower = source.is_unspecified() || !rules.own.is_unspecified() && rules.own < source;
        if we_ask && is_lower {
            return;
        }
        let until_ns = now_ns + rules.asks_ns;
        self.querier = Some(Querier { address: source, port: behind.port, until_ns });
        self.next_ask = None;
        self.asked_from_ns.get_or_insert(now_ns + within_ns);
    }

    fn router(&mut self, until_ns: u64, behind: Behind) {
        if behind.learns_routers && !behind.is_own {
            self.changed |= self.routers.insert(behind.port, until_ns).is_none();
        }
    }

    fn said(
        &mut self,
        now_ns: u64,
        rules: &Rules,
        behind: Behind,
        version: u8,
        Record { group, listens }: Record,
    ) {
        let until_ns = if behind.is_own { NEVER } else { now_ns + rules.listens_ns };
        let known = self.groups.get_mut(&group).and_then(|ports| ports.get_mut(&behind.port));
        match (known, listens) {
            (Some(known), true) => *known = Membership { until_ns, version, leaving: None },
            (None, true) => {
                let port = self.of_port.get(&behind.port).copied().unwrap_or(0);
                let is_new = !self.groups.contains_key(&group);
                if is_new && self.groups.len() >= rules.most || port >= rules.most_of_port {
                    self.refused += 1;
                    return;
                }
                let membership = Membership { until_ns, version, leaving: None };
                self.groups.entry(group).or_default().insert(behind.port, membership);
                *self.of_port.entry(behind.port).or_default() += 1;
                self.changed = true;
            }
            (Some(_), false) if behind.is_own || behind.fast_leave => {
                self.retain(|other, port, _| (other, port) != (group, behind.port));
            }
            (Some(known), false) => {
                known.until_ns = known.until_ns.min(now_ns + STAYS_NS);
                let asks = rules.querier && self.querier.is_none() && known.leaving.is_none();
                if asks {
                    known.leaving = Some((ASKED_AGAIN, now_ns));
                }
            }
            (None, false) => {}
        }
    }

    /// Keeps what is so, and counts the ports' groups anew.
    pub(super) fn retain(&mut self, stays: impl Fn(IpAddr, u16, &Membership) -> bool) {
        let (changed, of_port) = (&mut self.changed, &mut self.of_port);
        self.groups.retain(|group, ports| {
            ports.retain(|port, membership| {
                let stays = stays(*group, *port, membership);
                if !stays {
                    *changed = true;
                    if let Some(count) = of_port.get_mut(port) {
                        *count = count.saturating_sub(1);
                    }
                }
                stays
            });
            !ports.is_empty()
        });
        of_port.retain(|_, count| *count > 0);
    }

    /// Forgets what was behind ports that are not among these any more.
    pub(super) fn keep_ports(&mut self, is_there: impl Fn(u16) -> bool) {
        self.retain(|_, port, _| is_there(port));
        let had = self.routers.len();
        self.routers.retain(|port, _| is_there(*port));
        self.changed |= self.routers.len() != had;
        self.querier = self.querier.filter(|querier| is_there(querier.port));
    }

    /// Asks all again soon: a port came, or a link is back.
    pub(super) fn ask_soon(&mut self, now_ns: u64) {
        if self.next_ask.is_some() {
            self.next_ask = Some((now_ns, AT_START));
        }
    }

    /// Lets time pass: forgets, and says what is to be asked.
    pub(super) fn turn(&mut self, now_ns: u64, rules: &Rules) -> Vec<Ask> {
        self.retain(|_, _, membership| membership.until_ns > now_ns);
        let had = self.routers.len();
        self.routers.retain(|_, until_ns| *until_ns > now_ns);
        self.changed |= self.routers.len() != had;
        self.querier = self.querier.filter(|querier| querier.until_ns > now_ns);
        let mut asks = Vec::new();
        if self.querier.is_some() || !rules.querier {
            self.next_ask = None;
        } else {
            let (due_ns, left) = self.next_ask.unwrap_or((now_ns, AT_START));
            self.next_ask = Some((due_ns, left));
            if due_ns <= now_ns {
                asks.push(Ask { port: None, group: None, within_ns: rules.response_ns });
                self.asked_from_ns.get_or_insert(now_ns + rules.response_ns);
                let left = left.saturating_sub(1);
                let wait_ns = if left > 0 { rules.interval_ns / 4 } else { rules.interval_ns };
                self.next_ask = Some((now_ns + wait_ns, left));
            }
            self.ask_who_stays(now_ns, &mut asks);
        }
        if self.querier.is_none() && self.next_ask.is_none() {
            self.asked_from_ns = None;
        }
        asks
    }

    /// Whether workers are to be told of anything new, who then are.
    pub(super) fn take_change(&mut self, now_ns: u64) -> bool {
        let is_asked = self.is_asked_at(now_ns);
        let had = std::mem::replace(&mut self.is_asked, is_asked);
        std::mem::take(&mut self.changed) | (had != is_asked)
    }

    fn ask_who_stays(&mut self, now_ns: u64, asks: &mut Vec<Ask>) {
        for (group, ports) in &mut self.groups {
            for (port, membership) in ports {
                let Some((left, due_ns)) = membership.leaving else { continue };
                if due_ns <= now_ns {
                    let (port, group) = (Some(*port), Some(*group));
                    asks.push(Ask { port, group, within_ns: LAST_NS });
                    membership.leaving = (left > 1).then(|| (left - 1, now_ns + LAST_NS));
                }
            }
        }
    }

    fn is_asked_at(&self, now_ns: u64) -> bool {
        self.asked_from_ns.is_some_and(|from_ns| from_ns <= now_ns)
    }

    /// Whether it is we who ask.
    pub(super) fn asks(&self) -> bool {
        self.next_ask.is_some()
    }
}

/// Whether a group's listeners are worth knowing: it is not for all, and leaves its host.
fn is_learned(group: IpAddr) -> bool {
    let leaves = match group {
        IpAddr::V4(_) => true,
        IpAddr::V6(group) => group.octets()[1] & 0x0f >= 2,
    };
    leaves && !is_for_all(group)
}

#[cfg(test)]
#[path = "family_tests.rs"]
mod tests;
