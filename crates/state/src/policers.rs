//! Policers: what was in their buckets, and what they counted.

use crate::Wrong;
use crate::bytes::{Put, Take};

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policer {
    /// Its name.
    pub name: String,
    /// Bytes in the bucket of its committed rate, and in the other one.
    pub held: [u64; 2],
    /// Packets and bytes of each colour.
    pub counted: [[u64; 2]; 3],
}

/// As [`read`] reads them.
pub fn write(all: &[Policer]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Policer { name, held, counted } in all {
        bytes.name(name);
        held.iter().chain(counted.as_flattened()).for_each(|value| bytes.u64(*value));
    }
    bytes
}

/// Those that were written.
pub fn read(bytes: &[u8]) -> Result<Vec<Policer>, Wrong> {
    let (mut from, mut all) = (Take::new(bytes), Vec::new());
    while !from.is_empty() {
        let name = from.name()?.to_owned();
        let held = [from.u64()?, from.u64()?];
        let mut counted = [[0; 2]; 3];
        for value in counted.as_flattened_mut() {
            *value = from.u64()?;
        }
        all.push(Policer { name, held, counted });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policers_are_read_as_they_were_written() {
        let one = |name: &str| Policer {
            name: name.into(),
            held: [7, u64::MAX],
            counted: [[1, 60], [2, 120], [3, 180]],
        };
        let all = [one("slow"), one("fast")];
        let bytes = write(&all);
        assert_eq!(read(&bytes).unwrap(), all);
        assert_eq!(read(&bytes[..bytes.len() - 1]), Err(Wrong::Short));
    }
}
