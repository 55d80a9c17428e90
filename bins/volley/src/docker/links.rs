//! The kernel's part: pairs of devices, one end the router's, the other the container's.

use std::path::Path;
use std::process::{Command, Stdio};

/// What the driver needs of the kernel.
pub(super) trait Links: Send + 'static {
    /// Makes a pair: our end, which is up and silent, and the container's with its address.
    fn add(&mut self, ours: &str, theirs: &str, mac: &str, mtu: Option<u16>) -> Result<(), String>;
    /// Takes it away, if it is there.
    fn remove(&mut self, ours: &str) -> Result<(), String>;
    /// Whether our end is there.
    fn has(&self, ours: &str) -> bool;
}

/// Virtual Ethernet, by ip(8).
pub(super) struct Veths;

impl Links for Veths {
    fn add(&mut self, ours: &str, theirs: &str, mac: &str, mtu: Option<u16>) -> Result<(), String> {
        let mtu = mtu.map(|mtu| ["mtu".to_owned(), mtu.to_string()]);
        let mut words = ["link", "add", ours].map(str::to_owned).to_vec();
        words.extend(mtu.clone().into_iter().flatten());
        words.extend(["type", "veth", "peer", "name", theirs, "address", mac].map(str::to_owned));
        words.extend(mtu.into_iter().flatten());
        ip(&words)?;
        // The kernel is to say nothing of its own on it; where it knows no IPv6, it cannot.
        let silent = format!("/proc/sys/net/ipv6/conf/{ours}/disable_ipv6");
        let up = || {
            if Path::new(&silent).exists() {
                std::fs::write(&silent, "1").map_err(|error| format!("{silent}: {error}"))?;
            }
            ip(&["link", "set", ours, "up"].map(str::to_owned))
        };
        up().inspect_err(|_| drop(self.remove(ours)))
    }

    fn remove(&mut self, ours: &str) -> Result<(), String> {
        match self.has(ours) {
            true => ip(&["link", "del", ours].map(str::to_owned)),
            false => Ok(()),
        }
    }

    fn has(&self, ours: &str) -> bool {
        // /sys may be of another network namespace, this is of ours.
        let devices = std::fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
        devices.lines().any(|line| line.trim_start().split(':').next() == Some(ours))
    }
}

fn ip(words: &[String]) -> Result<(), String> {
    let output = Command::new("ip").args(words).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("ip: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(format!("ip {}: {told}", words.join(" ")))
        }
    }
}
