//! Tunnels whose number or ends flows say: what leads packets into them without flows is refused.

use super::Config;
use super::port::Port;
use super::port_kind::PortKind;
use super::port_name::PortName;
use super::route::Route;
use crate::config::report::{Problem, Report};

/// Finds what is wrong with one, if it is such a tunnel.
pub(super) fn check(name: &PortName, port: &Port, config: &Config, report: &mut Report) {
    let kind = &port.kind;
    let (is_numbered, is_directed) = (kind.is_numbered_by_flows(), kind.is_directed_by_flows());
    let mut refuse = |field: &str, message: &str, expected: &str| {
        let problem = Problem::new(format!("port.{name}.{field}"), message);
        report.push(problem.expected(expected));
    };
    if kind.has_local_by_flows() && !is_directed {
        let message = "flows say it together with the other end";
        refuse("local", message, "`remote = \"flow\"`, or an address of a port");
    }
    if !is_numbered && !is_directed {
        return;
    }
    if kind.has_remotes() {
        let message = "flows say the number of packets to one other end";
        refuse("remotes", message, "`remote`, and a port for each");
    }
    if is_directed && kind.is_for_copies() {
        refuse("remote", "copies go to one other end", "the address of who listens");
        return;
    }
    if is_directed && kind.is_point_to_point() {
        refuse("remote", "flows are of frames, not of packets", "the address of the other end");
        return;
    }
    let (field, otherwise) = match kind {
        _ if is_directed => ("remote", "an address"),
        PortKind::Gre(_) => ("key", "a number"),
        _ => ("vni", "a number"),
    };
    if let Some(what) = without_flows(name, port, config) {
        let message = format!("flows say it, and {what}");
        refuse(field, &message, &format!("{otherwise}, or a bridge with `mode = \"flow\"`"));
    } else if !config.bridges.iter().any(|(_, bridge)| bridge.member(name).is_some()) {
        let message = "it is in no bridge of flows: nothing leaves by it";
        let problem = Problem::new(format!("port.{name}"), message);
        let help = format!("volley bridge join BRIDGE {name}");
        report.warn(problem.expected("a bridge with `mode = \"flow\"`").help(help));
    }
}

/// What leads packets into it that no flow has looked at, in words.
fn without_flows(name: &PortName, port: &Port, config: &Config) -> Option<String> {
    let mut bridges = config.bridges.iter();
    if let Some((bridge, _)) = bridges.find(|(_, it)| !it.has_flows() && it.member(name).is_some())
    {
        return Some(format!("bridge {bridge} has none"));
    }
    if config.xconnects.iter().any(|(pair, _)| pair.ports().contains(&name)) {
        return Some("an xconnect has none".to_owned());
    }
    if config.mirrors.iter().any(|(_, mirror)| mirror.destination == *name) {
        return Some("a mirror has none".to_owned());
    }
    if let Some(why) = port.why_it_routes() {
        return Some(format!("the port {why}"));
    }
    let leads_by = |route: &Route| match route {
        Route::Via(hops) => hops.iter().any(|hop| hop.port.as_ref() == Some(name)),
        _ => false,
    };
    config.routes.iter().any(|(_, route)| leads_by(route)).then(|| "a route has none".to_owned())
}
