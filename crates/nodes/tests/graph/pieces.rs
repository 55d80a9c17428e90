//! Packets to the router itself in pieces: where they go, and what comes of them.

use crate::rig::*;
use nodes::tables::{Injected, PieceCame, Punt};
use packet::Pool;
use wire::craft;

#[test]
fn a_piece_goes_to_the_control_thread_and_the_whole_packet_is_answered() {
    let mut rig = Rig::new();
    let frame = craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, US).fragment(8, false);
    let frame = frame.payload(b"piece").build();
    rig.receive(0, frame.clone());
    rig.run();
    let punts = rig.punts();
    let Ok([Punt::Piece(PieceCame { scope: 0, packet })]) = <[_; 1]>::try_from(punts) else {
        panic!("not one piece")
    };
    assert_eq!(packet.bytes(), &frame[14..]);
    rig.pool.cache().release_one(packet);
    let whole = craft::ipv4(HOST, US).icmp_echo(7, 1).payload_len(600).build();
    rig.inject(&whole, |packet| Injected::Whole { rx: 0, packet });
    rig.run();
    let reply = craft::ethernet(our_mac(0), HOST_MAC).ipv4(US, HOST).ttl(64).identification(1);
    assert_eq!(rig.sent(0), [reply.icmp_echo_reply(7, 1).payload_len(600).build()]);
    rig.settle();
}

#[test]
fn the_sender_hears_of_pieces_that_did_not_come() {
    let mut rig = Rig::new();
    let first = craft::ipv4(HOST, US).fragment(0, true).udp(1, 2).build();
    rig.inject(&first, |packet| Injected::Late { rx: 0, packet });
    let first6 = craft::ipv6(HOST6, US6).fragment_header(0, true, 7).udp(1, 2).build();
    rig.inject(&first6, |packet| Injected::Late { rx: 0, packet });
    rig.run();
    let error = craft::ethernet(our_mac(0), HOST_MAC).ipv4(US, HOST).ttl(64).tos(0xc0);
    let error = error.identification(1).icmp4(11, 1, [0; 4]).payload(&first).build();
    let error6 = craft::ethernet(our_mac(0), HOST_MAC).ipv6(US6, HOST6).hop_limit(64);
    let error6 = error6.icmp6(3, 1, [0; 4]).payload(&first6).build();
    // Which family goes first is the order of nodes.
    let mut sent = rig.sent(0);
    sent.sort();
    assert_eq!(sent, [error, error6]);
    rig.settle();
}
