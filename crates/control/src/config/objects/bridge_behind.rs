//! `[bridge.NAME] behind`: a bridge of a VLAN, behind a bridge of flows.

use super::Config;
use super::bridge::{Bridge, BridgeName};
use super::port_kind::PortKind;
use super::port_name::PortName;
use crate::config::listed::check_exists;
use crate::config::report::{Problem, Report};

/// Whether a port may be in both bridges: one has flows, the other is behind it.
pub(super) fn may_share(config: &Config, one: &BridgeName, other: &BridgeName) -> bool {
    let is_behind = |behind: &BridgeName, front: &BridgeName| {
        config.bridges.get(behind).is_some_and(|bridge| bridge.behind.as_ref() == Some(front))
    };
    is_behind(one, other) || is_behind(other, one)
}

/// Finds what is wrong with a bridge that is behind another.
pub(super) fn check(name: &BridgeName, bridge: &Bridge, config: &Config, report: &mut Report) {
    let Some(front) = &bridge.behind else { return };
    let field = format!("bridge.{name}.behind");
    check_exists(&field, front, &config.bridges, report);
    let Some(of_flows) = config.bridges.get(front) else { return };
    if bridge.has_flows() || !of_flows.has_flows() {
        let message = format!("{name} cannot be behind {front}");
        let problem = Problem::new(field, message);
        report.push(problem.expected("a bridge without flows behind one with `mode = \"flow\"`"));
        return;
    }
    for (index, member) in bridge.ports.iter().enumerate() {
        let is_of_it = |port: &PortName| of_flows.member(port).is_some();
        let parent = match config.ports.get(&member.port).map(|port| &port.kind) {
            Some(PortKind::Vlan(vlan)) => Some(&vlan.parent),
            _ => None,
        };
        if !is_of_it(&member.port) && !parent.is_some_and(is_of_it) {
            let message = format!("{} is not in {front}", member.port);
            let problem = Problem::new(format!("bridge.{name}.ports[{index}]"), message);
            report.push(problem.expected(format!("a port of {front}, or a VLAN of one")));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Host, Source, parse};

    #[test]
    fn a_bridge_behind_flows_has_ports_of_these_and_vlans_of_them_alone() {
        let with = |behind: &str, ports: &str| {
            let text = format!(
                "[port.a]\nkind = \"memory\"\n[port.t]\nkind = \"memory\"\n[port.x]\nkind = \
                 \"memory\"\n[port.t10]\nkind = \"vlan\"\nparent = \"t\"\nvlan = 10\n\
                 [bridge.br0]\nmode = \"flow\"\nports = [\"a\", \"t\"]\n\
                 [bridge.v10]\nports = [{ports}]\n{behind}"
            );
            let read = parse(&Source::new("test", text), &Host::any());
            read.map(drop).map_err(|error| error.to_string())
        };
        let behind = "behind = \"br0\"";
        assert_eq!(with(behind, "\"a\", \"t10\""), Ok(()));
        let told = |behind, ports| with(behind, ports).unwrap_err();
        assert!(told("", "\"a\", \"t10\"").contains("a is in the bridge br0 already"));
        assert!(told(behind, "\"x\"").contains("x is not in br0"));
        assert!(told("behind = \"none\"", "\"t10\"").contains("there is no bridge `none`"));
        let self_told = told("behind = \"v10\"", "\"t10\"");
        assert!(self_told.contains("v10 cannot be behind v10"), "{self_told}");
        let flows = told("behind = \"br0\"\nmode = \"flow\"", "\"t10\"");
        assert!(flows.contains("v10 cannot be behind br0"), "{flows}");
    }
}
