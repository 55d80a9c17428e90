//! The packets that meet each reason for a drop around LISP: malformed, of nobody's instance, not
//! to be believed, to endpoints that nobody knows, and more than the control thread takes.
//!
//! ```text
//!  10.16/12 ── 5: LISP, instance 7 ┬ 10.20/16 ── locator FAR    10.26/16 ── a locator that is gone
//!                                  ├ 10.23/16 ── dropped        10.24/16 ── natively
//!                                  └ 10.27/16 ── nobody knows
//! ```

use crate::drops::Play;
use crate::drops_tunnels::from_far;
use crate::rig::*;
use fib::Forward;
use fib::adjacency::Adjacency;
use nodes::tables::{
    Ends, Injected, Inside, Kind, Link, Lisp, LispInstance, LispLink, LispSources, Tunnel, VrfId,
    VrfTables, Wrap,
};
use nodes::tunnel::TunnelHeaders;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use wire::craft;
use wire::{lisp, udp};

/// The interface of LISP.
const LISP: u16 = 5;
const INSTANCE: u32 = 7;
const NONCE: u32 = 0x00ab_cdef;
/// Endpoints of other sites.
const REMOTE: [u8; 4] = [10, 20, 0, 9];
const CLOSED: [u8; 4] = [10, 23, 0, 1];
const NATIVE: [u8; 4] = [10, 24, 0, 1];
const GONE: [u8; 4] = [10, 26, 0, 1];
const UNKNOWN: [u8; 4] = [10, 27, 0, 1];

/// Makes interface 5 one of LISP, and routes endpoints to it.
fn add_lisp(rig: &mut Rig) {
    let link = LispLink {
        instance: INSTANCE,
        underlay: VrfId::DEFAULT,
        local4: Some(u32::from_be_bytes(US)),
        local6: None,
        reencapsulates: false,
    };
    rig.change_interface(LISP, |row| row.link = Link::Lisp(link));
    let next_hop = std::net::Ipv4Addr::UNSPECIFIED.into();
    let over = Adjacency { interface: LISP, mtu: 1464, next_hop, rewrite: [0; 22], rewrite_len: 0 };
    let id = rig.dataplane.adjacencies.allocate(&over).unwrap();
    rig.dataplane.adjacencies.complete_as_is(id);
    let to_sites = Forward::new(Kind::Rewrite as u8, id.0);
    rig.dataplane.ip4.insert("10.16.0.0/12".parse().unwrap(), to_sites).unwrap();
    set_lisp(rig, FAR, None);
}

/// Publishes the instance, with `locator` as number 0.
fn set_lisp(rig: &mut Rig, locator: [u8; 4], sources: Option<LispSources>) {
    let maps = rig.dataplane.make_vrf_tables().unwrap();
    for (prefix, kind, id) in [
        ("10.20.0.0/16", Kind::Rewrite, 0),
        ("10.23.0.0/16", Kind::Blackhole, 1),
        ("10.24.0.0/16", Kind::Vrf, 1),
        ("10.26.0.0/16", Kind::Rewrite, 9),
    ] {
        insert(&maps, prefix, Forward::new(kind as u8, id));
    }
    let wrap = Wrap::Lisp { instance: INSTANCE, nonce: NONCE };
    let tunnel = Tunnel::new(wrap, Ends::new(US.into(), locator.into()).unwrap());
    let tunnel = Tunnel { inside: Inside::Packets, ttl: None, ..tunnel };
    let locators = vec![Some(Arc::new(TunnelHeaders::new(tunnel)))];
    let instance = Arc::new(LispInstance { maps, sources, uniform: true });
    rig.dataplane.set_lisp(Lisp::new(HashMap::from([(LISP, instance)]), locators, false));
}

fn insert(tables: &VrfTables, prefix: &str, to: Forward) {
    tables.ip4.insert(prefix.parse().unwrap(), to).unwrap();
}

/// Endpoints of 10.20/16 are believed to this locator alone, those that nobody knows to none.
fn believe(rig: &mut Rig, locator: [u8; 4]) {
    let tables = rig.dataplane.make_vrf_tables().unwrap();
    insert(&tables, "10.20.0.0/16", Forward::new(Kind::Rewrite as u8, 0));
    let sets = vec![Arc::from([IpAddr::from(locator)])];
    set_lisp(rig, FAR, Some(LispSources { tables, sets, strict: true }));
}

/// What a site sends us, behind the datagram's header.
fn data(instance: u32, inner: &[u8]) -> Vec<u8> {
    [&lisp::header(NONCE, instance)[..], inner].concat()
}

/// The same with other flags.
fn flagged(flags: u8) -> Vec<u8> {
    let mut data = data(INSTANCE, &inner(HOST));
    data[0] = flags;
    data
}

/// A packet of an endpoint of another site.
fn inner(to: [u8; 4]) -> Vec<u8> {
    craft::ipv4(REMOTE, to).udp(5, 6).build()
}

/// Has a locator send us this.
fn from_locator(rig: &mut Rig, change: impl FnOnce(&mut Rig), data: &[u8]) {
    add_lisp(rig);
    change(rig);
    rig.receive(0, from_far().udp(50_000, udp::port::LISP_DATA).payload(data).build());
}

/// A packet of the host to an endpoint.
fn to_site(endpoint: [u8; 4]) -> Vec<u8> {
    craft::ethernet(HOST_MAC, our_mac(0)).ipv4(HOST, endpoint).udp(1, 2).build()
}

/// Has the host send to an endpoint.
fn send(rig: &mut Rig, endpoint: [u8; 4]) {
    add_lisp(rig);
    rig.receive(0, to_site(endpoint));
}

/// A message about who is where.
fn message() -> Vec<u8> {
    from_far().udp(9, udp::port::LISP_CONTROL).payload(b"message").build()
}

/// Has one frame after the other come in, heard by the control thread at once, until one is
/// dropped: allowances grow with time, so how many pass cannot be told.
fn repeat(rig: &mut Rig, frame: &[u8]) {
    add_lisp(rig);
    while rig.drops().is_empty() {
        rig.receive(0, frame.to_vec());
        rig.run();
        rig.hear();
    }
}

pub(crate) fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("lisp-decap/truncated", |rig| {
            from_locator(rig, |_| (), &lisp::header(NONCE, INSTANCE)[..7]);
        }),
        // A nonce, and map versions too.
        ("lisp-decap/bad-header", |rig| from_locator(rig, |_| (), &flagged(0x98))),
        ("lisp-decap/encrypted", |rig| from_locator(rig, |_| (), &flagged(0x89))),
        ("lisp-decap/unknown-instance", |rig| {
            from_locator(rig, |_| (), &data(INSTANCE + 1, &inner(HOST)));
        }),
        ("lisp-decap/wrong-payload", |rig| {
            from_locator(rig, |_| (), &data(INSTANCE, &[0x50; 40]));
        }),
        ("lisp-decap/interface-down", |rig| {
            let down = |rig: &mut Rig| rig.change_interface(LISP, |row| row.up = false);
            from_locator(rig, down, &data(INSTANCE, &inner(HOST)));
        }),
        ("lisp-decap/not-routed", |rig| {
            let silent = |rig: &mut Rig| rig.change_interface(LISP, |row| row.routes = false);
            from_locator(rig, silent, &data(INSTANCE, &inner(HOST)));
        }),
        ("lisp-decap/congested", |rig| {
            add_lisp(rig);
            let outer = from_far().tos(3).udp(50_000, udp::port::LISP_DATA);
            rig.receive(0, outer.payload(&data(INSTANCE, &inner(HOST))).build());
        }),
        ("lisp-decap/nested", |rig| {
            add_lisp(rig);
            let inside = craft::ipv4(INSIDE_GRE, US).udp(50_000, udp::port::LISP_DATA);
            let inside = inside.payload(&data(INSTANCE, &inner(HOST))).build();
            let gre = [&[0x20, 0, 8, 0, 0, 0, 0, GRE_LINK_KEY as u8][..], &inside].concat();
            rig.receive(0, from_far().protocol(47).payload(&gre).build());
        }),
        ("lisp-decap/spoofed", |rig| {
            let gateways = |rig: &mut Rig| believe(rig, GATEWAY);
            from_locator(rig, gateways, &data(INSTANCE, &inner(HOST)));
        }),
        ("lisp-decap/unknown-source", |rig| {
            let inner = craft::ipv4(UNKNOWN, HOST).udp(5, 6).build();
            from_locator(rig, |rig| believe(rig, FAR), &data(INSTANCE, &inner));
        }),
        ("lisp-encap/dropped", |rig| send(rig, CLOSED)),
        ("lisp-encap/no-headroom", |rig| {
            add_lisp(rig);
            let bytes = to_site(REMOTE);
            rig.receive_as(0, Incoming { bytes, segments: 1, headroom: 0 });
        }),
        ("lisp-encap/no-packet", |rig| {
            add_lisp(rig);
            rig.inject(&[0xff; 60], |packet| Injected::Mapped { interface: LISP, rx: 0, packet });
        }),
        ("lisp-encap/no-route", |rig| {
            add_lisp(rig);
            set_lisp(rig, [172, 16, 0, 1], None);
            rig.receive(0, to_site(REMOTE));
        }),
        // Endpoints are routed in the underlay's own VRF.
        ("lisp-encap/native-loop", |rig| send(rig, NATIVE)),
        ("lisp-encap/to-ourselves", |rig| {
            add_lisp(rig);
            set_lisp(rig, US, None);
            rig.receive(0, to_site(REMOTE));
        }),
        ("lisp-encap/hairpin", |rig| {
            from_locator(rig, |_| (), &data(INSTANCE, &inner(REMOTE)));
        }),
        ("lisp-encap/entry-gone", |rig| send(rig, GONE)),
        ("lisp-resolve/queue-full", |rig| {
            add_lisp(rig);
            (0..=QUEUE).for_each(|_| rig.receive(0, to_site(UNKNOWN)));
        }),
        ("lisp-resolve/asked-already", |rig| repeat(rig, &to_site(UNKNOWN))),
        ("lisp-control/queue-full", |rig| {
            add_lisp(rig);
            (0..=QUEUE).for_each(|_| rig.receive(0, message()));
        }),
        ("lisp-control/too-many", |rig| repeat(rig, &message())),
    ]
}
