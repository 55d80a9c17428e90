//! Neighbours: whose MAC address was known, and how long ago it was heard.

use crate::Wrong;
use crate::bytes::{Put, Take, put_address};
use std::net::IpAddr;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbor {
    /// The port that it is behind.
    pub port: String,
    /// Its address.
    pub address: IpAddr,
    /// Its MAC address.
    pub mac: [u8; 6],
    /// Milliseconds since it was heard.
    pub age_ms: u64,
    /// Packets or routes led to it.
    pub is_used: bool,
}

/// As [`read`] reads them.
pub fn write(all: impl IntoIterator<Item = Neighbor>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Neighbor { port, address, mac, age_ms, is_used } in all {
        bytes.name(&port);
        put_address(&mut bytes, address);
        bytes.extend(mac);
        bytes.u64(age_ms);
        bytes.u8(is_used.into());
    }
    bytes
}

/// Those that were written.
pub fn read(bytes: &[u8]) -> Result<Vec<Neighbor>, Wrong> {
    let (mut from, mut all) = (Take::new(bytes), Vec::new());
    while !from.is_empty() {
        let (port, address) = (from.name()?.to_owned(), from.address()?);
        let (mac, age_ms, is_used) = (from.bytes()?, from.u64()?, from.u8()? != 0);
        all.push(Neighbor { port, address, mac, age_ms, is_used });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_read_as_they_were_written() {
        let one = |address: &str| Neighbor {
            port: "p1".to_owned(),
            address: address.parse().unwrap(),
            mac: [2, 0, 0, 0, 0, 9],
            age_ms: 1234,
            is_used: true,
        };
        let all = [one("192.0.2.9"), one("fe80::9")];
        let bytes = write(all.clone());
        assert_eq!(read(&bytes).unwrap(), all);
        assert_eq!(read(&bytes[1..]), Err(Wrong::Short));
        assert!(read(&[]).unwrap().is_empty());
    }
}
