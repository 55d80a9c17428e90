//! `volley show`: tables a person can read.

use control::config::objects::vrf::DEFAULT_NAME;
use control::view;
use serde_json::Value;

use crate::acl;
use crate::bridging;
use crate::cli::{Format, Routes, Show, Source};
use crate::error::CliError;
use crate::fpm;
use crate::mirror;
use crate::output::Style;
use crate::policer;
use crate::qos;
use crate::reassembly;
use crate::run::Session;
use crate::table::Table;
use crate::twin;

/// Shows one thing once.
pub(crate) fn show(session: &Session, what: &Show) -> Result<(), CliError> {
    if matches!(what, Show::Graph) {
        return session.graph(Format::Text);
    }
    let answer = session.client.get(&path(what))?;
    if session.output.json {
        return session.output.json(&answer);
    }
    session.output.text(&text(what, answer, session.output.style)?)
}

/// Where the API has it.
pub(crate) fn path(what: &Show) -> String {
    let name = match what {
        Show::Ports => "ports",
        Show::Qos => "qos",
        Show::Nodes => "nodes",
        Show::Errors => "errors",
        Show::Routes(filter) => return route_path(filter),
        Show::Vrfs => "vrfs",
        Show::Neighbors => "neighbors",
        Show::Bridge => "bridges",
        Show::Acl => "acls",
        Show::Policers => "policers",
        Show::Mirror => "mirrors",
        Show::Reassembly => "reassembly",
        Show::Twins => "twins",
        Show::Fpm => "fpm",
        Show::Graph => "graph",
        Show::Version => "version",
        Show::Memory => "memory",
        Show::Workers => "workers",
    };
    format!("/v1/{name}")
}

fn route_path(filter: &Routes) -> String {
    let source = filter.source.map(|source| match source {
        Source::Connected => "connected".to_owned(),
        Source::Static => "static".to_owned(),
        Source::Dynamic => "dynamic".to_owned(),
    });
    let limit = filter.limit.map(|limit| limit.to_string());
    let (within, vrf) = (filter.within.clone(), filter.vrf.clone());
    let given = [("within", within), ("source", source), ("vrf", vrf), ("limit", limit)];
    format!("/v1/routes?{}", query(&given))
}

/// The parameters that are given, as a URL has them.
pub(crate) fn query(parameters: &[(&str, Option<String>)]) -> String {
    // What names and prefixes can hold needs no escaping; anything else is escaped whole.
    let escaped = |byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b':' | b'/' | b'-' | b'_' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    let given = parameters.iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
    let parts: Vec<String> = given
        .map(|(key, value)| format!("{key}={}", value.bytes().map(escaped).collect::<String>()))
        .collect();
    parts.join("&")
}

/// An answer as text.
pub(crate) fn text(what: &Show, answer: Value, style: Style) -> Result<String, CliError> {
    fn read<T: serde::de::DeserializeOwned>(answer: Value) -> Result<T, CliError> {
        serde_json::from_value(answer).map_err(|error| CliError::Broken(error.to_string()))
    }
    Ok(match what {
        Show::Ports => ports(&read::<Vec<view::Port>>(answer)?, style),
        Show::Qos => qos::trees(&read::<Vec<view::Qos>>(answer)?, style),
        Show::Nodes => nodes(&read::<Vec<view::Node>>(answer)?, style),
        Show::Errors => errors(&read::<Vec<view::Drop>>(answer)?, style),
        Show::Routes(_) => routes(&read::<view::Routes>(answer)?, style),
        Show::Vrfs => vrfs(&read::<Vec<view::Vrf>>(answer)?, style),
        Show::Neighbors => neighbors(&read::<Vec<view::Neighbor>>(answer)?, style),
        Show::Bridge => bridging::bridges(&read::<Vec<view::Bridge>>(answer)?, style),
        Show::Acl => acl::acls(&read::<Vec<view::Acl>>(answer)?, style),
        Show::Policers => policer::policers(&read::<Vec<view::Policer>>(answer)?, style),
        Show::Mirror => mirror::mirrors(&read::<Vec<view::Mirror>>(answer)?, style),
        Show::Fpm => fpm::fpm(&read::<view::Fpm>(answer)?, style),
        Show::Reassembly => reassembly::reassembly(&read::<view::Reassembly>(answer)?, style),
        Show::Twins => twin::twins(&read::<Vec<view::Twin>>(answer)?, style),
        Show::Graph => format!("{answer:#}\n"),
        Show::Version => version(&read::<view::Version>(answer)?),
        Show::Memory => memory(&read::<view::Memory>(answer)?, style),
        Show::Workers => workers(&read::<Vec<view::Worker>>(answer)?, style),
    })
}

fn up(up: bool) -> String {
    if up { "up" } else { "down" }.to_owned()
}

pub(crate) fn ports(ports: &[view::Port], style: Style) -> String {
    let mut table = Table::new(&[
        "port",
        "kind",
        "vrf",
        "admin",
        "link",
        "mtu",
        "mac",
        "rx packets",
        "rx bytes",
        "rx drops",
        "tx packets",
        "tx bytes",
        "tx drops",
        "errors",
        "addresses",
    ]);
    for port in ports {
        table.row([
            port.name.clone(),
            port.kind.clone(),
            port.vrf.clone(),
            up(port.admin_up),
            up(port.link_up),
            port.mtu.to_string(),
            port.mac.clone(),
            port.rx.packets.to_string(),
            port.rx.bytes.to_string(),
            port.rx.drops.to_string(),
            port.tx.packets.to_string(),
            port.tx.bytes.to_string(),
            port.tx.drops.to_string(),
            (port.rx.errors + port.tx.errors).to_string(),
            port.addresses.join(" "),
        ]);
    }
    table.hide_where_all("vrf", DEFAULT_NAME);
    table.render(style)
}

pub(crate) fn nodes(nodes: &[view::Node], style: Style) -> String {
    let mut table =
        Table::new(&["node", "calls", "packets", "packets/call", "cycles/packet", "exits"]);
    for node in nodes {
        let exits: Vec<String> = node
            .exits
            .iter()
            .filter(|exit| exit.packets > 0)
            .map(|exit| format!("{} {}", exit.name, exit.packets))
            .collect();
        table.row([
            node.name.clone(),
            node.calls.to_string(),
            node.packets.to_string(),
            format!("{:.1}", node.packets_per_call),
            format!("{:.1}", node.cycles_per_packet),
            exits.join("  "),
        ]);
    }
    table.render(style)
}

fn errors(drops: &[view::Drop], style: Style) -> String {
    let mut table = Table::new(&["packets", "node", "reason", "port"]);
    for drop in drops {
        let port = drop.port.clone().unwrap_or_else(|| "-".to_owned());
        table.row([drop.packets.to_string(), drop.node.clone(), drop.reason.clone(), port]);
    }
    table.render(style)
}

fn routes(shown: &view::Routes, style: Style) -> String {
    let mut table = Table::new(&["prefix", "source", "state", "next hops"]);
    for route in &shown.routes {
        table.row([
            route.prefix.clone(),
            source(route),
            if route.active { "active" } else { "inactive" }.to_owned(),
            way(route),
        ]);
    }
    let mut text = table.render(style);
    if shown.routes.len() < shown.total {
        let note = format!("{} of {} routes", shown.routes.len(), shown.total);
        text.push_str(&style.dim(&note));
        text.push('\n');
    }
    text
}

fn source(route: &view::Route) -> String {
    match route.source {
        view::RouteSource::Connected => "connected".to_owned(),
        view::RouteSource::Static => "static".to_owned(),
        view::RouteSource::Dynamic => route.origin.clone(),
    }
}

fn way(route: &view::Route) -> String {
    if let Some(action) = &route.action {
        return action.clone();
    }
    let hop = |hop: &view::NextHop| {
        let mut text = match (&hop.address, &hop.port) {
            (Some(address), Some(port)) => format!("via {address} port {port}"),
            (Some(address), None) => format!("via {address}"),
            (None, Some(port)) => format!("port {port}"),
            (None, None) => "nowhere".to_owned(),
        };
        if hop.weight != 1 {
            text.push_str(&format!(" weight {}", hop.weight));
        }
        if !hop.usable {
            text.push_str(" (unusable)");
        }
        text
    };
    route.next_hops.iter().map(hop).collect::<Vec<_>>().join(", ")
}

pub(crate) fn lookup(lookup: &view::Lookup, style: Style) -> String {
    let matched = match &lookup.route {
        Some(route) => format!("{} {}, {}", source(route), route.prefix, way(route)),
        None => "no route".to_owned(),
    };
    format!(
        "{}  {}\n  route    {matched}\n  steps    {}, cache lines {}\n",
        style.bold(&lookup.address),
        lookup.outcome,
        lookup.depth,
        lookup.cache_lines,
    )
}

fn vrfs(vrfs: &[view::Vrf], style: Style) -> String {
    let mut table =
        Table::new(&["vrf", "ip4 routes", "forwarded", "ip6 routes", "forwarded", "ports"]);
    for vrf in vrfs {
        table.row([
            vrf.name.clone(),
            vrf.ip4.routes.to_string(),
            vrf.ip4.forwarded.to_string(),
            vrf.ip6.routes.to_string(),
            vrf.ip6.forwarded.to_string(),
            vrf.ports.join(" "),
        ]);
    }
    table.render(style)
}

fn neighbors(neighbors: &[view::Neighbor], style: Style) -> String {
    let mut table = Table::new(&["address", "port", "vrf", "mac", "state", "age s", "held"]);
    for neighbor in neighbors {
        let state = match neighbor.state {
            view::NeighborState::Incomplete => "incomplete",
            view::NeighborState::Reachable => "reachable",
            view::NeighborState::Stale => "stale",
            view::NeighborState::Failed => "failed",
            view::NeighborState::Static => "static",
        };
        table.row([
            neighbor.address.clone(),
            neighbor.port.clone(),
            neighbor.vrf.clone(),
            neighbor.mac.clone().unwrap_or_else(|| "-".to_owned()),
            state.to_owned(),
            (neighbor.age_ms / 1000).to_string(),
            neighbor.held_packets.to_string(),
        ]);
    }
    table.hide_where_all("vrf", DEFAULT_NAME);
    table.render(style)
}

fn version(version: &view::Version) -> String {
    let dpdk = version.dpdk.as_deref().unwrap_or("not in use");
    let mut text = format!(
        "volley {}, DPDK {dpdk}, process {}, up {} s\n",
        version.volley, version.pid, version.uptime_s
    );
    for ability in &version.abilities {
        text.push_str(&format!("  {ability}\n"));
    }
    text
}

fn memory(memory: &view::Memory, style: Style) -> String {
    let mut table = Table::new(&["part", "used", "capacity", "MiB", "bytes each", "pages"]);
    let mib = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
    let dash = || "-".to_owned();
    for part in &memory.parts {
        let each = part.bytes.checked_div(part.used).filter(|_| part.bytes > 0);
        table.row([
            part.name.clone(),
            part.used.to_string(),
            if part.capacity == 0 { dash() } else { part.capacity.to_string() },
            mib(part.bytes),
            each.map_or_else(dash, |bytes| bytes.to_string()),
            part.page_bytes.map_or_else(dash, page),
        ]);
    }
    table.row(["resident".into(), dash(), dash(), mib(memory.resident_bytes), dash(), dash()]);
    table.render(style)
}

fn page(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{}K", bytes >> 10),
        megabytes => format!("{megabytes}M"),
    }
}

fn workers(workers: &[view::Worker], style: Style) -> String {
    let mut table = Table::new(&[
        "worker",
        "core",
        "busy",
        "loops",
        "packets",
        "sleeps",
        "stalls",
        "longest us",
        "queues",
    ]);
    for worker in workers {
        table.row([
            worker.id.to_string(),
            worker.core.map_or_else(|| "-".to_owned(), |core| core.to_string()),
            format!("{:.0}%", worker.busy * 100.0),
            worker.loops.to_string(),
            worker.packets.to_string(),
            worker.sleeps.to_string(),
            worker.stalls.count.to_string(),
            format!("{:.0}", worker.stalls.longest_us),
            worker.queues.join(" "),
        ]);
    }
    table.render(style)
}
