//! Bridges: few stations and many, learned and not.

use crate::rig::{Rig, RigError};
use crate::scenarios::{Scenario, random, udp};
use fib::mac::MacKey;
use nodes::plumbing::{BridgeId, BridgePort, Mode};

pub(crate) fn all() -> Vec<Scenario> {
    vec![
        Scenario::new("l2-bridge", Some(70.0), 32.0, || bridge(256, false)),
        Scenario::new("l2-bridge-learn", Some(88.0), 42.0, || bridge(256, true)),
        Scenario::new("l2-bridge-100k", Some(379.0), 120.0, || bridge(100_000, true)),
        Scenario::new("l2-bridge-1m", None, 160.0, || bridge(1_000_000, true)),
    ]
}

/// A bridge with `count` stations on either side, all known; each packet is from and to any.
fn bridge(count: u32, learn: bool) -> Result<Rig, RigError> {
    let mut random = random();
    let mut any = move || (random() >> 32) as u32 % count;
    let station = |side: u8, number: u32| {
        let [a, b, c, d] = number.to_be_bytes();
        [0x06, side, a, b, c, d]
    };
    let packets = (0..count)
        .map(|_| {
            let mut frame = udp(0x0a00_0001);
            frame[..6].copy_from_slice(&station(1, any()));
            frame[6..12].copy_from_slice(&station(0, any()));
            frame
        })
        .collect();
    let port = BridgePort { learn, ..BridgePort::new(BridgeId(1)) };
    let room = 3 * count as usize;
    let rig = Rig::with_settings(packets, Mode::Bridged(port), |it| it.stations = room)?;
    for (side, number) in (0..2u8).flat_map(|side| (0..count).map(move |number| (side, number))) {
        rig.dataplane.stations.table.learn(MacKey::new(1, station(side, number)), side.into(), 0);
    }
    Ok(rig)
}
