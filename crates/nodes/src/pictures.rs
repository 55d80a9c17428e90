//! The pictures of the graph in docs/, drawn from the nodes there are: `make graph` writes them,
//! and a test says when one is stale.
//!
//! ```text
//!  docs/graph.svg            from afar: a box for what packets pass one after the other
//!  docs/graph/FAMILY.svg     each node of a family
//! ```

use crate::tables::Setup;
use crate::{ALL, FAMILIES};
use graph::{Group, Layout, LayoutError, NodeSpec, draw_overview, draw_part};

/// The boxes of the overview, in the order that packets pass them.
const OVERVIEW: [&str; 11] = [
    "receive",
    "input features",
    "Ethernet",
    "bridges",
    "IPv4",
    "IPv6",
    "ourselves",
    "next hop's MAC",
    "output features",
    "tunnels",
    "transmit",
];

/// Every picture: its path below docs/, and what the file has in it.
pub fn pictures() -> Result<Vec<(String, String)>, LayoutError> {
    let layout = Layout::new(ALL)?;
    let group = |name: &'static str| {
        let group_of = |(family, nodes): &(&'static str, &'static [NodeSpec<Setup>])| {
            nodes.iter().map(|spec| (group_of(family, spec), spec.name)).collect::<Vec<_>>()
        };
        let all = FAMILIES.iter().flat_map(group_of);
        let nodes = all.filter(|(group, _)| *group == name).map(|(_, node)| node).collect();
        Group { name, nodes }
    };
    let title = "How packets travel";
    let overview = draw_overview(&layout, title, &OVERVIEW.map(group));
    let families = FAMILIES.iter().map(|(family, _)| {
        (
            format!("graph/{family}.svg"),
            draw_part(&layout, family, |name| family_of(name).to_owned()),
        )
    });
    Ok(std::iter::once(("graph.svg".to_owned(), overview)).chain(families).collect())
}

fn family_of(name: &str) -> &'static str {
    let has = |(_, nodes): &&(_, &[NodeSpec<Setup>])| nodes.iter().any(|spec| spec.name == name);
    FAMILIES.iter().find(has).map_or("", |(family, _)| family)
}

/// The box that a node is in.
fn group_of(family: &str, spec: &NodeSpec<Setup>) -> &'static str {
    let arc = spec.turn.map_or(spec.name, |turn| turn.arc);
    match (family, arc) {
        (_, "drop") => "",
        (_, "interface-input" | "interface-enter") => "input features",
        (_, "interface-output" | "interface-leave") => "output features",
        ("port", "port-rx" | "inject") => "receive",
        ("port", _) | (_, "vlan-output") => "transmit",
        ("l2", "ethernet-input" | "vlan-input") => "Ethernet",
        ("l2", _) => "bridges",
        (_, "ip-resolve") => "next hop's MAC",
        ("ip", name) if name.starts_with("ip4") => "IPv4",
        ("ip", _) => "IPv6",
        ("tunnel", _) => "tunnels",
        _ => "ourselves",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_in_a_box_of_the_overview() {
        for (family, nodes) in FAMILIES {
            for spec in nodes.iter().filter(|spec| spec.name != "drop") {
                assert!(OVERVIEW.contains(&group_of(family, spec)), "{}", spec.name);
            }
        }
    }

    #[test]
    fn the_pictures_are_fresh() {
        for (path, drawn) in pictures().unwrap() {
            let file = format!("{}/../../docs/{path}", env!("CARGO_MANIFEST_DIR"));
            let there = std::fs::read_to_string(file).unwrap_or_default();
            assert!(there == drawn, "docs/{path} is stale: run `make graph`");
        }
    }
}
