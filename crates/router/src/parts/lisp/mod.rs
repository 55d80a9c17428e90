//! LISP: what workers forward by, and what is asked and told about endpoints (RFC 9300, RFC 9301).
//!
//! ```text
//!  ports, own networks, mappings ─▶ settle ─▶ words, locators ──────────▶ workers
//!  a packet to nobody known ─▶ asked for, waits ─▶ answer ─▶ words ─▶ packet goes
//!  messages ─▶ hear ─▶ what the machines of the crate `lisp` make of them ─▶ messages
//! ```

mod forwarding;
mod hear;
mod left;
mod own;
mod send;
mod show;
mod told;

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::left::OfParts;
use crate::part::{Hears, Leaves, Makes, Part};
use control::config::Delta;
use control::config::change::Replaced;
use control::config::objects::lisp::Lisp as Settings;
use control::config::objects::lisp_eid::{EidKey, OwnEid};
use control::config::objects::lisp_map::{MapAction, MapKey, Mapping};
use control::config::objects::lisp_server::{Algorithm, MapServer as ServerConfig, ServerKey};
use control::config::objects::lisp_site::{LispSite, SiteName};
use control::config::objects::port::PortName;
use control::config::objects::port_kind::PortKind;
use control::config::objects::port_kind::lisp::Lisp as LispConfig;
use control::engine::ApplyError;
use forwarding::Forwarding;
use lisp::{Asker, Entry, Key, MapCache, MapServer, Nonces, Prober, Registrar, Site};
use nodes::tables::{EidWanted, Interface, Link, LispSaid};
use own::Own;
use packet::PacketBuf;
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant, SystemTime};
use told::Told;
use wire::lisp as format;
use wire::lisp::{Action, Eid, Locator};

/// Between two looks whether locators have routes.
const LOOK_PERIOD: Duration = Duration::from_secs(1);

/// See the module.
pub(crate) struct Lisp {
    settings: Settings,
    servers: BTreeMap<ServerKey, ServerConfig>,
    sites: BTreeMap<SiteName, LispSite>,
    eids: BTreeMap<EidKey, OwnEid>,
    maps: BTreeMap<MapKey, Mapping>,
    /// Objects changed, and what follows from them has not.
    changed: Changed,
    next_look: Option<Instant>,
    forwarding: Forwarding,
    own: Own,
    cache: MapCache,
    asker: Asker,
    registrar: Registrar,
    server: MapServer,
    prober: Prober,
    nonces: Nonces,
    told: Told,
    /// Packets that wait for an endpoint, each with the interface that it is to leave by.
    held: HashMap<Eid, Vec<(u16, PacketBuf)>>,
    /// Networks that answers told of, and workers do not know of yet: of a crowd of answers workers
    /// hear at once.
    news: Vec<Eid>,
}

/// What is to be brought about at the end of a change.
#[derive(Default)]
struct Changed {
    servers: Vec<ServerKey>,
    sites: bool,
}

impl Default for Lisp {
    fn default() -> Self {
        let settings = Settings::new();
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let since = since.map_or(0, |since| since.as_micros() as u64);
        Self {
            asker: Asker::new(settings.pending.into()),
            settings,
            servers: BTreeMap::new(),
            sites: BTreeMap::new(),
            eids: BTreeMap::new(),
            maps: BTreeMap::new(),
            changed: Changed::default(),
            next_look: None,
            forwarding: Forwarding::default(),
            own: Own::default(),
            cache: MapCache::default(),
            registrar: Registrar::default(),
            server: MapServer::default(),
            prober: Prober::default(),
            nonces: Nonces::new(since),
            told: Told::default(),
            held: HashMap::new(),
            news: Vec::new(),
        }
    }
}

/// The configuration of a port of LISP.
fn lisp_of(port: &OpenPort) -> Option<&LispConfig> {
    match &port.config.kind {
        PortKind::Lisp(lisp) => Some(lisp),
        _ => None,
    }
}

fn key_of(algorithm: Algorithm, secret: &str) -> Key {
    let algorithm = match algorithm {
        Algorithm::Sha1 => format::Algorithm::Sha1,
        Algorithm::Sha256 => format::Algorithm::Sha256,
    };
    Key::new(algorithm, secret.as_bytes())
}

impl Part for Lisp {
    fn row(&self, core: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        if let Some(lisp) = lisp_of(port) {
            row.link = Link::Lisp(forwarding::link_of(lisp, core));
        }
    }

    fn settle(&mut self, core: &mut Core) {
        let now_ns = core.now_ns();
        if self.changed.sites {
            self.changed.sites = false;
            self.server.set_sites(self.sites_of());
        }
        for key in std::mem::take(&mut self.changed.servers) {
            match self.servers.get(&key) {
                Some(server) => {
                    let proof = key_of(server.algorithm, &server.key);
                    self.registrar.set(now_ns, key.address, proof, server.proxy_reply);
                }
                None => self.registrar.remove(key.address),
            }
        }
        self.asker.set_most(self.settings.pending.into());
        self.forwarding.set_instances(core);
        let given = self.given();
        self.cache.give(given);
        let instances = self.forwarding.numbers();
        self.cache.keep(|number| instances.contains(&number));
        for eid in self.asker.keep(|number| instances.contains(&number)) {
            self.drop_held(core, &eid);
        }
        self.tell_of_own(core);
        self.refresh(core);
    }

    fn leaves(&self, core: &Core) -> Option<Leaves> {
        Some(left::leaves(&self.cache, core.now_ns()))
    }

    fn take_over(&mut self, core: &mut Core, left: &OfParts) {
        let (instances, most) = (self.forwarding.numbers(), self.settings.entries as usize);
        left::take_over(&mut self.cache, core.now_ns(), &left.mappings, &instances, most);
        self.refresh(core);
    }

    fn turn(&mut self, core: &mut Core, now: Instant) -> bool {
        self.beat(core, now);
        if self.is_on() && self.next_look.is_none_or(|next| now >= next) {
            self.next_look = Some(now + LOOK_PERIOD);
            self.tell_of_own(core);
            self.refresh(core);
        }
        false
    }

    fn beat(&mut self, core: &mut Core, _: Instant) {
        if self.is_on() {
            self.tell_news(core);
            self.send_due(core);
        }
    }

    fn next_due_ns(&self) -> Option<u64> {
        if !self.is_on() {
            return None;
        }
        let registers = self.registrar.next_due_ns().filter(|_| self.own.has_news());
        let probes = self.prober.next_due_ns().filter(|_| self.settings.probe.is_some());
        let all = [
            registers,
            probes,
            self.asker.next_due_ns(),
            self.server.next_due_ns(),
            self.cache.next_due_ns(),
            self.own.next_due_ns(),
        ];
        all.into_iter().flatten().min()
    }
}

impl Lisp {
    /// Whether there is any LISP here.
    fn is_on(&self) -> bool {
        self.settings.map_server || !self.forwarding.is_empty()
    }

    fn sites_of(&self) -> Vec<Site> {
        let site = |(name, it): (&SiteName, &LispSite)| Site {
            name: name.to_string(),
            key: key_of(it.algorithm, &it.key),
            eids: it
                .eids
                .iter()
                .filter_map(|eid| Eid::new(it.instance_id, eid.address(), eid.length()))
                .collect(),
            more_specifics: it.more_specifics,
            answers: it.proxy_reply,
        };
        self.sites.iter().map(site).collect()
    }

    /// The mappings of the configuration, of instances that are there.
    fn given(&self) -> BTreeMap<Eid, Entry> {
        let entry = |(key, it): (&MapKey, &Mapping)| {
            let number = self.forwarding.number_of(&key.port)?;
            let eid = Eid::new(number, key.eid.address(), key.eid.length())?;
            let locator = |it: &control::config::objects::port_kind::lisp::Locator| {
                Locator::new(it.address, it.priority, it.weight)
            };
            let action = match it.action {
                Some(MapAction::Drop) => Action::Drop,
                Some(MapAction::Native) => Action::Native,
                Some(MapAction::Ask) => Action::Ask,
                None => Action::None,
            };
            let locators = it.rlocs.iter().map(locator).collect();
            Some((eid, Entry { locators, action, expires_ns: None }))
        };
        self.maps.iter().filter_map(entry).collect()
    }

    /// Has workers forward by what is known now.
    fn refresh(&mut self, core: &mut Core) {
        let (prober, is_server) = (&self.prober, self.settings.map_server);
        self.forwarding.refresh(core, &self.cache, |locator| prober.is_silent(locator), is_server);
        let wanted = match self.settings.probe {
            Some(_) => self.forwarding.locators_of(&self.cache),
            None => BTreeMap::new(),
        };
        self.prober.set(core.now_ns(), &wanted);
    }
}

impl Makes<Replaced<Settings>> for Lisp {
    fn make(&mut self, _: &mut Core, change: &Replaced<Settings>) -> Result<(), ApplyError> {
        self.settings = change.new.clone();
        Ok(())
    }
}

impl Makes<Delta<ServerKey, ServerConfig>> for Lisp {
    fn make(
        &mut self,
        _: &mut Core,
        change: &Delta<ServerKey, ServerConfig>,
    ) -> Result<(), ApplyError> {
        let (key, wanted) = change.outcome();
        put(&mut self.servers, key, wanted);
        self.changed.servers.push(key.clone());
        Ok(())
    }
}

impl Makes<Delta<SiteName, LispSite>> for Lisp {
    fn make(&mut self, _: &mut Core, change: &Delta<SiteName, LispSite>) -> Result<(), ApplyError> {
        let (key, wanted) = change.outcome();
        put(&mut self.sites, key, wanted);
        self.changed.sites = true;
        Ok(())
    }
}

impl Makes<Delta<EidKey, OwnEid>> for Lisp {
    fn make(&mut self, _: &mut Core, change: &Delta<EidKey, OwnEid>) -> Result<(), ApplyError> {
        let (key, wanted) = change.outcome();
        put(&mut self.eids, key, wanted);
        Ok(())
    }
}

impl Makes<Delta<MapKey, Mapping>> for Lisp {
    fn make(&mut self, _: &mut Core, change: &Delta<MapKey, Mapping>) -> Result<(), ApplyError> {
        let (key, wanted) = change.outcome();
        put(&mut self.maps, key, wanted);
        Ok(())
    }
}

fn put<K: Ord + Clone, V: Clone>(rows: &mut BTreeMap<K, V>, key: &K, wanted: Option<&V>) {
    match wanted {
        Some(row) => drop(rows.insert(key.clone(), row.clone())),
        None => drop(rows.remove(key)),
    }
}

impl Hears<EidWanted> for Lisp {
    fn hear(&mut self, core: &mut Core, punt: EidWanted) {
        self.want(core, punt);
    }
}

impl Hears<LispSaid> for Lisp {
    fn hear(&mut self, core: &mut Core, punt: LispSaid) {
        self.hear_message(core, punt);
    }
}

#[cfg(test)]
mod tests;
