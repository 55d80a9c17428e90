//! Stations of bridges.

use control::view::{Bridge, Fields, StationFlush, Stations, StationsFlush};

use super::super::wanted::LOCAL;
use super::command::{Asked, Said};
use super::known::{KnownBridge, KnownPort};

const NO_BRIDGE: &str = "no such bridge\n";

/// Who is behind which port.
pub(super) fn show(asked: &Asked<'_>) -> Said {
    let mut rows = Vec::new();
    {
        let parts: Vec<(String, u16)> = {
            let known = asked.known();
            let bridge = known.bridges.get(&asked.words[0]).ok_or(NO_BRIDGE)?;
            bridge.parts.iter().map(|(part, vlan)| (part.clone(), *vlan)).collect()
        };
        for (part, vlan) in parts {
            let shown: Stations = asked.view(&format!("/v1/stations?bridge={part}"))?;
            rows.extend(shown.stations.into_iter().map(|station| (station.age_s, vlan, station)));
        }
    }
    rows.sort();
    let known = asked.known();
    let bridge = known.bridges.get(&asked.words[0]).ok_or(NO_BRIDGE)?;
    let mut text = " port  VLAN  MAC                Age\n".to_owned();
    for (age_s, vlan, station) in rows {
        let port = number_of(bridge, &station.port);
        let age = if station.is_static { "static".to_owned() } else { format!("{age_s:3}") };
        text.push_str(&format!("{port:>5}  {vlan:4}  {}  {age}\n", station.mac));
    }
    Ok(text)
}

/// How many there are, of how many at most.
pub(super) fn statistics(asked: &Asked<'_>) -> Said {
    let name = &asked.words[0];
    let parts: Vec<String> = {
        let known = asked.known();
        known.bridges.get(name).ok_or(NO_BRIDGE)?.parts.keys().cloned().collect()
    };
    let (mut now, mut most, mut fixed) = (0, 0, 0);
    let bridges: Vec<Bridge> = asked.view("/v1/bridges")?;
    for bridge in bridges.iter().filter(|it| parts.contains(&it.name)) {
        now += bridge.stations;
        most += bridge.mac_limit;
        let shown: Stations = asked.view(&format!("/v1/stations?bridge={}", bridge.name))?;
        fixed += shown.stations.iter().filter(|it| it.is_static).count();
    }
    Ok(format!(
        "Statistics for bridge \"{name}\":\n  Current/maximum MAC entries in the table: {now}/{most}\n  \
         Current static MAC entries in the table : {fixed}\n"
    ))
}

/// The number of a port, or of what it is a part of.
fn number_of(bridge: &KnownBridge, port: &str) -> String {
    let is_it = |name: &str| {
        port == name || port.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
    };
    // A bond has the number of a member.
    let is_of = |it: &KnownPort| is_it(&it.name) || it.bond.as_deref().is_some_and(is_it);
    let found = bridge.ports.iter().find(|(_, it)| is_of(it));
    match found {
        Some((&LOCAL, _)) => "LOCAL".to_owned(),
        Some((number, _)) => number.to_string(),
        None => "?".to_owned(),
    }
}

/// Forgets them.
pub(super) fn flush(asked: &Asked<'_>) -> Said {
    let parts: Vec<String> = {
        let known = asked.known();
        match asked.words.first() {
            Some(name) => {
                let bridge = known.bridges.get(name).ok_or(NO_BRIDGE)?;
                bridge.parts.keys().cloned().collect()
            }
            None => known.bridges.values().flat_map(|it| it.parts.keys().cloned()).collect(),
        }
    };
    for part in parts {
        let which = StationFlush { bridge: Some(part), port: None };
        let done = asked.client.make::<StationsFlush>(Fields(which));
        done.map_err(|error| format!("{error}\n"))?;
    }
    Ok("table successfully flushed\n".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_trunk_has_the_trunks_number() {
        let port = |name: &str| KnownPort { name: name.to_owned(), ..KnownPort::default() };
        let member = KnownPort { bond: Some("bond0".to_owned()), ..port("e1") };
        let ports = [(LOCAL, port("br0")), (3, port("t")), (4, port("t1")), (5, member)];
        let bridge = KnownBridge { ports: ports.into(), ..KnownBridge::default() };
        let names = ["br0", "t", "t.10", "t1", "t1.10", "bond0", "bond0.10", "x"];
        let told = names.map(|name| number_of(&bridge, name));
        assert_eq!(told, ["LOCAL", "3", "3", "4", "4", "5", "5", "?"]);
    }
}
