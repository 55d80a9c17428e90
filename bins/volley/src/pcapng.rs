//! Captures as Wireshark reads them while they grow: pcapng, with a comment on each packet.
//!
//! ```text
//! section header │ interface: a port │ packet, its comment │ packet │ interface: another port │ packet │ …
//! ```
//! The format: draft-ietf-opsawg-pcapng, sections 4.1 to 4.3. A port is described when its first
//! packet comes.

use std::io::{self, Write};

const SECTION: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const ETHERNET: u16 = 1;

const COMMENT: u16 = 1;
const NAME: u16 = 2;
/// Of the resolution of times; 9: nanoseconds.
const RESOLUTION: u16 = 9;

/// A packet, and what is said of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    /// The port that it came in by.
    pub(crate) port: &'a str,
    /// When, in nanoseconds since 1970-01-01 UTC.
    pub(crate) unix_ns: u64,
    /// Its length; of `bytes` may be less.
    pub(crate) length: u32,
    /// The frame from its first octet.
    pub(crate) bytes: &'a [u8],
    /// More of it, in words.
    pub(crate) comment: &'a str,
}

/// A capture that grows.
pub(crate) struct Pcapng<W> {
    out: W,
    ports: Vec<String>,
}

impl<W: Write> Pcapng<W> {
    /// Begins one.
    pub(crate) fn new(out: W) -> io::Result<Self> {
        let mut it = Self { out, ports: Vec::new() };
        let mut body = BYTE_ORDER.to_ne_bytes().to_vec();
        body.extend([1u16.to_ne_bytes(), 0u16.to_ne_bytes()].concat());
        // Nobody knows how long it gets.
        body.extend(u64::MAX.to_ne_bytes());
        option(&mut body, 4, concat!("volley ", env!("CARGO_PKG_VERSION")).as_bytes());
        end(&mut body);
        it.block(SECTION, &body)?;
        Ok(it)
    }

    /// Appends a packet.
    pub(crate) fn packet(&mut self, said: Said<'_>) -> io::Result<()> {
        let port = match self.ports.iter().position(|port| port == said.port) {
            Some(port) => port,
            None => {
                self.interface(said.port)?;
                self.ports.len() - 1
            }
        };
        let mut body = (port as u32).to_ne_bytes().to_vec();
        let halves = [(said.unix_ns >> 32) as u32, said.unix_ns as u32];
        let lengths = [said.bytes.len() as u32, said.length.max(said.bytes.len() as u32)];
        body.extend(halves.into_iter().chain(lengths).flat_map(u32::to_ne_bytes));
        body.extend(said.bytes);
        pad(&mut body);
        option(&mut body, COMMENT, said.comment.as_bytes());
        end(&mut body);
        self.block(PACKET, &body)
    }

    /// What is behind it so far is with whoever reads.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn interface(&mut self, port: &str) -> io::Result<()> {
        let mut body = [ETHERNET.to_ne_bytes(), 0u16.to_ne_bytes()].concat();
        body.extend(0u32.to_ne_bytes());
        option(&mut body, NAME, port.as_bytes());
        option(&mut body, RESOLUTION, &[9]);
        end(&mut body);
        self.ports.push(port.to_owned());
        self.block(INTERFACE, &body)
    }

    fn block(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let length = (body.len() as u32 + 12).to_ne_bytes();
        self.out.write_all(&[&kind.to_ne_bytes()[..], &length, body, &length].concat())
    }
}

/// Options are told with 16 bits of length; longer ones are cut.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(4_096)];
    body.extend([code.to_ne_bytes(), (value.len() as u16).to_ne_bytes()].concat());
    body.extend(value);
    pad(body);
}

fn end(body: &mut Vec<u8>) {
    body.extend([0; 4]);
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_tell_their_lengths_at_both_ends_and_a_port_is_described_once() {
        let mut out = Vec::new();
        let mut file = Pcapng::new(&mut out).unwrap();
        for (port, bytes) in [("p1", &[1u8, 2, 3][..]), ("p2", &[4; 8]), ("p1", &[])] {
            file.packet(Said { port, unix_ns: 7, length: 60, bytes, comment: "why" }).unwrap();
        }
        let word = |at: usize| u32::from_ne_bytes(out[at..at + 4].try_into().unwrap());
        let (mut at, mut kinds) = (0, Vec::new());
        while at < out.len() {
            let length = word(at + 4) as usize;
            assert_eq!((length % 4, word(at + length - 4) as usize), (0, length));
            kinds.push(word(at));
            at += length;
        }
        assert_eq!(kinds, [SECTION, INTERFACE, PACKET, INTERFACE, PACKET, PACKET]);
        assert_eq!(at, out.len());
    }
}
