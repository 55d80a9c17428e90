//! Interfaces whose devices DPDK has in Open vSwitch: network cards and others of its drivers, and
//! sockets of virtual machines, as ports of the router's.
//!
//! | type | `options` | becomes |
//! |---|---|---|
//! | `dpdk` | `dpdk-devargs=0000:03:00.0` | `pci` |
//! | | `…=net_af_packet0,iface=eth1` | `af_packet` |
//! | | `…=net_af_xdp0,iface=eth1` | `af_xdp` |
//! | | `…=net_virtio_user0,path=/run/vhost.sock` | `virtio_user` |
//! | `dpdkvhostuser` | | `vhost`, its socket in the folder of sockets by the interface's name |
//! | `dpdkvhostuserclient` | `vhost-server-path=/run/vm.sock` | `vhost`, the machine makes the socket |

use std::collections::BTreeMap;
use std::path::Path;

use control::config::field::Field;
use control::config::objects::api::MAX_SOCKET_PATH_BYTES;
use control::config::objects::port_kind::{DeviceName, PciAddress};

type Options = BTreeMap<String, String>;

/// Most queues of a port.
const MOST_QUEUES: u16 = 64;

/// What `port add` says of a device of one of DPDK's drivers.
pub(super) fn device(name: &str, options: &Options) -> Result<String, String> {
    let said = options.get("dpdk-devargs").filter(|it| !it.is_empty());
    let said = said.ok_or_else(|| format!("'{name}' is missing 'options:dpdk-devargs'"))?;
    let wrong = || format!("options:dpdk-devargs `{said}` is no device that is done here");
    let mut words = match said.split_once(',') {
        None => {
            // A place on the bus, whose domain may be left out.
            let long = format!("0000:{said}");
            let card = [said, &long].into_iter().find_map(|it| PciAddress::from_text(it).ok());
            format!("pci address {}", card.ok_or_else(wrong)?.as_str())
        }
        Some((driver, argument)) => {
            let driver = driver.trim_end_matches(|it: char| it.is_ascii_digit());
            let (key, value) = argument.split_once('=').ok_or_else(wrong)?;
            let is_device = DeviceName::from_text(value).is_ok();
            match (driver, key) {
                ("net_af_packet" | "eth_af_packet", "iface") if is_device => {
                    format!("af_packet device {value}")
                }
                ("net_af_xdp", "iface") if is_device => format!("af_xdp device {value}"),
                ("net_virtio_user" | "virtio_user", "path") if is_path(value) => {
                    format!("virtio_user socket {value}")
                }
                _ => return Err(wrong()),
            }
        }
    };
    if let Some(queues) = options.get("n_rxq") {
        let read = queues.parse::<u16>().ok().filter(|it| (1..=MOST_QUEUES).contains(it));
        let read = read.ok_or_else(|| format!("options:n_rxq is `{queues}`, not 1 to 64"))?;
        words.push_str(&format!(" rx_queues {read}"));
    }
    Ok(words)
}

/// An absolute one, which is one word of a command.
fn is_path(text: &str) -> bool {
    text.starts_with('/')
        && !text.contains(|it: char| it == ',' || it.is_whitespace() || it.is_control())
}

/// What it says of a socket of a virtual machine, which is made.
pub(super) fn socket(name: &str, folder: &Path) -> Result<String, String> {
    let socket = folder.join(name);
    let socket = socket.to_str().filter(|text| is_path(text));
    let socket = socket.ok_or("the folder of sockets has a name that is none here")?;
    Ok(format!("vhost socket {socket}"))
}

/// What it says of a socket that a virtual machine makes.
pub(super) fn machines_socket(name: &str, options: &Options) -> Result<String, String> {
    let said = options.get("vhost-server-path").filter(|it| !it.is_empty());
    let said = said.ok_or_else(|| format!("'{name}' is missing 'options:vhost-server-path'"))?;
    match is_path(said) && said.len() <= MAX_SOCKET_PATH_BYTES {
        true => Ok(format!("vhost socket {said} role client")),
        false => Err(format!("options:vhost-server-path `{said}` is no path of a socket here")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(devargs: &str, more: &[(&str, &str)]) -> Result<String, String> {
        let more = more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let said = ("dpdk-devargs".to_owned(), devargs.to_owned());
        device("p1", &more.chain([said]).collect())
    }

    #[test]
    fn devices_are_ports_of_the_kind_that_has_them() {
        for (devargs, words) in [
            ("0000:0A:00.1", "pci address 0000:0a:00.1"),
            ("03:00.0", "pci address 0000:03:00.0"),
            ("net_af_packet0,iface=eth1", "af_packet device eth1"),
            ("eth_af_packet12,iface=eth1", "af_packet device eth1"),
            ("net_af_xdp,iface=eth1", "af_xdp device eth1"),
            ("net_virtio_user0,path=/run/vhost.sock", "virtio_user socket /run/vhost.sock"),
        ] {
            assert_eq!(told(devargs, &[]).unwrap(), words);
        }
        let queues = told("0000:03:00.0", &[("n_rxq", "4")]).unwrap();
        assert_eq!(queues, "pci address 0000:03:00.0 rx_queues 4");
    }

    #[test]
    fn what_is_no_device_here_is_told() {
        assert_eq!(told("", &[]).unwrap_err(), "'p1' is missing 'options:dpdk-devargs'");
        for wrong in [
            "eth1",
            "0000:03:00.0,representor=[0]",
            "net_null0",
            "net_ring0,iface=eth1",
            "net_af_packet0,iface=eth1,qpairs=2",
            "net_af_packet0,iface=a b",
            "net_virtio_user0,path=vhost.sock",
            "net_virtio_user0,path=/a b",
            "class=eth,mac=00:11:22:33:44:55",
        ] {
            let why = told(wrong, &[]).unwrap_err();
            assert_eq!(
                why,
                format!("options:dpdk-devargs `{wrong}` is no device that is done here")
            );
        }
        for queues in ["0", "65", "x"] {
            assert!(told("03:00.0", &[("n_rxq", queues)]).unwrap_err().contains("n_rxq"));
        }
    }

    #[test]
    fn a_machines_socket_is_in_the_folder_by_its_name() {
        let words = socket("vm1", Path::new("/run/ovs")).unwrap();
        assert_eq!(words, "vhost socket /run/ovs/vm1");
        assert!(socket("vm1", Path::new("/run/o vs")).is_err());
    }

    #[test]
    fn a_socket_that_the_machine_makes_is_where_the_row_says() {
        let told = |path: &str| {
            let said = ("vhost-server-path".to_owned(), path.to_owned());
            machines_socket("vm1", &[said].into())
        };
        assert_eq!(told("/run/vm1.sock").unwrap(), "vhost socket /run/vm1.sock role client");
        let missing = "'vm1' is missing 'options:vhost-server-path'";
        assert_eq!(told("").unwrap_err(), missing);
        assert_eq!(machines_socket("vm1", &Options::new()).unwrap_err(), missing);
        for wrong in ["vm1.sock", "/run/a b", "/run/a,b", &format!("/{}", "x".repeat(107))] {
            let why = told(wrong).unwrap_err();
            let told = format!("options:vhost-server-path `{wrong}` is no path of a socket here");
            assert_eq!(why, told);
        }
    }
}
