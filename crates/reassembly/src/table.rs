//! All datagrams of which pieces are missing.
//!
//! ```text
//!  key ─▶ datagram        by age: when its time is over ─▶ key
//! ```
//! Owned by one thread. What is too much makes the oldest datagram go: whoever floods pieces loses
//! his own, too, and a sender of honest ones needs no more than the time that they take to come. A
//! piece costs two look-ups and its copy.

use crate::counters::Counters;
use crate::datagram::{Datagram, Filled};
use crate::piece::{Key, Piece};
use std::collections::{BTreeMap, HashMap};

/// How much is held at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Datagrams.
    pub datagrams: usize,
    /// Pieces of one datagram.
    pub pieces: usize,
    /// Bytes of all, what they are kept in included.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // The longest packet in pieces of 576 octets, the least that IPv4 links are asked for;
        // Linux holds 4 MiB.
        Self { datagrams: 1024, pieces: 128, bytes: 4 << 20 }
    }
}

/// Since when pieces are waited for, told apart by a number.
type Age = (u64, u64);

/// See the module.
pub struct Reassembly {
    limits: Limits,
    held: HashMap<Key, (Age, Datagram)>,
    by_age: BTreeMap<Age, Key>,
    bytes: usize,
    serial: u64,
    /// What became of all pieces.
    pub counters: Counters,
}

/// A datagram some pieces of which did not come in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Late {
    /// The interface that its first piece came by.
    pub rx: u16,
    /// That piece, for the error (RFC 792, RFC 4443 section 3.3).
    pub first: Vec<u8>,
}

/// How long pieces are waited for: 60 seconds (RFC 8200 section 4.5), and for IPv4 the 30 of Linux.
const WAIT6_NS: u64 = 60_000_000_000;
const WAIT4_NS: u64 = 30_000_000_000;

impl Reassembly {
    /// Nothing held yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            held: HashMap::new(),
            by_age: BTreeMap::new(),
            bytes: 0,
            serial: 0,
            counters: Counters::default(),
        }
    }

    /// A piece came by the interface `rx`: the whole packet, if it was the last that was missing.
    pub fn accept(&mut self, now_ns: u64, rx: u16, piece: &Piece<'_>) -> Option<Vec<u8>> {
        self.counters.pieces += 1;
        let key = piece.key;
        let (age, mut datagram) = self.take(key).unwrap_or_else(|| {
            let wait_ns = if key.source.is_ipv6() { WAIT6_NS } else { WAIT4_NS };
            self.serial += 1;
            ((now_ns + wait_ns, self.serial), Datagram::new())
        });
        match datagram.fill(piece, rx) {
            Filled::All => {
                let whole = datagram.whole();
                let count = if whole.is_some() {
                    &mut self.counters.whole
                } else {
                    &mut self.counters.too_long
                };
                *count += 1;
                return whole;
            }
            Filled::Some if datagram.pieces() > self.limits.pieces => {
                self.counters.too_many_pieces += 1;
                datagram.give_up();
            }
            Filled::Some => {}
            Filled::Duplicate => self.counters.duplicates += 1,
            Filled::Overlap => {
                self.counters.overlapping += 1;
                datagram.give_up();
            }
        }
        self.put(key, age, datagram);
        None
    }

    fn take(&mut self, key: Key) -> Option<(Age, Datagram)> {
        let (age, datagram) = self.held.remove(&key)?;
        self.by_age.remove(&age);
        self.bytes -= datagram.bytes();
        Some((age, datagram))
    }

    fn put(&mut self, key: Key, age: Age, datagram: Datagram) {
        self.bytes += datagram.bytes();
        self.by_age.insert(age, key);
        self.held.insert(key, (age, datagram));
        while self.held.len() > self.limits.datagrams || self.bytes > self.limits.bytes {
            let Some(oldest) = self.by_age.first_key_value().map(|(_, &key)| key) else { return };
            self.take(oldest);
            self.counters.evicted += 1;
        }
    }

    /// Lets the time pass: the datagrams whose time is over, as far as their senders are to be
    /// told.
    pub fn expire(&mut self, now_ns: u64) -> Vec<Late> {
        let mut late = Vec::new();
        while let Some((&(until_ns, _), &key)) = self.by_age.first_key_value()
            && until_ns <= now_ns
        {
            let Some((_, datagram)) = self.take(key) else { break };
            self.counters.timed_out += 1;
            late.extend(datagram.first().map(|(rx, first)| Late { rx, first }));
        }
        late
    }

    /// When [`Reassembly::expire`] has something to do next.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.by_age.first_key_value().map(|(&(until_ns, _), _)| until_ns)
    }

    /// Datagrams and bytes that are held.
    pub fn held(&self) -> (usize, usize) {
        (self.held.len(), self.bytes)
    }
}
