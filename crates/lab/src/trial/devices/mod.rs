//! The adapters: one file a device.
//!
//! ```text
//! name            cross-connect  bridge  ip4  ip6  vlan  vxlan  gre  lists   links                   drops are read from
//! volley          ·              ·       ·    ·    ·     ·      ·    ·       veth(-xdp) memif vhost  its API
//! linux-bridge    ·              ·                 ·     ·                   veth tap                the kernel
//! linux-router                           ·    ·                 ·    ·       veth tap                the kernel
//! ovs             ·              ·       ·    ·    ·     ·      ·    ·       veth tap                the kernel, its sockets
//! ovs-dpdk        ·              ·       ·    ·    ·                 ·       veth tap                dump-ports
//! testpmd         ·                                                          veth(-xdp) memif vhost  show port stats
//! vpp             ·              ·       ·    ·                              veth memif vhost        vppctl show interface
//! grout           ·              ·       ·    ·                              veth(-xdp) memif vhost  grcli stats
//! fastclick       ·              ·       ·                                   veth(-xdp) memif vhost  its control socket
//! one that is not installed is refused by name, never skipped in silence
//! ```

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

use super::device::{Counters, Device, kernel_counters};
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

/// The device of a name; of Volley, `volley=FOLDER` names the one whose programs are in that folder.
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

/// What each adapter reads out of a text, whichever it was written for: for fuzzing, by the adapter's name.
pub fn told(text: &str) -> [(&'static str, Counters); 5] {
    [
        ("linux", kernel_counters(text, &["d0", "d1"])),
        ("ovs", open_vswitch::counters(text)),
        ("testpmd", testpmd::counters(text)),
        ("vpp", vpp::counters(text)),
        ("grout", grout::counters(text, text)),
    ]
}

/// An end of a link as a device that DPDK makes itself.
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
    }
}

#[cfg(test)]
mod testing {
    use super::*;
    use crate::scenario::{Function, FunctionKind};
    use crate::trial::device::Job;
    use crate::trial::settings::Settings;

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
