//! Mixes of packet sizes: the IMIX genome of RFC 6985.
//!
//! ```text
//! genome   aaaadde      a letter a packet, in the order sent, over and over
//! or       4a2d1e       the same with counts in front (order: as written)
//!
//! letter   a   b    c    d    e     f     g     h    z
//! octets   64  128  256  512  1024  1280  1518  2112 the interface's MTU
//! ```
//! Sizes are of the whole Ethernet frame with its checksum (RFC 6985 section 3).

use serde::{Deserialize, Serialize};

use crate::Error;

/// A repeating sequence of frame sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Imix {
    frame_bytes: Vec<u16>,
}

/// Longest sequence that a genome may stand for.
const LONGEST: usize = 10_000;

fn octets(letter: char, mtu_frame_bytes: u16) -> Option<u16> {
    Some(match letter {
        'a' => 64,
        'b' => 128,
        'c' => 256,
        'd' => 512,
        'e' => 1_024,
        'f' => 1_280,
        'g' => 1_518,
        'h' => 2_112,
        'z' => mtu_frame_bytes,
        _ => return None,
    })
}

impl Imix {
    /// Reads a genome; `z` stands for `mtu_frame_bytes`.
    pub fn parse(genome: &str, mtu_frame_bytes: u16) -> Result<Self, Error> {
        let refuse = |reason: String| Error::Genome { genome: genome.to_owned(), reason };
        let mut frame_bytes = Vec::new();
        let mut count: Option<usize> = None;
        for letter in genome.chars() {
            if let Some(digit) = letter.to_digit(10) {
                let value = count.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize);
                count = Some(value);
                continue;
            }
            let size = octets(letter, mtu_frame_bytes)
                .ok_or_else(|| refuse(format!("{letter:?} names no size (a to h, or z)")))?;
            let times = count.take().unwrap_or(1);
            if times == 0 || frame_bytes.len().saturating_add(times) > LONGEST {
                return Err(refuse(format!("{times} times {letter:?} is not 1 to {LONGEST}")));
            }
            frame_bytes.extend(std::iter::repeat_n(size, times));
        }
        match (count, frame_bytes.is_empty()) {
            (Some(count), _) => Err(refuse(format!("the count {count} at its end has no letter"))),
            (None, true) => Err(refuse("it is empty".into())),
            (None, false) => Ok(Self { frame_bytes }),
        }
    }

    /// One size only.
    pub fn single(frame_bytes: u16) -> Self {
        Self { frame_bytes: vec![frame_bytes] }
    }

    /// These sizes in this order; none of a list that is empty, too long or has a fault.
    pub fn list<E>(sizes: impl Iterator<Item = Result<u16, E>>) -> Option<Self> {
        let frame_bytes: Vec<u16> = sizes.collect::<Result<_, _>>().ok()?;
        (1..=LONGEST).contains(&frame_bytes.len()).then_some(Self { frame_bytes })
    }

    /// The same mix, each frame larger by so many octets.
    pub fn grown(&self, bytes: u16) -> Self {
        let larger = |&size: &u16| size.saturating_add(bytes);
        Self { frame_bytes: self.frame_bytes.iter().map(larger).collect() }
    }

    /// The same mix, each frame smaller by so many octets.
    pub fn shrunk(&self, bytes: u16) -> Self {
        let smaller = |&size: &u16| size.saturating_sub(bytes);
        Self { frame_bytes: self.frame_bytes.iter().map(smaller).collect() }
    }

    /// The same mix, but no frame smaller than so many octets.
    pub fn at_least(&self, bytes: u16) -> Self {
        Self { frame_bytes: self.frame_bytes.iter().map(|&size| size.max(bytes)).collect() }
    }

    /// The size of the `index`-th frame.
    #[inline]
    pub fn frame_bytes(&self, index: u64) -> u16 {
        self.frame_bytes[(index % self.frame_bytes.len() as u64) as usize]
    }

    /// The sequence.
    pub fn sequence(&self) -> &[u16] {
        &self.frame_bytes
    }

    /// Mean frame size: rates in bit/s follow from it.
    pub fn mean_bytes(&self) -> f64 {
        let sum: u64 = self.frame_bytes.iter().map(|&bytes| u64::from(bytes)).sum();
        sum as f64 / self.frame_bytes.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_genome_spells_its_sizes_in_order() {
        let imix = Imix::parse("aadz", 9_018).unwrap();
        assert_eq!(imix.sequence(), [64, 64, 512, 9_018]);
        assert_eq!((imix.frame_bytes(2), imix.frame_bytes(5)), (512, 64));
    }

    #[test]
    fn a_list_with_a_fault_is_none() {
        let list = |text: &str| Imix::list(text.split(',').map(str::parse));
        assert_eq!(list("64,128").unwrap().sequence(), [64, 128]);
        assert!(list("").is_none() && list("64,x").is_none());
    }

    #[test]
    fn counts_stand_for_repetition() {
        let simple = Imix::parse("7a4d1g", 1_518).unwrap();
        assert_eq!(simple, Imix::parse("aaaaaaaddddg", 1_518).unwrap());
        let mean = (7.0 * 64.0 + 4.0 * 512.0 + 1_518.0) / 12.0;
        assert!((simple.mean_bytes() - mean).abs() < 1e-9);
    }

    #[test]
    fn a_genome_that_spells_nothing_is_refused_with_its_fault() {
        for (genome, fault) in [
            ("", "it is empty"),
            ("aax", "'x' names no size"),
            ("a3", "the count 3"),
            ("0a", "0 times 'a'"),
            ("99999999999999999999999a", "times 'a'"),
        ] {
            let error = Imix::parse(genome, 1_518).unwrap_err().to_string();
            assert!(error.contains(fault) && error.contains(genome), "{error}");
        }
    }
}
