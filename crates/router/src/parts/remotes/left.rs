//! Remotes over a restart: those that were learned have their places again, as far as there are
//! any for them, and stations are behind theirs.

use super::room::Learned;
use super::take_in;
use crate::core::Core;
use crate::part::Leaves;
use control::config::field::Field;
use control::config::objects::port::PortName;
use control::config::objects::port_kind::ends::Remotes as Which;
use fib::mac::MacKey;
use nodes::tables::Mode;
use state::Table;
use state::remotes::{self, Remote};
use std::collections::HashMap;
use std::time::Duration;

/// All remotes there are, those without stations that are configured or told left out.
pub(super) fn leaves(core: &Core) -> Leaves {
    let mut all: HashMap<u32, Remote> = HashMap::new();
    let now = core.clock.now();
    for (name, port) in core.ports.iter() {
        for (address, remote) in &port.remotes {
            let learned = remote.learned.and_then(|it| {
                let (underlay, _) = core.port_of(it.underlay)?;
                let idle_ms = now.saturating_duration_since(it.seen).as_millis() as u64;
                Some(remotes::Learned { underlay: underlay.to_string(), idle_ms })
            });
            let row = core.dataplane.interfaces().get(remote.id);
            let bridge = row.map_or_else(String::new, |row| row.bridge_name.clone());
            let (tunnel, address, stations) = (name.to_string(), *address, Vec::new());
            all.insert(remote.id.into(), Remote { tunnel, address, learned, bridge, stations });
        }
    }
    let stations = core.dataplane.stations.clone();
    let make = move || {
        if !all.is_empty() {
            stations.table.for_each(stations.now(), |key, entry, age| {
                if let (false, Some(of)) = (entry.is_static, all.get_mut(&entry.port)) {
                    of.stations.push((key.address(), age));
                }
            });
        }
        let mut all: Vec<_> = all.into_values().collect();
        all.retain(|it| it.learned.is_some() || !it.stations.is_empty());
        // Written the same as long as nothing changes.
        all.sort_by(|one, other| (&one.tunnel, one.address).cmp(&(&other.tunnel, other.address)));
        remotes::write(&all)
    };
    (Table::Remotes, Box::new(make))
}

/// Gives learned remotes their places; the stations behind these and others, which come later.
pub(super) fn take_over(core: &mut Core, (left, age): &(Vec<Remote>, Duration)) -> Vec<Remote> {
    let mut later = left.clone();
    later.iter_mut().flat_map(|it| &mut it.stations).for_each(|(_, age_s)| {
        *age_s = age_s.saturating_add(age.as_secs() as u32);
    });
    for it in left {
        let Some(learned) = &it.learned else { continue };
        let idle = Duration::from_millis(learned.idle_ms).saturating_add(*age);
        let named = |name: &str| PortName::from_text(name).ok();
        let (Some(name), Some(underlay)) = (named(&it.tunnel), named(&learned.underlay)) else {
            continue;
        };
        let (Some(port), Some(underlay)) = (core.ports.get(&name), core.ports.id_of(&underlay))
        else {
            continue;
        };
        let learns = port.config.kind.ends().is_some_and(|ends| {
            matches!(ends.remotes, Which::Several { learn: true, .. })
                && ends.local().is_ipv4() == it.address.is_ipv4()
        });
        if !learns || port.remotes.contains_key(&it.address) {
            continue;
        }
        let now = core.clock.now();
        let seen = now.checked_sub(idle).unwrap_or(now);
        let new = Learned { tunnel: port.id, underlay, address: it.address, seen };
        // What had its place before has one again, if the configuration leaves as many.
        let _full = take_in(core, &name, &new);
    }
    if !later.is_empty() {
        core.touch_rows();
    }
    later
}

/// Stations are behind their remotes again, whose rows workers have.
pub(super) fn stations(core: &Core, left: &[Remote]) {
    let (interfaces, table) = (core.dataplane.interfaces(), &core.dataplane.stations.table);
    let now = (core.now_ns() / 1_000_000_000) as u32;
    for Remote { tunnel, address, bridge, stations, .. } in left {
        let port = PortName::from_text(tunnel).ok().and_then(|name| core.ports.get(&name));
        let Some(remote) = port.and_then(|port| port.remotes.get(address)) else { continue };
        let row = interfaces.get(remote.id).filter(|row| row.bridge_name == *bridge);
        let Some(Mode::Bridged(bridged)) = row.map(|row| &row.mode) else { continue };
        for (mac, age_s) in stations {
            let key = MacKey::new(bridged.bridge.0, *mac);
            table.learn(key, remote.id.into(), now.wrapping_sub(*age_s));
        }
    }
}
