//! Whom bridges tell of packets: the tables NetFlow, sFlow and IPFIX, as exporters of the router's.
//!
//! ```text
//!  Bridge.netflow, .sflow, .ipfix ─▶ BRIDGE.netflow, .sflow, .ipfix, told of what all its ports receive
//!  Flow_Sample_Collector_Set.ipfix ─▶ BRIDGE.setN, told of what its flows sample
//! ```

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use ovsdb::{Atom, Row, Rows};

/// The port of sFlow's collectors (IANA).
const SFLOW: u16 = 6343;
/// Of IPFIX's.
const IPFIX: u16 = 4739;
/// Longest time of an exporter: a day.
const DAY: i64 = 86_400;

/// What a row says of an exporter, or what is wrong with it.
type Words = fn(&Row) -> Result<String, String>;

/// A bridge's exporters, with what `export add` says behind their names; and what is wrong.
pub(super) fn exports(
    rows: &Rows,
    name: &str,
    bridge: &Row,
) -> (BTreeMap<String, String>, Vec<String>) {
    let kinds: [(&str, &str, Words); 3] =
        [("netflow", "NetFlow", netflow), ("sflow", "sFlow", sflow), ("ipfix", "IPFIX", ipfix)];
    let (mut made, mut wrong) = (BTreeMap::new(), Vec::new());
    for (column, table, words) in kinds {
        for (_, row) in rows.named(bridge, column, table) {
            match words(row) {
                Ok(words) => drop(made.insert(format!("{name}.{column}"), words)),
                Err(why) => wrong.push(format!("{name}: {column}: {why}")),
            }
        }
    }
    (made, wrong)
}

/// Whom a bridge's flows may sample to, by the sets of collectors that name the bridge, likewise.
pub(super) fn samples(
    rows: &Rows,
    name: &str,
    bridge: &str,
) -> (BTreeMap<String, String>, Vec<String>) {
    let (mut made, mut wrong) = (BTreeMap::new(), Vec::new());
    for (_, set) in rows.table("Flow_Sample_Collector_Set") {
        if !set.get("bridge").uuids().any(|uuid| uuid == bridge) {
            continue;
        }
        for (_, row) in rows.named(set, "ipfix", "IPFIX") {
            let id = number(set, "id", 0, u32::MAX.into()).map(Option::unwrap_or_default);
            let words = id.and_then(|id| Ok((id, sampled(row, id)?)));
            match words {
                Ok((id, words)) => drop(made.insert(format!("{name}.set{id}"), words)),
                Err(why) => wrong.push(format!("{name}: Flow_Sample_Collector_Set: {why}")),
            }
        }
    }
    (made, wrong)
}

fn netflow(row: &Row) -> Result<String, String> {
    let collectors = collectors(row, None)?;
    let engine = |column: &str| number(row, column, 0, 255).map(|it| it.unwrap_or(0));
    let domain = engine("engine_type")? << 8 | engine("engine_id")?;
    let adds_id = row.get("add_id_to_interface").atoms().first() == Some(&Atom::Bool(true));
    // 0 is the usual time, and -1 as long as there is.
    let active = match row.whole("active_timeout") {
        None | Some(0) => 600,
        Some(-1) => DAY,
        Some(seconds) => seconds.clamp(1, DAY),
    };
    Ok(format!(
        "protocol netflow-5 {collectors} sample 1 domain {domain} \
         engine_in_interfaces {adds_id} active {active}s"
    ))
}

fn sflow(row: &Row) -> Result<String, String> {
    let collectors = collectors(row, Some(SFLOW))?;
    let sample = number(row, "sampling", 1, 1_000_000)?.unwrap_or(400);
    let header = number(row, "header", 16, 1_024)?.unwrap_or(128);
    let polling = number(row, "polling", 0, DAY)?.unwrap_or(30);
    // The name of a device is for the kernel, which sends from there anyway.
    let agent = row.text("agent").and_then(|agent| agent.parse::<IpAddr>().ok());
    let agent = agent.map_or_else(|| "none".to_owned(), |agent| agent.to_string());
    Ok(format!(
        "protocol sflow-5 {collectors} sample {sample} header {header} \
         counters {polling}s agent {agent}"
    ))
}

fn ipfix(row: &Row) -> Result<String, String> {
    let collectors = collectors(row, Some(IPFIX))?;
    let sample = number(row, "sampling", 1, 1_000_000)?.unwrap_or(400);
    let domain = number(row, "obs_domain_id", 0, u32::MAX.into())?.unwrap_or(0);
    let point = number(row, "obs_point_id", 0, u32::MAX.into())?;
    let point = point.map_or_else(|| "none".to_owned(), |point| point.to_string());
    let cache = cache(row)?;
    Ok(format!("protocol ipfix {collectors} sample {sample} domain {domain} point {point} {cache}"))
}

/// Of what flows sample: how many, and in which domain, they say.
fn sampled(row: &Row, set: i64) -> Result<String, String> {
    let (collectors, cache) = (collectors(row, Some(IPFIX))?, cache(row)?);
    Ok(format!("protocol ipfix {collectors} set {set} {cache}"))
}

/// For how long flows are known, and how many.
fn cache(row: &Row) -> Result<String, String> {
    // 0 is none: they are told as soon as they may be.
    let active = number(row, "cache_active_timeout", 0, 4_200)?.unwrap_or(0).max(1);
    let most = match number(row, "cache_max_flows", 0, u32::MAX.into())? {
        None | Some(0) => 65_536,
        Some(most) => most.clamp(64, 4_194_304),
    };
    let idle = active.min(15);
    Ok(format!("active {active}s idle {idle}s cache {most}"))
}

fn number(row: &Row, column: &str, least: i64, most: i64) -> Result<Option<i64>, String> {
    match row.whole(column) {
        Some(number) if !(least..=most).contains(&number) => {
            Err(format!("{column} is {number}, not {least} to {most}"))
        }
        number => Ok(number),
    }
}

/// Its targets: addresses with ports, or where there is a usual port without.
fn collectors(row: &Row, usual: Option<u16>) -> Result<String, String> {
    let targets = row.get("targets").atoms().iter().filter_map(|atom| match atom {
        Atom::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let read = |text: &str| {
        let bare = || text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        let with_usual = || Some(SocketAddr::new(bare()?, usual?));
        let address = text.parse().ok().or_else(with_usual);
        address.ok_or_else(|| format!("target `{text}` is no IP address with a port"))
    };
    let mut all = targets.map(read).collect::<Result<Vec<_>, _>>()?;
    all.sort();
    match all[..] {
        [] => Err("it has no targets".to_owned()),
        _ => {
            let each = all.iter().map(|it| format!("collectors {it}"));
            Ok(each.collect::<Vec<_>>().join(" "))
        }
    }
}
