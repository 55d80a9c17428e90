//! The kernel's traffic control as a wire: what comes in at one end is sent on at the other.
//!
//! The shortest way through the kernel that there is: what a bridge costs is what it costs more.

use lab_record::Counters;

use crate::Error;
use crate::dut::Adapter;
use crate::dut::device::{Device, Job, kernel_counters};
use crate::link::DEVICE_DEVICES;
use crate::place::{Place, output};
use crate::scenario::FunctionKind;

/// As the list has it.
pub const ADAPTER: Adapter = Adapter {
    read: Some(|text| Some(kernel_counters(text, &DEVICE_DEVICES))),
    ..Adapter::new("linux-wire", || Box::new(Wire), "part of the kernel; apt install iproute2")
};

/// It keeps nothing: what it counts is in the kernel.
struct Wire;

impl Device for Wire {
    fn name(&self) -> &'static str {
        ADAPTER.name
    }

    fn version(&self) -> Result<String, Error> {
        output(&["tc", "-V"]).map_err(|reason| Error::Command { line: "tc -V".into(), reason })
    }

    fn start(&mut self, job: &Job, place: &mut Place) -> Result<(), Error> {
        if job.function.kind != FunctionKind::CrossConnect {
            return Err(self.refuse(job, "it joins two ends, no more"));
        }
        if !job.link.is_kernel() {
            return Err(self.refuse(job, "it joins devices of the kernel"));
        }
        commands().iter().try_for_each(|line| place.run(line).map(|_| ()))
    }

    fn counters(&mut self, place: &mut Place) -> Result<Counters, Error> {
        Ok(kernel_counters(&place.network_devices()?, &DEVICE_DEVICES))
    }
}

/// Both ways.
fn commands() -> [String; 4] {
    let [one, other] = DEVICE_DEVICES;
    let redirect = |from, to| {
        format!("tc filter add dev {from} ingress matchall action mirred egress redirect dev {to}")
    };
    let hook = |device| format!("tc qdisc add dev {device} clsact");
    [hook(one), hook(other), redirect(one, other), redirect(other, one)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_is_redirected_to_the_other() {
        let lines = commands();
        assert!(lines[2].contains("dev d0 ingress") && lines[2].ends_with("redirect dev d1"));
        assert!(lines[3].contains("dev d1 ingress") && lines[3].ends_with("redirect dev d0"));
    }
}
