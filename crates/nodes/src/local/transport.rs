//! UDP and TCP to ourselves, the same over both families but for the pseudo header and the port
//! unreachable message.

use graph::ExitIndex;
use wire::checksum::Sum;
use wire::tcp::{self, flag};
use wire::udp;

/// Who takes datagrams, by destination port. Few: looked through in order.
#[derive(Default)]
pub struct UdpPorts(Vec<(u16, ExitIndex)>);

impl UdpPorts {
    /// A node attached itself to `port`.
    pub fn attach(&mut self, port: u16, exit: ExitIndex) {
        self.0.push((port, exit));
    }

    /// Who takes datagrams to `port`.
    pub fn taker(&self, port: u16) -> Option<ExitIndex> {
        self.0.iter().find(|&&(known, _)| known == port).map(|&(_, exit)| exit)
    }
}

/// What is wrong with a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UdpFault {
    /// Fewer bytes than a header.
    Truncated,
    /// The length is below the header's or above the packet's.
    BadLength,
    /// The checksum is wrong.
    BadChecksum,
}

/// What is to be known of a datagram for us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpFound {
    /// Its destination port.
    pub port: u16,
    /// It has a checksum, a right one.
    pub summed: bool,
}

/// Checks the datagram that `bytes` begin with; `pseudo` makes the sum of its pseudo header from
/// its length.
pub fn find_udp(bytes: &[u8], pseudo: impl FnOnce(u16) -> Sum) -> Result<UdpFound, UdpFault> {
    let header = udp::Header::new(bytes).ok_or(UdpFault::Truncated)?;
    let length = usize::from(header.length());
    let covered = bytes.get(..length).filter(|_| length >= udp::Header::LEN);
    let covered = covered.ok_or(UdpFault::BadLength)?;
    let summed = header.checksum() != 0;
    if summed && !pseudo(header.length()).bytes(covered).is_valid() {
        return Err(UdpFault::BadChecksum);
    }
    Ok(UdpFound { port: header.destination_port(), summed })
}

/// What is wrong with a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TcpFault {
    /// Fewer bytes than its header.
    Truncated,
    /// The checksum is wrong.
    BadChecksum,
    /// A reset is never answered.
    WasReset,
}

/// The reset that answers a segment (RFC 9293 section 3.10.7.1).
pub struct TcpReset {
    source_port: u16,
    destination_port: u16,
    /// What the segment acknowledged, if it did.
    acknowledged: Option<u32>,
    /// Number of the first octet behind the segment.
    end: u32,
}

impl TcpReset {
    /// The answer to the segment `bytes`, whose sum begins with `pseudo`.
    pub fn to(bytes: &[u8], pseudo: Sum) -> Result<Self, TcpFault> {
        let segment = tcp::Segment::parse(bytes).map_err(|_| TcpFault::Truncated)?;
        if !pseudo.bytes(bytes).is_valid() {
            return Err(TcpFault::BadChecksum);
        }
        let (header, flags) = (segment.header, segment.header.flags());
        if flags & flag::RST != 0 {
            return Err(TcpFault::WasReset);
        }
        // SYN and FIN take a number each.
        let marks = (flags & (flag::SYN | flag::FIN)).count_ones();
        let length = segment.payload.len() as u32 + marks;
        Ok(Self {
            source_port: header.destination_port(),
            destination_port: header.source_port(),
            acknowledged: (flags & flag::ACK != 0).then_some(header.acknowledgement()),
            end: header.sequence().wrapping_add(length),
        })
    }

    /// Writes it over `segment`, which has the length of a header; the sum begins with `pseudo`.
    pub fn write(&self, segment: &mut [u8], pseudo: Sum) {
        segment.fill(0);
        let Some(mut header) = tcp::HeaderMut::new(segment) else { return };
        header.set_source_port(self.source_port);
        header.set_destination_port(self.destination_port);
        header.set_offset_bits(5 << 4);
        match self.acknowledged {
            Some(next) => {
                header.set_flags(flag::RST);
                header.set_sequence(next);
            }
            None => {
                header.set_flags(flag::RST | flag::ACK);
                header.set_acknowledgement(self.end);
            }
        }
        let checksum = pseudo.bytes(header.view().bytes()).checksum();
        header.set_checksum(checksum);
    }
}
