//! A packet as a person says it, in words like scapy's.
//!
//! ```text
//!  in p1 ether dst 02:00:00:00:00:01 / vlan id 10 / ip src 10.0.1.2 dst 10.0.2.9 ttl 3 / udp dport 53
//!  └ where  └ layers, outermost first; of each its fields, in any order; what is not said is filled in
//!  in p1 hex 0200000000010200000000020800…        a whole frame
//! ```
//! Headers in front of an IP packet may be left out: a frame to the port that it comes in by.

mod layers;
mod reader;

use super::{Craft, start};
use crate::{MacAddr, ethernet};
use layers::Layer;
use reader::Reader;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Layers that a packet may have.
const MOST_LAYERS: usize = 16;
/// Octets that text may have: a frame of the longest kind in hexadecimal, and words in front of it.
const MOST_TEXT: usize = 3 * LONGEST_FRAME + 1024;
/// Octets that a frame may have.
const LONGEST_FRAME: usize = 9216;

/// A packet that was said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Words {
    /// The port that it comes in by, if that was said.
    pub port: Option<String>,
    layers: Vec<Layer>,
}

/// What goes where nothing was said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsaid {
    /// Whose frames they are: the port's own address.
    pub destination_mac: MacAddr,
    /// Somebody on its link.
    pub source_mac: MacAddr,
    /// The same.
    pub source4: Ipv4Addr,
    /// The same.
    pub source6: Ipv6Addr,
}

/// What is wrong with words, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WordsError(pub(super) String);

impl fmt::Display for WordsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WordsError {}

impl Words {
    /// Reads them.
    pub fn read(text: &str) -> Result<Self, WordsError> {
        if text.len() > MOST_TEXT {
            let length = text.len();
            return Err(WordsError(format!("{length} letters: at most {MOST_TEXT} can be said")));
        }
        let mut reader = Reader::of(text);
        let mut port = None;
        if reader.is_next("in") {
            reader.next();
            port = Some(reader.value::<String>("in", "a port, as in `in p1`")?);
        }
        let mut layers = Vec::new();
        loop {
            if layers.len() == MOST_LAYERS {
                return Err(WordsError(format!("more than {MOST_LAYERS} layers")));
            }
            layers.push(Layer::read(&mut reader)?);
            if !reader.goes_on()? {
                return Ok(Self { port, layers });
            }
        }
    }

    /// The frame.
    pub fn frame(&self, unsaid: &Unsaid) -> Result<Vec<u8>, WordsError> {
        let frame = match &self.layers[..] {
            [Layer::Hex(bytes), rest @ ..] => match rest {
                [] => bytes.clone(),
                _ => {
                    return Err(WordsError(
                        "a whole frame in `hex` has no layers behind it".into(),
                    ));
                }
            },
            layers => {
                let first = layers.first().filter(|layer| layer.is_link());
                let mut frame = match first {
                    Some(_) => start(),
                    None => self.link(unsaid),
                };
                for (at, layer) in layers.iter().enumerate() {
                    frame = layer.add_to(frame, layers.get(at + 1), unsaid);
                }
                frame.pad_to(ethernet::MIN_FRAME_LEN).build()
            }
        };
        match frame.len() {
            ethernet::Header::LEN..=LONGEST_FRAME => Ok(frame),
            octets => Err(WordsError(format!(
                "a frame of {octets} octets: expected {} to {LONGEST_FRAME}",
                ethernet::Header::LEN
            ))),
        }
    }

    /// A link header that nobody said.
    fn link(&self, unsaid: &Unsaid) -> Craft<super::Payload> {
        let first = self.layers.first();
        start().ethernet(unsaid.source_mac, layers::destination_of(first, unsaid)).any()
    }
}

#[cfg(test)]
mod tests;
