//! The way that a request takes, by the tables that workers go by; and from which address.

use crate::core::Core;
use control::engine::EngineError;
use control::view::PingProblem;
use fib::Forward;
use fib::adjacency::AdjacencyId;
use fib::ecmp::GroupId;
use nodes::ip::PacketRoutes;
use nodes::tables::{Interface, Kind, Mode, VrfId};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::ipv6;

/// What is asked for.
pub(super) struct Asked<'a> {
    pub(super) target: IpAddr,
    pub(super) port: Option<&'a str>,
    pub(super) vrf: &'a str,
    pub(super) source: Option<IpAddr>,
}

/// How it begins.
pub(super) struct Begins {
    pub(super) source: IpAddr,
    pub(super) vrf: VrfId,
    pub(super) port: Option<u16>,
    pub(super) rx: u16,
}

/// Where requests leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Way {
    /// By which interface; none where they are for ourselves.
    interface: Option<u16>,
    /// Whom they are handed to.
    next_hop: IpAddr,
    /// The longest packet that leaves in one.
    pub(super) mtu: u16,
}

/// Why there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NoWay {
    /// No route.
    NoRoute,
    /// A route that drops them.
    Blackhole,
    /// A route that says that nobody is there.
    Unreachable,
    /// A route that forbids it.
    Prohibit,
    /// The address is not of one host, or of none that routers speak to.
    NoHost,
    /// The port is down.
    Down,
}

impl NoWay {
    /// As who asks is told when it comes in the midst of a course.
    pub(super) fn problem(self) -> PingProblem {
        match self {
            Self::NoRoute | Self::Blackhole | Self::NoHost | Self::Down => PingProblem::NoRoute,
            Self::Unreachable => PingProblem::Host,
            Self::Prohibit => PingProblem::Prohibited,
        }
    }

    /// As who asks is told when nothing can begin.
    fn words(self, asked: &Asked<'_>) -> String {
        let Asked { target, vrf, port, .. } = asked;
        match self {
            Self::NoRoute => format!("no route to {target} in VRF {vrf}"),
            Self::Blackhole => format!("a blackhole route has {target} in VRF {vrf}"),
            Self::Unreachable => format!("a route says that {target} is unreachable in VRF {vrf}"),
            Self::Prohibit => format!("a route prohibits {target} in VRF {vrf}"),
            Self::NoHost => format!("{target} is not the address of one host: expected such"),
            Self::Down => format!("port `{}` is down", port.unwrap_or_default()),
        }
    }
}

/// What is needed to begin, if it can begin.
pub(super) fn begin(core: &Core, asked: &Asked<'_>) -> Result<Begins, EngineError> {
    let refuse = |why: String| Err(EngineError::Conflict(why));
    let target = asked.target;
    let mut vrf = core.vrf_named(asked.vrf)?;
    let port = asked.port.map(|name| port_named(core, name)).transpose()?;
    match (is_link_local(target), port) {
        (true, None) => {
            return refuse(format!(
                "{target} can be on any link: say on which, as in `{target} port p0`"
            ));
        }
        (false, Some(_)) => {
            return refuse(format!(
                "routes lead to {target}: a port is said for link-local addresses alone"
            ));
        }
        (true, Some(id)) => vrf = core.dataplane.interfaces().vrf(id),
        (false, None) => {}
    }
    let way = match way_to(core, vrf, target, port) {
        Ok(way) => way,
        Err(why) => return refuse(why.words(asked)),
    };
    let in_vrf = || core.ports_in(vrf).into_iter().find_map(|name| core.ports.id_of(&name));
    let is_of_vrf = |id: &u16| core.dataplane.interfaces().vrf(*id) == vrf;
    let Some(rx) = way.interface.filter(is_of_vrf).or_else(in_vrf) else {
        return refuse(format!("VRF {} has no port", asked.vrf));
    };
    let source = match asked.source {
        Some(source) if source.is_ipv4() != target.is_ipv4() => {
            return refuse(format!("{source} and {target} are of two families"));
        }
        Some(source) if !is_own(core, vrf, port, source) => {
            return refuse(format!(
                "{source} is no address of this router in VRF {}",
                core.vrfs.name(vrf)
            ));
        }
        Some(source) => source,
        None => match source_of(core, vrf, &way, target) {
            Some(source) => source,
            None => {
                return refuse(format!(
                    "there is no address to ask {target} from: give a port one, or say `--source`"
                ));
            }
        },
    };
    Ok(Begins { source, vrf, port, rx })
}

/// Where requests to an address leave now.
pub(super) fn way_to(
    core: &Core,
    vrf: VrfId,
    target: IpAddr,
    port: Option<u16>,
) -> Result<Way, NoWay> {
    if let Some(id) = port {
        let row = core.dataplane.interfaces().get(id).ok_or(NoWay::NoRoute)?;
        let carries = core.port_of(id).is_some_and(|(_, port)| port.carries());
        let way = Way { interface: Some(id), next_hop: target, mtu: row.mtu_bytes };
        return if carries { Ok(way) } else { Err(NoWay::Down) };
    }
    if target.is_multicast() || target.is_unspecified() || target == Ipv4Addr::BROADCAST {
        return Err(NoWay::NoHost);
    }
    let routes = PacketRoutes::of_vrf(core.dataplane.vrfs(), vrf);
    let to = match target {
        IpAddr::V4(target) => routes.to(u32::from(target)),
        IpAddr::V6(target) => routes.to(u128::from(target)),
    };
    follow(core, to, target)
}

fn follow(core: &Core, to: Forward, target: IpAddr) -> Result<Way, NoWay> {
    let is = |kind: Kind| to.kind() == kind as u8;
    if is(Kind::Rewrite) {
        let entry = core.dataplane.adjacencies.entry(AdjacencyId(to.id())).ok_or(NoWay::NoRoute)?;
        let (fields, next_hop) = (entry.fields(), entry.next_hop());
        return Ok(Way { interface: Some(fields.interface()), next_hop, mtu: fields.mtu() });
    }
    if is(Kind::Glean) {
        let id = to.id() as u16;
        let row = core.dataplane.interfaces().get(id).ok_or(NoWay::NoRoute)?;
        return Ok(Way { interface: Some(id), next_hop: target, mtu: row.mtu_bytes });
    }
    if is(Kind::Local) {
        return Ok(Way { interface: None, next_hop: target, mtu: u16::MAX });
    }
    if is(Kind::Group) {
        let members = core.dataplane.groups.members(GroupId(to.id()));
        let mut ways = members.into_iter().map(|(member, _)| follow(core, member, target));
        return ways.next().unwrap_or(Err(NoWay::NoRoute));
    }
    Err(if is(Kind::Blackhole) {
        NoWay::Blackhole
    } else if is(Kind::Unreachable) {
        NoWay::Unreachable
    } else if is(Kind::Prohibit) {
        NoWay::Prohibit
    } else if is(Kind::Link) || is(Kind::Martian) {
        NoWay::NoHost
    } else {
        NoWay::NoRoute
    })
}

fn port_named(core: &Core, name: &str) -> Result<u16, EngineError> {
    core.port_named(name).map(|port| port.id)
}

fn is_link_local(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if ipv6::is_link_local(address.into()))
}

/// Whether an address is the router's own, in a VRF or on a link.
fn is_own(core: &Core, vrf: VrfId, port: Option<u16>, address: IpAddr) -> bool {
    let routes = PacketRoutes::of_vrf(core.dataplane.vrfs(), vrf);
    match address {
        IpAddr::V4(address) => routes.are_ours(u32::from(address)),
        IpAddr::V6(address) if ipv6::is_link_local(address.into()) => port
            .and_then(|id| core.dataplane.interfaces().get(id))
            .is_some_and(|row| row.has_ip6(address.into())),
        IpAddr::V6(address) => routes.are_ours(u128::from(address)),
    }
}

/// The address that requests come from: of the port by which they leave, as towards its neighbour;
/// else of any in the VRF.
fn source_of(core: &Core, vrf: VrfId, way: &Way, target: IpAddr) -> Option<IpAddr> {
    let interfaces = core.dataplane.interfaces();
    let Some(id) = way.interface else { return Some(target) };
    let row = interfaces.get(id)?;
    let mut others =
        interfaces.all().filter(|row| row.vrf == vrf && row.mode == Mode::Routed && row.up);
    match (target, way.next_hop) {
        (IpAddr::V4(_), IpAddr::V4(next_hop)) => {
            let own = row.ip4_towards(next_hop.into());
            own.or_else(|| others.find_map(Interface::primary_ip4))
        }
        // RFC 8950: IPv4 over a neighbour of IPv6.
        (IpAddr::V4(_), IpAddr::V6(_)) => {
            row.primary_ip4().or_else(|| others.find_map(Interface::primary_ip4))
        }
        (IpAddr::V6(target), _) => {
            let own = row.ip6_towards(target.into());
            let own = own.or_else(|| others.find_map(|row| row.ip6_towards(target.into())));
            return own.map(|own| Ipv6Addr::from(own).into());
        }
    }
    .map(|own| Ipv4Addr::from(own).into())
}
