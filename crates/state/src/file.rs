//! A file: a header, then blocks with a checksum each.
//!
//! ```text
//!  0         8         12      16               32          40          48
//!  +---------+---------+-------+----------------+-----------+-----------+----------+------+
//!  |"VOLLEYST"| version | table | boot, 16 bytes | written s | ~written  | checksum | zero |
//!  +---------+---------+-------+----------------+-----------+-----------+----------+------+  56
//!  | length | checksum | payload …             |  a block
//!  +--------+----------+------------------------+
//!  | length | checksum | payload …             |  …
//!  | 0      | 0        |                           the end of a snapshot; a log has none
//! ```
//! A log is appended to, so a process that is killed can leave its last block torn: the log ends
//! before it. A snapshot is renamed to its name when it is whole. Anything else that is not as it
//! was written is refused, whole.

use crate::Refused;

/// The version of the format. Another one is refused: a router that cannot read what it finds
/// starts empty. To be raised with any change of what stands in the files.
pub const VERSION: u32 = 1;
/// How it begins.
const MAGIC: [u8; 8] = *b"VOLLEYST";
/// Bytes of the header.
pub(crate) const HEADER: usize = 56;
/// Where it says when it was written last.
pub(crate) const WRITTEN_AT: u64 = 32;
/// Bytes in front of a block.
const FRAME: usize = 8;
/// The longest block.
pub(crate) const MOST_BLOCK: usize = 1 << 24;

/// What a file is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Routes that no configuration has: a log.
    Routes = 1,
    /// Neighbours.
    Neighbors = 2,
    /// Stations of bridges.
    Stations = 3,
    /// Counters.
    Counters = 4,
    /// Policers.
    Policers = 5,
    /// Remotes of tunnels, and stations behind them.
    Remotes = 6,
    /// What LISP learned of other sites.
    Mappings = 7,
}

impl Table {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Routes,
        Self::Neighbors,
        Self::Stations,
        Self::Counters,
        Self::Policers,
        Self::Remotes,
        Self::Mappings,
    ];

    /// The name of its file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Routes => "routes",
            Self::Neighbors => "neighbors",
            Self::Stations => "stations",
            Self::Counters => "counters",
            Self::Policers => "policers",
            Self::Remotes => "remotes",
            Self::Mappings => "mappings",
        }
    }
}

/// Which start of the machine it is, and for how long it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boot {
    /// The kernel's number of it.
    pub id: [u8; 16],
    /// Nanoseconds since then, those asleep among them.
    pub now_ns: u64,
}

impl Boot {
    /// As the kernel tells it; all zero where it does not.
    pub fn now() -> Self {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let digits: Vec<u8> = text.bytes().filter_map(digit).collect();
        let mut id = [0; 16];
        for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair[0] << 4 | pair[1];
        }
        Self { id, now_ns: now_ns() }
    }
}

fn digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|it| it as u8)
}

/// Nanoseconds since the machine was started, on a clock that all processes share.
pub(crate) fn now_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}

/// The header of a table's file.
pub fn header(table: Table, boot: &Boot) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((table as u32).to_le_bytes());
    bytes.extend(boot.id);
    bytes.extend(written(boot.now_ns));
    let checksum = crc32fast::hash(&bytes[..WRITTEN_AT as usize]);
    bytes.extend(checksum.to_le_bytes());
    bytes.extend([0; 4]);
    bytes
}

/// When it is written, as the header has it: it is written over, so it checks itself.
pub(crate) fn written(now_ns: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&now_ns.to_le_bytes());
    bytes[8..].copy_from_slice(&(!now_ns).to_le_bytes());
    bytes
}

/// A block.
pub fn block(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FRAME + payload.len());
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(crc32fast::hash(payload).to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// A whole file of a table that is written at once.
pub fn snapshot(table: Table, boot: &Boot, payload: &[u8]) -> Vec<u8> {
    let mut bytes = header(table, boot);
    for piece in payload.chunks(MOST_BLOCK) {
        bytes.extend(block(piece));
    }
    bytes.extend([0; FRAME]);
    bytes
}

/// A file that was found, its header checked.
#[derive(Debug)]
pub struct Blocks<'a> {
    bytes: &'a [u8],
    /// How long ago it was written last.
    pub age_ns: u64,
}

impl<'a> Blocks<'a> {
    /// Believes a header, or says why not.
    pub fn of(bytes: &'a [u8], table: Table, boot: &Boot, keep_s: u64) -> Result<Self, Refused> {
        if bytes.first_chunk() != Some(&MAGIC) {
            return Err(Refused::Unknown);
        }
        // Before all else: where what stands there is another's to say.
        let found = field::<4>(bytes, 8).map(u32::from_le_bytes);
        let found = found.ok_or(Refused::Torn(bytes.len()))?;
        if found != VERSION {
            return Err(Refused::Version { found, known: VERSION });
        }
        let header = bytes.first_chunk::<HEADER>().ok_or(Refused::Torn(bytes.len()))?;
        let checksum = crc32fast::hash(&header[..WRITTEN_AT as usize]);
        if header[48..52] != checksum.to_le_bytes() {
            return Err(Refused::Damaged(48));
        }
        let number = field::<4>(bytes, 12).map_or(0, u32::from_le_bytes);
        if number != table as u32 {
            return Err(Refused::Table(number));
        }
        if header[16..32] != boot.id {
            return Err(Refused::Boot);
        }
        let written = field::<8>(bytes, 32).map_or(0, u64::from_le_bytes);
        let again = field::<8>(bytes, 40).map_or(0, u64::from_le_bytes);
        if written != !again {
            return Err(Refused::Damaged(WRITTEN_AT as usize));
        }
        let age_ns = boot.now_ns.saturating_sub(written);
        let age_s = age_ns / 1_000_000_000;
        if age_s > keep_s {
            return Err(Refused::Old { age_s, keep_s });
        }
        Ok(Self { bytes, age_ns })
    }

    /// The payload of a snapshot, its blocks put together.
    pub fn snapshot(&self) -> Result<Vec<u8>, Refused> {
        let (mut all, mut at) = (Vec::new(), HEADER);
        loop {
            let (payload, next) = self.block(at)?.ok_or(Refused::Torn(at))?;
            if payload.is_empty() {
                return Ok(all);
            }
            all.extend(payload);
            at = next;
        }
    }

    /// Shows each block of a log; where it ends, which may be before a torn one.
    pub fn log(
        &self,
        mut show: impl FnMut(&'a [u8]) -> Result<(), Refused>,
    ) -> Result<usize, Refused> {
        let mut at = HEADER;
        while let Some((payload, next)) = self.block(at)? {
            show(payload)?;
            at = next;
        }
        Ok(at)
    }

    /// The block there, and where the next one is; none if it is not whole.
    fn block(&self, at: usize) -> Result<Option<(&'a [u8], usize)>, Refused> {
        let (Some(length), Some(checksum)) =
            (field::<4>(self.bytes, at), field(self.bytes, at + 4))
        else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(length) as usize;
        if length > MOST_BLOCK {
            return Err(Refused::Damaged(at));
        }
        let begin = at + FRAME;
        let Some(payload) = self.bytes.get(begin..begin + length) else { return Ok(None) };
        if crc32fast::hash(payload).to_le_bytes() != checksum {
            return Err(Refused::Damaged(at + 4));
        }
        Ok(Some((payload, begin + length)))
    }
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOT: Boot = Boot { id: [7; 16], now_ns: 5_000_000_000 };

    fn read(bytes: &[u8]) -> Result<Vec<u8>, Refused> {
        let later = Boot { now_ns: BOOT.now_ns + 2_000_000_000, ..BOOT };
        let blocks = Blocks::of(bytes, Table::Neighbors, &later, 10)?;
        assert_eq!(blocks.age_ns, 2_000_000_000);
        blocks.snapshot()
    }

    #[test]
    fn a_snapshot_is_read_as_it_was_written_or_not_at_all() {
        let whole = snapshot(Table::Neighbors, &BOOT, b"neighbours");
        assert_eq!(read(&whole).unwrap(), b"neighbours");
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_err(), "{length} bytes of it");
        }
        // Behind the checksum of the header there is nothing.
        for bit in (0..whole.len() * 8).filter(|bit| !(52 * 8..56 * 8).contains(bit)) {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&bytes).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn what_is_of_another_version_boot_table_or_time_is_told_apart() {
        let whole = snapshot(Table::Neighbors, &BOOT, b"x");
        let told = |bytes: &[u8], table, boot: Boot| {
            Blocks::of(bytes, table, &boot, 10).unwrap_err().to_string()
        };
        let mut newer = whole.clone();
        newer[8] = 2;
        // Even if nothing behind it is as we know it.
        newer.truncate(20);
        let version = "it has version 2 of the format, and this router knows 1";
        assert_eq!(told(&newer, Table::Neighbors, BOOT), version);
        assert_eq!(told(&whole, Table::Stations, BOOT), "it is of another table: number 2");
        let boot = Boot { id: [8; 16], ..BOOT };
        assert_eq!(told(&whole, Table::Neighbors, boot), "it is of another start of the machine");
        let late = Boot { now_ns: 20_000_000_000, ..BOOT };
        let old = "it was last written 15 s ago, and 10 s are the most";
        assert_eq!(told(&whole, Table::Neighbors, late), old);
        assert_eq!(told(b"#!/bin/sh", Table::Neighbors, BOOT), "it is no state of a router");
    }

    #[test]
    fn a_log_ends_before_a_block_that_is_torn_and_is_refused_with_one_that_is_damaged() {
        let mut bytes = header(Table::Routes, &BOOT);
        for payload in [&b"first"[..], b"second"] {
            bytes.extend(block(payload));
        }
        let whole = bytes.len();
        bytes.extend(block(b"third"));
        let read = |bytes: &[u8]| {
            let mut seen = Vec::new();
            let blocks = Blocks::of(bytes, Table::Routes, &BOOT, 10)?;
            let end = blocks.log(|payload| {
                seen.push(payload.to_vec());
                Ok(())
            })?;
            Ok::<_, Refused>((seen.len(), end))
        };
        assert_eq!(read(&bytes).unwrap(), (3, bytes.len()));
        for length in whole..bytes.len() {
            assert_eq!(read(&bytes[..length]).unwrap(), (2, whole));
        }
        bytes[whole - 1] ^= 1;
        assert!(matches!(read(&bytes), Err(Refused::Damaged(_))));
    }
}
