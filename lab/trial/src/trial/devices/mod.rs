//! The adapters: one file a device.
//!
//! ```text
//! name            cross-connect  bridge  ip4  ip6  vlan  vxlan  gre  lists   links                             drops are read from
//! volley          ·              ·       ·    ·    ·     ·      ·    ·       all                               its API
//! linux-bridge    ·              ·                 ·     ·                   veth tap                          the kernel
//! linux-router                           ·    ·                 ·    ·       veth tap                          the kernel
//! ovs             ·              ·       ·    ·    ·     ·      ·    ·       veth tap                          the kernel, its sockets
//! ovs-dpdk        ·              ·       ·    ·    ·                 ·       veth tap memif vhost pci          dump-ports
//! testpmd         ·                                                          all                               show port stats
//! vpp             ·              ·       ·    ·                              veth tap memif vhost pci          vppctl show interface
//! grout           ·              ·       ·    ·                              all but pcap                      grcli stats
//! fastclick       ·              ·       ·                                   all but pcap                      its control socket
//! one that is not installed is refused by name, never skipped in silence
//! ```

mod dhcrelay;
mod fastclick;
mod grout;
mod linux;
mod open_vswitch;
mod open_vswitch_dpdk;
mod open_vswitch_tunnel;
mod testpmd;
mod traffic_control;
mod volley;
mod vpp;

use lab_record::Counters;

use super::device::{Device, Job, kernel_counters};
use super::link::{DeviceEnd, LinkKind};
use crate::Error;

/// All devices that there are adapters for, in the order in which they are measured.
pub const NAMES: [&str; 10] = [
    "volley",
    "linux-bridge",
    "linux-router",
    "ovs",
    "ovs-dpdk",
    "testpmd",
    "testpmd-mac",
    "vpp",
    "grout",
    "fastclick",
];

/// The device of a name; of Volley, `volley=FOLDER` names the one whose programs are in that
/// folder.
pub fn named(name: &str) -> Result<Box<dyn Device>, Error> {
    if let Some(folder) = name.strip_prefix("volley=") {
        return Ok(Box::new(volley::Volley::in_folder(folder)));
    }
    Ok(match name {
        "volley" => Box::new(volley::Volley::beside_us()),
        "linux-bridge" => Box::new(linux::Bridge),
        "linux-router" => Box::new(linux::Router),
        "ovs" => Box::new(open_vswitch::OpenVswitch::default()),
        "ovs-dpdk" => Box::new(open_vswitch_dpdk::OpenVswitchDpdk::default()),
        "testpmd" => Box::new(testpmd::Testpmd::new("testpmd", "io")),
        "testpmd-mac" => Box::new(testpmd::Testpmd::new("testpmd-mac", "mac")),
        "vpp" => Box::new(vpp::Vpp),
        "grout" => Box::new(grout::Grout),
        "fastclick" => Box::new(fastclick::FastClick),
        _ => {
            return Err(Error::Text {
                what: "device",
                text: name.to_owned(),
                allowed: "volley, volley=FOLDER, linux-bridge, linux-router, ovs, ovs-dpdk, testpmd, \
                          testpmd-mac, vpp, grout or fastclick",
            });
        }
    })
}

/// What each adapter reads out of a text, whichever it was written for: for fuzzing, by the
/// adapter's name. Volley's is three answers of its API, a line each.
pub fn told(text: &str) -> Vec<(&'static str, Counters)> {
    let mut lines = text.lines();
    let answers = [(); 3].map(|()| lines.next().unwrap_or("[]"));
    let mut all = vec![
        ("linux", kernel_counters(text, &["d0", "d1"])),
        ("ovs", open_vswitch::counters(text)),
        ("testpmd", testpmd::counters(text)),
        ("vpp", vpp::counters(text)),
        ("grout", grout::counters(text, text)),
    ];
    all.extend(volley::told::counters(answers).map(|counters| ("volley", counters)));
    all.extend(traffic_control::of_ends(text).map(|counters| ("queues", counters)));
    all
}

/// What tells DPDK of a job's ends, and where packets live: cards reach for them, so that they are
/// on huge pages then, and at physical addresses where there is no IOMMU, which DPDK finds out.
fn eal_devices(job: &Job) -> String {
    let cards = job.ends.iter().any(|end| matches!(end, DeviceEnd::Pci(_)));
    let memory =
        if cards { "--in-memory" } else { "--no-huge --no-shconf --no-pci --iova-mode=va" };
    let mut words = memory.to_owned();
    for (side, end) in job.ends.iter().enumerate() {
        words += &match end {
            DeviceEnd::Pci(address) => format!(" -a {address}"),
            _ => format!(" --vdev '{}'", vdev(side, end, job.link)),
        };
    }
    words
}

/// An end of a link as DPDK names it: a device that it makes itself, or a card.
fn vdev(side: usize, end: &DeviceEnd, link: LinkKind) -> String {
    match (end, link) {
        (DeviceEnd::Kernel(name), LinkKind::VethXdp) => format!("net_af_xdp{side},iface={name}"),
        (DeviceEnd::Kernel(name), _) => {
            format!("net_af_packet{side},iface={name},blocksz=8192,framesz=2048,framecnt=4096")
        }
        (DeviceEnd::Memif(socket), _) => {
            format!("net_memif{side},role=server,socket={},socket-abstract=no", socket.display())
        }
        (DeviceEnd::Vhost(socket), _) => {
            format!("net_vhost{side},iface={},queues=1", socket.display())
        }
        (DeviceEnd::Pcap { rx, tx }, _) => {
            format!("net_pcap{side},rx_pcap={},tx_pcap={}", rx.display(), tx.display())
        }
        (DeviceEnd::Pci(address), _) => address.clone(),
    }
}

#[cfg(test)]
mod testing {
    use super::*;
    use crate::scenario::{Function, FunctionKind};
    use crate::trial::settings::Settings;

    /// The same job over cards.
    pub(super) fn over_cards(job: Job) -> Job {
        let ends = ["0000:02:00.0", "0000:02:00.1"].map(|card| DeviceEnd::Pci(card.into()));
        Job { link: LinkKind::Pci, ends, ..job }
    }

    /// The same job over capture files.
    pub(super) fn over_files(job: Job) -> Job {
        let file = |way: &str, side: usize| format!("/tmp/{way}{side}.pcap").into();
        let ends =
            [0, 1].map(|side| DeviceEnd::Pcap { rx: file("in", side), tx: file("out", side) });
        Job { link: LinkKind::Pcap, ends, ..job }
    }

    #[test]
    fn dpdk_is_told_of_cards_and_of_files() {
        assert_eq!(
            eal_devices(&over_cards(job(FunctionKind::CrossConnect, 1))),
            "--in-memory -a 0000:02:00.0 -a 0000:02:00.1"
        );
        assert_eq!(
            eal_devices(&over_files(job(FunctionKind::CrossConnect, 1))),
            "--no-huge --no-shconf --no-pci --iova-mode=va --vdev 'net_pcap0,rx_pcap=/tmp/in0.pcap,tx_pcap=/tmp/out0.pcap' \
             --vdev 'net_pcap1,rx_pcap=/tmp/in1.pcap,tx_pcap=/tmp/out1.pcap'"
        );
    }

    /// A job over a pair of kernel devices.
    pub(super) fn job(kind: FunctionKind, entries: u64) -> Job {
        let function = Function {
            kind,
            label: None,
            learning: None,
            ageing: None,
            unknown_unicast_flood: None,
            flood: None,
            entries: None,
            bottleneck_mbps: None,
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
}
