//! Kernel devices that a host lends: they get the names that the lab's parts agree on, and their
//! own back afterwards, with their address and size.
//!
//! ```text
//! generator's end    enp1s0 ─▶ g0      where it is; a crash leaves "volley-lab enp1s0" beside it, and the next run mends it
//! device's end       enp2s0 ─▶ d0      into the namespace of the device, and out of it again
//! ```

use std::path::Path;

use crate::Error;
use crate::link::{DEVICE_DEVICES, DEVICE_MACS, LAB_DEVICES, ready};
use crate::place::{Place, output};

/// What devices that are lent are marked with.
const MARK: &str = "volley-lab ";

/// How a kernel device was.
#[derive(Debug, Clone)]
struct Before {
    name: String,
    address: String,
    mtu: String,
    up: bool,
}

impl Before {
    fn of(name: &str) -> Result<Self, Error> {
        let folder = Path::new("/sys/class/net").join(name);
        // /sys may be of another namespace than ours.
        let told = output(&["ip", "-o", "link", "show", "dev", name]).map_err(|_| Error::Port {
            port: name.to_owned(),
            reason: "this host has no such kernel device".into(),
        })?;
        let after = |word: &str| {
            let mut words = told.split_whitespace();
            words.find(|it| *it == word)?;
            words.next().map(str::to_owned)
        };
        let missing = || Error::Port {
            port: name.to_owned(),
            reason: format!("not read: {}", folder.display()),
        };
        let up = told
            .split(['<', '>'])
            .nth(1)
            .is_some_and(|flags| flags.split(',').any(|it| it == "UP"));
        Ok(Self {
            name: name.to_owned(),
            address: after("link/ether").ok_or_else(missing)?,
            mtu: after("mtu").ok_or_else(missing)?,
            up,
        })
    }

    /// The commands that give the device back what it had.
    fn restore(&self, now: &str) -> String {
        let Self { name, address, mtu, up } = self;
        let state = if *up { "up" } else { "down" };
        format!(
            "ip link set {now} down && ip link set {now} name {name} && \
             ip link set {name} alias '' address {address} mtu {mtu} {state}"
        )
    }
}

/// The generator's ends, as long as it lives.
#[derive(Debug)]
pub(crate) struct LabEnds(Vec<Before>);

impl LabEnds {
    pub(crate) fn take(names: [&str; 2]) -> Result<Self, Error> {
        let mut ends = Self(Vec::new());
        for (side, name) in names.into_iter().enumerate() {
            let near = LAB_DEVICES[side];
            mend(near);
            let before = Before::of(name)?;
            shell(&format!(
                "ip link set {name} down alias '{MARK}{name}' && ip link set {name} name {near}"
            ))?;
            ends.0.push(before);
            let quiet = format!(
                "echo 1 > /proc/sys/net/ipv6/conf/{near}/disable_ipv6; ip addr flush dev {near}"
            );
            shell(&format!(
                "{quiet}; ethtool -K {near} tx off gso off tso off gro off >/dev/null 2>&1; ip link set {near} up"
            ))?;
        }
        Ok(ends)
    }

    /// Makes room for packets of a size.
    pub(crate) fn widen(mtu: u16) -> Result<(), Error> {
        LAB_DEVICES.iter().try_for_each(|near| shell(&format!("ip link set {near} mtu {mtu} up")))
    }
}

impl Drop for LabEnds {
    fn drop(&mut self) {
        for (before, near) in self.0.iter().zip(LAB_DEVICES) {
            let _ = shell(&before.restore(near));
        }
    }
}

/// Gives back what a run that crashed has kept.
fn mend(near: &str) {
    let told = output(&["ip", "-o", "link", "show", "dev", near]).unwrap_or_default();
    if let Some((_, name)) = told.split_once(&format!("alias {MARK}")) {
        let name = name.split_whitespace().next().unwrap_or_default();
        let _ = shell(&format!("ip link set {near} down && ip link set {near} name {name}"));
    }
}

/// A device's ends, while they are in its place.
#[derive(Debug)]
pub(crate) struct DeviceEnds([Before; 2]);

impl DeviceEnds {
    /// Moves them into a place.
    pub(crate) fn lend(ports: &[String; 2], place: &Place, mtu: u16) -> Result<Self, Error> {
        let before = [Before::of(&ports[0])?, Before::of(&ports[1])?];
        let mut lent = 0;
        let outcome = ports.iter().enumerate().try_for_each(|(side, port)| {
            let (far, mac) = (DEVICE_DEVICES[side], DEVICE_MACS[side]);
            shell(&format!("ip link set {port} netns {}", place.namespace()))?;
            lent = side + 1;
            place.quietly(&format!(
                "ip link set {port} down && ip link set {port} name {far} && ip link set {far} address {mac} mtu {mtu}"
            ))?;
            ready(place, far)
        });
        let ends = Self(before);
        match outcome {
            Ok(()) => Ok(ends),
            Err(error) => {
                ends.take_back(place);
                Err(error)
            }
        }
    }

    /// Moves them back to where we are. What processes held them are over.
    pub(crate) fn take_back(&self, place: &Place) {
        let here = format!("/proc/{}/ns/net", std::process::id());
        for (before, far) in self.0.iter().zip(DEVICE_DEVICES) {
            // As far as it had come: under either name.
            let name = &before.name;
            let _ = place.quietly(&format!(
                "ip link set {far} down; ip link set {far} nomaster; ip link set {far} name {name}; ip link set {name} netns {here}"
            ));
            let _ = shell(
                &before.restore(name).replace(&format!("ip link set {name} name {name} && "), ""),
            );
        }
    }
}

fn shell(line: &str) -> Result<(), Error> {
    let told = output(&["sh", "-c", line]);
    told.map(drop).map_err(|reason| Error::Command { line: line.to_owned(), reason })
}
