//! Bridges of flows: their ports, what packets tell of them, and who speaks with controllers.
//!
//! ```text
//!  configuration ─▶ Flows ─▶ Hub (a lock, no worker's) ◀─ connections, threads ◀─▶ ovs-ofctl, controllers
//!  ports, links ──▶        ├ switch::Bridge: tables, answers
//!  punts, clock ──▶        └ publishes for workers what changed
//! ```
//! What connections ask of a hub may take long. The control thread waits for it where somebody
//! changes the bridge; ports, packets and time are told at the next turn at which nobody speaks.

mod controller;
mod hub;
mod keys;
mod megaflows;
mod normal;
mod outbox;
mod seats;
mod server;
mod session;
mod show;
mod stream;
mod surroundings;
mod trace;

use crate::core::{Core, fault};
use control::config::objects::bridge::{Bridge, BridgeName, FailMode};
use control::config::objects::bridge_controller::{Controller, Protocol, Target};
use control::config::objects::export::ExportName;
use control::config::objects::port::PortName;
use control::config::objects::port_kind::PortKind;
use control::engine::ApplyError;
use controller::OpenController;
use graph::tsc_hz;
use hub::{Hub, Policy};
use nodes::tables::{BridgeId, FlowPort, FlowRow, FlowTold, Link, Spanning, Tunnel, bridge_port};
use normal::Domains;
use openflow::port::LOCAL;
use openflow::{Sub, Version, Versions};
use rights::Folders;
use server::Server;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use surroundings::Surroundings;
use switch::{Connection, Port, TableSettings};

/// Where Open vSwitch's tools look for bridges.
const USUAL_FOLDER: &str = "/var/run/openvswitch";
/// Packets for controllers that may wait until a hub hears.
const MOST_WAITING: usize = 256;

/// All bridges of flows.
#[derive(Default)]
pub(super) struct Flows {
    open: BTreeMap<BridgeId, Open>,
}

struct Open {
    id: BridgeId,
    hub: Arc<Mutex<Hub>>,
    /// Its ports, those that had a number first.
    numbers: BTreeMap<PortName, u16>,
    path: PathBuf,
    /// Who is told of what its flows sample.
    samples: Vec<ExportName>,
    controllers: Vec<OpenController>,
    /// Its hub was busy when ports changed.
    is_behind: bool,
    /// Packets for controllers that came while it was.
    waiting: VecDeque<FlowTold>,
    /// None in a world without sockets.
    _server: Option<Server>,
    /// Who speaks there.
    said: Connection,
}

impl Open {
    /// Has the controllers that there are to be, and no others; or those that there were.
    fn connect(
        &mut self,
        core: &Core,
        name: &BridgeName,
        wanted: &[Controller],
    ) -> Result<(), ApplyError> {
        let had: Vec<Controller> = self.controllers.iter().map(|it| it.config.clone()).collect();
        self.controllers.retain(|it| wanted.contains(&it.config));
        let folders = core.devices.folders();
        self.start(wanted, folders).map_err(|(target, error)| {
            self.controllers.retain(|it| had.contains(&it.config));
            // What was there a moment ago: if it cannot be now, the error is told already.
            _ = self.start(&had, folders);
            let message = format!("{} cannot be: {error}", target.text());
            fault(&format!("bridge.{name}.controllers"), message)
        })
    }

    fn start(
        &mut self,
        wanted: &[Controller],
        folders: &Folders,
    ) -> Result<(), (Target, std::io::Error)> {
        for config in wanted {
            if self.controllers.iter().all(|it| it.config != *config) {
                let open = OpenController::start(config, folders, &self.hub);
                self.controllers.push(open.map_err(|error| (config.target, error))?);
            }
        }
        Ok(())
    }
}

/// The versions that a bridge agrees to.
fn versions(config: &Bridge) -> Versions {
    if config.protocols.is_empty() {
        return Versions::all();
    }
    Versions::of(config.protocols.iter().map(|it| match it {
        Protocol::V10 => Version::V10,
        Protocol::V13 => Version::V13,
        Protocol::V14 => Version::V14,
        Protocol::V15 => Version::V15,
    }))
}

/// What is said of its tables. What is no field makes no groups, as in Open vSwitch.
fn tables(bridge: &BridgeName, config: &Bridge) -> BTreeMap<u8, TableSettings> {
    let group = |text: &String| {
        let sub = Sub::of_text(text);
        if sub.is_none() {
            tracing::warn!(fault = "flow-groups", %bridge, group = %text, "flows have no such field");
        }
        sub
    };
    let said = config.tables.iter().map(|it| {
        let name = it.name.clone().unwrap_or_default();
        let groups = it.groups.iter().filter_map(group).collect();
        (it.number, TableSettings { name, most: it.flow_limit, evicts: it.evict, groups })
    });
    said.collect()
}

/// How a bridge fails: each controller has time to be asked, to answer, and to be tried again.
fn policy(config: &Bridge) -> Policy {
    let active = config.controllers.iter().filter(|it| it.target.is_active());
    let longest = active.map(|it| it.probe).max();
    let patience_ns = longest.map(|probe| 3 * probe.as_nanos() as u64);
    Policy { is_secure: config.fail_mode == FailMode::Secure, patience_ns }
}

/// The hub, if nobody speaks with it: the control thread has others to look after, and comes again.
fn at_once(hub: &Mutex<Hub>) -> Option<MutexGuard<'_, Hub>> {
    match hub.try_lock() {
        Ok(hub) => Some(hub),
        Err(TryLockError::Poisoned(hub)) => Some(hub.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn locked(hub: &Mutex<Hub>) -> MutexGuard<'_, Hub> {
    hub.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Flows {
    /// What a port is in a bridge of flows, if it is in it.
    pub(super) fn port(&self, bridge: BridgeId, name: &PortName) -> Option<FlowPort> {
        let number = self.open.get(&bridge)?.numbers.get(name).copied()?;
        Some(FlowPort { bridge, number })
    }

    /// Makes, changes or removes a bridge.
    pub(super) fn set(
        &mut self,
        core: &Core,
        id: BridgeId,
        name: &BridgeName,
        config: Option<&Bridge>,
    ) -> Result<(), ApplyError> {
        let Some(config) = config.filter(|config| config.has_flows()) else {
            if let Some(open) = self.open.remove(&id) {
                open.end(core);
            }
            return Ok(());
        };
        let usual = || Path::new(USUAL_FOLDER).join(format!("{name}.mgmt"));
        let path = config.management.clone().unwrap_or_else(usual);
        if self.open.get(&id).is_some_and(|open| open.path != path)
            && let Some(open) = self.open.remove(&id)
        {
            open.end(core);
        }
        let (policy, is_new) = (policy(config), !self.open.contains_key(&id));
        if let Entry::Vacant(place) = self.open.entry(id) {
            let hub = Hub::new(id, name.as_str(), policy, Surroundings::new(core));
            let hub = Arc::new(Mutex::new(hub));
            let server = match core.clock.given_tsc() {
                Some(_) => None,
                None => Some(Server::at_path(&path, Arc::clone(&hub)).map_err(|error| {
                    let message = format!("{} cannot be listened at: {error}", path.display());
                    fault(&format!("bridge.{name}.management"), message)
                })?),
            };
            let (numbers, controllers) = (BTreeMap::new(), Vec::new());
            place.insert(Open {
                id,
                hub,
                numbers,
                path,
                samples: Vec::new(),
                controllers,
                is_behind: false,
                waiting: VecDeque::new(),
                _server: server,
                said: Connection::new(true),
            });
        }
        if let Some(open) = self.open.get_mut(&id) {
            open.numbers = numbered(&open.numbers, core, config);
            open.samples.clone_from(&config.samples);
            let mut hub = locked(&open.hub);
            hub.set_policy(policy);
            hub.set_versions(versions(config));
            hub.set_tables(tables(name, config));
            let knows_another = hub.set_datapath(config.datapath.map(|it| it.0));
            hub.settle();
            drop(hub);
            if knows_another {
                // Who knows the bridge by another number has to come again.
                open.controllers.clear();
            }
            let connected = open.connect(core, name, &config.controllers);
            if connected.is_err()
                && is_new
                && let Some(open) = self.open.remove(&id)
            {
                open.end(core);
            }
            return connected;
        }
        Ok(())
    }

    /// Ports, their links or interfaces may be others.
    pub(super) fn follow(&mut self, core: &Core) {
        for open in self.open.values_mut() {
            open.is_behind = !open.follow(core);
        }
    }

    /// A packet came to a flow that tells somebody.
    pub(super) fn told(&mut self, core: &mut Core, told: FlowTold) {
        let Some(open) = self.open.get_mut(&told.bridge) else {
            return core.pool.cache().release_one(told.packet);
        };
        open.waiting.push_back(told);
        if open.waiting.len() > MOST_WAITING
            && let Some(oldest) = open.waiting.pop_front()
        {
            core.pool.cache().release_one(oldest.packet);
        }
        open.tell(core);
    }

    /// What comes of a message, in a world without sockets.
    pub(super) fn say(&mut self, bridge: BridgeId, message: &[u8]) -> Option<Vec<Vec<u8>>> {
        let Open { hub, said, .. } = self.open.get_mut(&bridge)?;
        Some(locked(hub).say(said, message))
    }

    /// Time passes.
    pub(super) fn turn(&mut self, core: &mut Core) {
        let second = (core.clock.tsc() / tsc_hz()) as u32;
        core.flow_connections.sweep(core.now_ns(), second);
        for open in self.open.values_mut() {
            open.is_behind = open.is_behind && !open.follow(core);
            open.tell(core);
            if let Some(mut hub) = at_once(&open.hub) {
                hub.expire();
                hub.settle();
            }
        }
    }
}

/// Whether what flows send to a port may leave by it.
fn forwards(core: &Core, id: u16) -> bool {
    let port = bridge_port(core.dataplane.interfaces(), id);
    port.is_none_or(|it| matches!(it.spanning, Spanning::None | Spanning::Forwarding))
}

/// The tunnel that an interface is, if it is one.
fn tunnel(core: &Core, id: u16) -> Option<Tunnel> {
    match core.dataplane.interfaces().get(id)?.link {
        Link::Tunnel(tunnel) => Some(tunnel),
        _ => None,
    }
}

impl Open {
    /// Tells the hub of the ports there are; false: that is for later.
    fn follow(&self, core: &Core) -> bool {
        let Some(mut hub) = at_once(&self.hub) else { return false };
        let (mut rows, mut tunnels) = (BTreeMap::new(), BTreeMap::new());
        let mut gone: Vec<u16> = hub.bridge.ports().map(|(number, _)| number).collect();
        for (name, &number) in &self.numbers {
            let Some(port) = core.ports.get(name) else { continue };
            gone.retain(|it| *it != number);
            let is_own = port.config.kind == PortKind::Bvi;
            // Nothing leaves by a port that a spanning tree has not forward.
            if forwards(core, port.id) {
                rows.insert(number, FlowRow { interface: port.id, is_own });
            }
            let tunnel = tunnel(core, port.id);
            tunnels.extend(tunnel.map(|it| (number, it.came_by())));
            let seen = Port {
                is_up: port.config.up,
                has_link: is_own || port.carries(),
                asks: tunnel.map(|it| it.asks()).unwrap_or_default(),
                tells_local: tunnel.is_some_and(|it| !it.key.ends.has_local()),
                ..Port::new(name.to_string(), port.mac)
            };
            hub.set_port(number, Some(seen));
        }
        gone.into_iter().for_each(|number| hub.set_port(number, None));
        let interfaces = core.dataplane.interfaces();
        let ports = rows.values().map(|row| row.interface).collect();
        hub.set_domains(Domains::of(interfaces, self.id, &ports));
        hub.set_rows(rows);
        hub.set_tunnels(tunnels);
        let collectors = self.samples.iter().filter_map(|name| core.flow_collectors.get(name));
        hub.set_collectors(collectors.cloned().collect());
        hub.settle();
        true
    }

    /// Tells the hub of packets that wait, if it hears.
    fn tell(&mut self, core: &mut Core) {
        if self.waiting.is_empty() {
            return;
        }
        let Some(mut hub) = at_once(&self.hub) else { return };
        let mut cache = core.pool.cache();
        for told in self.waiting.drain(..) {
            let port = core.port_of(told.interface);
            let number = port.and_then(|(name, _)| self.numbers.get(name).copied());
            hub.told(&told.told, told.packet.bytes(), number.unwrap_or(LOCAL));
            cache.release_one(told.packet);
        }
        hub.settle();
    }

    /// It is no more: what waits goes back.
    fn end(self, core: &Core) {
        locked(&self.hub).close();
        let mut cache = core.pool.cache();
        self.waiting.into_iter().for_each(|told| cache.release_one(told.packet));
    }
}

/// The numbers of a bridge's ports: as they are said, as they were, or the lowest that are free.
fn numbered(
    had: &BTreeMap<PortName, u16>,
    core: &Core,
    config: &Bridge,
) -> BTreeMap<PortName, u16> {
    let mut numbers = BTreeMap::new();
    let is_own = |name: &PortName| {
        core.ports.get(name).is_some_and(|port| port.config.kind == PortKind::Bvi)
    };
    for member in &config.ports {
        let said = if is_own(&member.port) { Some(LOCAL) } else { member.number };
        if let Some(number) = said {
            numbers.insert(member.port.clone(), number);
        }
    }
    let is_free =
        |number: u16, numbers: &BTreeMap<PortName, u16>| !numbers.values().any(|it| *it == number);
    for (name, number) in had {
        let stays = config.member(name).is_some() && !numbers.contains_key(name);
        if stays && *number != LOCAL && is_free(*number, &numbers) {
            numbers.insert(name.clone(), *number);
        }
    }
    for member in config.ports.iter().filter(|member| !is_own(&member.port)) {
        if !numbers.contains_key(&member.port)
            && let Some(number) = (1..=openflow::MAX_PORT).find(|number| is_free(*number, &numbers))
        {
            numbers.insert(member.port.clone(), number);
        }
    }
    numbers
}
