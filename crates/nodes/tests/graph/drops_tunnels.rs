//! The packets that meet each reason for a drop around tunnels: malformed, unknown, too long,
//! without a way, inside each other.

use crate::drops::{Play, route_by};
use crate::rig::*;
use nodes::interface::{
    ForCopies, MirrorTo, mirror_input::MirrorInput, mirror_output::MirrorOutput,
};
use nodes::tables::{Ends, Injected, InterfaceId, Link, Mode, Tunnel, Wrap};
use std::net::{IpAddr, Ipv6Addr};
use wire::craft::{self, Craft, Ipv4, Ipv6};

pub(crate) fn from_far() -> Craft<Ipv4> {
    craft::ethernet(HOST_MAC, our_mac(0)).ipv4(FAR, US)
}

fn from_far6() -> Craft<Ipv6> {
    craft::ethernet(HOST_MAC, our_mac(0)).ipv6(FAR6, US6)
}

fn vxlan(flags: u8, vni: u8, inner: usize) -> Vec<u8> {
    [&[flags, 0, 0, 0, 0, 0, vni, 0][..], &vec![2; inner]].concat()
}

fn in_vxlan(flags: u8, vni: u8, inner: usize) -> Vec<u8> {
    from_far().udp(50_000, 4789).payload(&vxlan(flags, vni, inner)).build()
}

fn in_gre(flags: u16, kind: u16) -> Vec<u8> {
    let data = [&flags.to_be_bytes()[..], &kind.to_be_bytes(), &GRE_KEY.to_be_bytes()].concat();
    from_far().protocol(47).payload(&data).build()
}

fn broadcast() -> Vec<u8> {
    craft::ethernet(HOST_MAC, [255; 6]).build()
}

/// Gives a tunnel other ends.
pub(crate) fn lead(rig: &mut Rig, id: u16, local: impl Into<IpAddr>, remote: impl Into<IpAddr>) {
    let ends = Ends::new(local.into(), remote.into()).unwrap();
    rig.change_interface(id, |row| {
        if let Link::Tunnel(tunnel) = &mut row.link {
            tunnel.key.ends = ends;
        }
    });
}

/// Has a frame of so many bytes leave by tunnel `id`, and nothing else.
fn send_by(rig: &mut Rig, id: u16, bytes: usize) {
    rig.change_interface(2, |row| row.mode = Mode::CrossConnect(InterfaceId(id)));
    rig.receive(2, vec![2; bytes]);
}

/// Has what interface `id` receives and sends copied to who listens far away.
pub(crate) fn copy_far(rig: &mut Rig, id: u16) {
    rig.change_interface(ERSPAN, |row| row.put(Some(ForCopies)));
    rig.change_interface(id, |row| {
        row.set::<MirrorInput>(Some(MirrorTo(ERSPAN)));
        row.set::<MirrorOutput>(Some(MirrorTo(ERSPAN)));
    });
}

/// Has a packet that must not be cut leave by tunnel `id`, longer than the way carries.
pub(crate) fn send_long(rig: &mut Rig, id: u16) {
    route_by(rig, 14, 1400);
    rig.change_interface(2, |row| row.mode = Mode::CrossConnect(InterfaceId(id)));
    let packet = craft::ethernet([2; 6], [4; 6]).ipv4(HOST, FAR).dont_fragment();
    rig.receive(2, packet.udp(1, 2).payload_len(1400).build());
}

/// Has a packet come to a tunnel of Geneve.
fn receive_geneve(rig: &mut Rig, first: u8, flags: u8) {
    rig.change_interface(VXLAN, |row| {
        if let Link::Tunnel(tunnel) = &mut row.link {
            tunnel.key.wrap = Wrap::geneve(42);
        }
    });
    let header = [first, flags, 0x65, 0x58, 0, 0, 42, 0];
    let payload = [&header[..], &[7; 60]].concat();
    rig.receive(0, from_far().udp(50_000, 6081).payload(&payload).build());
}

fn address(text: &str) -> Ipv6Addr {
    text.parse().unwrap()
}

pub(crate) fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("interface-enter/unknown-version", |rig| {
            rig.change_interface(GRE_LINK, |row| row.set::<MirrorInput>(Some(MirrorTo(5))));
            let gre = [0x20, 0, 8, 0, 0, 0, 0, GRE_LINK_KEY as u8, 0x50];
            rig.receive(0, from_far().protocol(47).payload(&gre).build());
        }),
        ("interface-enter/not-routed", |rig| {
            rig.change_interface(GRE_LINK, |row| {
                row.set::<MirrorInput>(Some(MirrorTo(5)));
                row.routes = false;
            });
            rig.receive(0, out_of_gre());
        }),
        ("tunnel-decap/not-routed", |rig| {
            rig.change_interface(GRE_LINK, |row| row.routes = false);
            rig.receive(0, out_of_gre());
        }),
        ("tunnel-encap/no-headroom", |rig| {
            rig.receive_as(
                BESIDE_TUNNELS,
                Incoming { bytes: broadcast(), segments: 1, headroom: 0 },
            );
        }),
        ("tunnel-encap/no-packet", |rig| {
            rig.inject(&[0xff; 60], |packet| Injected::Frame { interface: GRE_LINK, packet });
        }),
        ("tunnel-decap/truncated", |rig| rig.receive(0, from_far().udp(1, 4789).build())),
        ("tunnel-decap/bad-vxlan-flags", |rig| rig.receive(0, in_vxlan(0, 42, 14))),
        ("tunnel-decap/unknown-tunnel", |rig| rig.receive(0, in_vxlan(8, 43, 14))),
        ("tunnel-decap/inner-runt", |rig| rig.receive(0, in_vxlan(8, 42, 13))),
        ("tunnel-decap/bad-gre-header", |rig| rig.receive(0, in_gre(0x4000, 0x6558))),
        ("tunnel-decap/bad-geneve-header", |rig| receive_geneve(rig, 0x40, 0)),
        ("tunnel-decap/critical-options", |rig| receive_geneve(rig, 0, 0x40)),
        ("tunnel-decap/wrong-payload", |rig| rig.receive(0, in_gre(0x2000, 0x0800))),
        ("tunnel-decap/wrong-version", |rig| {
            rig.receive(0, from_far().protocol(4).payload(&[0x60; 40]).build());
        }),
        ("tunnel-decap/no-checksum", |rig| {
            let bare = from_far6().udp(50_000, 4789).checksum(0);
            rig.receive(0, bare.payload(&vxlan(8, 42, 14)).build());
        }),
        ("tunnel-decap/congested", |rig| {
            let inside = craft::ethernet([2; 6], [4; 6]).ipv4(1, 2).udp(3, 4).build();
            let data = [&vxlan(8, 42, 0)[..], &inside].concat();
            rig.receive(0, from_far().tos(3).udp(50_000, 4789).payload(&data).build());
        }),
        ("tunnel-decap/new-remote", |rig| {
            let ends = Ends::new(US.into(), [0; 4].into()).unwrap();
            let hub = Tunnel { learns: true, ..Tunnel::new(Wrap::vxlan(42), ends) };
            rig.change_interface(VXLAN, |row| row.link = Link::Tunnel(hub));
            rig.receive(0, in_vxlan(8, 42, 14));
        }),
        ("tunnel-decap/interface-down", |rig| {
            rig.change_interface(VXLAN, |row| row.up = false);
            rig.receive(0, in_vxlan(8, 42, 14));
        }),
        ("tunnel-decap/nested", |rig| {
            let inside = craft::ipv4(INSIDE_GRE, US).udp(1, 4789).payload(&vxlan(8, 42, 14));
            let gre = [&[0x20, 0, 8, 0, 0, 0, 0, GRE_LINK_KEY as u8][..], &inside.build()].concat();
            rig.receive(0, from_far().protocol(47).payload(&gre).build());
        }),
        ("tunnel-encap/no-route", |rig| {
            lead(rig, VXLAN, US, [172, 16, 0, 1]);
            send_by(rig, VXLAN, 60);
        }),
        ("tunnel-encap/to-ourselves", |rig| {
            lead(rig, VXLAN, US, US);
            rig.receive(BESIDE_TUNNELS, broadcast());
        }),
        ("tunnel-encap/no-remote", |rig| {
            rig.change_interface(VXLAN, |row| {
                if let Link::Tunnel(tunnel) = &mut row.link {
                    tunnel.is_directed = true;
                }
            });
            rig.inject(&broadcast(), |packet| Injected::Frame { interface: VXLAN, packet });
        }),
        ("tunnel-encap/no-local", |rig| {
            rig.change_interface(VXLAN, |row| {
                if let Link::Tunnel(tunnel) = &mut row.link {
                    tunnel.key.ends = tunnel.key.ends.with_any_local();
                }
            });
            (0..=BESIDE_BOND).for_each(|id| rig.change_interface(id, |row| row.ip4.clear()));
            rig.receive(BESIDE_TUNNELS, broadcast());
        }),
        ("tunnel-too-big/untellable", |rig| {
            lead(rig, VXLAN, US, [10, 5, 0, 1]);
            send_by(rig, VXLAN, 200);
        }),
        ("tunnel-too-big/copy-too-long", |rig| {
            copy_far(rig, 2);
            route_by(rig, 14, 80);
            rig.receive(2, craft::ethernet(HOST_MAC, [4; 6]).ethertype(0x88b5).pad_to(60).build());
        }),
        ("tunnel-too-big/no-headroom", |rig| {
            route_by(rig, 14, 1400);
            rig.change_interface(2, |row| row.mode = Mode::CrossConnect(InterfaceId(GRE)));
            let bytes = craft::ethernet([2; 6], [4; 6]).ipv6(HOST6, FAR6);
            let bytes = bytes.udp(1, 2).payload_len(1400).build();
            rig.receive_as(2, Incoming { bytes, segments: 1, headroom: 28 });
        }),
        ("icmp4-error/tunnel-unreachable", |rig| {
            let own = craft::ipv4(US, FAR).udp(50_000, 4789).build();
            rig.inject(&own, |packet| Injected::Unreachable { rx: VXLAN, packet });
        }),
        ("icmp6-error/tunnel-unreachable", |rig| {
            let own = craft::ipv6(US6, FAR6).udp(50_000, 4789).build();
            rig.inject(&own, |packet| Injected::Unreachable { rx: VXLAN6, packet });
        }),
    ]
}

/// Drops that a tunnel over IPv6 and one of packets meet as those above do.
#[test]
fn tunnels_of_every_kind_come_to_an_end() {
    let plays: [(&str, Play); 9] = [
        ("tunnel-decap/unknown-tunnel", |rig| {
            lead(rig, IPIP, US, [172, 16, 0, 1]);
            let inside = craft::ipv4(INSIDE_IPIP, HOST).udp(1, 2).build();
            rig.receive(0, from_far().protocol(4).payload(&inside).build());
        }),
        ("tunnel-decap/wrong-version", |rig| {
            rig.receive(0, from_far6().next_header(41).payload(&[0x45; 20]).build());
        }),
        ("tunnel-too-big/untellable", |rig| {
            lead(rig, VXLAN6, US6, address("2001:db8:a:5::1"));
            send_by(rig, VXLAN6, 1300);
        }),
        ("tunnel-encap/to-ourselves", |rig| {
            lead(rig, VXLAN6, US6, US6);
            rig.receive(BESIDE_TUNNELS, broadcast());
        }),
        ("tunnel-encap/to-ourselves", |rig| {
            lead(rig, GRE_LINK, US, US);
            rig.receive(0, to_inside_gre());
        }),
        // The way to the other end leads through the tunnel itself.
        ("tunnel-encap/no-headroom", |rig| {
            let forward = fib::Forward::new(nodes::tables::Kind::Rewrite as u8, OVER_GRE);
            rig.dataplane.ip4.insert("10.0.0.9/32".parse().unwrap(), forward).unwrap();
            rig.receive(0, to_inside_gre());
        }),
        ("tunnel-decap/bad-vxlan-flags", |rig| {
            rig.receive(0, from_far6().udp(50_000, 4789).payload(&vxlan(0, 42, 14)).build());
        }),
        ("tunnel-decap/inner-runt", |rig| {
            rig.receive(0, from_far6().udp(50_000, 4789).payload(&vxlan(8, 42, 13)).build());
        }),
        ("tunnel-decap/unknown-tunnel", |rig| {
            rig.receive(0, from_far6().next_header(47).payload(&[0, 0, 0x65, 0x58]).build());
        }),
    ];
    for (reason, play) in plays {
        let mut rig = Rig::new();
        play(&mut rig);
        rig.run();
        assert_eq!(rig.drops(), [(reason.to_owned(), 1)]);
        rig.settle();
    }
}

/// A packet out of the tunnel of packets, to be routed.
fn out_of_gre() -> Vec<u8> {
    let inside = craft::ipv4(INSIDE_GRE, HOST).udp(1, 2).build();
    let gre = [&[0x20, 0, 8, 0, 0, 0, 0, GRE_LINK_KEY as u8][..], &inside].concat();
    from_far().protocol(47).payload(&gre).build()
}

fn to_inside_gre() -> Vec<u8> {
    craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, INSIDE_GRE).udp(1, 2).build()
}
