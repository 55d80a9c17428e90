//! Bonds: those of the router, whoever made them.

use control::view::{Bond, BondMember};

use super::command::{Asked, Said};

/// The bond that is named, else all.
fn bonds(asked: &Asked<'_>, missing: &str) -> Said<Vec<Bond>> {
    let mut bonds: Vec<Bond> = asked.view("/v1/bonds")?;
    if let Some(name) = asked.words.first() {
        bonds.retain(|bond| bond.name == *name);
        if bonds.is_empty() {
            return Err(missing.to_owned());
        }
    }
    Ok(bonds)
}

/// What Open vSwitch calls how they carry.
fn mode(bond: &Bond) -> &'static str {
    match &bond.mode[..] {
        "active-backup" => "active-backup",
        "balance-slb" => "balance-slb",
        _ => "balance-tcp",
    }
}

fn lacp_status(bond: &Bond) -> &'static str {
    let has_lacp = bond.key.is_some() || bond.mode == "lacp";
    match (has_lacp, &bond.partner) {
        (false, _) => "off",
        (true, Some(_)) => "negotiated",
        (true, None) => "configured",
    }
}

fn carries(member: &BondMember) -> bool {
    matches!(&member.state[..], "carries" | "active" | "distributing")
}

/// By which frames for all are taken in.
fn is_active(bond: &Bond, member: &BondMember) -> bool {
    match mode(bond) {
        "active-backup" => carries(member),
        _ => member.state == "active",
    }
}

pub(super) fn list(asked: &Asked<'_>) -> Said {
    let mut text = "Bond\tType\tRecircID\tMembers\n".to_owned();
    for bond in bonds(asked, "")? {
        let members: Vec<&str> = bond.members.iter().map(|it| &it.port[..]).collect();
        text.push_str(&format!("{}\t{}\t0\t{}\n", bond.name, mode(&bond), members.join(", ")));
    }
    Ok(text)
}

pub(super) fn show(asked: &Asked<'_>) -> Said {
    Ok(bonds(asked, "no such bond\n")?.iter().map(shown).collect())
}

fn shown(bond: &Bond) -> String {
    let mut text = format!(
        "---- {} ----\nbond_mode: {}\nlacp_status: {}\n",
        bond.name,
        mode(bond),
        lacp_status(bond)
    );
    for member in &bond.members {
        let state = if carries(member) { "enabled" } else { "disabled" };
        text.push_str(&format!("\nmember {}: {state}\n", member.port));
        if is_active(bond, member) {
            text.push_str("  active member\n");
        }
        text.push_str(&format!("  may_enable: {}\n", member.link_up));
    }
    text.push('\n');
    text
}

pub(super) fn lacp(asked: &Asked<'_>) -> Said {
    let bonds = bonds(asked, "no such lacp object\n")?;
    let with_lacp = bonds.iter().filter(|bond| lacp_status(bond) != "off");
    Ok(with_lacp.map(lacp_of).collect())
}

fn lacp_of(bond: &Bond) -> String {
    let mut text = format!("---- {} ----\n  status: {}\n", bond.name, lacp_status(bond));
    if let Some(key) = bond.key {
        text.push_str(&format!("  aggregation key: {key}\n"));
    }
    for member in &bond.members {
        let heard = member.heard.as_deref().unwrap_or("disabled");
        text.push_str(&format!("\nmember: {}: {heard}\n", member.port));
        if let Some(partner) = &bond.partner {
            text.push_str(&format!("  partner sys_id: {partner}\n"));
        }
        if let Some(port) = member.partner_port {
            text.push_str(&format!("  partner port_id: {port}\n"));
        }
        if let Some(state) = &member.partner_state {
            text.push_str(&format!("  partner state: {state}\n"));
        }
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_bond_is_shown_with_who_carries() {
        let member = |port: &str, link_up: bool, state: &str| {
            json!({ "port": port, "link_up": link_up, "state": state, "heard": null, "partner_port": null,
                "partner_state": null, "lacp_received": 0, "lacp_sent": 0 })
        };
        let bond = json!({ "name": "b0", "mode": "active-backup", "link_up": true, "carrying": 1, "failovers": 0,
            "shares_moved": 0, "partner": null, "partner_key": null, "key": null,
            "members": [member("p1", true, "carries"), member("p2", false, "down")] });
        let bond: Bond = serde_json::from_value(bond).unwrap();
        let members = vec![member("p1", true, "carries"), member("p2", true, "active")];
        let slb = json!({ "name": "b1", "mode": "balance-slb", "link_up": true, "carrying": 2, "failovers": 0,
            "shares_moved": 0, "partner": null, "partner_key": null, "key": null, "members": members });
        let slb: Bond = serde_json::from_value(slb).unwrap();
        assert_eq!(
            shown(&slb),
            "---- b1 ----\nbond_mode: balance-slb\nlacp_status: off\n\nmember p1: enabled\n  may_enable: true\n\n\
             member p2: enabled\n  active member\n  may_enable: true\n\n"
        );
        assert_eq!(
            shown(&bond),
            "---- b0 ----\nbond_mode: active-backup\nlacp_status: off\n\nmember p1: enabled\n  active member\n  \
             may_enable: true\n\nmember p2: disabled\n  may_enable: false\n\n"
        );
    }
}
