//! Open vSwitch on DPDK: the same daemons and flows as without, ports polled by a thread of its own.
//!
//! ```text
//! veth, tap     net_af_packet, as a DPDK device of its own, one a port
//! ```
//! Over memif no packet comes through it from the lab: it gives each port a transmit queue for each of its threads, one of
//! them the main thread, and its polling thread sends by the second; but a memif has as many of them as its client has receive
//! queues, and the lab's has one. Towards a testpmd with two queues each way and `options:n_rxq=2` packets pass, while
//! `dump-ports` tells 0 of them, so that they would have to be counted by flow. Over vhost none came either, for a reason not yet
//! known. Both links are refused.
//! No huge pages (which without `--legacy-mem` it would have "in memory"), no cards: what `dpdk-extra` says of them holds for every machine.

use std::time::Duration;

use super::open_vswitch::{self, counters};
use crate::Error;
use crate::trial::device::{Change, Counters, Device, Job};
use crate::trial::link::{DeviceEnd, LinkKind};
use crate::trial::place::{Place, has_program, output};
use crate::trial::probe::first;

/// See the module.
#[derive(Default)]
pub(super) struct OpenVswitchDpdk {
    bridge: String,
}

const PROGRAM: &str = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk";
const PATIENCE: Duration = Duration::from_secs(30);
const MEMORY_MIB: u32 = 1_024;

impl Device for OpenVswitchDpdk {
    fn name(&self) -> &'static str {
        "ovs-dpdk"
    }

    fn version(&self) -> Result<String, Error> {
        let missing = [PROGRAM, "ovsdb-server", "ovs-vsctl", "ovs-ofctl"];
        if let Some(program) = missing.into_iter().find(|program| !has_program(program)) {
            let (device, job) = (self.name().into(), "any job".into());
            let reason = format!("{program} is not installed (package openvswitch-switch-dpdk)");
            return Err(Error::Refused { device, job, reason });
        }
        let told = output(&[PROGRAM, "--version"]).unwrap_or_default();
        let lines: Vec<&str> = told.lines().take(2).collect();
        Ok(lines.join(", "))
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        if !matches!(job.link, LinkKind::Veth | LinkKind::Tap) {
            return Err(self.refuse(job, "its adapter knows kernel devices alone"));
        }
        if job.function.kind.is_tunnel() {
            return Err(
                self.refuse(job, "its adapter lays no second bridge for a tunnel to end in")
            );
        }
        let flows = open_vswitch::flows(job)
            .ok_or_else(|| self.refuse(job, "no flows are known for it"))?;
        let vsctl = open_vswitch::database(place)?;
        let core = first(place.cores()).to_owned();
        let mask = core.parse::<u32>().map_or(1, |core| 1u64 << core.min(63));
        place.run(&format!(
            "{vsctl} --no-wait set open_vswitch . other_config:dpdk-init=true \
             other_config:pmd-cpu-mask={mask:#x} other_config:dpdk-lcore-mask={mask:#x} \
             other_config:dpdk-extra=\"--no-huge --legacy-mem --no-pci --no-shconf --iova-mode=va --no-telemetry -m {MEMORY_MIB} \
             --file-prefix=volley-lab-ovs\""
        ))?;
        let folder = place.folder().display().to_string();
        place.spawn(
            "ovs-vswitchd",
            &format!(
                "env OVS_RUNDIR={folder} {PROGRAM} unix:{folder}/db.sock \
                 --unixctl={folder}/vswitchd.ctl --disable-system"
            ),
        )?;
        let ports: Vec<String> =
            job.ends.iter().enumerate().map(|(side, end)| port(side, end)).collect();
        place.run(&format!(
            "{vsctl} --no-wait add-br br0 -- set bridge br0 datapath_type=netdev {}",
            ports.join(" ")
        ))?;
        self.bridge = format!("unix:{folder}/br0.mgmt");
        let bridge = self.bridge.clone();
        place.wait_until("Open vSwitch has both ports", PATIENCE, |place| {
            let told = place.quietly(&format!("ovs-ofctl dump-ports {bridge}"));
            told.is_ok_and(|told| told.matches("port ").count() == 3)
        })?;
        open_vswitch::load(place, &self.bridge, flows)
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        Ok(counters(&place.quietly(&format!("ovs-ofctl dump-ports {}", self.bridge))?))
    }

    fn change(&mut self, _: &Job, change: &Change, place: &mut Place) -> Result<String, Error> {
        open_vswitch::change(place, &self.bridge, change)
    }
}

/// How a port is added.
fn port(side: usize, end: &DeviceEnd) -> String {
    format!(
        "-- add-port br0 p{side} -- set interface p{side} type=dpdk options:dpdk-devargs='\"{}\"' ofport_request={}",
        super::vdev(side, end, LinkKind::Veth),
        side + 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_device_of_dpdks_own() {
        assert_eq!(
            port(0, &DeviceEnd::Kernel("d0".into())),
            "-- add-port br0 p0 -- set interface p0 type=dpdk options:dpdk-devargs=\
             '\"net_af_packet0,iface=d0,blocksz=8192,framesz=2048,framecnt=4096\"' ofport_request=1"
        );
    }
}
