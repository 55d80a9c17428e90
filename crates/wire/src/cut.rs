//! Cutting a large frame into those that links carry, and finishing a checksum that was left out:
//! what cards do for Linux (RFC 9293 section 3.1, RFC 768, RFC 791, RFC 8200; TCP segmentation, UDP
//! generic segmentation).
//!
//! ```text
//!  │ Ethernet · tags │ IP │ (UDP · VXLAN │ GRE │ IP) … │ TCP or UDP │ payload ................ │
//!  headers, told apart once: Cut::new                              │ size │ size │ … │ rest │
//!
//!  packet n   the headers, each made to say what the packet is now, and piece n of the payload
//! ```
//! Nothing is believed but where the transport header begins, and that only if the headers from the
//! frame's start on lead there. They are the plain ones and those of tunnels: what is between an
//! outer UDP header and the frame or packet inside has eight octets (VXLAN, LISP).

mod headers;
mod merge;
#[cfg(test)]
mod tests;

use self::headers::{Found, Layer, find};
use crate::checksum::Sum;

pub use self::merge::{LEAST_PAYLOAD, Merge};

/// The most packets that one is cut into: what fits into 64 KiB by the least segment that Linux
/// lets TCP have.
const MOST_PACKETS: usize = 1400;
/// Of UDP, as Linux has it.
const MOST_DATAGRAMS: usize = 128;

/// Sequence number, flags and checksum of TCP, and length and checksum of UDP: where in the header.
const SEQUENCE: usize = 4;
const FLAGS: usize = 13;
const TCP_SUM: usize = 16;
const UDP_LENGTH: usize = 4;
const UDP_SUM: usize = 6;
/// Flags that the last packet alone has, and the first.
const LAST_ALONE: u8 = 0x01 | 0x08;
const FIRST_ALONE: u8 = 0x80;

/// What is carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// A stretch of a stream.
    Tcp,
    /// Datagrams, all of one size but the last.
    Udp,
}

impl Transport {
    /// Where in its header the checksum is.
    pub const fn sum_at(self) -> usize {
        match self {
            Self::Tcp => TCP_SUM,
            Self::Udp => UDP_SUM,
        }
    }

    const fn protocol(self) -> u8 {
        match self {
            Self::Tcp => 6,
            Self::Udp => 17,
        }
    }
}

/// A large frame's headers, and how it is cut.
#[derive(Clone, Debug)]
pub struct Cut {
    found: Found,
    /// Octets of the frame.
    length: usize,
    size: usize,
}

impl Cut {
    /// Of a frame whose transport header begins at `transport`, or at the first there is, into
    /// packets with so much payload each. None if its headers say something else, or nobody sends
    /// such.
    pub fn new(frame: &[u8], transport: Option<usize>, size: usize) -> Option<Self> {
        let found = find(frame, transport)?;
        let rest = frame.len().checked_sub(found.payload)?;
        let most = match found.transport {
            Transport::Tcp => MOST_PACKETS,
            Transport::Udp => MOST_DATAGRAMS,
        };
        let fits = size != 0 && rest != 0 && rest.div_ceil(size) <= most;
        fits.then_some(Self { found, length: frame.len(), size })
    }

    /// What is carried.
    pub fn transport(&self) -> Transport {
        self.found.transport
    }

    /// Where the transport header begins.
    pub fn transport_at(&self) -> usize {
        self.found.at
    }

    /// Where the payload begins.
    pub fn payload_at(&self) -> usize {
        self.found.payload
    }

    /// Where the header of the packet begins that carries it.
    pub fn network_at(&self) -> Option<usize> {
        match self.found.network()? {
            Layer::Ip4(at) | Layer::Ip6(at) => Some(at),
            Layer::Udp(_) | Layer::Gre(_) => None,
        }
    }

    /// Payload of each packet but the last.
    pub fn size(&self) -> usize {
        self.size
    }

    /// True if the packet is IPv6.
    pub fn is_ip6(&self) -> bool {
        matches!(self.found.network(), Some(Layer::Ip6(_)))
    }

    /// True if it is in no tunnel.
    pub fn is_plain(&self) -> bool {
        self.found.layers().len() == 1
    }

    /// How many packets it makes.
    pub fn packets(&self) -> usize {
        (self.length - self.found.payload).div_ceil(self.size)
    }

    /// Octets of the longest of them.
    pub fn longest(&self) -> usize {
        self.length.min(self.found.payload + self.size)
    }

    /// Writes packet `number` of `frame`, from whose bytes the headers are; says how long it is.
    /// None if there is no such packet, or no room for it.
    pub fn write(&self, frame: &[u8], number: usize, into: &mut [u8]) -> Option<usize> {
        let from = self.found.payload + number.checked_mul(self.size)?;
        let to = self.length.min(from + self.size);
        let piece = frame.get(from..to).filter(|piece| !piece.is_empty())?;
        let length = self.found.payload + piece.len();
        let into = into.get_mut(..length)?;
        let (headers, payload) = into.split_at_mut(self.found.payload);
        headers.copy_from_slice(frame.get(..self.found.payload)?);
        payload.copy_from_slice(piece);
        self.renumber(into, number, to == self.length);
        self.found.say_lengths(into, number as u16);
        self.finish(into);
        Some(length)
    }

    /// Makes the transport header say which packet it is.
    fn renumber(&self, packet: &mut [u8], number: usize, is_last: bool) {
        let header = &mut packet[self.found.at..];
        match self.found.transport {
            Transport::Udp => {
                let length = header.len() as u16;
                header[UDP_LENGTH..UDP_LENGTH + 2].copy_from_slice(&length.to_be_bytes());
            }
            Transport::Tcp => {
                let place = SEQUENCE..SEQUENCE + 4;
                let first = word32(header, SEQUENCE);
                let sequence = first.wrapping_add((number * self.size) as u32);
                header[place].copy_from_slice(&sequence.to_be_bytes());
                if !is_last {
                    header[FLAGS] &= !LAST_ALONE;
                }
                if number != 0 {
                    header[FLAGS] &= !FIRST_ALONE;
                }
            }
        }
    }

    /// Computes the transport checksum of a packet that need not be cut, and those around it.
    pub fn finish(&self, packet: &mut [u8]) {
        if packet.len() < self.found.payload {
            return;
        }
        let (at, sum_at) = (self.found.at, self.found.at + self.found.transport.sum_at());
        packet[sum_at..sum_at + 2].fill(0);
        let sum = self.pseudo(packet).bytes(&packet[at..]);
        let sum = match self.found.transport {
            Transport::Tcp => sum.checksum(),
            Transport::Udp => sum.udp_checksum(),
        };
        packet[sum_at..sum_at + 2].copy_from_slice(&sum.to_be_bytes());
        self.found.sum_tunnels(packet);
    }

    fn pseudo(&self, packet: &[u8]) -> Sum {
        let length = (packet.len() - self.found.at) as u32;
        let protocol = self.found.transport.protocol();
        self.found.network().map_or(Sum::ZERO, |layer| layer.pseudo(packet, protocol, length))
    }

    /// Writes what whoever finishes the checksum expects in its place: the sum of the pseudo
    /// header. Those of tunnels around it are right then, of the frame as it lies there.
    pub fn leave_out(&self, frame: &mut [u8]) {
        if frame.len() == self.length {
            let sum_at = self.found.at + self.found.transport.sum_at();
            let sum = !self.pseudo(frame).checksum();
            frame[sum_at..sum_at + 2].copy_from_slice(&sum.to_be_bytes());
            self.found.sum_tunnels(frame);
        }
    }
}

/// Finishes a checksum of which the sender wrote the pseudo header's part: it is over all from
/// `start` to the frame's end, and stands `offset` behind that. False if it is not in the frame.
pub fn complete(frame: &mut [u8], start: usize, offset: usize) -> bool {
    let Some(covered) = frame.get_mut(start..) else { return false };
    let sum = Sum::ZERO.bytes(covered).udp_checksum();
    match covered.get_mut(offset..offset.saturating_add(2)) {
        // 0xffff is 0 to everybody but UDP, who takes 0 for none.
        Some(place) => place.copy_from_slice(&sum.to_be_bytes()),
        None => return false,
    }
    true
}

fn word16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn word32(bytes: &[u8], at: usize) -> u32 {
    u32::from(word16(bytes, at)) << 16 | u32::from(word16(bytes, at + 2))
}
