//! The words that `tc` has for CAKE's line alone. It counts from the IP header on, we from the
//! Ethernet header on.

use super::words::Words;
use crate::cake::CakeShape;
use crate::{Error, LinkLayer};

/// What a frame has before its IP header.
pub(crate) const ETHERNET_BYTES: u32 = 14;

/// Lines that have a name: overhead, the least, whether they carry cells.
const LINES: [(&str, u32, u32, bool); 7] = [
    ("ethernet", 38, 84, false),
    ("docsis", 18, 64, false),
    ("conservative", 48, 0, true),
    ("pppoe-vcmux", 32, 0, true),
    ("pppoe-llcsnap", 40, 0, true),
    ("bridged-vcmux", 24, 0, true),
    ("bridged-llcsnap", 32, 0, true),
];

/// Switches that say what is so here anyway.
const AS_IT_IS: [&str; 5] = ["nonat", "nowash", "split-gso", "raw", "unlimited"];

/// Reads a word, if it is one of these.
pub(super) fn line(cake: &mut CakeShape, word: &str, words: &mut Words<'_>) -> Result<bool, Error> {
    if let Some(&(_, overhead, mpu, cells)) = LINES.iter().find(|line| line.0 == word) {
        cake.overhead = overhead - ETHERNET_BYTES;
        cake.mpu = mpu;
        cake.linklayer = if cells { LinkLayer::Atm } else { LinkLayer::Ethernet };
        return Ok(true);
    }
    match word {
        "overhead" => {
            let from_ip: u32 = words.parsed(word)?;
            let Some(overhead) = from_ip.checked_sub(ETHERNET_BYTES) else {
                return words.refuse(format!(
                    "cake: overhead {from_ip} is less than the Ethernet header that frames have \
                     here ({ETHERNET_BYTES})"
                ));
            };
            cake.overhead = overhead;
        }
        "atm" => cake.linklayer = LinkLayer::Atm,
        "noatm" => cake.linklayer = LinkLayer::Ethernet,
        _ => return Ok(AS_IT_IS.contains(&word)),
    }
    Ok(true)
}
