//! Groups, as the database's bridges have them go to their listeners.

use ovsdb::{Atom, Row};

/// Whether a row's `other_config` says that something is so.
pub(super) fn is_on(row: &Row, key: &str) -> bool {
    row.get("other_config").pairs().get(key).is_some_and(|text| text == "true")
}

/// What `bridge add` and `set` say of groups: nothing where they go everywhere.
pub(super) fn words(name: &str, bridge: &Row) -> Result<String, String> {
    if bridge.get("mcast_snooping_enable").atoms().first() != Some(&Atom::Bool(true)) {
        return Ok(String::new());
    }
    let other = bridge.get("other_config").pairs();
    let number = |key: &str| match other.get(key).map(|text| text.parse::<u64>()) {
        Some(Err(_)) => Err(format!("{name}: {key} is no number")),
        Some(Ok(number)) => Ok(Some(number)),
        None => Ok(None),
    };
    let strict = is_on(bridge, "mcast-snooping-disable-flood-unregistered");
    let unknown = if strict { "routers" } else { "flood" };
    let ageing = number("mcast-snooping-aging-time")?.unwrap_or(300).clamp(1, 3600);
    let most = number("mcast-snooping-table-size")?.unwrap_or(2048).clamp(10, 65_536);
    Ok(format!(
        " snooping on unknown {unknown} ageing {ageing}s groups_limit {most} port_limit {most} \
         fast_leave true"
    ))
}
