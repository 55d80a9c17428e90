//! The packets that meet each reason that senders are told in the IPv6 nodes.

use crate::answers::{Refused, Way, refused};
use crate::drops_policy::by_red;
use crate::nat64::{behind, crossing};
use crate::rig::*;
use nodes::tables::Kind;
use std::net::Ipv6Addr;
use wire::craft::{self, Craft, Ipv6};
use wire::ip::protocol;
use wire::udp;

fn to(target: Ipv6Addr) -> Craft<Ipv6> {
    craft::ipv6(HOST6, target)
}

/// A piece of a datagram to us.
fn piece(offset: usize, more: bool, len: usize) -> Vec<u8> {
    let header = to(US6).fragment_header(offset, more, 7).next_header(protocol::UDP);
    header.payload(&vec![7; len]).build()
}

pub(crate) fn answers() -> Vec<Refused> {
    let plain = |target: &str| to(target.parse().unwrap()).udp(1, 2).build();
    let lisp = |port| to(US6).udp(50_000, port).payload_len(20).build();
    let (no_route, prohibited, port) = ((1, 0, [0; 4]), (1, 1, [0; 4]), (1, 4, [0; 4]));
    let at = |octet: u8| [0, 0, 0, octet];
    let long = to("2001:db8:a:5::1".parse().unwrap()).udp(1, 2).payload_len(1233).build();
    let hops = to(FAR6).hop_by_hop(&[0x80, 0]).udp(1, 2).build();
    let option = to(US6).destination_options(&[0x80, 0]).udp(1, 2).build();
    let routed = to(US6).routing(&[0, 1, 0, 0, 0, 0]).build();
    let headless = to(US6).fragment_header(0, true, 7).destination_options(&[]);
    let headless = headless.next_header(protocol::UDP).build();
    let first_piece = to(US6).fragment_header(0, true, 7).udp(1, 2).build();
    let from_link = craft::ipv6(LINK_HOST, FAR6).udp(1, 2).build();
    vec![
        refused("ip6-lookup/no-route", plain("3fff::1"), no_route),
        refused("ip6-lookup/unreachable", plain("2001:db8:a:2::1"), no_route),
        refused("ip6-lookup/prohibit", plain("2001:db8:a:3::1"), prohibited),
        refused(
            "ip6-rewrite/hop-limit-exceeded",
            to(FAR6).hop_limit(1).udp(1, 2).build(),
            (3, 0, [0; 4]),
        ),
        refused("ip6-rewrite/too-big", long, (2, 0, [0, 0, 5, 0])),
        refused("ip6-link/beyond-scope", from_link, (1, 2, [0; 4])),
        refused("ip6-hop-by-hop/unknown-option", hops, (4, 2, at(42))),
        refused("ip6-local/unknown-option", option, (4, 2, at(42))),
        refused("ip6-local/unknown-next-header", to(US6).next_header(132).build(), (4, 1, at(6))),
        refused("ip6-local/routing-header", routed, (4, 0, at(42))),
        // Where the payload's length stands, and where the fragment's offset does.
        refused("ip-reassemble/not-whole-eights", piece(8, true, 9), (4, 0, at(4))),
        refused("ip-reassemble/too-long", piece(65_528, false, 8), (4, 0, at(42))),
        refused("ip-reassemble/headers-missing", headless, (4, 3, [0; 4])),
        refused("udp6-local/port-unreachable", to(US6).udp(1, 2).build(), port),
        refused("lisp-decap/unreachable6", lisp(udp::port::LISP_DATA), port),
        refused("lisp-control/unreachable6", lisp(udp::port::LISP_CONTROL), port),
        Refused {
            before: |rig| _ = crossing(rig, |_| ()),
            ..refused(
                "nat64-input/hop-limit-exceeded",
                to(behind(FAR)).hop_limit(1).udp(1, 2).build(),
                (3, 0, [0; 4]),
            )
        },
        Refused {
            before: |rig| by_red(rig, Kind::Unreachable),
            ..refused("ip6-policy/unreachable", to(FAR6).udp(1, 2).build(), no_route)
        },
        Refused {
            before: |rig| by_red(rig, Kind::Prohibit),
            ..refused("ip6-policy/prohibit", to(FAR6).udp(1, 2).build(), prohibited)
        },
        Refused {
            way: Way::NoNeighbor,
            ..refused("inject/unreachable6", plain("2001:db8:a:4::1"), (1, 3, [0; 4]))
        },
        Refused { way: Way::NoOthers, ..refused("inject/late6", first_piece, (3, 1, [0; 4])) },
    ]
}
