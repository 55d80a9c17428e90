//! ICMP errors about packets that are not forwarded, byte for byte.

use crate::rig::*;
use nodes::tables::KEPT_BYTES;
use wire::craft::{self, Craft, Ethernet};

fn from_host() -> Craft<Ethernet> {
    craft::ethernet(HOST_MAC, our_mac(0))
}

/// The error that must come back to the host for `frame`, and nothing else; why is counted, and
/// what it was about kept.
fn expect_error(reason: &str, frame: Vec<u8>, message_type: u8, code: u8, rest: [u8; 4]) {
    let mut rig = Rig::new();
    let error = craft::ethernet(our_mac(0), HOST_MAC).ipv4(US, HOST).ttl(64).tos(0xc0);
    let error = error.identification(1).icmp4(message_type, code, rest);
    let quoted = frame[14..].iter().take(548).copied().collect::<Vec<_>>();
    assert_eq!(rig.answer(0, frame.clone()), [(0, error.payload(&quoted).build())]);
    assert_eq!(rig.answered(), [(reason.to_owned(), 1)]);
    assert_eq!(
        rig.last_dropped(),
        [(reason.to_owned(), frame[..frame.len().min(KEPT_BYTES)].to_vec())]
    );
    rig.settle();
}

#[test]
fn the_time_to_live_ran_out() {
    for ttl in [0, 1] {
        expect_error(
            "ip4-rewrite/ttl-expired",
            from_host().ipv4(HOST, FAR).ttl(ttl).udp(1, 2).build(),
            11,
            0,
            [0; 4],
        );
    }
}

#[test]
fn no_route_leads_there() {
    expect_error(
        "ip4-lookup/no-route",
        from_host().ipv4(HOST, [172, 16, 0, 1]).udp(1, 2).build(),
        3,
        0,
        [0; 4],
    );
}

#[test]
fn the_route_says_unreachable_or_prohibited() {
    expect_error(
        "ip4-lookup/unreachable",
        from_host().ipv4(HOST, [10, 2, 0, 1]).udp(1, 2).build(),
        3,
        1,
        [0; 4],
    );
    expect_error(
        "ip4-lookup/prohibit",
        from_host().ipv4(HOST, [10, 3, 0, 1]).udp(1, 2).build(),
        3,
        13,
        [0; 4],
    );
}

#[test]
fn too_long_and_not_to_be_fragmented() {
    let packet = from_host().ipv4(HOST, [10, 5, 0, 1]).dont_fragment();
    expect_error(
        "ip4-rewrite/fragmentation-needed",
        packet.udp(1, 2).payload_len(200).build(),
        3,
        4,
        [0, 0, 0, 100],
    );
}

#[test]
fn a_long_packet_is_quoted_in_part() {
    let packet = from_host().ipv4(HOST, [172, 16, 0, 1]).tcp(1, 2).total_len(1514).build();
    expect_error("ip4-lookup/no-route", packet, 3, 0, [0; 4]);
}

#[test]
fn an_option_is_wrong() {
    let packet = from_host().ipv4(HOST, FAR).option(7, &[3, 0, 0, 0, 0]).udp(1, 2);
    expect_error("ip4-options/parameter-problem", packet.build(), 12, 0, [22, 0, 0, 0]);
}

#[test]
fn an_error_to_a_host_without_route_ends_there() {
    let mut rig = Rig::new();
    let nobody = from_host().ipv4([172, 16, 0, 1], [172, 16, 0, 2]).udp(1, 2).build();
    assert_eq!(rig.answer(0, nobody), []);
    // It, and the message about it.
    assert_eq!(rig.answered(), [("ip4-lookup/no-route".to_owned(), 2)]);
    assert_eq!(rig.drops(), [("icmp4-error/not-allowed".to_owned(), 1)]);
    rig.settle();
}
