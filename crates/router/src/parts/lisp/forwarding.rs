//! What workers forward LISP's packets by: words of endpoints, groups of locators, headers.
//!
//! ```text
//!  map cache ─▶ the usable locators of the lowest priority ┬▶ one: its number
//!                                                          ├▶ several: a group, by weight
//!                                                          └▶ none: what the entry says, or no route
//! ```
//! Locators are published before words lead to them, and their numbers are used again only when no
//! worker can hold an old word. Owned by the control thread.

use super::lisp_of;
use crate::core::Core;
use control::config::objects::port::PortName;
use control::config::objects::port_kind::lisp::{Lisp as LispConfig, SourceCheck};
use fib::ecmp::{GroupId, Member};
use fib::{FibError, Forward, Prefix};
use lisp::{Entry, MapCache};
use nodes::ip::PacketRoutes;
use nodes::tables::{
    Ends, Inside, Kind, Lisp, LispInstance, LispLink, LispSources, Tunnel, VrfId, VrfTables, Wrap,
};
use nodes::tunnel::TunnelHeaders;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::lisp::{Action, Eid, Locator};

/// Until the number of a locator is used again.
const QUARANTINE: Duration = Duration::from_secs(10);
/// The id of a word that has no meaning but its kind: a word is never all zeroes.
const PLAIN: u32 = 1;

/// See the module.
#[derive(Default)]
pub(super) struct Forwarding {
    instances: BTreeMap<u16, Instance>,
    words: BTreeMap<(u16, Eid), Word>,
    /// By interface and address.
    locators: BTreeMap<(u16, IpAddr), Known>,
    /// By number; none of those that are free or in quarantine.
    headers: Vec<Option<Arc<TunnelHeaders>>>,
    free: VecDeque<(Instant, u32)>,
    is_server: bool,
    /// What workers have is not what is known here.
    differs: bool,
    /// There was no room, as was told.
    is_full: bool,
}

/// The locators of each network.
type Sites = BTreeMap<Eid, Arc<[IpAddr]>>;

/// A port of LISP.
struct Instance {
    name: PortName,
    config: LispConfig,
    link: LispLink,
    maps: VrfTables,
    sources: Option<(Sites, LispSources)>,
}

/// Where packets to a network go now, by a group perhaps.
#[derive(Clone, PartialEq)]
struct Word {
    to: Forward,
    group: Option<GroupId>,
    members: Vec<Member>,
}

struct Known {
    number: u32,
    tunnel: Tunnel,
    /// What tells its packets from those that others made up.
    nonce: u32,
}

/// What a locator is good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    Used,
    Standby,
    /// Priority 255.
    Unused,
    /// Its site says so.
    Unreachable,
    /// Probes are not answered.
    Silent,
    NoRoute,
    /// Of a family, or of a kind, that nothing can be sent to.
    NoFamily,
}

/// What an interface of LISP is to workers.
pub(super) fn link_of(config: &LispConfig, core: &Core) -> LispLink {
    let mut own = config.locators.iter().map(|own| own.address);
    let local4 = own.find_map(|own| match own {
        IpAddr::V4(own) => Some(own.into()),
        IpAddr::V6(_) => None,
    });
    let mut own = config.locators.iter().map(|own| own.address);
    let local6 = own.find_map(|own| match own {
        IpAddr::V6(own) => Some(own.into()),
        IpAddr::V4(_) => None,
    });
    LispLink {
        instance: config.instance_id,
        underlay: core.vrfs.of(config.underlay_vrf.as_ref()),
        local4,
        local6,
        reencapsulates: config.reencapsulate,
    }
}

/// Why a locator cannot be used, if it cannot.
fn fault(
    link: &LispLink,
    locator: &Locator,
    core: &Core,
    is_silent: &impl Fn(IpAddr) -> bool,
) -> Option<Use> {
    let Some(address) = locator.address else { return Some(Use::NoFamily) };
    let is_spoken = match address {
        IpAddr::V4(_) => link.local4.is_some(),
        IpAddr::V6(_) => link.local6.is_some(),
    };
    match () {
        () if !is_spoken => Some(Use::NoFamily),
        () if locator.priority == u8::MAX => Some(Use::Unused),
        () if !locator.is_reachable => Some(Use::Unreachable),
        () if is_silent(address) => Some(Use::Silent),
        () if !has_way(core, link.underlay, address) => Some(Use::NoRoute),
        () => None,
    }
}

/// Whether the underlay forwards packets to an address.
fn has_way(core: &Core, underlay: VrfId, address: IpAddr) -> bool {
    let routes = PacketRoutes::of_vrf(core.dataplane.vrfs(), underlay);
    let to = match address {
        IpAddr::V4(address) => routes.to(u32::from(address)),
        IpAddr::V6(address) => routes.to(u128::from(address)),
    };
    [Kind::Rewrite, Kind::Glean, Kind::Group].iter().any(|kind| to.kind() == *kind as u8)
}

/// What each locator of an entry is good for.
pub(super) fn uses(
    link: &LispLink,
    entry: &Entry,
    core: &Core,
    is_silent: &impl Fn(IpAddr) -> bool,
) -> Vec<Use> {
    let faults: Vec<Option<Use>> =
        entry.locators.iter().map(|it| fault(link, it, core, is_silent)).collect();
    let usable = entry.locators.iter().zip(&faults).filter(|(_, fault)| fault.is_none());
    let best = usable.map(|(it, _)| it.priority).min();
    let of = |(it, fault): (&Locator, Option<Use>)| match fault {
        Some(fault) => fault,
        None if Some(it.priority) == best => Use::Used,
        None => Use::Standby,
    };
    entry.locators.iter().zip(faults).map(of).collect()
}

impl Forwarding {
    /// Whether there are no ports of LISP.
    pub(super) fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// The numbers of instances.
    pub(super) fn numbers(&self) -> BTreeSet<u32> {
        self.instances.values().map(|it| it.config.instance_id).collect()
    }

    /// The number of a port's instance.
    pub(super) fn number_of(&self, port: &PortName) -> Option<u32> {
        let it = self.instances.values().find(|it| it.name == *port)?;
        Some(it.config.instance_id)
    }

    /// The number of an interface's instance.
    pub(super) fn number_at(&self, interface: u16) -> Option<u32> {
        self.instances.get(&interface).map(|it| it.config.instance_id)
    }

    /// The port of an instance, and what it is to workers.
    pub(super) fn port_of(&self, number: u32) -> Option<(&PortName, &LispLink)> {
        let it = self.instances.values().find(|it| it.config.instance_id == number)?;
        Some((&it.name, &it.link))
    }

    /// Our locators of an instance.
    pub(super) fn own_locators(&self, number: u32) -> Vec<IpAddr> {
        let of = self.instances.values().filter(|it| it.config.instance_id == number);
        of.flat_map(|it| it.config.locators.iter().map(|own| own.address)).collect()
    }

    /// Our locators of all instances.
    pub(super) fn all_own_locators(&self) -> Vec<IpAddr> {
        let locators = self.instances.values().flat_map(|it| &it.config.locators);
        locators.map(|own| own.address).collect()
    }

    /// The locators of other sites, each with a network that it is said to reach.
    pub(super) fn locators_of(&self, cache: &MapCache) -> BTreeMap<IpAddr, Eid> {
        let usable = cache.each().flat_map(|(eid, _, entry)| {
            entry.locators.iter().filter_map(move |it| Some((it.usable()?, *eid)))
        });
        usable.collect()
    }

    /// Follows the ports that there are.
    pub(super) fn set_instances(&mut self, core: &Core) {
        let mut wanted = BTreeMap::new();
        for (name, port) in core.ports.iter() {
            if let Some(config) = lisp_of(port) {
                wanted.insert(port.id, (name.clone(), config.clone(), link_of(config, core)));
            }
        }
        let gone: Vec<u16> =
            self.instances.keys().copied().filter(|id| !wanted.contains_key(id)).collect();
        for id in gone {
            self.remove(core, id);
        }
        for (id, (name, config, link)) in wanted {
            match self.instances.get_mut(&id) {
                Some(it) if (&it.name, &it.config, &it.link) == (&name, &config, &link) => continue,
                // The same network of endpoints, otherwise wrapped.
                Some(it) if it.name == name && it.link.instance == link.instance => {
                    (it.config, it.link) = (config, link);
                }
                _ => {
                    self.remove(core, id);
                    match core.dataplane.make_vrf_tables() {
                        Ok(maps) => {
                            let it = Instance { name, config, link, maps, sources: None };
                            self.instances.insert(id, it);
                        }
                        Err(error) => {
                            tracing::warn!(fault = "lisp-full", port = %name, %error,
                                "a port of LISP has no room for its map cache");
                        }
                    }
                }
            }
            self.differs = true;
        }
    }

    fn remove(&mut self, core: &Core, id: u16) {
        if self.instances.remove(&id).is_none() {
            return;
        }
        self.words.retain(|(of, _), word| {
            let stays = *of != id;
            let group = word.group.filter(|_| !stays);
            group.into_iter().for_each(|group| core.dataplane.groups.remove(group));
            stays
        });
        self.differs = true;
    }

    /// Has workers forward by what is known now.
    pub(super) fn refresh(
        &mut self,
        core: &mut Core,
        cache: &MapCache,
        is_silent: impl Fn(IpAddr) -> bool,
        is_server: bool,
    ) {
        self.differs |= std::mem::replace(&mut self.is_server, is_server) != is_server;
        let (now, mut wanted, mut used) = (core.clock.now(), BTreeMap::new(), BTreeSet::new());
        for (eid, _, entry) in cache.each() {
            let at = self.instances.iter().find(|(_, it)| it.link.instance == eid.instance());
            let Some((&id, instance)) = at else { continue };
            let (link, petr) = (instance.link, instance.config.petr);
            let uses = uses(&link, entry, core, &is_silent);
            let mut members = Vec::new();
            for (locator, of) in entry.locators.iter().zip(uses) {
                if let (Some(address), Use::Used) = (locator.address, of) {
                    let number = self.number(now, id, address);
                    used.insert((id, address));
                    let to = Forward::new(Kind::Rewrite as u8, number);
                    members.push(Member { to, weight: u32::from(locator.weight).max(1) });
                }
            }
            if let (true, Action::Native, Some(petr)) =
                (entry.locators.is_empty(), entry.action, petr)
            {
                let number = self.number(now, id, petr);
                used.insert((id, petr));
                let to = Forward::new(Kind::Rewrite as u8, number);
                members.push(Member { to, weight: 1 });
            }
            wanted.insert((id, *eid), (members, entry));
        }
        self.look_at_sources(core, cache);
        if std::mem::take(&mut self.differs) {
            core.dataplane.set_lisp(self.table());
        }
        let outcome = self.write(core, wanted);
        self.tell_full(outcome);
        self.retire(now, &used);
    }

    /// The number of a locator, its first one if it had none, or if packets to it look otherwise.
    fn number(&mut self, now: Instant, id: u16, address: IpAddr) -> u32 {
        let nonce = self.locators.get(&(id, address)).map_or_else(fresh_nonce, |it| it.nonce);
        let tunnel = self.instances.get(&id).and_then(|it| tunnel_to(it, address, nonce));
        let Some(tunnel) = tunnel else { return Forward::MAX_ID };
        match self.locators.get(&(id, address)) {
            Some(known) if known.tunnel == tunnel => return known.number,
            Some(known) => self.free.push_back((now, known.number)),
            None => {}
        }
        let is_rested =
            |(since, _): &(Instant, u32)| now.saturating_duration_since(*since) > QUARANTINE;
        let number = match self.free.front().filter(|it| is_rested(it)) {
            Some(&(_, number)) => {
                self.free.pop_front();
                number
            }
            None => {
                self.headers.push(None);
                self.headers.len() as u32 - 1
            }
        };
        self.headers[number as usize] = Some(Arc::new(TunnelHeaders::new(tunnel)));
        self.locators.insert((id, address), Known { number, tunnel, nonce });
        self.differs = true;
        number
    }

    /// Locators that no word leads to any more are forgotten, and their numbers rest.
    fn retire(&mut self, now: Instant, used: &BTreeSet<(u16, IpAddr)>) {
        let Self { locators, free, .. } = self;
        locators.retain(|key, it| {
            let stays = used.contains(key);
            if !stays {
                free.push_back((now, it.number));
            }
            stays
        });
    }

    fn table(&self) -> Lisp {
        let instance = |(id, it): (&u16, &Instance)| {
            let sources = it.sources.as_ref().map(|(_, sources)| sources.clone());
            let (maps, uniform) = (it.maps.clone(), it.config.uniform);
            (*id, Arc::new(LispInstance { maps, sources, uniform }))
        };
        let instances: HashMap<_, _> = self.instances.iter().map(instance).collect();
        Lisp::new(instances, self.headers.clone(), self.is_server)
    }

    /// Who may send for whom, where that is looked at. Tables are made anew, so that workers see
    /// the old ones or the new ones, whole.
    fn look_at_sources(&mut self, core: &Core, cache: &MapCache) {
        for it in self.instances.values_mut() {
            let strict = match it.config.source_check {
                SourceCheck::Off => {
                    self.differs |= it.sources.take().is_some();
                    continue;
                }
                check => check == SourceCheck::Strict,
            };
            let own = cache.each().filter(|(eid, _, _)| eid.instance() == it.link.instance);
            let set = |entry: &Entry| entry.locators.iter().filter_map(|it| it.address).collect();
            let wanted: Sites = own.map(|(eid, _, entry)| (*eid, set(entry))).collect();
            if it.sources.as_ref().is_some_and(|(had, of)| *had == wanted && of.strict == strict) {
                continue;
            }
            let Ok(tables) = core.dataplane.make_vrf_tables() else { continue };
            let mut sets = Vec::new();
            for (eid, set) in &wanted {
                let word = Forward::new(Kind::Rewrite as u8, sets.len() as u32);
                sets.push(Arc::clone(set));
                let _no_room = insert(&tables, eid, word);
            }
            it.sources = Some((wanted, LispSources { tables, sets, strict }));
            self.differs = true;
        }
    }

    /// Writes the words that differ.
    fn write(
        &mut self,
        core: &Core,
        wanted: BTreeMap<(u16, Eid), (Vec<Member>, &Entry)>,
    ) -> Result<(), FibError> {
        let groups = &core.dataplane.groups;
        let gone: Vec<(u16, Eid)> =
            self.words.keys().filter(|key| !wanted.contains_key(key)).copied().collect();
        for (id, eid) in gone {
            if let Some(it) = self.instances.get(&id) {
                remove(&it.maps, &eid);
            }
            let word = self.words.remove(&(id, eid));
            word.and_then(|word| word.group).into_iter().for_each(|group| groups.remove(group));
        }
        let mut outcome = Ok(());
        for ((id, eid), (members, entry)) in wanted {
            let Some(it) = self.instances.get(&id) else { continue };
            let had = self.words.get(&(id, eid));
            let plain = |kind: Kind| Forward::new(kind as u8, PLAIN);
            let (to, group) = match &members[..] {
                [one] => (one.to, None),
                [] if !entry.locators.is_empty() => (plain(Kind::Unreachable), None),
                [] => (
                    match entry.action {
                        Action::Native => plain(Kind::Vrf),
                        Action::Ask => plain(Kind::NoRoute),
                        Action::Drop | Action::None => plain(Kind::Blackhole),
                    },
                    None,
                ),
                several => {
                    if had.is_some_and(|had| had.group.is_some() && had.members == members) {
                        continue;
                    }
                    let made = match had.and_then(|had| had.group) {
                        Some(group) => groups.set_members(group, several).map(|_| group),
                        None => groups.create(several),
                    };
                    match made {
                        Ok(group) => (Forward::new(Kind::Group as u8, group.0), Some(group)),
                        Err(error) => {
                            outcome = Err(error);
                            continue;
                        }
                    }
                }
            };
            if had.is_none_or(|had| had.to != to)
                && let Err(error) = insert(&it.maps, &eid, to)
            {
                group.into_iter().for_each(|group| groups.remove(group));
                outcome = Err(error);
                continue;
            }
            let old = self.words.insert((id, eid), Word { to, group, members });
            let old = old.and_then(|old| old.group).filter(|old| Some(*old) != group);
            old.into_iter().for_each(|old| groups.remove(old));
        }
        outcome
    }

    /// The map cache of the only instance.
    #[cfg(test)]
    pub(super) fn maps_for_tests(&self) -> VrfTables {
        self.instances.values().next().unwrap().maps.clone()
    }

    /// Tells once that there was no room, until there is.
    fn tell_full(&mut self, outcome: Result<(), FibError>) {
        let was_full = std::mem::replace(&mut self.is_full, outcome.is_err());
        if let (Err(error), false) = (outcome, was_full) {
            tracing::warn!(fault = "lisp-full", %error, "a network of LISP has no room");
        }
    }
}

/// 24 bits that nobody guesses.
fn fresh_nonce() -> u32 {
    lisp::Nonces::new(0).random().map_or(0, |random| random as u32 & 0x00ff_ffff)
}

/// What packets of an instance to a locator look like.
fn tunnel_to(it: &Instance, remote: IpAddr, nonce: u32) -> Option<Tunnel> {
    let local: IpAddr = match remote {
        IpAddr::V4(_) => IpAddr::V4(it.link.local4?.into()),
        IpAddr::V6(_) => IpAddr::V6(it.link.local6?.into()),
    };
    let tunnel =
        Tunnel::new(Wrap::Lisp { instance: it.link.instance, nonce }, Ends::new(local, remote)?);
    Some(Tunnel {
        inside: Inside::Packets,
        summed: it.config.checksum && remote.is_ipv6(),
        dscp: it.config.dscp.fixed(),
        ttl: it.config.ttl.fixed(),
        underlay: it.link.underlay,
        ..tunnel
    })
}

fn insert(tables: &VrfTables, eid: &Eid, to: Forward) -> Result<(), FibError> {
    match eid.address() {
        IpAddr::V4(address) => {
            tables.ip4.insert(Prefix::new(address.into(), eid.length())?, to).map(drop)
        }
        IpAddr::V6(address) => {
            tables.ip6.insert(Prefix::new(address.into(), eid.length())?, to).map(drop)
        }
    }
}

fn remove(tables: &VrfTables, eid: &Eid) {
    match eid.address() {
        IpAddr::V4(address) => {
            if let Ok(prefix) = Prefix::new(address.into(), eid.length()) {
                tables.ip4.remove(prefix);
            }
        }
        IpAddr::V6(address) => {
            if let Ok(prefix) = Prefix::new(address.into(), eid.length()) {
                tables.ip6.remove(prefix);
            }
        }
    }
}
