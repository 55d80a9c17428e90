//! Open vSwitch with its userspace datapath: two daemons of our own, no service of the host's.

use lab_record::Counters;

use crate::Error;
use crate::dut::adapter::Adapter;
use crate::dut::device::{Change, Device, Job, kernel_counters};
use crate::dut::settings::BOTTLENECK;
use crate::dut::{open_vswitch_bridge, open_vswitch_qos, open_vswitch_tunnel};
use crate::link::{DEVICE_DEVICES, DEVICE_MACS, LAB_MACS, LinkKind};
use crate::load::frames::{self, ANYWHERE, Route};
use crate::load::shape::{DENIED_PORT, VLAN};
use crate::place::{Place, has_program, output};
use crate::scenario::FunctionKind;

/// As the list has it.
pub(super) const ADAPTER: Adapter = Adapter {
    usual: true,
    read: Some(|text| Some(counters(text))),
    ..Adapter::new("ovs", || Box::new(OpenVswitch::default()), "apt install openvswitch-switch")
};

/// See the module.
#[derive(Default)]
pub(super) struct OpenVswitch {
    bridge: String,
}

const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

impl Device for OpenVswitch {
    fn name(&self) -> &'static str {
        "ovs"
    }

    fn version(&self) -> Result<String, Error> {
        let missing = ["ovs-vswitchd", "ovsdb-server", "ovs-vsctl", "ovs-ofctl"];
        if let Some(program) = missing.into_iter().find(|program| !has_program(program)) {
            let (device, job) = (self.name().into(), "any job".into());
            let reason = format!("{program} is not installed (package openvswitch-switch)");
            return Err(Error::Refused { device, job, reason });
        }
        let told = output(&["ovs-vswitchd", "--version"]).unwrap_or_default();
        Ok(format!("{}, userspace datapath", told.lines().next().unwrap_or_default()))
    }

    fn settable(&self) -> &'static [&'static str] {
        const ALL: [&str; 5] = {
            let [one, two, three, four] = open_vswitch_bridge::SETTABLE;
            [BOTTLENECK, one, two, three, four]
        };
        &ALL
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        if !matches!(job.link, LinkKind::Veth | LinkKind::Tap) {
            return Err(self.refuse(job, "without DPDK its ports are kernel devices"));
        }
        if let Some(reason) = open_vswitch_bridge::refusal(job) {
            return Err(self.refuse(job, reason));
        }
        if let Some(reason) = open_vswitch_qos::refusal(job) {
            return Err(self.refuse(job, &reason));
        }
        let flows = flows(job).ok_or_else(|| self.refuse(job, "no flows are known for it"))?;
        let vsctl = database(place)?;
        let folder = place.folder().display().to_string();
        place.spawn(
            "ovs-vswitchd",
            &format!(
                "env OVS_RUNDIR={folder} ovs-vswitchd unix:{folder}/db.sock \
                 --unixctl={folder}/vswitchd.ctl --disable-system"
            ),
        )?;
        if job.function.kind.is_tunnel() {
            open_vswitch_tunnel::lay(job, &vsctl, place)?;
        } else {
            place.run(&format!(
                "{vsctl} add-br br0 -- set bridge br0 datapath_type=netdev \
                 -- add-port br0 d0 -- set interface d0 ofport_request=1 \
                 -- add-port br0 d1 -- set interface d1 ofport_request=2"
            ))?;
        }
        self.bridge = format!("unix:{folder}/br0.mgmt");
        load(place, &self.bridge, flows)?;
        open_vswitch_qos::bottleneck(self, job, &vsctl, place)?;
        open_vswitch_bridge::set(self, job, (&vsctl, &self.bridge), place)
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        let mut counters = kernel_counters(&place.network_devices()?, &DEVICE_DEVICES);
        // What did not fit a packet socket is counted at the socket alone: `skmem:(…,d7)`.
        let sockets = place.quietly("ss -H -0 -n -m")?;
        let lost: u64 = sockets.split("skmem:(").skip(1).filter_map(socket_drops).sum();
        counters.drop("packet sockets".into(), lost);
        Ok(counters)
    }

    fn change(&mut self, _: &Job, change: &Change, place: &mut Place) -> Result<String, Error> {
        self::change(place, &self.bridge, change)
    }
}

/// Starts a database of our own. How `ovs-vsctl` is called for it.
pub(super) fn database(place: &mut Place) -> Result<String, Error> {
    let folder = place.folder().display().to_string();
    place.run(&format!("ovsdb-tool create {folder}/conf.db {SCHEMA}"))?;
    place.spawn(
        "ovsdb-server",
        &format!(
            "env OVS_RUNDIR={folder} ovsdb-server {folder}/conf.db \
                 --remote=punix:{folder}/db.sock --unixctl={folder}/ovsdb.ctl"
        ),
    )?;
    let vsctl = format!("ovs-vsctl --db=unix:{folder}/db.sock --timeout=20");
    let init = format!("{vsctl} --no-wait init");
    // Its socket is there a moment before it listens.
    place.wait_for_start("ovsdb-server listens", |place| place.quietly(&init).is_ok())?;
    place.run(&init)?;
    Ok(vsctl)
}

/// Loads the flows of a job; a bridge that learns needs none.
pub(super) fn load(place: &mut Place, bridge: &str, flows: Option<String>) -> Result<(), Error> {
    let Some(flows) = flows else { return Ok(()) };
    let path = place.write("flows", &flows)?;
    place.run(&format!("ovs-ofctl del-flows {bridge}"))?;
    place.run(&format!("ovs-ofctl add-flows {bridge} {}", path.display())).map(drop)
}

/// Out of `ovs-ofctl dump-ports`: `port p0: rx pkts=7, bytes=…, drop=1, errs=0 … tx pkts=…`, the
/// bridge's own port aside.
pub(super) fn counters(text: &str) -> Counters {
    let mut counters = Counters::default();
    for port in text.split("port ").skip(1) {
        let Some((name, rest)) = port.split_once(':') else { continue };
        let name = name.trim().trim_matches('"');
        if name == "LOCAL" {
            continue;
        }
        let mut way = "";
        for word in rest.split([' ', ',', '\n']).filter(|word| !word.is_empty()) {
            let (field, number) = word.split_once('=').unwrap_or((word, ""));
            let number: u64 = number.parse().unwrap_or(0);
            match (field, way) {
                ("rx" | "tx", _) => way = field,
                ("pkts", "rx") => counters.receive(number),
                ("pkts", "tx") => counters.send(number),
                ("drop" | "errs", way) => counters.drop(format!("{name} {way} {field}"), number),
                _ => {}
            }
        }
    }
    counters
}

fn socket_drops(text: &str) -> Option<u64> {
    let fields = text.split_once(')')?.0;
    fields.split(',').find_map(|field| field.strip_prefix('d'))?.parse().ok()
}

/// The flows of a job; none of its own for a bridge, which learns. Outer none: not possible.
pub(super) fn flows(job: &Job) -> Option<Option<String>> {
    let six = match job.function.kind {
        FunctionKind::CrossConnect => {
            return Some(Some("in_port=1,actions=output:2\nin_port=2,actions=output:1\n".into()));
        }
        FunctionKind::Bridge if job.entries <= 1 => return Some(None),
        FunctionKind::Bridge => {
            let station = |mac| format!("priority=10,dl_dst={mac},actions=output:2\n");
            let stations: String = frames::macs(job.entries).map(station).collect();
            return Some(Some(format!("{stations}priority=0,actions=NORMAL\n")));
        }
        FunctionKind::VlanTagging => return Some(Some(tagging())),
        FunctionKind::VxlanEncap | FunctionKind::Gre => {
            return open_vswitch_tunnel::flows(job).map(Some);
        }
        FunctionKind::Ip4 | FunctionKind::SourceAllowList | FunctionKind::Acl => false,
        FunctionKind::Ip6 => true,
        FunctionKind::Dhcp4 | FunctionKind::Lisp => return None,
    };
    let flow = |what: &str, prefix: &str, side: usize| route(six, what, prefix, side);
    let to_lab =
        |what: &str, side: usize| flow(what, &frames::lab_address(six, side).to_string(), side);
    let routes = || frames::routes(six, job.entries);
    let mut flows = to_lab("", 0);
    match job.function.kind {
        FunctionKind::SourceAllowList => {
            let allowed = |source| to_lab(&format!("in_port=1,nw_src={source},"), 1);
            flows.extend(frames::sources(job.entries).map(allowed));
        }
        FunctionKind::Acl => {
            let denied = |Route { prefix, .. }| {
                format!(
                    "priority=65000,in_port=1,udp,nw_dst={prefix},tp_dst={DENIED_PORT},actions=drop\n"
                )
            };
            flows.extend(routes().map(denied));
            // The lab's own address is the longer prefix.
            flows += &flow("priority=1,", ANYWHERE, 1);
        }
        _ => {
            flows += &to_lab("", 1);
            flows.extend(routes().map(|Route { prefix, .. }| flow("", &prefix, 1)));
        }
    }
    Some(Some(flows))
}

/// What is sent to a prefix.
fn to(six: bool, prefix: &str) -> String {
    let (family, destination) = if six { ("ipv6", "ipv6_dst") } else { ("ip", "nw_dst") };
    format!("{family},{destination}={prefix}")
}

/// A route as a flow, for packets that are more than their destination.
fn route(six: bool, what: &str, prefix: &str, side: usize) -> String {
    let (own, peer) = (DEVICE_MACS[side], LAB_MACS[side]);
    let actions = format!("dec_ttl,mod_dl_src:{own},mod_dl_dst:{peer},output:{}", side + 1);
    format!("{what}{},actions={actions}\n", to(six, prefix))
}

/// The command that adds routes as flows, or takes all of them away.
pub(super) fn change(place: &mut Place, bridge: &str, change: &Change) -> Result<String, Error> {
    let Change { added, entries, remove } = change;
    if *remove {
        return Ok(format!("ovs-ofctl del-flows {bridge} {}", to(added.six, added.all())));
    }
    let routes = added.routes(entries.clone());
    let flow = |Route { prefix, .. }| route(added.six, "", &prefix, 1);
    let path = place.write("change.flows", &routes.map(flow).collect::<String>())?;
    Ok(format!("ovs-ofctl add-flows {bridge} {}", path.display()))
}

/// A tag pushed there and popped back; frames of other VLANs fit no flow.
fn tagging() -> String {
    format!(
        "in_port=1,actions=mod_vlan_vid:{VLAN},output:2\n\
         in_port=2,dl_vlan={VLAN},actions=strip_vlan,output:1\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_socket_lost_is_read_from_its_memory_line() {
        let line = "r0,rb212992,t0,tb212992,f0,w0,o0,bl0,d41) more";
        assert_eq!(socket_drops(line), Some(41));
        assert_eq!(socket_drops("r0"), None);
    }

    #[test]
    fn the_ports_of_a_bridge_are_counted_but_for_its_own() {
        let text = "OFPST_PORT reply (xid=0x2): 3 ports\n  port LOCAL: rx pkts=9, bytes=1, drop=2, errs=0, frame=0, over=0, crc=0\n\
                    \x20          tx pkts=0, bytes=0, drop=4, errs=0, coll=0\n\
                    \x20 port  p0: rx pkts=40000, bytes=2400000, drop=12, errs=0, frame=?, over=?, crc=?\n\
                    \x20          tx pkts=0, bytes=0, drop=?, errs=0, coll=?\n\
                    \x20 port  \"vhost1.sock\": rx pkts=0, bytes=0, drop=0, errs=0\n           tx pkts=39956, bytes=1, drop=32, errs=0, coll=?\n";
        let counters = counters(text);
        assert_eq!((counters.received, counters.sent), (40_000, 39_956));
        let drops = [("p0 rx drop".to_owned(), 12), ("vhost1.sock tx drop".to_owned(), 32)];
        assert_eq!(counters.drops, drops.into());
    }
}
