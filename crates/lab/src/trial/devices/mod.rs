//! The adapters: one file a device.
//!
//! ```text
//! name            cross-connect  bridge  ip4  ip6   links                 drops are read from
//! volley          ·              ·       ·    ·     veth(-xdp) memif vhost  its API
//! linux-bridge    ·              ·                  veth                    the kernel
//! linux-router                           ·    ·     veth                    the kernel
//! ovs             ·              ·       ·    ·     veth                    the kernel, its sockets
//! testpmd         ·                                 veth(-xdp) memif vhost  show port stats
//! vpp, grout, fastclick: refused where they are not installed
//! ```

mod linux;
mod missing;
mod open_vswitch;
mod testpmd;
mod volley;

use super::device::Device;
use crate::Error;

/// All devices that there are adapters for, in the order in which they are measured.
pub const NAMES: [&str; 9] = [
    "volley",
    "linux-bridge",
    "linux-router",
    "ovs",
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
        "testpmd" => Box::new(testpmd::Testpmd::new("testpmd", "io")),
        "testpmd-mac" => Box::new(testpmd::Testpmd::new("testpmd-mac", "mac")),
        "vpp" => Box::new(missing::Missing { name: "vpp", program: "vpp" }),
        "grout" => Box::new(missing::Missing { name: "grout", program: "grout" }),
        "fastclick" => Box::new(missing::Missing { name: "fastclick", program: "click" }),
        _ => {
            return Err(Error::Text {
                what: "device",
                text: name.to_owned(),
                allowed: "volley, volley=FOLDER, linux-bridge, linux-router, ovs, testpmd, \
                          testpmd-mac, vpp, grout or fastclick",
            });
        }
    })
}
