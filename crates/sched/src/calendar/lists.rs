//! Who waits for which day: a list for each, through the players.
//!
//! ```text
//!   firsts:  day ─▶ player 7          links:  7 ⇄ 3 ⇄ 9, and 7 knows its day
//! ```
//!
//! Time O(1). Space 8 bytes a player, 4 a day.

const NIL: u32 = u32::MAX;
/// What stands before a player that is away.
const AWAY: u32 = NIL;
/// A day stands before its first player.
const DAY: u32 = 1 << 31;

#[derive(Clone, Copy)]
struct Link {
    before: u32,
    after: u32,
}

pub(super) struct Lists {
    firsts: Vec<u32>,
    links: Vec<Link>,
}

impl Lists {
    /// All players, fewer than 2^31, are away.
    pub(super) fn new(players: usize, days: usize) -> Self {
        Self { firsts: vec![NIL; days], links: vec![Link { before: AWAY, after: NIL }; players] }
    }

    #[inline(always)]
    pub(super) fn has(&self, player: u32) -> bool {
        self.links[player as usize].before != AWAY
    }

    /// Who came last of those in a day's list.
    #[inline(always)]
    pub(super) fn first(&self, day: usize) -> Option<u32> {
        Some(self.firsts[day]).filter(|&player| player != NIL)
    }

    /// Who came before a player that stands in a list, of those left there.
    #[inline(always)]
    pub(super) fn after(&self, player: u32) -> Option<u32> {
        Some(self.links[player as usize].after).filter(|&player| player != NIL)
    }

    /// Puts a player that is away into a day's list; tells if nobody stood there.
    #[inline(always)]
    pub(super) fn put(&mut self, day: usize, player: u32) -> bool {
        let after = std::mem::replace(&mut self.firsts[day], player);
        self.links[player as usize] = Link { before: DAY | day as u32, after };
        match self.links.get_mut(after as usize) {
            Some(link) => link.before = player,
            None => return true,
        }
        false
    }

    /// Takes a player out of its list; tells the day if nobody is left there.
    pub(super) fn remove(&mut self, player: u32) -> Option<usize> {
        let Link { before, after } = self.links[player as usize];
        self.links[player as usize].before = AWAY;
        if let Some(link) = self.links.get_mut(after as usize) {
            link.before = before;
        }
        if before & DAY == 0 {
            self.links[before as usize].after = after;
            return None;
        }
        let day = (before & !DAY) as usize;
        self.firsts[day] = after;
        (after == NIL).then_some(day)
    }

    /// Empties a day's list into `out`.
    #[inline]
    pub(super) fn empty(&mut self, day: usize, out: &mut Vec<u32>) {
        let mut at = std::mem::replace(&mut self.firsts[day], NIL);
        while let Some(link) = self.links.get_mut(at as usize) {
            link.before = AWAY;
            out.push(at);
            at = link.after;
        }
    }

    /// Who stands in a day's list.
    pub(super) fn of(&self, day: usize) -> impl Iterator<Item = u32> + '_ {
        let after = |&at: &u32| self.links.get(at as usize).map(|link| link.after);
        std::iter::successors(Some(self.firsts[day]), after).filter(|&at| at != NIL)
    }
}
