//! Bridges.

use super::answer::*;

/// A bridge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Bridge {
    /// Its name.
    pub name: String,
    /// Stations it knows.
    pub stations: u32,
    /// Most stations it remembers.
    pub mac_limit: u32,
    /// Seconds that a station is remembered that is not heard any more.
    pub ageing_s: u64,
    /// Addresses of stations that it answers ARP requests for; `null`: it answers none.
    pub bindings: Option<usize>,
    /// Addresses that it answers neighbour solicitations for; `null`: it answers none.
    pub nd_bindings: Option<usize>,
    /// Its ports.
    pub ports: Vec<BridgePort>,
}

/// A port in a bridge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BridgePort {
    /// Its name.
    pub port: String,
    /// Whether packets can pass.
    pub up: bool,
    /// What it may do, the bridge's own flags included, as in `learn`.
    pub flags: Vec<String>,
    /// Its split-horizon group.
    pub group: Option<u16>,
    /// Whether it does not reach other isolated ports.
    pub isolated: bool,
    /// Stations learned behind it.
    pub learned: u64,
    /// Stations that came to it from other ports.
    pub moved: u64,
    /// Frames whose station there was no room for.
    pub not_learned: u64,
}

impl View for Bridge {
    view!("show bridge", "/v1/bridges", All => Vec<Self>, "Bridges and their ports");
    counters!("learned", "moved", "not_learned");
    const METRICS: Option<Metrics<Self>> = Some((All, |bridges, out| {
        out.of(bridges, |bridge| [("bridge", &bridge.name)]).gauge(
            "bridge_stations",
            "Stations that a bridge knows.",
            |bridge| bridge.stations,
        );
        let ports = bridges.iter().flat_map(|bridge| bridge.ports.iter().map(move |p| (bridge, p)));
        out.of(ports, |(bridge, port)| [("bridge", &bridge.name), ("port", &port.port)])
            .counter("bridge_learned", "Stations learned behind a port.", |row| row.1.learned)
            .counter("bridge_moved", "Stations that came from another port.", |row| row.1.moved)
            .counter("bridge_not_learned", "Frames whose station had no room.", |row| {
                row.1.not_learned
            });
    }));

    fn text(bridges: &Vec<Self>, style: Style) -> String {
        bridges.iter().map(|bridge| bridge.text(style)).collect()
    }
}

impl Bridge {
    fn text(&self, style: Style) -> String {
        let answers = |protocol: &str, bindings: Option<usize>| {
            bindings.map_or_else(String::new, |count| format!("; answers {protocol} for {count}"))
        };
        let head = format!(
            "{}  {} stations of at most {}, remembered for {} s{}{}\n",
            style.bold(&self.name),
            self.stations,
            self.mac_limit,
            self.ageing_s,
            answers("ARP", self.bindings),
            answers("ND", self.nd_bindings),
        );
        let table = table!(&self.ports, port => {
            "port": port.port, "state": if port.up { "up" } else { "down" }, "group": port.group,
            "isolated": if port.isolated { "yes" } else { "no" }, "learned": port.learned,
            "moved": port.moved, "not learned": port.not_learned, "may": port.flags,
        });
        head + &table.render(style)
    }
}
