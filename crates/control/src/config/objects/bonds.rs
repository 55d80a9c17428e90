//! Bonds: what their members cannot do beside, and the commands of the noun `bond`.

use std::collections::HashMap;

use super::port::{Port, check_exists};
use super::port_kind::PortKind;
use super::port_kind::bond::Bond;
use super::port_name::PortName;
use super::{Command, Config};
use crate::config::declare::explained;
use crate::config::key::Key;
use crate::config::report::{Problem, Report};
use crate::config::usual::add_as;
use crate::config::words::Words;

/// Finds what is wrong with all bonds.
pub(super) fn check_all(config: &Config, report: &mut Report) {
    let mut used: HashMap<&PortName, &PortName> = HashMap::new();
    let mut keys: HashMap<u16, &PortName> = HashMap::new();
    for (name, port) in config.ports.iter() {
        let PortKind::Bond(bond) = &port.kind else { continue };
        for (index, member) in bond.members.iter().enumerate() {
            let field = format!("port.{name}.members[{index}]");
            check_exists(&field, member, &config.ports, report);
            if let Some(other) = used.insert(member, name) {
                let message = match other == name {
                    true => format!("{member} is listed twice"),
                    false => format!("{member} is a member of {other} already"),
                };
                report.push(Problem::new(&field, message).expected("each port in one bond"));
            }
            let Some(own) = config.ports.get(member) else { continue };
            if let Some(why) = why_not(member, own, port, config) {
                let problem = Problem::new(&field, format!("{member} {why}"));
                report.push(problem.expected("a port with a device that nothing else uses"));
            }
        }
        if let Some(other) = bond.key.and_then(|key| keys.insert(key, name)) {
            let message =
                format!("{other} has this key already: the switch would take both for one bond");
            let problem = Problem::new(format!("port.{name}.key"), message);
            report.push(problem.expected("a key of its own"));
        }
    }
}

/// Why a port cannot be a member of a bond, if it cannot.
fn why_not(name: &PortName, port: &Port, bond: &Port, config: &Config) -> Option<String> {
    let is_parent = |kind: &PortKind| matches!(kind, PortKind::Vlan(vlan) if vlan.parent == *name);
    let uses = [
        (port.kind.is_virtual(), "stands on other ports"),
        (
            port.why_it_routes().is_some(),
            "has addresses, or is told to route: give them to the bond",
        ),
        (port.vrf.is_some(), "is in a VRF: put the bond there"),
        (port.twin.is_some(), "has a twin: give it to the bond"),
        (port.ra.is_some(), "advertises the router: the bond can"),
        (config.bridges.iter().any(|(_, it)| it.member(name).is_some()), "is in a bridge"),
        (config.xconnects.iter().any(|(it, _)| it.ports().contains(&name)), "is in an xconnect"),
        (config.ports.iter().any(|(_, it)| is_parent(&it.kind)), "has sub-interfaces"),
        (
            config.mirrors.iter().any(|(_, it)| it.destination == *name),
            "carries the copies of a mirror",
        ),
    ];
    let used = uses.into_iter().find(|(is, _)| *is).map(|(_, why)| why.to_owned());
    let narrow = port.mtu < bond.mtu;
    used.or_else(|| {
        narrow.then(|| {
            format!(
                "has an MTU of {}, and the bond one of {}: give both the same",
                port.mtu, bond.mtu
            )
        })
    })
}

/// Makes a bond.
pub(super) const ADD: Command = Command::with(
    ("bond", "add"),
    "Make one port of several, as in: bond add b0 members eth0,eth1 mode active-backup",
    PortName::first,
    explained::<Bond>,
    |config, words| add_as(&mut config.ports, words, "bond"),
);

/// Removes it.
pub(super) const DEL: Command =
    Command::with(("bond", "del"), "Remove a bond", PortName::first, Vec::new, del);

fn del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: PortName = words.next("a port name")?;
    if config.ports.get(&name).is_some_and(|port| matches!(port.kind, PortKind::Bond(_))) {
        config.ports.remove(&name);
        return Ok(());
    }
    Err(Problem::new(format!("port.{name}"), format!("there is no bond `{name}`")))
}

#[cfg(test)]
mod tests {
    use crate::config::{Host, Source, parse};

    const PORTS: &str = r#"
[port]
p1 = { kind = "memory" }
p2 = { kind = "memory" }
p3 = { kind = "memory", addresses = ["192.0.2.1/24"] }
p4 = { kind = "memory", mtu = 1400 }
p5 = { kind = "memory" }
b1 = { kind = "bond", members = ["p1"], mode = "active-backup" }
"#;

    fn faults(bond: &str) -> Vec<String> {
        let text = format!("{PORTS}b0 = {{ kind = \"bond\", {bond} }}\n");
        match parse(&Source::new("test", text), &Host::any()) {
            Ok(_) => Vec::new(),
            Err(report) => report.findings().into_iter().map(|it| it.message).collect(),
        }
    }

    #[test]
    fn members_carry_nothing_else_and_are_of_one_bond() {
        assert_eq!(faults("members = [\"p2\", \"p5\"]"), [""; 0]);
        for (members, fault) in [
            ("\"p1\"", "p1 is a member of b0 already"),
            ("\"p2\", \"p2\"", "p2 is listed twice"),
            ("\"p9\"", "there is no port `p9`"),
            ("\"p3\"", "p3 has addresses, or is told to route: give them to the bond"),
            ("\"p4\"", "p4 has an MTU of 1400, and the bond one of 1500: give both the same"),
            ("\"b1\"", "b1 stands on other ports"),
            ("", "a bond of 0 ports"),
        ] {
            assert_eq!(faults(&format!("members = [{members}]")), [fault]);
        }
    }

    #[test]
    fn what_a_mode_cannot_do_is_refused() {
        for (more, fault) in [
            ("min_links = 3", "`min_links` is 3, and there are 2 members"),
            ("mode = \"active-backup\", min_links = 2", "`min_links` is 2, and one member carries"),
            ("mode = \"active-backup\", primary = \"p1\"", "p1 is none of its members"),
            ("primary = \"p2\"", "`primary` names the one that carries, and in 802.3ad all do"),
            (
                "mode = \"balance-slb\", primary = \"p2\"",
                "`primary` names the one that carries, and in balance-slb all do",
            ),
            ("mode = \"balance-slb\", min_links = 3", "`min_links` is 3, and there are 2 members"),
        ] {
            assert_eq!(faults(&format!("members = [\"p2\", \"p5\"], {more}")), [fault]);
        }
        assert_eq!(
            faults("members = [\"p2\"], mode = \"active-backup\", primary = \"p2\""),
            [""; 0]
        );
    }

    #[test]
    fn a_member_is_used_for_nothing_else() {
        for (more, fault) in [
            ("v = { kind = \"vlan\", parent = \"p2\", vlan = 7 }", "p2 has sub-interfaces"),
            ("[bridge.lan]\nports = [\"p2\"]", "p2 is in a bridge"),
            ("[[xconnect]]\nports = [\"p2\", \"p5\"]", "p2 is in an xconnect"),
            (
                "[mirror.m]\ndestination = \"p2\"\nsources = [\"p5\"]",
                "p2 carries the copies of a mirror",
            ),
        ] {
            let text = format!("{PORTS}b0 = {{ kind = \"bond\", members = [\"p2\"] }}\n{more}\n");
            let report = parse(&Source::new("test", text), &Host::any()).unwrap_err();
            let found: Vec<_> = report.findings().into_iter().map(|it| it.message).collect();
            assert_eq!(found, [fault]);
        }
        let vlan = "v = { kind = \"vlan\", parent = \"b1\", vlan = 7 }";
        let text = format!("{PORTS}{vlan}\n[bridge.lan]\nports = [\"v\", \"b1\"]\n");
        parse(&Source::new("test", text), &Host::any()).unwrap();
    }
}
