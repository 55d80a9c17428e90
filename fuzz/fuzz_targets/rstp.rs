//! What a bridge hears of a spanning tree: frames in any order on any port, and time. Nothing
//! breaks, it comes to rest, and no port sends more than the standard has it send.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rstp::{Bpdu, Bridge, FRAME_LEN, PortSettings, Settings};

const SECOND: u64 = 1_000_000_000;
const PORTS: u16 = 3;
/// Octets of a piece: a port, how long nothing is heard then, and the message.
const PIECE: usize = 38;
/// In front of a message: addresses, length, LLC.
const HEAD: [u8; 17] = [0x01, 0x80, 0xc2, 0, 0, 0, 2, 0, 0, 0, 0, 9, 0, 39, 0x42, 0x42, 3];

fuzz_target!(|bytes: &[u8]| {
    if let Ok(bpdu) = Bpdu::read_frame(bytes) {
        assert_eq!(bpdu.frame([2; 6]).len(), FRAME_LEN);
    }
    let mut bridge = Bridge::new(Settings::new([2, 0, 0, 0, 0, 1]), 0);
    for port in 1..=PORTS {
        bridge.set_port(port, PortSettings::new(port, 20_000), true);
    }
    let mut now = 0;
    for piece in bytes.chunks(PIECE).take(64) {
        let [port, wait, message @ ..] = piece else { break };
        bridge.receive_frame(1 + u16::from(*port) % PORTS, &[&HEAD[..], message].concat());
        let seconds = u64::from(*wait % 8);
        now += seconds * SECOND;
        bridge.turn(now);
        let sent = bridge.take_actions().len() as u64;
        assert!(sent <= u64::from(PORTS) * 3 * (seconds + 6), "{sent} actions");
    }
    bridge.turn(now + 50 * SECOND);
    bridge.turn(now + 100 * SECOND);
    assert_eq!(bridge.root().root, bridge.id(), "what nobody says any more is forgotten");
});
