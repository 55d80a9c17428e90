//! A job as Volley's configuration.
//!
//! ```text
//! function            left              right
//! cross-connect       ╶── [[xconnect]] ──╴
//! bridge, vlan, vxlan ╶── [bridge.lan] ──╴ right, its VLAN or a tunnel of its own
//! ip4, ip6, gre       an address        an address, routes by the lab or by a tunnel
//! lisp                an address        an address, endpoints at the lab's locator
//! lists               the same, `allow` or `acl_in` at the left
//! dhcp4               an address        an address, each with a twin in the kernel for the relay
//! ```

use std::fmt::Write as _;

use lab_traffic::ports::buffer_bytes;

use crate::dut::bridge::AGEING_S;
use crate::dut::device::Job;
use crate::dut::volley::{settings, table};
use crate::link::{DEVICE_MACS, DeviceEnd, LAB_MACS, LinkKind};
use crate::load::frames;
use crate::load::shape::{DENIED_PORT, INSTANCE, VLAN, VNI};
use crate::scenario::FunctionKind;

/// The bridge's name.
pub(super) const BRIDGE: &str = "lan";
/// Names of the ports, by side.
pub(super) const PORTS: [&str; 2] = ["left", "right"];
/// The tunnel's name.
pub(super) const TUNNEL: &str = "tunnel";
/// Our end of the link that a GRE tunnel is, and the other.
pub(super) const LINK: [&str; 2] = ["198.18.2.1", "198.18.2.2"];
/// Of a kernel device: all that the lab sends, and its hosts, is whole.
pub(super) const WHOLE_PEERS: &str = "peer_offloads = false\n";
/// The longest that it remembers a station.
const MAX_AGEING_S: u64 = 2 * 3600;
/// A port's MTU unless it says otherwise.
pub(super) const USUAL_MTU: u16 = 1_500;
/// What a frame has beside what the MTU counts.
const HEADER_AND_CHECKSUM_BYTES: u16 = 18;

/// The configuration of a job; none if it cannot be said.
pub(super) fn configuration(job: &Job, cores: &str) -> Option<String> {
    let mut text = settings::workers(job, cores);
    memory(&mut text, job);
    for side in 0..PORTS.len() {
        port(&mut text, job, side);
    }
    match job.function.kind {
        FunctionKind::CrossConnect => text += "[[xconnect]]\nports = [\"left\", \"right\"]\n",
        FunctionKind::Ip4 | FunctionKind::Ip6 => {
            let six = job.function.kind == FunctionKind::Ip6;
            neighbors(&mut text, six);
            for frames::Route { prefix, via } in frames::routes(six, table::written(job)) {
                let _ = writeln!(text, "[[route]]\nprefix = \"{prefix}\"\nvia = \"{via}\"");
            }
        }
        FunctionKind::Bridge => bridge(&mut text, job, &PORTS),
        FunctionKind::VlanTagging => vlan(&mut text),
        FunctionKind::VxlanEncap => vxlan(&mut text, job),
        FunctionKind::Gre => gre(&mut text, job),
        FunctionKind::SourceAllowList => neighbors(&mut text, false),
        FunctionKind::Acl => access_list(&mut text, job),
        // As much as anybody asks: how much its own allowance is, is no question of the function.
        FunctionKind::Dhcp4 => text += "[twins]\nrest_pps = 1000000\n",
        FunctionKind::Lisp => lisp(&mut text, job),
    }
    Some(text)
}

/// The same of a router whose ports are made while it runs, where its networks are bridges or are
/// routed between.
pub(super) fn without_ports(job: &Job, cores: &str) -> String {
    let mut text = settings::workers(job, cores);
    memory(&mut text, job);
    if job.function.kind == FunctionKind::Bridge {
        bridge(&mut text, job, &[]);
    }
    text
}

/// Room for what is larger than usual: tables, and frames. What cards reach for is on huge pages,
/// or not measured.
fn memory(text: &mut String, job: &Job) {
    let mut keys = String::new();
    if job.link == LinkKind::Pci {
        keys += "hugepages = \"require\"\n";
    }
    keys += &table::room(job);
    if job.mtu > USUAL_MTU {
        let bytes = buffer_bytes(job.mtu + HEADER_AND_CHECKSUM_BYTES);
        let _ = writeln!(keys, "frame_bytes = {bytes}");
    }
    if !keys.is_empty() {
        let _ = write!(text, "[memory]\n{keys}");
    }
}

/// The port of one side, with what the function wants of it.
fn port(text: &mut String, job: &Job, side: usize) {
    let (kind, end) = (job.function.kind, &job.ends[side]);
    let _ = writeln!(text, "[port.{}]", PORTS[side]);
    let _ = match end {
        DeviceEnd::Kernel(device) => {
            let kind = if job.link == LinkKind::VethXdp { "af_xdp" } else { "af_packet" };
            write!(text, "kind = \"{kind}\"\ndevice = \"{device}\"\n{WHOLE_PEERS}")
        }
        DeviceEnd::Memif(socket) => {
            writeln!(text, "kind = \"memif\"\nrole = \"server\"\nsocket = \"{}\"", socket.display())
        }
        DeviceEnd::Vhost(socket) => {
            writeln!(text, "kind = \"vhost\"\nsocket = \"{}\"", socket.display())
        }
        DeviceEnd::Pcap { rx, tx } => {
            writeln!(text, "kind = \"pcap\"\nrx = \"{}\"\ntx = \"{}\"", rx.display(), tx.display())
        }
        DeviceEnd::Pci(address) => writeln!(text, "kind = \"pci\"\naddress = \"{address}\""),
    };
    *text += &settings::queues(job);
    // A VXLAN tunnel begins at the second link.
    let relays = kind == FunctionKind::Dhcp4;
    let addressed = kind.is_routed() || relays || kind == FunctionKind::VxlanEncap && side == 1;
    if !matches!(end, DeviceEnd::Kernel(_)) && addressed {
        let _ = writeln!(text, "mac = \"{}\"", DEVICE_MACS[side]);
    }
    if addressed {
        let six = kind == FunctionKind::Ip6;
        let (address, length) = (frames::device_address(six, side), if six { 64 } else { 24 });
        let _ = writeln!(text, "addresses = [\"{address}/{length}\"]");
    }
    if relays {
        *text += "twin = true\n";
    }
    if job.mtu > USUAL_MTU {
        let _ = writeln!(text, "mtu = {}", job.mtu);
    }
    if side > 0 {
        return;
    }
    match kind {
        FunctionKind::Acl => *text += "acl_in = \"lab\"\n",
        FunctionKind::SourceAllowList => {
            let sources: Vec<String> =
                frames::sources(job.entries).map(|source| format!("\"{source}\"")).collect();
            let _ = writeln!(text, "allow = {{ from = [{}] }}", sources.join(", "));
        }
        _ => {}
    }
}

/// The lab, where packets to it need no asking.
fn neighbors(text: &mut String, six: bool) {
    for side in 0..PORTS.len() {
        neighbor(text, six, side);
    }
}

fn neighbor(text: &mut String, six: bool, side: usize) {
    let (address, mac, name) = (frames::lab_address(six, side), LAB_MACS[side], PORTS[side]);
    let _ =
        writeln!(text, "[[neighbor]]\naddress = \"{address}\"\nport = \"{name}\"\nmac = \"{mac}\"");
}

fn bridge(text: &mut String, job: &Job, ports: &[&str]) {
    let _ = writeln!(text, "[bridge.{BRIDGE}]\nports = {ports:?}");
    let switches = [
        ("learn", job.function.learning),
        ("flood_unknown", job.function.unknown_unicast_flood),
        ("flood_groups", job.function.flood),
    ];
    for (name, on) in switches.into_iter().filter_map(|(name, on)| Some((name, on?))) {
        let _ = writeln!(text, "{name} = {on}");
    }
    // What is told in bulk is forgotten as what is heard: not before a search is over.
    let long = (table::written(job) < job.entries).then_some(false);
    if let Some(ageing) = job.function.ageing.or(long) {
        let seconds = if ageing { AGEING_S } else { MAX_AGEING_S };
        let _ = writeln!(text, "ageing = \"{seconds}s\"");
    }
    *text += &table::room_of_bridge(job);
    if job.entries > 1 {
        stations(text, table::written(job), PORTS[1]);
    }
}

/// Stations behind a port of the bridge.
fn stations(text: &mut String, entries: u64, port: &str) {
    for mac in frames::macs(entries) {
        let _ = writeln!(text, "[[mac]]\nbridge = \"lan\"\naddress = \"{mac}\"\nport = \"{port}\"");
    }
}

fn vlan(text: &mut String) {
    let _ = writeln!(
        text,
        "[port.trunk]\nkind = \"vlan\"\nparent = \"right\"\nvlan = {VLAN}\n\
         [bridge.lan]\nports = [\"left\", \"trunk\"]"
    );
}

/// The ends of a tunnel, from the second link to the lab.
fn ends() -> String {
    let (local, remote) = (frames::device_address(false, 1), frames::lab_address(false, 1));
    format!("local = \"{local}\"\nremote = \"{remote}\"")
}

fn vxlan(text: &mut String, job: &Job) {
    let _ = writeln!(
        text,
        "[port.{TUNNEL}]\nkind = \"vxlan\"\nvni = {VNI}\n{}\n\
         [bridge.lan]\nports = [\"left\", \"{TUNNEL}\"]\n{}",
        ends(),
        table::room_of_bridge(job)
    );
    neighbor(text, false, 1);
    stations(text, table::written(job), TUNNEL);
}

fn gre(text: &mut String, job: &Job) {
    let _ = writeln!(
        text,
        "[port.tunnel]\nkind = \"gre\"\npayload = \"packets\"\n{}\naddresses = [\"{}/30\"]",
        ends(),
        LINK[0]
    );
    neighbors(text, false);
    for frames::Route { prefix, .. } in frames::routes(false, table::written(job)) {
        let _ = writeln!(text, "[[route]]\nprefix = \"{prefix}\"\nvia = \"{}\"", LINK[1]);
    }
}

/// Endpoints of the lab, each network at its locator at the second link.
fn lisp(text: &mut String, job: &Job) {
    let (own, other) = (frames::device_address(false, 1), frames::lab_address(false, 1));
    let _ = writeln!(
        text,
        "[port.sites]\nkind = \"lisp\"\ninstance_id = {INSTANCE}\nlocators = [\"{own}\"]"
    );
    neighbors(text, false);
    for frames::Route { prefix, .. } in frames::routes(false, job.entries) {
        let _ = writeln!(
            text,
            "[[route]]\nprefix = \"{prefix}\"\nport = \"sites\"\n\
             [[lisp_map]]\neid = \"{prefix}\"\nport = \"sites\"\nrlocs = [\"{other}\"]"
        );
    }
}

fn access_list(text: &mut String, job: &Job) {
    neighbors(text, false);
    let (network, via) = (frames::ANYWHERE, frames::lab_address(false, 1));
    let _ = writeln!(text, "[[route]]\nprefix = \"{network}\"\nvia = \"{via}\"");
    *text += "[acl.lab]\ndefault = \"permit\"\n";
    for frames::Route { prefix, .. } in frames::routes(false, job.entries) {
        let _ = writeln!(
            text,
            "[[acl.lab.rule]]\naction = \"deny\"\nprotocol = \"udp\"\n\
             destination = \"{prefix}\"\ndestination_port = {DENIED_PORT}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::{job, over_cards, over_files};
    use crate::scenario::Function;

    #[test]
    fn what_is_larger_than_usual_has_room() {
        let usual = job(FunctionKind::Ip4, 1);
        assert!(!configuration(&usual, "0").unwrap().contains("[memory]"));
        let large = Job { mtu: 9_000, entries: 2_000_000, ..usual };
        let text = configuration(&large, "0").unwrap();
        assert!(
            text.contains("[memory]\nroutes = 2001000\nframe_bytes = 9216\n"),
            "{}",
            &text[..300]
        );
        assert!(text.contains("mtu = 9000\n"));
    }

    #[test]
    fn each_switch_of_a_bridge_is_said() {
        let plain = job(FunctionKind::Bridge, 1);
        let text = |ageing, learning| {
            let function = Function { ageing, learning, ..plain.function.clone() };
            configuration(&Job { function, ..plain.clone() }, "0").unwrap()
        };
        assert!(text(Some(true), Some(false)).contains("learn = false\nageing = \"300s\"\n"));
        assert!(text(Some(false), Some(false)).contains("learn = false\nageing = \"7200s\"\n"));
        assert!(!text(None, None).contains("ageing"));
    }

    #[test]
    fn a_router_whose_ports_come_later_has_all_but_them() {
        let plain = job(FunctionKind::Bridge, 1);
        let function = Function { learning: Some(false), ..plain.function.clone() };
        let text = without_ports(&Job { function, mtu: 9_000, ..plain }, "2-3");
        let expected = "[workers]\ncores = [2]\nidle = \"poll\"\n[memory]\nframe_bytes = 9216\n\
                        [bridge.lan]\nports = []\nlearn = false\n";
        assert_eq!(text, expected);
        let routed = without_ports(&job(FunctionKind::Ip4, 1), "2");
        assert_eq!(routed, "[workers]\ncores = [2]\nidle = \"poll\"\n");
    }

    #[test]
    fn cards_and_files_are_ports() {
        let text = configuration(&over_cards(job(FunctionKind::Ip4, 1)), "0").unwrap();
        let right = "[port.right]\nkind = \"pci\"\naddress = \"0000:02:00.1\"\nmac = \"02:44:00:00:00:02\"\n";
        assert!(text.contains(right), "{text}");
        assert!(text.contains("[memory]\nhugepages = \"require\"\n"), "{text}");
        let text = configuration(&over_files(job(FunctionKind::CrossConnect, 1)), "0").unwrap();
        let left =
            "[port.left]\nkind = \"pcap\"\nrx = \"/tmp/in0.pcap\"\ntx = \"/tmp/out0.pcap\"\n";
        assert!(text.contains(left), "{text}");
    }
}
