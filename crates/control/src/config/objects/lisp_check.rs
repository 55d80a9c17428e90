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

#[cfg(test)]
mod tests {
    use crate::config::{Host, Source, edit, parse, render};

    const PORTS: &str = "[port.wan]\nkind = \"memory\"\naddresses = [\"192.0.2.1/24\"]\n";
    const LINK: &str = "[port.lisp0]\nkind = \"lisp\"\nlocators = [\"192.0.2.1\"]\n";

    /// What is wrong with a configuration: fields and messages.
    fn faults(rest: &str) -> Vec<String> {
        let text = format!("{PORTS}{rest}");
        match parse(&Source::new("test", text), &Host::any()) {
            Ok(_) => Vec::new(),
            Err(problems) => {
                let findings = problems.findings().into_iter();
                findings.map(|it| format!("{}: {}", it.field, it.message)).collect()
            }
        }
    }

    fn fault(rest: &str) -> String {
        let all = faults(rest);
        assert_eq!(all.len(), 1, "{all:?}");
        all.into_iter().next().unwrap_or_default()
    }

    #[test]
    fn what_cannot_work_is_told_in_words() {
        assert!(faults(LINK).is_empty());
        let with = |more: &str| fault(&format!("{LINK}{more}"));
        for (found, wanted) in [
            (fault("[port.lisp0]\nkind = \"lisp\"\n"), "port.lisp0.locators: it has no locator"),
            (
                fault("[port.lisp0]\nkind = \"lisp\"\nlocators = [\"192.0.2.9\"]\n"),
                "port.lisp0.locators[0]: no port has the address 192.0.2.9",
            ),
            (
                with("petr = \"2001:db8::9\"\n"),
                "port.lisp0.petr: no locator is of the family of 2001:db8::9",
            ),
            (with("petr = \"192.0.2.1\"\n"), "port.lisp0.petr: 192.0.2.1 is an address of ours"),
            (
                with("[port.other]\nkind = \"lisp\"\nlocators = [\"192.0.2.1\"]\n"),
                "port.other.instance_id: lisp0 is instance 0 already",
            ),
            (
                with(
                    "[[lisp_map]]\neid = \"10.2.0.0/16\"\nport = \"wan\"\nrlocs = [\"192.0.2.9\"]\n",
                ),
                "lisp_map.10.2.0.0/16@wan.port: wan is of the kind memory",
            ),
            (
                with("[[lisp_map]]\neid = \"10.2.0.0/16\"\nport = \"lisp0\"\n"),
                "lisp_map.10.2.0.0/16@lisp0.rlocs: the mapping has no locators",
            ),
            (
                with(
                    "[[lisp_map]]\neid = \"10.2.0.0/16\"\nport = \"lisp0\"\nrlocs = [\"192.0.2.1\"]\n",
                ),
                "lisp_map.10.2.0.0/16@lisp0.rlocs[0]: 192.0.2.1 is a locator of ours",
            ),
            (
                with(
                    "[[lisp_map]]\neid = \"10.2.0.0/16\"\nport = \"lisp0\"\nrlocs = [\"2001:db8::2\"]\n",
                ),
                "lisp_map.10.2.0.0/16@lisp0.rlocs[0]: lisp0 has no locator of the family of 2001:db8::2",
            ),
            (
                with("[[lisp_eid]]\nprefix = \"224.0.0.0/8\"\nport = \"lisp0\"\n"),
                "lisp_eid.224.0.0.0/8@lisp0.prefix: 224.0.0.0/8 is no network of endpoints",
            ),
            (
                with("[[lisp_eid]]\nprefix = \"10.1.0.0/16\"\nport = \"lisp0\"\nttl = \"30s\"\n"),
                "lisp_eid.10.1.0.0/16@lisp0.ttl: others may remember it for 30 s",
            ),
            (
                with("[lisp_site.east]\nkey = \"k\"\neids = [\"10.1.0.0/16\"]\n"),
                "lisp.map_server: there are sites, and no map server",
            ),
            (
                with("[lisp]\nmap_resolvers = [\"192.0.2.5\", \"192.0.2.5\"]\n"),
                "lisp.map_resolvers[1]: 192.0.2.5 is listed twice",
            ),
            (with("[lisp]\nprobe = \"100ms\"\n"), "lisp.probe: a probe each 100 ms"),
            (
                with("[[lisp_server]]\naddress = \"224.0.0.1\"\nkey = \"k\"\n"),
                "lisp_server.224.0.0.1.address: 224.0.0.1 is not the address of one host",
            ),
        ] {
            assert_eq!(found, wanted);
        }
        let sites = "[lisp]\nmap_server = true\n[lisp_site.a]\nkey = \"k\"\neids = [\"10.1.0.0/16\"]\n\
                     [lisp_site.b]\nkey = \"k\"\neids = [\"10.1.0.0/16\"]\n";
        assert_eq!(fault(sites), "lisp_site.b.eids[0]: 10.1.0.0/16 is a network of site a already");
    }

    #[test]
    fn commands_say_what_the_file_says() {
        let start = parse(&Source::new("test", PORTS.to_owned()), &Host::any()).unwrap();
        let commands = "port add lisp0 lisp instance 7 locator 192.0.2.1 petr 192.0.2.9 source_check strict\n\
                        lisp set map_resolvers 192.0.2.53 probe 10s\n\
                        lisp_server add 192.0.2.53 key secret algorithm sha1\n\
                        lisp_eid add 10.1.0.0/16 lisp0 ttl 1h\n\
                        lisp_map add 10.2.0.0/16 lisp0 to 192.0.2.2 priority 1 weight 3 to 192.0.2.3\n\
                        lisp_map add 10.3.0.0/16 lisp0 action drop\n";
        let made = edit(&start, &Source::new("commands", commands), &Host::any());
        let made = made.unwrap_or_else(|problems| panic!("{problems}"));
        let text = render(&made);
        let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for line in [
            "locators = [\"192.0.2.1\"]",
            "instance_id = 7",
            "source_check = \"strict\"",
            "probe = \"10s\"",
            "algorithm = \"sha1\"",
            "ttl = \"1h\"",
            "rlocs = [{ address = \"192.0.2.2\", weight = 3 }, \"192.0.2.3\"]",
            "action = \"drop\"",
        ] {
            assert!(plain.contains(line), "{line} is not in\n{text}");
        }
        let read = parse(&Source::new("test", text.clone()), &Host::any());
        assert_eq!(read.unwrap_or_else(|problems| panic!("{problems}\n{text}")), made);
        let undone = "lisp_map del 10.2.0.0/16 lisp0\nlisp_map del 10.3.0.0/16 lisp0\n\
                      lisp_eid del 10.1.0.0/16 lisp0\nlisp_server del 192.0.2.53\nport del lisp0\n\
                      lisp set map_resolvers default probe default\n";
        let undone = edit(&made, &Source::new("commands", undone), &Host::any());
        assert_eq!(undone.unwrap_or_else(|problems| panic!("{problems}")), start);
    }
}
