//! Remotes of tunnels that have several: those that were learned, and the stations behind any.

use crate::Wrong;
use crate::bytes::{Put, Take, put_address};
use std::net::IpAddr;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Its tunnel.
    pub tunnel: String,
    /// Its address.
    pub address: IpAddr,
    /// How it was learned; none: it is told or configured.
    pub learned: Option<Learned>,
    /// The bridge of its stations.
    pub bridge: String,
    /// Their MAC addresses, and the seconds since each was seen.
    pub stations: Vec<([u8; 6], u32)>,
}

/// How a remote was learned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    /// The port that it was heard by.
    pub underlay: String,
    /// Milliseconds since it had a station.
    pub idle_ms: u64,
}

/// As [`read`] reads them.
pub fn write(all: &[Remote]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Remote { tunnel, address, learned, bridge, stations } in all {
        bytes.name(tunnel);
        put_address(&mut bytes, *address);
        bytes.u8(learned.is_some().into());
        if let Some(Learned { underlay, idle_ms }) = learned {
            bytes.name(underlay);
            bytes.u64(*idle_ms);
        }
        bytes.name(bridge);
        bytes.u32(stations.len() as u32);
        for (mac, age_s) in stations {
            bytes.extend(mac);
            bytes.u32(*age_s);
        }
    }
    bytes
}

/// Those that were written.
pub fn read(bytes: &[u8]) -> Result<Vec<Remote>, Wrong> {
    let (mut from, mut all) = (Take::new(bytes), Vec::new());
    while !from.is_empty() {
        let (tunnel, address) = (from.name()?.to_owned(), from.address()?);
        let learned = match from.u8()? {
            0 => None,
            1 => Some(Learned { underlay: from.name()?.to_owned(), idle_ms: from.u64()? }),
            found => {
                let what = "whether a remote was learned";
                return Err(Wrong::Value { what, found: found.into() });
            }
        };
        let (bridge, count) = (from.name()?.to_owned(), from.u32()?);
        // No room is made for what is only said to come.
        let mut stations = Vec::new();
        for _ in 0..count {
            stations.push((from.bytes()?, from.u32()?));
        }
        all.push(Remote { tunnel, address, learned, bridge, stations });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_are_read_as_they_were_written() {
        let remote = |address: &str, learned, stations| Remote {
            tunnel: "vx0".into(),
            address: address.parse().unwrap(),
            learned,
            bridge: "lan".into(),
            stations,
        };
        let learned = Learned { underlay: "p1".into(), idle_ms: 12_345 };
        let all = [
            remote("192.0.2.9", Some(learned), vec![([2; 6], 1), ([4; 6], 299)]),
            remote("2001:db8::9", None, Vec::new()),
        ];
        let bytes = write(&all);
        assert_eq!(read(&bytes).unwrap(), all);
        assert_eq!(read(&bytes[..bytes.len() - 1]), Err(Wrong::Short));
        // Neither learned nor not; so many stations that no memory had room.
        let neither = [&b"\x03vx0\x04\xc0\x00\x02\x09"[..], &[2]].concat();
        assert!(matches!(read(&neither), Err(Wrong::Value { found: 2, .. })));
        let lie = [&b"\x03vx0\x04\xc0\x00\x02\x09\x00\x03lan"[..], &[0xff; 4]].concat();
        assert_eq!(read(&lie), Err(Wrong::Short));
    }
}
