//! A packet's way through the tables: what is done to it, and which of its bits decided.
//!
//! ```text
//!  key ─▶ table 0 ─▶ actions ─▶ goto, resubmit ─▶ … ─▶ action set ─▶ Verdict
//! ```
//! Bits are marked when they are looked at as the packet brought them; what an action wrote decides
//! nothing about packets to come. It ends after a bounded number of look-ups, whatever flows say.

use crate::flow::{Counters, Flow};
use crate::groups::flow_hash;
use crate::key::{Key, TPID};
use crate::place::has_field;
use crate::rewrite::Rewrite;
use crate::snapshot::{Fragments, Snapshot};
use crate::steps::{Step, Told, Verdict};
use crate::track::{Rest, SAID, ct_state};
use crate::trail::{Looked, Trail, What};
use crate::tunnel::{Asks, InTunnel};
use openflow::action::{Ct, GotoTable, Learn, Mpls, Program, Sample};
use openflow::message::{GroupKind, reason};
use openflow::{Action, Field, Machine, Match, PortNumber, Sub, port};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// Look-ups inside look-ups, of the same table or one before it, and groups: as in Open vSwitch.
const DEEPEST: u32 = 64;
/// Look-ups inside look-ups of any table: what a worker's stack has room for.
const NESTED: u32 = 256;
/// Look-ups of a packet, and steps.
const MOST: usize = 4096;

/// Where a key has ports, and types and codes of ICMP.
const PORTS: (u8, u64) = (35, 0xffff_ffff);

/// What a snapshot does with a packet.
pub fn translate(snapshot: &Snapshot, key: &Key) -> Verdict {
    let mut it = Translation::new(snapshot, key.clone());
    it.begin();
    it.verdict()
}

/// What a list of actions does with a packet: of a controller's.
pub fn translate_actions(snapshot: &Snapshot, key: &Key, actions: &[Action]) -> Verdict {
    let mut it = Translation::new(snapshot, key.clone());
    it.is_told = true;
    it.run(actions);
    it.end_stopped();
    it.verdict()
}

/// A key with the kind of its tag alone.
fn with_kind(kind: u16) -> Key {
    let mut key = Key::default();
    key.words[TPID.0] = u64::from(kind) << TPID.1;
    key
}

/// The kind of a key's tag.
fn kind_of(key: &Key) -> u16 {
    (key.words[TPID.0] >> TPID.1) as u16
}

struct Translation<'s> {
    snapshot: &'s Snapshot,
    /// As it is by now.
    key: Key,
    /// What decided, of what came.
    mask: Key,
    /// What actions wrote: no bit of these came.
    written: Key,
    steps: Vec<Step>,
    counters: Vec<Arc<Counters>>,
    stack: Vec<(u128, u16)>,
    /// Kind and content of tags behind the one that can be told, of those that were pushed.
    tags: Vec<(u16, u128)>,
    /// The action set.
    set: Program,
    table: u8,
    cookie: u64,
    /// The flow at hand.
    flow: Option<Arc<Flow>>,
    /// Where what is sent next waits.
    queue: Option<u32>,
    next: Option<u8>,
    /// Look-ups that this one is inside of; and those of them that led back, and groups.
    depth: u32,
    led_back: u32,
    lookups: usize,
    reason: u8,
    is_over: bool,
    /// The list of actions at hand is.
    is_ended: bool,
    is_cut: bool,
    /// The packet is a controller's.
    is_told: bool,
    /// Its labels are gone: what it is now is not known before it has been read anew.
    is_unread: bool,
    /// What is left to do when it has been, innermost first.
    stopped: Option<Vec<Rest>>,
    /// What is done is a bucket's.
    is_bucket: bool,
    /// Steps before this are not a copy's, which does what is worked out now.
    aside_from: usize,
    /// What happened, where somebody asks.
    trail: Option<Box<Trail>>,
    /// How often it has begun again.
    times: u8,
}

impl<'s> Translation<'s> {
    fn new(snapshot: &'s Snapshot, key: Key) -> Self {
        let mut mask = Key::default();
        for field in [Field::InPort, Field::RecircId, Field::EthType, Field::IpFrag] {
            mask.set(field, field.ones(), field.ones());
        }
        let mut written = Key::default();
        // What has not been tracked comes without these.
        for field in SAID {
            written.set(field, field.ones(), field.ones());
        }
        Self {
            snapshot,
            key,
            mask,
            written,
            steps: Vec::new(),
            counters: Vec::new(),
            stack: Vec::new(),
            tags: Vec::new(),
            set: Program::new(),
            table: 0,
            cookie: 0,
            flow: None,
            queue: None,
            next: None,
            depth: 0,
            led_back: 0,
            lookups: 0,
            reason: reason::ACTION,
            is_over: false,
            is_ended: false,
            is_cut: false,
            is_told: false,
            is_unread: false,
            stopped: None,
            is_bucket: false,
            aside_from: 0,
            trail: None,
            times: 0,
        }
    }

    /// From the first table on.
    fn begin(&mut self) {
        let in_port = self.key.get(Field::InPort) as PortNumber;
        let drops = self.snapshot.fragments == Fragments::Dropped;
        let is_dropped = drops && self.key.get(Field::IpFrag) != 0;
        if !is_dropped && self.snapshot.ports.get(&in_port).is_some_and(|port| port.receives) {
            self.look_up(0, None);
            self.end_set();
            self.end_stopped();
        }
    }

    fn tell(&mut self, table: u8, flow: Option<&Arc<Flow>>, is_told: bool) {
        let (depth, flow) = (self.depth, flow.cloned());
        let asks = flow.is_none() && self.snapshot.misses_go_to_controllers && is_told;
        self.note(|| What::Table(Looked { depth, table, flow, asks }));
    }

    fn verdict(mut self) -> Verdict {
        // What is set behind the last copy that leaves is set for nobody.
        let leaves = |step: &Step| {
            use Step as S;
            matches!(
                step,
                S::Output(_)
                    | S::Normal
                    | S::Tell(_)
                    | S::Meter(_)
                    | S::Sample(_)
                    | S::Track(_)
                    | S::Recirculate(..)
            )
        };
        // What cannot be done whole is not done at all.
        let end = match self.is_cut {
            true => 0,
            false => self.steps.iter().rposition(leaves).map_or(0, |at| at + 1),
        };
        self.steps.truncate(end);
        Verdict {
            rewrite: Rewrite::of(&self.steps),
            steps: self.steps.into(),
            counters: self.counters.into(),
            mask: self.mask,
            is_cut: self.is_cut,
        }
    }

    /// Bits of a field decide.
    fn see(&mut self, field: Field, bits: u128) {
        let mut seen = Key::default();
        seen.set(field, bits, bits);
        self.see_all(&seen);
    }

    fn see_all(&mut self, seen: &Key) {
        for ((mask, seen), written) in
            self.mask.words.iter_mut().zip(&seen.words).zip(&self.written.words)
        {
            *mask |= seen & !written;
        }
    }

    /// Whether the packet has a field, which its kind decides.
    fn has(&mut self, field: Field) -> bool {
        if field.needs() == openflow::Needs::Tracked {
            self.see(Field::CtState, ct_state::OF_ONE.into());
        } else if field.needs() != openflow::Needs::Nothing {
            self.see(Field::EthType, Field::EthType.ones());
            self.see(Field::IpProto, Field::IpProto.ones());
            self.see(Field::VlanTci, 0x1000);
        }
        has_field(&self.key, field)
    }

    /// Whether what a field is of is there whole: of IP and ARP that is not, nothing is
    /// changed.
    fn is_whole(&mut self, field: Field) -> bool {
        use openflow::Needs::{Arp, Ip, Ip4, Ip6};
        let kind = match field.needs() {
            Ip | Ip4 | Ip6 => Field::IpProto,
            Arp => Field::ArpOp,
            _ => return true,
        };
        self.see(kind, kind.ones());
        self.key.get(kind) != 0
    }

    fn put(&mut self, step: Step) {
        if self.steps.len() < MOST {
            self.steps.push(step);
        } else {
            self.cut();
        }
    }

    /// Whether it is as far in as it may be.
    fn is_deepest(&self) -> bool {
        self.led_back >= DEEPEST || self.depth >= NESTED
    }

    /// Something cannot be done: the packet goes no further.
    fn cut(&mut self) {
        (self.is_cut, self.is_over) = (true, true);
    }

    fn set_silently(&mut self, field: Field, value: u128, mask: u128) {
        self.key.set(field, value, mask);
        self.written.set(field, mask, mask);
    }

    fn set_tag(&mut self, kind: u16, tci: u128) {
        self.set_silently(Field::VlanTci, tci, 0xffff);
        let mask = with_kind(u16::MAX).words[TPID.0];
        self.key.words[TPID.0] = self.key.words[TPID.0] & !mask | with_kind(kind).words[TPID.0];
        self.written.words[TPID.0] |= mask;
    }

    /// Looks up in a table, and in those that flows go on to.
    fn look_up(&mut self, first: u8, mut as_port: Option<PortNumber>) {
        let (table, cookie, level) = (self.table, self.cookie, self.level());
        let outer = self.flow.take();
        let mut next = Some(first);
        // Nobody hears of a miss where a packet was only resubmitted to.
        let mut is_told = self.depth == 0;
        while let Some(number) = next.take() {
            if self.is_unread {
                self.stop_before(&[GotoTable { table: number }.into()]);
                break;
            }
            self.lookups += 1;
            if self.lookups > MOST {
                self.is_lost(true);
                self.cut();
                break;
            }
            self.table = number;
            let own = self.key.get(Field::InPort);
            if let Some(number) = as_port.take() {
                self.key.set(Field::InPort, number.into(), 0xffff);
            }
            let found = self.find(number);
            // What is done is done to a packet that came by its own port.
            self.key.set(Field::InPort, own, 0xffff);
            self.tell(number, found.as_ref(), is_told);
            let Some(flow) = found else {
                self.miss(number, is_told);
                break;
            };
            self.counters.push(Arc::clone(&flow.counters));
            self.cookie = flow.cookie;
            let before = self.next.take();
            // A flow that matches nothing and is last is what OpenFlow calls a miss.
            self.reason = match flow.priority == 0 && flow.matching.fields().is_empty() {
                true => reason::NO_MATCH,
                false => reason::ACTION,
            };
            self.flow = Some(Arc::clone(&flow));
            self.run(&flow.program);
            (next, is_told) = (self.next.take(), true);
            self.next = before;
            if self.is_over {
                break;
            }
        }
        (self.table, self.cookie, self.flow) = (table, cookie, outer);
        self.back(level);
    }

    fn find(&mut self, number: u8) -> Option<Arc<Flow>> {
        let table = self.snapshot.tables.get(&number)?;
        let mut seen = Key::default();
        let is_piece = self.key.get(Field::IpFrag) != 0;
        if !is_piece || self.snapshot.fragments == Fragments::Told {
            let found = table.flows.find(&self.key, &mut seen).cloned();
            self.see_all(&seen);
            return found;
        }
        let mut without_ports = self.key.clone();
        without_ports.words[usize::from(PORTS.0)] &= !PORTS.1;
        let found = table.flows.find(&without_ports, &mut seen).cloned();
        seen.words[usize::from(PORTS.0)] &= !PORTS.1;
        self.see_all(&seen);
        found
    }

    fn miss(&mut self, number: u8, is_told: bool) {
        if let Some(table) = self.snapshot.tables.get(&number) {
            self.counters.push(Arc::clone(&table.misses));
        }
        if !(self.snapshot.misses_go_to_controllers && is_told) {
            self.note(|| What::Nothing);
        } else {
            (self.reason, self.cookie) = (reason::NO_MATCH, u64::MAX);
            self.controller(u16::MAX, 0, reason::NO_MATCH);
        }
    }

    /// Does actions of a list; true if one of them ended it.
    fn run(&mut self, actions: &[Action]) -> bool {
        if actions.is_empty() {
            self.note(|| What::Nothing);
        }
        for (at, action) in actions.iter().enumerate() {
            if self.is_over || self.is_ended {
                break;
            }
            if self.stopped.is_some() || self.must_read_for(action) {
                self.stop_before(&actions[at..]);
                break;
            }
            self.run_one(action);
        }
        std::mem::take(&mut self.is_ended)
    }

    #[inline]
    fn run_one(&mut self, action: &Action) {
        if self.trail.is_none() {
            return action.run(self);
        }
        self.begins(action);
        action.run(self);
        self.ends(action);
    }

    fn end_set(&mut self) {
        if self.is_over || self.stopped.is_some() || self.set.is_empty() {
            return;
        }
        let set = std::mem::take(&mut self.set);
        let place = |action: &Action| match action {
            Action::PopVlan(_) => 0,
            Action::Mpls(Mpls::Pop(_)) => 1,
            Action::Mpls(Mpls::Push(_)) => 2,
            Action::PushVlan(_) => 3,
            Action::DecTtl(_) => 4,
            Action::Mpls(Mpls::DecTtl) => 5,
            Action::SetQueue(_) => 7,
            Action::Group(_) => 8,
            Action::Output(_) | Action::OutputReg(_) => 9,
            // As in Open vSwitch: where nothing else leads on.
            Action::Resubmit(_) => 10,
            Action::Ct(_) => 11,
            // Of a bucket, too: it is no action of a set.
            Action::Sample(_) => 12,
            _ => 6,
        };
        // What leads nowhere is not begun; of what leads on, the first in this order does: a group
        // takes the output's place.
        let Some(end) = set.iter().map(place).filter(|place| (8..12).contains(place)).min() else {
            return;
        };
        self.reason = reason::ACTION_SET;
        let level = self.level();
        if self.depth == 0 {
            self.note(|| What::Set);
        }
        let mut list: Program = set.into_iter().filter(|action| place(action) <= end).collect();
        list.sort_by_key(place);
        self.run(&list);
        self.back(level);
    }

    /// Leaves by a real port, if it may.
    fn send(&mut self, number: PortNumber, may_return: bool) {
        let is_back = number == self.in_port() && !may_return;
        let port = self.snapshot.ports.get(&number).filter(|port| !is_back && port.sends);
        if let Some(port) = port {
            self.answer(port.asks);
            self.put(Step::Output(number));
        }
    }

    /// Says what is asked of what leaves next: the number and the ends that flows set last, else
    /// those that it came with. Tunnels have as many bits of the number as there is room for.
    fn answer(&mut self, asks: Asks) {
        if asks == Asks::Nothing {
            return;
        }
        let number = self.seen(Field::TunId) as u32;
        let remote = (asks >= Asks::Remote).then(|| self.end([Field::TunDst, Field::TunIp6Dst]));
        let local = (asks >= Asks::Ends).then(|| self.end([Field::TunSrc, Field::TunIp6Src]));
        self.put(Step::Tunnel(InTunnel { number, remote, local }));
    }

    /// An end of a tunnel's packet: that of IPv6 where there is none of IPv4.
    fn end(&mut self, [old, new]: [Field; 2]) -> IpAddr {
        let (old, new) = (self.seen(old) as u32, self.seen(new));
        match old {
            0 if new != 0 => Ipv6Addr::from(new).into(),
            _ => Ipv4Addr::from(old).into(),
        }
    }

    /// What packets of the port that it came by have each of their own decides.
    fn sees_own(&mut self) {
        let Some(port) = self.snapshot.ports.get(&self.in_port()).copied() else { return };
        let own: &[Field] = match port.asks {
            Asks::Nothing => &[],
            Asks::Number => &[Field::TunId],
            Asks::Remote | Asks::Ends => &[Field::TunId, Field::TunSrc, Field::TunIp6Src],
        };
        let local: &[Field] = match port.tells_local {
            true => &[Field::TunDst, Field::TunIp6Dst],
            false => &[],
        };
        own.iter().chain(local).for_each(|field| self.see(*field, field.ones()));
    }

    /// All of a field, which decides then.
    fn seen(&mut self, field: Field) -> u128 {
        self.see(field, field.ones());
        self.key.get(field)
    }

    fn in_port(&self) -> PortNumber {
        self.key.get(Field::InPort) as PortNumber
    }

    /// Does something whose changes to the packet are taken back: by setting what was there, which
    /// then decides, too.
    fn aside(&mut self, act: impl FnOnce(&mut Self)) {
        let (key, written, start) = (self.key.clone(), self.written.clone(), self.steps.len());
        let queue = self.queue;
        let (stack, set, tags) = (self.stack.clone(), self.set.clone(), self.tags.clone());
        let (is_unread, aside_from) = (self.is_unread, self.aside_from);
        self.aside_from = start;
        act(self);
        self.end_stopped();
        (self.is_unread, self.aside_from) = (is_unread, aside_from);
        let changes: Vec<Step> = self.steps[start..].to_vec();
        // What is set back to what came is as it came again.
        self.written = written;
        match changes.iter().any(track::is_lasting) {
            true => self.fork(start),
            false => self.undo(&key, &changes, &tags),
        }
        self.queue(queue);
        (self.stack, self.set, self.tags, self.is_over) = (stack, set, tags, self.is_cut);
        // Registers are as they were; what came in them did not change.
        self.key = key;
    }

    /// Steps that make the packet what it was.
    fn undo(&mut self, before: &Key, changes: &[Step], tags: &[(u16, u128)]) {
        let moves_tags =
            changes.iter().any(|step| matches!(step, Step::PushVlan(..) | Step::PopVlan));
        let mut fields: Vec<Field> = Vec::new();
        for step in changes {
            match step {
                Step::Set(field, ..) if !fields.contains(field) => fields.push(*field),
                _ => {}
            }
        }
        if moves_tags {
            self.see(Field::VlanTci, 0xffff);
            self.see_all(&with_kind(u16::MAX));
            let has_tag = self.key.get(Field::VlanTci) & 0x1000 != 0;
            (0..self.tags.len() + usize::from(has_tag)).for_each(|_| self.put(Step::PopVlan));
        }
        for field in fields {
            let is_tag = matches!(field, Field::VlanTci | Field::VlanVid | Field::VlanPcp);
            if !(is_tag && moves_tags) {
                self.see(field, field.ones());
                self.put(Step::Set(field, before.get(field), field.ones()));
            }
        }
        // Behind the fields, which are found behind few tags alone.
        if moves_tags {
            let outer = Some((kind_of(before), before.get(Field::VlanTci)))
                .filter(|tag| tag.1 & 0x1000 != 0);
            for (kind, tag) in tags.iter().copied().chain(outer) {
                self.put(Step::PushVlan(kind, tag as u16));
            }
        }
    }
}

mod learn;
mod machine;
mod mpls;
mod track;
mod trail;

pub use track::translate_again;
pub use trail::{Traced, explain, trace, trace_again};

#[cfg(test)]
mod tests;
