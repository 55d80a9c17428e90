//! Bridges: who is in them, and the ageing of their stations.
//!
//! ```text
//!  configuration ─▶ bridges, fixed stations ─▶ mode of each port's row, entries of the MAC table
//!  clock ─▶ tick (a second) ─▶ what was not heard for long is swept out, a part of the table a turn
//! ```

use crate::router::Router;
use control::config::objects::bridge::{Bridge, BridgeName, Flags, Member};
use control::config::objects::port::PortName;
use control::config::objects::station::{Station, StationKey};
use fib::FibError;
use fib::mac::{MacFlush, MacKey, MacSweep, MacTable};
use nodes::tables::{BridgeId, BridgePort, StationMoved};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Between two steps of the sweep.
const SWEEP_PERIOD: Duration = Duration::from_millis(50);
/// Steps in which the sweep comes round.
const SWEEP_STEPS: usize = 20;
/// For so long moves are counted before they are told.
const FLAP_PERIOD: Duration = Duration::from_secs(10);
/// A station that moves so often in that time flaps: somebody has its address, too, or there is a
/// loop.
const FLAPS: u32 = 4;
/// Stations whose moves are counted at a time.
const FLAPS_COUNTED: usize = 1024;
/// The bit of all isolated ports; the bits above are the split-horizon groups'.
const ISOLATED: u64 = 1;

/// All bridges.
pub(crate) struct Bridging {
    pub(crate) bridges: BTreeMap<BridgeName, OpenBridge>,
    /// Stations that do not move.
    pub(crate) fixed: BTreeMap<StationKey, Station>,
    sweep: MacSweep,
    next_sweep: Instant,
    flapping: Flapping,
}

/// Moves of stations heard of since `since`.
struct Flapping {
    since: Instant,
    moves: HashMap<MacKey, u32>,
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
            answers_arp: self.config.answer_arp,
            answers_nd: self.config.answer_nd,
            flood_unknown: flags.flood_unknown,
            flood_groups: flags.flood_groups,
            groups: group | if member.isolated { ISOLATED } else { 0 },
            tunnel: None,
            storm_pps: member.storm_pps,
        }
    }
}

impl Bridging {
    /// No bridge yet.
    pub(crate) fn new() -> Self {
        Self {
            bridges: BTreeMap::new(),
            fixed: BTreeMap::new(),
            sweep: MacSweep::default(),
            next_sweep: Instant::now(),
            flapping: Flapping { since: Instant::now(), moves: HashMap::new() },
        }
    }

    /// What a port may do in the bridge that it is in, if it is in one.
    pub(crate) fn port(&self, name: &PortName) -> Option<BridgePort> {
        let found = |bridge: &OpenBridge| bridge.config.member(name).map(|it| bridge.port(it));
        self.bridges.values().find_map(found)
    }

    /// The bridge of a number.
    pub(crate) fn name_of(&self, id: u16) -> Option<&BridgeName> {
        let mut bridges = self.bridges.iter();
        bridges.find(|(_, bridge)| bridge.id.0 == id).map(|(name, _)| name)
    }

    /// Makes, changes or removes a bridge. Stations behind ports that leave are forgotten.
    pub(crate) fn set(
        &mut self,
        name: &BridgeName,
        config: Option<&Bridge>,
        rows: &HashMap<PortName, Vec<u16>>,
        table: &MacTable,
    ) -> Result<(), String> {
        let had = self.bridges.remove(name);
        if let Some(had) = &had {
            let stays = |port: &PortName| config.is_some_and(|new| new.member(port).is_some());
            for left in had.config.ports.iter().filter(|member| !stays(&member.port)) {
                for id in rows.get(&left.port).into_iter().flatten() {
                    table.flush(MacFlush::Port((*id).into()));
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
        let taken: Vec<u16> = self.bridges.values().map(|bridge| bridge.id.0).collect();
        let free = || (1..u16::MAX).find(|id| !taken.contains(id)).map(BridgeId);
        let id = had.map(|had| had.id).or_else(free).ok_or("too many bridges")?;
        table.set_domain_limit(id.0, Some(config.mac_limit));
        table.set_domain_max_age(id.0, Some(config.ageing.as_secs() as u32));
        self.bridges.insert(name.clone(), OpenBridge { id, config: config.clone() });
        Ok(())
    }

    /// Fixes a station behind a port, or lets it move again.
    pub(crate) fn set_fixed(
        &mut self,
        key: &StationKey,
        station: Option<&Station>,
        table: &MacTable,
    ) {
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
    pub(crate) fn place_fixed<'a>(
        &self,
        own: impl Iterator<Item = (&'a PortName, [u8; 6])>,
        row_of: &dyn Fn(&PortName, Option<IpAddr>) -> Option<u16>,
        table: &MacTable,
    ) -> Result<(), FibError> {
        for (key, station) in &self.fixed {
            let row = row_of(&station.port, station.remote);
            if let (Some(bridge), Some(id)) = (self.bridges.get(&key.bridge), row) {
                table.insert_static(MacKey::new(bridge.id.0, key.address.0), id.into())?;
            }
        }
        for (name, mac) in own {
            if let (Some(port), Some(id)) = (self.port(name), row_of(name, None)) {
                table.insert_static(MacKey::new(port.bridge.0, mac), id.into())?;
            }
        }
        Ok(())
    }
}

impl Router {
    /// Lets the stations' time pass.
    pub(crate) fn age_stations(&mut self) {
        let now = Instant::now();
        if now < self.bridging.next_sweep {
            return;
        }
        self.bridging.next_sweep = now + SWEEP_PERIOD;
        self.tell_flapping(now);
        let tick = self.started.elapsed().as_secs() as u32;
        let stations = &self.dataplane.stations;
        stations.set_now(tick);
        let lines = stations.table.line_count().div_ceil(SWEEP_STEPS);
        stations.table.sweep(&mut self.bridging.sweep, lines, tick);
    }

    /// Counts a station's move.
    pub(crate) fn station_moved(&mut self, moved: &StationMoved) {
        let moves = &mut self.bridging.flapping.moves;
        if moves.len() < FLAPS_COUNTED || moves.contains_key(&moved.station) {
            *moves.entry(moved.station).or_insert(0) += 1;
        }
    }

    /// Tells, once in a while, which station moves more than any other.
    fn tell_flapping(&mut self, now: Instant) {
        let flapping = &mut self.bridging.flapping;
        if now.duration_since(flapping.since) < FLAP_PERIOD {
            return;
        }
        flapping.since = now;
        let moves = std::mem::take(&mut flapping.moves);
        let flaps = moves.values().filter(|&&count| count >= FLAPS).count();
        let Some((station, count)) = moves.into_iter().max_by_key(|&(_, count)| count) else {
            return;
        };
        if count >= FLAPS {
            let (mac, domain) = (wire::MacAddr(station.address()), station.domain());
            let name = self.bridging.name_of(domain).map_or("?", BridgeName::as_str);
            eprintln!(
                "volleyd: bridge {name}: {mac} moved {count} times or more in {} s; \
                 {flaps} stations flap: look for a loop",
                FLAP_PERIOD.as_secs()
            );
        }
    }

    /// Makes, changes or removes a bridge.
    pub(crate) fn set_bridge(
        &mut self,
        name: &BridgeName,
        config: Option<&Bridge>,
    ) -> Result<(), String> {
        let rows = self.rows();
        let id = |bridging: &Bridging| bridging.bridges.get(name).map(|bridge| bridge.id);
        let before = id(&self.bridging);
        self.bridging.set(name, config, &rows, &self.dataplane.stations.table)?;
        if let Some(id) = id(&self.bridging).or(before) {
            self.binding.set(id, config);
        }
        self.publish_rows();
        Ok(())
    }

    /// Forgets who was behind a port.
    pub(crate) fn forget_stations_behind(&mut self, id: u16) {
        if !self.bridging.bridges.is_empty() {
            self.dataplane.stations.table.flush(MacFlush::Port(id.into()));
        }
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
        let mut bridging = Bridging::new();
        let lan = BridgeName::from_text("lan").unwrap();
        let ids = HashMap::from([(port("a"), vec![4]), (port("b"), vec![5])]);
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
        let mut bridging = Bridging::new();
        let lan = BridgeName::from_text("lan").unwrap();
        let mut config = of(&["a", "b", "c"]);
        config.flags.learn = false;
        config.ports[0].isolated = true;
        config.ports[1].group = Some(3);
        config.ports[1].flags.flood_unknown = false;
        bridging.set(&lan, Some(&config), &HashMap::new(), &table).unwrap();
        let ports = ["a", "b", "c"].map(|name| bridging.port(&port(name)).unwrap());
        assert_eq!(ports.map(|port| port.groups), [1, 8, 0]);
        assert_eq!(ports.map(|port| port.learn), [false; 3]);
        assert_eq!(ports.map(|port| port.flood_unknown), [true, false, true]);
    }

    #[test]
    fn fixed_stations_follow_their_port_to_its_new_number() {
        let table = MacTable::new(100, PageSize::Small, &Quiescence::new()).unwrap();
        let mut bridging = Bridging::new();
        let lan = BridgeName::from_text("lan").unwrap();
        bridging.set(&lan, Some(&of(&["a"])), &HashMap::new(), &table).unwrap();
        let key = StationKey { bridge: lan, address: wire::MacAddr([2; 6]) };
        let station = Station { port: port("a"), remote: None };
        bridging.set_fixed(&key, Some(&station), &table);
        let place = |bridging: &Bridging, id| {
            let row_of = |_: &PortName, _| Some(id);
            bridging.place_fixed(std::iter::empty(), &row_of, &table).unwrap();
            let bridge = bridging.port(&port("a")).unwrap().bridge;
            table.lookup(MacKey::new(bridge.0, [2; 6]), 0).map(|entry| entry.port)
        };
        assert_eq!(place(&bridging, 4), Some(4));
        assert_eq!(place(&bridging, 9), Some(9));
        bridging.set_fixed(&key, None, &table);
        assert!(table.is_empty());
    }
}
