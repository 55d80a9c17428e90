//! Our own networks: what others are told of them, and who is told to ask again when that changes.

use super::{Lisp, lisp_of};
use crate::core::Core;
use control::config::objects::lisp_eid::{EidKey, OwnEid};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use wire::lisp::{Action, Eid, Locator, MapRecord};

/// Those who asked for our networks and are remembered, at most.
const MOST_ASKERS: usize = 1024;
/// Those who are told to ask again, at most: those who asked first.
const MOST_SOLICITED: usize = 256;
/// How often who asked is told to ask again, and how much later each time, in seconds: a map server
/// hears of the change meanwhile.
const SOLICITED_AT: [u64; 3] = [0, 1, 3];
const SECOND: u64 = 1_000_000_000;

/// See the module.
#[derive(Default)]
pub(super) struct Own {
    /// What is told of each network.
    records: BTreeMap<Eid, MapRecord>,
    /// Map servers are to be told that some are ours no more.
    withdraws: bool,
    /// Who asked, and for what; the latest last.
    askers: VecDeque<(Eid, IpAddr)>,
    solicits: Vec<Solicit>,
}

/// Somebody is to be told to ask again for a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Solicit {
    pub(super) eid: Eid,
    pub(super) to: IpAddr,
    at_ns: u64,
}

impl Own {
    /// What is told of the longest of our networks that has one.
    pub(super) fn find(&self, network: &Eid) -> Option<&MapRecord> {
        let longest = (0..=network.length()).rev();
        longest.into_iter().find_map(|length| self.records.get(&network.widened(length)))
    }

    pub(super) fn records(&self) -> Vec<MapRecord> {
        self.records.values().cloned().collect()
    }

    /// Whether map servers are to be told anything.
    pub(super) fn has_news(&self) -> bool {
        self.withdraws || !self.records.is_empty()
    }

    /// Map servers heard of all.
    pub(super) fn is_told(&mut self) {
        self.withdraws = false;
    }

    /// Somebody asks for a network.
    pub(super) fn asked_by(&mut self, eid: Eid, asker: IpAddr) {
        self.askers.retain(|known| *known != (eid, asker));
        if self.askers.len() >= MOST_ASKERS {
            self.askers.pop_front();
        }
        self.askers.push_back((eid, asker));
    }

    /// Who asked for it, or sends to us perhaps, is told to ask again.
    pub(super) fn solicit(&mut self, now_ns: u64, eid: Eid, others: &BTreeSet<IpAddr>) {
        let asked = self.askers.iter().filter(|(network, _)| network.overlaps(&eid));
        let askers: BTreeSet<IpAddr> = asked.map(|(_, to)| *to).collect();
        let others = others.difference(&askers);
        self.solicits.retain(|solicit| solicit.eid != eid);
        for &to in askers.iter().chain(others).take(MOST_SOLICITED) {
            let at = |seconds| Solicit { eid, to, at_ns: now_ns + seconds * SECOND };
            self.solicits.extend(SOLICITED_AT.map(at));
        }
    }

    /// Who is to be told now.
    pub(super) fn due(&mut self, now_ns: u64) -> Vec<Solicit> {
        self.solicits.extract_if(.., |solicit| solicit.at_ns <= now_ns).collect()
    }

    pub(super) fn next_due_ns(&self) -> Option<u64> {
        self.solicits.iter().map(|solicit| solicit.at_ns).min()
    }
}

/// What is told of a network of ours now.
fn record(core: &Core, key: &EidKey, own: &OwnEid) -> Option<MapRecord> {
    let lisp = lisp_of(core.ports.get(&key.port)?)?;
    let under = core.vrfs.of(lisp.underlay_vrf.as_ref());
    let carries = |address: IpAddr| {
        let mut ports = core.ports.values().filter(|port| core.vrf_of(&port.config) == under);
        ports.any(|port| {
            let has = || port.config.addresses.iter().any(|own| own.address() == address);
            port.carries() && has()
        })
    };
    let locator = |it: &control::config::objects::port_kind::lisp::Locator| Locator {
        is_reachable: carries(it.address),
        ..Locator::new(it.address, it.priority, it.weight)
    };
    Some(MapRecord {
        ttl_minutes: (own.ttl.as_secs() / 60).min(u64::from(u32::MAX - 1)) as u32,
        eid: Eid::new(lisp.instance_id, key.prefix.address(), key.prefix.length())?,
        action: Action::None,
        is_authoritative: true,
        locators: lisp.locators.iter().map(locator).collect(),
    })
}

impl Lisp {
    /// Tells others of our own networks, if there is anything new.
    pub(super) fn tell_of_own(&mut self, core: &mut Core) {
        let records = self.eids.iter().filter_map(|(key, own)| record(core, key, own));
        let records: BTreeMap<Eid, MapRecord> = records.map(|it| (it.eid, it)).collect();
        if records == self.own.records {
            return;
        }
        let now_ns = core.now_ns();
        let before = std::mem::replace(&mut self.own.records, records);
        let gone = before.values().filter(|it| !self.own.records.contains_key(&it.eid));
        let withdrawn: Vec<MapRecord> =
            gone.map(|it| MapRecord { ttl_minutes: 0, ..it.clone() }).collect();
        self.own.withdraws = !withdrawn.is_empty();
        self.registrar.hurry(now_ns, withdrawn);
        if !self.settings.solicit {
            return;
        }
        let changed = before.iter().filter(|(eid, it)| self.own.records.get(eid) != Some(it));
        for eid in changed.map(|(eid, _)| *eid).collect::<Vec<_>>() {
            self.solicit(now_ns, eid);
        }
    }

    /// Has other sites ask again for a network that is or was ours.
    pub(super) fn solicit(&mut self, now_ns: u64, eid: Eid) {
        // Whom we send to may send to us.
        let others = self.forwarding.locators_of(&self.cache);
        let others = others.into_iter().filter(|(_, of)| of.instance() == eid.instance());
        let others = others.map(|(address, _)| address).collect();
        self.own.solicit(now_ns, eid, &others);
    }
}
