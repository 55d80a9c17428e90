//! Takes packets out of packets between locators to ourselves (RFC 9300, sections 5 and 12).
//!
//! ```text
//!  udp4_local ┐                ┌▶ interface_input         of an interface with features
//!             ├▶ lisp_decap ───┼▶ ip4_input, ip6_input    by the version inside
//!  udp6_local ┘                ├▶ twin_output, icmp4_error, icmp6_error    there is no LISP here
//!                              └▶ drop
//! ```
//! Nonces, status bits and map versions are read over: RFC 9300 section 4.2 has none of them
//! believed beyond closed networks.

use super::lisp_off::{Off, refusals};
use super::lisp_resolve::alike;
use super::{ecn, uniform};
use crate::interface::{Entrance, ReceivedRun};
use crate::local::ip6_local::upper_layer;
use crate::tables::{
    EidWanted, Interfaces, Link, Lisp, LispInstance, LispSource, Punt, RateLimits, Setup, SlowPath,
    VrfId, WorkerCounters,
};
use graph::{Attach, Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::net::IpAddr;
use std::sync::Arc;
use wire::ethernet::ethertype;
use wire::{ip, ipv4, ipv6, lisp, udp};

/// Sources asked for a second and worker, of endpoints that are alike.
const SOURCES_PER_SECOND: u32 = 5;
/// Kinds of endpoints that are told apart.
const KINDS: usize = 256;

/// See the module.
pub struct LispDecap {
    interfaces: Published<Interfaces>,
    lisp: Published<Lisp>,
    counters: Arc<WorkerCounters>,
    slow_path: SlowPath,
    limits: RateLimits,
}

refusals! {
    /// What becomes of a packet between locators.
    pub enum Exit {
        /// The interface has features for what it receives: these first.
        Features => node "interface-input",
        /// An IPv4 packet.
        Ip4 => node "ip4-input",
        /// An IPv6 packet.
        Ip6 => node "ip6-input",
        /// Shorter than its headers.
        Truncated => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// RFC 9300 section 5.3: a nonce and map versions at once.
        BadHeader => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// RFC 8061: it is encrypted, with a key that nobody agreed on.
        Encrypted => drop "Have the other site send without encryption.",
        /// No port has this instance, where the packet came in.
        UnknownInstance => drop "Compare `instance_id` and `underlay_vrf` with the other site's: \
            `volley show lisp`.",
        /// What is inside is no IP packet.
        WrongPayload => drop "The sender, or a device on the way, makes wrong packets: capture some \
            and look who it is.",
        /// The port is administratively down.
        InterfaceDown => drop "`volley port set NAME up`, if the port is to carry traffic.",
        /// The port is told not to route.
        NotRouted => drop "Set `routing = true` at the port.",
        /// RFC 6040 section 4.2: congestion was met outside, and the sender inside asked for drops
        /// to hear of it by.
        Congested => drop "Nothing, if few: the senders inside slow down by it. Much of it means \
            that the underlay is too full.",
        /// It came by a tunnel, perhaps by our own: tunnels inside tunnels are not opened.
        Nested => drop "Look for a route that leads locators into a tunnel.",
        /// Its endpoint is not at the site that sends it.
        Spoofed => drop "Look who sends it; a site that just moved is known again soon. \
            `source_check` of the port says how much is asked.",
        /// Nobody knows yet where its endpoint is. It is asked for.
        UnknownSource => drop "Nothing, if it ends: the first packets of a new endpoint only.",
    }
}

impl Node for LispDecap {
    const NAME: &'static str = "lisp-decap";
    const ABOUT: &'static str = "takes packets out of packets between locators";
    const ATTACH: &'static [Attach] = &[
        Attach { of: "udp4-local", key: udp::port::LISP_DATA as u32 },
        Attach { of: "udp6-local", key: udp::port::LISP_DATA as u32 },
    ];
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            lisp: setup.shared.lisp.clone(),
            counters: Arc::clone(&setup.counters),
            slow_path: setup.shared.slow_path.clone(),
            limits: RateLimits::new(KINDS, SOURCES_PER_SECOND),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let interfaces = self.interfaces.get(context);
        let Self { lisp, counters, slow_path, limits, .. } = self;
        let lisp = lisp.get(context);
        if !lisp.receives() {
            exits.each(frame, |packet| Exit::from(Off::of(packet, interfaces)));
            return;
        }
        let mut ask = |interface: u16, endpoint: IpAddr| {
            // Who is not asked for now is asked for by its next packet.
            if limits.take(alike(endpoint), context.now_tsc) {
                let punt = EidWanted { interface, endpoint, packet: None };
                let _missed = slow_path.tell(Punt::EidWanted(punt));
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
        let mut last: Option<((u32, VrfId), Result<Found<'_>, Exit>)> = None;
        let mut received = ReceivedRun::new(counters);
        exits.each(frame, |packet| {
            let opened = match open(packet) {
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
            let key = (opened.instance, vrf);
            let found = match &last {
                Some((known, found)) if *known == key => *found,
                _ => last.insert((key, find(interfaces, lisp, opened.instance, vrf))).1,
            };
            let found = match found {
                Ok(found) => found,
                Err(exit) => return exit,
            };
            if let Some(sources) = &found.instance.sources {
                match sources.judge(opened.endpoint, opened.locator) {
                    LispSource::Known => {}
                    LispSource::Spoofed => return Exit::Spoofed,
                    LispSource::Unknown => {
                        ask(found.id, opened.endpoint);
                        if sources.strict {
                            return Exit::UnknownSource;
                        }
                    }
                }
            }
            packet.advance(opened.bytes);
            let marks = opened.tos & ip::ecn::MASK;
            if marks != 0 && !ecn::tell(packet.header_mut(), opened.kind, marks) {
                return Exit::Congested;
            }
            if found.instance.uniform {
                uniform::take_over(packet.header_mut(), opened.tos, opened.ttl);
            }
            packet.start_here();
            packet.set_rx(found.id);
            received.add(found.id, packet.length());
            match found.exit {
                Some(exit) => exit,
                None if opened.kind == ethertype::IPV6 => Exit::Ip6,
                None => Exit::Ip4,
            }
        });
    }
}

/// What is known of a packet for us once its headers are read.
struct Opened {
    instance: u32,
    /// Who sends it, outside and inside.
    locator: IpAddr,
    endpoint: IpAddr,
    /// Ethertype of what is inside.
    kind: u16,
    /// Octets in front of it.
    bytes: usize,
    /// Class and reach outside.
    tos: u8,
    ttl: u8,
}

/// An instance's interface, and where its packets go if not by their family.
#[derive(Clone, Copy)]
struct Found<'a> {
    id: u16,
    instance: &'a LispInstance,
    exit: Option<Exit>,
}

#[inline(always)]
fn open(packet: &PacketView<'_>) -> Result<Opened, Exit> {
    let bytes = packet.header();
    let (locator, datagram, tos, ttl): (IpAddr, _, _, _) = if ip::version(bytes) == 6 {
        let (header, datagram) = upper_layer(packet).ok_or(Exit::Truncated)?;
        (header.source_addr().into(), datagram, header.traffic_class(), header.hop_limit())
    } else {
        let header = ipv4::Header::new(bytes).ok_or(Exit::Truncated)?;
        let datagram = bytes.get(header.header_len()..).ok_or(Exit::Truncated)?;
        (header.source_addr().into(), datagram, header.tos(), header.ttl())
    };
    let rest = datagram.get(udp::Header::LEN..).ok_or(Exit::Truncated)?;
    let header = lisp::Header::new(rest).ok_or(Exit::Truncated)?;
    if !header.is_sound() {
        return Err(Exit::BadHeader);
    }
    if header.is_encrypted() {
        return Err(Exit::Encrypted);
    }
    let inside = &rest[lisp::Header::LEN..];
    let (kind, endpoint): (_, IpAddr) = match ip::version(inside) {
        4 => {
            let header = ipv4::Header::new(inside).ok_or(Exit::Truncated)?;
            (ethertype::IPV4, header.source_addr().into())
        }
        6 => {
            let header = ipv6::Header::new(inside).ok_or(Exit::Truncated)?;
            (ethertype::IPV6, header.source_addr().into())
        }
        _ if inside.is_empty() => return Err(Exit::Truncated),
        _ => return Err(Exit::WrongPayload),
    };
    let (instance, bytes) = (header.instance(), bytes.len() - inside.len());
    Ok(Opened { instance, locator, endpoint, kind, bytes, tos, ttl })
}

/// The interface of an instance, and where packets go that come in by it.
fn find<'a>(
    interfaces: &Interfaces,
    lisp: &'a Lisp,
    instance: u32,
    vrf: VrfId,
) -> Result<Found<'a>, Exit> {
    let id = interfaces.lisp(instance, vrf).ok_or(Exit::UnknownInstance)?;
    let instance = lisp.instance(id).ok_or(Exit::UnknownInstance)?;
    let exit = match interfaces.entrance(id) {
        Entrance::InterfaceDown => return Err(Exit::InterfaceDown),
        _ if interfaces.has_input_features(id) => Some(Exit::Features),
        _ if !interfaces.get(id).is_some_and(|row| row.routes) => return Err(Exit::NotRouted),
        _ => None,
    };
    Ok(Found { id, instance, exit })
}

#[cfg(test)]
mod tests;
