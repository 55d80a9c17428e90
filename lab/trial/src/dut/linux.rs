//! The kernel's own bridge and router.
//!
//! A frame that the lab sends is handled on the lab's core unless the kernel is told otherwise: the
//! ends steer their packets to the device's core (RPS), as each device has a core of its own here.

use lab_record::Counters;

use crate::Error;
use crate::dut::adapter::Adapter;
use crate::dut::bridge::{self, AGEING_S, word};
use crate::dut::device::{Change, Device, Job, kernel_counters};
use crate::dut::settings::BOTTLENECK;
use crate::dut::{dhcrelay, traffic_control};
use crate::endpoint::vm;
use crate::link::{self, DEVICE_DEVICES, LAB_MACS, LinkKind};
use crate::load::frames::{self, ANYWHERE, Route};
use crate::load::shape::{DENIED_PORT, VLAN, VNI};
use crate::place::{Place, output};
use crate::scenario::{AGEING, FLOOD, FunctionKind, LEARNING, UNKNOWN_UNICAST_FLOOD};

/// The bridge, as the list has it.
pub(super) const BRIDGE: Adapter = Adapter {
    usual: true,
    read: Some(|text| Some(kernel_counters(text, &DEVICE_DEVICES))),
    ..Adapter::new(
        "linux-bridge",
        || Box::new(Bridge::OF_HOST),
        "part of the kernel; apt install iproute2",
    )
};

/// The bridge of another kernel, as the list has it.
pub(super) const GUEST_BRIDGE: Adapter = Adapter::new(
    "linux-bridge-guest",
    || Box::new(Bridge { in_guest: true }),
    "apt install qemu-system-x86; a kernel by scripts/guest-kernel, or VOLLEY_GUEST_KERNEL",
);

/// The router, as the list has it.
pub(super) const ROUTER: Adapter = Adapter {
    usual: true,
    read: Some(|text| traffic_control::of_ends(text).ok()),
    ..Adapter::new("linux-router", || Box::new(Router), "part of the kernel; apt install iproute2")
};

/// `ip link add br0 type bridge`.
pub(super) struct Bridge {
    /// Whether the kernel is that of a virtual machine: for schedulers that the host's was built
    /// without.
    in_guest: bool,
}

impl Bridge {
    const OF_HOST: Self = Self { in_guest: false };
}

/// `net.ipv4.ip_forward = 1`.
pub(super) struct Router;

impl Device for Bridge {
    fn name(&self) -> &'static str {
        if self.in_guest { "linux-bridge-guest" } else { "linux-bridge" }
    }

    fn version(&self) -> Result<String, Error> {
        if !self.in_guest {
            return kernel();
        }
        vm::here().map_err(|reason| Error::Refused {
            device: self.name().into(),
            job: "any job".into(),
            reason,
        })
    }

    fn in_guest(&self) -> bool {
        self.in_guest
    }

    fn settable(&self) -> &'static [&'static str] {
        &[BOTTLENECK, LEARNING, AGEING, UNKNOWN_UNICAST_FLOOD, FLOOD]
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        let kind = job.function.kind;
        match kind {
            FunctionKind::CrossConnect
            | FunctionKind::Bridge
            | FunctionKind::VlanTagging
            | FunctionKind::VxlanEncap => {}
            FunctionKind::Acl | FunctionKind::SourceAllowList => {
                let reason = "what a bridge lets pass nft or ebtables would say, which its adapter does not know";
                return Err(self.refuse(job, reason));
            }
            _ => return Err(self.refuse(job, "a bridge joins ports, no more")),
        }
        if !matches!(job.link, LinkKind::Veth | LinkKind::Tap) {
            return Err(self.refuse(job, "the kernel's devices are ends of veths and taps"));
        }
        if self.in_guest {
            if !place.has_own_kernel() {
                return Err(self.refuse(job, "a virtual machine as a device is for streams alone"));
            }
            place.run(vm::LOAD_AT_HAND)?;
        }
        place.run("ip link add br0 type bridge stp_state 0 mcast_snooping 0")?;
        if kind == FunctionKind::VlanTagging {
            place.run("ip link set br0 type bridge vlan_filtering 1 vlan_default_pvid 0").map_err(
                |error| self.refuse(job, &format!("this kernel's bridge knows no VLANs: {error}")),
            )?;
        }
        if kind == FunctionKind::VxlanEncap {
            tunnel(place)
                .map_err(|error| self.refuse(job, &format!("this kernel has no VXLAN: {error}")))?;
        }
        if let Some(ageing) = job.function.ageing {
            let time = ageing_time(ageing);
            place.run(&format!("ip link set br0 type bridge ageing_time {time}"))?;
        }
        place.run("ip link set br0 up")?;
        // Two ports joined is a bridge that floods everything to its only other port.
        let learning = match kind {
            FunctionKind::CrossConnect => Some(false),
            _ => job.function.learning,
        };
        let far = if kind == FunctionKind::VxlanEncap { TUNNEL } else { DEVICE_DEVICES[1] };
        for device in [DEVICE_DEVICES[0], far] {
            place.run(&format!("ip link set {device} master br0"))?;
            let switch =
                |name: &str, on: Option<bool>| on.map(|on| format!(" {name} {}", word(on)));
            let switches: Vec<String> = [
                switch("learning", learning),
                switch("flood", job.function.unknown_unicast_flood),
                switch("mcast_flood", job.function.flood),
                switch("bcast_flood", job.function.flood),
            ]
            .into_iter()
            .flatten()
            .collect();
            if !switches.is_empty() {
                place.run(&format!("bridge link set dev {device}{}", switches.concat()))?;
            }
        }
        if kind == FunctionKind::VlanTagging {
            let [plain, trunk] = DEVICE_DEVICES;
            place.run(&format!("bridge vlan add dev {plain} vid {VLAN} pvid untagged"))?;
            place.run(&format!("bridge vlan add dev {trunk} vid {VLAN}"))?;
        }
        if job.entries > 1 || kind == FunctionKind::VxlanEncap {
            let line = |mac| format!("fdb replace {mac} dev {far} master static\n");
            let batch: String = frames::macs(job.entries).map(line).collect();
            let path = place.write("fdb.batch", &batch)?;
            place.run(&format!("bridge -batch {}", path.display()))?;
        }
        if job.function.switches().next().is_some() {
            let bridge = place.quietly("ip -d -j link show dev br0")?;
            let ports = place.quietly("bridge -d -j link show")?;
            let says = switches(&bridge, &ports).ok_or_else(|| Error::Command {
                line: "bridge -d -j link show".into(),
                reason: "it does not say how the bridge is set".into(),
            })?;
            bridge::confirm(self, job, place, &says)?;
        }
        traffic_control::bottleneck(self, job, place)?;
        // A guest has one core.
        if self.in_guest { Ok(()) } else { link::steer(place, &DEVICE_DEVICES) }
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        counters(place)
    }

    fn can_restart(&self) -> bool {
        false
    }
}

/// Hundredths of a second after which a station is forgotten. 0 would be no ageing off: a bridge
/// that forgets at once learns nothing, and floods. A million seconds outlast a campaign.
fn ageing_time(on: bool) -> u64 {
    if on { 100 * AGEING_S } else { 100_000_000 }
}

/// How a bridge is set, out of what the kernel says of it and of its ports: what one port has off
/// is off.
fn switches(bridge: &str, ports: &str) -> Option<Vec<(&'static str, bool)>> {
    let read = |text: &str| serde_json::from_str::<Vec<serde_json::Value>>(text).ok();
    let (bridge, ports) = (read(bridge)?, read(ports)?);
    let time = bridge.first()?.pointer("/linkinfo/info_data/ageing_time")?.as_u64()?;
    let all = |flags: &[&str]| {
        let mut each = ports.iter().flat_map(|port| flags.iter().map(|flag| port[*flag].as_bool()));
        each.try_fold(true, |all, flag| Some(all && flag?))
    };
    let ageing = time == ageing_time(true);
    if !ageing && time != ageing_time(false) {
        return None;
    }
    Some(vec![
        (LEARNING, all(&["learning"])?),
        (AGEING, ageing),
        (UNKNOWN_UNICAST_FLOOD, all(&["flood"])?),
        (FLOOD, all(&["mcast_flood", "bcast_flood"])?),
    ])
}

impl Device for Router {
    fn name(&self) -> &'static str {
        "linux-router"
    }

    fn version(&self) -> Result<String, Error> {
        kernel()
    }

    fn settable(&self) -> &'static [&'static str] {
        &[BOTTLENECK]
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        let kind = job.function.kind;
        let six = kind == FunctionKind::Ip6;
        let relays = kind == FunctionKind::Dhcp4;
        if !kind.is_routed() && !relays {
            return Err(self.refuse(job, "a router routes, no more"));
        }
        if !matches!(job.link, LinkKind::Veth | LinkKind::Tap) {
            return Err(self.refuse(job, "the kernel's devices are ends of veths and taps"));
        }
        if six {
            place.run("sysctl -qw net.ipv6.conf.all.forwarding=1")?;
        } else {
            place.run("sysctl -qw net.ipv4.ip_forward=1")?;
        }
        for (side, device) in DEVICE_DEVICES.into_iter().enumerate() {
            if six {
                place.run(&format!("sysctl -qw net.ipv6.conf.{device}.disable_ipv6=0"))?;
            }
            let (own, peer) = (frames::device_address(six, side), frames::lab_address(six, side));
            let (length, nodad) = if six { (64, " nodad") } else { (24, "") };
            place.run(&format!("ip addr add {own}/{length} dev {device}{nodad}"))?;
            place.run(&format!(
                "ip neigh replace {peer} lladdr {} dev {device} nud permanent",
                LAB_MACS[side]
            ))?;
        }
        if kind == FunctionKind::Gre {
            let (local, remote) = (frames::device_address(six, 1), frames::lab_address(six, 1));
            place
                .run(&format!("ip link add {TUNNEL} type gre local {local} remote {remote}"))
                .map_err(|error| self.refuse(job, &format!("this kernel has no GRE: {error}")))?;
            place.run(&format!("ip link set {TUNNEL} up"))?;
        }
        let path = place.write("routes.batch", &lines(job))?;
        let family = if six { "-6 " } else { "" };
        place.run(&format!("ip {family}-batch {}", path.display()))?;
        if relays {
            dhcrelay::start(self, job, place, DEVICE_DEVICES)?;
        }
        traffic_control::bottleneck(self, job, place)?;
        link::steer(place, &DEVICE_DEVICES)
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        counters(place)
    }

    fn change(&mut self, _: &Job, change: &Change, place: &mut Place) -> Result<String, Error> {
        let Change { added, entries, remove } = change;
        let word = if *remove { "del" } else { "replace" };
        let line = |Route { prefix, via }| format!("route {word} {prefix} via {via}\n");
        let batch: String = added.routes(entries.clone()).map(line).collect();
        let path = place.write("change.batch", &batch)?;
        let family = if added.six { "-6 " } else { "" };
        Ok(format!("ip {family}-batch {}", path.display()))
    }

    fn can_restart(&self) -> bool {
        false
    }
}

/// A tunnel's device.
const TUNNEL: &str = "tunnel";

/// A VXLAN device from the second link to the lab, learning no more than it is told.
fn tunnel(place: &mut Place) -> Result<(), Error> {
    let (local, remote) = (frames::device_address(false, 1), frames::lab_address(false, 1));
    let (device, mac) = (DEVICE_DEVICES[1], LAB_MACS[1]);
    place.run(&format!("ip addr add {local}/24 dev {device}"))?;
    place.run(&format!("ip neigh replace {remote} lladdr {mac} dev {device} nud permanent"))?;
    place.run(&format!(
        "ip link add {TUNNEL} type vxlan id {VNI} dstport 4789 local {local} remote {remote} dev {device} nolearning"
    ))?;
    place.run(&format!("ip link set {TUNNEL} up")).map(drop)
}

/// What is routed where, and what by a rule is not: the router's lists are rules of its policy,
/// which every kernel has.
fn lines(job: &Job) -> String {
    let (six, entries) = (job.function.kind == FunctionKind::Ip6, job.entries);
    let first = DEVICE_DEVICES[0];
    let routes = frames::routes(six, entries);
    match job.function.kind {
        FunctionKind::Gre => routes
            .map(|Route { prefix, .. }| format!("route replace {prefix} dev {TUNNEL}\n"))
            .collect(),
        FunctionKind::SourceAllowList => {
            let allow =
                |source| format!("rule add pref 100 iif {first} from {source} lookup main\n");
            let allowed: String = frames::sources(entries).map(allow).collect();
            format!("{allowed}rule add pref 200 iif {first} blackhole\n")
        }
        FunctionKind::Acl => {
            let deny = |Route { prefix, .. }| {
                format!(
                    "rule add pref 100 iif {first} to {prefix} ipproto udp dport {DENIED_PORT} blackhole\n"
                )
            };
            let denied: String = routes.map(deny).collect();
            format!("{denied}route replace {ANYWHERE} via {}\n", frames::lab_address(false, 1))
        }
        _ => routes
            .map(|Route { prefix, via }| format!("route replace {prefix} via {via}\n"))
            .collect(),
    }
}

/// Those of its ends and their queues. What the queue between two cores could not hold is among
/// them: the kernel counts it at the device that it came from, and once more for the whole host
/// (`softnet_stat`), where others' packets are, too.
fn counters(place: &Place) -> Result<Counters, Error> {
    let devices = place.network_devices()?;
    let mut counters = kernel_counters(&devices, &DEVICE_DEVICES);
    counters.drops.extend(traffic_control::queue_drops(place)?.drops);
    // What passes a tunnel's device passes one of the ends, too; what it drops does not, unless it
    // dropped it because the end did.
    counters.drops.extend(kernel_counters(&devices, &[TUNNEL]).drops);
    counters.tell_cause(&format!("{TUNNEL} tx"), &["d1 queue", "d1 tx"]);
    Ok(counters)
}

fn kernel() -> Result<String, Error> {
    let name = output(&["uname", "-sr"]);
    name.map_err(|reason| Error::Command { line: "uname -sr".into(), reason })
}
