//! ARP and neighbour discovery on the control thread: the machine decides, this carries out.
//!
//! ```text
//!  worker: no MAC ──▶ hold the packet, need ─┐             ┌─▶ SendRequest  ──▶ injected frame
//!  worker: ARP, ND ─────▶ learned ───────────┤ Neighbors ──┼─▶ Complete     ──▶ adjacency, route
//!  clock ──▶ tick ───────────────────────────┘             └─▶ Release/Drop ──▶ held packets
//! ```

use crate::routing::{LinkOf, Routes, Wish};
use fib::FibError;
use fib::neighbor::{
    Action, DropReason, Heard, HoldQueue, Need, NeighborConfig, NeighborKey, Neighbors, ShareKey,
    ShareView,
};
use nodes::tables::{ArpHeard, Injected, Injector, NdHeard, NdSaid};
use packet::{PacketBuf, PacketCache};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::icmp6::message;
use wire::nd::flag;
use wire::{MacAddr, craft, ethernet, ip, ipv6};

/// Packets that wait for a MAC, in all: a small share of the buffers.
const MOST_HELD: usize = 1024;

/// Between two defences of an address (RFC 5227's DEFEND_INTERVAL).
const DEFEND_NS: u64 = 10_000_000_000;

/// Between two tales of one crowded share.
const CROWDED_NS: u64 = 10_000_000_000;

/// What a request needs to know of an interface: its MAC and our address towards the neighbour.
pub(crate) type SourceOf<'a> = &'a dyn Fn(u16, IpAddr) -> Option<([u8; 6], IpAddr)>;

/// The neighbours and the packets that wait for them.
pub(crate) struct Neighborhood {
    pub(crate) machine: Neighbors,
    held: HoldQueue<Held>,
    actions: Vec<Action>,
    cache: Box<dyn PacketCache>,
    injector: Injector,
    /// Frames that leave when workers have the rows of their interfaces.
    owed: Vec<(u16, Vec<u8>)>,
    /// Addresses that two stations claimed, and punts lost for want of room.
    pub(crate) conflicts: u64,
    /// When each address of ours was last defended.
    defended_ns: HashMap<(u16, IpAddr), u64>,
    /// When it was last told that a share is crowded.
    told_ns: HashMap<ShareKey, u64>,
}

struct Held {
    packet: PacketBuf,
    rx: u16,
    since_ns: u64,
}

impl Neighborhood {
    /// Nobody known yet.
    pub(crate) fn new(
        config: NeighborConfig,
        hold_packets: usize,
        cache: Box<dyn PacketCache>,
        injector: Injector,
    ) -> Self {
        Self {
            machine: Neighbors::new(config),
            held: HoldQueue::new(hold_packets, MOST_HELD),
            actions: Vec::new(),
            cache,
            injector,
            owed: Vec::new(),
            conflicts: 0,
            defended_ns: HashMap::new(),
            told_ns: HashMap::new(),
        }
    }

    /// Other times and rates, and how many packets wait for one neighbour.
    pub(crate) fn set_config(&mut self, config: NeighborConfig, hold_packets: usize) {
        self.machine.set_config(config);
        self.held.set_per_neighbor(hold_packets);
    }

    /// Calls the machine; what it wants done is done at the next [`Neighborhood::settle`].
    pub(crate) fn call(
        &mut self,
        now_ns: u64,
        call: impl FnOnce(&mut Neighbors, u64, &mut Vec<Action>),
    ) {
        call(&mut self.machine, now_ns, &mut self.actions);
    }

    /// How many packets wait.
    pub(crate) fn held_packets(&self) -> usize {
        self.held.len()
    }

    /// How many packets wait for one neighbour.
    #[cfg(test)]
    pub(crate) fn held_for(&self, key: NeighborKey) -> usize {
        self.held.len_of(key)
    }

    /// How many packets wait for each neighbour that some wait for.
    pub(crate) fn held_of_each(&self) -> HashMap<NeighborKey, usize> {
        self.held.lens().collect()
    }

    /// What routes want of their next hops.
    pub(crate) fn wish(&mut self, now_ns: u64, wishes: Vec<Wish>) {
        for wish in wishes {
            match wish {
                Wish::Pin(key, id) => {
                    // A full table leaves the adjacency incomplete: packets ask again.
                    let needed = self.machine.need(now_ns, key, id, Need::Route, &mut self.actions);
                    needed.unwrap_or_else(|error| told_full(&error));
                }
                Wish::Release(key) => self.machine.release(key),
            }
        }
    }

    /// The shares that are to be told of: somebody gave way there, or had no place.
    pub(crate) fn take_crowded(&mut self, now_ns: u64) -> Vec<ShareView> {
        let told_ns = &mut self.told_ns;
        let mut crowded = self.machine.take_crowded();
        crowded.retain(|view| {
            let last_ns = told_ns.get(&view.share).copied();
            let is_told =
                last_ns.is_some_and(|last_ns| now_ns.saturating_sub(last_ns) < CROWDED_NS);
            if !is_told {
                told_ns.insert(view.share, now_ns);
            }
            !is_told
        });
        crowded
    }

    /// A packet waits for `key`, whose adjacency is `id`. False if there is no room for it.
    pub(crate) fn hold(
        &mut self,
        now_ns: u64,
        key: NeighborKey,
        id: fib::adjacency::AdjacencyId,
        packet: PacketBuf,
    ) -> bool {
        let rx = packet.rx();
        if self.machine.need(now_ns, key, id, Need::Packet, &mut self.actions).is_err() {
            self.inject(Injected::Discard { rx, packet });
            return false;
        }
        if let Some(oldest) = self.held.hold(key, Held { packet, rx, since_ns: now_ns }) {
            self.inject(Injected::Discard { rx: oldest.rx, packet: oldest.packet });
        }
        true
    }

    /// A packet that cannot even be held.
    pub(crate) fn discard(&mut self, packet: PacketBuf) {
        let rx = packet.rx();
        self.inject(Injected::Discard { rx, packet });
    }

    /// An ARP packet was heard.
    pub(crate) fn heard(&mut self, now_ns: u64, punt: &ArpHeard) {
        let address = IpAddr::V4(Ipv4Addr::from(punt.address));
        let key = NeighborKey { interface: punt.interface, address };
        let heard = match (punt.is_gratuitous, punt.is_reply) {
            (true, _) => Heard::Gratuitous,
            (false, true) => Heard::Reply,
            (false, false) => Heard::Request,
        };
        self.machine.learned(now_ns, key, punt.mac, heard, &mut self.actions);
    }

    /// A neighbour discovery message of a neighbour's was heard.
    pub(crate) fn heard_nd(&mut self, now_ns: u64, punt: &NdHeard) {
        let (address, heard) = match punt.said {
            NdSaid::Advertised { target, solicited: true, .. } => (target, Heard::Reply),
            NdSaid::Advertised { target, .. } => (target, Heard::Gratuitous),
            NdSaid::Solicited { .. } => (punt.source, Heard::Request),
        };
        let key =
            NeighborKey { interface: punt.interface, address: Ipv6Addr::from(address).into() };
        let known = self.machine.get(key).and_then(|neighbor| neighbor.mac);
        // RFC 4861 section 7.2.5: an answer need not tell a MAC that it was sent to, and one that
        // does not override does not change what is known.
        let bears = matches!(punt.said, NdSaid::Advertised { overrides: false, .. });
        let mac = if bears { known.or(punt.mac) } else { punt.mac.or(known) };
        let differs = bears && known.is_some() && punt.mac.is_some() && known != punt.mac;
        if let Some(mac) = mac.filter(|_| !differs) {
            self.machine.learned(now_ns, key, mac, heard, &mut self.actions);
        }
    }

    /// Whoever asked something of us told its MAC.
    pub(crate) fn asked_by(&mut self, now_ns: u64, interface: u16, source: u128, mac: [u8; 6]) {
        let key = NeighborKey { interface, address: Ipv6Addr::from(source).into() };
        self.machine.learned(now_ns, key, mac, Heard::Request, &mut self.actions);
    }

    /// Somebody claims an address of ours: it is told, and announced again, at most once in
    /// [`DEFEND_NS`] (RFC 5227 section 2.4 b), so that two who claim it do not shout for ever.
    pub(crate) fn defend(
        &mut self,
        now_ns: u64,
        interface: u16,
        own: IpAddr,
        claimed: [u8; 6],
        mac: [u8; 6],
    ) {
        self.conflicts += 1;
        let last_ns = self.defended_ns.get(&(interface, own));
        if last_ns.is_some_and(|last_ns| now_ns.saturating_sub(*last_ns) < DEFEND_NS) {
            return;
        }
        self.defended_ns.insert((interface, own), now_ns);
        tracing::warn!(fault = "address-conflict", address = %own, by = %MacAddr(claimed), "our own address is claimed");
        self.announce(interface, mac, own);
    }

    /// Sends what is owed: workers have all rows by now.
    pub(crate) fn send_owed(&mut self) {
        for (interface, frame) in std::mem::take(&mut self.owed) {
            self.send(interface, &frame);
        }
    }

    /// Lets the time pass, then carries out what there is to do.
    pub(crate) fn settle(
        &mut self,
        now_ns: u64,
        routing: &mut Routes,
        link: LinkOf<'_>,
        source: SourceOf<'_>,
    ) {
        self.machine.tick(now_ns, &|id| routing.take_used(id), &mut self.actions);
        for action in std::mem::take(&mut self.actions) {
            self.carry_out(now_ns, action, routing, link, source);
        }
    }

    fn carry_out(
        &mut self,
        now_ns: u64,
        action: Action,
        routing: &mut Routes,
        link: LinkOf<'_>,
        source: SourceOf<'_>,
    ) {
        match action {
            Action::SendRequest { key, to } => self.request(now_ns, key, to, source),
            Action::Complete { adjacency, mac } => {
                // A full table costs the neighbour its host route only: it is asked for again.
                routing.complete(adjacency, mac).unwrap_or_else(|error| told_full(&error));
            }
            Action::Incomplete { adjacency } => {
                routing.incomplete(adjacency).unwrap_or_else(|error| told_full(&error));
            }
            Action::ReleaseHeld { key } => self.release(key, routing, link),
            // It gave way, and came again before it went.
            Action::DropHeld { key, reason: DropReason::Evicted }
            | Action::Forgotten { key, .. }
                if self.machine.get(key).is_some() =>
            {
                self.came_again(key, routing, link);
            }
            Action::DropHeld { key, reason } => {
                if reason == DropReason::Unanswered {
                    routing.silent(key);
                }
                self.drop_held(key, reason);
            }
            Action::Forgotten { key, .. } => {
                routing.forget(key).unwrap_or_else(|error| told_full(&error));
            }
            Action::Conflict { key, held, claimed } => {
                self.conflicts += 1;
                let (held, claimed) = (MacAddr(held), MacAddr(claimed));
                let address = key.address;
                tracing::warn!(fault = "address-conflict", %address, %claimed, %held, "an address has two stations");
            }
        }
    }

    /// What waited for a neighbour that gave way, and came again, still waits, unless its MAC came
    /// with it: nobody would release it later.
    fn came_again(&mut self, key: NeighborKey, routing: &mut Routes, link: LinkOf<'_>) {
        let is_known = self.machine.get(key).is_some_and(|neighbor| neighbor.mac.is_some());
        if is_known && self.held.len_of(key) != 0 {
            self.release(key, routing, link);
        }
    }

    fn release(&mut self, key: NeighborKey, routing: &mut Routes, link: LinkOf<'_>) {
        let adjacency = routing.adjacency(key, link).unwrap_or_else(|error| {
            told_full(&error);
            None
        });
        let waiting: Vec<Held> = self.held.release(key).collect();
        for Held { packet, rx, .. } in waiting {
            let is_ip4 = ip::version(packet.bytes()) == 4;
            let adjacency = match is_ip4 && key.address.is_ipv6() {
                true => routing.ip4_by(key),
                false => adjacency,
            };
            self.inject(match adjacency {
                Some(id) => Injected::Resolved { adjacency: id.0, rx, packet },
                None => Injected::Discard { rx, packet },
            });
        }
    }

    fn drop_held(&mut self, key: NeighborKey, reason: DropReason) {
        let waiting: Vec<Held> = self.held.release(key).collect();
        for Held { packet, rx, .. } in waiting {
            self.inject(match reason {
                DropReason::Unanswered => Injected::Unreachable { rx, packet },
                DropReason::InterfaceDown | DropReason::Flushed | DropReason::Evicted => {
                    Injected::Discard { rx, packet }
                }
            });
        }
    }

    /// Asks for a neighbour: everybody, or the MAC that is to be confirmed.
    fn request(
        &mut self,
        now_ns: u64,
        key: NeighborKey,
        to: Option<[u8; 6]>,
        source: SourceOf<'_>,
    ) {
        let interface = key.interface;
        let frame = match (key.address, source(interface, key.address)) {
            (IpAddr::V4(target), Some((mac, IpAddr::V4(own)))) => {
                arp(mac, to.unwrap_or([0xff; 6]), own, target)
            }
            (IpAddr::V6(target), Some((mac, IpAddr::V6(own)))) => solicit(mac, to, own, target),
            _ => return,
        };
        let Some(packet) = self.cache.copy_of(&frame) else {
            return self.unasked(now_ns, key);
        };
        if !self.inject(Injected::Frame { interface, packet }) {
            self.machine.unsent(now_ns, key);
        }
    }

    /// There was no buffer for a question, which follows soon. What waits for the answer does so
    /// no longer than if it had been asked in vain: it may be what has all buffers.
    fn unasked(&mut self, now_ns: u64, key: NeighborKey) {
        self.machine.no_buffer(now_ns, key);
        let patience_ns = self.machine.patience_ns();
        let is_due = |it: &Held| now_ns.saturating_sub(it.since_ns) >= patience_ns;
        for Held { packet, rx, .. } in self.held.release_due(key, is_due) {
            self.inject(Injected::Discard { rx, packet });
        }
    }

    /// Tells the link, soon, that an address is ours (RFC 5227 section 2.3, RFC 4861 section
    /// 7.2.6).
    pub(crate) fn announce(&mut self, interface: u16, mac: [u8; 6], address: IpAddr) {
        match address {
            IpAddr::V4(own) => {
                self.owed.push((interface, arp(mac, [0xff; 6], own, own)));
            }
            IpAddr::V6(own) => {
                let to = craft::ethernet(mac, MacAddr::of_ip6_group(ipv6::ALL_NODES));
                let packet = to.ipv6(own, Ipv6Addr::from(ipv6::ALL_NODES));
                let flags = flag::ROUTER | flag::OVERRIDE;
                let advertised = packet.neighbor_advertisement(own.into(), mac, flags);
                self.owed.push((interface, advertised.build()));
            }
        }
    }

    /// Asks, soon, whether anybody has an address that is to be ours (RFC 4862 section 5.4.2).
    pub(crate) fn probe(&mut self, interface: u16, mac: [u8; 6], target: u128) {
        let group = ipv6::solicited_node(target);
        let packet = craft::ethernet(mac, MacAddr::of_ip6_group(group));
        let packet = packet.ipv6(Ipv6Addr::UNSPECIFIED, Ipv6Addr::from(group));
        let probe = packet.neighbor(message::NEIGHBOR_SOLICITATION, target, 0);
        self.owed.push((interface, probe.build()));
    }

    /// Sends a whole frame.
    pub(crate) fn send(&mut self, interface: u16, frame: &[u8]) {
        // Without a buffer it is lost, as it may be on the wire: what matters is sent again.
        self.inject_copy(frame, |packet| Injected::Frame { interface, packet });
    }

    /// A packet's buffer, which nobody needs any more.
    pub(crate) fn release_buffer(&mut self, packet: PacketBuf) {
        self.cache.release_one(packet);
    }

    /// Hands a copy of `packet` to the workers. False if no buffer has room for it.
    pub(crate) fn inject_copy(
        &mut self,
        packet: &[u8],
        to: impl FnOnce(PacketBuf) -> Injected,
    ) -> bool {
        let Some(copy) = self.cache.copy_of(packet) else { return false };
        self.inject(to(copy));
        true
    }

    /// Hands a packet that waited to the workers.
    pub(crate) fn hand_over(&mut self, packet: Injected) {
        self.inject(packet);
    }

    /// Hands a packet to the workers; when their queue is full, its buffer goes back: false.
    fn inject(&mut self, injected: Injected) -> bool {
        let Err(refused) = self.injector.send(injected) else { return true };
        tracing::warn!(fault = "injection-full", "workers have too much to send: a packet is lost");
        refused.into_packet().into_iter().for_each(|packet| self.cache.release_one(packet));
        false
    }
}

/// An ARP request (RFC 826), a whole frame.
fn arp(mac: [u8; 6], to: [u8; 6], own: Ipv4Addr, target: Ipv4Addr) -> Vec<u8> {
    let request = craft::ethernet(mac, to).arp_request(mac, own, target);
    request.pad_to(ethernet::MIN_FRAME_LEN).build()
}

/// A neighbour solicitation (RFC 4861 section 7.2.2), a whole frame.
fn solicit(mac: [u8; 6], to: Option<[u8; 6]>, own: Ipv6Addr, target: Ipv6Addr) -> Vec<u8> {
    let group = ipv6::solicited_node(target.into());
    let (link, network) = match to {
        Some(known) => (MacAddr(known), target),
        None => (MacAddr::of_ip6_group(group), group.into()),
    };
    let packet = craft::ethernet(mac, link).ipv6(own, network);
    packet.neighbor_solicitation(target.into(), mac).build()
}

/// Tells that a neighbour has no room in a table.
pub(crate) fn told_full(error: &FibError) {
    tracing::warn!(fault = "neighbor-table-full", %error, "a neighbour has no room in a table");
}
