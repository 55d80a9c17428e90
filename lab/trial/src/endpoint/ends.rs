//! The two ends of a stream: networks of their own, with the kernel's TCP in them.
//!
//! ```text
//!  first namespace         device's namespace          second namespace
//!  198.18.0.2  g0 ═══ veth ═══ d0 │ device │ d1 ═══ veth ═══ g1  198.18.1.2      the lab's cores, but for the device
//! ```
//! Virtual machines have a card for g0, and d0 is a tap, or a socket of vhost-user. Containers of a
//! device that has a plugin for Docker have all of it from that (network.rs).
//!
//! What a switch joins is one network, 198.18.0.0/15; what a router joins are two, with the
//! device's addresses as gateways. Neighbours are told, so that no device need answer for them.
//!
//! Checksums, TSO, GSO and GRO are off at all four ends. A userspace switch takes frames out of a
//! packet socket, which hands on what a card should have filled in as it is; and the kernel's own
//! devices would pass 64 KiB as one frame, which no wire carries.

use std::fmt::Display;
use std::net::IpAddr;

use lab_record::axes::Endpoint;

use crate::Error;
use crate::link::{self, DEVICE_DEVICES, DEVICE_MACS, DeviceEnd, LAB_DEVICES, LAB_MACS};
use crate::load::frames::{device_address, lab_address};
use crate::place::{Place, has_program};
use crate::scenario::{Ethertype, FunctionKind};

/// How the endpoints are addressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addressing {
    /// Whether by IPv6.
    pub six: bool,
    /// Whether a router is between them.
    pub routed: bool,
    /// What they are.
    pub endpoint: Endpoint,
}

impl Addressing {
    /// As a function needs it; none where frames of this ethertype carry no TCP, and where the ends
    /// would have to know of tags, tunnels or lists.
    pub fn of(function: FunctionKind, ethertype: Ethertype) -> Option<Self> {
        let routed = match function {
            FunctionKind::Ip4 | FunctionKind::Ip6 => true,
            FunctionKind::CrossConnect | FunctionKind::Bridge => false,
            _ => return None,
        };
        let six = function == FunctionKind::Ip6 || ethertype == Ethertype::Udp6;
        (routed || ethertype != Ethertype::Unknown).then_some(Self {
            six,
            routed,
            endpoint: Endpoint::Namespace,
        })
    }

    /// The address of an end.
    pub fn address(self, side: usize) -> IpAddr {
        lab_address(self.six, side)
    }

    /// The length of the network that an end is in.
    pub(super) fn length(self) -> u32 {
        match (self.six, self.routed) {
            (false, false) => 15,
            (false, true) => 24,
            (true, false) => 48,
            (true, true) => 64,
        }
    }

    /// Commands that address an end whose device is up.
    fn commands(self, side: usize) -> Vec<String> {
        let (device, own, length) = (LAB_DEVICES[side], self.address(side), self.length());
        let nodad = if self.six { " nodad" } else { "" };
        let mut commands = vec![format!("ip addr add {own}/{length} dev {device}{nodad}")];
        if self.routed {
            let gateway = device_address(self.six, side);
            commands.push(neighbor(gateway, DEVICE_MACS[side], device));
            commands.push(format!("ip route add default via {gateway}"));
        } else {
            commands.push(neighbor(self.address(1 - side), LAB_MACS[1 - side], device));
        }
        commands
    }
}

/// The command that tells an end who has an address.
pub(super) fn neighbor(address: IpAddr, mac: impl Display, device: &str) -> String {
    format!("ip neigh replace {address} lladdr {mac} dev {device} nud permanent")
}

/// A link from each end to the device, between the host's own devices.
pub(super) fn lay(ends: &mut [Place; 2], device: &Place, mtu: u16) -> Result<(), Error> {
    for (side, end) in ends.iter_mut().enumerate() {
        let (near, far) = (LAB_DEVICES[side], DEVICE_DEVICES[side]);
        end.run(&format!(
            "ip link add {near} address {} mtu {mtu} type veth peer name {far} address {} mtu {mtu} netns {}",
            LAB_MACS[side],
            DEVICE_MACS[side],
            device.namespace()
        ))?;
        link::ready(device, far)?;
    }
    Ok(())
}

/// The device's ends of links to virtual machines, which take hold of them when they begin.
pub(super) fn hang(device: &mut Place, ends: &[DeviceEnd; 2], mtu: u16) -> Result<(), Error> {
    for (side, end) in ends.iter().enumerate() {
        if let DeviceEnd::Kernel(far) = end {
            let mac = DEVICE_MACS[side];
            device.run(&format!("ip tuntap add dev {far} mode tap vnet_hdr"))?;
            device.run(&format!("ip link set {far} address {mac} mtu {mtu}"))?;
            link::ready(device, far)?;
        }
    }
    Ok(())
}

/// Gives the cards of virtual machines the names of all other ends.
pub(super) fn name_cards(ends: &mut [Place; 2], mtu: u16) -> Result<(), Error> {
    for (side, end) in ends.iter_mut().enumerate() {
        end.run("ip link set lo up")?;
        end.run(&format!("ip link set eth0 name {} mtu {mtu}", LAB_DEVICES[side]))?;
    }
    Ok(())
}

/// Gives both ends their addresses.
pub(super) fn address_all(ends: &mut [Place; 2], addressing: Addressing) -> Result<(), Error> {
    ends.iter_mut().enumerate().try_for_each(|(side, end)| address(end, side, addressing))
}

/// Makes the wires slow, as a switch on the way would: what an end sends waits before it.
pub(super) fn slow(ends: &mut [Place; 2], devices: [&str; 2], mbps: u64) -> Result<(), Error> {
    // A millisecond of the rate at once, and 50 ms that may wait: a small switch's buffer.
    let (burst, limit) = ((mbps * 125).max(3_100), (mbps * 6_250).max(16_000));
    for (end, device) in ends.iter_mut().zip(devices) {
        end.run(&format!(
            "tc qdisc add dev {device} root tbf rate {mbps}mbit burst {burst} limit {limit}"
        ))?;
    }
    Ok(())
}

/// One link from end to end: what the lab itself can do.
pub(super) fn join(ends: &mut [Place; 2], six: bool) -> Result<(), Error> {
    let [first, second] = ends;
    first.run(&format!(
        "ip link add {} address {} type veth peer name {} address {} netns {}",
        LAB_DEVICES[0],
        LAB_MACS[0],
        LAB_DEVICES[1],
        LAB_MACS[1],
        second.namespace()
    ))?;
    let addressing = Addressing { six, routed: false, endpoint: Endpoint::Namespace };
    address_all(ends, addressing)
}

fn address(end: &mut Place, side: usize, addressing: Addressing) -> Result<(), Error> {
    settle(end, LAB_DEVICES[side], addressing.six)?;
    addressing.commands(side).iter().try_for_each(|command| end.run(command).map(drop))
}

/// Makes an end's device ready for its addresses, if it has none yet.
pub(super) fn settle(end: &mut Place, device: &str, six: bool) -> Result<(), Error> {
    let without_six = u8::from(!six);
    end.run(&format!("echo {without_six} > /proc/sys/net/ipv6/conf/{device}/disable_ipv6"))?;
    if !has_program("ethtool") {
        let line = format!("ethtool -K {device} tx off");
        let reason = "ethtool is not installed: nobody would fill in checksums".into();
        return Err(Error::Command { line, reason });
    }
    end.run(&format!("ethtool -K {device} tx off gso off tso off gro off"))?;
    end.run(&format!("ip link set {device} up"))?;
    // Else what a device sends would be received on the device's core.
    if end.has_own_kernel() { Ok(()) } else { link::steer(end, &[device]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_switch_joins_is_one_network_and_what_a_router_joins_has_gateways() {
        let bridged = Addressing::of(FunctionKind::Bridge, Ethertype::Udp4).unwrap();
        let commands = bridged.commands(0);
        assert_eq!(commands[0], "ip addr add 198.18.0.2/15 dev g0");
        assert_eq!(
            commands[1],
            format!("ip neigh replace 198.18.1.2 lladdr {} dev g0 nud permanent", LAB_MACS[1])
        );
        let routed = Addressing::of(FunctionKind::Ip6, Ethertype::Udp4).unwrap();
        let commands = routed.commands(1);
        assert_eq!(commands[0], "ip addr add 2001:2:0:1::2/64 dev g1 nodad");
        assert_eq!(commands[2], "ip route add default via 2001:2:0:1::1");
        assert_eq!(Addressing::of(FunctionKind::CrossConnect, Ethertype::Unknown), None);
        assert_eq!(Addressing::of(FunctionKind::VxlanEncap, Ethertype::Udp4), None);
        assert!(Addressing::of(FunctionKind::Bridge, Ethertype::Udp6).unwrap().six);
    }
}
