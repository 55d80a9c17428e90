//! One rule: what a packet must be like, and what becomes of it then. What is not said fits always.

use crate::{AclError, Fields, More, Transport};
use fib::{Address, Prefix};

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// It is dropped.
    Deny,
    /// It goes on.
    Permit,
    /// It goes on, and what answers it may come back: whoever asks the list sees to that.
    Reflect,
}

/// An inclusive range of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    first: u16,
    last: u16,
}

impl Ports {
    /// Every port.
    pub const ALL: Ports = Ports { first: 0, last: u16::MAX };

    /// From `first` to `last`, both included.
    pub fn new(first: u16, last: u16) -> Result<Ports, AclError> {
        if first > last {
            return Err(AclError::Ports { first, last });
        }
        Ok(Ports { first, last })
    }

    /// This one port.
    pub fn one(port: u16) -> Ports {
        Ports { first: port, last: port }
    }

    /// The lowest.
    pub fn first(self) -> u16 {
        self.first
    }

    /// The highest.
    pub fn last(self) -> u16 {
        self.last
    }

    fn contains(self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }
}

/// An ICMP message, or all of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icmp {
    /// Its type.
    pub kind: u8,
    /// Its code; any, where none is given.
    pub code: Option<u8>,
}

/// TCP flags (RFC 9293 section 3.1): those of `mask` must be as in `value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpFlags {
    /// How they must be.
    pub value: u8,
    /// Those that are looked at.
    pub mask: u8,
}

/// One rule. Ports fit only packets that have some: not ICMP, not later fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule<A: Address> {
    /// Where it comes from.
    pub source: Prefix<A>,
    /// Where it goes.
    pub destination: Prefix<A>,
    /// The protocol; of IPv6, that behind the extension headers.
    pub protocol: Option<u8>,
    /// The source port.
    pub source_ports: Option<Ports>,
    /// The destination port.
    pub destination_ports: Option<Ports>,
    /// The ICMP message.
    pub icmp: Option<Icmp>,
    /// The TCP flags.
    pub tcp_flags: Option<TcpFlags>,
    /// The outer VLAN; 0: none.
    pub vlan: Option<u16>,
    /// The station that sent it.
    pub source_mac: Option<[u8; 6]>,
    /// What few rules ask for: lists with such are asked with [`Key::wide`](crate::Key::wide).
    pub more: More,
    /// What becomes of it.
    pub action: Action,
}

impl<A: Address> Rule<A> {
    /// The rule that every packet fits.
    pub fn any(action: Action) -> Rule<A> {
        Rule {
            source: Prefix::all(),
            destination: Prefix::all(),
            protocol: None,
            source_ports: None,
            destination_ports: None,
            icmp: None,
            tcp_flags: None,
            vlan: None,
            source_mac: None,
            more: More::default(),
            action,
        }
    }

    /// Whether a packet fits, as far as [`Fields`] tell: what the compiled list is held to.
    pub fn matches(&self, packet: &Fields<A>) -> bool {
        let ports = match packet.transport {
            Transport::Ports(source, destination) => Some((source, destination)),
            Transport::Unknown | Transport::Icmp(..) => None,
        };
        let message = |wanted: Icmp| {
            let Transport::Icmp(kind, code) = packet.transport else { return false };
            kind == wanted.kind && wanted.code.is_none_or(|wanted| wanted == code)
        };
        let flags = |wanted: TcpFlags| {
            packet.tcp_flags.is_some_and(|flags| (flags ^ wanted.value) & wanted.mask == 0)
        };
        self.source.contains(packet.source)
            && self.destination.contains(packet.destination)
            && self.protocol.is_none_or(|protocol| protocol == packet.protocol)
            && self.source_ports.is_none_or(|of| ports.is_some_and(|(port, _)| of.contains(port)))
            && self
                .destination_ports
                .is_none_or(|of| ports.is_some_and(|(_, port)| of.contains(port)))
            && self.icmp.is_none_or(message)
            && self.tcp_flags.is_none_or(flags)
            && self.vlan.is_none_or(|vlan| vlan == packet.vlan)
            && self.source_mac.is_none_or(|mac| mac == packet.source_mac)
    }
}
