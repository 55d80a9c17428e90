//! One change of the configuration at a time. A change that fails is followed by the inverses of
//! those before it, so that the whole takes effect or nothing does.

use crate::connected;
use crate::interfaces::OpenPort;
use crate::router::{Router, echoes_pps};
use crate::routing::{Family, InVrf, LinkOf, Routes};
use crate::standing::Standing;
use control::config::change::Replaced;
use control::config::objects::neighbor::NeighborKey as ConfigNeighbor;
use control::config::objects::port::{Port, PortName};
use control::config::objects::port_kind::PortKind;
use control::config::objects::route::{NextHop as ConfigHop, Route as ConfigRoute, RouteKey};
use control::config::objects::xconnect::PortPair;
use control::config::{Change, Delta};
use control::engine::ApplyError;
use fib::FibError;
use fib::neighbor::NeighborKey;
use fib::rib::{NextHop, Protocol, Route, Target};
use nodes::tables::MOST_INTERFACES;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long workers may take to give queues back: a stalled machine included.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

impl Router {
    /// Makes all changes, or none.
    pub(crate) fn apply_all(&mut self, changes: &[Change]) -> Result<(), ApplyError> {
        for (done, change) in changes.iter().enumerate() {
            if let Err(error) = self.step(change) {
                for made in changes[..done].iter().rev() {
                    if let Err(fault) = self.step(&made.inverse()) {
                        eprintln!("volleyd: while taking back `{made}`: {fault}");
                    }
                }
                self.after_steps();
                return Err(error);
            }
        }
        self.after_steps();
        Ok(())
    }

    fn after_steps(&mut self) {
        self.access.settle();
        self.inherit_macs();
        if let Err(full) = self.settle_remotes() {
            eprintln!("volleyd: {full}");
        }
        self.publish_rows();
        let table = &self.dataplane.stations.table;
        let row_of = |port: &PortName, remote| self.row_of(port, remote);
        let own = self.ports.iter().filter(|(_, port)| port.config.kind == PortKind::Bvi);
        let own = own.map(|(name, port)| (name, port.mac));
        if let Err(error) = self.bridging.place_fixed(own, &row_of, table) {
            eprintln!("volleyd: {error}");
        }
        self.settle_neighbors();
        for port in self.ports.values_mut() {
            port.begin_reading(&self.dataplane);
        }
    }

    fn step(&mut self, change: &Change) -> Result<(), ApplyError> {
        match change {
            // Workers, memory and timers are made once, at the start.
            Change::Workers(_) | Change::Memory(_) | Change::Api(_) | Change::Arp(_) => Ok(()),
            // The control side's own.
            Change::Log(_) => Ok(()),
            Change::Icmp(Replaced { new, .. }) => {
                let limits = &self.dataplane.icmp;
                limits.errors_per_second.store(new.errors_pps, Ordering::Relaxed);
                limits.echoes_per_second.store(echoes_pps(new), Ordering::Relaxed);
                Ok(())
            }
            Change::Twins(Replaced { new, .. }) => {
                self.limit_twins(new);
                Ok(())
            }
            Change::Fpm(Replaced { old, new }) => self.set_fpm(old, new),
            Change::Vrfs(Delta::Removed { key, .. }) => self.set_vrf(key, false),
            Change::Vrfs(Delta::Added { key, .. } | Delta::Modified { key, .. }) => {
                self.set_vrf(key, true)
            }
            Change::Ports(Delta::Added { key, row }) => self.add_port(key, row),
            Change::Ports(Delta::Removed { key, .. }) => self.remove_port(key),
            Change::Ports(Delta::Modified { key, old, new }) => self.modify_port(key, old, new),
            Change::Routes(Delta::Added { key, row }) => self.change_route(key, None, Some(row)),
            Change::Routes(Delta::Modified { key, old, new }) => {
                self.change_route(key, Some(old), Some(new))
            }
            Change::Routes(Delta::Removed { key, row }) => self.change_route(key, Some(row), None),
            Change::Neighbors(Delta::Added { key, row }) => self.set_neighbor(key, Some(row.mac.0)),
            Change::Neighbors(Delta::Modified { key, new, .. }) => {
                self.set_neighbor(key, Some(new.mac.0))
            }
            Change::Neighbors(Delta::Removed { key, .. }) => self.set_neighbor(key, None),
            Change::Xconnects(Delta::Removed { key, .. }) => self.set_xconnect(key, false),
            Change::Xconnects(Delta::Added { key, .. } | Delta::Modified { key, .. }) => {
                self.set_xconnect(key, true)
            }
            Change::Bridges(delta) => {
                let (name, config) = outcome_of(delta);
                self.set_bridge(name, config).map_err(|why| fault(&format!("bridge.{name}"), why))
            }
            Change::Acls(delta) => {
                let (name, config) = outcome_of(delta);
                let workers = self.dataplane.worker_cores().len();
                let refuse =
                    |error: acl::AclError| fault(&format!("acl.{name}"), error.to_string());
                self.access.set(name, config, workers).map_err(refuse)
            }
            Change::Policers(delta) => {
                let (name, config) = outcome_of(delta);
                let workers = self.dataplane.worker_cores().len();
                let refuse = |error: police::PoliceError| {
                    fault(&format!("policer.{name}"), error.to_string())
                };
                self.policers.set(name, config, workers).map_err(refuse)
            }
            Change::Mirrors(delta) => {
                let (name, config) = outcome_of(delta);
                self.mirroring.set(name, config);
                Ok(())
            }
            Change::Stations(delta) => {
                let (key, station) = outcome_of(delta);
                self.bridging.set_fixed(key, station, &self.dataplane.stations.table);
                Ok(())
            }
        }
    }

    fn add_port(&mut self, name: &PortName, config: &Port) -> Result<(), ApplyError> {
        let refuse = |message: String| fault(&format!("port.{name}"), message);
        let id =
            self.free_id().ok_or_else(|| refuse(format!("more than {MOST_INTERFACES} ports")))?;
        let mut port =
            OpenPort::open(id, config, &self.devices, &self.dataplane).map_err(refuse)?;
        port.mac = self.inherited_mac(config).unwrap_or(port.mac);
        port.link = self.link_of(&port);
        self.ports.insert(name.clone(), port);
        self.publish_rows();
        self.refresh_qos(name)?;
        if let Err(error) = self.refresh_twin(name) {
            self.remove_port(name)?;
            return Err(error);
        }
        self.refresh_port(name).map_err(|error| refuse(error.to_string()))
    }

    fn remove_port(&mut self, name: &PortName) -> Result<(), ApplyError> {
        self.end_advertising(name);
        if let Some(port) = self.ports.get_mut(name) {
            port.config.addresses.clear();
            port.config.up = false;
        }
        self.refresh_port(name)
            .map_err(|error| fault(&format!("port.{name}"), error.to_string()))?;
        self.end_qos(name)?;
        self.end_twin(name);
        self.close_device(name);
        if let Some(port) = self.ports.remove(name) {
            for id in port.rows() {
                self.dataplane.set_interface(id, None);
                self.forget_stations_behind(id);
            }
        }
        Ok(())
    }

    /// Takes a port's queues from the workers, then closes its device.
    pub(crate) fn close_device(&mut self, name: &PortName) {
        let Some(port) = self.ports.get_mut(name) else { return };
        let (id, device) = (port.id, port.device.take());
        port.unread.clear();
        port.link = crate::interfaces::Link::default();
        let mut local = self.take_local();
        let queues = self.dataplane.detach_port(id, id, PATIENCE, || match &mut local {
            Some(worker) => {
                worker.turn();
            }
            None => std::thread::sleep(Duration::from_micros(100)),
        });
        self.give_back_local(local);
        drop(queues);
        drop(device);
    }

    fn configure(&mut self, name: &PortName, config: &Port) {
        if let Some(port) = self.ports.get_mut(name) {
            port.config = config.clone();
        }
    }

    fn modify_port(&mut self, name: &PortName, old: &Port, new: &Port) -> Result<(), ApplyError> {
        let stays = old.same_device(new) && old.mac == new.mac && old.mtu == new.mtu;
        if !stays {
            self.remove_port(name)?;
            return self.add_port(name, new).inspect_err(|_| {
                if let Err(again) = self.add_port(name, old) {
                    eprintln!("volleyd: port {name} cannot be opened again: {again}");
                }
            });
        }
        if !new.advertises() {
            self.end_advertising(name);
        }
        self.configure(name, new);
        if let Err(error) = self.refresh_qos(name).and_then(|()| self.refresh_twin(name)) {
            self.configure(name, old);
            for again in [self.refresh_qos(name), self.refresh_twin(name)] {
                again.unwrap_or_else(|again| eprintln!("volleyd: while taking back: {again}"));
            }
            return Err(error);
        }
        self.publish_rows();
        self.refresh_port(name).map_err(|error| fault(&format!("port.{name}"), error.to_string()))
    }

    /// Brings routes and neighbours to what the port's addresses, VRF, state and link say.
    pub(crate) fn refresh_port(&mut self, name: &PortName) -> Result<(), FibError> {
        self.watch_addresses(name);
        let Some(port) = self.ports.get(name) else { return Ok(()) };
        let (id, mac, carries) = (port.id, port.mac, port.carries());
        let announces = carries && !port.config.kind.is_point_to_point();
        let wanted = Standing {
            vrf: self.vrf_of(&port.config),
            ip4: connected::of_addresses(id, &port.addresses()),
            ip6: connected::of_addresses(id, &port.valid6),
            specials: port.wanted_specials(),
        };
        let new = self.set_standing(name, wanted)?;
        for address in new.into_iter().filter(|_| announces) {
            self.neighborhood.announce(id, mac, address);
        }
        self.change_routes(|routes, link| routes.set_interface(id, carries, link))
    }

    /// Looks at one port's link; opens a device again that went away.
    pub(crate) fn look_at_link(&mut self, name: &PortName, reopen: bool) {
        let Some(now) = self.ports.get(name).map(|port| self.link_of(port)) else { return };
        let Some(port) = self.ports.get_mut(name) else { return };
        let (before, mut now, id) = (port.link, now, port.id);
        if !now.up {
            port.reconnect();
        }
        let gone = port.device.is_some() && port.device_is_gone();
        if gone {
            tracing::warn!(fault = "device-gone", port = %name, "the device is gone");
            self.close_device(name);
            now = crate::interfaces::Link::default();
        }
        if reopen && self.ports.get(name).is_some_and(|port| port.device.is_none()) {
            let Some(port) = self.ports.get_mut(name) else { return };
            if port.open_device(&self.devices, &self.dataplane).is_ok() {
                tracing::info!(port = %name, "the device is back");
                port.begin_reading(&self.dataplane);
                now = port.link;
            }
        }
        if now == before && !gone {
            return;
        }
        if let Some(port) = self.ports.get_mut(name) {
            port.link = now;
        }
        match (before.up, now.up) {
            (false, true) => tracing::info!(port = %name, "the link is up"),
            (true, false) => tracing::warn!(port = %name, "the link is down"),
            _ => {}
        }
        self.publish_rows();
        if !now.up {
            self.forget_stations_behind(id);
            self.with_neighbors(|neighbors, now_ns, out| neighbors.interface_down(now_ns, id, out));
        }
        if let Err(error) = self.refresh_port(name) {
            eprintln!("volleyd: port {name}: {error}");
        }
        if now.up && !before.up {
            self.announce_addresses(name);
            self.with_neighbors(|neighbors, now_ns, out| neighbors.flush(now_ns, Some(id), out));
        }
        self.settle_neighbors();
    }

    fn announce_addresses(&mut self, name: &PortName) {
        let asks = |port: &&OpenPort| port.carries() && !port.config.kind.is_point_to_point();
        let Some(port) = self.ports.get(name).filter(asks) else { return };
        // IPv6 addresses are announced when nobody else was found to have them.
        for (address, _) in port.addresses() {
            self.neighborhood.announce(port.id, port.mac, Ipv4Addr::from(address).into());
        }
    }

    /// Turns a static route into another; one that does not fit leaves the old one.
    fn change_route(
        &mut self,
        key: &RouteKey,
        old: Option<&ConfigRoute>,
        new: Option<&ConfigRoute>,
    ) -> Result<(), ApplyError> {
        self.set_route(key, new).inspect_err(|_| {
            if let Err(again) = self.set_route(key, old) {
                eprintln!("volleyd: while taking back: {again}");
            }
        })
    }

    fn set_route(&mut self, key: &RouteKey, route: Option<&ConfigRoute>) -> Result<(), ApplyError> {
        let refuse = |message: String| fault(&format!("route {key}"), message);
        let target = route.map(|route| self.target_of(route));
        let (vrf, length) = (self.vrfs.of(key.vrf.as_ref()), key.prefix.length());
        let set = |routes: &mut Routes, link: LinkOf<'_>| match key.prefix.address() {
            IpAddr::V4(first) => {
                set_static(routes.ip4.in_vrf(vrf, link), first.into(), length, target)
            }
            IpAddr::V6(first) => {
                set_static(routes.ip6.in_vrf(vrf, link), first.into(), length, target)
            }
        };
        self.change_routes(set).map_err(|error| refuse(error.to_string()))
    }

    fn set_neighbor(
        &mut self,
        key: &ConfigNeighbor,
        mac: Option<[u8; 6]>,
    ) -> Result<(), ApplyError> {
        let field = format!("neighbor {}", key.address);
        let Some(interface) = self.ports.get(&key.port).map(|port| port.id) else {
            return Err(fault(&field, format!("there is no port `{}`", key.port)));
        };
        let neighbor = NeighborKey { interface, address: key.address };
        let Some(mac) = mac else {
            self.with_neighbors(|neighbors, now_ns, out| {
                neighbors.remove_static(now_ns, neighbor, out);
            });
            return Ok(());
        };
        let mut outcome = Ok(());
        let own = self.ports.get(&key.port).map(|port| (port.link_header(), port.config.mtu));
        let adjacency = self.routing.adjacency(neighbor, &|_| own);
        self.with_neighbors(|neighbors, now_ns, out| {
            outcome = neighbors.add_static(now_ns, neighbor, mac, out).and_then(|()| {
                let Some(id) = adjacency? else { return Ok(()) };
                neighbors.need(now_ns, neighbor, id, fib::neighbor::Need::Route, out)
            });
        });
        outcome.map_err(|error| fault(&field, error.to_string()))
    }

    fn set_xconnect(&mut self, pair: &PortPair, connected: bool) -> Result<(), ApplyError> {
        let [first, second] = pair.ports();
        for (name, peer) in [(first, second), (second, first)] {
            let Some(port) = self.ports.get_mut(name) else {
                return Err(fault(
                    &format!("xconnect {pair}"),
                    format!("there is no port `{name}`"),
                ));
            };
            port.peer = connected.then(|| peer.clone());
        }
        self.publish_rows();
        Ok(())
    }

    fn target_of(&self, route: &ConfigRoute) -> Target {
        let hops = match route {
            ConfigRoute::Vrf(vrf) => return Target::Table(self.vrfs.of(vrf.as_ref()).0),
            ConfigRoute::Blackhole => return Target::Blackhole,
            ConfigRoute::Unreachable => return Target::Unreachable,
            ConfigRoute::Prohibit => return Target::Prohibit,
            ConfigRoute::Via(hops) => hops,
        };
        let ids = self.ids();
        let hop = |hop: &ConfigHop| NextHop {
            address: hop.address,
            interface: hop.port.as_ref().and_then(|port| ids.get(port).copied()),
            weight: hop.weight,
        };
        Target::Via(hops.iter().map(hop).collect())
    }

    /// Changes routes, then asks the neighbours what that takes.
    pub(crate) fn change_routes<T>(
        &mut self,
        change: impl FnOnce(&mut Routes, LinkOf<'_>) -> T,
    ) -> T {
        let now_ns = self.now_ns();
        let Self { routing, neighborhood, ports, .. } = self;
        let link = |id: u16| {
            let port = ports.values().find(|port| port.id == id)?;
            Some((port.link_header(), port.config.mtu))
        };
        let outcome = change(routing, &link);
        neighborhood.wish(now_ns, routing.take_wishes());
        outcome
    }
}

fn set_static<A: Family>(
    routes: Option<InVrf<'_, A>>,
    first: A,
    length: u8,
    target: Option<Target>,
) -> Result<(), FibError> {
    // The routes of a VRF that is gone went with it.
    let Some(mut routes) = routes else { return Ok(()) };
    let network = fib::Prefix::new(first, length)?;
    match target {
        Some(target) => routes.add(network, Protocol::Static, Route { target }),
        None => routes.remove(network, Protocol::Static),
    }
}

/// The row after a change, if it is there then.
fn outcome_of<K, V>(delta: &Delta<K, V>) -> (&K, Option<&V>) {
    match delta {
        Delta::Added { key, row } => (key, Some(row)),
        Delta::Modified { key, new, .. } => (key, Some(new)),
        Delta::Removed { key, .. } => (key, None),
    }
}

pub(crate) fn fault(field: &str, message: String) -> ApplyError {
    ApplyError { field: field.to_owned(), message, suggestion: None }
}
