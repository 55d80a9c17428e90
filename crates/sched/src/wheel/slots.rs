//! Who stands in which slot of the wheel: lists that touch no line but their own when somebody
//! comes or leaves.
//!
//! ```text
//!   firsts:  slot ─▶ [ · · 3 7 ] ─▶ [ 13 players ] ─▶ [ 13 players ]        blocks of a cache line; all but the first full
//!   places:  player ─▶ its block, and where in it                           the last of the first block fills a gap
//! ```
//!
//! Time O(1). Space 4 bytes a player, 4 a slot, and a block for every slot that holds someone and
//! every 13 players.

const NIL: u32 = u32::MAX;
/// The place of a player that is away.
const AWAY: u32 = NIL;
/// Places in a block, some of which are not there.
const STRIDE: u32 = 16;
const ROOM: u32 = 13;

/// A player and a note of up to [`NOTE_BITS`] bits on it.
#[derive(Clone, Copy)]
pub(super) struct Entry(u32);

pub(super) const NOTE_BITS: u32 = 10;

impl Entry {
    #[inline]
    pub(super) fn player(self) -> u32 {
        self.0 >> NOTE_BITS
    }

    #[inline]
    pub(super) fn note(self) -> u64 {
        u64::from(self.0 % (1 << NOTE_BITS))
    }
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Block {
    entries: [Entry; ROOM as usize],
    count: u32,
    next: u32,
    slot: u32,
}

impl Block {
    fn entries(&self) -> &[Entry] {
        self.entries.get(..self.count as usize).unwrap_or(&self.entries)
    }
}

pub(super) struct Slots {
    blocks: Vec<Block>,
    free: u32,
    firsts: Vec<u32>,
    places: Vec<u32>,
}

impl Slots {
    /// All players, fewer than 2^22, are away.
    pub(super) fn new(players: usize, slots: usize) -> Self {
        // One more is needed while a block's players are put anew.
        let most_blocks = players.min(slots) + players / ROOM as usize + 1;
        Self {
            blocks: Vec::with_capacity(most_blocks),
            free: NIL,
            firsts: vec![NIL; slots],
            places: vec![AWAY; players],
        }
    }

    #[inline]
    pub(super) fn has(&self, player: u32) -> bool {
        self.places[player as usize] != AWAY
    }

    /// Puts a player that is away into a slot; tells if nobody stood there.
    #[inline(always)]
    pub(super) fn put(&mut self, slot: usize, player: u32, note: u32) -> bool {
        let at = self.firsts[slot];
        let entry = Entry(player << NOTE_BITS | note);
        if let Some(block) = self.blocks.get_mut(at as usize)
            && let Some(room) = block.entries.get_mut(block.count as usize)
        {
            *room = entry;
            self.places[player as usize] = at * STRIDE + block.count;
            block.count += 1;
            return false;
        }
        self.put_first(slot, entry);
        at == NIL
    }

    /// Puts a player into a new block, to stand first in its slot.
    #[inline(never)]
    fn put_first(&mut self, slot: usize, entry: Entry) {
        let entries = [entry; ROOM as usize];
        let block = Block { entries, count: 1, next: self.firsts[slot], slot: slot as u32 };
        let mut at = self.free;
        match self.blocks.get_mut(at as usize) {
            Some(free) => self.free = std::mem::replace(free, block).next,
            None => {
                at = self.blocks.len() as u32;
                self.blocks.push(block);
            }
        }
        self.firsts[slot] = at;
        self.places[entry.player() as usize] = at * STRIDE;
    }

    fn free(&mut self, at: u32) {
        self.blocks[at as usize].next = self.free;
        self.free = at;
    }

    /// Takes a player out of its slot; tells the slot if nobody is left there.
    #[inline(never)]
    pub(super) fn remove(&mut self, player: u32) -> Option<usize> {
        let place = std::mem::replace(&mut self.places[player as usize], AWAY);
        let (at, within) = ((place / STRIDE) as usize, (place % STRIDE) as usize);
        let slot = self.blocks[at].slot as usize;
        let first_at = self.firsts[slot];
        let first = &mut self.blocks[first_at as usize];
        first.count -= 1;
        let (last, left, next) = (first.entries[first.count as usize], first.count, first.next);
        if last.player() != player {
            self.blocks[at].entries[within] = last;
            self.places[last.player() as usize] = place;
        }
        if left > 0 {
            return None;
        }
        self.firsts[slot] = next;
        self.free(first_at);
        (next == NIL).then_some(slot)
    }

    /// Empties a slot: each of its players leaves or, where `stays` says so, comes in again. Tells
    /// if nobody stayed.
    #[inline]
    pub(super) fn sift(&mut self, slot: usize, mut stays: impl FnMut(Entry) -> bool) -> bool {
        let mut at = std::mem::replace(&mut self.firsts[slot], NIL);
        while let Some(&block) = self.blocks.get(at as usize) {
            self.free(at);
            for &entry in block.entries() {
                self.places[entry.player() as usize] = AWAY;
                if stays(entry) {
                    self.put(slot, entry.player(), entry.note() as u32);
                }
            }
            at = block.next;
        }
        self.firsts[slot] == NIL
    }

    /// Who stands in a slot.
    pub(super) fn of(&self, slot: usize) -> impl Iterator<Item = Entry> + '_ {
        let mut at = self.firsts[slot];
        let blocks = std::iter::from_fn(move || {
            let block = self.blocks.get(at as usize)?;
            at = block.next;
            Some(block.entries())
        });
        blocks.flatten().copied()
    }
}
