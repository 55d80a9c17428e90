//! Looking destinations up: the same for both families, whose nodes differ in their exits.
//!
//! ```text
//!  frame ─▶ destinations ─▶ table of the VRF ─▶ word: kind and id ─▶ a group's member by flow
//!                              ▲                 │
//!                              └── another VRF ──┘   a few times at most
//! ```
//! Where the default VRF is the only one the whole vector is looked up in its table, after one
//! branch. Among several, packets of one VRF that follow each other are looked up together.

use crate::ip::{MemberPicker, ip4_flow, ip6_flow, split_words};
use crate::tables::{Interfaces, Kind, Setup, VrfId, VrfTables, Vrfs};
use fib::Forward;
use fib::ip4::Ip4Table;
use fib::ip6::{Ip6Ahead, Ip6Table};
use graph::{Context, Published};
use packet::{Frame, VECTOR, vectorized};
use wire::{ipv4, ipv6};

/// How often one packet may be led on to another VRF.
pub const MOST_LED_ON: usize = 4;

/// An address that routes are looked up for.
pub trait RouteAddress: Copy + Default {
    /// The tables of its family.
    type Table;

    /// What asks for their memory ahead of a lookup.
    type Ahead;

    /// The destination of a packet, from its network header on.
    fn destination(packet: &[u8]) -> Option<Self>;

    /// Its family's table of a VRF.
    fn table(tables: &VrfTables) -> &Self::Table;

    /// Ready to ask for a table's memory.
    fn ahead(table: &Self::Table) -> Self::Ahead;

    /// Asks for the memory that a lookup of it will want.
    fn ask(self, ahead: &Self::Ahead);

    /// Where packets to one address go.
    fn find(self, table: &Self::Table) -> Forward;

    /// Where packets to many addresses go, as bits of [`Forward`].
    fn find_all(table: &Self::Table, addresses: &[Self], found: &mut [u32]);

    /// The same by all routes but the default one.
    fn find_all_specific(table: &Self::Table, addresses: &[Self], found: &mut [u32]);

    /// The flow that a packet is of.
    fn flow(seed: u32, packet: &[u8]) -> u32;
}

impl RouteAddress for u32 {
    type Table = Ip4Table;
    /// Its bulk lookup asks by itself.
    type Ahead = ();

    #[inline(always)]
    fn destination(packet: &[u8]) -> Option<Self> {
        ipv4::Header::new(packet).map(|header| header.destination())
    }

    fn table(tables: &VrfTables) -> &Ip4Table {
        &tables.ip4
    }

    #[inline(always)]
    fn ahead(_: &Ip4Table) {}

    #[inline(always)]
    fn ask(self, _: &()) {}

    fn find(self, table: &Ip4Table) -> Forward {
        table.lookup(self)
    }

    #[inline]
    fn find_all(table: &Ip4Table, addresses: &[Self], found: &mut [u32]) {
        table.lookup_bulk(addresses, found);
    }

    fn find_all_specific(table: &Ip4Table, addresses: &[Self], found: &mut [u32]) {
        table.lookup_bulk_specific(addresses, found);
    }

    fn flow(seed: u32, packet: &[u8]) -> u32 {
        ip4_flow(seed, packet)
    }
}

impl RouteAddress for u128 {
    type Table = Ip6Table;
    type Ahead = Ip6Ahead;

    #[inline(always)]
    fn destination(packet: &[u8]) -> Option<Self> {
        ipv6::Header::new(packet).map(|header| header.destination())
    }

    fn table(tables: &VrfTables) -> &Ip6Table {
        &tables.ip6
    }

    #[inline(always)]
    fn ahead(table: &Ip6Table) -> Ip6Ahead {
        table.ahead()
    }

    #[inline(always)]
    fn ask(self, ahead: &Ip6Ahead) {
        ahead.ask(self);
    }

    fn find(self, table: &Ip6Table) -> Forward {
        table.lookup(self)
    }

    #[inline]
    fn find_all(table: &Ip6Table, addresses: &[Self], found: &mut [u32]) {
        table.lookup_bulk(addresses, found);
    }

    fn find_all_specific(table: &Ip6Table, addresses: &[Self], found: &mut [u32]) {
        table.lookup_bulk_specific(addresses, found);
    }

    fn flow(seed: u32, packet: &[u8]) -> u32 {
        ip6_flow(seed, packet)
    }
}

/// What the two lookup nodes are.
pub struct RouteLookup<A> {
    interfaces: Published<Interfaces>,
    vrfs: Published<Vrfs>,
    members: MemberPicker,
    destinations: [A; VECTOR],
    found: [u32; VECTOR],
}

impl<A: RouteAddress> RouteLookup<A> {
    /// As all workers look up.
    pub fn new(setup: &Setup) -> Self {
        Self {
            interfaces: setup.shared.interfaces.clone(),
            vrfs: setup.shared.vrfs.clone(),
            members: MemberPicker::new(setup),
            destinations: [A::default(); VECTOR],
            found: [0; VECTOR],
        }
    }

    /// Finds the kind of each packet's route, which is an exit's number, and its id, which goes
    /// into the frame.
    #[inline]
    pub fn look_up(&mut self, frame: &mut Frame, kinds: &mut [u8], context: &Context<'_>) {
        frame.each(|packet| {
            let destination = A::destination(packet.header()).unwrap_or_default();
            self.destinations[packet.index() % VECTOR] = destination;
        });
        self.find(frame, 0, kinds, context);
    }

    /// Room for the packets' destinations, to have them found.
    pub fn destinations_mut(&mut self) -> &mut [A; VECTOR] {
        &mut self.destinations
    }

    /// The same, of destinations that were read, and packets behind so many octets of `link`
    /// header.
    #[inline]
    pub fn find(
        &mut self,
        frame: &mut Frame,
        link: usize,
        kinds: &mut [u8],
        context: &Context<'_>,
    ) {
        let count = frame.len();
        let vrfs = self.vrfs.get(context);
        match vrfs.only().map(A::table) {
            Some(table) => {
                let (ahead, destinations) = (A::ahead(table), &self.destinations[..count]);
                destinations.iter().for_each(|destination| destination.ask(&ahead));
                A::find_all(table, destinations, &mut self.found[..count]);
            }
            None => self.find_by_vrf(frame.rx(), vrfs, self.interfaces.get(context)),
        }
        let ids = frame.adjacencies_mut();
        vectorized(|| split_words(&self.found[..count], &mut kinds[..count], ids));
        self.members.pick(frame, link, &mut kinds[..count], A::flow);
    }

    #[inline(never)]
    fn find_by_vrf(&mut self, rx: &[u16], vrfs: &Vrfs, interfaces: &Interfaces) {
        let mut start = 0;
        for run in rx.chunk_by(|a, b| a == b || interfaces.vrf(*a) == interfaces.vrf(*b)) {
            let slots = start..start + run.len();
            let (found, addresses) = (&mut self.found[slots.clone()], &self.destinations[slots]);
            match vrfs.of(interfaces, run[0]) {
                Some(tables) => A::find_all(A::table(tables), addresses, found),
                None => found.fill(Forward::NONE.bits()),
            }
            for (found, address) in found.iter_mut().zip(addresses) {
                *found = led_on(vrfs, *address, Forward::from_bits(*found)).bits();
            }
            start += run.len();
        }
    }
}

/// Where a packet to `address` goes that a route led to `first`: from VRF to VRF, not too often.
fn led_on<A: RouteAddress>(vrfs: &Vrfs, address: A, first: Forward) -> Forward {
    let mut to = first;
    for _ in 0..MOST_LED_ON {
        if to.kind() != Kind::Vrf as u8 {
            break;
        }
        let tables = vrfs.get(VrfId(to.id() as u16));
        to = tables.map_or(Forward::NONE, |tables| address.find(A::table(tables)));
    }
    to
}

/// The routes of one packet's VRF.
#[derive(Clone, Copy)]
pub struct PacketRoutes<'a> {
    vrfs: &'a Vrfs,
    own: Option<&'a VrfTables>,
}

impl<'a> PacketRoutes<'a> {
    /// Those of packets that came in by interface `rx`.
    #[inline]
    pub fn new(vrfs: &'a Vrfs, interfaces: &Interfaces, rx: u16) -> Self {
        Self { vrfs, own: vrfs.of(interfaces, rx) }
    }

    /// Those of packets in a VRF.
    pub fn of_vrf(vrfs: &'a Vrfs, vrf: VrfId) -> Self {
        Self { vrfs, own: vrfs.get(vrf) }
    }

    /// Where packets to an address go.
    pub fn to<A: RouteAddress>(&self, address: A) -> Forward {
        let first = self.own.map_or(Forward::NONE, |tables| address.find(A::table(tables)));
        led_on(self.vrfs, address, first)
    }

    /// True if the address is one of ours.
    pub fn are_ours<A: RouteAddress>(&self, address: A) -> bool {
        self.to(address).kind() == Kind::Local as u8
    }
}

/// Stops the build where the exits of a lookup, in this order, are not numbered as the kinds of
/// routes are: a route's kind is the number of its exit.
pub(super) const fn numbered_as_kinds(exits: [u8; 10]) {
    let kinds = [
        Kind::NoRoute,
        Kind::Rewrite,
        Kind::Local,
        Kind::Glean,
        Kind::Blackhole,
        Kind::Unreachable,
        Kind::Prohibit,
        Kind::Martian,
        Kind::Link,
        Kind::Vrf,
    ];
    let mut at = 0;
    while at < kinds.len() {
        assert!(exits[at] == kinds[at] as u8);
        at += 1;
    }
    assert!(kinds.len() == Kind::Group as usize);
}
