//! What bridges and stations are shown as, and what is asked of stations.

use super::Bridges;
use crate::core::Core;
use control::config::field::Field;
use control::config::objects::bridge::{BridgeName, Flags, Member};
use control::engine::{EngineError, Later};
use control::view;
use fib::mac::{Learned, MacEntry, MacFlush, MacKey};
use std::collections::HashMap;
use std::sync::Arc;
use wire::MacAddr;

impl Bridges {
    pub(crate) fn show(&self, core: &Core) -> Vec<view::Bridge> {
        let bridges = self.bridges.iter();
        bridges
            .map(|(name, bridge)| view::Bridge {
                name: name.to_string(),
                stations: core.dataplane.stations.table.domain_len(bridge.id.0),
                mac_limit: bridge.config.mac_limit,
                ageing_s: bridge.config.ageing.as_secs(),
                bindings: bridge.config.answer_arp.then(|| self.bindings(bridge.id, true)),
                nd_bindings: bridge.config.answer_nd.then(|| self.bindings(bridge.id, false)),
                ports: bridge
                    .config
                    .ports
                    .iter()
                    .map(|member| Self::show_member(core, member, bridge.flags_of(member)))
                    .collect(),
            })
            .collect()
    }

    fn show_member(core: &Core, member: &Member, flags: Flags) -> view::BridgePort {
        let port = core.ports.get(&member.port);
        let taught = port.map(|port| core.taught(port)).unwrap_or_default();
        let words = [
            (flags.learn, "learn"),
            (flags.forward, "forward"),
            (flags.flood_unknown, "flood_unknown"),
            (flags.flood_groups, "flood_groups"),
        ];
        let set = words.iter().filter(|(set, _)| *set);
        view::BridgePort {
            port: member.port.to_string(),
            up: port.is_some_and(crate::interfaces::OpenPort::carries),
            flags: set.map(|(_, word)| (*word).to_owned()).collect(),
            group: member.group,
            isolated: member.isolated,
            learned: taught.learned,
            moved: taught.moved,
            not_learned: taught.not_learned,
        }
    }

    /// Workers know the stations, so others can read them as well; of ours are the names alone.
    pub(crate) fn show_stations(
        &self,
        core: &Core,
        filter: &view::StationFilter,
    ) -> Result<impl FnOnce() -> view::Stations + Send + 'static, EngineError> {
        let bridge = filter.bridge.as_deref().map(|name| self.bridge_id(name)).transpose()?;
        let rows = filter.port.as_deref().map(|name| Self::rows_of(core, name)).transpose()?;
        let stations = core.dataplane.stations.clone();
        let limit = filter.limit.unwrap_or(usize::MAX);
        let bridges: HashMap<u16, String> =
            self.names.iter().map(|(id, name)| (id.0, name.to_string())).collect();
        let ports = core.ports.iter().flat_map(|(name, port)| {
            let own = [(port.id, None)].into_iter();
            let remotes = port.remotes.iter().map(|(to, remote)| (remote.id, Some(to.to_string())));
            own.chain(remotes).map(move |(id, remote)| (id, (name.to_string(), remote)))
        });
        let ports: HashMap<u16, (String, Option<String>)> = ports.collect();
        Ok(move || {
            let mut found = Vec::new();
            stations.table.for_each(stations.now(), |key, entry, age| {
                let wanted = bridge.is_none_or(|bridge| bridge == key.domain())
                    && rows.as_ref().is_none_or(|rows| rows.contains(&(entry.port as u16)));
                if wanted {
                    found.push((key, entry, age));
                }
            });
            found.sort_unstable_by_key(|(key, ..)| *key);
            let show = |(key, entry, age): &(MacKey, MacEntry, u32)| {
                let (port, remote) = ports.get(&(entry.port as u16)).cloned().unwrap_or_default();
                view::Station {
                    bridge: bridges.get(&key.domain()).cloned().unwrap_or_default(),
                    mac: MacAddr(key.address()).to_string(),
                    port,
                    remote,
                    is_static: entry.is_static,
                    age_s: if entry.is_static { 0 } else { *age },
                }
            };
            let shown = found.iter().take(limit).map(show).collect();
            view::Stations { total: found.len(), stations: shown }
        })
    }

    pub(crate) fn flush_stations(
        &self,
        core: &Core,
        request: &view::StationFlush,
    ) -> Result<Later<view::StationCount>, EngineError> {
        let bridge = request.bridge.as_deref().map(|name| self.bridge_id(name)).transpose()?;
        let rows = request.port.as_deref().map(|name| Self::rows_of(core, name)).transpose()?;
        let flushes = match (bridge, rows) {
            (Some(_), Some(_)) => {
                let both = "a port is in one bridge: name the bridge or the port";
                return Err(EngineError::Conflict(both.to_owned()));
            }
            (Some(bridge), None) => vec![MacFlush::Domain(bridge)],
            (None, Some(rows)) => rows.into_iter().map(|row| MacFlush::Port(row.into())).collect(),
            (None, None) => vec![MacFlush::All],
        };
        let table = Arc::clone(&core.dataplane.stations.table);
        Ok(Box::new(move || {
            let stations = flushes.into_iter().map(|flush| table.flush(flush)).sum();
            view::StationCount { stations }
        }))
    }

    pub(crate) fn fill_stations(
        &self,
        core: &Core,
        request: &view::StationFill,
    ) -> Result<Later<Result<view::StationCount, EngineError>>, EngineError> {
        let bridge = self.bridge_id(&request.bridge)?;
        let rows = Self::rows_of(core, &request.port)?;
        // Of a tunnel, behind its first remote.
        let port = rows.get(1).or(rows.first()).copied().unwrap_or_default();
        let conflict = |message: String| EngineError::Conflict(message);
        let first = MacAddr::from_text(&request.first)
            .map_err(|_| conflict(format!("`{}` is no MAC address", request.first)))?;
        let [a, b, c, d, e, f] = first.0;
        let first = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        let (stations, count) = (core.dataplane.stations.clone(), u64::from(request.count));
        Ok(Box::new(move || {
            let mut added = 0;
            for number in first..first + count {
                let [_, _, address @ ..] = number.to_be_bytes();
                let key = MacKey::new(bridge, address);
                match stations.table.learn(key, port.into(), stations.now()) {
                    Learned::New => added += 1,
                    Learned::TableFull | Learned::DomainFull => {
                        let full = format!("there is room for {added} stations more, and no more");
                        return Err(conflict(full));
                    }
                    _ => {}
                }
            }
            Ok(view::StationCount { stations: added })
        }))
    }

    pub(super) fn bridge_id(&self, name: &str) -> Result<u16, EngineError> {
        let unknown =
            || EngineError::unknown("bridge", name, self.bridges.keys().map(BridgeName::as_str));
        let key = BridgeName::from_text(name).map_err(|_| unknown())?;
        self.bridges.get(&key).map(|bridge| bridge.id.0).ok_or_else(unknown)
    }

    fn rows_of(core: &Core, name: &str) -> Result<Vec<u16>, EngineError> {
        core.port_named(name).map(|port| port.rows().collect())
    }
}
