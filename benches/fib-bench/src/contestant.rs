//! The tables that compete, each behind the same few calls.

use std::sync::Arc;
use std::time::Duration;

use fib::ip4::{Ip4Nodes, Ip4Options, Ip4Table};
use fib::ip6::{Ip6Pool, Ip6Table};
use fib::mac::{Learned, MacKey, MacTable};
use fib::pages::PageSize;
use fib::quiesce::Quiescence;
use fib::{Forward, Prefix};

use crate::clock::processor_time;
use crate::poptrie::Poptrie;
use crate::reference::{Kind, Table};
use crate::table::{Family, Item};

/// Lookups in one call.
pub(crate) const BATCH: usize = 256;
/// A table that takes more processor time to fill is left out.
const PATIENCE: Duration = Duration::from_secs(25);
/// The same for `rte_lpm`, whose adds take longer the more routes of a length there are.
const LPM_PATIENCE: Duration = Duration::from_secs(8);

/// A competing table.
pub(crate) enum Contestant {
    /// Ours, IPv4.
    Ip4(Ip4Table, Arc<Ip4Nodes>),
    /// Ours, IPv6.
    Ip6(Ip6Table, Arc<Ip6Pool>),
    /// Ours, MAC.
    Mac(MacTable),
    /// A plain poptrie.
    Poptrie(Poptrie),
    /// One of DPDK's.
    Dpdk(Table, Kind),
}

/// The same keys, as each contestant wants them.
pub(crate) struct Keys {
    low: Vec<u32>,
    middle: Vec<u64>,
    stations: Vec<MacKey>,
    whole: Vec<u128>,
    bytes: Vec<[u8; 16]>,
    high: Vec<u128>,
}

/// Where answers go.
pub(crate) struct Answers {
    narrow: [u32; BATCH],
    wide: [u64; BATCH],
}

/// What filling a table came to.
pub(crate) struct Filled {
    pub(crate) contestant: Contestant,
    pub(crate) nanoseconds: Option<f64>,
    pub(crate) refused: usize,
    pub(crate) bytes: usize,
}

impl Keys {
    pub(crate) fn new(family: Family, keys: &[u128]) -> Keys {
        let when = |family_: Family| if family == family_ { keys } else { &[] };
        let (ip4, ip6, mac) = (when(Family::Ip4), when(Family::Ip6), when(Family::Mac));
        Keys {
            low: ip4.iter().map(|key| *key as u32).collect(),
            middle: mac.iter().map(|key| *key as u64).collect(),
            stations: mac.iter().map(|key| station(*key)).collect(),
            whole: ip6.to_vec(),
            bytes: ip6.iter().map(|key| key.to_be_bytes()).collect(),
            high: ip4.iter().map(|key| key << 96).chain(ip6.iter().copied()).collect(),
        }
    }
}

fn station(key: u128) -> MacKey {
    let [high, low, a, b, c, d, e, f] = (key as u64).to_be_bytes();
    MacKey::new(u16::from_be_bytes([high, low]), [a, b, c, d, e, f])
}

impl Answers {
    pub(crate) fn new() -> Answers {
        Answers { narrow: [0; BATCH], wide: [0; BATCH] }
    }

    /// The answer in `place`, without what a contestant adds to it.
    pub(crate) fn get(&self, contestant: &Contestant, place: usize) -> u32 {
        match contestant {
            Contestant::Dpdk(_, Kind::Lpm) => self.narrow[place] & 0x00ff_ffff,
            Contestant::Dpdk(..) => self.wide[place] as u32,
            _ => self.narrow[place],
        }
    }
}

impl Contestant {
    /// Looks up the batch of `keys` that begins at `first`.
    pub(crate) fn lookup(&self, keys: &Keys, first: usize, answers: &mut Answers) {
        let to = first + BATCH;
        match self {
            Contestant::Ip4(table, _) => {
                table.lookup_bulk(&keys.low[first..to], &mut answers.narrow)
            }
            Contestant::Ip6(table, _) => {
                table.lookup_bulk(&keys.whole[first..to], &mut answers.narrow);
            }
            Contestant::Mac(table) => {
                table.lookup_bulk(&keys.stations[first..to], 0, &mut answers.narrow);
            }
            Contestant::Poptrie(trie) => {
                trie.lookup_bulk(&keys.high[first..to], &mut answers.narrow);
            }
            Contestant::Dpdk(table, Kind::Fib) => {
                table.lookup_fib(&keys.low[first..to], &mut answers.wide);
            }
            Contestant::Dpdk(table, Kind::Lpm) => {
                table.lookup_lpm(&keys.low[first..to], &mut answers.narrow);
            }
            Contestant::Dpdk(table, Kind::Fib6) => {
                table.lookup_fib6(&keys.bytes[first..to], &mut answers.wide);
            }
            Contestant::Dpdk(table, Kind::Hash) => {
                table.lookup_hash(&keys.middle[first..to], &mut answers.wide);
            }
        }
    }

    /// Adds an item; says whether the table took it.
    pub(crate) fn add(&self, item: &Item) -> bool {
        let to = Forward::from_bits(item.to);
        match self {
            Contestant::Ip4(table, _) => Prefix::new(item.key as u32, item.length)
                .and_then(|prefix| table.insert(prefix, to))
                .is_ok(),
            Contestant::Ip6(table, _) => Prefix::new(item.key, item.length)
                .and_then(|prefix| table.insert(prefix, to))
                .is_ok(),
            Contestant::Mac(table) => table.learn(station(item.key), item.to, 0) == Learned::New,
            Contestant::Poptrie(_) => false,
            Contestant::Dpdk(table, _) => table.add(item.key, item.length, item.to),
        }
    }

    /// Takes an item out; says whether it was there. A poptrie keeps all.
    pub(crate) fn delete(&self, item: &Item) -> bool {
        match self {
            Contestant::Ip4(table, _) => Prefix::new(item.key as u32, item.length)
                .is_ok_and(|prefix| table.remove(prefix).is_some()),
            Contestant::Ip6(table, _) => Prefix::new(item.key, item.length)
                .is_ok_and(|prefix| table.remove(prefix).is_some()),
            Contestant::Mac(table) => table.remove(station(item.key)).is_some(),
            Contestant::Poptrie(_) => false,
            Contestant::Dpdk(table, _) => table.delete(item.key, item.length),
        }
    }

    /// Whether single routes can be taken out.
    pub(crate) fn is_dynamic(&self) -> bool {
        !matches!(self, Contestant::Poptrie(_))
    }
}

/// Fills ours with `items`.
pub(crate) fn ours(family: Family, items: &[Item], page_size: PageSize) -> Result<Filled, String> {
    let readers = Quiescence::new();
    let contestant = match family {
        Family::Ip4 => {
            let nodes = Ip4Nodes::new(8 << 20, page_size, &readers).map_err(|e| e.to_string())?;
            let options = Ip4Options { page_size, ..Ip4Options::default() };
            let table = Ip4Table::new(&nodes, options).map_err(|e| e.to_string())?;
            Contestant::Ip4(table, nodes)
        }
        Family::Ip6 => {
            let pool = Ip6Pool::new(2 << 30, page_size, &readers).map_err(|e| e.to_string())?;
            Contestant::Ip6(Ip6Table::new(&pool, 4 << 20), pool)
        }
        Family::Mac => Contestant::Mac(
            MacTable::new(items.len(), page_size, &readers).map_err(|e| e.to_string())?,
        ),
    };
    let mut filled = fill(contestant, items)?;
    filled.bytes = match &filled.contestant {
        Contestant::Ip4(table, nodes) => {
            let memory = table.memory();
            memory.root_bytes + memory.record_bytes + nodes.bytes()
        }
        Contestant::Ip6(_, pool) => pool.memory().used_bytes,
        Contestant::Mac(table) => table.memory().bytes,
        Contestant::Poptrie(_) | Contestant::Dpdk(..) => 0,
    };
    Ok(filled)
}

/// Fills one of DPDK's with `items`.
pub(crate) fn dpdk(kind: Kind, items: &[Item]) -> Result<Filled, String> {
    let routes = items.len() as u32;
    let extensions = match kind {
        // Every /24 that has longer routes, and room to spare.
        Kind::Fib | Kind::Lpm => (routes / 8).clamp(4096, 1 << 20),
        // A random /64 takes five tables of its own.
        Kind::Fib6 => (routes.saturating_mul(5) + 4096).min(5 << 20),
        Kind::Hash => 0,
    };
    let before = crate::reference::bytes();
    // It rounds up, and its own bookkeeping needs some.
    let room = routes.saturating_mul(2).max(1024);
    let Some(table) = Table::new(kind, room, extensions) else {
        return Err(format!("refused: no memory for {room} entries, {extensions} extensions"));
    };
    let mut filled = fill(Contestant::Dpdk(table, kind), items)?;
    filled.bytes = crate::reference::bytes() - before;
    Ok(filled)
}

/// Builds a poptrie of `items`.
pub(crate) fn poptrie(family: Family, items: &[Item]) -> Filled {
    let (shift, root_bits) = if family == Family::Ip4 { (96, 18) } else { (0, 16) };
    let routes: Vec<_> =
        items.iter().map(|item| (item.key << shift, item.length, item.to)).collect();
    let trie = Poptrie::new(&routes, root_bits);
    let bytes = trie.bytes();
    Filled { contestant: Contestant::Poptrie(trie), nanoseconds: None, refused: 0, bytes }
}

fn fill(contestant: Contestant, items: &[Item]) -> Result<Filled, String> {
    let patience = match contestant {
        Contestant::Dpdk(_, Kind::Lpm) => LPM_PATIENCE,
        _ => PATIENCE,
    };
    let begun = processor_time();
    let mut refused = 0;
    for (done, some) in items.chunks(1000).enumerate() {
        refused += some.iter().filter(|item| !contestant.add(item)).count();
        if processor_time() - begun > patience {
            let seconds = patience.as_secs();
            return Err(format!("left out: {} added in {seconds} s", (done + 1) * 1000));
        }
    }
    let nanoseconds = (processor_time() - begun).as_nanos() as f64 / items.len() as f64;
    Ok(Filled { contestant, nanoseconds: Some(nanoseconds), refused, bytes: 0 })
}
