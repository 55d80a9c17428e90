//! Tunnels as workers see them: the two ends, what wraps, and what is inside.
//!
//! ```text
//!  VXLAN  │ IPv4 20 or IPv6 40 │ UDP 8 │ VXLAN 8 │ frame …            RFC 7348 section 5
//!  Geneve │ IPv4 20 or IPv6 40 │ UDP 8 │ Geneve 8 │ frame …           RFC 8926 section 3.4
//!  GRE    │ IPv4 20 or IPv6 40 │ GRE 4 or 8      │ frame or packet …  RFC 2784, RFC 7676, with a key RFC 2890
//!  ERSPAN │ IPv4 20 or IPv6 40 │ GRE 8 │ ERSPAN 8 or 12 │ frame …       copies alone, one way
//!  IP     │ IPv4 20 or IPv6 40 │ packet …                            RFC 2003, RFC 2473, RFC 4213
//!
//!  several remotes:  one tunnel ─┬─ an interface for each remote, in the tunnel's bridge
//!                                └─ one more, in no bridge: packets of remotes that are not known
//! ```
//! A tunnel may let flows say its number: it takes packets of any that no tunnel of its own has.
//! The number of each is where an adjacency would be, on its way into flows and out of them. One
//! may let them say its ends, too: those are in the packet's own words ([`tell_own`], [`own_of`]).
//! One may have no end of ours: it takes packets to any of our addresses, and each leaves from that
//! of the interface by which it leaves.
//!
//! Remotes of one tunnel do not reach each other, so flooding reaches every one of them once, and
//! stations are learned behind theirs as they are behind ports.

use crate::ip::{OWN_TTL, PacketRoutes};
use crate::tables::{Interface, Interfaces, Link, VrfId, Vrfs};
use crate::tunnel::{Sequence, TunnelHeaders, erspan_bytes};
use fib::Forward;
use flow::{Asks, CameBy, InTunnel};
use packet::PacketView;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use wire::{gre, ip, ipv4, ipv6, udp, vxlan};

/// What wraps a frame or a packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wrap {
    /// A frame in UDP with a network number (RFC 7348).
    Vxlan {
        /// Its network identifier.
        vni: u32,
        /// The UDP port that its packets go to, here and there.
        port: u16,
    },
    /// GRE, by the key of what comes if it has one.
    Gre(Option<u32>),
    /// A frame in UDP with a network number (RFC 8926).
    Geneve {
        /// Its network identifier.
        vni: u32,
        /// The UDP port that its packets go to, here and there.
        port: u16,
    },
    /// A frame with a number that flows say, and see.
    ByFlows(Numbered),
    /// Nothing but the outer IP header: packets alone.
    Ip,
    /// Copies of frames, to who listens far away: nothing comes back.
    Erspan(Erspan),
    /// A packet in UDP with an instance (RFC 9300).
    Lisp {
        /// The instance; of 0 nothing is said.
        instance: u32,
        /// What tells packets to one locator from those that others made up, 24 bits.
        nonce: u32,
    },
}

/// What wraps frames with a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Numbered {
    /// VXLAN.
    Vxlan {
        /// The UDP port that its packets go to, here and there.
        port: u16,
    },
    /// GRE with a key; of what comes without one the number is 0.
    Gre,
    /// Geneve.
    Geneve {
        /// The UDP port that its packets go to, here and there.
        port: u16,
    },
}

/// What the headers of copies say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Erspan {
    /// The session, 10 bits.
    pub session: u16,
    /// Which headers.
    pub version: ErspanVersion,
    /// Type II: the index, 20 bits. Type III: the hardware's number, 6 bits.
    pub index: u32,
}

/// Headers of copies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ErspanVersion {
    /// Eight octets: session, index, VLAN.
    II,
    /// Twelve: session, VLAN, time, direction.
    III,
}

impl Wrap {
    /// VXLAN at its usual port.
    pub fn vxlan(vni: u32) -> Self {
        Self::Vxlan { vni, port: udp::port::VXLAN }
    }

    /// Geneve at its usual port.
    pub fn geneve(vni: u32) -> Self {
        Self::Geneve { vni, port: udp::port::GENEVE }
    }

    /// What it is with any number, where it has one.
    pub fn with_any_number(self) -> Option<Self> {
        Some(Self::ByFlows(match self {
            Self::Vxlan { port, .. } => Numbered::Vxlan { port },
            Self::Gre(_) => Numbered::Gre,
            Self::Geneve { port, .. } => Numbered::Geneve { port },
            Self::ByFlows(_) | Self::Ip | Self::Erspan(_) | Self::Lisp { .. } => return None,
        }))
    }

    /// The number that flows see of its packets, 0 where they have none; none where each packet has
    /// its own.
    #[inline]
    pub fn number(self) -> Option<u32> {
        match self {
            Self::Vxlan { vni, .. } | Self::Geneve { vni, .. } => Some(vni),
            Self::Gre(key) => Some(key.unwrap_or(0)),
            Self::ByFlows(_) => None,
            Self::Ip | Self::Erspan(_) | Self::Lisp { .. } => Some(0),
        }
    }

    /// The UDP port of VXLAN.
    fn vxlan_port(self) -> Option<u16> {
        match self {
            Self::Vxlan { port, .. } | Self::ByFlows(Numbered::Vxlan { port }) => Some(port),
            _ => None,
        }
    }

    /// The UDP port of Geneve.
    fn geneve_port(self) -> Option<u16> {
        match self {
            Self::Geneve { port, .. } | Self::ByFlows(Numbered::Geneve { port }) => Some(port),
            _ => None,
        }
    }
}

/// The addresses that a tunnel's packets go between.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ends {
    /// Over IPv4.
    V4 {
        /// Our end; 0: any of our addresses.
        local: u32,
        /// The other end; 0: any that is not known.
        remote: u32,
    },
    /// Over IPv6.
    V6 {
        /// Our end; 0: any of our addresses.
        local: u128,
        /// The other end; 0: any that is not known.
        remote: u128,
    },
}

/// What tells arriving packets of different tunnels apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TunnelKey {
    /// What wraps.
    pub wrap: Wrap,
    /// Between whom.
    pub ends: Ends,
}

/// What a tunnel carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inside {
    /// Ethernet frames.
    Frames,
    /// IPv4 and IPv6 packets, by GRE or IP in IP.
    Packets,
}

/// A tunnel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tunnel {
    /// What its packets are known by.
    pub key: TunnelKey,
    /// What it carries.
    pub inside: Inside,
    /// Its datagrams have UDP checksums; over IPv6, others are refused then (RFC 6936 section 4).
    pub summed: bool,
    /// Remotes that are not known yet are taken in.
    pub learns: bool,
    /// Each packet goes to the other end that flows say, and comes from any that no tunnel of its
    /// own has: that of all is none.
    pub is_directed: bool,
    /// Each packet leaves from the address that flows say, if they say one. Our end of all is none.
    pub local_by_flows: bool,
    /// The key of what goes by GRE, if it has one.
    pub key_out: Option<u32>,
    /// Class of service of its packets; of what is inside where none is said.
    pub dscp: Option<u8>,
    /// TTL that its packets leave with; that of what is inside where none is said.
    pub ttl: Option<u8>,
    /// The VRF that its packets are in: they are routed there, and come in there.
    pub underlay: VrfId,
}

impl Ends {
    /// The ends of these addresses; none where they are of two families.
    pub fn new(local: IpAddr, remote: IpAddr) -> Option<Self> {
        match (local, remote) {
            (IpAddr::V4(local), IpAddr::V4(remote)) => {
                Some(Self::V4 { local: local.into(), remote: remote.into() })
            }
            (IpAddr::V6(local), IpAddr::V6(remote)) => {
                Some(Self::V6 { local: local.into(), remote: remote.into() })
            }
            _ => None,
        }
    }

    /// The same with any other end.
    #[must_use]
    pub fn with_any_remote(self) -> Self {
        match self {
            Self::V4 { local, .. } => Self::V4 { local, remote: 0 },
            Self::V6 { local, .. } => Self::V6 { local, remote: 0 },
        }
    }

    /// The same with any end of ours.
    #[must_use]
    pub fn with_any_local(self) -> Self {
        match self {
            Self::V4 { remote, .. } => Self::V4 { local: 0, remote },
            Self::V6 { remote, .. } => Self::V6 { local: 0, remote },
        }
    }

    /// The same with another other end; none where that is of another family than ours, if that is
    /// one.
    pub fn with_remote(self, remote: IpAddr) -> Option<Self> {
        let local = if self.has_local() { self.local() } else { unspecified(remote) };
        Self::new(local, remote)
    }

    /// The same with another end of ours; none where that is of another family than the other.
    pub fn with_local(self, local: IpAddr) -> Option<Self> {
        Self::new(local, self.remote())
    }

    /// Whether our end is one address.
    pub fn has_local(self) -> bool {
        match self {
            Self::V4 { local, .. } => local != 0,
            Self::V6 { local, .. } => local != 0,
        }
    }

    /// Our end.
    pub fn local(self) -> IpAddr {
        match self {
            Self::V4 { local, .. } => IpAddr::V4(local.into()),
            Self::V6 { local, .. } => IpAddr::V6(local.into()),
        }
    }

    /// The other end.
    pub fn remote(self) -> IpAddr {
        match self {
            Self::V4 { remote, .. } => IpAddr::V4(remote.into()),
            Self::V6 { remote, .. } => IpAddr::V6(remote.into()),
        }
    }
}

impl Tunnel {
    /// A tunnel of frames, but for IP in IP, with the checksums that its datagrams must have, the
    /// same key in and out, as far from its other end as our own packets get.
    pub fn new(wrap: Wrap, ends: Ends) -> Self {
        let summed = matches!(ends, Ends::V6 { .. });
        let key_out = match wrap {
            Wrap::Gre(key) => key,
            // One is always written, whichever it is.
            Wrap::ByFlows(Numbered::Gre) => Some(0),
            _ => None,
        };
        Self {
            key: TunnelKey { wrap, ends },
            inside: if wrap == Wrap::Ip { Inside::Packets } else { Inside::Frames },
            summed,
            learns: false,
            is_directed: false,
            local_by_flows: false,
            key_out,
            dscp: None,
            ttl: Some(OWN_TTL - 1),
            underlay: VrfId::DEFAULT,
        }
    }

    /// Where its packets go: to the other end.
    pub fn way(&self, vrfs: &Vrfs) -> Forward {
        let routes = PacketRoutes::of_vrf(vrfs, self.underlay);
        match self.key.ends {
            Ends::V4 { remote, .. } => routes.to(remote),
            Ends::V6 { remote, .. } => routes.to(remote),
        }
    }

    /// What flows see of it.
    pub fn came_by(&self) -> CameBy {
        CameBy {
            number: self.key.wrap.number(),
            source: (!self.is_directed).then(|| self.key.ends.remote()),
            destination: self.key.ends.has_local().then(|| self.key.ends.local()),
        }
    }

    /// What flows say of what leaves by it.
    pub fn asks(&self) -> Asks {
        match self.key.wrap.number() {
            _ if self.local_by_flows => Asks::Ends,
            _ if self.is_directed => Asks::Remote,
            None => Asks::Number,
            Some(_) => Asks::Nothing,
        }
    }

    /// Whether all its packets go between the same two ends.
    #[inline]
    pub fn is_settled(&self) -> bool {
        !self.is_directed && self.key.ends.has_local()
    }

    /// The same to one other end; none where that is none, or of another family.
    pub fn directed(&self, remote: IpAddr) -> Option<Self> {
        let ends = self.key.ends.with_remote(remote).filter(|_| !remote.is_unspecified())?;
        Some(Self { is_directed: false, ..self.between(ends) })
    }

    /// The same from one of our addresses; none where that is of another family.
    pub fn leaving_from(&self, local: IpAddr) -> Option<Self> {
        let ends = self.key.ends.with_local(local)?;
        Some(Self { local_by_flows: false, ..self.between(ends) })
    }

    fn between(&self, ends: Ends) -> Self {
        // One that takes both families says of IPv4 alone whether there are sums.
        let is_other = matches!((self.key.ends, ends), (Ends::V4 { .. }, Ends::V6 { .. }));
        Self { key: TunnelKey { ends, ..self.key }, summed: self.summed || is_other, ..*self }
    }

    /// The same between the ends that one of its packets goes between, which begins with its
    /// headers.
    pub fn of_packet(&self, packet: &[u8]) -> Self {
        let ends = match ip::version(packet) {
            _ if self.is_settled() => None,
            6 => ipv6::Header::new(packet)
                .map(|it| Ends::V6 { local: it.source(), remote: it.destination() }),
            _ => ipv4::Header::new(packet)
                .map(|it| Ends::V4 { local: it.source(), remote: it.destination() }),
        };
        ends.map_or(*self, |ends| self.between(ends))
    }

    /// What a packet to the other end that begins with its headers says of itself.
    pub fn own_in(&self, packet: &[u8]) -> InTunnel {
        let sent = self.of_packet(packet);
        let headers = packet.get(..sent.header_bytes()).and_then(<[u8]>::last_chunk);
        let last = headers.map_or(0, |word| u32::from_be_bytes(*word));
        let number = match self.key.wrap {
            Wrap::Gre(_) | Wrap::ByFlows(Numbered::Gre) => last,
            _ => last >> 8,
        };
        InTunnel {
            number,
            remote: self.is_directed.then(|| sent.key.ends.remote()),
            local: (!self.key.ends.has_local()).then(|| sent.key.ends.local()),
        }
    }

    /// Octets in front of what is inside.
    #[inline]
    pub fn header_bytes(&self) -> usize {
        let ip = match self.key.ends {
            Ends::V4 { .. } => ipv4::Header::LEN,
            Ends::V6 { .. } => ipv6::Header::LEN,
        };
        ip + match self.key.wrap {
            Wrap::Vxlan { .. }
            | Wrap::Lisp { .. }
            | Wrap::Geneve { .. }
            | Wrap::ByFlows(Numbered::Vxlan { .. } | Numbered::Geneve { .. }) => {
                udp::Header::LEN + vxlan::Header::LEN
            }
            Wrap::Gre(_) | Wrap::ByFlows(Numbered::Gre) => gre_bytes(self.key_out),
            Wrap::Ip => 0,
            Wrap::Erspan(copies) => erspan_bytes(copies.version),
        }
    }
}

/// No address, of the family of another one.
fn unspecified(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

/// Tells of a packet what flows say of it in a tunnel, or what they are to see of it.
#[inline]
pub fn tell_own(packet: &mut PacketView<'_>, own: InTunnel) {
    packet.set_adjacency(own.number);
    if own.remote.is_some() {
        packet.set_remote(own.remote);
    }
    if own.local.is_some() {
        packet.set_local(own.local);
    }
}

/// What was told of a packet that came by a tunnel.
#[inline]
pub fn own_of(packet: &PacketView<'_>, by: &CameBy) -> InTunnel {
    InTunnel {
        number: packet.adjacency(),
        remote: if by.source.is_none() { packet.remote() } else { None },
        local: if by.destination.is_none() { packet.local() } else { None },
    }
}

/// Octets of a GRE header.
#[inline]
pub(crate) fn gre_bytes(key: Option<u32>) -> usize {
    gre::Header::LEN + if key.is_some() { 4 } else { 0 }
}

/// Tunnels among the interfaces.
#[derive(Clone, Debug, Default)]
pub(super) struct Tunnels {
    /// The interface of each, by the VRF that its packets are in.
    ids: HashMap<(TunnelKey, VrfId), u16>,
    /// Their headers, by number.
    headers: Vec<Option<Arc<TunnelHeaders>>>,
    /// UDP ports that some of VXLAN and some of Geneve take packets at, but for the usual ones.
    vxlan_ports: Vec<u16>,
    geneve_ports: Vec<u16>,
    /// Some take packets with nothing between two IP headers.
    any_ip: bool,
    /// Some are of Geneve, let flows say their number or an end, or have no end of ours.
    any_uncommon: bool,
}

impl Tunnels {
    pub(super) fn of(rows: &[Option<Interface>]) -> Self {
        let tunnel = |row: &Option<Interface>| match row.as_ref()?.link {
            Link::Tunnel(tunnel) => Some(tunnel),
            Link::Port | Link::Vlan(_) | Link::Bond | Link::Bridge | Link::Lisp(_) => None,
        };
        let sequence = |row: &Option<Interface>| {
            row.as_ref().and_then(|row| row.get::<Sequence>().cloned()).unwrap_or_default()
        };
        let headers = |row| {
            tunnel(row).map(|tunnel| Arc::new(TunnelHeaders::numbering(tunnel, sequence(row))))
        };
        let ids = |(id, row)| {
            let of = move |it: Tunnel| keys_of(it).map(move |key| ((key, it.underlay), id));
            tunnel(row).into_iter().flat_map(of)
        };
        let ports = |of: fn(Wrap) -> Option<u16>, usual: u16| {
            let all = rows.iter().filter_map(|row| of(tunnel(row)?.key.wrap));
            let mut ports: Vec<u16> = all.filter(|port| *port != usual).collect();
            ports.sort_unstable();
            ports.dedup();
            ports
        };
        let is_uncommon = |tunnel: Tunnel| {
            !tunnel.is_settled()
                || matches!(tunnel.key.wrap, Wrap::Geneve { .. } | Wrap::ByFlows(_))
        };
        Self {
            any_uncommon: rows.iter().filter_map(tunnel).any(is_uncommon),
            vxlan_ports: ports(Wrap::vxlan_port, udp::port::VXLAN),
            geneve_ports: ports(Wrap::geneve_port, udp::port::GENEVE),
            any_ip: rows.iter().filter_map(tunnel).any(|tunnel| tunnel.key.wrap == Wrap::Ip),
            ids: (0..).zip(rows).flat_map(ids).collect(),
            headers: rows.iter().map(headers).collect(),
        }
    }
}

/// What its packets are known by: those of one without any end of either family's.
fn keys_of(tunnel: Tunnel) -> impl Iterator<Item = TunnelKey> {
    let is_of_both = tunnel.is_directed && !tunnel.key.ends.has_local();
    let both = [Ends::V4 { local: 0, remote: 0 }, Ends::V6 { local: 0, remote: 0 }];
    let others = both.into_iter().filter(move |ends| is_of_both && *ends != tunnel.key.ends);
    let others = others.map(move |ends| TunnelKey { ends, ..tunnel.key });
    std::iter::once(tunnel.key).chain(others)
}

impl Interfaces {
    /// Whether some tunnel takes IP in IP.
    #[inline]
    pub fn has_ip_tunnels(&self) -> bool {
        self.tunnels.any_ip
    }

    /// Whether some tunnel is of Geneve, lets flows say its number or an end, or has no end of
    /// ours.
    #[inline]
    pub fn has_uncommon_tunnels(&self) -> bool {
        self.tunnels.any_uncommon
    }

    /// The interface of a tunnel whose packets are in a VRF.
    pub fn tunnel(&self, key: TunnelKey, vrf: VrfId) -> Option<u16> {
        self.tunnels.ids.get(&(key, vrf)).copied()
    }

    /// Whether datagrams to a UDP port are for tunnels of VXLAN or Geneve.
    #[inline]
    pub fn is_tunnel_port(&self, port: u16) -> bool {
        port == udp::port::VXLAN
            || self.tunnels.vxlan_ports.binary_search(&port).is_ok()
            || self.is_geneve_port(port)
    }

    /// Whether they are for tunnels of Geneve.
    #[inline]
    pub fn is_geneve_port(&self, port: u16) -> bool {
        port == udp::port::GENEVE || self.tunnels.geneve_ports.binary_search(&port).is_ok()
    }

    /// The headers of what leaves by an interface, if it is a tunnel.
    #[inline]
    pub fn tunnel_headers(&self, id: u16) -> Option<&TunnelHeaders> {
        self.tunnels.headers.get(usize::from(id))?.as_deref()
    }

    /// True if an IP packet that is said to have come by `rx` is what a tunnel made, or carries a
    /// mirror's copy: neither has a sender that could be told anything.
    pub fn is_tunnels(
        &self,
        rx: u16,
        source: impl Into<IpAddr>,
        destination: impl Into<IpAddr>,
    ) -> bool {
        self.is_for_copies(rx) || self.is_tunnels_own(rx, source, destination)
    }

    /// True if an IP packet that is said to have come by `rx` is what a tunnel there made, not what
    /// came out of it.
    pub fn is_tunnels_own(
        &self,
        rx: u16,
        source: impl Into<IpAddr>,
        destination: impl Into<IpAddr>,
    ) -> bool {
        match self.get(rx).map(|row| row.link) {
            Some(Link::Tunnel(Tunnel { key: TunnelKey { ends, .. }, is_directed, .. })) => {
                let source = source.into();
                let is_from_us = match ends.has_local() {
                    true => ends.local() == source,
                    false => self.all().any(|row| row.has_address(source)),
                };
                is_from_us && (is_directed || ends.remote() == destination.into())
            }
            Some(Link::Lisp(lisp)) => lisp.is_local(source.into()),
            _ => false,
        }
    }
}
