//! Puts packets to endpoints of other sites into packets to their locators (RFC 9300, sections 5
//! and 12).
//!
//! ```text
//!                                ┌▶ ip4_rewrite, ip6_rewrite   to a locator, or natively
//!  interface_output, inject ─▶ lisp_encap ┼▶ ip_resolve                 the locator is on a link of ours
//!                                ├▶ lisp_resolve               nobody knows the endpoint yet
//!                                └▶ drop
//! ```
//! Each packet costs a lookup in the map cache; the way to a locator is looked up once for packets
//! that follow each other. What is sent is counted here.

use super::inner::flow_of_packet;
use crate::ip::{MemberPicker, ip_resolve, leaves_by};
use crate::tables::{
    Ends, Interfaces, Kind, Link, Lisp, LispInstance, LispLink, Setup, Vrfs, WorkerCounters,
};
use crate::tunnel::TunnelHeaders;
use fib::Forward;
use fib::adjacency::AdjacencyTable;
use fib::ecmp::GroupId;
use graph::{Context, Exits, Node, Published};
use packet::{Frame, PacketView};
use std::sync::Arc;
use wire::{ip, ipv4, ipv6};

/// See the module.
pub struct LispEncap {
    interfaces: Published<Interfaces>,
    lisp: Published<Lisp>,
    vrfs: Published<Vrfs>,
    adjacencies: Arc<AdjacencyTable>,
    counters: Arc<WorkerCounters>,
    members: MemberPicker,
}

graph::exits! {
    /// What becomes of a packet to an endpoint of another site.
    pub enum Exit {
        /// An IPv4 packet of ours to a locator, or one that is forwarded natively.
        Rewrite4 => node "ip4-rewrite",
        /// An IPv6 packet of ours to a locator, or one that is forwarded natively.
        Rewrite6 => node "ip6-rewrite",
        /// To a neighbour that is not known yet.
        Resolve => node "ip-resolve" cause ip_resolve::INTERFACE,
        /// The map cache does not know the endpoint: it is asked for, and the packet waits.
        Ask => node "lisp-resolve",
        /// The map cache says that packets to the endpoint are dropped.
        Dropped => drop "Nothing, if the endpoint is to be closed: `volley show lisp-cache` has the \
            entry that says so.",
        /// No room for the headers in front of the packet: too many tunnels inside each other.
        NoHeadroom => drop "Fewer tunnels and tags inside each other.",
        /// No IP packet.
        NoPacket => drop "The sender, or a device on the way, makes wrong packets: capture some and \
            look who it is.",
        /// No route of the underlay leads to the locator, or to the endpoint where it is to be
        /// forwarded natively, or one that forbids it.
        NoRoute => drop "Give the underlay a route to the locators: `volley show lisp-cache`, \
            `volley lookup ADDRESS`.",
        /// It is to be forwarded natively, and the underlay's route leads here again.
        NativeLoop => drop "Give the endpoints a VRF of their own, or a `petr` to the port.",
        /// The locator is an address of ours.
        ToOurselves => drop "Give the endpoints a route that is longer than that into the port; \
            `volley show lisp-cache` has the entry.",
        /// It came by LISP, and leaves by it again: a ring of sites perhaps.
        Hairpin => drop "Correct the route that leads it back, or set `reencapsulate` at the port.",
        /// The entry was changed while the packet was under way.
        EntryGone => drop "Nothing, if it ends: the map cache changed just then.",
    }
}

/// An interface as packets leave by it.
struct Leaves<'a> {
    link: LispLink,
    instance: &'a LispInstance,
}

/// A locator, and where packets to it go.
struct Way<'a> {
    locator: u32,
    headers: &'a TunnelHeaders,
    to: Forward,
    exit: Exit,
}

impl<'a> Way<'a> {
    fn new(locator: u32, headers: &'a TunnelHeaders, to: Forward) -> Self {
        let is_ip6 = matches!(headers.tunnel.key.ends, Ends::V6 { .. });
        Self { locator, headers, to, exit: exit_of(to, is_ip6) }
    }
}

impl Node for LispEncap {
    const NAME: &'static str = "lisp-encap";
    const ABOUT: &'static str = "wraps packets to endpoints of other sites";
    const BEGINS_AGAIN: bool = true;
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            lisp: setup.shared.lisp.clone(),
            vrfs: setup.shared.vrfs.clone(),
            adjacencies: Arc::clone(&setup.shared.adjacencies),
            counters: Arc::clone(&setup.counters),
            members: MemberPicker::new(setup),
        }
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let (interfaces, vrfs) = (self.interfaces.get(context), self.vrfs.get(context));
        let lisp = self.lisp.get(context);
        let leaves_by = |tx: u16| {
            let Link::Lisp(link) = interfaces.get(tx)?.link else { return None };
            Some(Leaves { link, instance: lisp.instance(tx)? })
        };
        let mut tx = frame.tx()[0];
        let mut leaves = leaves_by(tx);
        let mut last: Option<Way<'_>> = None;
        let (mut packets, mut octets) = (0, 0);
        exits.each(frame, |packet| {
            if packet.tx() != tx {
                self.counters.count_sent(tx, packets, octets);
                (tx, packets, octets) = (packet.tx(), 0, 0);
                leaves = leaves_by(tx);
            }
            let Some(leaves) = &leaves else { return Exit::EntryGone };
            let bytes = packet.length() as u64;
            // What was in front of the packet is of no use any more.
            packet.start_here();
            if packet.rx() == tx && !leaves.link.reencapsulates {
                return Exit::Hairpin;
            }
            let word = match self.word(packet, leaves, vrfs) {
                Ok(word) => word,
                Err(exit) => {
                    if matches!(exit, Exit::Rewrite4 | Exit::Rewrite6 | Exit::Resolve) {
                        (packets, octets) = (packets + 1, octets + bytes);
                    }
                    return exit;
                }
            };
            let way = match &last {
                Some(way) if way.locator == word.id() => way,
                _ => {
                    let Some(headers) = lisp.locator(word.id()) else { return Exit::EntryGone };
                    last.insert(Way::new(word.id(), headers, headers.tunnel.way(vrfs)))
                }
            };
            match self.send(packet, way) {
                Ok(exit) => {
                    (packets, octets) = (packets + 1, octets + bytes);
                    exit
                }
                Err(exit) => exit,
            }
        });
        self.counters.count_sent(tx, packets, octets);
    }
}

impl LispEncap {
    /// The word of the locator that a packet goes to, or what else becomes of it.
    #[inline(always)]
    fn word(
        &self,
        packet: &mut PacketView<'_>,
        leaves: &Leaves<'_>,
        vrfs: &Vrfs,
    ) -> Result<Forward, Exit> {
        let bytes = packet.header();
        let maps = &leaves.instance.maps;
        let word = match ip::version(bytes) {
            4 => {
                let header = ipv4::Header::new(bytes).ok_or(Exit::NoPacket)?;
                maps.ip4.lookup(header.destination())
            }
            6 => {
                let header = ipv6::Header::new(bytes).ok_or(Exit::NoPacket)?;
                maps.ip6.lookup(header.destination())
            }
            _ => return Err(Exit::NoPacket),
        };
        if word.kind() == Kind::Rewrite as u8 {
            return Ok(word);
        }
        let word = match word.kind() == Kind::Group as u8 {
            true => self.members.pick_one(GroupId(word.id()), bytes, packet.rx()),
            false => word,
        };
        match word.kind() {
            kind if kind == Kind::Rewrite as u8 => Ok(word),
            kind if kind == Kind::NoRoute as u8 => Err(Exit::Ask),
            kind if kind == Kind::Vrf as u8 => Err(self.natively(packet, leaves, vrfs)),
            kind if kind == Kind::Unreachable as u8 => Err(Exit::NoRoute),
            _ => Err(Exit::Dropped),
        }
    }

    /// Forwards a packet as if there were no LISP.
    #[inline(never)]
    fn natively(&self, packet: &mut PacketView<'_>, leaves: &Leaves<'_>, vrfs: &Vrfs) -> Exit {
        let bytes = packet.header();
        let is_ip6 = ip::version(bytes) == 6;
        let to = match (ipv4::Header::new(bytes), ipv6::Header::new(bytes)) {
            (_, Some(header)) if is_ip6 => leaves.link.native(vrfs, header.destination()),
            (Some(header), _) => leaves.link.native(vrfs, header.destination()),
            _ => return Exit::NoPacket,
        };
        let to = match to.kind() == Kind::Group as u8 {
            true => self.members.pick_one(GroupId(to.id()), bytes, packet.rx()),
            false => to,
        };
        if leaves_by(to, &self.adjacencies) == Some(packet.tx()) {
            return Exit::NativeLoop;
        }
        packet.set_adjacency(to.id());
        exit_of(to, is_ip6)
    }

    /// Wraps a packet, and names its way; what is dropped is an error.
    #[inline(always)]
    fn send(&self, packet: &mut PacketView<'_>, way: &Way<'_>) -> Result<Exit, Exit> {
        if !packet.prepend(way.headers.bytes()) {
            return Err(Exit::NoHeadroom);
        }
        way.headers.write(packet.header_mut());
        // Packets of our own have come from the interface: errors about them are known by that.
        let (tx, came_by) = (packet.tx(), packet.rx());
        packet.set_rx(tx);
        let (to, exit) = match way.to.kind() == Kind::Group as u8 {
            true => self.member(packet.header(), way, came_by),
            false => (way.to, way.exit),
        };
        packet.set_adjacency(to.id());
        match exit {
            Exit::Rewrite4 | Exit::Rewrite6 | Exit::Resolve => Ok(exit),
            exit => Err(exit),
        }
    }

    /// The next hop of several that a wrapped packet takes, by the flow inside.
    #[inline(never)]
    fn member(&self, packet: &[u8], way: &Way<'_>, came_by: u16) -> (Forward, Exit) {
        let inside = packet.get(way.headers.bytes()..).unwrap_or_default();
        let (group, flow) = (GroupId(way.to.id()), flow_of_packet(inside));
        let to = self.members.pick_inside(group, flow, Some(inside), came_by);
        (to, Way::new(way.locator, way.headers, to).exit)
    }
}

/// Where packets leave that a route of the underlay leads there.
#[inline(always)]
fn exit_of(to: Forward, is_ip6: bool) -> Exit {
    let is = |kind: Kind| to.kind() == kind as u8;
    match is_ip6 {
        false if is(Kind::Rewrite) => Exit::Rewrite4,
        true if is(Kind::Rewrite) => Exit::Rewrite6,
        _ if is(Kind::Glean) => Exit::Resolve,
        _ if is(Kind::Local) => Exit::ToOurselves,
        _ => Exit::NoRoute,
    }
}

#[cfg(test)]
mod tests;
