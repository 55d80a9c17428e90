//! Drops of bridges that know who listens to groups.

use crate::drops::Play;
use crate::rig::*;
use nodes::tables::{BridgeId, BridgePort, Heeding, Heeds, Listeners, Mode};
use std::net::IpAddr;
use wire::craft;

const GROUP: [u8; 4] = [239, 1, 1, 1];
const REPORT: [u8; 8] = [0x16, 0, 0xf9, 0xfc, 239, 1, 1, 1];

/// Interface 6 is in a bridge in which these listen to the group, and behind these are routers.
fn listen(rig: &mut Rig, bridge: u16, listeners: &[u16], routers: &[u16]) {
    rig.change_port(6, |port| port.heeds = Heeds::GROUPS);
    let heeding = Heeding { is_asked: true, routers: routers.into(), ..Heeding::default() };
    let all = Listeners {
        bridges: [(BridgeId(bridge), [heeding.clone(), heeding])].into(),
        groups: [((BridgeId(bridge), IpAddr::from(GROUP)), listeners.into())].into(),
    };
    rig.dataplane.set_listeners(all);
}

fn frame(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let link = craft::ethernet(HOST_MAC, [1, 0, 0x5e, 1, 1, 1]);
    link.ipv4(HOST, GROUP).ttl(1).protocol(protocol).payload(payload).pad_to(60).build()
}

pub(crate) fn plays() -> Vec<(&'static str, Play)> {
    vec![
        ("l2-multicast/nowhere", |rig| {
            listen(rig, BRIDGE, &[6], &[]);
            rig.receive(6, frame(17, &[0; 8]));
        }),
        ("l2-multicast/heard", |rig| {
            listen(rig, BRIDGE, &[7], &[]);
            rig.receive(6, frame(2, &REPORT));
        }),
        ("l2-multicast/malformed", |rig| {
            listen(rig, BRIDGE, &[7], &[]);
            rig.receive(6, frame(2, &[0x16; 8]));
        }),
        ("l2-multicast/slow-path-full", |rig| {
            listen(rig, BRIDGE, &[7], &[7]);
            (0..=QUEUE).for_each(|_| rig.receive(6, frame(2, &REPORT)));
        }),
    ]
}

/// One port wants a tagged copy, and there is no buffer.
pub(crate) fn no_buffer() -> (Rig, &'static str) {
    let mut rig = Rig::with_settings(1, |_| ());
    let bridged = Mode::Bridged(BridgePort::new(BridgeId(OWN_BRIDGE)));
    rig.change_interface(6, |row| row.mode = bridged);
    listen(&mut rig, OWN_BRIDGE, &[BRIDGED_VLAN, OWN_STATION], &[]);
    rig.receive(6, frame(17, &[0; 8]));
    (rig, "l2-multicast/no-buffer")
}
