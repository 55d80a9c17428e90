//! The tables that are measured: made by a seed, or read from a file of real routes.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use crate::BenchError;
use crate::random::Random;

/// A route or a station: the key in the low bits, how many bits count, and what it yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) key: u128,
    pub(crate) length: u8,
    pub(crate) to: u32,
}

/// What is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// IPv4 addresses.
    Ip4,
    /// IPv6 addresses.
    Ip6,
    /// A bridge domain and a MAC address, 8 bytes.
    Mac,
}

/// Where a table comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Random, with the lengths of the real table.
    Random(usize),
    /// Random of one length.
    Length(usize, u8),
    /// A file of `PREFIX AS` lines.
    Real(&'static str),
}

/// One table to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    pub(crate) source: Source,
    /// Whether `--quick` measures it.
    pub(crate) quick: bool,
}

const fn case(name: &'static str, family: Family, source: Source, quick: bool) -> Case {
    Case { name, family, source, quick }
}

/// All of them, in the order of the report.
pub(crate) const CASES: [Case; 15] = [
    case("ip4-1", Family::Ip4, Source::Length(1, 24), true),
    case("ip4-255k", Family::Ip4, Source::Random(255_000), true),
    case("ip4-1m", Family::Ip4, Source::Random(1_000_000), false),
    case("ip4-4m", Family::Ip4, Source::Random(4_000_000), false),
    case("ip4-16m", Family::Ip4, Source::Random(16_000_000), false),
    case("ip4-real", Family::Ip4, Source::Real("internet-ipv4.txt.zst"), false),
    case("ip6-1", Family::Ip6, Source::Length(1, 64), true),
    case("ip6-real", Family::Ip6, Source::Real("internet-ipv6.txt.zst"), false),
    case("ip6-255k", Family::Ip6, Source::Length(255_000, 64), true),
    case("ip6-1m", Family::Ip6, Source::Random(1_000_000), false),
    case("mac-1", Family::Mac, Source::Length(1, 64), false),
    case("mac-1k", Family::Mac, Source::Length(1000, 64), true),
    case("mac-100k", Family::Mac, Source::Length(100_000, 64), true),
    case("mac-1m", Family::Mac, Source::Length(1_000_000, 64), false),
    case("mac-8m", Family::Mac, Source::Length(8_000_000, 64), false),
];

/// Routes of each length in a real IPv4 table, /8 first.
const IP4_LENGTHS: [u32; 25] = [
    8, 6, 31, 95, 257, 493, 1120, 2455, 9332, 6735, 11825, 22075, 33264, 46064, 103_676, 103_717,
    218_667, 1350, 1447, 1595, 141, 164, 53, 3, 7,
];
/// Routes of each length in a real IPv6 table, /20 first; /65 to /128 have 2 in 100 more.
const IP6_LENGTHS: [u32; 45] = [
    10, 7, 15, 21, 52, 41, 69, 65, 175, 10410, 974, 1523, 28341, 1808, 2173, 2580, 4860, 2673,
    3330, 3739, 8021, 3762, 4368, 5099, 9835, 5009, 6329, 9632, 41327, 386, 405, 417, 520, 492,
    386, 362, 457, 384, 537, 683, 800, 835, 869, 891, 1712,
];
/// Answers are adjacency ids from 1 on; a router has thousands of them at most.
const ADJACENCIES: usize = 8192;

impl Case {
    /// Its routes or stations, in random order, no two with the same key and length.
    pub(crate) fn items(&self, data: &Path) -> Result<Vec<Item>, BenchError> {
        let mut random = Random(self.name.len() as u64);
        match self.source {
            Source::Real(file) => real(&data.join(file)),
            Source::Length(count, length) => Ok(self.distinct(count, &mut random, |_| length)),
            Source::Random(count) => {
                let lengths = lengths(self.family);
                Ok(self.distinct(count, &mut random, |random| lengths[random.below(lengths.len())]))
            }
        }
    }

    fn distinct(
        &self,
        count: usize,
        random: &mut Random,
        mut length: impl FnMut(&mut Random) -> u8,
    ) -> Vec<Item> {
        let mut seen = HashSet::with_capacity(count);
        let mut items = Vec::with_capacity(count);
        let mut refused = 0;
        while items.len() < count {
            // Where the prefixes of a length are used up, the next longer takes over.
            let wanted = length(random) + (refused / 8).min(8) as u8;
            let key = match self.family {
                Family::Ip4 => {
                    let address = 0x0100_0000 + random.below(0xdf00_0000) as u32;
                    u128::from(address & u32::MAX << (32 - wanted.min(32)))
                }
                Family::Ip6 => (1 << 125 | random.wide() >> 3) & u128::MAX << (128 - wanted),
                Family::Mac => {
                    // 256 bridge domains; unicast, locally administered.
                    let (domain, station) = (random.next() % 256, random.next() >> 24);
                    u128::from(domain << 48 | 0x0200_0000_0000 | station & 0xff_ffff_ffff)
                }
            };
            let wanted = if self.family == Family::Ip4 { wanted.min(32) } else { wanted };
            if !seen.insert((key, wanted)) {
                refused += 1;
                continue;
            }
            refused = 0;
            let to = 1 + random.below(ADJACENCIES) as u32;
            items.push(Item { key, length: wanted, to });
        }
        items
    }
}

/// Each length as often as it is in a real table.
fn lengths(family: Family) -> Vec<u8> {
    let repeated = |first: u8, counts: &[u32]| -> Vec<u8> {
        let lengths = (first..).zip(counts);
        lengths.flat_map(|(length, count)| std::iter::repeat_n(length, *count as usize)).collect()
    };
    match family {
        Family::Ip4 => repeated(8, &IP4_LENGTHS),
        Family::Ip6 | Family::Mac => {
            let mut all = repeated(20, &IP6_LENGTHS);
            let long = all.len() / 50;
            all.extend((0..long).map(|place| 65 + (place % 64) as u8));
            all
        }
    }
}

/// Reads `PREFIX AS` lines through `zstd`, and shuffles them.
fn real(file: &Path) -> Result<Vec<Item>, BenchError> {
    let missing = |why: String| BenchError::Data { file: file.display().to_string(), why };
    let output = Command::new("zstd").arg("-dc").arg(file).output();
    let output = output.map_err(|error| missing(error.to_string()))?;
    if !output.status.success() {
        return Err(missing(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let mut items = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let item = parse(line).ok_or_else(|| missing(format!("`{line}` is no route")))?;
        items.push(item);
    }
    let mut random = Random(1);
    for place in (1..items.len()).rev() {
        items.swap(place, random.below(place + 1));
    }
    Ok(items)
}

fn parse(line: &str) -> Option<Item> {
    let (prefix, origin) = line.split_once(' ')?;
    // Neighbours with one origin share a next hop, as they do in a router.
    let to = 1 + origin.trim().parse::<u32>().ok()? % ADJACENCIES as u32;
    if let Ok(prefix) = prefix.parse::<fib::Ip4Prefix>() {
        return Some(Item { key: prefix.address().into(), length: prefix.length(), to });
    }
    let prefix: fib::Ip6Prefix = prefix.parse().ok()?;
    Some(Item { key: prefix.address(), length: prefix.length(), to })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_distinct_and_have_no_host_bits() {
        for case in CASES.iter().filter(|case| case.quick) {
            let items = case.items(Path::new("nowhere")).unwrap();
            let distinct: HashSet<_> = items.iter().map(|item| (item.key, item.length)).collect();
            assert_eq!(distinct.len(), items.len(), "{}", case.name);
            let bits = if case.family == Family::Ip4 { 32 } else { 128 };
            if case.family != Family::Mac {
                let clean =
                    |item: &Item| item.key.trailing_zeros() + u32::from(item.length) >= bits;
                assert!(items.iter().all(clean), "{}", case.name);
            }
        }
    }

    #[test]
    fn a_line_is_a_prefix_and_its_origin() {
        let item = parse("192.0.2.0/24 8193").unwrap();
        assert_eq!(item, Item { key: 0xc000_0200, length: 24, to: 2 });
        assert_eq!(parse("2001:db8::/32 1").unwrap().length, 32);
        assert_eq!(parse("nonsense"), None);
    }
}
