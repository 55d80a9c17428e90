//! What of LISP no object can say alone.

use std::collections::HashMap;
use std::net::IpAddr;

use super::Config;
use super::port::check_exists;
use super::port_kind::PortKind;
use super::port_kind::lisp::{Lisp, Locator};
use super::port_name::PortName;
use crate::config::prefix::Prefix;
use crate::config::report::{Problem, Report};
use wire::ipv6;

/// Most locators of a site that are told (RFC 9301 has eight bits for their number).
const MOST_LOCATORS: usize = 32;

/// Complains about an address that is not one host's, reached from everywhere.
pub(super) fn check_host(field: &str, address: IpAddr, report: &mut Report) {
    let on_link = match address {
        IpAddr::V4(address) => address.is_broadcast(),
        IpAddr::V6(address) => ipv6::is_link_local(address.into()),
    };
    if on_link || address.is_multicast() || address.is_unspecified() || address.is_loopback() {
        let problem = Problem::new(field, format!("{address} is not the address of one host"));
        report.push(problem.expected("an address that others reach"));
    }
}

/// Complains about a network that no endpoints are in.
pub(super) fn check_endpoints(field: &str, prefix: Prefix, report: &mut Report) {
    let address = prefix.address();
    let on_link = matches!(address, IpAddr::V6(it) if ipv6::is_link_local(it.into()));
    if on_link || address.is_multicast() {
        let problem = Problem::new(field, format!("{prefix} is no network of endpoints"));
        report.push(problem.expected("a network of unicast addresses beyond one link"));
    }
}

/// Complains about a port that is none of LISP; gives it, if it is one.
pub(super) fn port_of<'a>(
    field: &str,
    name: &PortName,
    config: &'a Config,
    report: &mut Report,
) -> Option<&'a Lisp> {
    check_exists(field, name, &config.ports, report);
    match &config.ports.get(name)?.kind {
        PortKind::Lisp(lisp) => Some(lisp),
        other => {
            let message = format!("{name} is of the kind {}", other.name().word());
            report.push(Problem::new(field, message).expected("a port of the kind lisp"));
            None
        }
    }
}

/// Complains about locators that none can be, and about too many.
pub(super) fn check_locators(field: &str, locators: &[Locator], report: &mut Report) {
    if locators.len() > MOST_LOCATORS {
        let problem = Problem::new(field, format!("{} locators", locators.len()));
        report.push(problem.expected(format!("at most {MOST_LOCATORS}")));
    }
    for (index, locator) in locators.iter().enumerate() {
        let field = format!("{field}[{index}]");
        check_host(&field, locator.address, report);
        if locators[..index].iter().any(|other| other.address == locator.address) {
            let problem = Problem::new(field, format!("{} is listed twice", locator.address));
            report.push(problem.expected("each locator once"));
        }
    }
}

/// Finds what is wrong with all ports of LISP.
pub(super) fn check_ports(config: &Config, report: &mut Report) {
    let mut used = HashMap::new();
    for (name, port) in config.ports.iter() {
        let PortKind::Lisp(lisp) = &port.kind else { continue };
        let field = |key: &str| format!("port.{name}.{key}");
        let under = lisp.underlay_vrf.as_ref();
        if let Some(other) = used.insert(lisp.instance_id, name) {
            let message = format!("{other} is instance {} already", lisp.instance_id);
            let problem = Problem::new(field("instance_id"), message);
            report.push(problem.expected("each instance once"));
        }
        if lisp.locators.is_empty() {
            let problem = Problem::new(field("locators"), "it has no locator");
            report.push(problem.expected("an address of a port, as in locators = [\"192.0.2.1\"]"));
        }
        check_locators(&field("locators"), &lisp.locators, report);
        let beside = || config.ports.iter().filter(|(_, other)| other.vrf.as_ref() == under);
        let is_own = |address: IpAddr| {
            beside().flat_map(|(_, it)| &it.addresses).any(|own| own.address() == address)
        };
        for (index, locator) in lisp.locators.iter().enumerate() {
            if !is_own(locator.address) {
                let message = match under {
                    Some(vrf) => {
                        format!("no port of VRF {vrf} has the address {}", locator.address)
                    }
                    None => format!("no port has the address {}", locator.address),
                };
                let problem = Problem::new(field(&format!("locators[{index}]")), message);
                report.push_missing(problem.expected("an address of a port"));
            }
        }
        if let Some(petr) = lisp.petr {
            check_host(&field("petr"), petr, report);
            let family = |own: &Locator| own.address.is_ipv4() == petr.is_ipv4();
            if is_own(petr) {
                let problem = Problem::new(field("petr"), format!("{petr} is an address of ours"));
                report.push(problem.expected("another router's address"));
            } else if !lisp.locators.iter().any(family) {
                let message = format!("no locator is of the family of {petr}");
                report.push(Problem::new(field("petr"), message).expected("one of its family"));
            }
        }
        if port.ra.is_some() {
            let problem = Problem::new(field("ra"), "there are no hosts on a link of LISP");
            report.push(problem.expected("no `ra` here"));
        }
    }
}
