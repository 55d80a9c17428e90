//! A map server and resolver (RFC 9301, section 8): what sites told of their networks, and what is
//! said to who asks.
//!
//! ```text
//!  site ── its networks, proved by its key ──▶ kept for three minutes ──▶ notice
//!  who asks ──▶ answered for the site, or handed on to it; a hole between networks if there is none
//! ```
//! A site moves when another of its routers tells of a network, elsewhere: the one that told before
//! is told so until it confirms. Registrations of a router count upwards; what does not is a
//! replay.

use crate::{Key, MINUTE, SECOND};
use std::collections::BTreeMap;
use std::net::IpAddr;
use wire::lisp::{Action, Eid, MapRecord, Registration, RegistrationHead, kind};

/// How long a registration is believed.
const KEPT: u64 = 3 * MINUTE;
/// Networks of one site, at most.
const MOST_NETWORKS: usize = 1000;
/// Notices of changes that are not confirmed yet, at most.
const MOST_NOTICES: usize = 256;
/// How often one is sent.
const TRIES: u32 = 4;
/// Minutes for which a hole between networks may be remembered, and one where a site could be.
const HOLE_MINUTES: u32 = 15;
const SILENT_MINUTES: u32 = 1;

/// A site that may tell of its networks.
#[derive(Clone, Debug)]
pub struct Site {
    /// What it is called.
    pub name: String,
    /// What proves that it is the site.
    pub key: Key,
    /// Its networks.
    pub eids: Vec<Eid>,
    /// Parts of them may be told of.
    pub more_specifics: bool,
    /// It is answered for.
    pub answers: bool,
}

/// Why a registration is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A network of it is no site's, or another one's.
    NoSite,
    /// It is not proved by the site's key.
    Unproved,
    /// It is no newer than one before.
    Replayed,
    /// The site has too many networks.
    Full,
}

/// What a registration brings about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The notice that it was heard.
    pub notice: Option<Vec<u8>>,
    /// Networks that are elsewhere now than they were.
    pub moved: Vec<Eid>,
}

/// What becomes of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is answered with this.
    Answer(MapRecord),
    /// It is handed on to the site.
    HandOn(IpAddr),
}

/// What is known of a network, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The site.
    pub site: String,
    /// The network.
    pub eid: Eid,
    /// Who told of it, where it is reached, whether it is answered for, and when it is forgotten.
    pub told: Option<(IpAddr, MapRecord, bool, u64)>,
}

struct Told {
    by: IpAddr,
    /// The address of ours that it told.
    at: IpAddr,
    record: MapRecord,
    answers: bool,
    expires_ns: u64,
}

struct Notice {
    to: IpAddr,
    from: IpAddr,
    nonce: u64,
    message: Vec<u8>,
    next_ns: u64,
    tries: u32,
    site: usize,
}

/// See the module.
#[derive(Default)]
pub struct MapServer {
    sites: Vec<Site>,
    told: BTreeMap<Eid, Told>,
    /// The last nonce of each router of a site; of those that are at none of its locators together.
    nonces: BTreeMap<(String, Option<IpAddr>), u64>,
    notices: Vec<Notice>,
}

impl MapServer {
    /// Other sites may tell from now on. What is no site's any more is forgotten.
    pub fn set_sites(&mut self, sites: Vec<Site>) {
        self.sites = sites;
        self.notices.clear();
        let Self { sites, told, nonces, .. } = self;
        told.retain(|eid, _| site_of(sites, eid).is_some());
        nonces.retain(|(name, _), _| sites.iter().any(|site| site.name == *name));
    }

    /// A site tells of its networks, at an address of ours. `nonce` is for notices to others.
    pub fn register(
        &mut self,
        now_ns: u64,
        (from, at): (IpAddr, IpAddr),
        message: &Registration<'_>,
        nonce: u64,
    ) -> Result<Outcome, Refusal> {
        let records: Vec<MapRecord> =
            message.records.filter_map(|record| record.to_owned()).collect();
        let first = records.first().ok_or(Refusal::NoSite)?;
        let number = site_of(&self.sites, &first.eid).ok_or(Refusal::NoSite)?;
        let site = &self.sites[number];
        if !site.key.proves(message) {
            return Err(Refusal::Unproved);
        }
        if records.iter().any(|record| site_of(&self.sites, &record.eid) != Some(number)) {
            return Err(Refusal::NoSite);
        }
        let is_there = |record: &MapRecord| {
            record.locators.iter().any(|locator| locator.address == Some(from))
        };
        let who = (site.name.clone(), records.iter().any(is_there).then_some(from));
        if self.nonces.get(&who).is_some_and(|last| message.head.nonce <= *last) {
            return Err(Refusal::Replayed);
        }
        let mine = |eid: &Eid| site_of(&self.sites, eid) == Some(number);
        let new = records.iter().filter(|it| !self.told.contains_key(&it.eid)).count();
        if self.told.keys().filter(|eid| mine(eid)).count() + new > MOST_NETWORKS {
            return Err(Refusal::Full);
        }
        self.nonces.insert(who, message.head.nonce);
        let answers = message.head.answers || site.answers;
        let mut outcome = Outcome::default();
        for record in &records {
            if record.ttl_minutes == 0 {
                if self.told.get(&record.eid).is_some_and(|told| told.by == from) {
                    self.told.remove(&record.eid);
                }
                continue;
            }
            let told = Told {
                by: from,
                at,
                record: MapRecord { is_authoritative: false, ..record.clone() },
                answers,
                expires_ns: now_ns + KEPT,
            };
            let Some(before) = self.told.insert(record.eid, told) else { continue };
            if before.record.locators != record.locators {
                outcome.moved.push(record.eid);
                let stays = record.locators.iter().any(|it| it.address == Some(before.by));
                if before.by != from && !stays {
                    self.tell(now_ns, (before.by, before.at), number, record, nonce);
                }
            }
        }
        if message.head.wants_notice {
            let head = RegistrationHead { kind: kind::NOTIFY, ..message.head };
            outcome.notice = Some(self.sites[number].key.prove(head, &records));
        }
        Ok(outcome)
    }

    /// Who told of a network before is told where it is now.
    fn tell(
        &mut self,
        now_ns: u64,
        (to, from): (IpAddr, IpAddr),
        site: usize,
        record: &MapRecord,
        nonce: u64,
    ) {
        if self.notices.len() >= MOST_NOTICES {
            return;
        }
        let key = &self.sites[site].key;
        let head = RegistrationHead {
            kind: kind::NOTIFY,
            nonce,
            answers: false,
            wants_notice: false,
            key: 0,
            algorithm: key.algorithm(),
        };
        let message = key.prove(head, std::slice::from_ref(record));
        self.notices.push(Notice { to, from, nonce, message, next_ns: now_ns, tries: 0, site });
    }

    /// A router confirms that it was told.
    pub fn confirmed(&mut self, from: IpAddr, message: &Registration<'_>) {
        let sites = &self.sites;
        let is_it = |notice: &Notice| notice.to == from && notice.nonce == message.head.nonce;
        self.notices.retain(|it| !(is_it(it) && sites[it.site].key.proves(message)));
    }

    /// The notices that are to be sent now: to whom, from which address of ours, and what; forgets
    /// what is too old. The flag says that something was.
    pub fn due(&mut self, now_ns: u64) -> (Vec<(IpAddr, IpAddr, Vec<u8>)>, bool) {
        let before = self.told.len();
        self.told.retain(|_, told| told.expires_ns > now_ns);
        self.notices.retain(|notice| notice.tries < TRIES || notice.next_ns > now_ns);
        let mut due = Vec::new();
        for notice in self.notices.iter_mut().filter(|notice| notice.next_ns <= now_ns) {
            due.push((notice.to, notice.from, notice.message.clone()));
            notice.next_ns = now_ns + (SECOND << notice.tries);
            notice.tries += 1;
        }
        (due, self.told.len() != before)
    }

    /// What becomes of a question for a network.
    pub fn asked(&self, network: &Eid) -> Verdict {
        let longest = (0..=network.length()).rev();
        let known = longest.into_iter().find_map(|length| self.told.get(&network.widened(length)));
        match known {
            Some(told) if told.answers => Verdict::Answer(told.record.clone()),
            Some(told) => Verdict::HandOn(told.by),
            None => Verdict::Answer(self.hole(network)),
        }
    }

    /// The widest network around one that has nothing in common with any that is known.
    fn hole(&self, network: &Eid) -> MapRecord {
        let sites = self.sites.iter().flat_map(|site| &site.eids);
        let is_covered = sites.clone().any(|eid| eid.contains(network));
        // Within a site's network other parts of it are avoided, else all sites'.
        let others: Vec<&Eid> = match is_covered {
            true => self.told.keys().collect(),
            false => sites.chain(self.told.keys()).collect(),
        };
        let covering = self.sites.iter().flat_map(|site| &site.eids);
        let covering = covering.filter(|eid| eid.contains(network)).map(Eid::length).max();
        let least = covering.unwrap_or(0);
        let is_free = |length: &u8| {
            let wide = network.widened(*length);
            others.iter().all(|other| !other.overlaps(&wide))
        };
        let length = (least..=network.length()).find(is_free).unwrap_or(network.length());
        MapRecord {
            ttl_minutes: if is_covered { SILENT_MINUTES } else { HOLE_MINUTES },
            eid: network.widened(length),
            action: Action::Native,
            is_authoritative: false,
            locators: Vec::new(),
        }
    }

    /// What is known of each network, and those of which nothing is.
    pub fn each(&self) -> Vec<Shown> {
        let mut all = Vec::new();
        for (number, site) in self.sites.iter().enumerate() {
            let told =
                self.told.iter().filter(|(eid, _)| site_of(&self.sites, eid) == Some(number));
            all.extend(told.map(|(eid, it)| {
                let told = (it.by, it.record.clone(), it.answers, it.expires_ns);
                Shown { site: site.name.clone(), eid: *eid, told: Some(told) }
            }));
            let silent = site.eids.iter().filter(|eid| !self.told.contains_key(eid));
            all.extend(silent.map(|eid| Shown { site: site.name.clone(), eid: *eid, told: None }));
        }
        all
    }

    /// When something is to be sent or forgotten next.
    pub fn next_due_ns(&self) -> Option<u64> {
        let notices = self.notices.iter().map(|notice| notice.next_ns);
        notices.chain(self.told.values().map(|told| told.expires_ns)).min()
    }
}

/// The site whose network it is, or a part of one where it may have parts: the longest.
fn site_of(sites: &[Site], eid: &Eid) -> Option<usize> {
    let fits = |site: &Site, own: &Eid| own == eid || site.more_specifics && own.contains(eid);
    let of_site = |(number, site): (usize, &Site)| {
        let longest = site.eids.iter().filter(|own| fits(site, own)).map(Eid::length).max()?;
        Some((longest, number))
    };
    sites.iter().enumerate().filter_map(of_site).max().map(|(_, number)| number)
}

#[cfg(test)]
mod tests;
