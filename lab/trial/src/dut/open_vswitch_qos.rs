//! A bottleneck at a port of Open vSwitch, by its QoS and Queue tables.
//!
//! ```text
//! Port d1 ─▶ QoS { type, max-rate } ─▶ Queue 0 { min-rate, max-rate } ─▶ tc, by ovs-vswitchd
//! ```
//! Of its types htb and hfsc alone have a rate. The others let a queue grow where the wire behind
//! the port is slow, and nowhere else: so they are refused unless a wire of that rate is on the
//! way.

use std::time::Duration;

use lab_record::axes::Scheduler;

use crate::Error;
use crate::dut::device::{Device, Job};
use crate::dut::settings::Bottleneck;
use crate::link::DEVICE_DEVICES;
use crate::place::Place;

/// How long the kernel may take to show what the daemon set.
const PATIENCE: Duration = Duration::from_secs(3);

/// Its type of a scheduler, and the kernel's name for it; none of what it leaves as it is.
fn kind(scheduler: Scheduler) -> Option<(&'static str, &'static str)> {
    Some(match scheduler {
        Scheduler::Fifo => return None,
        Scheduler::Sfq => ("linux-sfq", "sfq"),
        Scheduler::Codel => ("linux-codel", "codel"),
        Scheduler::FqCodel => ("linux-fq_codel", "fq_codel"),
        Scheduler::Htb => ("linux-htb", "htb"),
        Scheduler::Hfsc => ("linux-hfsc", "hfsc"),
    })
}

/// The row of its QoS table, with the queue's where there is one.
fn rows(port: &str, kind: &str, bottleneck: Bottleneck) -> String {
    let bps = bottleneck.mbps * 1_000_000;
    let set = format!("set port {port} qos=@qos -- --id=@qos create qos type={kind}");
    match bottleneck.scheduler {
        Scheduler::Htb | Scheduler::Hfsc => format!(
            "{set} other-config:max-rate={bps} queues:0=@queue \
             -- --id=@queue create queue other-config:min-rate={bps} other-config:max-rate={bps}"
        ),
        _ => set,
    }
}

/// Why the bottleneck of a job cannot be, before anything is started.
pub(super) fn refusal(job: &Job) -> Option<String> {
    let Bottleneck { scheduler, mbps } = job.settings.bottleneck()?;
    let by_wire = job.function.wire_mbps.is_some_and(|wire| wire <= mbps);
    let has_rate = matches!(scheduler, Scheduler::Htb | Scheduler::Hfsc);
    (!has_rate && !by_wire).then(|| {
        let name = kind(scheduler).map_or("a port without QoS", |(name, _)| name);
        format!("{name} has no rate in its QoS table: there is no bottleneck at its port")
    })
}

/// Sets the bottleneck of a job, if it has one, and looks whether the kernel has it.
pub(super) fn bottleneck(
    device: &dyn Device,
    job: &Job,
    vsctl: &str,
    place: &mut Place,
) -> Result<(), Error> {
    let Some(bottleneck) = job.settings.bottleneck() else { return Ok(()) };
    let Some((kind, name)) = kind(bottleneck.scheduler) else { return Ok(()) };
    let port = DEVICE_DEVICES[1];
    place.run(&format!("{vsctl} {}", rows(port, kind, bottleneck)))?;
    let look = format!("tc qdisc show dev {port} root");
    let is_set = |place: &mut Place| {
        place.quietly(&look).is_ok_and(|told| told.starts_with(&format!("qdisc {name} ")))
    };
    // It tells nobody but its log what the kernel has refused.
    place.wait_until("ovs-vswitchd sets it", PATIENCE, is_set).map_err(|error| match error {
        Error::Command { .. } => {
            let what = format!(
                "not in this kernel: its QoS type {kind} is set, and the port has no {name} ({look})"
            );
            device.refuse(job, &what)
        }
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::settings::Settings;
    use crate::dut::testing::job;
    use crate::scenario::{Function, FunctionKind};

    fn behind(scheduler: &str, wire_mbps: Option<u64>) -> Job {
        let plain = job(FunctionKind::Bridge, 1);
        let function = Function { wire_mbps, ..plain.function };
        Job { function, settings: Settings::default().behind(100, scheduler), ..plain }
    }

    #[test]
    fn what_has_no_rate_is_refused_unless_the_wire_has() {
        for (scheduler, name) in [("codel", "linux-codel"), ("fifo", "without QoS")] {
            assert!(refusal(&behind(scheduler, None)).unwrap().contains(name));
            assert!(refusal(&behind(scheduler, Some(1_000))).is_some());
            assert_eq!(refusal(&behind(scheduler, Some(100))), None);
        }
        assert_eq!(refusal(&behind("htb", None)), None);
    }

    #[test]
    fn classes_have_their_queue() {
        let rows = |scheduler| rows("d1", "linux-x", Bottleneck { scheduler, mbps: 100 });
        assert_eq!(
            rows(Scheduler::Hfsc),
            "set port d1 qos=@qos -- --id=@qos create qos type=linux-x other-config:max-rate=100000000 \
             queues:0=@queue -- --id=@queue create queue other-config:min-rate=100000000 \
             other-config:max-rate=100000000"
        );
        assert!(!rows(Scheduler::Sfq).contains("queue"));
    }
}
