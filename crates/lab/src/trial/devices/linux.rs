//! The kernel's own bridge and router.
//!
//! A frame that the lab sends is handled on the lab's core unless the kernel is told otherwise: the
//! ends steer their packets to the device's core (RPS), as each device has a core of its own here.

use super::traffic_control;
use crate::Error;
use crate::scenario::FunctionKind;
use crate::trial::device::{Change, Counters, Device, Job, kernel_counters};
use crate::trial::frames::{self, Route};
use crate::trial::link::{self, DEVICE_DEVICES, LAB_MACS, LinkKind};
use crate::trial::place::{Place, output};
use crate::trial::settings::Setting;

/// `ip link add br0 type bridge`.
pub(super) struct Bridge;
/// `net.ipv4.ip_forward = 1`.
pub(super) struct Router;

impl Device for Bridge {
    fn name(&self) -> &'static str {
        "linux-bridge"
    }

    fn version(&self) -> Result<String, Error> {
        kernel()
    }

    fn settable(&self) -> &'static [Setting] {
        &[Setting::Bottleneck]
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        let bridges = [FunctionKind::CrossConnect, FunctionKind::Bridge];
        if !bridges.contains(&job.function.kind) {
            return Err(self.refuse(job, "a bridge joins ports, no more"));
        }
        if !matches!(job.link, LinkKind::Veth | LinkKind::Tap) {
            return Err(self.refuse(job, "the kernel's devices are ends of veths and taps"));
        }
        place.run("ip link add br0 type bridge stp_state 0 mcast_snooping 0")?;
        let ageing = match job.function.ageing {
            Some(false) => " && ip link set br0 type bridge ageing_time 0",
            _ => "",
        };
        place.run(&format!("ip link set br0 up{ageing}"))?;
        // Two ports joined is a bridge that floods everything to its only other port.
        let learning = match job.function.kind {
            FunctionKind::CrossConnect => Some(false),
            _ => job.function.learning,
        };
        for device in DEVICE_DEVICES {
            place.run(&format!("ip link set {device} master br0"))?;
            let switch = |name: &str, on: Option<bool>| {
                on.map(|on| format!(" {name} {}", if on { "on" } else { "off" }))
            };
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
        if job.entries > 1 {
            let line = |mac| format!("fdb replace {mac} dev d1 master static\n");
            let batch: String = frames::macs(job.entries).map(line).collect();
            let path = place.write("fdb.batch", &batch)?;
            place.run(&format!("bridge -batch {}", path.display()))?;
        }
        traffic_control::bottleneck(self, job, place)?;
        link::steer(place, &DEVICE_DEVICES)
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        counters(place)
    }

    fn can_restart(&self) -> bool {
        false
    }
}

impl Device for Router {
    fn name(&self) -> &'static str {
        "linux-router"
    }

    fn version(&self) -> Result<String, Error> {
        kernel()
    }

    fn settable(&self) -> &'static [Setting] {
        &[Setting::Bottleneck]
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        let six = match job.function.kind {
            FunctionKind::Ip4 => false,
            FunctionKind::Ip6 => true,
            _ => return Err(self.refuse(job, "a router routes, no more")),
        };
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
        let line = |Route { prefix, via }| format!("route replace {prefix} via {via}\n");
        let batch: String = frames::routes(six, job.entries).map(line).collect();
        let path = place.write("routes.batch", &batch)?;
        let family = if six { "-6 " } else { "" };
        place.run(&format!("ip {family}-batch {}", path.display()))?;
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

/// Those of its ends, and what the queues between two cores could not hold: these are the host's.
fn counters(place: &Place) -> Result<Counters, Error> {
    let mut counters = kernel_counters(&place.network_devices()?, &DEVICE_DEVICES);
    let path = "/proc/net/softnet_stat";
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    // A line a core, hexadecimal: packets, drops …
    let drops = text.lines().filter_map(|line| line.split_whitespace().nth(1));
    let drops = drops.filter_map(|drops| u64::from_str_radix(drops, 16).ok());
    counters.drop("the cores' backlogs".into(), drops.sum());
    Ok(counters)
}

fn kernel() -> Result<String, Error> {
    let name = output(&["uname", "-sr"]);
    name.map_err(|reason| Error::Command { line: "uname -sr".into(), reason })
}
