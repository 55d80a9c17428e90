//! Stations of bridges: behind which port each was last seen, and how long ago.

use crate::Wrong;
use crate::bytes::{Put, Take};

/// Those of one port of a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The bridge.
    pub bridge: String,
    /// The port.
    pub port: String,
    /// Their MAC addresses, and the seconds since each was seen.
    pub stations: Vec<([u8; 6], u32)>,
}

/// As [`read`] reads them.
pub fn write(all: &[Seen]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Seen { bridge, port, stations } in all {
        bytes.name(bridge);
        bytes.name(port);
        bytes.u32(stations.len() as u32);
        for (mac, age_s) in stations {
            bytes.extend(mac);
            bytes.u32(*age_s);
        }
    }
    bytes
}

/// Those that were written.
pub fn read(bytes: &[u8]) -> Result<Vec<Seen>, Wrong> {
    let (mut from, mut all) = (Take::new(bytes), Vec::new());
    while !from.is_empty() {
        let (bridge, port) = (from.name()?.to_owned(), from.name()?.to_owned());
        let count = from.u32()?;
        // No room is made for what is only said to come.
        let mut stations = Vec::new();
        for _ in 0..count {
            stations.push((from.bytes()?, from.u32()?));
        }
        all.push(Seen { bridge, port, stations });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stations_are_read_as_they_were_written() {
        let seen =
            |port: &str, stations| Seen { bridge: "lan".into(), port: port.into(), stations };
        let all = [seen("p1", vec![([2; 6], 1), ([4; 6], 299)]), seen("p2", Vec::new())];
        let bytes = write(&all);
        assert_eq!(read(&bytes).unwrap(), all);
        // So many are said to come that no memory had room.
        let lie = [&b"\x03lan\x02p1"[..], &[0xff; 4]].concat();
        assert_eq!(read(&lie), Err(Wrong::Short));
    }
}
