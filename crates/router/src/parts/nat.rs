//! Translations of addresses: made of the configuration, their connections swept and shown.
//!
//! ```text
//!  [connections], [nat.…], addresses of ports ─▶ Nat44 of each, on one table ─▶ rows of its ports
//!  ports whose access lists keep connections ───▶ on the same table
//!  clock ─▶ a slice of the table ─▶ what is over goes
//! ```
//! The table is there while something is translated, or an access list keeps connections. A
//! translation that a change leaves as it is keeps its connections; so does one that changes, as
//! far as they still look like that.

mod show;

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::{Makes, Part, Work};
use crate::reflected::ZONES;
use conntrack::cross::Prefix64;
use conntrack::{Pool, Table, Timeouts};
use control::config::Delta;
use control::config::change::Replaced;
use control::config::objects::connections::Connections;
use control::config::objects::nat::{self as config, Nat, NatName};
use control::config::objects::port::PortName;
use control::config::prefix::Prefix;
use control::engine::ApplyError;
use graph::tsc_hz;
use nodes::nat::{Forward, Nat44, Nat44Input, Nat44Output, Nat64Input, Translated};
use nodes::tables::Interface;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::ip::protocol;

/// Between two slices of the table.
const SLICE_NS: u64 = 100_000_000;
/// In so many slices all of it is looked at: five seconds.
const SLICES: usize = 50;

/// See the module.
#[derive(Default)]
pub(crate) struct Translating {
    limits: Connections,
    configured: BTreeMap<NatName, Nat>,
    table: Option<Arc<Table>>,
    made: BTreeMap<NatName, Arc<Nat44>>,
    /// Numbers of translations, which tell their connections apart.
    zones: BTreeMap<NatName, u16>,
    swept: usize,
    next_ns: u64,
}

impl Translating {
    /// The table, while somebody wants it, with as much room as there is to be.
    fn bring_table(&mut self, core: &mut Core) -> Option<Arc<Table>> {
        let room = self.limits.max as usize;
        let ahead = core.reflected.ahead.take().filter(|table| table.room() == room);
        if !self.is_wanted(core) {
            self.table = None;
        } else if !self.has_room(room) {
            let made = ahead.unwrap_or_else(|| Arc::new(Table::new(room, seed(core))));
            self.table = Some(made);
        }
        self.table.clone()
    }

    /// Whether somebody's connections are to be known.
    fn is_wanted(&self, core: &Core) -> bool {
        !self.configured.is_empty() || core.reflected.is_wanted
    }

    fn has_room(&self, room: usize) -> bool {
        self.table.as_ref().is_some_and(|table| table.room() == room)
    }

    /// A table with so much room: a large one takes a second.
    fn prepare_table<'a>(&self, core: &Core, room: usize) -> Option<Work<'a, Self>> {
        if self.has_room(room) {
            return None;
        }
        let seed = seed(core);
        Some(Box::new(move || {
            let table = Arc::new(Table::new(room, seed));
            Box::new(move |part: &mut Self| part.table = Some(table))
        }))
    }

    /// The number of a translation, which none beside it has.
    fn zone(&mut self, name: &NatName) -> u16 {
        let taken: Vec<u16> = self.zones.values().copied().collect();
        let free = || (1..*ZONES.start()).find(|zone| !taken.contains(zone)).unwrap_or(0);
        *self.zones.entry(name.clone()).or_insert_with(free)
    }

    /// A translation, if its port outside has an address, or it has others.
    fn make(
        &mut self,
        core: &Core,
        name: &NatName,
        nat: &Nat,
        table: &Arc<Table>,
    ) -> Option<Nat44> {
        let own = own_addresses(core);
        let addresses: Vec<RangeInclusive<u32>> = match nat.pool[..] {
            [] => {
                let first = core.ports.get(&nat.outside).and_then(first_ip4)?;
                vec![first..=first]
            }
            ref pool => pool.iter().map(|it| it.first.into()..=it.last.into()).collect(),
        };
        let first = *addresses.first()?.start();
        let forwards: Vec<Forward> = nat.forward.iter().map(|it| forward(it, first)).collect();
        let reserved =
            forwards.iter().map(|it| (it.address, it.protocol, it.ports.clone())).collect();
        let is_outer = |address: &u32| {
            addresses.iter().any(|range| range.contains(address))
                || forwards.iter().any(|forward| forward.address == *address)
        };
        let own = own.into_iter().filter(is_outer).collect();
        let ports = nat.ports.0.first..=nat.ports.0.last;
        Some(Nat44 {
            name: name.to_string(),
            table: Arc::clone(table),
            timeouts: timeouts_of(&self.limits),
            zone: self.zone(name),
            inside: nat.inside.iter().filter_map(|port| core.ports.id_of(port)).collect(),
            pool: Pool { addresses, ports, reserved },
            forwards,
            own,
            open: nat.open,
            nat64: nat.nat64.as_ref().and_then(prefix64),
        })
    }

    /// The translation of a port, and whether the port is outside.
    fn of(&self, port: &PortName) -> Option<(&Arc<Nat44>, bool)> {
        let is_of = |(_, nat): &(&NatName, &Nat)| nat.outside == *port || nat.inside.contains(port);
        let (name, nat) = self.configured.iter().find(is_of)?;
        Some((self.made.get(name)?, nat.outside == *port))
    }
}

/// What nobody outside knows.
pub(crate) fn seed(core: &Core) -> u64 {
    let given = core.clock.given_chance();
    given.unwrap_or_else(|| RandomState::new().hash_one("connections"))
}

fn first_ip4(port: &OpenPort) -> Option<u32> {
    port.config.addresses.iter().find_map(|own| match own.address() {
        IpAddr::V4(address) => Some(address.into()),
        IpAddr::V6(_) => None,
    })
}

/// All IPv4 addresses of ours.
fn own_addresses(core: &Core) -> Vec<u32> {
    let all = core.ports.values().flat_map(|port| &port.config.addresses);
    let ip4 = all.filter_map(|own| match own.address() {
        IpAddr::V4(address) => Some(address.into()),
        IpAddr::V6(_) => None,
    });
    ip4.collect()
}

/// What stands for addresses of IPv4; the configuration was asked whether it can.
fn prefix64(prefix: &Prefix) -> Option<Prefix64> {
    match prefix.address() {
        IpAddr::V6(address) => Prefix64::new(address.into(), prefix.length()),
        IpAddr::V4(_) => None,
    }
}

fn forward(it: &config::Forward, first: u32) -> Forward {
    let ports = it.port.0;
    Forward {
        address: it.address.map_or(first, Into::into),
        protocol: match it.protocol {
            config::Transport::Tcp => protocol::TCP,
            config::Transport::Udp => protocol::UDP,
        },
        ports: ports.first..=ports.last,
        to: (it.to.into(), it.to_port.unwrap_or(ports.first)),
    }
}

/// What is configured, as connections are kept by.
pub(crate) fn timeouts_of(limits: &Connections) -> Timeouts {
    let seconds = |timeout: Duration| u32::try_from(timeout.as_secs()).unwrap_or(u32::MAX);
    Timeouts {
        tcp_syn_sent: seconds(limits.tcp_syn_sent),
        tcp_syn_received: seconds(limits.tcp_syn_received),
        tcp_established: seconds(limits.tcp_established),
        tcp_unanswered: seconds(limits.tcp_unanswered),
        tcp_fin_wait: seconds(limits.tcp_fin_wait),
        tcp_close_wait: seconds(limits.tcp_close_wait),
        tcp_last_ack: seconds(limits.tcp_last_ack),
        tcp_time_wait: seconds(limits.tcp_time_wait),
        tcp_close: seconds(limits.tcp_close),
        udp: seconds(limits.udp),
        udp_stream: seconds(limits.udp_stream),
        icmp: seconds(limits.icmp),
        other: seconds(limits.other),
        tcp_loose: limits.tcp_loose,
    }
}

/// The second that it is, as workers count them.
fn now_s(core: &Core) -> u32 {
    (core.clock.tsc() / tsc_hz()) as u32
}

impl Part for Translating {
    /// Addresses and numbers of ports may be others: each translation is made anew, and stays the
    /// one it was where it is the same.
    fn settle(&mut self, core: &mut Core) {
        let table = self.bring_table(core);
        core.reflected.use_table(table.clone(), &timeouts_of(&self.limits));
        let mut made = BTreeMap::new();
        for (name, nat) in self.configured.clone() {
            let new = table.as_ref().and_then(|table| self.make(core, &name, &nat, table));
            let Some(new) = new else { continue };
            let old = self.made.get(&name).filter(|old| is_same(old, &new));
            made.insert(name, old.cloned().unwrap_or_else(|| Arc::new(new)));
        }
        let is_new = |(name, nat): (&NatName, &Arc<Nat44>)| {
            self.made.get(name).is_none_or(|old| !Arc::ptr_eq(old, nat))
        };
        if made.len() != self.made.len() || made.iter().any(is_new) {
            core.touch_rows();
        }
        self.made = made;
    }

    fn row(&self, _: &Core, name: &PortName, _: &OpenPort, row: &mut Interface) {
        let of = self.of(name);
        let translated = |(nat, _): (&Arc<Nat44>, bool)| Translated(Arc::clone(nat));
        let crosses = of.filter(|(nat, _)| nat.nat64.is_some());
        row.set::<Nat64Input>(crosses.map(translated));
        row.set::<Nat44Input>(of.map(translated));
        row.set::<Nat44Output>(of.filter(|(_, is_outside)| *is_outside).map(translated));
    }

    fn published(&mut self, core: &mut Core) {
        core.reflected.published();
    }

    fn turn(&mut self, core: &mut Core, _: Instant) -> bool {
        let Some(table) = &self.table else { return false };
        let now_ns = core.now_ns();
        if now_ns >= self.next_ns {
            let many = table.room().div_ceil(SLICES);
            self.swept = table.sweep(self.swept, many, now_s(core));
            self.next_ns = now_ns + SLICE_NS;
        }
        core.reflected.end_some(now_s(core))
    }

    fn next_due_ns(&self) -> Option<u64> {
        self.table.as_ref().map(|_| self.next_ns)
    }
}

/// Whether workers see no difference.
fn is_same(old: &Nat44, new: &Nat44) -> bool {
    let Nat44 { name, table, timeouts, zone, inside, pool, forwards, own, open, nat64 } = new;
    Arc::ptr_eq(&old.table, table)
        && (&old.name, &old.timeouts, &old.zone, &old.inside) == (name, timeouts, zone, inside)
        && (&old.pool, &old.forwards, &old.own) == (pool, forwards, own)
        && (&old.open, &old.nat64) == (open, nat64)
}

impl Makes<Replaced<Connections>> for Translating {
    fn prepare<'a>(
        &self,
        core: &Core,
        change: &'a Replaced<Connections>,
    ) -> Option<Work<'a, Self>> {
        let room = change.new.max as usize;
        let of_nat = match self.is_wanted(core) {
            true => self.prepare_table(core, room),
            false => None,
        };
        let known = Arc::clone(&core.flow_connections);
        if known.made().is_none() {
            return of_nat;
        }
        let timeouts = timeouts_of(&change.new);
        Some(Box::new(move || {
            known.prepare(room, timeouts);
            of_nat.map_or_else(|| Box::new(|_: &mut Self| ()) as Box<_>, |work| work())
        }))
    }

    fn make(&mut self, core: &mut Core, change: &Replaced<Connections>) -> Result<(), ApplyError> {
        self.limits = change.new.clone();
        core.reflected.room = self.limits.max as usize;
        core.flow_connections.set(self.limits.max as usize, timeouts_of(&self.limits));
        Ok(())
    }
}

impl Makes<Delta<NatName, Nat>> for Translating {
    fn prepare<'a>(&self, core: &Core, change: &'a Delta<NatName, Nat>) -> Option<Work<'a, Self>> {
        change.outcome().1.and_then(|_| self.prepare_table(core, self.limits.max as usize))
    }

    fn make(&mut self, core: &mut Core, change: &Delta<NatName, Nat>) -> Result<(), ApplyError> {
        let (name, config) = change.outcome();
        core.touch_rows();
        match config {
            Some(config) => drop(self.configured.insert(name.clone(), config.clone())),
            None => {
                self.configured.remove(name);
                self.zones.remove(name);
            }
        }
        Ok(())
    }
}
