//! Containers on networks that a device's own plugin gives the engine.
//!
//! ```text
//!  device's namespace   dockerd ──▶ plugin ──▶ device     docker network create -d DRIVER -o …
//!                                                         a bridge of it, or one a side, routed
//!  container            eth0 ═══ veth ═══ a port of it    docker run --network … --ip …
//! ```
//! The lab lays nothing: it asks the engine for networks, and the kernel for the port of an end.
//! What it sets itself is what all its ends have: no offloads, and neighbours that are told.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use super::container::Running;
use super::ends::{self, Addressing};
use super::engine::Engine;
use crate::Error;
use crate::dut::device::{Job, NetworkDriver};
use crate::link;
use crate::load::frames::device_address;
use crate::place::Place;

/// What the engine calls a container's first device.
pub(super) const DEVICE: &str = "eth0";

/// One of the engine's networks; it goes with this.
pub(super) struct Network {
    name: String,
    driver: String,
    engine: Arc<Engine>,
}

impl Network {
    /// Has the engine make one. An error where it is another driver's in the end.
    fn make(engine: &Arc<Engine>, words: &[String], driver: &str) -> Result<Arc<Self>, Error> {
        let says = |words: &[String]| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            engine.says(&words)
        };
        says(words)?;
        let name = words.last().cloned().unwrap_or_default();
        let look = ["network", "inspect", "-f", "{{.Driver}}", &name].map(str::to_owned);
        let network = |driver| Self { name: name.clone(), driver, engine: Arc::clone(engine) };
        let network = Arc::new(network(says(&look)?));
        match network.driver == driver {
            true => Ok(network),
            false => Err(Error::Contradiction(format!("{network}, not of {driver}"))),
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "network {} of the driver {}", self.name, self.driver)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // The engine goes next, and all that it knows.
        let _ = self.engine.says(&["network", "rm", &self.name]);
    }
}

/// Starts a device with its plugin, and two containers on networks of it.
pub(super) fn start(
    (driver, job): (&mut dyn NetworkDriver, &Job),
    place: &mut Place,
    (folders, cores): ([PathBuf; 2], &str),
    addressing: Addressing,
) -> Result<[Place; 2], Error> {
    let engine = Engine::within(&place.namespace())?;
    driver.serve(job, &engine.plugin(driver.driver()), place)?;
    let create = |side| create(driver.driver(), &driver.options(job), addressing, side);
    let make = |words: &[String]| Network::make(&engine, words, driver.driver());
    let first = make(&create(0))?;
    let second = if addressing.routed { make(&create(1))? } else { Arc::clone(&first) };
    let run = |side, network: &Arc<Network>| {
        let words = join(addressing, side);
        Running::start(Arc::clone(&engine), Some(Arc::clone(network)), &words)
    };
    let running = [run(0, &first)?, run(1, &second)?];
    let mac = |running: &Running| running.of_network("{{.MacAddress}}");
    let macs = [mac(&running[0])?, mac(&running[1])?];
    drop((first, second));
    let [first, second] = running;
    let [one, other] = folders;
    let mut places = [first.place(&one, cores)?, second.place(&other, cores)?];
    let mut ports = [String::new(), String::new()];
    for (side, end) in places.iter_mut().enumerate() {
        if side == 0 || addressing.routed {
            end.note_command(&format!("docker {}", create(side).join(" ")));
        }
        end.note_command(&format!("docker run {} …", join(addressing, side).join(" ")));
        ports[side] = port(end, place)?;
        let (port, mac) = (&ports[side], &macs[side]);
        end.note(&format!("{DEVICE} is {mac}; the device has it at port {port}"));
        link::ready(place, port)?;
        ends::settle(end, DEVICE, addressing.six)?;
        if !addressing.routed {
            let (there, mac) = (addressing.address(1 - side), &macs[1 - side]);
            end.run(&ends::neighbor(there, mac, DEVICE))?;
        }
    }
    driver.joined(job, &ports, place)?;
    Ok(places)
}

/// What the engine makes the network of a side by.
fn create(driver: &str, options: &[String], addressing: Addressing, side: usize) -> Vec<String> {
    let mut words = ["network", "create", "-d", driver].map(str::to_owned).to_vec();
    // It has IPv4 beside, of the engine's own choice.
    words.extend(addressing.six.then(|| "--ipv6".to_owned()));
    words.extend(["--subnet".to_owned(), subnet(addressing, side)]);
    if addressing.routed {
        let gateway = device_address(addressing.six, side);
        words.extend(["--gateway".to_owned(), gateway.to_string()]);
    }
    words.extend(options.iter().flat_map(|option| ["-o".to_owned(), option.clone()]));
    words.push(name(addressing, side));
    words
}

/// What a container is put on the network of a side by.
fn join(addressing: Addressing, side: usize) -> Vec<String> {
    let flag = if addressing.six { "--ip6" } else { "--ip" };
    let (name, address) = (name(addressing, side), addressing.address(side).to_string());
    ["--network", &name, flag, &address].map(str::to_owned).to_vec()
}

/// A switch joins both ends to one network, a router has one at each side.
fn name(addressing: Addressing, side: usize) -> String {
    if addressing.routed { format!("lab{side}") } else { "lab".to_owned() }
}

fn subnet(addressing: Addressing, side: usize) -> String {
    let length = addressing.length();
    match addressing.address(side) {
        IpAddr::V4(address) => {
            let network = address.to_bits() & u32::MAX << (32 - length);
            format!("{}/{length}", std::net::Ipv4Addr::from(network))
        }
        IpAddr::V6(address) => {
            let network = address.to_bits() & u128::MAX << (128 - length);
            format!("{}/{length}", std::net::Ipv6Addr::from(network))
        }
    }
}

/// The device's end of a container's, as the kernel knows it.
fn port(end: &Place, device: &Place) -> Result<String, Error> {
    let look = format!("ip -o link show dev {DEVICE}");
    let told = end.quietly(&look)?;
    let all = device.quietly("ip -o link")?;
    let found = far_index(&told).and_then(|index| named(&all, index));
    let reason = || format!("nothing is at its other end: {told}");
    found.map(str::to_owned).ok_or_else(|| Error::Command { line: look, reason: reason() })
}

/// The other end's number: `5: eth0@if4: <…`.
fn far_index(told: &str) -> Option<u32> {
    let (_, rest) = told.split_once("@if")?;
    rest.split(':').next()?.parse().ok()
}

/// The device of a number: `4: dk-12@if5: <…`.
fn named(told: &str, index: u32) -> Option<&str> {
    let line = told.lines().find_map(|line| line.strip_prefix(&format!("{index}: ")))?;
    line.split(['@', ':']).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Ethertype, FunctionKind};

    fn said(
        function: FunctionKind,
        ethertype: Ethertype,
        option: &str,
        side: usize,
    ) -> [String; 2] {
        let addressing = Addressing::of(function, ethertype).unwrap();
        let options = [option.to_owned()];
        let create = create("volley", &options, addressing, side);
        [create.join(" "), join(addressing, side).join(" ")]
    }

    #[test]
    fn a_switch_is_one_network_of_the_driver_and_ends_have_their_addresses_of_it() {
        let bridge = |ethertype| said(FunctionKind::Bridge, ethertype, "bridge=lan", 1);
        assert_eq!(
            bridge(Ethertype::Udp4),
            [
                "network create -d volley --subnet 198.18.0.0/15 -o bridge=lan lab",
                "--network lab --ip 198.18.1.2",
            ]
        );
        assert_eq!(
            bridge(Ethertype::Udp6),
            [
                "network create -d volley --ipv6 --subnet 2001:2::/48 -o bridge=lan lab",
                "--network lab --ip6 2001:2:0:1::2",
            ]
        );
    }

    #[test]
    fn a_router_has_a_network_at_each_side_and_leads_out_of_both() {
        let of = |function, side| said(function, Ethertype::Udp4, "gateway=router", side);
        assert_eq!(
            of(FunctionKind::Ip4, 0),
            [
                "network create -d volley --subnet 198.18.0.0/24 --gateway 198.18.0.1 -o gateway=router lab0",
                "--network lab0 --ip 198.18.0.2",
            ]
        );
        assert_eq!(
            of(FunctionKind::Ip6, 1),
            [
                "network create -d volley --ipv6 --subnet 2001:2:0:1::/64 --gateway 2001:2:0:1::1 \
                 -o gateway=router lab1",
                "--network lab1 --ip6 2001:2:0:1::2",
            ]
        );
    }

    #[test]
    fn the_port_of_an_end_is_what_the_kernel_has_at_its_other_end() {
        let end = "5: eth0@if4: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP";
        assert_eq!(far_index(end), Some(4));
        assert_eq!(far_index("5: eth0: <BROADCAST>"), None);
        let device =
            "1: lo: <LOOPBACK,UP> mtu 65536\n14: dk-0@if3: <UP>\n4: dk-1f@if5: <UP> mtu 1500";
        assert_eq!(named(device, 4), Some("dk-1f"));
        assert_eq!(named(device, 1), Some("lo"));
        assert_eq!(named(device, 5), None);
    }
}
