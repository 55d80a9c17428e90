//! Both ends of a packet of a tunnel that has not both for all its packets.
//!
//! ```text
//!  remote = "flow"    the other end that flows said of the packet
//!  local = "flow"     our end that flows said, else as without one
//!  no local           our address on the interface by which the packet leaves
//! ```
//! Headers and way are made for the ends of a packet, and stay for those behind it, in the same
//! vector, that go between the same ends.

use super::tunnel_encap::{Exit, exit_of};
use crate::tables::{Interface, Interfaces, Kind, Tunnel, Vrfs};
use crate::tunnel::TunnelHeaders;
use fib::Forward;
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use fib::ecmp::{EcmpTable, GroupId};
use packet::PacketView;
use std::net::IpAddr;

/// What leads a tunnel's packets to its other end.
#[derive(Clone, Copy)]
pub(super) struct Underlay<'a> {
    pub(super) interfaces: &'a Interfaces,
    pub(super) vrfs: &'a Vrfs,
    pub(super) adjacencies: &'a AdjacencyTable,
    pub(super) groups: &'a EcmpTable,
}

/// What ends are made of: the interface that a packet leaves by, and what flows said of it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Said {
    tx: u16,
    remote: Option<IpAddr>,
    local: Option<IpAddr>,
}

/// Headers and a way, or why there are none.
type Settled = Result<(TunnelHeaders, Forward), Exit>;

/// See the module.
pub(super) struct Settling<'a> {
    underlay: Underlay<'a>,
    last: Option<(Said, Settled)>,
}

impl<'a> Settling<'a> {
    pub(super) fn new(underlay: Underlay<'a>) -> Self {
        Self { underlay, last: None }
    }

    /// The headers and the way of a packet that is to leave by a tunnel.
    pub(super) fn of_packet(&mut self, packet: &PacketView<'_>, tunnel: &Tunnel) -> &Settled {
        let said = Said {
            tx: packet.tx(),
            remote: if tunnel.is_directed { packet.remote() } else { None },
            local: if tunnel.local_by_flows { packet.local() } else { None },
        };
        let Self { underlay, last } = self;
        if last.as_ref().is_some_and(|(last, _)| *last != said) {
            *last = None;
        }
        &last.get_or_insert_with(|| (said, underlay.settle(tunnel, said))).1
    }
}

impl Underlay<'_> {
    fn settle(&self, tunnel: &Tunnel, said: Said) -> Settled {
        let tunnel = match tunnel.is_directed {
            true => said.remote.and_then(|it| tunnel.directed(it)).ok_or(Exit::NoRemote)?,
            false => *tunnel,
        };
        let to = tunnel.way(self.vrfs);
        let exit = exit_of(&tunnel, to);
        let is_way = matches!(exit, Exit::Rewrite4 | Exit::Rewrite6 | Exit::Resolve);
        if !is_way && to.kind() != Kind::Group as u8 {
            return Err(exit);
        }
        if tunnel.key.ends.has_local() {
            return Ok((TunnelHeaders::new(tunnel), to));
        }
        let said = said.local.filter(|it| !it.is_unspecified());
        let local = said.or_else(|| self.our_end(&tunnel, to)).ok_or(Exit::NoLocal)?;
        let tunnel = tunnel.leaving_from(local).ok_or(Exit::NoLocal)?;
        Ok((TunnelHeaders::new(tunnel), to))
    }

    /// Our address on the interface by which packets leave, as the next hop sees it; of several
    /// next hops that of the first, so that the other end sees one. Where that interface has none,
    /// as one without an address of that family, any of its VRF.
    fn our_end(&self, tunnel: &Tunnel, to: Forward) -> Option<IpAddr> {
        let first = match to.kind() == Kind::Group as u8 {
            true => self.groups.each(GroupId(to.id())).next()?,
            false => to,
        };
        let remote = tunnel.key.ends.remote();
        let (leaves_by, next_hop) = match first.kind() == Kind::Glean as u8 {
            true => (first.id() as u16, remote),
            false => {
                let entry = self.adjacencies.entry(AdjacencyId(first.id()))?;
                (entry.fields().interface(), entry.next_hop())
            }
        };
        // A next hop of IPv6 (RFC 8950) tells nothing of which address of IPv4 is near it.
        let peer = if remote.is_ipv4() && next_hop.is_ipv4() { next_hop } else { remote };
        let towards = |row: &Interface| match peer {
            IpAddr::V4(peer) => row.ip4_towards(peer.into()).map(|own| IpAddr::V4(own.into())),
            IpAddr::V6(peer) => row.ip6_towards(peer.into()).map(|own| IpAddr::V6(own.into())),
        };
        let beside = || self.interfaces.all().filter(|row| row.vrf == tunnel.underlay);
        let own = self.interfaces.get(leaves_by).and_then(towards);
        own.or_else(|| beside().find_map(towards))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Link;
    use crate::testing::{
        FAR, FAR6, HOST, HOST_MAC, TO_GATEWAY, TO_HOST, US, US_OUTSIDE, US6, US6_OUTSIDE, VXLAN,
        World, member,
    };
    use crate::tunnel::TunnelEncap;
    use graph::harness::NodeHarness;
    use std::net::Ipv4Addr;
    use wire::craft;

    /// Where a packet goes, and from which address, by the VXLAN tunnel as it is changed; flows say
    /// these ends of it.
    fn sent(
        world: &mut World,
        change: impl Fn(&mut Tunnel),
        [remote, local]: [Option<IpAddr>; 2],
    ) -> (String, Option<[u8; 4]>) {
        world.change_interface(VXLAN, |row| {
            let Link::Tunnel(tunnel) = &mut row.link else { unreachable!() };
            tunnel.key.ends = tunnel.key.ends.with_any_local();
            change(tunnel);
        });
        let frame = craft::ethernet(HOST_MAC, [4; 6]).ipv4(HOST, FAR).udp(1, 2).build();
        let mut node = NodeHarness::<TunnelEncap>::new(&world.setup).unwrap();
        let out = node.run_prepared(&[frame], 0, 0, |frame| {
            frame.tx_mut()[0] = VXLAN;
            frame.view(0).set_remote(remote);
            frame.view(0).set_local(local);
        });
        let source = out[0].header.get(12..16).filter(|_| out[0].header[0] == 0x45);
        (out[0].exit.clone(), source.map(|it| *it.first_chunk().unwrap()))
    }

    fn to(remote: [u8; 4]) -> impl Fn(&mut Tunnel) {
        move |tunnel| {
            tunnel.key.ends = tunnel.key.ends.with_remote(Ipv4Addr::from(remote).into()).unwrap();
        }
    }

    fn by_flows(tunnel: &mut Tunnel) {
        tunnel.key.ends = tunnel.key.ends.with_any_remote();
        (tunnel.is_directed, tunnel.local_by_flows) = (true, true);
    }

    #[test]
    fn a_packet_leaves_from_our_address_on_the_interface_that_it_leaves_by() {
        let mut world = World::new();
        for (remote, exit, source) in [
            (FAR, "rewrite4", US_OUTSIDE),
            (HOST, "rewrite4", US),
            ([198, 51, 100, 77], "resolve", US_OUTSIDE),
        ] {
            let sent = sent(&mut world, to(remote), [None; 2]);
            assert_eq!(sent, (exit.to_owned(), Some(source)));
        }
        // Of several next hops always from one.
        let groups = &world.setup.shared.groups;
        groups.set_members(GroupId(0), &[member(TO_HOST, 1), member(TO_GATEWAY, 1)]).unwrap();
        let (exit, source) = sent(&mut world, to([10, 6, 0, 1]), [None; 2]);
        assert!(exit == "rewrite4" && [US, US_OUTSIDE].contains(&source.unwrap()));
        for (remote, exit) in [(US, "to-ourselves"), ([172, 16, 0, 1], "no-route")] {
            assert_eq!(sent(&mut world, to(remote), [None; 2]).0, exit);
        }
    }

    #[test]
    fn where_that_interface_has_no_address_another_one_of_its_vrf_is_taken() {
        let mut world = World::new();
        world.change_interface(1, |row| row.ip4.clear());
        assert_eq!(sent(&mut world, to(FAR), [None; 2]).1, Some(US));
        for id in 0..world.interfaces.all().count() as u16 {
            world.change_interface(id, |row| row.ip4.clear());
        }
        assert_eq!(sent(&mut world, to(FAR), [None; 2]).0, "no-local");
    }

    #[test]
    fn flows_may_say_both_ends() {
        let [far, us, none] = [FAR, US, [0; 4]].map(|it| Some(IpAddr::from(it)));
        let mut world = World::new();
        for (ends, exit, source) in [
            ([far, us], "rewrite4", Some(US)),
            ([far, none], "rewrite4", Some(US_OUTSIDE)),
            ([far, None], "rewrite4", Some(US_OUTSIDE)),
            ([none, us], "no-remote", None),
            ([far, Some(US6.into())], "no-local", None),
        ] {
            let (said, from) = sent(&mut world, by_flows, ends);
            assert_eq!(said, exit, "{ends:?}");
            assert!(source.is_none() || from == source, "{ends:?}");
        }
        // Over IPv6 likewise, with the sums that are wanted there.
        world.change_interface(VXLAN, |row| {
            let Link::Tunnel(tunnel) = &mut row.link else { unreachable!() };
            by_flows(tunnel);
        });
        let frame = craft::ethernet(HOST_MAC, [4; 6]).ipv4(HOST, FAR).udp(1, 2).build();
        let mut node = NodeHarness::<TunnelEncap>::new(&world.setup).unwrap();
        let out = node.run_prepared(&[frame], 0, 0, |frame| {
            frame.tx_mut()[0] = VXLAN;
            frame.view(0).set_remote(Some(FAR6.into()));
            frame.view(0).set_local(None);
        });
        assert_eq!(out[0].exit, "rewrite6");
        assert_eq!(out[0].header[8..24], US6_OUTSIDE.octets());
        assert_ne!(out[0].header[46..48], [0, 0], "a UDP checksum");
    }

    #[test]
    fn packets_of_one_vector_each_have_their_own_ends() {
        let mut world = World::new();
        world.change_interface(VXLAN, |row| {
            let Link::Tunnel(tunnel) = &mut row.link else { unreachable!() };
            tunnel.key.ends = tunnel.key.ends.with_any_local();
            by_flows(tunnel);
        });
        let frame = craft::ethernet(HOST_MAC, [4; 6]).ipv4(HOST, FAR).udp(1, 2).build();
        let ends = [(FAR, US), (FAR, US), (HOST, US), (FAR, US_OUTSIDE), (HOST, US)];
        let mut node = NodeHarness::<TunnelEncap>::new(&world.setup).unwrap();
        let out = node.run_prepared(&vec![frame; ends.len()], 0, 0, |frame| {
            frame.tx_mut().fill(VXLAN);
            for (at, (remote, local)) in ends.into_iter().enumerate() {
                frame.view(at).set_remote(Some(remote.into()));
                frame.view(at).set_local(Some(local.into()));
            }
        });
        let led = out.iter().map(|out| (out.header[16..20].to_vec(), out.header[12..16].to_vec()));
        let wanted = ends.map(|(remote, local)| (remote.to_vec(), local.to_vec()));
        assert_eq!(led.collect::<Vec<_>>(), wanted);
    }
}
