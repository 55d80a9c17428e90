//! A builder of packets for tests and the lab.
//!
//! ```text
//! craft::ethernet(a, b).vlan(7).ipv4(s, d).ttl(9).udp(1, 2).payload(b"…").build()
//!        └─ layers, outermost first; a field's method belongs to the layer named last ─┘
//!
//! build: innermost layer first: length, next protocol, then checksum, unless the caller set that field
//! ```
//! Any layer may follow any other, and every field can be set to a lie: bad packets are what tests
//! need.
//!
//! ```
//! let frame = wire::craft::ethernet([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
//!     .vlan(10)
//!     .ipv4([10, 0, 0, 1], [10, 0, 1, 2])
//!     .ttl(1)
//!     .icmp_echo(7, 1)
//!     .payload_len(56)
//!     .build();
//! assert_eq!(
//!     wire::describe::frame(&frame).to_string(),
//!     "vlan 10 IPv4 10.0.0.1 > 10.0.1.2 ttl 1 len 84 ICMP echo request id 7 seq 1"
//! );
//! ```

mod icmp;
mod ip;
mod link;
mod transport;
mod tunnel;
mod words;

use std::{marker::PhantomData, net::Ipv4Addr, net::Ipv6Addr};

pub use icmp::{Icmp4, Icmp6};
pub use ip::{Extension, Ipv4, Ipv6};
pub use link::{Arp, Ethernet, Vlan};
pub use transport::{Tcp, Udp};
pub use tunnel::{Gre, Lisp, Vxlan};
pub use words::{Unsaid, Words, WordsError};

use crate::{MacAddr, checksum, ethernet::ethertype, ip::protocol};

/// A packet being made; `L` is the layer named last, whose fields can be set.
#[derive(Clone, Debug)]
pub struct Craft<L> {
    layers: Vec<Layer>,
    pad_to_len: usize,
    layer: PhantomData<L>,
}

/// The layer named last is payload: octets without fields.
#[derive(Clone, Debug)]
pub struct Payload;

/// Which format a layer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ethernet,
    Vlan,
    ServiceVlan,
    Arp,
    Ipv4,
    Ipv6,
    /// An IPv6 extension header and its number.
    Extension(u8),
    Icmp4,
    Icmp6,
    Udp,
    Tcp,
    Vxlan,
    Gre,
    Lisp,
    Payload,
}

/// One header as its caller made it, and which fields are left for `build` to fill in.
#[derive(Clone, Debug)]
struct Layer {
    kind: Kind,
    bytes: Vec<u8>,
    fill_len: bool,
    fill_next: bool,
    fill_checksum: bool,
}

/// Starts a frame.
pub fn ethernet(source: impl Into<MacAddr>, destination: impl Into<MacAddr>) -> Craft<Ethernet> {
    start().ethernet(source, destination)
}

/// Starts an IPv4 packet without a link header.
pub fn ipv4(source: impl Into<Ipv4Addr>, destination: impl Into<Ipv4Addr>) -> Craft<Ipv4> {
    start().ipv4(source, destination)
}

/// Starts an IPv6 packet without a link header.
pub fn ipv6(source: impl Into<Ipv6Addr>, destination: impl Into<Ipv6Addr>) -> Craft<Ipv6> {
    start().ipv6(source, destination)
}

fn start() -> Craft<Payload> {
    Craft { layers: Vec::new(), pad_to_len: 0, layer: PhantomData }
}

impl<L> Craft<L> {
    /// Ends with these octets.
    pub fn payload(self, bytes: &[u8]) -> Craft<Payload> {
        self.push(Kind::Payload, bytes.to_vec())
    }

    /// Ends with this many octets, counting up from zero and round again.
    pub fn payload_len(self, len: usize) -> Craft<Payload> {
        self.push(Kind::Payload, (0..len).map(|at| at as u8).collect())
    }

    /// Ends with as much payload as makes the whole this long; with none if the headers are longer.
    pub fn total_len(self, len: usize) -> Craft<Payload> {
        let headers_len: usize = self.layers.iter().map(|layer| layer.bytes.len()).sum();
        self.payload_len(len.saturating_sub(headers_len))
    }

    /// Zeros after the packet, which no header counts, up to this length: what links with a minimum
    /// add.
    pub fn pad_to(mut self, len: usize) -> Self {
        self.pad_to_len = len;
        self
    }

    /// The octets.
    pub fn build(&self) -> Vec<u8> {
        let mut inner = Vec::new();
        for (at, layer) in self.layers.iter().enumerate().rev() {
            let next = self.layers.get(at + 1).map(|next| next.kind);
            let mut layer = layer.clone();
            layer.fill(next, &inner, self.layers[..at].iter().rev());
            layer.bytes.append(&mut inner);
            inner = layer.bytes;
        }
        inner.resize(inner.len().max(self.pad_to_len), 0);
        inner
    }

    /// The same, whatever layer was named last.
    fn any(self) -> Craft<Payload> {
        Craft { layers: self.layers, pad_to_len: self.pad_to_len, layer: PhantomData }
    }

    fn push<M>(mut self, kind: Kind, bytes: Vec<u8>) -> Craft<M> {
        let layer = Layer { kind, bytes, fill_len: true, fill_next: true, fill_checksum: true };
        self.layers.push(layer);
        Craft { layers: self.layers, pad_to_len: self.pad_to_len, layer: PhantomData }
    }

    /// Changes the layer named last.
    fn edit(mut self, change: impl FnOnce(&mut Layer)) -> Self {
        if let Some(layer) = self.layers.last_mut() {
            change(layer);
        }
        self
    }

    /// Writes octets of the layer named last.
    fn set(self, at: usize, octets: &[u8]) -> Self {
        self.edit(|layer| layer.put(at, octets))
    }

    /// Sets a length field; `build` leaves it then.
    fn set_len(self, at: usize, octets: &[u8]) -> Self {
        self.set(at, octets).edit(|layer| layer.fill_len = false)
    }

    /// Sets a next-protocol field; `build` leaves it then.
    fn set_next(self, at: usize, octets: &[u8]) -> Self {
        self.set(at, octets).edit(|layer| layer.fill_next = false)
    }

    /// Sets a checksum field; `build` leaves it then.
    fn set_checksum(self, at: usize, checksum: u16) -> Self {
        self.set(at, &checksum.to_be_bytes()).edit(|layer| layer.fill_checksum = false)
    }
}

impl Layer {
    fn put(&mut self, at: usize, octets: &[u8]) {
        self.bytes[at..at + octets.len()].copy_from_slice(octets);
    }

    /// Fills in what the caller left: length and next protocol, then the checksum over all of it.
    fn fill<'a>(
        &mut self,
        next: Option<Kind>,
        inner: &[u8],
        outer: impl Iterator<Item = &'a Layer>,
    ) {
        if self.fill_len {
            self.fill_len(inner.len());
        }
        if self.fill_next {
            self.fill_next(next);
        }
        if self.fill_checksum {
            self.fill_checksum(inner, outer);
        }
    }

    fn fill_len(&mut self, inner_len: usize) {
        // What does not fit a 16-bit field is cut to it: such a packet lies in any case.
        let whole = ((self.bytes.len() + inner_len) as u16).to_be_bytes();
        match self.kind {
            Kind::Ipv4 => self.put(2, &whole),
            Kind::Ipv6 => self.put(4, &(inner_len as u16).to_be_bytes()),
            Kind::Udp => self.put(4, &whole),
            _ => {}
        }
    }

    fn fill_next(&mut self, next: Option<Kind>) {
        let ethertype = next.map_or(ethertype::EXPERIMENT, Kind::ethertype).to_be_bytes();
        let protocol = next.map_or(protocol::NO_NEXT, Kind::protocol);
        match self.kind {
            Kind::Ethernet => self.put(12, &ethertype),
            Kind::Vlan | Kind::ServiceVlan | Kind::Gre => self.put(2, &ethertype),
            Kind::Ipv4 => self.put(9, &[protocol]),
            Kind::Ipv6 => self.put(6, &[protocol]),
            Kind::Extension(_) => self.put(0, &[protocol]),
            _ => {}
        }
    }

    fn fill_checksum<'a>(&mut self, inner: &[u8], outer: impl Iterator<Item = &'a Layer>) {
        let own = checksum::Sum::ZERO.bytes(&self.bytes).bytes(inner);
        let whole_len = self.bytes.len() + inner.len();
        let pseudo = |protocol| ip::pseudo_header(outer, protocol, whole_len);
        let (at, value) = match self.kind {
            Kind::Ipv4 => (10, checksum::of(&self.bytes)),
            Kind::Icmp4 => (2, own.checksum()),
            Kind::Icmp6 => (2, pseudo(protocol::ICMP6).bytes(&self.bytes).bytes(inner).checksum()),
            Kind::Tcp => (16, pseudo(protocol::TCP).bytes(&self.bytes).bytes(inner).checksum()),
            Kind::Udp => (6, pseudo(protocol::UDP).bytes(&self.bytes).bytes(inner).udp_checksum()),
            Kind::Gre if self.bytes[0] & 0x80 != 0 => (4, own.checksum()),
            _ => return,
        };
        self.put(at, &value.to_be_bytes());
    }
}

impl Kind {
    fn ethertype(self) -> u16 {
        match self {
            Self::Ethernet => ethertype::TEB,
            Self::Vlan => ethertype::VLAN,
            Self::ServiceVlan => ethertype::QINQ,
            Self::Arp => ethertype::ARP,
            Self::Ipv4 => ethertype::IPV4,
            Self::Ipv6 => ethertype::IPV6,
            _ => ethertype::EXPERIMENT,
        }
    }

    fn protocol(self) -> u8 {
        match self {
            Self::Ipv4 => protocol::IPV4,
            Self::Ipv6 => protocol::IPV6,
            Self::Extension(number) => number,
            Self::Icmp4 => protocol::ICMP4,
            Self::Icmp6 => protocol::ICMP6,
            Self::Udp => protocol::UDP,
            Self::Tcp => protocol::TCP,
            Self::Gre => protocol::GRE,
            _ => protocol::EXPERIMENT,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{ipv4, ipv6, udp, vlan};

    #[test]
    fn lengths_types_and_checksums_are_filled_in() {
        let frame = ethernet([2; 6], [4; 6]).vlan(7).ipv4(1, 2).udp(5, 6).payload(b"abc").build();
        let walk = vlan::walk(&frame).unwrap();
        assert_eq!((walk.tags()[0].vid(), walk.ethertype), (7, ethertype::IPV4));
        let packet = ipv4::Packet::parse(&frame[walk.offset..]).unwrap();
        assert_eq!(packet.header.protocol(), protocol::UDP);
        assert_eq!(udp::Datagram::parse(packet.payload).unwrap().payload, b"abc");
    }

    #[test]
    fn what_the_caller_set_is_left() {
        let packet =
            ipv4(1, 2).length(9).protocol(200).checksum(0xdead).udp(5, 6).checksum(1).build();
        let header = ipv4::Header::new(&packet).unwrap();
        assert_eq!((header.total_len(), header.protocol(), header.checksum()), (9, 200, 0xdead));
        assert_eq!(udp::Header::new(&packet[20..]).unwrap().checksum(), 1);
    }

    #[test]
    fn a_frame_gets_the_length_asked_for() {
        let frame = ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(5, 6).total_len(60).build();
        assert_eq!(frame.len(), 60);
        assert_eq!(ipv4::Packet::parse(&frame[14..]).unwrap().payload.len(), 26);
        let padded = ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(5, 6).pad_to(60).build();
        assert_eq!(padded.len(), 60);
        assert_eq!(ipv4::Packet::parse(&padded[14..]).unwrap().payload.len(), 8);
        assert_eq!(ethernet([2; 6], [4; 6]).total_len(3).build().len(), 14);
    }

    proptest! {
        #[test]
        fn an_honest_frame_is_described_without_complaint(len in 0usize..99, vid in 0u16..4096) {
            let start = || ethernet([2; 6], [4; 6]);
            for frame in [
                start().ipv4(1, 2).udp(5, 6).payload_len(len),
                start().vlan(vid).ipv4(1, 2).icmp_echo(5, 6).payload_len(len),
                start().service_vlan(7).vlan(vid).ipv6(1, 2).udp(5, 6).payload_len(len),
                start().ipv6(1, 2).icmp_echo(5, 6).payload_len(len),
            ] {
                let line = crate::describe::frame(&frame.build()).to_string();
                prop_assert!(!line.contains('['), "{}", line);
            }
        }

        #[test]
        fn a_crafted_ipv4_packet_round_trips(
            (s, d, ttl, id) in any::<(u32, u32, u8, u16)>(),
            dscp in 0u8..64,
            data in prop::collection::vec(any::<u8>(), 0..99),
        ) {
            let bytes = ipv4(s, d).ttl(ttl).identification(id).dscp(dscp).udp(5, 6).payload(&data).build();
            let packet = ipv4::Packet::parse(&bytes).unwrap();
            let header = packet.header;
            prop_assert_eq!((header.source(), header.destination(), header.ttl()), (s, d, ttl));
            prop_assert_eq!((header.identification(), header.dscp()), (id, dscp));
            let sum = checksum::pseudo4(s, d, 17, packet.payload.len() as u16).bytes(packet.payload);
            prop_assert!(sum.is_valid());
            prop_assert_eq!(udp::Datagram::parse(packet.payload).unwrap().payload, &data[..]);
        }

        #[test]
        fn a_crafted_ipv6_packet_round_trips(
            (s, d, hops) in any::<(u128, u128, u8)>(),
            label in 0u32..1 << 20,
            data in prop::collection::vec(any::<u8>(), 0..99),
        ) {
            let bytes = ipv6(s, d).hop_limit(hops).flow_label(label).tcp(5, 6).payload(&data).build();
            let packet = ipv6::Packet::parse(&bytes).unwrap();
            let header = packet.header;
            prop_assert_eq!((header.source(), header.destination(), header.hop_limit()), (s, d, hops));
            prop_assert_eq!(header.flow_label(), label);
            let sum = checksum::pseudo6(s, d, 6, packet.payload.len() as u32).bytes(packet.payload);
            prop_assert!(sum.is_valid());
        }
    }
}
