//! What is measured: each scenario by name, with the figure it is compared with and our aim.

use crate::rig::{ROUTER_MAC, Rig, RigError};
use crate::{scenarios_acl, scenarios_l2, scenarios4, scenarios6};
use fib::adjacency::{Adjacency, MAX_REWRITE};
use fib::route_file::{FilePrefix, FileTarget, OnWrong, load_routes};
use nodes::plumbing::{InterfaceId, Mode};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use wire::ethernet::ethertype;
use wire::{MacAddr, craft};

pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Cycles per packet of VPP 26.10 in the same scenario, where that was measured.
    pub(crate) vpp: Option<f64>,
    /// Most that we want to need.
    pub(crate) aim: f64,
    pub(crate) make: Box<dyn Fn() -> Result<Rig, RigError>>,
    /// The same with two workers, where that is measured.
    pub(crate) make_for_two: Option<Box<dyn Fn() -> Result<Rig, RigError>>>,
}

impl Scenario {
    pub(crate) fn new(
        name: &'static str,
        vpp: Option<f64>,
        aim: f64,
        make: impl Fn() -> Result<Rig, RigError> + 'static,
    ) -> Self {
        Self { name, vpp, aim, make: Box::new(make), make_for_two: None }
    }

    /// One that is measured with one worker and with two.
    pub(crate) fn scaled(
        name: &'static str,
        vpp: Option<f64>,
        aim: f64,
        make: impl Fn(usize) -> Result<Rig, RigError> + Copy + 'static,
    ) -> Self {
        let make_for_two = Some(Box::new(move || make(2)) as Box<dyn Fn() -> _>);
        Self { make_for_two, ..Self::new(name, vpp, aim, move || make(1)) }
    }
}

/// Every scenario; those of real tables where `data` is the folder that has them.
pub(crate) fn all(data: Option<&Path>) -> Vec<Scenario> {
    let mut all = vec![Scenario::new("l2-xconnect", Some(53.0), 28.0, xconnect)];
    all.extend(scenarios4::all(data));
    all.extend(scenarios_l2::all());
    all.extend(scenarios6::all(data));
    all.extend(scenarios_acl::all());
    all
}

pub(crate) const SOURCE_MAC: [u8; 6] = [0x02, 0, 0, 0, 1, 1];
pub(crate) const NEXT_HOP_MAC: [u8; 6] = [0x02, 0, 0, 0, 2, 2];

/// A 60-byte UDP frame, as 64 on the wire.
pub(crate) fn udp(destination: u32) -> Vec<u8> {
    flow(destination, 1234)
}

/// The same, of a flow of its own.
pub(crate) fn flow(destination: u32, source_port: u16) -> Vec<u8> {
    craft::ethernet(MacAddr(SOURCE_MAC), MacAddr(ROUTER_MAC))
        .ipv4(Ipv4Addr::new(192, 0, 2, 9), Ipv4Addr::from(destination))
        .udp(source_port, 5678)
        .payload_len(18)
        .build()
}

fn xconnect() -> Result<Rig, RigError> {
    let packets = (0..256).map(|n| udp(0x0a00_0001 + n)).collect();
    Rig::new(packets, Mode::CrossConnect(InterfaceId(1)))
}

/// Packets of a scenario that are told apart: more destinations than caches hold lines of.
pub(crate) const PACKETS: u32 = 65_536;

/// The same numbers in every run (xorshift).
pub(crate) fn random() -> impl FnMut() -> u64 {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Prefixes of a family and the numbers they lead to, from a file.
pub(crate) fn table_of<P>(
    file: &Path,
    of_family: impl Fn(FilePrefix) -> Option<P>,
) -> Result<Vec<(P, u32)>, RigError> {
    let file = load_routes(file, OnWrong::Refuse, &mut |_| ())?;
    let routes = file.routes.iter().filter_map(|route| match route.target {
        FileTarget::Number(number) => Some((of_family(route.prefix)?, number)),
        FileTarget::Address(_) => None,
    });
    Ok(routes.collect())
}

/// Out of interface 1, by plain Ethernet.
pub(crate) fn adjacency(next_hop: IpAddr) -> Adjacency {
    let mut rewrite = [0; MAX_REWRITE];
    let ethertype = if next_hop.is_ipv4() { ethertype::IPV4 } else { ethertype::IPV6 };
    rewrite[6..12].copy_from_slice(&ROUTER_MAC);
    rewrite[12..14].copy_from_slice(&ethertype.to_be_bytes());
    Adjacency { interface: 1, mtu: 1500, next_hop, rewrite, rewrite_len: 14 }
}
