//! One bridge's mailbox: what is told and heard through it.

use super::local::Local;
use super::remote::{Links, Owner, Question, Remote, Told};
use crate::core::Core;
use control::config::objects::port::PortName;
use fib::mac::MacKey;
use fib::neighbor::NeighborKey;
use kernel::mailbox::{Mailbox, MailboxOptions};
use netlink::neighbor::NeighborChange;
use nodes::tables::BridgeId;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::ops::Bound::{Excluded, Unbounded};
use std::time::{Duration, Instant};

/// Questions in one turn.
const QUESTIONS: usize = 64;
/// What is asked of the kernel about what is gone already.
const GONE: [i32; 2] = [2, 99];

/// What a mailbox is to be, and whose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) options: MailboxOptions,
    pub(super) bridge: BridgeId,
    /// The tunnel whose remotes are told.
    pub(super) tunnel: PortName,
    /// The port that routes lead by, if it is for routes.
    pub(super) inner: Option<PortName>,
    pub(super) hold: Duration,
    /// How long the bridge remembers stations.
    pub(super) ageing: Duration,
}

/// See the module.
pub(super) struct Post {
    pub(super) wanted: Wanted,
    pub(super) mailbox: Mailbox,
    pub(super) remote: Remote,
    pub(super) local: Local,
    /// Stations that are to be put behind their ends.
    unplaced: BTreeSet<[u8; 6]>,
    /// The last that was refreshed.
    refreshed: Option<[u8; 6]>,
    /// Neighbours of the inner port, with its interface at that time.
    fixed: BTreeMap<IpAddr, (u16, [u8; 6])>,
    addresses_differ: bool,
    /// Stations that there is no room for, or that the kernel refused.
    pub(super) refused: u64,
}

impl Post {
    pub(super) fn new(wanted: Wanted, mailbox: Mailbox) -> Self {
        // FRR 8.4 takes a router out when a route to it comes by another neighbour, and leaves the
        // route.
        let remote = Remote::new(wanted.inner.is_some());
        Self {
            wanted,
            mailbox,
            remote,
            local: Local::default(),
            unplaced: BTreeSet::new(),
            refreshed: None,
            fixed: BTreeMap::new(),
            addresses_differ: false,
            refused: 0,
        }
    }

    pub(super) fn links(&self) -> Links {
        Links {
            bridge: self.mailbox.bridge(),
            stations: self.mailbox.stations(),
            remotes: self.mailbox.remotes(),
        }
    }

    /// Takes in what changed in it; or all there is, if not all was seen.
    pub(super) fn hear(&mut self, core: &mut Core, changes: &[NeighborChange], is_all: bool) {
        let (links, mut told) = (self.links(), Vec::new());
        match is_all {
            true => self.remote.hear_all(links, changes, &mut told),
            false => changes.iter().for_each(|it| self.remote.hear(links, it, &mut told)),
        }
        self.heed(core, told);
    }

    fn heed(&mut self, core: &mut Core, told: Vec<Told>) {
        for told in told {
            match told {
                Told::Station(mac, Some(to)) => {
                    self.unplaced.insert(mac);
                    let known = core.ports.get(&self.wanted.tunnel);
                    if known.is_some_and(|port| !port.told_remotes.contains_key(&to)) {
                        self.tell_remotes(core);
                    }
                }
                Told::Station(mac, None) => {
                    self.unplaced.remove(&mac);
                    self.forget(core, mac);
                }
                Told::LeftUs(mac) | Told::Lost(mac) => self.local.forget(mac),
                Told::LostAddress(address) => self.local.forget_address(address),
                Told::Floods => self.tell_remotes(core),
                Told::Addresses => self.addresses_differ = true,
            }
        }
        self.place(core);
    }

    fn key(&self, mac: [u8; 6]) -> MacKey {
        MacKey::new(self.wanted.bridge.0, mac)
    }

    /// Tells the tunnel its remotes.
    fn tell_remotes(&self, core: &mut Core) {
        let ends = self.remote.stations().map(|(_, to)| (to, false));
        let mut remotes: BTreeMap<IpAddr, bool> = ends.collect();
        remotes.extend(self.remote.floods().map(|to| (to, true)));
        core.tell_remotes(&self.wanted.tunnel, remotes);
    }

    /// Puts stations behind their ends, as far as those have an interface.
    pub(super) fn place(&mut self, core: &Core) {
        let Some(port) = core.ports.get(&self.wanted.tunnel) else { return };
        let (stations, bridge) = (&core.dataplane.stations, self.wanted.bridge.0);
        let Self { unplaced, remote, refused, .. } = self;
        unplaced.retain(|mac| {
            let Some(to) = remote.end_of(*mac) else { return false };
            let Some(row) = port.remotes.get(&to) else { return true };
            let key = MacKey::new(bridge, *mac);
            // The daemon says so now, whoever was heard before.
            let learned = stations.table.learn(key, row.id.into(), stations.now());
            *refused += u64::from(is_full(learned));
            false
        });
    }

    /// A station is behind no end any more.
    fn forget(&self, core: &Core, mac: [u8; 6]) {
        let Some(port) = core.ports.get(&self.wanted.tunnel) else { return };
        let (stations, key) = (&core.dataplane.stations, self.key(mac));
        if let Some(entry) = stations.table.lookup(key, stations.now())
            && port.rows().any(|row| u32::from(row) == entry.port)
        {
            stations.table.forget(key, entry.port);
        }
    }

    /// Has the bridge remember a part of the stations: all of them before any is too old.
    pub(super) fn refresh(&mut self, core: &Core, turn: Duration) {
        let Some(port) = core.ports.get(&self.wanted.tunnel) else { return };
        let turns = (self.wanted.ageing.as_millis() / 4 / turn.as_millis().max(1)).max(1);
        let count = self.remote.count().div_ceil(turns as usize);
        let stations = &core.dataplane.stations;
        let from = self.refreshed.map_or(Unbounded, Excluded);
        let mut last = None;
        for (mac, to) in self.remote.stations_from(from).take(count) {
            last = Some(mac);
            if let Some(row) = to.and_then(|to| port.remotes.get(&to)) {
                // One that a worker heard elsewhere is ours now: the daemon is told so.
                let _kept = stations.table.keep(self.key(mac), row.id.into(), stations.now());
            }
        }
        self.refreshed = last;
    }

    /// Asks whether what it holds is still meant, and forgets what is not.
    pub(super) fn ask(&mut self, core: &mut Core, now: Instant) {
        let hold = self.wanted.hold;
        for _ in 0..QUESTIONS {
            let Some(question) = self.remote.next_to_ask(now, hold) else { break };
            let outcome = match question {
                Question::Station(mac) => self.mailbox.ask_station(mac),
                Question::Flood(to) => self.mailbox.ask_flood(to),
                Question::Address(address) => self.mailbox.remove_address(address),
            };
            // What was taken out by its owner just now is on its way to us.
            if outcome.is_ok() {
                self.remote.asked(question, now);
            }
        }
        if !self.remote.may_give_up(now, hold) {
            return;
        }
        let inner = self.wanted.inner.as_ref().and_then(|inner| core.ports.id_of(inner));
        let used = core.routing.next_hops().into_iter().filter(|hop| hop.users > 0);
        let used = used.filter(|hop| Some(hop.key.interface) == inner).map(|hop| hop.key.address);
        let used: BTreeSet<IpAddr> = used.collect();
        let mut told = Vec::new();
        for (mac, to) in self.remote.give_up(now, hold, |it| used.contains(&it), &mut told) {
            let _gone = self.mailbox.remove_remote(mac, to);
        }
        if !told.is_empty() {
            tracing::info!(
                bridge = %self.wanted.options.bridge,
                "what nobody meant any more of EVPN is forgotten"
            );
            told.push(Told::Floods);
            self.heed(core, told);
        }
    }

    /// A station of ours is there.
    pub(super) fn tell_station(&mut self, mac: [u8; 6], is_sticky: bool, round: u32) {
        match self.mailbox.add_station(mac, is_sticky) {
            Ok(()) => self.local.told(mac, is_sticky, round),
            Err(error) => self.refuse("a station", &error),
        }
    }

    /// Stations of ours are not there any more.
    pub(super) fn take_back(&mut self, round: u32) {
        for mac in self.local.end_round(round) {
            if let Err(error) = self.mailbox.remove_station(mac) {
                self.refuse("a station", &error);
            }
        }
    }

    /// Tells which addresses our stations have.
    pub(super) fn tell_addresses(&mut self, bound: impl Iterator<Item = (IpAddr, Owner)>) {
        let (news, gone) = self.local.differing(bound);
        for address in gone {
            self.local.forget_address(address);
            let is_anothers = self.remote.owner_of(address).is_some();
            if !is_anothers && let Err(error) = self.mailbox.remove_address(address) {
                self.refuse("an address", &error);
            }
        }
        for (address, owner) in news {
            match self.mailbox.add_address(address, owner.mac, owner.is_router) {
                Ok(()) => self.local.told_address(address, owner),
                Err(error) => self.refuse("an address", &error),
            }
        }
    }

    fn refuse(&mut self, what: &str, error: &io::Error) {
        if error.raw_os_error().is_none_or(|code| !GONE.contains(&code)) {
            self.refused += 1;
            let bridge = &self.wanted.options.bridge;
            tracing::debug!(bridge, what, %error, "the kernel refuses what EVPN is to be told");
        }
    }

    /// Whether others' addresses differ from when this was last asked.
    pub(super) fn take_addresses_differ(&mut self) -> bool {
        std::mem::take(&mut self.addresses_differ)
    }

    /// Routes lead to these neighbours, by the inner port.
    pub(super) fn fix_neighbors(&mut self, core: &mut Core) {
        let inner = self.wanted.inner.as_ref().and_then(|inner| core.ports.id_of(inner));
        let wanted =
            self.remote.addresses().filter_map(|(to, owner)| Some((to, (inner?, owner.mac))));
        let wanted: BTreeMap<IpAddr, (u16, [u8; 6])> = wanted.collect();
        if wanted == self.fixed {
            return;
        }
        for (address, (interface, _)) in &self.fixed {
            if wanted.get(address).is_none_or(|(other, _)| other != interface) {
                core.free_neighbor(NeighborKey { interface: *interface, address: *address });
            }
        }
        for (address, fixed) in &wanted {
            let (interface, mac) = *fixed;
            if self.fixed.get(address) != Some(fixed) {
                let key = NeighborKey { interface, address: *address };
                if let Err(error) = core.fix_neighbor(key, mac) {
                    self.refused += 1;
                    tracing::warn!(fault = "evpn", %error, "a router of EVPN has no room");
                }
            }
        }
        self.fixed = wanted;
    }

    /// It goes, and with it what it told.
    pub(super) fn close(mut self, core: &mut Core) {
        for (address, (interface, _)) in std::mem::take(&mut self.fixed) {
            core.free_neighbor(NeighborKey { interface, address });
        }
        let macs: Vec<_> = self.remote.stations().map(|(mac, _)| mac).collect();
        macs.into_iter().for_each(|mac| self.forget(core, mac));
        core.tell_remotes(&self.wanted.tunnel, BTreeMap::new());
        if let Some(inner) = self.wanted.inner.as_ref().and_then(|it| core.ports.get_mut(it)) {
            inner.route_link = None;
        }
    }
}

fn is_full(learned: fib::mac::Learned) -> bool {
    use fib::mac::Learned::{DomainFull, TableFull};
    matches!(learned, DomainFull | TableFull)
}
