//! Whom a connection is to look like on the other side (RFC 4787, RFC 5382, RFC 5508).
//!
//! ```text
//!  inside 10.0.0.5:4000 ─ endpoint ─▶ 203.0.113.1:4000   one for all whom it speaks with
//!           the same port, if nobody has it (else one of the same parity), of the same address
//!           for all ports of a host
//! ```
//! An endpoint is an entry of the table like any other: it is there for as long as a connection is
//! that hangs on it, and a while longer. Two of them never share an address and port (RFC 4787,
//! REQ-3). Protocols without ports have the address alone: the other end tells whose they are.

use crate::packet::Seen;
use crate::status::{Direction, Kind, Status};
use crate::table::{Found, Parent, Table};
use crate::tcp::TcpState;
use crate::timeouts::Timeouts;
use crate::tuple::{Family, Tuple};
use std::ops::RangeInclusive;

/// Ports that are tried for a new endpoint.
const TRIES: u32 = 128;
/// For how long an endpoint stays that nothing hangs on (RFC 4787 REQ-5: two minutes at least).
const ENDPOINT_S: u32 = 120;

/// Why a connection does not begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The packet begins none.
    Invalid,
    /// There is room for no more.
    Full,
    /// Another connection looks like that.
    Taken,
    /// No port was free.
    NoPort,
    /// Another worker was making one at that moment.
    Busy,
}

/// Addresses and ports that stand for those inside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pool {
    /// Addresses, each once.
    pub addresses: Vec<RangeInclusive<u32>>,
    /// Ports, and identifiers of echoes.
    pub ports: RangeInclusive<u16>,
    /// Addresses, protocols and ports of them that are others' already.
    pub reserved: Vec<(u32, u8, RangeInclusive<u16>)>,
}

impl Pool {
    fn count(&self) -> u32 {
        self.addresses.iter().map(|range| range.end() - range.start() + 1).sum()
    }

    /// The address of a number, modulo how many there are.
    fn address(&self, number: u32) -> Option<u32> {
        let mut left = number.checked_rem(self.count())?;
        for range in &self.addresses {
            let many = range.end() - range.start() + 1;
            if left < many {
                return Some(range.start() + left);
            }
            left -= many;
        }
        None
    }

    fn is_reserved(&self, address: u32, protocol: u8, port: u16) -> bool {
        let is = |(other, of, ports): &(u32, u8, RangeInclusive<u16>)| {
            *other == address && *of == protocol && ports.contains(&port)
        };
        self.reserved.iter().any(is)
    }

    /// The port that is tried as number `n` for an endpoint whose own is `own`: the same, then
    /// those of its parity (RFC 4787 REQ-4), from a place on that its hash says.
    fn port(&self, own: u16, hash: u32, n: u32) -> u16 {
        let (first, last) = (u32::from(*self.ports.start()), u32::from(*self.ports.end()));
        if n == 0 && self.ports.contains(&own) {
            return own;
        }
        // Those of its parity that there are; where there are none, those of the other.
        let parity = (first ^ u32::from(own)) & 1;
        let of_parity = (last - first + 2 - parity) / 2;
        let (start, many) = if of_parity == 0 { (first, 1) } else { (first + parity, of_parity) };
        (start + (hash + n) % many * 2) as u16
    }
}

impl Begun {
    /// Only asked: nothing has begun.
    fn only(to: Tuple) -> Self {
        let status = Status::free(0);
        Self { found: Found { slot: u32::MAX, direction: Direction::Original, status }, to }
    }
}

/// A table with what is done in it.
#[derive(Debug)]
pub struct Nat<'a> {
    /// The connections.
    pub table: &'a Table,
    /// For how long they are kept.
    pub timeouts: &'a Timeouts,
    /// The second that it is.
    pub now_s: u32,
}

/// A connection that begins: or how it would, where it is only asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Begun {
    /// The connection.
    pub found: Found,
    /// The packet on the other side.
    pub to: Tuple,
}

impl Nat<'_> {
    /// Begins a connection from inside, that looks on the other side as if a pool's address had.
    pub fn from_inside(&self, packet: &Tuple, seen: Seen, pool: &Pool) -> Result<Begun, Refused> {
        self.from_inside_as(packet, packet, seen, pool)
    }

    /// The same of one that is `plain` outside but for its source: of another family (RFC 6146
    /// section 3.5).
    pub fn from_inside_as(
        &self,
        packet: &Tuple,
        plain: &Tuple,
        seen: Seen,
        pool: &Pool,
    ) -> Result<Begun, Refused> {
        let (parent, to) = self.outer(packet, plain, seen, pool)?;
        self.begin(packet, to, seen, parent)
    }

    /// Begins a connection to an address that stands for an endpoint inside.
    pub fn to_inside(
        &self,
        packet: &Tuple,
        seen: Seen,
        (address, port): (u32, u16),
    ) -> Result<Begun, Refused> {
        self.to_inside_as(packet, packet.to4(address, port), seen)
    }

    /// The same where that is what it is inside.
    pub fn to_inside_as(&self, packet: &Tuple, to: Tuple, seen: Seen) -> Result<Begun, Refused> {
        let parent = self.endpoint_of((packet.destination4(), outer_port(packet)), packet);
        self.begin(packet, to, seen, parent.map(|(parent, _)| parent))
    }

    /// Begins a connection from inside to inside by way of outer addresses: both ends see outer
    /// ones (RFC 4787 REQ-9).
    pub fn hairpin(
        &self,
        packet: &Tuple,
        seen: Seen,
        (address, port): (u32, u16),
        pool: &Pool,
    ) -> Result<Begun, Refused> {
        let (parent, from) = self.outer(packet, packet, seen, pool)?;
        self.begin(packet, from.to4(address, port), seen, parent)
    }

    /// What would become of a packet from inside that begins a connection, where it is only asked.
    pub fn would_be(&self, packet: &Tuple, seen: Seen, pool: &Pool) -> Result<Begun, Refused> {
        self.would_be_as(packet, packet, seen, pool)
    }

    /// The same of one that is `plain` outside but for its source.
    pub fn would_be_as(
        &self,
        packet: &Tuple,
        plain: &Tuple,
        seen: Seen,
        pool: &Pool,
    ) -> Result<Begun, Refused> {
        if let (true, Seen::Other) = (packet.is_echo(), seen) {
            return Err(Refused::Invalid);
        }
        let (source, port) = (packet.source_bits(), packet.source_port());
        let inside = packet.endpoint();
        let known = self.known(&inside, Direction::Original).filter(|_| packet.has_ports());
        let (address, port) = match known {
            Some((_, outside)) => (outside.source4(), outside.source_port()),
            None => {
                let address = pool.address(spread(source)).ok_or(Refused::NoPort)?;
                let has_ports = packet.has_ports();
                (address, if has_ports { pool.port(port, endpoint_hash(&inside), 0) } else { port })
            }
        };
        Ok(Begun::only(plain.from4(address, port)))
    }

    /// The same of one to an outer address.
    pub fn would_reach(&self, packet: &Tuple, (address, port): (u32, u16)) -> Begun {
        Begun::only(packet.to4(address, port))
    }

    fn begin(
        &self,
        packet: &Tuple,
        to: Tuple,
        seen: Seen,
        parent: Option<Parent>,
    ) -> Result<Begun, Refused> {
        let reply = to.inverse();
        let found = self.table.create(packet, &reply, seen, self.timeouts, parent, self.now_s)?;
        // Another worker may have made it a moment ago, and otherwise.
        let to = self.table.translation(&found).ok_or(Refused::Busy)?;
        Ok(Begun { found, to })
    }

    /// A packet as it looks outside, and the endpoint that stands for its sender.
    fn outer(
        &self,
        packet: &Tuple,
        plain: &Tuple,
        seen: Seen,
        pool: &Pool,
    ) -> Result<(Option<Parent>, Tuple), Refused> {
        if let (true, Seen::Other) = (packet.is_echo(), seen) {
            return Err(Refused::Invalid);
        }
        let (source, port) = (packet.source_bits(), packet.source_port());
        if !packet.has_ports() {
            let address = pool.address(spread(source)).ok_or(Refused::NoPort)?;
            return Ok((None, plain.from4(address, port)));
        }
        let inside = packet.endpoint();
        let (parent, outside) = match self.known(&inside, Direction::Original) {
            Some(known) => known,
            None => self.new_endpoint(&inside, pool)?,
        };
        let (address, port) = (outside.source4(), outside.source_port());
        Ok((Some(parent), plain.from4(address, port)))
    }

    /// The endpoint inside of IPv4 that an outer one stands for, if there is one.
    pub fn inside_of(&self, packet: &Tuple) -> Option<(u32, u16)> {
        let inside = self.inside(packet).filter(|it| it.family() == Family::Endpoint4)?;
        Some((inside.source4(), inside.source_port()))
    }

    /// The same of IPv6.
    pub fn inside6_of(&self, packet: &Tuple) -> Option<(u128, u16)> {
        let inside = self.inside(packet).filter(|it| it.family() == Family::Endpoint6)?;
        Some((inside.source6(), inside.source_port()))
    }

    fn inside(&self, packet: &Tuple) -> Option<Tuple> {
        let outer = (packet.destination4(), outer_port(packet));
        self.endpoint_of(outer, packet).map(|(_, inside)| inside)
    }

    fn endpoint_of(&self, outer: (u32, u16), packet: &Tuple) -> Option<(Parent, Tuple)> {
        let outside = outside(outer, packet.protocol(), packet.zone());
        self.known(&outside, Direction::Reply)
    }

    /// An endpoint, and the tuple on its other side.
    fn known(&self, tuple: &Tuple, direction: Direction) -> Option<(Parent, Tuple)> {
        let found = self.table.find(tuple, self.now_s).filter(|it| it.direction == direction)?;
        let other = self.table.translation(&found)?.inverse();
        let generation = found.status.generation();
        Some((Parent { slot: found.slot, generation, direction }, other))
    }

    fn new_endpoint(&self, inside: &Tuple, pool: &Pool) -> Result<(Parent, Tuple), Refused> {
        let (own, protocol) = (inside.source_port(), inside.protocol());
        let host = spread(inside.source_bits());
        let hash = endpoint_hash(inside);
        let status = Status::new(Kind::Endpoint, TcpState::None, 0);
        let status = status.until(self.now_s.saturating_add(ENDPOINT_S));
        // All ports of a host by one address (RFC 4787 REQ-2), while that has some.
        for nth in 0..pool.count().min(2) {
            let address = pool.address(host.wrapping_add(nth)).ok_or(Refused::NoPort)?;
            for n in 0..TRIES {
                let port = pool.port(own, hash, n);
                if pool.is_reserved(address, protocol, port) {
                    continue;
                }
                let outside = outside((address, port), protocol, inside.zone());
                match self.table.create_entry(inside, &outside, status, None, self.now_s) {
                    Ok(found) => {
                        // Another worker may have made it a moment ago, with another port.
                        let outside = self.table.translation(&found).ok_or(Refused::Busy)?;
                        let generation = found.status.generation();
                        let (slot, direction) = (found.slot, Direction::Original);
                        return Ok((Parent { slot, generation, direction }, outside.inverse()));
                    }
                    Err(Refused::Taken) => {}
                    Err(refused) => return Err(refused),
                }
            }
        }
        Err(Refused::NoPort)
    }
}

/// The port of who is spoken to; of an echo its identifier.
fn outer_port(packet: &Tuple) -> u16 {
    if packet.is_echo() { packet.source_port() } else { packet.destination_port() }
}

/// An endpoint outside. No endpoint inside has this tuple.
fn outside(endpoint: (u32, u16), protocol: u8, zone: u16) -> Tuple {
    let tuple = Tuple::endpoint4(endpoint, protocol, zone);
    Tuple { first: tuple.first | 1, ..tuple }
}

/// From which port on an endpoint looks for a free one.
fn endpoint_hash(inside: &Tuple) -> u32 {
    let own = u32::from(inside.source_port());
    spread(inside.source_bits() ^ own << 16 ^ own) >> 8
}

/// A number that is the same for a host, and differs between neighbours.
fn spread(number: u32) -> u32 {
    let mixed = (number ^ number >> 16).wrapping_mul(0x7feb_352d);
    let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x846c_a68b);
    mixed ^ mixed >> 16
}
