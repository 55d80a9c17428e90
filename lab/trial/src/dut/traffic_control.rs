//! A bottleneck at a kernel device: the kernel's own schedulers, by `tc`; what the queues of kernel
//! devices drop.

use lab_record::Counters;
use lab_record::axes::Scheduler;
use serde::Deserialize;

use crate::Error;
use crate::dut::device::{Device, Job};
use crate::dut::settings::Bottleneck;
use crate::link::DEVICE_DEVICES;
use crate::place::Place;

/// What `tc` says where the kernel was built without a scheduler.
const UNKNOWN: &str = "qdisc kind is unknown";

/// Sets the bottleneck of a job, if it has one, where the first link's packets leave.
pub(super) fn bottleneck(device: &dyn Device, job: &Job, place: &mut Place) -> Result<(), Error> {
    let Some(bottleneck) = job.settings.bottleneck() else { return Ok(()) };
    for line in lines(DEVICE_DEVICES[1], bottleneck) {
        place.run(&line).map_err(|error| match &error {
            Error::Command { reason, .. } if reason.contains(UNKNOWN) => {
                let what = format!("this kernel has no such scheduler: `{line}` says {UNKNOWN}");
                device.refuse(job, &what)
            }
            _ => error,
        })?;
    }
    Ok(())
}

/// The commands; disciplines that have no rate of their own stand under a token bucket.
fn lines(device: &str, bottleneck: Bottleneck) -> Vec<String> {
    let Bottleneck { scheduler, mbps } = bottleneck;
    let burst = bottleneck.burst_bytes();
    let add = format!("tc qdisc add dev {device}");
    let class = format!("tc class add dev {device} parent 1: classid 1:1");
    let under_bucket = |kind: &str| {
        vec![
            // The bucket's own limit is its child's, once it has one.
            format!("{add} root handle 1: tbf rate {mbps}mbit burst {burst} limit {burst}"),
            format!("{add} parent 1:1 handle 10: {kind}"),
        ]
    };
    match scheduler {
        Scheduler::Fifo => under_bucket("pfifo_fast"),
        Scheduler::Sfq => under_bucket("sfq"),
        Scheduler::Codel => under_bucket("codel"),
        Scheduler::FqCodel => under_bucket("fq_codel"),
        Scheduler::Htb => vec![
            format!("{add} root handle 1: htb default 1"),
            format!("{class} htb rate {mbps}mbit ceil {mbps}mbit burst {burst} cburst {burst}"),
        ],
        Scheduler::Hfsc => vec![
            format!("{add} root handle 1: hfsc default 1"),
            format!("{class} hfsc ls rate {mbps}mbit ul rate {mbps}mbit"),
        ],
    }
}

/// A line of `tc -s -j qdisc`.
#[derive(Deserialize)]
struct Queue {
    #[serde(default)]
    dev: String,
    #[serde(default)]
    root: bool,
    #[serde(default)]
    drops: u64,
}

/// What the queues of a device's ends dropped. Devices count it nowhere else: `/proc/net/dev`
/// begins behind the queue.
pub(super) fn queue_drops(place: &Place) -> Result<Counters, Error> {
    const LINE: &str = "tc -s -j qdisc show";
    let told = place.quietly(LINE)?;
    of_ends(&told).map_err(|error| Error::Command { line: LINE.into(), reason: error.to_string() })
}

pub(super) fn of_ends(told: &str) -> Result<Counters, serde_json::Error> {
    let queues: Vec<Queue> = serde_json::from_str(told)?;
    let mut counters = Counters::default();
    // A root counts what those below it drop, too.
    for Queue { dev, drops, .. } in queues.into_iter().filter(|queue| queue.root) {
        if DEVICE_DEVICES.contains(&dev.as_str()) {
            counters.drop(format!("{dev} queue"), drops);
        }
    }
    Ok(counters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_speaks_for_the_queues_below_it() {
        let told = r#"[{"kind":"noqueue","handle":"0:","dev":"d0","root":true,"drops":0},
            {"kind":"pfifo_fast","handle":"0:","dev":"eth0","root":true,"drops":9},
            {"kind":"tbf","handle":"1:","dev":"d1","root":true,"options":{"rate":2500000},"drops":1382},
            {"kind":"codel","handle":"10:","dev":"d1","parent":"1:1","drops":1380}]"#;
        assert_eq!(of_ends(told).unwrap().drops, [("d1 queue".to_owned(), 1_382)].into());
        assert!(of_ends("Cannot open netlink socket").is_err());
    }

    #[test]
    fn a_discipline_without_a_rate_stands_under_a_bucket() {
        let of = |scheduler| lines("d1", Bottleneck { scheduler, mbps: 100 });
        assert_eq!(
            of(Scheduler::FqCodel),
            [
                "tc qdisc add dev d1 root handle 1: tbf rate 100mbit burst 134018 limit 134018",
                "tc qdisc add dev d1 parent 1:1 handle 10: fq_codel"
            ]
        );
        assert!(
            of(Scheduler::Htb)[1]
                .ends_with("htb rate 100mbit ceil 100mbit burst 134018 cburst 134018")
        );
        assert!(of(Scheduler::Hfsc)[1].ends_with("hfsc ls rate 100mbit ul rate 100mbit"));
    }
}
