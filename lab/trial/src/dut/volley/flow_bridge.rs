//! Volley as a switch of flows: a bridge that `ovs-ofctl` tells what it tells Open vSwitch for the
//! same job, so that flows are held against flows.

use std::path::Path;

use lab_record::axes::{Axis, CostCycles, VectorPackets, Workers};
use lab_record::{Counters, NodeCost};

use super::configuration::configuration;
use super::{Volley, refuse_what_cannot_be};
use crate::Error;
use crate::dut::adapter::Adapter;
use crate::dut::device::{Change, Device, Job};
use crate::dut::open_vswitch;
use crate::link::LinkKind;
use crate::place::{Place, has_program};
use crate::scenario::FunctionKind;

/// As the list has it.
pub(in crate::dut) const ADAPTER: Adapter = Adapter {
    of_folder: Some(|folder| Box::new(FlowBridge::of(Volley::in_folder(folder)))),
    ..Adapter::new(
        "volley-flow",
        || Box::new(FlowBridge::of(Volley::beside_us())),
        "make build, apt install openvswitch-common",
    )
};

/// See the module.
pub(super) struct FlowBridge {
    daemon: Volley,
    /// Where `ovs-ofctl` finds its bridge.
    bridge: String,
}

impl FlowBridge {
    fn of(daemon: Volley) -> Self {
        Self { daemon, bridge: String::new() }
    }
}

impl Device for FlowBridge {
    fn name(&self) -> &'static str {
        ADAPTER.name
    }

    fn version(&self) -> Result<String, Error> {
        if !has_program("ovs-ofctl") {
            let (device, job) = (self.name().into(), "any job".into());
            let reason = "ovs-ofctl is not installed (package openvswitch-common)".into();
            return Err(Error::Refused { device, job, reason });
        }
        self.daemon.version()
    }

    fn guests_link(&self) -> LinkKind {
        self.daemon.guests_link()
    }

    fn rests(&self) -> bool {
        self.daemon.rests()
    }

    fn settable(&self) -> &'static [&'static str] {
        &[Workers::NAME, VectorPackets::NAME, CostCycles::NAME]
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        refuse_what_cannot_be(self, job)?;
        if job.link == LinkKind::Pcap {
            let reason = "its flows come when it runs; the file is read by then";
            return Err(self.refuse(job, reason));
        }
        if job.function.kind.is_tunnel() {
            return Err(self.refuse(job, "its adapter lays no tunnel between two bridges"));
        }
        let flows = open_vswitch::flows(job)
            .ok_or_else(|| self.refuse(job, "no flows are known for it"))?;
        let management = place.folder().join("bridge.mgmt");
        let text = configured(job, place.cores(), &management)
            .ok_or_else(|| self.refuse(job, "its adapter cannot say this yet"))?;
        self.daemon.run(&text, place)?;
        self.bridge = format!("unix:{}", management.display());
        open_vswitch::load(place, &self.bridge, flows)
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        self.daemon.counters(place)
    }

    fn change(&mut self, _: &Job, change: &Change, place: &mut Place) -> Result<String, Error> {
        open_vswitch::change(place, &self.bridge, change)
    }

    fn function_of(&self, node: &str) -> Option<[String; 2]> {
        self.daemon.function_of(node)
    }

    fn nodes(&mut self, place: &mut Place) -> Result<Vec<NodeCost>, Error> {
        self.daemon.nodes(place)
    }
}

/// Both ports in a bridge of flows, which learns until it is told any. What is routed flows route:
/// so ports have no addresses. A bridge's keys are the last of its configuration.
fn configured(job: &Job, cores: &str, management: &Path) -> Option<String> {
    let mut plain = job.clone();
    (plain.function.kind, plain.entries) = (FunctionKind::Bridge, 1);
    let text = configuration(&plain, cores)?;
    Some(format!("{text}mode = \"flow\"\nmanagement = \"{}\"\n", management.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::job;

    #[test]
    fn a_router_of_flows_is_a_bridge_without_addresses() {
        let text =
            configured(&job(FunctionKind::Ip4, 1000), "0", Path::new("/tmp/lab/br")).unwrap();
        let bridge = "[bridge.lan]\nports = [\"left\", \"right\"]\nmode = \"flow\"\nmanagement = \"/tmp/lab/br\"\n";
        assert!(text.ends_with(bridge), "{text}");
        assert!(!text.contains("addresses") && !text.contains("[[route]]"), "{text}");
    }
}
