//! Megaflows of one thread: what all packets that are alike under a mask come to.
//!
//! ```text
//!  key ─▶ each mask, often hit ones first: a hash of its words ─▶ Filter: is there one?
//!      ─▶ Index ─▶ a line: who it is, what it counted, where it sends, its mask, the values
//!                  (more of it: elsewhere)
//! ```
//! Many keys are looked up mask by mask, then all that may be there in turns, so that the lines of
//! all are on their way at once. What all masks have in common is hashed once.
//! Megaflows do not contradict each other: which of several masks is tried first changes nothing.
//! Bounded: where there is no room, what was not used since the hand passed goes.

use crate::filter::Filter;
use crate::flow::Counters;
use crate::index::Index;
use crate::key::{Key, hash_under};
use crate::steps::{Does, Verdict};
use openflow::PortNumber;
use std::sync::Arc;

/// Bits of a number that say the place; the rest tells it from all that were there before.
const PLACE_BITS: u32 = 20;
/// Values that a line has room for.
const NEAR: usize = 5;
/// Masks at most: numbers of masks are short.
const MOST_MASKS: usize = 1 << 15;
/// Keys that are looked up together, at most.
pub(crate) const TOGETHER: usize = 32;
/// It is not all that is done, or nothing is.
const MORE: PortNumber = 0;
const NOTHING: PortNumber = PortNumber::MAX;

/// See the module.
#[derive(Debug)]
pub(crate) struct Megaflows {
    filter: Filter,
    index: Index,
    lines: Vec<Line>,
    rest: Vec<Option<Rest>>,
    free: Vec<u32>,
    masks: Vec<Option<Mask>>,
    /// Numbers of masks, often hit ones first.
    order: Vec<u16>,
    /// Words that all masks have, with the same bits.
    common: Box<[(u8, u64)]>,
    /// Where the next victim is looked for.
    hand: usize,
    most: usize,
    /// Those with packets that nobody counted yet.
    dirty: Vec<u64>,
    /// Megaflows that there ever were.
    made: u64,
    /// Look-ups since masks were put in order.
    since_order: u32,
}

/// What a packet needs of its megaflow.
#[derive(Clone, Default, Debug)]
#[repr(align(64))]
struct Line {
    /// 0: there is none.
    id: u64,
    bytes: u64,
    /// Of 10 ms: fewer than that counts to.
    packets: u32,
    mask: u16,
    /// Where it sends, if that is all it does.
    sole: PortNumber,
    values: [u64; NEAR],
}

#[derive(Debug)]
#[repr(align(64))]
struct Rest {
    verdict: Arc<Verdict>,
    hash: u64,
    /// Values that the line has no room for.
    values: Box<[u64]>,
    was_used: bool,
    /// What it counted in all, and when the last packet came; 0: none did.
    packets: u64,
    bytes: u64,
    used_ns: u64,
}

/// A megaflow as somebody who asks is told of it.
#[derive(Clone, Debug)]
pub struct Remembered {
    /// What its packets have in common.
    pub key: Key,
    /// What becomes of them, and which bits that hangs on.
    pub verdict: Arc<Verdict>,
    /// Packets, and their bytes.
    pub packets: u64,
    /// See `packets`.
    pub bytes: u64,
    /// When the last came; 0: none did.
    pub used_ns: u64,
}

#[derive(Debug)]
struct Mask {
    words: Box<[(u8, u64)]>,
    /// Those that are not common.
    own: Box<[(u8, u64)]>,
    flows: usize,
    hits: u64,
}

impl Mask {
    /// Hashes of different masks have nothing in common.
    #[inline(always)]
    fn hash(&self, number: u16, key: &Key) -> u64 {
        hash_under(key, &self.words, start(number))
    }

    /// The same, where that of the common words is known.
    #[inline(always)]
    fn hash_with(&self, number: u16, key: &Key, common: u64) -> u64 {
        hash_under(key, &self.own, common.wrapping_add(start(number)))
    }

    /// Follows what all have in common.
    fn part(&mut self, common: &[(u8, u64)]) {
        self.own = self.words.iter().filter(|it| !common.contains(it)).copied().collect();
    }
}

/// Where the hashes of a mask begin.
#[inline(always)]
fn start(number: u16) -> u64 {
    u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Megaflows {
    /// None, of so many at most.
    pub(crate) fn new(most: usize) -> Self {
        let most = most.clamp(1, 1 << PLACE_BITS);
        Self {
            filter: Filter::new(),
            // Two to a bucket of seven.
            index: Index::new(most / 2),
            lines: Vec::new(),
            rest: Vec::new(),
            free: Vec::new(),
            masks: Vec::new(),
            order: Vec::new(),
            common: Box::default(),
            hand: 0,
            most,
            dirty: Vec::new(),
            made: 0,
            since_order: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len() - self.free.len()
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }

    pub(crate) fn masks(&self) -> usize {
        self.order.len()
    }

    /// Forgets all, and counts what was not.
    pub(crate) fn clear(&mut self, now_ns: u64) {
        self.flush(now_ns, |_| ());
        self.filter.clear();
        self.index.clear();
        self.lines.clear();
        self.rest.clear();
        self.free.clear();
        self.masks.clear();
        self.order.clear();
    }

    /// The line of a number.
    #[inline(always)]
    pub(crate) fn address(&self, id: u64) -> *const u8 {
        address(&self.lines, id as usize & ((1 << PLACE_BITS) - 1))
    }

    /// Where it stands what its packets come to.
    #[inline(always)]
    pub(crate) fn rest_address(&self, low: u32) -> *const u8 {
        address(&self.rest, low as usize & ((1 << PLACE_BITS) - 1))
    }

    /// The megaflow of a key.
    pub(crate) fn find(&mut self, key: &Key) -> Option<u64> {
        self.put_in_order(1);
        for number in &self.order {
            let Some(mask) = &mut self.masks[usize::from(*number)] else { continue };
            let hash = mask.hash(*number, key);
            if !self.filter.may_have(hash) {
                continue;
            }
            let (lines, rest) = (&self.lines, &self.rest);
            let is_it = |place| is_of(lines, rest, place, *number, &mask.words, key);
            if let Some(place) = self.index.find(hash, is_it) {
                mask.hits += 1;
                return Some(self.lines[place as usize].id);
            }
        }
        None
    }

    /// The same of many keys at once, as many as [`TOGETHER`]; 0 where there is none. `ask` is told
    /// what will be looked at soon.
    pub(crate) fn find_all(&mut self, keys: &[Key], found: &mut [u64], ask: impl Fn(*const u8)) {
        self.put_in_order(keys.len() as u32);
        let many = keys.len().min(found.len()).min(TOGETHER);
        found.fill(0);
        let mut common = [0; TOGETHER];
        for (key, common) in keys.iter().zip(&mut common) {
            *common = hash_under(key, &self.common, 0);
        }
        // Which are left, and which mask each of the others may be of.
        let (mut left, mut still) = ([0u8; TOGETHER], many);
        left.iter_mut().enumerate().for_each(|(at, left)| *left = at as u8);
        let mut maybe = [(0u64, 0u16, 0u8); TOGETHER];
        let mut some = 0;
        for number in &self.order {
            let Some(mask) = &self.masks[usize::from(*number)] else { continue };
            let (count, filter) = (still, &self.filter);
            still = 0;
            for nth in 0..count {
                let at = usize::from(left[nth]);
                let hash = mask.hash_with(*number, &keys[at], common[at]);
                if filter.may_have(hash) {
                    ask(self.index.address(hash));
                    maybe[some] = (hash, *number, at as u8);
                    some += 1;
                } else {
                    left[still] = at as u8;
                    still += 1;
                }
            }
            if still == 0 {
                break;
            }
        }
        let maybe = &maybe[..some];
        let mut places = [u32::MAX; TOGETHER];
        for ((hash, ..), place) in maybe.iter().zip(&mut places) {
            // The first that may be it; mostly there is one.
            if let Some(first) = self.index.find(*hash, |_| true) {
                ask(address(&self.lines, first as usize));
                *place = first;
            }
        }
        for (&(_, number, at), &place) in maybe.iter().zip(&places) {
            let (at, number) = (usize::from(at), usize::from(number));
            let (lines, rest, key) = (&self.lines, &self.rest, &keys[at]);
            let mask = self.masks[number].as_mut();
            let is_it = |it: &&mut Mask| is_of(lines, rest, place, number as u16, &it.words, key);
            found[at] = match mask.filter(is_it) {
                Some(mask) => {
                    mask.hits += 1;
                    lines[place as usize].id
                }
                // It is of another mask then, or of none.
                None => self.find(key).unwrap_or(0),
            };
        }
    }

    #[inline]
    fn put_in_order(&mut self, looks: u32) {
        self.since_order += looks;
        if self.since_order > 1 << 12 {
            self.since_order = 0;
            let hits = |number: &u16| self.masks[usize::from(*number)].as_ref().map(|it| it.hits);
            self.order.sort_by_key(|number| std::cmp::Reverse(hits(number)));
            self.masks.iter_mut().flatten().for_each(|mask| mask.hits /= 2);
        }
    }

    /// Remembers what a packet came to.
    pub(crate) fn insert(&mut self, key: &Key, verdict: Arc<Verdict>, now_ns: u64) -> u64 {
        if self.filter.is_full() {
            self.filter.renew(self.len(), self.rest.iter().flatten().map(|it| it.hash));
        }
        let number = self.mask(&verdict.mask.sparse(), now_ns);
        let Some(mask) = &self.masks[usize::from(number)] else { return 0 };
        let hash = mask.hash(number, key);
        let values = mask.words.iter().map(|(word, bits)| key.words[usize::from(*word)] & bits);
        let mut near = [0; NEAR];
        near.iter_mut().zip(values.clone()).for_each(|(near, value)| *near = value);
        let values = values.skip(NEAR).collect();
        let (lines, rest) = (&self.lines, &self.rest);
        let is_it = |place| is_of(lines, rest, place, number, &mask.words, key);
        // While this one comes none of its mask makes that go.
        let had = self.index.find(hash, is_it);
        self.hold(number, 1);
        if let Some(place) = had {
            self.remove(place, now_ns);
        }
        if self.free.is_empty() && self.lines.len() >= self.most {
            self.evict(now_ns);
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.lines.push(Line::default());
            self.rest.push(None);
            self.lines.len() as u32 - 1
        });
        loop {
            let rest = &self.rest;
            let hash_of = |place: u32| rest[place as usize].as_ref().map_or(0, |it| it.hash);
            match self.index.insert(hash, place, hash_of) {
                Ok(()) => break,
                Err(victim) => self.remove(victim, now_ns),
            }
        }
        self.filter.add(hash);
        self.made += 1;
        let id = self.made << PLACE_BITS | u64::from(place);
        let sole = match (verdict.sole_output(), verdict.steps.is_empty()) {
            (_, true) => NOTHING,
            (port, _) => port.filter(|port| *port != NOTHING).unwrap_or(MORE),
        };
        self.lines[place as usize] =
            Line { id, bytes: 0, packets: 0, mask: number, sole, values: near };
        self.rest[place as usize] =
            Some(Rest { verdict, hash, values, was_used: true, packets: 0, bytes: 0, used_ns: 0 });
        id
    }

    /// The number of a mask, that is there from now on.
    fn mask(&mut self, words: &[(u8, u64)], now_ns: u64) -> u16 {
        let is_it = |number: &&u16| {
            self.masks[usize::from(**number)].as_ref().is_some_and(|mask| *mask.words == *words)
        };
        if let Some(number) = self.order.iter().find(is_it) {
            return *number;
        }
        if self.order.len() >= MOST_MASKS {
            self.clear(now_ns);
        }
        let free = self.masks.iter().position(Option::is_none);
        let at = free.unwrap_or_else(|| {
            self.masks.push(None);
            self.masks.len() - 1
        });
        let mut mask = Mask { words: words.into(), own: Box::default(), flows: 0, hits: 0 };
        // It never grows while there are masks: then most have nothing to follow.
        let shared: Box<[_]> = match self.order.is_empty() {
            true => words.into(),
            false => self.common.iter().filter(|it| words.contains(it)).copied().collect(),
        };
        if shared.len() != self.common.len() || self.order.is_empty() {
            self.common = shared;
            let common = &self.common;
            self.masks.iter_mut().flatten().for_each(|mask| mask.part(common));
        }
        mask.part(&self.common);
        self.masks[at] = Some(mask);
        self.order.push(at as u16);
        at as u16
    }

    /// A mask is used by one more, or by one less; one that nobody uses goes.
    fn hold(&mut self, number: u16, more: isize) {
        let Some(mask) = &mut self.masks[usize::from(number)] else { return };
        mask.flows = mask.flows.saturating_add_signed(more);
        if mask.flows == 0 {
            self.masks[usize::from(number)] = None;
            self.order.retain(|it| *it != number);
        }
    }

    #[inline(always)]
    fn line(&mut self, id: u64) -> Option<&mut Line> {
        let line = self.lines.get_mut(id as usize & ((1 << PLACE_BITS) - 1))?;
        (line.id == id && id != 0).then_some(line)
    }

    /// The number of the one in a place, if these are its lowest bits.
    #[inline(always)]
    pub(crate) fn id_of(&self, low: u32) -> Option<u64> {
        let id = self.lines.get(low as usize & ((1 << PLACE_BITS) - 1))?.id;
        (id as u32 == low && id != 0).then_some(id)
    }

    /// The same, if it is the one of a key.
    #[inline]
    pub(crate) fn id_if(&self, low: u32, key: &Key) -> Option<u64> {
        let id = self.id_of(low)?;
        let place = id as u32 & ((1 << PLACE_BITS) - 1);
        let number = self.lines[place as usize].mask;
        let mask = self.masks.get(usize::from(number))?.as_ref()?;
        is_of(&self.lines, &self.rest, place, number, &mask.words, key).then_some(id)
    }

    /// Packets of a megaflow: what becomes of them, if it is still there.
    #[inline(always)]
    pub(crate) fn count(&mut self, id: u64, packets: u32, bytes: u64) -> Option<Does> {
        let line = self.line(id)?;
        let was_clean = line.packets == 0;
        line.packets += packets;
        line.bytes += bytes;
        let does = match line.sole {
            MORE => Does::More,
            NOTHING => Does::Nothing,
            port => Does::Sends(port),
        };
        if was_clean {
            self.dirty.push(id);
        }
        Some(does)
    }

    /// What a megaflow's packets come to.
    #[inline]
    pub(crate) fn verdict(&self, low: u32) -> Option<&Arc<Verdict>> {
        let id = self.id_of(low)?;
        self.rest[id as usize & ((1 << PLACE_BITS) - 1)].as_ref().map(|it| &it.verdict)
    }

    pub(crate) fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Tells of those in some places, so many at most: where to go on, if there are more.
    pub(crate) fn tell(
        &self,
        from: usize,
        most: usize,
        tell: &mut dyn FnMut(Remembered),
    ) -> Option<usize> {
        let end = self.lines.len().min(from.saturating_add(most));
        for (line, rest) in self.lines.iter().zip(&self.rest).take(end).skip(from) {
            let mask = self.masks.get(usize::from(line.mask)).and_then(Option::as_ref);
            let (Some(rest), Some(mask)) = (rest, mask) else { continue };
            let mut key = Key::default();
            let values = line.values.iter().chain(&rest.values);
            for ((word, _), value) in mask.words.iter().zip(values) {
                key.words[usize::from(*word)] = *value;
            }
            let (verdict, packets, bytes) = (Arc::clone(&rest.verdict), rest.packets, rest.bytes);
            tell(Remembered { key, verdict, packets, bytes, used_ns: rest.used_ns });
        }
        (end < self.lines.len()).then_some(end)
    }

    /// Adds what packets there were to the counters of flows. `ask` is told what will be looked at
    /// soon.
    pub(crate) fn flush(&mut self, now_ns: u64, ask: impl Fn(*const u8)) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for ids in dirty.chunks(TOGETHER) {
            ids.iter().for_each(|id| ask(self.rest_address(*id as u32)));
            let verdicts = || ids.iter().filter_map(|id| self.verdict(*id as u32));
            verdicts().for_each(|it| ask(Arc::as_ptr(it).cast()));
            verdicts().for_each(|it| ask(it.counters.as_ptr().cast()));
            verdicts().flat_map(|it| &*it.counters).for_each(|it| ask(Arc::as_ptr(it).cast()));
            for id in ids {
                if self.line(*id).is_some() {
                    self.settle(*id as usize & ((1 << PLACE_BITS) - 1), now_ns);
                }
            }
        }
        dirty.clear();
        self.dirty = dirty;
    }

    fn settle(&mut self, place: usize, now_ns: u64) {
        let Some(Some(rest)) = self.rest.get_mut(place) else { return };
        let line = &mut self.lines[place];
        let (packets, bytes) = (std::mem::take(&mut line.packets), std::mem::take(&mut line.bytes));
        if packets > 0 {
            rest.was_used = true;
            rest.packets += u64::from(packets);
            (rest.bytes, rest.used_ns) = (rest.bytes + bytes, now_ns);
            let add = |counters: &Arc<Counters>| counters.add(packets.into(), bytes, now_ns);
            rest.verdict.counters.iter().for_each(add);
        }
    }

    /// Makes room: the hand passes those that were used since it came by last.
    fn evict(&mut self, now_ns: u64) {
        for _ in 0..self.lines.len() * 2 {
            self.hand = (self.hand + 1) % self.lines.len();
            let is_used = self.lines[self.hand].packets > 0;
            match &mut self.rest[self.hand] {
                Some(rest) if rest.was_used => rest.was_used = false,
                Some(_) if !is_used => return self.remove(self.hand as u32, now_ns),
                _ => {}
            }
        }
        // All have packets that nobody counted yet: then it is who is next.
        self.remove(self.hand as u32, now_ns);
    }

    fn remove(&mut self, place: u32, now_ns: u64) {
        self.settle(place as usize, now_ns);
        let Some(rest) = self.rest.get_mut(place as usize).and_then(Option::take) else { return };
        let line = std::mem::take(&mut self.lines[place as usize]);
        self.index.remove(rest.hash, place);
        self.free.push(place);
        self.hold(line.mask, -1);
    }
}

/// Where a line is.
#[inline(always)]
fn address<T>(lines: &[T], place: usize) -> *const u8 {
    lines.as_ptr().wrapping_add(place.min(lines.len())).cast()
}

/// Whether a megaflow is that of a key, under a mask.
#[inline(always)]
fn is_of(
    lines: &[Line],
    rest: &[Option<Rest>],
    place: u32,
    mask: u16,
    words: &[(u8, u64)],
    key: &Key,
) -> bool {
    let Some(line) = lines.get(place as usize).filter(|line| line.mask == mask) else {
        return false;
    };
    let differs =
        |(&(word, bits), value): (&(u8, u64), &u64)| key.words[usize::from(word)] & bits ^ value;
    let near = words.iter().zip(&line.values).map(differs).fold(0, |all, one| all | one);
    if words.len() <= NEAR || near != 0 {
        return near == 0;
    }
    let Some(Some(rest)) = rest.get(place as usize) else { return false };
    words[NEAR..].iter().zip(&rest.values).all(|pair| differs(pair) == 0)
}
