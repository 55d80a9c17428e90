//! A job as commands of VPP's.
//!
//! ```text
//! function            left                    right
//! cross-connect       ╶──── l2 xconnect ───────╴
//! bridge, vlan, vxlan ╶── bridge-domain 1 ─────╴ right, its VLAN or a tunnel of its own
//! ip4, ip6            an address              an address, routes by the lab
//! acl                 the same, a list in     an address
//! ```

use std::fmt::Write as _;

use crate::dut::bridge::AGEING_S;
use crate::dut::device::Job;
use crate::link::{DEVICE_MACS, DeviceEnd, LAB_MACS};
use crate::load::frames::{self, Route};
use crate::load::shape::{DENIED_PORT, VLAN, VNI};
use crate::scenario::{Function, FunctionKind};

/// The first tunnel's interface.
const TUNNEL: &str = "vxlan_tunnel0";

/// All commands of a job; none if it cannot be said.
pub(super) fn commands(job: &Job) -> Option<String> {
    let mut text = String::new();
    for (side, end) in job.ends.iter().enumerate() {
        let _ = writeln!(text, "{}", create(side, end)?);
        let _ = writeln!(text, "set interface state {} up", port(side, end));
    }
    let [left, right] = [0, 1].map(|side| port(side, &job.ends[side]));
    match job.function.kind {
        FunctionKind::CrossConnect => {
            for [from, to] in [[&left, &right], [&right, &left]] {
                let _ = writeln!(text, "set interface l2 xconnect {from} {to}");
            }
        }
        FunctionKind::Bridge => {
            bridge(&mut text, &job.function, [&left, &right]);
            stations(&mut text, if job.entries > 1 { job.entries } else { 0 }, &right);
        }
        FunctionKind::VlanTagging => {
            let tagged = format!("{right}.{VLAN}");
            let _ = writeln!(
                text,
                "create sub-interfaces {right} {VLAN}\nset interface state {tagged} up"
            );
            bridge(&mut text, &job.function, [&left, &tagged]);
            let _ = writeln!(text, "set interface l2 tag-rewrite {tagged} pop 1");
        }
        FunctionKind::VxlanEncap => {
            address(&mut text, false, 1, &right);
            let (own, peer) = (frames::device_address(false, 1), frames::lab_address(false, 1));
            let _ = writeln!(text, "create vxlan tunnel src {own} dst {peer} vni {VNI}");
            bridge(&mut text, &job.function, [&left, TUNNEL]);
            stations(&mut text, job.entries, TUNNEL);
        }
        FunctionKind::Ip4 | FunctionKind::Ip6 => {
            let six = job.function.kind == FunctionKind::Ip6;
            address(&mut text, six, 0, &left);
            address(&mut text, six, 1, &right);
            for Route { prefix, via } in frames::routes(six, job.entries) {
                let _ = writeln!(text, "ip route add {prefix} via {via} {right}");
            }
        }
        FunctionKind::Acl => {
            address(&mut text, false, 0, &left);
            address(&mut text, false, 1, &right);
            access_list(&mut text, job.entries, [&left, &right]);
        }
        FunctionKind::Gre
        | FunctionKind::SourceAllowList
        | FunctionKind::Dhcp4
        | FunctionKind::Lisp => return None,
    }
    Some(text)
}

/// The interface that an end becomes.
pub(super) fn port(side: usize, end: &DeviceEnd) -> String {
    match end {
        DeviceEnd::Kernel(device) => format!("host-{device}"),
        DeviceEnd::Memif(_) => format!("memif{}/0", side + 1),
        DeviceEnd::Vhost(_) => format!("VirtualEthernet0/0/{side}"),
        DeviceEnd::Pci(_) | DeviceEnd::Pcap { .. } => format!("card{side}"),
    }
}

fn create(side: usize, end: &DeviceEnd) -> Option<String> {
    let mac = DEVICE_MACS[side];
    Some(match end {
        // With offloads VPP asks the kernel for a header before each frame, and writes none.
        DeviceEnd::Kernel(device) => {
            format!("create host-interface name {device} hw-addr {mac} cksum-gso-disable")
        }
        DeviceEnd::Memif(socket) => format!(
            "create memif socket id {id} filename {}\n\
             create interface memif id 0 socket-id {id} master hw-addr {mac}",
            socket.display(),
            id = side + 1
        ),
        DeviceEnd::Vhost(socket) => {
            format!("create vhost-user socket {} server hwaddr {mac}", socket.display())
        }
        DeviceEnd::Pci(_) => format!("set interface mac address {} {mac}", port(side, end)),
        DeviceEnd::Pcap { .. } => return None,
    })
}

fn bridge(text: &mut String, function: &Function, ports: [&str; 2]) {
    let switch = |on: Option<bool>| u8::from(on.unwrap_or(true));
    let _ = writeln!(
        text,
        "create bridge-domain 1 learn {} forward 1 uu-flood {} flood {} arp-term 0 mac-age {}",
        switch(function.learning),
        switch(function.unknown_unicast_flood),
        switch(function.flood),
        if function.ageing == Some(true) { AGEING_S / 60 } else { 0 }
    );
    for name in ports {
        let _ = writeln!(text, "set interface l2 bridge {name} 1");
    }
}

/// Stations behind a port of the bridge.
fn stations(text: &mut String, entries: u64, port: &str) {
    for mac in frames::macs(entries) {
        let _ = writeln!(text, "l2fib add {mac} 1 {port} static");
    }
}

/// An address, and the lab, where packets to it need no asking.
fn address(text: &mut String, six: bool, side: usize, port: &str) {
    let (own, peer) = (frames::device_address(six, side), frames::lab_address(six, side));
    let length = if six { 64 } else { 24 };
    let _ = writeln!(
        text,
        "set interface ip address {port} {own}/{length}\n\
         set ip neighbor {port} {peer} {} static",
        LAB_MACS[side]
    );
}

/// One list, in one line, since each command would make another.
fn access_list(text: &mut String, entries: u64, [left, right]: [&str; 2]) {
    let (network, via) = (frames::ANYWHERE, frames::lab_address(false, 1));
    let _ = writeln!(text, "ip route add {network} via {via} {right}");
    let rule = |Route { prefix, .. }| format!("deny proto 17 dst {prefix} dport {DENIED_PORT}, ");
    let rules: String = frames::routes(false, entries).map(rule).collect();
    let _ = writeln!(
        text,
        "set acl-plugin acl {rules}permit src 0.0.0.0/0\nset acl-plugin interface {left} input acl 0"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::{job, over_cards, over_files};

    fn last(job: &Job, count: usize) -> String {
        let text = commands(job).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len() - count..].join("\n")
    }

    #[test]
    fn a_job_is_commands() {
        assert_eq!(
            commands(&job(FunctionKind::CrossConnect, 1)).unwrap(),
            "create host-interface name d0 hw-addr 02:44:00:00:00:01 cksum-gso-disable\nset interface state host-d0 up\n\
             create host-interface name d1 hw-addr 02:44:00:00:00:02 cksum-gso-disable\nset interface state host-d1 up\n\
             set interface l2 xconnect host-d0 host-d1\nset interface l2 xconnect host-d1 host-d0\n"
        );
        assert_eq!(
            last(&job(FunctionKind::Ip4, 2), 4),
            "set interface ip address host-d1 198.18.1.1/24\n\
             set ip neighbor host-d1 198.18.1.2 02:4c:00:00:00:02 static\n\
             ip route add 16.0.0.0/24 via 198.18.1.2 host-d1\n\
             ip route add 16.0.1.0/24 via 198.18.1.2 host-d1"
        );
        assert!(commands(&job(FunctionKind::Gre, 1)).is_none());
        assert_eq!(
            last(&job(FunctionKind::VlanTagging, 1), 4),
            "create bridge-domain 1 learn 1 forward 1 uu-flood 1 flood 1 arp-term 0 mac-age 0\n\
             set interface l2 bridge host-d0 1\nset interface l2 bridge host-d1.100 1\n\
             set interface l2 tag-rewrite host-d1.100 pop 1"
        );
        assert_eq!(
            last(&job(FunctionKind::Acl, 1), 2),
            "set acl-plugin acl deny proto 17 dst 16.0.0.0/24 dport 5002, permit src 0.0.0.0/0\n\
             set acl-plugin interface host-d0 input acl 0"
        );
        let text = commands(&job(FunctionKind::VxlanEncap, 3)).unwrap();
        assert!(text.contains("create vxlan tunnel src 198.18.1.1 dst 198.18.1.2 vni 100\n"));
        assert_eq!(text.matches(" 1 vxlan_tunnel0 static\n").count(), 3);
    }

    #[test]
    fn cards_have_names_and_files_are_none() {
        let job = over_cards(job(FunctionKind::CrossConnect, 1));
        let text = commands(&job).unwrap();
        assert!(text.starts_with("set interface mac address card0 02:44:00:00:00:01\n"), "{text}");
        assert!(text.ends_with("set interface l2 xconnect card1 card0\n"), "{text}");
        assert!(commands(&over_files(job)).is_none());
    }
}
