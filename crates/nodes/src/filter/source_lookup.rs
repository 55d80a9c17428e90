//! Looking sources up: those of the packets of one interface together, by the routes of one VRF.

use crate::ip::{MOST_LED_ON, RouteAddress};
use crate::tables::{Kind, VrfId, Vrfs};
use fib::Forward;
use packet::VECTOR;

/// Sources of one family, and what was found for them.
pub struct SourceLookup<A> {
    sources: [A; VECTOR],
    slots: [u8; VECTOR],
    count: usize,
    found: [u32; VECTOR],
}

impl<A: RouteAddress> SourceLookup<A> {
    /// None yet.
    pub fn new() -> Self {
        let (sources, slots, found) = ([A::default(); VECTOR], [0; VECTOR], [0; VECTOR]);
        Self { sources, slots, count: 0, found }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// One packet more.
    #[inline(always)]
    pub fn ask(&mut self, slot: usize, source: A) {
        self.sources[self.count % VECTOR] = source;
        self.slots[self.count % VECTOR] = slot as u8;
        self.count += 1;
    }

    /// Those that were asked for.
    pub fn slots(&self) -> impl Iterator<Item = usize> + '_ {
        self.slots[..self.count].iter().map(|slot| usize::from(*slot))
    }

    /// Looks all up by the routes of a VRF, its default one if that is wanted, and tells where
    /// packets to each source would go.
    #[inline]
    pub fn answer(
        &mut self,
        (vrfs, vrf, with_default): (&Vrfs, VrfId, bool),
        mut tell: impl FnMut(usize, Forward),
    ) {
        let (sources, found) = (&self.sources[..self.count], &mut self.found[..self.count]);
        let find = |table: &A::Table, sources: &[A], found: &mut [u32]| match with_default {
            true => A::find_all(table, sources, found),
            false => A::find_all_specific(table, sources, found),
        };
        match vrfs.get(vrf) {
            Some(tables) => find(A::table(tables), sources, found),
            None => found.fill(Forward::NONE.bits()),
        }
        for ((slot, source), found) in self.slots.iter().zip(sources).zip(found) {
            let mut to = Forward::from_bits(*found);
            for _ in 0..MOST_LED_ON {
                if to.kind() != Kind::Vrf as u8 {
                    break;
                }
                let mut next = [0];
                if let Some(tables) = vrfs.get(VrfId(to.id() as u16)) {
                    find(A::table(tables), &[*source], &mut next);
                }
                to = Forward::from_bits(next[0]);
            }
            tell(usize::from(*slot), to);
        }
    }
}

impl<A: RouteAddress> Default for SourceLookup<A> {
    fn default() -> Self {
        Self::new()
    }
}
