//! Open vSwitch on DPDK: the same daemons and flows as without, ports polled by a thread of its own.
//!
//! ```text
//! veth      net_af_packet, as a DPDK device of its own
//! memif     net_memif, server
//! vhost     dpdkvhostuser, listening: the socket has the port's name
//! ```
//! No huge pages, no cards: what `dpdk-extra` says of them holds for every machine.

use std::time::Duration;

use super::open_vswitch::{self, counters};
use crate::Error;
use crate::trial::device::{Counters, Device, Job};
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
        if job.link == LinkKind::VethXdp {
            return Err(self.refuse(job, "its XDP sockets are the kernel's affair: see ovs"));
        }
        let flows = open_vswitch::flows(job)
            .ok_or_else(|| self.refuse(job, "no flows are known for it"))?;
        let vsctl = open_vswitch::database(place)?;
        let core = first(place.cores()).to_owned();
        let mask = core.parse::<u32>().map_or(1, |core| 1u64 << core.min(63));
        place.run(&format!(
            "{vsctl} --no-wait set open_vswitch . other_config:dpdk-init=true \
             other_config:pmd-cpu-mask={mask:#x} other_config:dpdk-lcore-mask={mask:#x} \
             other_config:dpdk-extra=\"--no-huge --no-pci --no-shconf --iova-mode=va --no-telemetry -m {MEMORY_MIB} \
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
            "{vsctl} add-br br0 -- set bridge br0 datapath_type=netdev {}",
            ports.join(" ")
        ))?;
        self.bridge = format!("unix:{folder}/br0.mgmt");
        open_vswitch::load(place, &self.bridge, flows)?;
        let bridge = self.bridge.clone();
        place.wait_until("Open vSwitch has both ports", PATIENCE, |place| {
            let told = place.quietly(&format!("ovs-ofctl dump-ports {bridge}"));
            told.is_ok_and(|told| told.matches("port ").count() == 3)
        })
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        Ok(counters(&place.quietly(&format!("ovs-ofctl dump-ports {}", self.bridge))?))
    }
}

/// How a port is added.
fn port(side: usize, end: &DeviceEnd) -> String {
    let added = match end {
        DeviceEnd::Kernel(_) | DeviceEnd::Memif(_) => format!(
            "-- add-port br0 p{side} -- set interface p{side} type=dpdk options:dpdk-devargs='\"{}\"'",
            super::vdev(side, end, LinkKind::Veth)
        ),
        DeviceEnd::Vhost(socket) => {
            let name = socket.file_name().and_then(|name| name.to_str()).unwrap_or("vhost");
            format!("-- add-port br0 {name} -- set interface {name} type=dpdkvhostuser")
        }
    };
    format!("{added} ofport_request={}", side + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_end_is_a_port_of_its_kind() {
        let vhost = port(1, &DeviceEnd::Vhost("/tmp/x/vhost1.sock".into()));
        assert_eq!(
            vhost,
            "-- add-port br0 vhost1.sock -- set interface vhost1.sock type=dpdkvhostuser ofport_request=2"
        );
        let veth = port(0, &DeviceEnd::Kernel("d0".into()));
        assert!(
            veth.contains("type=dpdk options:dpdk-devargs='\"net_af_packet0,iface=d0,"),
            "{veth}"
        );
    }
}
