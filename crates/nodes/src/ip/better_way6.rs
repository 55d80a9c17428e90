//! Whether the sender of an IPv6 packet has a better way than by us (RFC 4861 section 8.2).

use crate::ip::{PacketRoutes, leaves_by};
use crate::tables::{Interface, Kind};
use fib::adjacency::{AdjacencyId, AdjacencyTable};
use std::net::IpAddr;
use wire::ethernet::ethertype;
use wire::{ethernet, ipv6};

/// The better way for the sender of a frame that an interface received, if it has one: the
/// destination itself, or a router by its link-local address, as hosts know routers. Of a router
/// whose other addresses alone a route knows, nothing can be told.
pub(super) fn better_way6(
    frame: &[u8],
    row: &Interface,
    id: u16,
    routes: PacketRoutes<'_>,
    adjacencies: &AdjacencyTable,
) -> Option<u128> {
    let ethernet = ethernet::Header::new(frame).filter(|_| !row.carries_packets())?;
    if ethernet.ethertype() != ethertype::IPV6 || ethernet.destination().0 != row.mac {
        return None;
    }
    let header = ipv6::Header::new(&frame[ethernet::Header::LEN..])?;
    let (source, destination) = (header.source(), header.destination());
    let stays_on_link = ipv6::is_link_local(source) || ipv6::is_link_local(destination);
    if header.version() != 6 || stays_on_link || ipv6::is_multicast(destination) {
        return None;
    }
    let to = routes.to(destination);
    if leaves_by(to, adjacencies) != Some(id) {
        return None;
    }
    let gateway = match to.kind() == Kind::Rewrite as u8 {
        true => match adjacencies.entry(AdjacencyId(to.id()))?.next_hop() {
            IpAddr::V6(next_hop) => next_hop.to_bits(),
            IpAddr::V4(_) => return None,
        },
        false => destination,
    };
    let can_be_told = gateway == destination || ipv6::is_link_local(gateway);
    (can_be_told && gateway != source && row.reaches_ip6(source)).then_some(gateway)
}

#[cfg(test)]
mod tests {
    use crate::interface::InTurn;
    use crate::ip::redirect_input::{RedirectInput, Redirects};
    use crate::tables::{BetterWay6, Kind, Punt};
    use crate::testing::{
        FAR6, HOST_MAC, HOST6, LINK_HOST, TO_LINK_HOST, US6, World, link_local, our_mac,
    };
    use fib::Forward;
    use graph::harness::NodeHarness;
    use std::net::Ipv6Addr;
    use wire::craft;

    const NEIGHBOUR: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x77);

    fn to_us() -> craft::Craft<craft::Ethernet> {
        craft::ethernet(HOST_MAC, our_mac(0))
    }

    /// The better ways of senders whose frames came by interface 0.
    fn ways(frames: &[Vec<u8>]) -> Vec<BetterWay6> {
        let mut world = World::new();
        world.change_interface(0, |row| row.set::<RedirectInput>(Some(Redirects)));
        let by_router = Forward::new(Kind::Rewrite as u8, TO_LINK_HOST);
        let ip6 = &world.vrfs.get(Default::default()).unwrap().ip6;
        ip6.insert("2001:db8:f::/48".parse().unwrap(), by_router).unwrap();
        let mut node = NodeHarness::<InTurn<RedirectInput>>::new(&world.setup).unwrap();
        let out = node.run(frames, 0, 0);
        assert!(out.iter().all(|out| out.exit == "enter"));
        let punts = world.all_punts().into_iter().map(|punt| match punt {
            Punt::BetterWay6(way) => way,
            other => panic!("{other:?}"),
        });
        punts.collect()
    }

    #[test]
    fn a_neighbour_that_is_sent_back_to_its_own_link_is_noticed() {
        let direct = to_us().ipv6(NEIGHBOUR, HOST6).udp(1, 2).payload(&[7; 5]).build();
        let far: Ipv6Addr = "2001:db8:f::9".parse().unwrap();
        let by_router = to_us().ipv6(NEIGHBOUR, far).udp(1, 2).total_len(14 + 1400).build();
        let found = ways(&[direct.clone(), by_router.clone()]);
        let [one, other] = &found[..] else { panic!("{found:?}") };
        assert_eq!((one.interface, one.gateway, one.mac), (0, HOST6.into(), HOST_MAC));
        // In whole eights, as the option is.
        assert_eq!(one.packet.bytes(), &direct[14..14 + 48]);
        assert_eq!(
            (other.gateway, other.packet.bytes()),
            (LINK_HOST.into(), &by_router[14..14 + 1184])
        );
    }

    #[test]
    fn whoever_has_no_better_way_is_let_be() {
        let found = ways(&[
            // By another interface; to us; to itself; of another network; not to our station; to a
            // group; from and to the link alone; no IPv6; too short.
            to_us().ipv6(NEIGHBOUR, FAR6).udp(1, 2).build(),
            to_us().ipv6(NEIGHBOUR, US6).udp(1, 2).build(),
            to_us().ipv6(HOST6, HOST6).udp(1, 2).build(),
            to_us().ipv6(FAR6, HOST6).udp(1, 2).build(),
            craft::ethernet(HOST_MAC, [0x33, 0x33, 0, 0, 0, 1])
                .ipv6(NEIGHBOUR, HOST6)
                .udp(1, 2)
                .build(),
            to_us().ipv6(NEIGHBOUR, Ipv6Addr::from(wire::ipv6::ALL_NODES)).udp(1, 2).build(),
            to_us().ipv6(LINK_HOST, HOST6).udp(1, 2).build(),
            to_us().ipv6(NEIGHBOUR, link_local(0)).udp(1, 2).build(),
            to_us().ipv6(NEIGHBOUR, HOST6).version(4).udp(1, 2).build(),
            to_us().ipv6(NEIGHBOUR, HOST6).build()[..53].to_vec(),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }
}
