//! Jobs that adapters are tried with.

use crate::dut::device::Job;
use crate::dut::settings::Settings;
use crate::link::{DeviceEnd, LinkKind};
use crate::scenario::{Function, FunctionKind};

/// The same job over cards.
pub(crate) fn over_cards(job: Job) -> Job {
    let ends = ["0000:02:00.0", "0000:02:00.1"].map(|card| DeviceEnd::Pci(card.into()));
    Job { link: LinkKind::Pci, ends, ..job }
}

/// The same job over capture files.
pub(crate) fn over_files(job: Job) -> Job {
    let file = |way: &str, side: usize| format!("/tmp/{way}{side}.pcap").into();
    let ends = [0, 1].map(|side| DeviceEnd::Pcap { rx: file("in", side), tx: file("out", side) });
    Job { link: LinkKind::Pcap, ends, ..job }
}

/// A job over a pair of kernel devices.
pub(crate) fn job(kind: FunctionKind, entries: u64) -> Job {
    let function = Function {
        kind,
        label: None,
        learning: None,
        ageing: None,
        unknown_unicast_flood: None,
        flood: None,
        entries: None,
        bottleneck_mbps: None,
        wire_mbps: None,
    };
    let ends = ["d0", "d1"].map(|name| DeviceEnd::Kernel(name.into()));
    Job {
        function,
        entries,
        workers: 1,
        settings: Settings::default(),
        link: LinkKind::Veth,
        mtu: 1_500,
        ends,
    }
}
