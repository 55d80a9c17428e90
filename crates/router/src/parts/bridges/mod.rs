//! Bridges: who is in them, their fixed stations, the ageing of the others, and who has which
//! address.
//!
//! ```text
//!  configuration ─▶ bridges, fixed stations ─▶ mode of each port's row, entries of the MAC table
//!  clock ─▶ tick (a second) ─▶ what was not heard for long is swept out, a part of the table a turn
//! ```

mod bindings;
mod evpn;
mod flapping;
mod flows;
mod places;
mod show;
mod snooping;
mod spanning;

use crate::core::{Core, fault};
use crate::interfaces::OpenPort;
use crate::part::{Hears, Makes, Part};
use bindings::Binding;
use control::config::Delta;
use control::config::objects::bridge::{Bridge, BridgeName, Flags, Member};
use control::config::objects::port::PortName;
use control::config::objects::port_kind::PortKind;
use control::config::objects::station::{Station, StationKey};
use control::engine::ApplyError;
use evpn::Evpn;
use fib::FibError;
use fib::mac::{MacFlush, MacKey, MacSweep, MacTable};
use flapping::Flapping;
use flows::Flows;
use nodes::tables::{
    BindingHeard, BpduHeard, BridgeId, BridgePort, ComesBack, FlowTold, GroupsSaid, Heeds,
    Interface, Link, Mode, Spanning, StationMoved,
};
use places::Places;
use snooping::Snoopings;
use spanning::Spannings;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Between two steps of the sweep.
const SWEEP_PERIOD: Duration = Duration::from_millis(50);
/// Steps in which the sweep comes round.
const SWEEP_STEPS: usize = 20;
/// The bit of all isolated ports; the bits above are the split-horizon groups'.
const ISOLATED: u64 = 1;

/// All bridges.
#[derive(Default)]
pub(crate) struct Bridges {
    bridges: BTreeMap<BridgeName, OpenBridge>,
    places: Places,
    names: HashMap<BridgeId, BridgeName>,
    /// Stations that do not move.
    fixed: BTreeMap<StationKey, Station>,
    /// Where the router's own stations are in the table.
    own: BTreeSet<MacKey>,
    binding: Binding,
    sweep: MacSweep,
    next_sweep: Option<Instant>,
    flapping: Flapping,
    evpn: Evpn,
    flows: Flows,
    snooping: Snoopings,
    spanning: Spannings,
    /// Those that get back what they send, by a port.
    comes_back: BTreeSet<BridgeId>,
}

/// A configured bridge.
pub(crate) struct OpenBridge {
    pub(crate) id: BridgeId,
    pub(crate) config: Bridge,
}

impl OpenBridge {
    /// What a port may do in it, its own and the bridge's flags together.
    pub(crate) fn flags_of(&self, member: &Member) -> Flags {
        self.config.flags.and(member.flags)
    }

    fn port(&self, member: &Member) -> BridgePort {
        let flags = self.flags_of(member);
        let group = member.group.map_or(0, |group| 1 << group);
        BridgePort {
            bridge: self.id,
            learn: flags.learn,
            forward: flags.forward,
            heeds: Heeds::NOTHING
                .with(Heeds::ARP, self.config.answer_arp)
                .with(Heeds::ND, self.config.answer_nd)
                .with(Heeds::GROUPS, self.config.snooping.is_some()),
            flood_unknown: flags.flood_unknown,
            flood_groups: flags.flood_groups,
            groups: group | if member.isolated { ISOLATED } else { 0 },
            tunnel: None,
            spanning: Spanning::None,
            storm_pps: member.storm_pps,
            flow: None,
            is_behind: self.config.behind.is_some(),
            comes_back: ComesBack::Nowhere,
        }
    }
}

impl Bridges {
    /// What a port may do in the bridge that it is in, if it is in one.
    fn port(&self, name: &PortName) -> Option<BridgePort> {
        self.places.port(name)
    }

    /// The bridge of a number.
    fn name_of(&self, id: u16) -> Option<&BridgeName> {
        self.names.get(&BridgeId(id))
    }

    /// Its name, in a sentence.
    pub(crate) fn word_of(&self, id: BridgeId) -> String {
        self.name_of(id.0).map_or_else(String::new, ToString::to_string)
    }

    /// Whether a routing daemon tells a bridge who is beyond its tunnel: nothing is learned there.
    fn is_told(&self, bridge: BridgeId) -> bool {
        let bridge = self.name_of(bridge.0).and_then(|name| self.bridges.get(name));
        bridge.is_some_and(|bridge| bridge.config.evpn.is_some())
    }

    /// Where what a bridge sends may come back, to one of its ports.
    fn comes_back(&self, core: &Core, port: &OpenPort, bridge: BridgeId) -> ComesBack {
        if core.ports.is_sent_back(port) {
            ComesBack::Here
        } else if self.comes_back.contains(&bridge) {
            ComesBack::Elsewhere
        } else {
            ComesBack::Nowhere
        }
    }

    /// How many bindings of a family a bridge has.
    fn bindings(&self, bridge: BridgeId, is_ipv4: bool) -> usize {
        self.binding.count(bridge, is_ipv4)
    }

    /// Makes, changes or removes a bridge. Stations behind ports that leave are forgotten.
    fn set(
        &mut self,
        name: &BridgeName,
        config: Option<&Bridge>,
        rows: &dyn Fn(&PortName) -> Vec<u16>,
        table: &MacTable,
    ) -> Result<(), String> {
        let had = self.bridges.remove(name);
        if let Some(had) = &had {
            self.places.clear(had.id);
            self.names.remove(&had.id);
            let stays = |port: &PortName| config.is_some_and(|new| new.member(port).is_some());
            for left in had.config.ports.iter().filter(|member| !stays(&member.port)) {
                for id in rows(&left.port) {
                    table.flush(MacFlush::Port(id.into()));
                }
            }
        }
        let Some(config) = config else {
            if let Some(OpenBridge { id, .. }) = had {
                table.flush(MacFlush::Domain(id.0));
                table.set_domain_limit(id.0, None);
                table.set_domain_max_age(id.0, None);
            }
            return Ok(());
        };
        let free = || (1..u16::MAX).map(BridgeId).find(|id| !self.names.contains_key(id));
        let id = had.map(|had| had.id).or_else(free).ok_or("too many bridges")?;
        table.set_domain_limit(id.0, Some(config.mac_limit));
        table.set_domain_max_age(id.0, Some(config.ageing.as_secs() as u32));
        let bridge = OpenBridge { id, config: config.clone() };
        let ports = config.ports.iter().map(|it| (it.port.clone(), bridge.port(it)));
        self.places.set(config, ports);
        self.names.insert(id, name.clone());
        self.bridges.insert(name.clone(), bridge);
        Ok(())
    }

    /// Fixes a station behind a port, or lets it move again.
    fn set_fixed(&mut self, key: &StationKey, station: Option<&Station>, table: &MacTable) {
        if let Some(bridge) = self.bridges.get(&key.bridge) {
            table.remove(MacKey::new(bridge.id.0, key.address.0));
        }
        match station {
            Some(station) => drop(self.fixed.insert(key.clone(), station.clone())),
            None => drop(self.fixed.remove(key)),
        }
    }

    /// Puts every fixed station behind its port: bridges and ports may have other numbers now. So
    /// with the router's own stations, of these names and addresses.
    fn place_fixed<'a>(
        &mut self,
        own: impl Iterator<Item = (&'a PortName, [u8; 6])>,
        row_of: &dyn Fn(&PortName, Option<IpAddr>) -> Option<u16>,
        table: &MacTable,
    ) -> Result<(), FibError> {
        let own = own.filter_map(|(name, mac)| {
            let (port, id) = (self.port(name)?, row_of(name, None)?);
            Some((MacKey::new(port.bridge.0, mac), u32::from(id)))
        });
        let own: BTreeMap<MacKey, u32> = own.collect();
        // Its port left the bridge, the bridge is gone, or the address is another.
        let had = std::mem::replace(&mut self.own, own.keys().copied().collect());
        had.difference(&self.own).for_each(|left| _ = table.remove(*left));
        for (key, station) in &self.fixed {
            let row = row_of(&station.port, station.remote);
            if let (Some(bridge), Some(id)) = (self.bridges.get(&key.bridge), row) {
                table.insert_static(MacKey::new(bridge.id.0, key.address.0), id.into())?;
            }
        }
        own.into_iter().try_for_each(|(key, id)| table.insert_static(key, id).map(drop))
    }
}

impl Part for Bridges {
    /// Tunnels have an interface for each remote that a fixed station is behind; ports know whom
    /// their bridge tells of packets.
    fn settle(&mut self, core: &mut Core) {
        let sent_back = core.ports.iter().filter(|(_, port)| core.ports.is_sent_back(port));
        let of = |(name, _): (&PortName, &OpenPort)| Some(self.port(name)?.bridge);
        self.comes_back = sent_back.filter_map(of).collect();
        for port in core.ports.values_mut() {
            port.fixed_remotes.clear();
            port.bridge_exports.clear();
            port.bridge_samples.clear();
        }
        for OpenBridge { config, .. } in self.bridges.values() {
            let tells = !config.export.is_empty() || !config.samples.is_empty();
            for member in config.ports.iter().filter(|_| tells) {
                if let Some(port) = core.ports.get_mut(&member.port) {
                    port.bridge_exports.extend_from_slice(&config.export);
                    port.bridge_samples.extend_from_slice(&config.samples);
                }
            }
        }
        for station in self.fixed.values() {
            if let (Some(port), Some(remote)) = (core.ports.get_mut(&station.port), station.remote)
            {
                port.fixed_remotes.insert(remote);
            }
        }
    }

    fn row(&self, core: &Core, name: &PortName, port: &OpenPort, row: &mut Interface) {
        if port.config.kind == PortKind::Bvi {
            row.link = Link::Bridge;
        }
        if let Some(mut bridged) = self.port(name) {
            bridged.learn &= !(port.config.kind.has_remotes() && self.is_told(bridged.bridge));
            bridged.flow = self.places.flows(name).and_then(|id| self.flows.port(id, name));
            bridged.comes_back = self.comes_back(core, port, bridged.bridge);
            self.spanning.hold(name, port, &mut bridged);
            row.mode = Mode::Bridged(bridged);
            row.bridge_name = self.word_of(bridged.bridge);
        }
    }

    fn published(&mut self, core: &mut Core) {
        self.flows.follow(core);
        let own = core.ports.iter().filter(|(_, port)| port.config.kind == PortKind::Bvi);
        let own = own.map(|(name, port)| (name, port.mac));
        let row_of = |port: &PortName, remote| row_of(core, port, remote);
        if let Err(error) = self.place_fixed(own, &row_of, &core.dataplane.stations.table) {
            tracing::warn!(fault = "bridges", "{error}");
        }
        self.evpn.published(core);
        self.snooping.published(core);
        self.spanning.published(core);
    }

    fn link_up(&mut self, core: &mut Core, port: &PortName) {
        self.flows.follow(core);
        self.snooping.link_up(core, port);
        self.spanning.link_changed(core);
    }

    fn link_down(&mut self, core: &mut Core, port: &PortName) {
        self.flows.follow(core);
        self.snooping.link_down(core, port);
        self.spanning.link_changed(core);
        if let Some(id) = core.ports.id_of(port) {
            core.forget_stations_behind(id);
        }
    }

    /// Whoever waits for what we say of a spanning tree does not wait for a change of the
    /// configuration.
    fn beat(&mut self, core: &mut Core, _: Instant) {
        self.spanning.turn(core);
    }

    /// Lets the stations' time pass, and tells workers whose addresses are whose.
    fn turn(&mut self, core: &mut Core, now: Instant) -> bool {
        if let Some(bindings) = self.binding.due(now) {
            core.dataplane.set_bindings(bindings);
        }
        self.snooping.turn(core, now);
        self.spanning.turn(core);
        self.evpn.turn(core, &self.bridges, &mut self.binding, now);
        if self.next_sweep.is_some_and(|next| now < next) {
            return false;
        }
        self.next_sweep = Some(now + SWEEP_PERIOD);
        self.tell_flapping(now);
        self.flows.turn(core);
        let tick = (core.now_ns() / 1_000_000_000) as u32;
        let stations = &core.dataplane.stations;
        stations.set_now(tick);
        let lines = stations.table.line_count().div_ceil(SWEEP_STEPS);
        stations.table.sweep(&mut self.sweep, lines, tick);
        false
    }
}

/// Hears what other bridges say of a spanning tree.
impl Hears<BpduHeard> for Bridges {
    fn hear(&mut self, core: &mut Core, heard: BpduHeard) {
        self.spanning.hear(core, &heard);
    }
}

impl Makes<Delta<BridgeName, Bridge>> for Bridges {
    fn make(
        &mut self,
        core: &mut Core,
        change: &Delta<BridgeName, Bridge>,
    ) -> Result<(), ApplyError> {
        let (name, config) = change.outcome();
        let id = |bridges: &Self| bridges.bridges.get(name).map(|bridge| bridge.id);
        let before = id(self);
        let rows = |port: &PortName| {
            core.ports.get(port).map_or_else(Vec::new, |port| port.rows().collect())
        };
        self.set(name, config, &rows, &core.dataplane.stations.table)
            .map_err(|why| fault(&format!("bridge.{name}"), why))?;
        if let Some(id) = id(self).or(before) {
            self.binding.set(id, config);
            self.snooping.set(core, id, name, config);
            self.spanning.set(core, id, name, config);
            self.flows.set(core, id, name, config)?;
        }
        core.touch_rows();
        Ok(())
    }
}

impl Makes<Delta<StationKey, Station>> for Bridges {
    fn make(
        &mut self,
        core: &mut Core,
        change: &Delta<StationKey, Station>,
    ) -> Result<(), ApplyError> {
        let (key, station) = change.outcome();
        self.set_fixed(key, station, &core.dataplane.stations.table);
        core.touch_rows();
        Ok(())
    }
}

impl Hears<FlowTold> for Bridges {
    fn hear(&mut self, core: &mut Core, told: FlowTold) {
        self.flows.told(core, told);
    }
}

impl Hears<GroupsSaid> for Bridges {
    fn hear(&mut self, core: &mut Core, said: GroupsSaid) {
        self.snooping.hear(core, said);
    }
}

impl Hears<StationMoved> for Bridges {
    fn hear(&mut self, _: &mut Core, moved: StationMoved) {
        self.flapping.moved(moved.station);
    }
}

/// Learns who has an address.
impl Hears<BindingHeard> for Bridges {
    fn hear(&mut self, core: &mut Core, punt: BindingHeard) {
        let name = self.name_of(punt.bridge.0);
        let bridge = name.and_then(|name| self.bridges.get(name));
        if bridge.is_some_and(|bridge| bridge.config.answers_for(punt.address)) {
            let stations = &core.dataplane.stations;
            let is_known = |key| stations.table.lookup(key, stations.now()).is_some();
            self.binding.learn(&punt, is_known);
        }
    }
}

impl Bridges {
    /// What comes of a message to a bridge of flows, in a world without sockets.
    pub(crate) fn say(&mut self, bridge: &str, message: &[u8]) -> Option<Vec<Vec<u8>>> {
        let (_, bridge) = self.bridges.iter().find(|(name, _)| name.as_str() == bridge)?;
        self.flows.say(bridge.id, message)
    }

    /// Tells, once in a while, which station moves more than any other.
    fn tell_flapping(&mut self, now: Instant) {
        let Some(flaps) = self.flapping.due(now) else { return };
        let (mac, domain) = (wire::MacAddr(flaps.station.address()), flaps.station.domain());
        let name = self.name_of(domain).map_or("?", BridgeName::as_str);
        tracing::warn!(
            fault = "bridges",
            "bridge {name}: {mac} moved {} times or more in {} s; \
             {} stations flap: look for a loop",
            flaps.moves,
            flaps.within.as_secs(),
            flaps.stations
        );
    }
}

/// The interface behind which a station is that is fixed to a port, and there to a remote.
fn row_of(core: &Core, port: &PortName, remote: Option<IpAddr>) -> Option<u16> {
    let port = core.ports.get(port)?;
    match remote {
        None => Some(port.id),
        Some(remote) => port.remotes.get(&remote).map(|remote| remote.id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::config::field::Field;
    use fib::pages::PageSize;
    use fib::quiesce::Quiescence;

    fn port(name: &str) -> PortName {
        PortName::from_text(name).unwrap()
    }

    fn of(ports: &[&str]) -> Bridge {
        let ports = ports.iter().map(|name| Member::new(port(name))).collect();
        Bridge { ports, ..Bridge::default() }
    }

    #[test]
    fn a_port_that_leaves_takes_its_stations_with_it() {
        let table = MacTable::new(100, PageSize::Small, &Quiescence::new()).unwrap();
        let mut bridging = Bridges::default();
        let lan = BridgeName::from_text("lan").unwrap();
        let ids = BTreeMap::from([(port("a"), vec![4]), (port("b"), vec![5])]);
        let ids = |port: &PortName| ids.get(port).cloned().unwrap_or_default();
        bridging.set(&lan, Some(&of(&["a", "b"])), &ids, &table).unwrap();
        let id = bridging.port(&port("a")).unwrap().bridge;
        let stations = [[2; 6], [4; 6]].map(|mac| MacKey::new(id.0, mac));
        table.learn(stations[0], 4, 0);
        table.learn(stations[1], 5, 0);
        bridging.set(&lan, Some(&of(&["b"])), &ids, &table).unwrap();
        assert_eq!(bridging.port(&port("a")), None);
        assert_eq!(stations.map(|key| table.lookup(key, 0).is_some()), [false, true]);
        bridging.set(&lan, None, &ids, &table).unwrap();
        assert!(table.is_empty());
    }

    #[test]
    fn groups_and_flags_of_bridge_and_port_add_up() {
        let table = MacTable::new(100, PageSize::Small, &Quiescence::new()).unwrap();
        let mut bridging = Bridges::default();
        let lan = BridgeName::from_text("lan").unwrap();
        let mut config = of(&["a", "b", "c"]);
        config.flags.learn = false;
        config.ports[0].isolated = true;
        config.ports[1].group = Some(3);
        config.ports[1].flags.flood_unknown = false;
        bridging.set(&lan, Some(&config), &|_| Vec::new(), &table).unwrap();
        let ports = ["a", "b", "c"].map(|name| bridging.port(&port(name)).unwrap());
        assert_eq!(ports.map(|port| port.groups), [1, 8, 0]);
        assert_eq!(ports.map(|port| port.learn), [false; 3]);
        assert_eq!(ports.map(|port| port.flood_unknown), [true, false, true]);
    }

    #[test]
    fn the_routers_own_station_goes_with_its_address_and_with_its_bridge() {
        let table = MacTable::new(100, PageSize::Small, &Quiescence::new()).unwrap();
        let mut bridging = Bridges::default();
        let lan = BridgeName::from_text("lan").unwrap();
        let name = port("bvi");
        bridging.set(&lan, Some(&of(&["bvi"])), &|_| vec![4], &table).unwrap();
        let domain = bridging.port(&name).unwrap().bridge.0;
        let place = |bridging: &mut Bridges, mac: [u8; 6]| {
            let own = std::iter::once((&name, mac));
            bridging.place_fixed(own, &|_, _| Some(4), &table).unwrap();
            [[2; 6], [4; 6]].map(|mac| table.lookup(MacKey::new(domain, mac), 0).is_some())
        };
        assert_eq!(place(&mut bridging, [2; 6]), [true, false]);
        assert_eq!(place(&mut bridging, [4; 6]), [false, true]);
        bridging.set(&lan, None, &|_| vec![4], &table).unwrap();
        assert_eq!(place(&mut bridging, [4; 6]), [false, false]);
        assert!(table.is_empty());
    }

    #[test]
    fn fixed_stations_follow_their_port_to_its_new_number() {
        let table = MacTable::new(100, PageSize::Small, &Quiescence::new()).unwrap();
        let mut bridging = Bridges::default();
        let lan = BridgeName::from_text("lan").unwrap();
        bridging.set(&lan, Some(&of(&["a"])), &|_| Vec::new(), &table).unwrap();
        let key = StationKey { bridge: lan, address: wire::MacAddr([2; 6]) };
        let station = Station { port: port("a"), remote: None };
        bridging.set_fixed(&key, Some(&station), &table);
        let place = |bridging: &mut Bridges, id| {
            let row_of = |_: &PortName, _| Some(id);
            bridging.place_fixed(std::iter::empty(), &row_of, &table).unwrap();
            let bridge = bridging.port(&port("a")).unwrap().bridge;
            table.lookup(MacKey::new(bridge.0, [2; 6]), 0).map(|entry| entry.port)
        };
        assert_eq!(place(&mut bridging, 4), Some(4));
        assert_eq!(place(&mut bridging, 9), Some(9));
        bridging.set_fixed(&key, None, &table);
        assert!(table.is_empty());
    }
}
