//! Adjacencies: how a packet leaves towards one next hop, ready to be copied onto it.
//!
//! ```text
//!   one entry = one cache line of eight words, written by the control thread, read by workers
//!   word 0  | destination MAC (6)        | source MAC 0..2   |  header bytes 0..8
//!   word 1  | source MAC 2..6 | VLAN tag or ethertype ...    |  header bytes 8..16
//!   word 2  | ... header bytes 16..22                | 0 0   |
//!   word 3  | MTU 16 | interface 16 | 0 16 | state 8 | length 8 |
//!   word 4, 5  the next hop's address, IPv4 as ::ffff:a.b.c.d
//!   word 6  1 after a packet left, written by workers, taken back by the control thread
//!   word 7  0
//! ```
//!
//! The destination MAC is in word 0 alone: when a neighbour's MAC changes, one atomic store changes
//! it for all packets. The rest of the header never changes while the entry lives; a different
//! header is a different entry.
//!
//! Threads: one writer, readers without locks, but for word 6: a worker stores there once, and then
//! no more until the control thread has taken note, so that the line stays shared among workers. A
//! freed entry is used again once every reader has passed.
//!
//! Cost: one cache line. Bytes per entry: 64.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::FibError;
use crate::onlooker::only_looks;
use crate::pages::{PageSize, PagedArray, Zeroed};
use crate::quiesce::{Quiescence, Retired};

/// Longest header an entry holds: Ethernet with two VLAN tags.
pub const MAX_REWRITE: usize = 22;

/// The word that workers write.
const USED: usize = 6;

/// Which adjacency: the id of a [`Forward`](crate::Forward) that leads to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AdjacencyId(pub u32);

/// Whether packets can leave by an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdjacencyState {
    /// Not in use.
    Free,
    /// The next hop's MAC is not known: the packet waits or is dropped.
    Incomplete,
    /// The header is whole.
    Complete,
}

/// What an adjacency is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjacency {
    /// The interface that packets leave by.
    pub interface: u16,
    /// The longest packet it takes, without the header.
    pub mtu: u16,
    /// The address whose MAC is wanted.
    pub next_hop: IpAddr,
    /// The link header; only the first `rewrite_len` bytes count.
    pub rewrite: [u8; MAX_REWRITE],
    /// Length of the link header, at most [`MAX_REWRITE`].
    pub rewrite_len: u8,
}

/// The small fields of an entry, read in one load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdjacencyFields(u64);

impl AdjacencyFields {
    fn new(adjacency: &Adjacency, state: AdjacencyState) -> AdjacencyFields {
        let length = (adjacency.rewrite_len as usize).min(MAX_REWRITE) as u64;
        let fields = AdjacencyFields(
            u64::from(adjacency.mtu) << 48 | u64::from(adjacency.interface) << 32 | length,
        );
        fields.with_state(state)
    }

    fn with_state(self, state: AdjacencyState) -> AdjacencyFields {
        AdjacencyFields(self.0 & !0xff00 | (state as u64) << 8)
    }

    /// Length of the link header.
    #[inline]
    pub fn rewrite_len(self) -> usize {
        (self.0 & 0xff) as usize
    }

    /// Whether packets can leave.
    #[inline]
    pub fn state(self) -> AdjacencyState {
        match self.0 >> 8 & 0xff {
            2 => AdjacencyState::Complete,
            1 => AdjacencyState::Incomplete,
            _ => AdjacencyState::Free,
        }
    }

    /// The same as `state() == Complete`.
    #[inline]
    pub fn is_complete(self) -> bool {
        self.0 >> 8 & 0xff == AdjacencyState::Complete as u64
    }

    /// The interface that packets leave by.
    #[inline]
    pub fn interface(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// The longest packet it takes.
    #[inline]
    pub fn mtu(self) -> u16 {
        (self.0 >> 48) as u16
    }
}

/// One entry as workers see it; see the module's drawing.
#[derive(Debug)]
#[repr(align(64))]
pub struct AdjacencyEntry {
    words: [AtomicU64; 8],
}

#[allow(unsafe_code)] // The promise that `Zeroed` asks for.
// SAFETY: atomic integers alone; all zeros is a free entry.
unsafe impl Zeroed for AdjacencyEntry {}

impl AdjacencyEntry {
    /// The small fields. Read them before the header: a complete entry's header is whole.
    #[inline]
    pub fn fields(&self) -> AdjacencyFields {
        AdjacencyFields(self.words[3].load(Ordering::Acquire))
    }

    /// The header as three words to store one after the other; bytes past its length are 0.
    #[inline]
    pub fn rewrite(&self) -> [u64; 3] {
        std::array::from_fn(|word| self.words[word].load(Ordering::Relaxed))
    }

    /// The header as bytes.
    pub fn rewrite_bytes(&self) -> [u8; 24] {
        let mut bytes = [0; 24];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(self.rewrite()) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// The destination MAC.
    pub fn destination(&self) -> [u8; 6] {
        let [a, b, c, d, e, f, ..] = self.rewrite_bytes();
        [a, b, c, d, e, f]
    }

    /// The next hop's address.
    pub fn next_hop(&self) -> IpAddr {
        let word = |index: usize| u128::from(self.words[index].load(Ordering::Relaxed));
        Ipv6Addr::from_bits(word(4) << 64 | word(5)).to_canonical()
    }

    /// A packet leaves by it; one of who only looks does not count.
    #[inline(always)]
    pub fn mark_used(&self) {
        if self.words[USED].load(Ordering::Relaxed) == 0 && !only_looks() {
            self.words[USED].store(1, Ordering::Relaxed);
        }
    }

    fn store(&self, word: usize, value: u64) {
        self.words[word].store(value, Ordering::Relaxed);
    }

    fn store_fields(&self, fields: AdjacencyFields) {
        self.words[3].store(fields.0, Ordering::Release);
    }

    fn store_destination(&self, mac: [u8; 6]) {
        let mut bytes = self.words[0].load(Ordering::Relaxed).to_ne_bytes();
        bytes[..6].copy_from_slice(&mac);
        self.words[0].store(u64::from_ne_bytes(bytes), Ordering::Release);
    }

    fn fill(&self, adjacency: &Adjacency) {
        let mut bytes = [0; 24];
        let length = (adjacency.rewrite_len as usize).min(MAX_REWRITE);
        bytes[..length].copy_from_slice(&adjacency.rewrite[..length]);
        for (word, bytes) in bytes.as_chunks::<8>().0.iter().enumerate() {
            self.store(word, u64::from_ne_bytes(*bytes));
        }
        let address = match adjacency.next_hop {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        self.store(4, (address.to_bits() >> 64) as u64);
        self.store(5, address.to_bits() as u64);
        self.store(USED, 0);
    }
}

/// All adjacencies, of all interfaces and VRFs.
#[derive(Debug)]
pub struct AdjacencyTable {
    entries: PagedArray<AdjacencyEntry>,
    spare: Mutex<Spare>,
}

#[derive(Debug)]
struct Spare {
    free: Vec<u32>,
    fresh: u32,
    retired: Retired<u32>,
}

impl AdjacencyTable {
    /// A table of at most `capacity` entries (2^24 at the very most), read by `readers`.
    pub fn new(capacity: usize, readers: &Arc<Quiescence>) -> Result<AdjacencyTable, FibError> {
        let capacity = capacity.min(crate::Forward::MAX_ID as usize + 1);
        let entries = PagedArray::filled("the adjacency table", capacity, PageSize::Huge)?;
        let retired = Retired::new(Arc::clone(readers));
        let spare = Mutex::new(Spare { free: Vec::new(), fresh: 0, retired });
        Ok(AdjacencyTable { entries, spare })
    }

    /// The entry of `id`, for workers.
    #[inline]
    pub fn entry(&self, id: AdjacencyId) -> Option<&AdjacencyEntry> {
        self.entries.get(id.0 as usize)
    }

    /// All entries, indexed by id, for workers that look many up.
    #[inline]
    pub fn entries(&self) -> &[AdjacencyEntry] {
        self.entries.items()
    }

    /// Makes an entry. It begins incomplete: see [`AdjacencyTable::complete`].
    pub fn allocate(&self, adjacency: &Adjacency) -> Result<AdjacencyId, FibError> {
        let mut spare = self.spare();
        let Spare { free, fresh, retired } = &mut *spare;
        retired.reclaim(|id| free.push(id));
        let id = match free.pop() {
            Some(id) => id,
            None if (*fresh as usize) < self.entries.capacity() => {
                *fresh += 1;
                *fresh - 1
            }
            None => {
                let capacity = self.entries.capacity();
                let (table, unit) = ("the adjacency table", "adjacencies");
                return Err(FibError::Full { table, unit, capacity });
            }
        };
        if let Some(entry) = self.entries.get(id as usize) {
            entry.fill(adjacency);
            entry.store_fields(AdjacencyFields::new(adjacency, AdjacencyState::Incomplete));
        }
        Ok(AdjacencyId(id))
    }

    /// Gives the entry its destination MAC and lets packets leave. Of a complete entry, changes the
    /// MAC in one store.
    pub fn complete(&self, id: AdjacencyId, mac: [u8; 6]) {
        if let Some(entry) = self.live(id) {
            entry.store_destination(mac);
            entry.store_fields(entry.fields().with_state(AdjacencyState::Complete));
        }
    }

    /// Lets packets leave by an entry whose header needs no MAC: a tunnel, a point-to-point link.
    pub fn complete_as_is(&self, id: AdjacencyId) {
        if let Some(entry) = self.live(id) {
            entry.store_fields(entry.fields().with_state(AdjacencyState::Complete));
        }
    }

    /// Stops packets from leaving until the next [`AdjacencyTable::complete`].
    pub fn incomplete(&self, id: AdjacencyId) {
        if let Some(entry) = self.live(id) {
            entry.store_fields(entry.fields().with_state(AdjacencyState::Incomplete));
        }
    }

    /// Changes the longest packet that the entry takes.
    pub fn set_mtu(&self, id: AdjacencyId, mtu: u16) {
        if let Some(entry) = self.live(id) {
            let fields = entry.fields().0 & !(0xffff << 48) | u64::from(mtu) << 48;
            entry.store_fields(AdjacencyFields(fields));
        }
    }

    /// Whether packets left by the entry since the last call. One that leaves at this moment may be
    /// of this time or of the next.
    pub fn take_used(&self, id: AdjacencyId) -> bool {
        self.live(id).is_some_and(|entry| entry.words[USED].swap(0, Ordering::Relaxed) != 0)
    }

    /// Frees an entry that no route leads to any more. Workers that still hold its id find it
    /// incomplete, or as it was; it is used again when all have passed.
    pub fn free(&self, id: AdjacencyId) {
        if let Some(entry) = self.live(id) {
            entry.store_fields(entry.fields().with_state(AdjacencyState::Free));
            self.spare().retired.retire(id.0);
        }
    }

    /// How many entries are in use, or were and may still be read.
    pub fn used(&self) -> usize {
        let spare = self.spare();
        spare.fresh as usize - spare.free.len()
    }

    /// The most entries there may be.
    pub fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    /// Bytes that have memory.
    pub fn bytes(&self) -> usize {
        self.entries.resident_bytes()
    }

    fn live(&self, id: AdjacencyId) -> Option<&AdjacencyEntry> {
        self.entry(id).filter(|entry| entry.fields().state() != AdjacencyState::Free)
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn towards(next_hop: &str) -> Adjacency {
        let mut rewrite = [0; MAX_REWRITE];
        rewrite[..14].copy_from_slice(&[0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 8, 0]);
        let next_hop = next_hop.parse().unwrap();
        Adjacency { interface: 3, mtu: 1500, next_hop, rewrite, rewrite_len: 14 }
    }

    fn table(capacity: usize) -> (AdjacencyTable, Arc<Quiescence>) {
        let readers = Quiescence::new();
        (AdjacencyTable::new(capacity, &readers).unwrap(), readers)
    }

    #[test]
    fn an_entry_is_one_cache_line() {
        assert_eq!((size_of::<AdjacencyEntry>(), align_of::<AdjacencyEntry>()), (64, 64));
    }

    #[test]
    fn an_entry_says_what_it_was_made_with() {
        let (table, _readers) = table(4);
        for next_hop in ["192.0.2.1", "2001:db8::1"] {
            let id = table.allocate(&towards(next_hop)).unwrap();
            let entry = table.entry(id).unwrap();
            let fields = entry.fields();
            assert_eq!((fields.interface(), fields.mtu(), fields.rewrite_len()), (3, 1500, 14));
            assert_eq!(fields.state(), AdjacencyState::Incomplete);
            assert_eq!(entry.next_hop(), next_hop.parse::<IpAddr>().unwrap());
        }
    }

    #[test]
    fn who_only_looks_uses_nothing() {
        let (table, _readers) = table(1);
        let id = table.allocate(&towards("192.0.2.1")).unwrap();
        let looking = crate::Onlooker::new();
        table.entry(id).unwrap().mark_used();
        assert!(!table.take_used(id));
        drop(looking);
        table.entry(id).unwrap().mark_used();
        assert!(table.take_used(id));
    }

    #[test]
    fn a_mac_completes_the_header_and_leaves_the_rest() {
        let (table, _readers) = table(1);
        let id = table.allocate(&towards("192.0.2.1")).unwrap();
        table.complete(id, [1; 6]);
        let entry = table.entry(id).unwrap();
        assert!(entry.fields().is_complete());
        assert_eq!(entry.rewrite_bytes()[..14], [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 8, 0]);
        table.complete(id, [9; 6]);
        assert_eq!(entry.destination(), [9; 6]);
        table.set_mtu(id, 9000);
        assert!(entry.fields().mtu() == 9000 && entry.fields().is_complete());
        table.incomplete(id);
        assert_eq!(entry.fields().state(), AdjacencyState::Incomplete);
    }

    #[test]
    fn use_is_told_once() {
        let (table, readers) = table(1);
        let id = table.allocate(&towards("192.0.2.1")).unwrap();
        assert!(!table.take_used(id));
        let entry = table.entry(id).unwrap();
        entry.mark_used();
        entry.mark_used();
        assert_eq!([table.take_used(id), table.take_used(id)], [true, false]);
        entry.mark_used();
        table.free(id);
        assert!(!table.take_used(id), "what is free is used by nobody");
        readers.reader().pass();
        let again = table.allocate(&towards("192.0.2.2")).unwrap();
        assert!(again == id && !table.take_used(id), "nor is what has just been made");
    }

    #[test]
    fn a_freed_id_waits_for_the_readers() {
        let (table, readers) = table(1);
        let reader = readers.reader();
        let id = table.allocate(&towards("192.0.2.1")).unwrap();
        table.free(id);
        table.free(id);
        assert!(table.allocate(&towards("192.0.2.2")).is_err());
        reader.pass();
        assert_eq!(table.allocate(&towards("192.0.2.2")).unwrap(), id);
        assert!(table.allocate(&towards("192.0.2.3")).is_err());
    }
}
