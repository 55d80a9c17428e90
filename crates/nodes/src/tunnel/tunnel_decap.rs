//! Takes frames and packets out of VXLAN, Geneve, GRE and IP packets to ourselves (RFC 7348
//! section 4.1, RFC 8926 section 3.4, RFC 2784, RFC 2890, RFC 7676; RFC 2003, RFC 2473, RFC 4213).
//!
//! ```text
//!  udp4_local, ip4_local ┐                 ┌▶ (an entrance)           frames, by the tunnel's mode
//!                        ├▶ tunnel_decap ──┼▶ interface_input         of a tunnel with features
//!  udp6_local, ip6_local ┘                 ├▶ ip4_input, ip6_input    packets
//!                                          └▶ drop
//! ```
//! GRE's sequence numbers and Geneve's options are read over: what comes is taken as it comes.
//! Where no tunnel is Geneve's, its packets are some of VXLAN's that no tunnel has.

use super::ecn;
use crate::interface::{Entrance, ReceivedRun, entrances};
use crate::local::ip6_local::{upper_layer, upper_protocol};
use crate::tables::{
    Ends, Inside, Interfaces, Link, Punt, RateLimits, RemoteHeard, Setup, SlowPath, Tunnel,
    TunnelKey, VrfId, WorkerCounters, Wrap, tell_own,
};
use flow::{CameBy, InTunnel};
use graph::{Attach, Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::net::IpAddr;
use std::sync::Arc;
use wire::ethernet::{self, ethertype};
use wire::ip::{self, protocol};
use wire::{geneve, gre, ipv4, udp, vxlan};

/// Remotes told a second and worker, of sources that are alike: more than a network gets in a
/// hurry.
const REMOTES_PER_SECOND: u32 = 10;
/// Kinds of sources that are told apart, so that a flood from some leaves others heard.
const SOURCES: usize = 1024;

/// See the module.
pub struct TunnelDecap {
    interfaces: Published<Interfaces>,
    counters: Arc<WorkerCounters>,
    slow_path: SlowPath,
    limits: RateLimits,
}

entrances! {
    /// What becomes of a tunnel's packet.
    pub enum Exit {
        /// The tunnel has features for what it receives: these first.
        Features => node "interface-input",
        /// An IPv4 packet.
        Ip4 => node "ip4-input",
        /// An IPv6 packet.
        Ip6 => node "ip6-input",
        /// Shorter than its headers.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// RFC 7348 section 5: the flag that says that there is a network identifier must be set.
        BadVxlanFlags => drop "The other end speaks something else at this UDP port, Geneve or GPE \
            perhaps: set both alike.",
        /// RFC 8926 section 3.4: of another version, or for the ends of the tunnel alone.
        BadGeneveHeader => drop "Nothing, if few: the other end speaks with ends that know more \
            of Geneve.",
        /// RFC 8926 section 3.4: it has options that must be understood, and none is here.
        CriticalOptions => drop "Have the other end send no options that it calls critical.",
        /// RFC 6936 section 4: over IPv6 the tunnel wants a UDP checksum, and there is none.
        NoChecksum => drop "Have the other end send UDP checksums, or set `checksum = false` at \
            the tunnel.",
        /// RFC 2784 section 2: reserved bits set, another version, or a wrong checksum.
        BadGreHeader => drop "The sender, or a device on the way, makes wrong packets: capture \
            some and look who it is.",
        /// A frame where the tunnel carries packets, a packet where it carries frames, or neither.
        WrongPayload => drop "Set `payload` of the tunnel as the other end has it: frames or \
            packets.",
        /// What is inside IP is not of the version that the outer header tells.
        WrongVersion => drop "The sender, or a device on the way, makes wrong packets: capture \
            some and look who it is.",
        /// A packet out of a tunnel that has no address, or is told not to route.
        NotRouted => drop "Give the tunnel an address, `unnumbered`, or `routing = true`.",
        /// No tunnel has this network identifier or key, source and destination; or none of IP in
        /// IP has these ends.
        UnknownTunnel => drop "Compare `vni` or `key`, `local` and `remote` with the other end's: \
            `volley config show`.",
        /// From an end that is not known yet. The control thread hears of it; what comes later is
        /// taken.
        NewRemote => drop "Nothing, if it ends: the first packets of a new end only.",
        /// The frame inside is shorter than an Ethernet header.
        InnerRunt => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// RFC 6040 section 4.2: congestion was met outside, and the sender inside asked for drops
        /// to hear of it by.
        Congested => drop "Nothing, if few: the senders inside slow down by it. Much of it means \
            that the underlay is too full.",
        /// It came by a tunnel, perhaps by our own: tunnels inside tunnels are not opened.
        Nested => drop "Look for a route that leads a tunnel's packets into the tunnel itself.",
    }
}

impl Node for TunnelDecap {
    const NAME: &'static str = "tunnel-decap";
    const ABOUT: &'static str = "takes frames and packets out of VXLAN, Geneve, GRE and IP packets";
    const ATTACH: &'static [Attach] = &[
        Attach { of: "udp4-local", key: udp::port::VXLAN as u32 },
        Attach { of: "ip4-local", key: protocol::GRE as u32 },
        Attach { of: "udp6-local", key: udp::port::VXLAN as u32 },
        Attach { of: "ip6-local", key: protocol::GRE as u32 },
        Attach { of: "udp4-local", key: udp::port::GENEVE as u32 },
        Attach { of: "udp6-local", key: udp::port::GENEVE as u32 },
        Attach { of: "ip4-local", key: protocol::IPV4 as u32 },
        Attach { of: "ip4-local", key: protocol::IPV6 as u32 },
        Attach { of: "ip6-local", key: protocol::IPV4 as u32 },
        Attach { of: "ip6-local", key: protocol::IPV6 as u32 },
    ];
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            counters: Arc::clone(&setup.counters),
            slow_path: setup.shared.slow_path.clone(),
            limits: RateLimits::new(SOURCES, REMOTES_PER_SECOND),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        // Most routers have none of those: their packets pay nothing for them.
        if self.interfaces.get(context).has_uncommon_tunnels() {
            self.open_all::<true>(frame, exits, context);
        } else {
            self.open_all::<false>(frame, exits, context);
        }
    }
}

impl TunnelDecap {
    /// Takes what is inside out of all packets; `UNCOMMON`: there are tunnels of Geneve, some that
    /// let flows say their number or an end, or some that have no end of ours.
    #[inline(always)]
    fn open_all<const UNCOMMON: bool>(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let Self { counters, slow_path, limits, .. } = self;
        let mut tell_remote = |hub: u16, underlay: u16, key: TunnelKey| {
            let remote = key.ends.remote();
            // Who is not heard of now is heard of by its next packet.
            if limits.take(alike(underlay, remote), context.now_tsc) {
                let punt = RemoteHeard { interface: hub, underlay, remote };
                let _missed = slow_path.tell(Punt::RemoteHeard(punt));
            }
        };
        // Whether a tunnel brought it, and the VRF that it is in.
        let heard = |rx: u16| {
            let nested = interfaces
                .get(rx)
                .is_some_and(|row| matches!(row.link, Link::Tunnel(_) | Link::Lisp(_)));
            (nested, interfaces.vrf(rx))
        };
        let mut rx = frame.rx()[0];
        let (mut nested, mut vrf) = heard(rx);
        // The last packet's tunnel is often the next one's, too.
        let mut last: Option<((TunnelKey, VrfId), Result<Found, Exit>)> = None;
        let mut received = ReceivedRun::new(counters);
        exits.each(frame, |packet| {
            let opened = match open::<UNCOMMON>(packet, interfaces) {
                Ok(opened) => opened,
                Err(exit) => return exit,
            };
            if packet.rx() != rx {
                rx = packet.rx();
                (nested, vrf) = heard(rx);
            }
            if nested {
                return Exit::Nested;
            }
            let found = match last {
                Some((known, found)) if known.1 == vrf && is_same(&known.0, &opened.key) => found,
                _ => {
                    let found =
                        find(interfaces, opened.key, vrf, |hub, key| tell_remote(hub, rx, key));
                    last = Some(((opened.key, vrf), found));
                    found
                }
            };
            let found = match found {
                Ok(found) => found,
                Err(exit) => return exit,
            };
            let exit = match enter(&found, &opened, packet.length()) {
                Ok(exit) => exit,
                Err(exit) => return exit,
            };
            packet.advance(opened.bytes);
            // Nobody on the way said anything where nothing is marked.
            if opened.ecn != 0 && !ecn::tell(packet.header_mut(), opened.kind, opened.ecn) {
                return Exit::Congested;
            }
            packet.start_here();
            packet.set_rx(found.id);
            if UNCOMMON && found.tells != Tells::default() {
                tell_flows(packet, &opened.key, found.tells);
            }
            received.add(found.id, packet.length());
            exit
        });
    }
}

/// Has flows see what is a packet's own.
#[inline(never)]
fn tell_flows(packet: &mut PacketView<'_>, key: &TunnelKey, tells: Tells) {
    let own = InTunnel {
        number: key.wrap.number().unwrap_or(0),
        remote: tells.has(Tells::REMOTE).then(|| key.ends.remote()),
        local: tells.has(Tells::LOCAL).then(|| key.ends.local()),
    };
    tell_own(packet, own);
}

/// What is known of a packet for us once its headers are read.
struct Opened {
    key: TunnelKey,
    /// Ethertype of what is inside.
    kind: u16,
    /// Octets in front of it.
    bytes: usize,
    /// There is a UDP checksum, if there is UDP.
    summed: bool,
    /// Congestion marks outside.
    ecn: u8,
}

/// Whether two keys are one. Of VXLAN, which nearly all are of, without asking for all the others.
#[inline(always)]
fn is_same(one: &TunnelKey, other: &TunnelKey) -> bool {
    match (one.wrap, other.wrap) {
        (Wrap::Vxlan { vni, port }, Wrap::Vxlan { vni: other_vni, port: other_port }) => {
            vni == other_vni && port == other_port && one.ends == other.ends
        }
        _ => is_same_of_any(*one, *other),
    }
}

/// By value: what is lent to a call stands in memory, for each packet.
#[inline(never)]
fn is_same_of_any(one: TunnelKey, other: TunnelKey) -> bool {
    one == other
}

/// A tunnel's interface and the way in by it.
#[derive(Clone, Copy)]
struct Found {
    id: u16,
    exit: Exit,
    inside: Inside,
    summed: bool,
    tells: Tells,
}

/// What flows are told of each packet: the tunnel does not say it of all. One octet, so that what
/// was found of a tunnel stays in a register.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Tells(u8);

impl Tells {
    const NUMBER: u8 = 1;
    const REMOTE: u8 = 2;
    const LOCAL: u8 = 4;

    fn of(by: &CameBy) -> Self {
        let bit = |is_own: bool, bit: u8| if is_own { bit } else { 0 };
        Self(
            bit(by.number.is_none(), Self::NUMBER)
                | bit(by.source.is_none(), Self::REMOTE)
                | bit(by.destination.is_none(), Self::LOCAL),
        )
    }

    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}

/// The tunnel that a packet is of, and where that which is inside begins.
#[inline(always)]
fn open<const UNCOMMON: bool>(
    packet: &PacketView<'_>,
    interfaces: &Interfaces,
) -> Result<Opened, Exit> {
    let bytes = packet.header();
    let (ends, protocol, inside, ecn) = if ip::version(bytes) == 6 {
        let (header, inside) = upper_layer(packet).ok_or(Exit::Truncated)?;
        let (local, remote) = (header.destination(), header.source());
        let protocol = upper_protocol(packet).ok_or(Exit::Truncated)?;
        (Ends::V6 { local, remote }, protocol, inside, header.ecn())
    } else {
        let header = ipv4::Header::new(bytes).ok_or(Exit::Truncated)?;
        let inside = bytes.get(header.header_len()..).ok_or(Exit::Truncated)?;
        let (local, remote) = (header.destination(), header.source());
        (Ends::V4 { local, remote }, header.protocol(), inside, header.ecn())
    };
    let (wrap, kind, rest, summed) = match protocol {
        protocol::GRE => open_gre(inside)?,
        protocol::IPV4 => open_ip(inside, 4, ethertype::IPV4)?,
        protocol::IPV6 => open_ip(inside, 6, ethertype::IPV6)?,
        _ => {
            let datagram = udp::Header::new(inside).ok_or(Exit::Truncated)?;
            let (inside, port) = (&inside[udp::Header::LEN..], datagram.destination_port());
            if UNCOMMON && interfaces.is_geneve_port(port) {
                let (wrap, kind, rest) = open_geneve(inside, port)?;
                (wrap, kind, rest, datagram.checksum() != 0)
            } else {
                let header = vxlan::Header::new(inside).ok_or(Exit::Truncated)?;
                if !header.is_valid() {
                    return Err(Exit::BadVxlanFlags);
                }
                let rest = inside.len() - vxlan::Header::LEN;
                let wrap = Wrap::Vxlan { vni: header.vni(), port };
                (wrap, ethertype::TEB, rest, datagram.checksum() != 0)
            }
        }
    };
    Ok(Opened { key: TunnelKey { wrap, ends }, kind, bytes: bytes.len() - rest, summed, ecn })
}

/// What wraps in a datagram of Geneve, the kind of what is inside, and its octets.
#[inline(never)]
fn open_geneve(datagram: &[u8], port: u16) -> Result<(Wrap, u16, usize), Exit> {
    let header = geneve::Header::new(datagram).ok_or(Exit::Truncated)?;
    if header.version() != 0 || header.flags() & geneve::CONTROL != 0 {
        return Err(Exit::BadGeneveHeader);
    }
    let rest = datagram.len().checked_sub(header.header_len()).ok_or(Exit::Truncated)?;
    if header.flags() & geneve::CRITICAL != 0 {
        return Err(Exit::CriticalOptions);
    }
    Ok((Wrap::Geneve { vni: header.vni(), port }, header.ethertype(), rest))
}

/// What wraps in a GRE packet, the kind of what is inside, and its octets.
fn open_gre(packet: &[u8]) -> Result<(Wrap, u16, usize, bool), Exit> {
    let parsed = gre::Packet::parse(packet).map_err(|fault| match fault {
        wire::Error::Short { .. } => Exit::Truncated,
        _ => Exit::BadGreHeader,
    })?;
    Ok((Wrap::Gre(parsed.key), parsed.ethertype, parsed.payload.len(), true))
}

/// The same of IP in IP, whose outer header tells the version of what is inside.
fn open_ip(packet: &[u8], version: u8, kind: u16) -> Result<(Wrap, u16, usize, bool), Exit> {
    match packet.first() {
        None => Err(Exit::Truncated),
        Some(_) if ip::version(packet) != version => Err(Exit::WrongVersion),
        Some(_) => Ok((Wrap::Ip, kind, packet.len(), true)),
    }
}

/// A number for sources that are alike: of one interface and network (/24, /64).
fn alike(underlay: u16, remote: IpAddr) -> usize {
    let network = match remote {
        IpAddr::V4(remote) => u64::from(u32::from(remote) >> 8),
        IpAddr::V6(remote) => (u128::from(remote) >> 64) as u64,
    };
    // Fibonacci hashing: near networks are spread.
    let mixed = (network ^ u64::from(underlay) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 54) as usize
}

fn tunnel_of(interfaces: &Interfaces, id: u16) -> Option<Tunnel> {
    match interfaces.get(id)?.link {
        Link::Tunnel(tunnel) => Some(tunnel),
        _ => None,
    }
}

/// The interface of the tunnel that a packet is of: one of its number before one of any, of those
/// one to its sender before one to any, and of those one from where it came to before one from any
/// address of ours. Of one that takes remotes in, those that are not known are told.
fn find_id(
    interfaces: &Interfaces,
    key: TunnelKey,
    vrf: VrfId,
    mut tell: impl FnMut(u16, TunnelKey),
) -> Result<u16, Exit> {
    if let Some(id) = interfaces.tunnel(key, vrf) {
        return Ok(id);
    }
    let any_remote = key.ends.with_any_remote();
    for wrap in [Some(key.wrap), key.wrap.with_any_number()].into_iter().flatten() {
        for to in [key.ends, any_remote] {
            for ends in [to, to.with_any_local()] {
                let Some(id) = interfaces.tunnel(TunnelKey { wrap, ends }, vrf) else { continue };
                return match tunnel_of(interfaces, id) {
                    Some(tunnel) if to == key.ends || tunnel.is_directed => Ok(id),
                    Some(hub) if hub.learns => {
                        tell(id, key);
                        Err(Exit::NewRemote)
                    }
                    _ => Err(Exit::UnknownTunnel),
                };
            }
        }
    }
    Err(Exit::UnknownTunnel)
}

/// The interface of a tunnel, and where frames go that come in by it.
fn find(
    interfaces: &Interfaces,
    key: TunnelKey,
    vrf: VrfId,
    tell: impl FnMut(u16, TunnelKey),
) -> Result<Found, Exit> {
    let id = find_id(interfaces, key, vrf, tell)?;
    let routes = || interfaces.get(id).is_some_and(|row| row.routes || !row.carries_packets());
    let exit = match interfaces.entrance(id) {
        Entrance::InterfaceDown => return Err(Exit::InterfaceDown),
        _ if interfaces.has_input_features(id) => Exit::Features,
        _ if !routes() => return Err(Exit::NotRouted),
        entrance => entrance.into(),
    };
    let tunnel = tunnel_of(interfaces, id).ok_or(Exit::UnknownTunnel)?;
    let tells = Tells::of(&tunnel.came_by());
    Ok(Found { id, exit, inside: tunnel.inside, summed: tunnel.summed, tells })
}

/// The way in of what is inside, if the tunnel carries such.
#[inline(always)]
fn enter(found: &Found, opened: &Opened, length: usize) -> Result<Exit, Exit> {
    if found.summed && !opened.summed && matches!(opened.key.ends, Ends::V6 { .. }) {
        return Err(Exit::NoChecksum);
    }
    match (found.inside, opened.kind) {
        (Inside::Frames, ethertype::TEB) => {
            let runt = length < opened.bytes + ethernet::Header::LEN;
            if runt { Err(Exit::InnerRunt) } else { Ok(found.exit) }
        }
        (Inside::Packets, ethertype::IPV4 | ethertype::IPV6) if found.exit == Exit::Features => {
            Ok(found.exit)
        }
        (Inside::Packets, ethertype::IPV4) => Ok(Exit::Ip4),
        (Inside::Packets, ethertype::IPV6) => Ok(Exit::Ip6),
        _ => Err(Exit::WrongPayload),
    }
}

#[cfg(test)]
mod tests;
