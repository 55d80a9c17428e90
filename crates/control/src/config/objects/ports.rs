//! What no port can say alone, and the commands of ports beside the usual ones.

use std::collections::HashMap;

use super::connected::{Connected, check_host_address};
use super::port::{MOST_PORTS, Port, Ports, RxMode};
use super::port_kind::PortKind;
use super::port_name::PortName;
use super::port_twin::Twin;
use super::{
    Command, Config, Object, address, bonds, proxy_arp, proxy_nd, qos, tunnel, tunnel_mtu,
    unnumbered, vlan,
};
use crate::config::host::Host;
use crate::config::report::{Problem, Report};

/// RFC 8200 section 5: every link that carries IPv6 carries so many.
const MIN_IP6_MTU: u16 = 1_280;

impl Object for Ports {
    const MORE: &'static [Command] = &[
        address::ADD,
        address::DEL,
        vlan::ADD,
        vlan::DEL,
        bonds::ADD,
        bonds::DEL,
        tunnel::VXLAN_ADD,
        tunnel::VXLAN_DEL,
        tunnel::GENEVE_ADD,
        tunnel::GENEVE_DEL,
        tunnel::GRE_ADD,
        tunnel::GRE_DEL,
        tunnel::IPIP_ADD,
        tunnel::IPIP_DEL,
        tunnel::ERSPAN_ADD,
        tunnel::ERSPAN_DEL,
        qos::SET,
        qos::CLASS,
        qos::FILTER,
        qos::DEL,
        qos::IMPORT,
    ];

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        check_number(self, report);
        let (mut claims, mut twins) = (HashMap::new(), HashMap::new());
        for (name, port) in self.iter() {
            check_alone(name, port, report);
            unnumbered::check(name, port, config, report);
            port.filters.check(name, &port.kind, config, report);
            port.policing.check(&format!("port.{name}"), config, report);
            port.exported.check(&format!("port.{name}"), config, report);
            if let Some(qos) = &port.qos {
                qos.check_names(name, config, report);
                qos.check_room(name, config, report);
            }
            if let Some(twin) = &port.twin {
                let place = (twin.netns.clone(), twin.name_for(name).to_owned());
                if let Some(other) = twins.insert(place, name) {
                    let message = format!("port {other} has a twin of this name there already");
                    let problem = Problem::new(format!("port.{name}.twin"), message);
                    report.push(problem.expected("another name, or another namespace"));
                }
            }
            let Some(claim) = port.kind.claim() else { continue };
            if let Some(other) = claims.insert(claim.clone(), name) {
                let message = format!("{claim} is used by port {other} already");
                let problem = Problem::new(format!("port.{name}"), message);
                report.push(problem.expected("one port for each device"));
            }
        }
        vlan::check_all(self, report);
        bonds::check_all(config, report);
        tunnel::check_all(config, report);
        let connected = Connected::of(self);
        connected.check(report);
        for (name, port) in self.iter() {
            tunnel_mtu::check(name, port, &connected, config, report);
        }
    }
}

/// Finds what is wrong with one port by itself.
fn check_alone(name: &PortName, it: &Port, report: &mut Report) {
    let port = format!("port.{name}");
    it.kind.check(&port, report);
    if let Some(mac) = it.mac.filter(|mac| !mac.is_unicast()) {
        let what = if mac.is_multicast() { "a multicast address" } else { "not an address" };
        report.push(
            Problem::new(format!("{port}.mac"), format!("{mac} is {what}"))
                .expected("the address of one station: first octet even, not all zero"),
        );
    }
    if let Some(most) = it.kind.most_rx_queues().filter(|most| it.rx_queues > *most) {
        let kind = it.kind.name().word();
        let message = format!("a {kind} port with {} receive queues", it.rx_queues);
        let problem = Problem::new(format!("{port}.rx_queues"), message);
        report.push(problem.expected(format!("at most {most}")));
    }
    if it.rx_mode != RxMode::Adaptive && it.kind.is_virtual() {
        let message = "its packets come in by other ports, and are waited for there";
        let problem = Problem::new(format!("{port}.rx_mode"), message);
        report.push(problem.expected("`rx_mode` at those ports"));
    }
    if it.has_ip6() && it.mtu < MIN_IP6_MTU {
        let message = format!("IPv6 addresses and an MTU of {}", it.mtu);
        let problem = Problem::new(format!("{port}.mtu"), message);
        report.push(problem.expected(format!("{MIN_IP6_MTU} or more with IPv6 (RFC 8200)")));
    }
    if let Some(ra) = &it.ra {
        let networks = it.addresses.iter().filter(|own| own.address().is_ipv6()).count();
        ra.check(&port, networks, it.mtu, report);
    }
    proxy_arp::check(&port, &it.proxy_arp, it.has_ip4(), report);
    proxy_nd::check(&port, &it.proxy_nd, it.has_ip6(), report);
    if it.directed_broadcasts && !it.has_ip4() {
        let message = "it has no IPv4 address, so no networks to send to all of";
        let problem = Problem::new(format!("{port}.directed_broadcasts"), message);
        report.push(problem.expected("an IPv4 address on the port"));
    }
    if it.redirects && !it.has_ip4() && !it.has_ip6() {
        let message = "it has no address, so no hosts to tell";
        let problem = Problem::new(format!("{port}.redirects"), message);
        report.push(problem.expected("an address on the port"));
    }
    if it.twin.is_some() {
        Twin::check(&port, &it.kind, report);
    }
    for (index, address) in it.addresses.iter().enumerate() {
        let field = format!("{port}.addresses[{index}]");
        if it.addresses[..index].iter().any(|other| other.address() == address.address()) {
            let message = format!("{} is listed twice", address.address());
            report.push(Problem::new(&field, message).expected("each address once"));
        }
        check_host_address(&field, *address, report);
    }
    if let Some(qos) = &it.qos {
        qos.check(&port, it.mtu, report);
        if it.kind.is_virtual() {
            report.push(no_qos(&port, &it.kind));
        }
    }
}

/// A scheduler holds the packets of a device back: what stands on others has none.
fn no_qos(port: &str, kind: &PortKind) -> Problem {
    let (message, help) = match kind {
        PortKind::Vlan(vlan) => (
            "frames of a sub-interface wait in the scheduler of its port".to_owned(),
            format!("give [port.{}.qos] a class and a filter for them", vlan.parent),
        ),
        _ => (
            "its packets leave by other ports, and wait there".to_owned(),
            "give those ports a scheduler".to_owned(),
        ),
    };
    Problem::new(format!("{port}.qos"), message).expected("a port with a device").help(help)
}

/// Each port takes a number, and so does each remote of a tunnel that has several.
fn check_number(ports: &Ports, report: &mut Report) {
    let several = ports.iter().filter(|(_, port)| port.kind.has_remotes());
    let remotes: usize =
        several.filter_map(|(_, port)| Some(port.kind.ends()?.remotes.listed().len())).sum();
    if ports.len() + remotes > MOST_PORTS {
        let and = if remotes > 0 { format!(" and {remotes} remotes") } else { String::new() };
        let message = format!("{} ports{and}", ports.len());
        let expected = format!("at most {MOST_PORTS} ports, and remotes of tunnels with several");
        report.push(Problem::new("port", message).expected(expected));
    }
}
