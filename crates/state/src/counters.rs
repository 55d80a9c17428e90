//! Counters, by names that a next router knows as well: `port p1 rx_packets`.

use crate::Wrong;
use crate::bytes::{Put, Take};

/// A counter: what it is of, which, and how much.
pub type Counter = ([String; 3], u64);

/// As [`read`] reads them.
pub fn write<'a>(all: impl IntoIterator<Item = ([&'a str; 3], u64)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (names, value) in all {
        names.into_iter().for_each(|name| bytes.name(name));
        bytes.u64(value);
    }
    bytes
}

/// Those that were written.
pub fn read(bytes: &[u8]) -> Result<Vec<Counter>, Wrong> {
    let (mut from, mut all) = (Take::new(bytes), Vec::new());
    while !from.is_empty() {
        let names = [from.name()?, from.name()?, from.name()?].map(str::to_owned);
        all.push((names, from.u64()?));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_as_they_were_written() {
        let bytes = write([(["port", "p1", "rx_packets"], 7), (["node", "drop", ""], u64::MAX)]);
        let read = read(&bytes).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[1], (["node", "drop", ""].map(str::to_owned), u64::MAX));
    }
}
