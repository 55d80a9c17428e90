//! The headers of a large frame, from the outside in, and making them say what a packet of it is.

use super::{Transport, UDP_LENGTH, UDP_SUM, word16, word32};
use crate::checksum::{Sum, of};

/// Headers in headers, at most: two tunnels and what they carry.
const MOST_LAYERS: usize = 5;
/// Tags of an Ethernet header, at most.
const MOST_TAGS: usize = 3;
/// Extension headers of IPv6, at most.
const MOST_EXTENSIONS: usize = 4;

const TCP: u8 = 6;
const UDP: u8 = 17;
const IP4_IN: u8 = 4;
const IP6_IN: u8 = 41;
const GRE: u8 = 47;
/// Between an outer UDP header and what a tunnel carries.
const SHIM_BYTES: usize = 8;

/// One header whose fields depend on the packet's length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Layer {
    Ip4(usize),
    Ip6(usize),
    Udp(usize),
    Gre(usize),
}

/// Where all is.
#[derive(Clone, Debug)]
pub(super) struct Found {
    layers: [Layer; MOST_LAYERS],
    count: usize,
    pub(super) transport: Transport,
    pub(super) at: usize,
    pub(super) payload: usize,
}

/// Finds the transport header that begins at `wanted`, or the first.
pub(super) fn find(frame: &[u8], wanted: Option<usize>) -> Option<Found> {
    let mut path = Path { frame, wanted, layers: [Layer::Ip4(0); MOST_LAYERS], count: 0 };
    path.ethernet(0)
}

/// A way through the headers.
struct Path<'a> {
    frame: &'a [u8],
    wanted: Option<usize>,
    layers: [Layer; MOST_LAYERS],
    count: usize,
}

impl Path<'_> {
    fn word(&self, at: usize) -> Option<u16> {
        let pair = self.frame.get(at..at.checked_add(2)?)?;
        Some(word16(pair, 0))
    }

    fn push(&mut self, layer: Layer) -> Option<()> {
        *self.layers.get_mut(self.count)? = layer;
        self.count += 1;
        Some(())
    }

    fn ethernet(&mut self, at: usize) -> Option<Found> {
        let mut at = at + 12;
        for _ in 0..=MOST_TAGS {
            let ethertype = self.word(at)?;
            match ethertype {
                0x8100 | 0x88a8 | 0x9100 => at += 4,
                0x0800 | 0x86dd => return self.packet(at + 2),
                _ => return None,
            }
        }
        None
    }

    fn packet(&mut self, at: usize) -> Option<Found> {
        match self.frame.get(at)? >> 4 {
            4 => self.ip4(at),
            6 => self.ip6(at),
            _ => None,
        }
    }

    fn ip4(&mut self, at: usize) -> Option<Found> {
        let header = self.frame.get(at..at + 20)?;
        let length = usize::from(header[0] & 15) * 4;
        // Pieces of a packet are cut already.
        if length < 20 || word16(header, 6) & 0x3fff != 0 {
            return None;
        }
        let protocol = header[9];
        self.push(Layer::Ip4(at))?;
        self.inside(protocol, at + length)
    }

    fn ip6(&mut self, at: usize) -> Option<Found> {
        let header = self.frame.get(at..at + 40)?;
        let (mut next, mut here) = (header[6], at + 40);
        self.push(Layer::Ip6(at))?;
        for _ in 0..MOST_EXTENSIONS {
            // Hop by hop and destination: neither fragments nor ways by which the address changes.
            if !matches!(next, 0 | 60) {
                break;
            }
            let extension = self.frame.get(here..here + 2)?;
            next = extension[0];
            here += 8 + usize::from(extension[1]) * 8;
        }
        self.inside(next, here)
    }

    fn inside(&mut self, protocol: u8, at: usize) -> Option<Found> {
        if matches!(protocol, TCP | UDP) && self.wanted.is_none_or(|wanted| wanted == at) {
            return self.transport(protocol, at);
        }
        match protocol {
            UDP => {
                self.push(Layer::Udp(at))?;
                let (inside, count) = (at + 8 + SHIM_BYTES, self.count);
                // A frame or a packet: it is what leads to the transport header.
                self.ethernet(inside).or_else(|| {
                    self.count = count;
                    self.packet(inside)
                })
            }
            GRE => {
                let bits = self.word(at)?;
                let options = [0x8000, 0x2000, 0x1000].iter().filter(|bit| bits & **bit != 0);
                let inside = at + 4 + 4 * options.count();
                self.push(Layer::Gre(at))?;
                match (bits & 7, self.word(at + 2)?) {
                    (0, 0x6558) => self.ethernet(inside),
                    (0, 0x0800 | 0x86dd) => self.packet(inside),
                    _ => None,
                }
            }
            IP4_IN | IP6_IN => self.packet(at),
            _ => None,
        }
    }

    fn transport(&self, protocol: u8, at: usize) -> Option<Found> {
        let (transport, payload) = match protocol {
            TCP => {
                let length = usize::from(self.frame.get(at + 12)? >> 4) * 4;
                (length >= 20).then_some((Transport::Tcp, at + length))?
            }
            _ => (Transport::Udp, at + 8),
        };
        (payload <= self.frame.len()).then_some(Found {
            layers: self.layers,
            count: self.count,
            transport,
            at,
            payload,
        })
    }
}

impl Layer {
    /// The sum of the pseudo header of what this layer carries.
    pub(super) fn pseudo(self, packet: &[u8], protocol: u8, length: u32) -> Sum {
        let addresses = match self {
            Self::Ip4(at) => &packet[at + 12..at + 20],
            Self::Ip6(at) => &packet[at + 8..at + 40],
            Self::Udp(_) | Self::Gre(_) => &[],
        };
        Sum::ZERO.bytes(addresses).u32(length).u32(protocol.into())
    }
}

impl Found {
    pub(super) fn layers(&self) -> &[Layer] {
        &self.layers[..self.count]
    }

    /// What carries the transport.
    pub(super) fn network(&self) -> Option<Layer> {
        self.layers().last().copied()
    }

    /// Writes the packet's lengths into all headers around the transport's, and tells apart what
    /// they number.
    pub(super) fn say_lengths(&self, packet: &mut [u8], number: u16) {
        let end = packet.len();
        for &layer in self.layers() {
            match layer {
                Layer::Ip4(at) => {
                    let header_bytes = usize::from(packet[at] & 15) * 4;
                    let header = &mut packet[at..at + header_bytes];
                    header[2..4].copy_from_slice(&((end - at) as u16).to_be_bytes());
                    let identification = word16(header, 4).wrapping_add(number);
                    header[4..6].copy_from_slice(&identification.to_be_bytes());
                    header[10..12].fill(0);
                    let sum = of(header);
                    header[10..12].copy_from_slice(&sum.to_be_bytes());
                }
                Layer::Ip6(at) => {
                    let length = (end - at - 40) as u16;
                    packet[at + 4..at + 6].copy_from_slice(&length.to_be_bytes());
                }
                Layer::Udp(at) => {
                    let length = (end - at) as u16;
                    let place = at + UDP_LENGTH..at + UDP_LENGTH + 2;
                    packet[place].copy_from_slice(&length.to_be_bytes());
                }
                Layer::Gre(_) => {}
            }
        }
    }

    /// Computes the checksums of tunnels that have some, from the inside out.
    pub(super) fn sum_tunnels(&self, packet: &mut [u8]) {
        for (number, &layer) in self.layers().iter().enumerate().rev() {
            match layer {
                Layer::Udp(at) if word16(packet, at + UDP_SUM) != 0 => {
                    packet[at + UDP_SUM..at + UDP_SUM + 2].fill(0);
                    let length = (packet.len() - at) as u32;
                    let around = number.checked_sub(1).map(|outer| self.layers[outer]);
                    let pseudo = around.map_or(Sum::ZERO, |it| it.pseudo(packet, UDP, length));
                    let sum = pseudo.bytes(&packet[at..]).udp_checksum();
                    packet[at + UDP_SUM..at + UDP_SUM + 2].copy_from_slice(&sum.to_be_bytes());
                }
                Layer::Gre(at) if word32(packet, at) >> 16 & 0x8000 != 0 => {
                    packet[at + 4..at + 6].fill(0);
                    let sum = of(&packet[at..]);
                    packet[at + 4..at + 6].copy_from_slice(&sum.to_be_bytes());
                }
                _ => {}
            }
        }
    }
}
