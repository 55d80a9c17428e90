//! The devices under test: an adapter is one file, its `mod` and its line of the list.
//!
//! ```text
//! name            cross-connect  bridge  ip4  ip6  vlan  vxlan  gre  lists   links                             drops are read from
//! volley          ·              ·       ·    ·    ·     ·      ·    ·       all                               its API
//! volley-flow     ·              ·       ·    ·    ·                 ·       all but pcap                      its API
//! linux-bridge    ·              ·                 ·     ·                   veth tap                          the kernel
//! linux-bridge-guest  the same of a virtual machine's kernel, for streams alone: taps
//! linux-router                           ·    ·                 ·    ·       veth tap                          the kernel
//! ovs             ·              ·       ·    ·    ·     ·      ·    ·       veth tap                          the kernel, its sockets
//! ovs-dpdk        ·              ·       ·    ·    ·                 ·       veth tap memif vhost pci          dump-ports
//! testpmd         ·                                                          all                               show port stats
//! vpp             ·              ·       ·    ·    ·     ·           acl     veth tap memif vhost pci          show interface, errors
//! grout           ·              ·       ·    ·                              all but pcap                      grcli stats
//! fastclick       ·              ·       ·                                   all but pcap                      its control socket
//! script          what a folder of the user's own does                                                         its counters, or the kernel
//! one that is not installed is refused by name, never skipped in silence
//! ```

mod adapter;
mod bridge;
pub mod device;
mod dhcrelay;
mod eal;
mod fastclick;
mod grout;
mod linux;
mod open_vswitch;
mod open_vswitch_bridge;
mod open_vswitch_dpdk;
mod open_vswitch_qos;
mod open_vswitch_tunnel;
mod script;
pub mod settings;
mod testpmd;
mod traffic_control;
mod volley;
mod vpp;

pub use adapter::{Adapter, OfFolder};
use lab_record::Counters;

use crate::Error;
use crate::dut::device::Device;

/// All adapters, in the order in which their devices are measured.
pub static ALL: &[&Adapter] = &[
    &volley::ADAPTER,
    &volley::FLOW_BRIDGE,
    &linux::BRIDGE,
    &linux::GUEST_BRIDGE,
    &linux::ROUTER,
    &open_vswitch::ADAPTER,
    &open_vswitch_dpdk::ADAPTER,
    &testpmd::ADAPTER,
    &testpmd::MAC,
    &vpp::ADAPTER,
    &grout::ADAPTER,
    &fastclick::ADAPTER,
    &script::ADAPTER,
];

/// The device of a name, or of `NAME=FOLDER`: then the one whose programs are in that folder.
pub fn named(name: &str) -> Result<Box<dyn Device>, Error> {
    let (plain, folder) = match name.split_once('=') {
        Some((plain, folder)) => (plain, Some(folder)),
        None => (name, None),
    };
    let adapter = ALL.iter().find(|adapter| adapter.name == plain);
    let device = adapter.and_then(|adapter| match folder {
        None => Some((adapter.device)()),
        Some(folder) => adapter.of_folder.map(|of_folder| of_folder(folder)),
    });
    device.ok_or_else(|| {
        let (text, allowed) = (name.to_owned(), known().into());
        Error::Text { what: "device", text, allowed }
    })
}

/// The names of all, in words; `NAME=FOLDER` where programs may be those of a folder.
pub fn known() -> String {
    let all = ALL.iter().flat_map(|it| {
        [Some(it.name.to_owned()), it.of_folder.map(|_| format!("{}=FOLDER", it.name))]
    });
    let mut all: Vec<String> = all.flatten().collect();
    let last = all.pop().unwrap_or_default();
    format!("{} or {last}", all.join(", "))
}

/// Names of those that are measured unless others are named.
pub fn usual() -> impl Iterator<Item = &'static str> {
    ALL.iter().filter(|adapter| adapter.usual).map(|adapter| adapter.name)
}

/// What each adapter reads out of a text, whichever it was written for: for fuzzing, by its name.
pub fn told(text: &str) -> Vec<(&'static str, Counters)> {
    let read = |it: &&'static Adapter| Some((it.name, it.read?(text)?));
    ALL.iter().filter_map(read).collect()
}

#[cfg(test)]
pub(crate) mod testing;
