//! What a packet is to look like, tried until it is nobody's else; and making it so.
//!
//! ```text
//!  nat(src=A-B:P-Q) ─▶ own port, then P to Q, at an address; then at the next one
//!  nat(dst=…)       ─▶ the same of the destination; then, from other ports of its source
//! ```

use super::speech::Speech;
use conntrack::{End, Family, Inner, Tuple, translate_error4, translate_error6, translate4};
use flow::write_field;
use openflow::{Field, Nat};
use wire::ip::protocol;
use wire::{ipv4, ipv6};

/// What is tried before a connection is refused.
const TRIES: u32 = 256;
/// Ports that stand for others where a flow names none: those that are no server's (RFC 6056
/// section 3.2).
const USUAL: (u16, u16) = (1024, u16::MAX);
/// `nat`: the source is translated; by a hash of who sends alone.
const SOURCE: u16 = 1;
const PERSISTENT: u16 = 4;

/// Tuples that a packet may look like, in the order in which they are tried.
pub(super) struct Attempts<'a> {
    tuple: &'a Tuple,
    is_source: bool,
    translates: bool,
    first: u128,
    addresses: u128,
    ports: Option<(u16, u16)>,
    hash: u32,
    tried: u32,
    /// What was tried first, and how often since with another port of the source.
    begun: Option<Tuple>,
    moved: u32,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(tuple: &'a Tuple, nat: &Nat) -> Self {
        let is_source = nat.flags & SOURCE != 0;
        let (own, other) = match tuple.family() {
            Family::Ip6 => (tuple.source6(), tuple.destination6()),
            _ => (tuple.source4().into(), tuple.destination4().into()),
        };
        let kept = if is_source { own } else { other };
        let range = match tuple.family() {
            Family::Ip6 => nat.ip6,
            _ => nat.ip4.map(|(first, last)| (first.into(), last.map(Into::into))),
        };
        let (first, last) = range.map_or((kept, kept), |(a, b)| (a, b.unwrap_or(a)));
        let has_ports = matches!(tuple.protocol(), protocol::TCP | protocol::UDP)
            || tuple.protocol() == protocol::ICMP4 && is_source;
        let said = nat.ports.map(|(a, b)| (a, b.unwrap_or(a)));
        // A destination has the port that was asked for.
        let usual = Some(USUAL).filter(|_| is_source && (nat.ip4.is_some() || nat.ip6.is_some()));
        let ports = said.or(usual).filter(|_| has_ports);
        let ends = [own, other, u128::from(tuple.source_port()), tuple.destination_port().into()];
        let many = if nat.flags & PERSISTENT != 0 { 1 } else { ends.len() };
        Self {
            tuple,
            is_source,
            translates: nat.flags & 3 != 0,
            first,
            addresses: last.saturating_sub(first).saturating_add(1),
            ports,
            hash: ends[..many].iter().fold(0x9e37_79b9, |hash, it| mix(hash, *it)),
            tried: 0,
            begun: None,
            moved: 0,
        }
    }

    /// A destination is another's for whom it has one port alone: the source gets another, as in
    /// Open vSwitch, and in Linux.
    fn take_other_port(&mut self) -> Option<Tuple> {
        let has_ports = matches!(self.tuple.protocol(), protocol::TCP | protocol::UDP);
        let begun = self.begun.filter(|_| has_ports && !self.is_source)?;
        if self.moved >= TRIES / 4 {
            return None;
        }
        let many = u32::from(USUAL.1 - USUAL.0) + 1;
        let port = u32::from(USUAL.0) + (self.hash.rotate_left(16) % many + self.moved) % many;
        self.moved += 1;
        let (port, protocol, zone) = (port as u16, begun.protocol(), begun.zone());
        Some(match begun.family() {
            Family::Ip6 => Tuple::ip6(
                (begun.source6(), port),
                (begun.destination6(), begun.destination_port()),
                protocol,
                zone,
            ),
            _ => begun.from4(begun.source4(), port),
        })
    }

    /// The tuple with another end.
    fn with(&self, address: u128, port: u16) -> Tuple {
        let tuple = self.tuple;
        match (tuple.family(), self.is_source) {
            (Family::Ip6, true) => Tuple::ip6(
                (address, port),
                (tuple.destination6(), tuple.destination_port()),
                tuple.protocol(),
                tuple.zone(),
            ),
            (Family::Ip6, false) => Tuple::ip6(
                (tuple.source6(), tuple.source_port()),
                (address, port),
                tuple.protocol(),
                tuple.zone(),
            ),
            (_, true) => tuple.from4(address as u32, port),
            (_, false) => tuple.to4(address as u32, port),
        }
    }

    /// Its own port, or what stands for one where addresses alone are translated.
    fn own_port(&self) -> u16 {
        let is_echo4 = self.tuple.protocol() == protocol::ICMP4;
        match self.is_source || is_echo4 {
            true => self.tuple.source_port(),
            false => self.tuple.destination_port(),
        }
    }
}

/// Tuples, with the end that is translated; none where nothing is.
impl Iterator for Attempts<'_> {
    type Item = (Tuple, Option<End>);

    fn next(&mut self) -> Option<Self::Item> {
        if !self.translates {
            self.tried += 1;
            return (self.tried == 1).then_some((*self.tuple, None));
        }
        let end = if self.is_source { End::Source } else { End::Destination };
        self.next_tuple().map(|tuple| (tuple, Some(end)))
    }
}

impl Attempts<'_> {
    fn next_tuple(&mut self) -> Option<Tuple> {
        let nth = self.tried;
        self.tried += 1;
        let own = self.own_port();
        let (low, high) = self.ports.map(|(a, b)| (u32::from(a), u32::from(b))).unwrap_or((1, 0));
        // Of each address: its own port where that may be, then the others from a place on.
        let has_own = self
            .ports
            .is_none_or(|(low, high)| (low..=high).contains(&own) || (low, high) == USUAL);
        let others = (high + 1 - low).min(TRIES / 4);
        let of_each = u32::from(has_own) + others;
        let (address, port) = (nth / of_each.max(1), nth % of_each.max(1));
        if nth >= TRIES || of_each == 0 || u128::from(address) >= self.addresses {
            return self.take_other_port();
        }
        let at = (u128::from(self.hash) + u128::from(address)) % self.addresses;
        let port = match port {
            0 if has_own => own,
            nth => {
                let nth = nth - u32::from(has_own);
                let many = high + 1 - low;
                (low + (self.hash.rotate_left(16) % many + nth) % many) as u16
            }
        };
        let to = self.with(self.first + at, port);
        self.begun.get_or_insert(to);
        Some(to)
    }
}

fn mix(hash: u32, value: u128) -> u32 {
    let folded = (value ^ value >> 64) as u64;
    let mixed = (u64::from(hash) ^ folded).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32) as u32
}

/// What a frame has to become.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Where in the frame the packet begins.
    at: usize,
    what: What,
    speech: Option<Box<Speech>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// Its addresses and ports stay.
    Nothing,
    /// The packet of a tuple; of IPv6, from another.
    Flow(Tuple, Tuple),
    /// An error, from and to these addresses, that tells at a place of the packet of a tuple.
    Error(u128, u128, usize, Tuple),
}

/// The addresses of a tuple.
fn ends(tuple: &Tuple) -> (u128, u128) {
    match tuple.family() {
        Family::Ip6 => (tuple.source6(), tuple.destination6()),
        _ => (tuple.source4().into(), tuple.destination4().into()),
    }
}

impl Change {
    /// None where nothing changes.
    #[inline]
    pub(super) fn of(at: usize, from: &Tuple, to: &Tuple) -> Option<Self> {
        (from != to).then_some(Self { at, what: What::Flow(*from, *to), speech: None })
    }

    /// Nothing changes.
    pub(super) fn nothing(at: usize) -> Self {
        Self { at, what: What::Nothing, speech: None }
    }

    /// The same, and what it says.
    pub(super) fn saying(self, speech: Box<Speech>) -> Self {
        Self { speech: Some(speech), ..self }
    }

    /// Octets that the frame gets longer by; less than none where it gets shorter.
    #[inline]
    pub fn growth(&self) -> isize {
        self.speech.as_ref().map_or(0, |speech| speech.growth())
    }

    /// Of an error about what is `to` on the other side.
    pub(super) fn of_error(at: usize, packet: &[u8], inner: &Inner, to: &Tuple) -> Option<Self> {
        let as_if = inner.tuple.inverse();
        let by = match to.family() {
            Family::Ip6 => ipv6::Header::new(packet)?.source(),
            _ => ipv4::Header::new(packet)?.source().into(),
        };
        // Who is behind a translated end is nobody's business.
        let ((own, _), (known_as, destination)) = (ends(&as_if), ends(to));
        let source = if by == own || known_as != own { known_as } else { by };
        let what = What::Error(source, destination, inner.at, to.inverse());
        Some(Self { at, what, speech: None })
    }

    /// Makes it so; at the end of the frame there is as much room more as it grows by.
    pub fn apply(&self, frame: &mut [u8]) {
        self.translate(frame);
        if let (Some(speech), Some(packet)) = (&self.speech, frame.get_mut(self.at..)) {
            _ = speech.apply(packet);
        }
    }

    fn translate(&self, frame: &mut [u8]) {
        match &self.what {
            What::Nothing => {}
            What::Flow(from, to) if to.family() == Family::Ip6 => flow6(frame, from, to),
            What::Flow(_, to) => {
                if let Some(packet) = frame.get_mut(self.at..) {
                    translate4(packet, to);
                }
            }
            What::Error(source, destination, at, inner) => {
                let Some(packet) = frame.get_mut(self.at..) else { return };
                match inner.family() {
                    Family::Ip6 => translate_error6(packet, *at, *source, *destination, inner),
                    _ => {
                        let (source, destination) = (*source as u32, *destination as u32);
                        translate_error4(packet, *at, source, destination, inner);
                    }
                }
            }
        }
    }
}

fn flow6(frame: &mut [u8], from: &Tuple, to: &Tuple) {
    write_field(frame, Field::Ip6Src, to.source6(), u128::MAX);
    write_field(frame, Field::Ip6Dst, to.destination6(), u128::MAX);
    let ports = match from.protocol() {
        protocol::TCP => [Field::TcpSrc, Field::TcpDst],
        protocol::UDP => [Field::UdpSrc, Field::UdpDst],
        _ => return,
    };
    write_field(frame, ports[0], to.source_port().into(), 0xffff);
    write_field(frame, ports[1], to.destination_port().into(), 0xffff);
}
