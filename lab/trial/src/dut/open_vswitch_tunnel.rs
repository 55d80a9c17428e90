//! Tunnels of Open vSwitch's userspace datapath, where no kernel has to know them.
//!
//! ```text
//! d0 ─ br0 ─ tunnel ═══ br1's own port, 198.18.1.1 ─ br1 ─ d1 ─ the lab, 198.18.1.2
//!      flows            the route there the daemon reads from the kernel, the neighbour it is told
//! ```

use crate::Error;
use crate::dut::device::Job;
use crate::link::{DEVICE_MACS, LAB_MACS};
use crate::load::frames;
use crate::load::shape::VNI;
use crate::place::Place;
use crate::scenario::FunctionKind;

/// What it is called in the database: its type and options.
fn kind(function: FunctionKind) -> Option<String> {
    match function {
        FunctionKind::VxlanEncap => Some(format!("type=vxlan options:key={VNI}")),
        FunctionKind::Gre => Some("type=gre options:packet_type=legacy_l3".into()),
        _ => None,
    }
}

/// Both bridges, their ports and their addresses.
pub(super) fn lay(job: &Job, vsctl: &str, place: &mut Place) -> Result<(), Error> {
    let Some(kind) = kind(job.function.kind) else { return Ok(()) };
    let (local, remote) = (frames::device_address(false, 1), frames::lab_address(false, 1));
    place.run(&format!(
        "{vsctl} add-br br0 -- set bridge br0 datapath_type=netdev \
         -- add-port br0 d0 -- set interface d0 ofport_request=1 \
         -- add-port br0 tunnel -- set interface tunnel ofport_request=2 {kind} \
         options:local_ip={local} options:remote_ip={remote} \
         -- add-br br1 -- set bridge br1 datapath_type=netdev other-config:hwaddr=\\\"{}\\\" \
         -- add-port br1 d1 -- set interface d1 ofport_request=1",
        DEVICE_MACS[1]
    ))?;
    place.run(&format!(
        "ip addr add {local}/24 dev br1 && ip link set br1 up mtu {}",
        job.mtu.max(1_500)
    ))?;
    let folder = place.folder().display().to_string();
    place.run(&format!(
        "ovs-appctl -t {folder}/vswitchd.ctl tnl/neigh/set br1 {remote} {}",
        LAB_MACS[1]
    ))?;
    place.run(&format!("ovs-ofctl del-flows unix:{folder}/br1.mgmt"))?;
    for (from, to) in [("1", "LOCAL"), ("LOCAL", "1")] {
        let flow = format!("in_port={from},actions=output:{to}");
        place.run(&format!("ovs-ofctl add-flow unix:{folder}/br1.mgmt '{flow}'"))?;
    }
    Ok(())
}

/// The flows of the first bridge.
pub(super) fn flows(job: &Job) -> Option<String> {
    match job.function.kind {
        FunctionKind::VxlanEncap => {
            let station = |mac| format!("in_port=1,dl_dst={mac},actions=output:2\n");
            let stations: String = frames::macs(job.entries).map(station).collect();
            Some(format!("{stations}in_port=2,actions=output:1\n"))
        }
        FunctionKind::Gre => {
            let route = |frames::Route { prefix, .. }| {
                format!("in_port=1,ip,nw_dst={prefix},actions=dec_ttl,output:2\n")
            };
            let routes: String = frames::routes(false, job.entries).map(route).collect();
            Some(format!(
                "{routes}in_port=2,ip,actions=dec_ttl,mod_dl_src:{},mod_dl_dst:{},output:1\n",
                DEVICE_MACS[0], LAB_MACS[0]
            ))
        }
        _ => None,
    }
}
