//! Every reason that senders are told has a packet that meets it, and the message that comes back
//! is right to the octet.

use crate::answers6;
use crate::drops_policy::by_red;
use crate::nat64::{behind, crossing};
use crate::rig::*;
use nodes::tables::{Injected, KEPT_BYTES, Kind};
use std::collections::BTreeSet;
use wire::craft::{self, Craft, Ipv4};
use wire::{ip, udp};

/// How a packet comes to where it is refused.
pub(crate) enum Way {
    /// Interface 0 receives it.
    Link,
    /// It waited for a next hop, and that did not answer.
    NoNeighbor,
    /// It is a first piece, and the others did not come.
    NoOthers,
}

/// A packet from the host that goes no further.
pub(crate) struct Refused {
    pub(crate) reason: &'static str,
    /// What the usual router is changed to.
    pub(crate) before: fn(&mut Rig),
    pub(crate) way: Way,
    /// Without a link's header.
    pub(crate) packet: Vec<u8>,
    /// Type, code, and octets 4 to 7 of the message.
    pub(crate) told: (u8, u8, [u8; 4]),
}

/// One that the usual router receives.
pub(crate) fn refused(reason: &'static str, packet: Vec<u8>, told: (u8, u8, [u8; 4])) -> Refused {
    Refused { reason, before: |_| (), way: Way::Link, packet, told }
}

fn to(target: [u8; 4]) -> Craft<Ipv4> {
    craft::ipv4(HOST, target)
}

/// An outer address that is not ours.
const OUTER: [u8; 4] = [203, 0, 113, 99];

/// The host is outside, and somebody inside has spoken with it.
fn speak_from_outside(rig: &mut Rig) {
    crossing(rig, |nat| {
        nat.inside = vec![1];
        nat.pool.addresses = vec![u32::from_be_bytes(OUTER)..=u32::from_be_bytes(OUTER)];
        nat.own = Vec::new();
    });
    let frame = craft::ethernet(GATEWAY_MAC, our_mac(1)).ipv6(FAR6, behind(HOST));
    rig.receive(1, frame.udp(4000, 53).build());
    rig.run();
    assert_eq!(rig.sent(0).len(), 1);
}

fn answers4() -> Vec<Refused> {
    let plain = |target| to(target).udp(1, 2).build();
    let lisp = |port| to(US).udp(50_000, port).payload_len(20).build();
    let (net, host, protocol, port) =
        ((3, 0, [0; 4]), (3, 1, [0; 4]), (3, 2, [0; 4]), (3, 3, [0; 4]));
    let prohibited = (3, 13, [0; 4]);
    let long = to([10, 5, 0, 1]).dont_fragment().udp(1, 2).payload_len(200).build();
    let odd = to(FAR).option(7, &[3, 0, 0, 0, 0]).udp(1, 2).build();
    let waited = plain([10, 4, 0, 1]);
    let first_piece = to(US).fragment(0, true).udp(1, 2).build();
    vec![
        refused("ip4-lookup/no-route", plain([172, 16, 0, 1]), net),
        refused("ip4-lookup/unreachable", plain([10, 2, 0, 1]), host),
        refused("ip4-lookup/prohibit", plain([10, 3, 0, 1]), prohibited),
        refused("ip4-rewrite/ttl-expired", to(FAR).ttl(1).udp(1, 2).build(), (11, 0, [0; 4])),
        refused("ip4-rewrite/fragmentation-needed", long, (3, 4, [0, 0, 0, 100])),
        refused("ip4-options/parameter-problem", odd, (12, 0, [22, 0, 0, 0])),
        refused("ip4-local/unknown-protocol", to(US).protocol(132).build(), protocol),
        refused("udp4-local/port-unreachable", plain(US), port),
        refused("lisp-decap/unreachable4", lisp(udp::port::LISP_DATA), port),
        refused("lisp-control/unreachable4", lisp(udp::port::LISP_CONTROL), port),
        Refused {
            before: speak_from_outside,
            ..refused(
                "nat64-input/ttl-expired",
                to(OUTER).ttl(1).udp(53, 4000).build(),
                (11, 0, [0; 4]),
            )
        },
        Refused {
            before: |rig| by_red(rig, Kind::Unreachable),
            ..refused("ip4-policy/unreachable", plain(FAR), host)
        },
        Refused {
            before: |rig| by_red(rig, Kind::Prohibit),
            ..refused("ip4-policy/prohibit", plain(FAR), prohibited)
        },
        Refused { way: Way::NoNeighbor, ..refused("inject/unreachable4", waited, host) },
        Refused { way: Way::NoOthers, ..refused("inject/late4", first_piece, (11, 1, [0; 4])) },
    ]
}

/// Has the packet come in; what of it is kept, then.
fn come(rig: &mut Rig, refused: &Refused) -> Vec<u8> {
    let packet = &refused.packet;
    match refused.way {
        Way::Link => {
            let ethertype = if ip::version(packet) == 4 { 0x0800 } else { 0x86dd };
            let frame = craft::ethernet(HOST_MAC, our_mac(0)).ethertype(ethertype);
            let frame = frame.payload(packet).build();
            rig.receive(0, frame.clone());
            return frame;
        }
        Way::NoNeighbor => rig.inject(packet, |packet| Injected::Unreachable { rx: 0, packet }),
        Way::NoOthers => rig.inject(packet, |packet| Injected::Late { rx: 0, packet }),
    }
    packet.clone()
}

/// What the host is told.
fn message(refused: &Refused) -> Vec<u8> {
    let (packet, (kind, code, rest)) = (&refused.packet, refused.told);
    let to_host = craft::ethernet(our_mac(0), HOST_MAC);
    if ip::version(packet) == 4 {
        let ours = to_host.ipv4(US, HOST).ttl(64).tos(0xc0).identification(1);
        return ours.icmp4(kind, code, rest).payload(packet).build();
    }
    let quoted = &packet[..packet.len().min(1280 - 48)];
    // Who speaks by the link's addresses is answered by them.
    let is_of_link = packet[8..24] == LINK_HOST.octets();
    let (us, host) = if is_of_link { (link_local(0), LINK_HOST) } else { (US6, HOST6) };
    to_host.ipv6(us, host).hop_limit(64).icmp6(kind, code, rest).payload(quoted).build()
}

#[test]
fn every_reason_that_is_told_has_a_packet_that_meets_it() {
    let mut met = BTreeSet::new();
    for refused in answers4().into_iter().chain(answers6::answers()) {
        let reason = refused.reason.to_owned();
        let mut rig = Rig::new();
        (refused.before)(&mut rig);
        let mut kept = come(&mut rig, &refused);
        kept.truncate(KEPT_BYTES);
        rig.run();
        assert_eq!(rig.sent(0), [message(&refused)], "{reason}");
        assert!((1..rows().len() as u16).all(|id| rig.sent(id).is_empty()), "{reason}");
        assert_eq!((rig.answered(), rig.drops()), (vec![(reason.clone(), 1)], vec![]));
        assert_eq!(rig.last_dropped(), [(reason.clone(), kept)]);
        rig.settle();
        assert!(met.insert(reason.clone()), "{reason} twice");
    }
    let layout = Rig::new().dataplane.layout;
    let told = layout.reasons.iter().filter(|reason| reason.answer.is_some());
    let all: BTreeSet<_> = told.map(|it| format!("{}/{}", it.node, it.exit)).collect();
    assert_eq!(met, all);
}
