//! What LISP learned of other sites: networks, the locators that reach them, and for how long.

use crate::Wrong;
use crate::bytes::{Put, Take, put_address};
use std::net::IpAddr;

/// The most locators of a network, as messages have it.
const MOST_LOCATORS: u8 = 255;
const HAS_ADDRESS: u8 = 8;

/// A network of endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its instance.
    pub instance: u32,
    /// Its address.
    pub address: IpAddr,
    /// Its length in bits.
    pub length: u8,
    /// What becomes of packets where it is reached nowhere, by the number of RFC 9301.
    pub action: u8,
    /// For how many milliseconds more that is so.
    pub left_ms: u64,
    /// Where it is reached.
    pub locators: Vec<Locator>,
}

/// Where a network is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locator {
    /// Its address; none, if it was of a kind that is not known here.
    pub address: Option<IpAddr>,
    /// The lowest is taken.
    pub priority: u8,
    /// Its share among those of one priority.
    pub weight: u8,
    /// What else was said of it: three bits of RFC 9301 (L, p, R).
    pub flags: u8,
}

/// As [`read`] reads them.
pub fn write(all: &[Mapping]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for it in all {
        bytes.u32(it.instance);
        put_address(&mut bytes, it.address);
        bytes.extend([it.length, it.action]);
        bytes.u64(it.left_ms);
        let locators = &it.locators[..it.locators.len().min(MOST_LOCATORS.into())];
        bytes.u8(locators.len() as u8);
        for Locator { address, priority, weight, flags } in locators {
            let has_address = if address.is_some() { HAS_ADDRESS } else { 0 };
            bytes.extend([*priority, *weight, flags & 7 | has_address]);
            address.iter().for_each(|address| put_address(&mut bytes, *address));
        }
    }
    bytes
}

/// Those that were written.
pub fn read(bytes: &[u8]) -> Result<Vec<Mapping>, Wrong> {
    let (mut from, mut all) = (Take::new(bytes), Vec::new());
    while !from.is_empty() {
        let (instance, address) = (from.u32()?, from.address()?);
        let (length, action, left_ms) = (from.u8()?, from.u8()?, from.u64()?);
        let locators = (0..from.u8()?).map(|_| locator(&mut from)).collect::<Result<_, _>>()?;
        all.push(Mapping { instance, address, length, action, left_ms, locators });
    }
    Ok(all)
}

fn locator(from: &mut Take<'_>) -> Result<Locator, Wrong> {
    let (priority, weight, flags) = (from.u8()?, from.u8()?, from.u8()?);
    if flags >= 2 * HAS_ADDRESS {
        return Err(Wrong::Value { what: "what is said of a locator", found: flags.into() });
    }
    let address = (flags & HAS_ADDRESS != 0).then(|| from.address()).transpose()?;
    Ok(Locator { address, priority, weight, flags: flags & 7 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_read_as_they_were_written() {
        let locator = |address: Option<&str>, flags| {
            let address = address.map(|it| it.parse().unwrap());
            Locator { address, priority: 1, weight: 100, flags }
        };
        let mapping = |address: &str, locators| Mapping {
            instance: 7,
            address: address.parse().unwrap(),
            length: 16,
            action: 3,
            left_ms: 86_400_000,
            locators,
        };
        let several = vec![locator(Some("192.0.2.9"), 5), locator(Some("2001:db8::9"), 0)];
        let all = [
            mapping("10.2.0.0", several),
            mapping("2001:db8::", vec![locator(None, 1)]),
            mapping("10.3.0.0", Vec::new()),
        ];
        let bytes = write(&all);
        assert_eq!(read(&bytes).unwrap(), all);
        assert_eq!(read(&bytes[..bytes.len() - 1]), Err(Wrong::Short));
        // A bit that nobody writes.
        let at = 4 + 5 + 2 + 8 + 1 + 2;
        let wrong = [&bytes[..at], &[16], &bytes[at + 1..]].concat();
        assert!(matches!(read(&wrong), Err(Wrong::Value { found: 16, .. })));
    }
}
