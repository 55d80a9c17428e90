//! Bridges and their ports, as the datapath has them.

use control::view::Node;

use super::command::{Asked, Said};

/// The datapath that all bridges share, as Open vSwitch calls its own in user space.
pub(super) const DATAPATH: &str = "netdev@ovs-netdev";

pub(super) fn dump_dps(_: &Asked<'_>) -> Said {
    Ok(format!("{DATAPATH}\n"))
}

/// Names of bridges.
pub(super) fn bridges(asked: &Asked<'_>) -> Said {
    Ok(asked.known().bridges.keys().map(|name| format!("{name}\n")).collect())
}

/// Packets that were found at once, and packets that tables were asked for.
pub(super) fn looked_up(asked: &Asked<'_>) -> Said<(u64, u64)> {
    let nodes: Vec<Node> = asked.view("/v1/nodes")?;
    let packets =
        |name: &str| nodes.iter().find(|node| node.name == name).map_or(0, |it| it.packets);
    let (all, missed) = (packets("flow-input"), packets("flow-upcall"));
    Ok((all.saturating_sub(missed), missed))
}

/// Both; bridges and ports.
pub(super) fn show(asked: &Asked<'_>) -> Said {
    let (hit, missed) = looked_up(asked)?;
    let mut text = format!("{DATAPATH}: hit:{hit} missed:{missed}\n");
    for (name, bridge) in &asked.known().bridges {
        text.push_str(&format!("  {name}:\n"));
        let mut ports: Vec<_> = bridge.ports.iter().collect();
        ports.sort_by_key(|(_, port)| &port.name);
        for (number, port) in ports {
            let kind = if port.kind.is_empty() { "system" } else { &port.kind };
            let options: Vec<String> =
                port.options.iter().map(|(key, value)| format!("{key}={value}")).collect();
            let options = match options.is_empty() {
                true => String::new(),
                false => format!(": {}", options.join(", ")),
            };
            text.push_str(&format!("    {} {number}/{number}: ({kind}{options})\n", port.name));
        }
    }
    Ok(text)
}
