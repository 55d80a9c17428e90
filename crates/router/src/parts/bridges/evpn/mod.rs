//! EVPN (RFC 7432, RFC 8365): a routing daemon beside us tells bridges who is beyond their tunnels,
//! and is told who is here.
//!
//! ```text
//!  MAC table, bindings ── local ──▶ mailbox ── kernel ──▶ zebra ── bgpd ──▶ others
//!  stations, remotes, bindings ◀── remote ── watch ◀── kernel ◀── zebra ◀───┘
//!  neighbours of the inner port ◀──┘ where the bridge is for routes (type 5)
//! ```
//! Each bridge that asks for it has a mailbox: a bridge of the kernel's that no packet passes
//! (`kernel::mailbox`). Those for routes are there while zebra tells routes by FPM, and has told
//! them: see docs/evpn.md.

mod local;
mod post;
mod remote;
mod show;

use super::OpenBridge;
use super::bindings::Binding;
use crate::core::Core;
use control::config::objects::bridge::BridgeName;
use control::config::objects::bridge_evpn::Evpn as Config;
use control::config::objects::port_kind::PortKind;
use fib::mac::MacSweep;
use kernel::Namespace;
use kernel::mailbox::{Mailbox, MailboxOptions, Watch, Watched};
use local::MOST_AT_ONCE;
use netlink::neighbor::NeighborChange;
use nodes::tables::{Bound, BridgeId};
use post::{Post, Wanted};
use remote::Owner;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::{Duration, Instant};
use wire::nd::flag;

/// Between two looks.
const PERIOD: Duration = Duration::from_millis(50);
/// Between two attempts to make a mailbox, and two looks whether one is there.
const RETRY_PERIOD: Duration = Duration::from_secs(1);
/// Lines of the MAC table looked at in a turn, at least, and turns in which it is looked through.
const LINES: usize = 8192;
const MOST_TURNS: usize = 100;

/// See the module.
#[derive(Default)]
pub(super) struct Evpn {
    posts: BTreeMap<BridgeName, Post>,
    /// Why a bridge has none.
    problems: BTreeMap<BridgeName, String>,
    watches: Vec<(Namespace, Watch)>,
    sweep: MacSweep,
    round: u32,
    next: Option<Instant>,
    next_retry: Option<Instant>,
    /// Messages of watches that are gone that could not be read.
    malformed: u64,
}

impl Evpn {
    /// Time passes.
    pub(super) fn turn(
        &mut self,
        core: &mut Core,
        bridges: &BTreeMap<BridgeName, OpenBridge>,
        binding: &mut Binding,
        now: Instant,
    ) {
        let asks = |bridge: &OpenBridge| bridge.config.evpn.is_some();
        if self.next.is_some_and(|next| now < next)
            || self.posts.is_empty() && !bridges.values().any(asks)
        {
            return;
        }
        self.next = Some(now + PERIOD);
        self.follow(core, bridges, binding, now);
        self.look(core);
        for post in self.posts.values_mut() {
            post.ask(core, now);
            post.refresh(core, PERIOD);
            if post.wanted.inner.is_some() {
                post.fix_neighbors(core);
            }
        }
        self.see_stations(core, binding);
        self.bind(bridges, binding);
    }

    /// Rows are written: remotes have interfaces.
    pub(super) fn published(&mut self, core: &Core) {
        self.posts.values_mut().for_each(|post| post.place(core));
    }

    /// Makes the mailboxes that there should be, and ends the others.
    fn follow(
        &mut self,
        core: &mut Core,
        bridges: &BTreeMap<BridgeName, OpenBridge>,
        binding: &mut Binding,
        now: Instant,
    ) {
        let wanted = bridges.iter().filter_map(|(name, bridge)| {
            let evpn = bridge.config.evpn.as_deref()?;
            Some((name.clone(), wanted_of(core, name, bridge, evpn)))
        });
        let wanted: BTreeMap<BridgeName, Result<Wanted, String>> = wanted.collect();
        let is_time = self.next_retry.is_none_or(|next| now >= next);
        if is_time {
            self.next_retry = Some(now + RETRY_PERIOD);
        }
        let stays = |name: &BridgeName, post: &mut Post| {
            wanted.get(name).is_some_and(|wanted| wanted.as_ref() == Ok(&post.wanted))
                && (!is_time || post.mailbox.is_there())
        };
        for (_, post) in take_out(&mut self.posts, usize::MAX, |name, post| !stays(name, post)) {
            binding.set_told(post.wanted.bridge, BTreeMap::new());
            post.close(core);
        }
        self.problems.retain(|name, _| wanted.contains_key(name));
        for (name, wanted) in wanted {
            match wanted {
                Err(why) => self.tell_problem(name, why),
                Ok(_) if self.posts.contains_key(&name) => drop(self.problems.remove(&name)),
                Ok(wanted) if is_time || !self.problems.contains_key(&name) => {
                    match self.make(&wanted) {
                        Ok(mailbox) => {
                            self.problems.remove(&name);
                            self.posts.insert(name, Post::new(wanted, mailbox));
                        }
                        Err(error) => self.tell_problem(name, error.to_string()),
                    }
                }
                Ok(_) => {}
            }
        }
        let used: Vec<&Namespace> =
            self.posts.values().map(|post| &post.wanted.options.namespace).collect();
        self.watches.retain(|(namespace, watch)| {
            let is_used = used.contains(&namespace);
            self.malformed += if is_used { 0 } else { watch.malformed() };
            is_used
        });
        for post in self.posts.values() {
            let (links, inner) = (post.links(), &post.wanted.inner);
            if let Some(port) = inner.as_ref().and_then(|inner| core.ports.get_mut(inner)) {
                port.route_link = Some(links.bridge);
            }
        }
    }

    fn tell_problem(&mut self, name: BridgeName, problem: String) {
        if self.problems.get(&name) != Some(&problem) {
            tracing::warn!(fault = "evpn", bridge = %name, "EVPN: {problem}");
            self.problems.insert(name, problem);
        }
    }

    fn make(&mut self, wanted: &Wanted) -> Result<Mailbox, kernel::KernelError> {
        let namespace = &wanted.options.namespace;
        // It is watched before anything is put into it.
        if self.watches.iter().all(|(watched, _)| watched != namespace) {
            self.watches.push((namespace.clone(), Watch::open(namespace)?));
        }
        Mailbox::make(&wanted.options)
    }

    /// Takes in what changed in the mailboxes.
    fn look(&mut self, core: &mut Core) {
        for (namespace, watch) in &mut self.watches {
            let (changes, is_all) = match watch.look() {
                Ok(Watched::Changes(changes)) => (changes, false),
                Ok(Watched::All(all)) => {
                    tracing::warn!(
                        fault = "evpn",
                        "the kernel told more than could be read: all of it is read again"
                    );
                    (all, true)
                }
                Err(error) => {
                    tracing::warn!(fault = "evpn", %error, "the kernel cannot be heard");
                    continue;
                }
            };
            let posts = self.posts.values_mut();
            let here = posts.filter(|post| post.wanted.options.namespace == *namespace);
            let mut here: Vec<&mut Post> = here.collect();
            let owner: HashMap<u32, usize> = here
                .iter()
                .enumerate()
                .flat_map(|(at, post)| {
                    let links = post.links();
                    [links.bridge, links.stations, links.remotes].map(|link| (link, at))
                })
                .collect();
            let mut of_each: Vec<Vec<NeighborChange>> = vec![Vec::new(); here.len()];
            for change in changes {
                if let Some(of_one) = owner.get(&change.link).and_then(|at| of_each.get_mut(*at)) {
                    of_one.push(change);
                }
            }
            for (post, changes) in here.iter_mut().zip(of_each) {
                if is_all || !changes.is_empty() {
                    post.hear(core, &changes, is_all);
                }
            }
        }
    }

    /// Looks through a part of the MAC table for stations of ours.
    fn see_stations(&mut self, core: &Core, binding: &Binding) {
        let round = self.round;
        let posts = self.posts.values_mut().filter(|post| post.wanted.inner.is_none());
        // By bridge: rows that lead away, and what is new of the others.
        type Looked<'a> = (BTreeSet<u32>, &'a mut Post, Vec<([u8; 6], bool)>);
        let mut posts: HashMap<u16, Looked<'_>> = posts
            .map(|post| {
                let port = core.ports.get(&post.wanted.tunnel);
                let rows = port.into_iter().flat_map(|port| port.rows()).map(u32::from).collect();
                (post.wanted.bridge.0, (rows, post, Vec::new()))
            })
            .collect();
        if posts.is_empty() {
            return;
        }
        let stations = &core.dataplane.stations;
        let lines = LINES.max(stations.table.line_count() / MOST_TURNS);
        let is_end = stations.table.look(&mut self.sweep, lines, stations.now(), |key, entry| {
            let Some((rows, post, news)) = posts.get_mut(&key.domain()) else { return };
            let (mac, is_sticky) = (key.address(), entry.is_static);
            if !rows.contains(&entry.port)
                && post.local.see(mac, is_sticky, round)
                && news.len() < MOST_AT_ONCE
            {
                news.push((mac, is_sticky));
            }
        });
        for (_, post, news) in posts.values_mut() {
            for (mac, is_sticky) in news.drain(..) {
                post.tell_station(mac, is_sticky, round);
            }
            if is_end {
                post.take_back(round);
                post.tell_addresses(binding.of(post.wanted.bridge));
            }
        }
        if is_end {
            self.round = round.wrapping_add(1);
        }
    }

    /// Has bridges that answer for addresses answer for those of others' stations.
    fn bind(&mut self, bridges: &BTreeMap<BridgeName, OpenBridge>, binding: &mut Binding) {
        for (name, post) in &mut self.posts {
            let Some(bridge) = bridges.get(name).filter(|_| post.wanted.inner.is_none()) else {
                continue;
            };
            if post.take_addresses_differ() {
                let told = post.remote.addresses();
                let told = told.filter(|(address, _)| bridge.config.answers_for(*address));
                binding.set_told(bridge.id, told.map(|(at, owner)| (at, bound(owner))).collect());
            }
        }
    }
}

fn bound(owner: Owner) -> Bound {
    let router = if owner.is_router { flag::ROUTER } else { 0 };
    Bound { mac: owner.mac, flags: flag::OVERRIDE | router, is_fixed: false }
}

impl From<Bound> for Owner {
    fn from(bound: Bound) -> Self {
        Self { mac: bound.mac, is_router: bound.flags & flag::ROUTER != 0 }
    }
}

/// What the mailbox of a bridge is to be, or why there is none.
fn wanted_of(
    core: &Core,
    name: &BridgeName,
    bridge: &OpenBridge,
    evpn: &Config,
) -> Result<Wanted, String> {
    let members = || bridge.config.ports.iter().map(|member| &member.port);
    let open = |port| core.ports.get(port).filter(|port| !port.closing && port.config.up);
    let tunnel = members().find_map(|port| match &open(port)?.config.kind {
        kind @ PortKind::Vxlan(vxlan) if kind.has_remotes() => Some((port, vxlan)),
        _ => None,
    });
    let (tunnel, vxlan) = tunnel.ok_or("its tunnel is down")?;
    let own = members().find(|port| open(port).is_some_and(|it| it.config.kind == PortKind::Bvi));
    let inner = own.filter(|_| evpn.routes);
    let own = own.and_then(|own| core.ports.get(own));
    let netns = evpn.netns.as_deref();
    if evpn.routes {
        inner.ok_or("its port of the kind `bvi` is down")?;
        let told = core.route_feed.as_ref().filter(|feed| feed.netns.as_deref() == netns);
        let told = told.ok_or("waits for zebra to tell its routes by FPM in the same namespace")?;
        // FRR before 10.2 ends if it knows routers of others when it begins to tell.
        if !told.has_told {
            return Err("waits for zebra to have told its routes by FPM".to_owned());
        }
    }
    Ok(Wanted {
        options: MailboxOptions {
            namespace: Namespace::new(evpn.netns.as_deref()),
            bridge: evpn.name_for(name).to_owned(),
            // Flows say it of one to a single other end alone.
            vni: vxlan.vni.fixed().unwrap_or(0),
            local: vxlan.ends.local(),
            // Its routes, or its stations' addresses, are those of the bridge's own port.
            vrf: own.and_then(|own| core.vrf_link(&own.config, netns)),
            mac: inner.and(own).map(|inner| inner.mac),
        },
        bridge: bridge.id,
        tunnel: tunnel.clone(),
        inner: inner.cloned(),
        hold: evpn.hold,
        ageing: bridge.config.ageing,
    })
}

/// Bindings of a bridge, as they are told.
impl Binding {
    fn of(&self, bridge: BridgeId) -> impl Iterator<Item = (IpAddr, Owner)> {
        self.own(bridge).map(|(address, bound)| (address, bound.into()))
    }
}

/// Takes what fits out of a map, so many at most.
fn take_out<K: Ord + Clone, V>(
    map: &mut BTreeMap<K, V>,
    most: usize,
    mut fits: impl FnMut(&K, &mut V) -> bool,
) -> Vec<(K, V)> {
    let fitting = map.iter_mut().filter_map(|(key, value)| fits(key, value).then(|| key.clone()));
    let keys: Vec<K> = fitting.take(most).collect();
    keys.into_iter().filter_map(|key| map.remove_entry(&key)).collect()
}
