//! Bytes that a controller says to a bridge of flows: nothing breaks, flows that are read and
//! written come back as they were, and what is refused is refused with a number.
//!
//! ```text
//! input: version │ messages without their version and length …
//! ```
#![no_main]

use flow::{Snapshot, Verdict};
use libfuzzer_sys::fuzz_target;
use openflow::message::PortStats;
use openflow::{PortNumber, Request, Version};
use switch::{Bridge, Connection, Port, World};

struct Nowhere;

impl World for Nowhere {
    fn port_stats(&self, _: PortNumber) -> Option<PortStats> {
        None
    }

    fn send(&mut self, _: &[u8], _: PortNumber, _: &Verdict, _: &Snapshot) {}
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, mut rest)) = bytes.split_first() else { return };
    let version = Version::ALL[usize::from(*first) % Version::ALL.len()];
    let mut bridge = Bridge::new("br0", [2; 6], false, 0);
    bridge.set_port(1, Some(Port::new("p1", [2; 6])), 0);
    let mut connection = Connection::new(false);
    let bit = 1u8 << (version as u8);
    let hello = [version as u8, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, bit];
    bridge.hear(&mut connection, &hello, &mut Nowhere, 0);
    let mut now_ns = 0;
    while let [kind, length, body @ ..] = rest {
        let (body, behind) = body.split_at((usize::from(*length) * 4).min(body.len()));
        rest = behind;
        let whole = (body.len() + 8) as u16;
        let mut message = vec![version as u8, *kind];
        message.extend(whole.to_be_bytes());
        message.extend([0, 0, 0, 7]);
        message.extend(body);
        if let Ok(Request::FlowMod(it)) = Request::decode(&message, true) {
            let again = Request::decode(&it.encode(version, 7), true);
            // What 1.0 alone says in a way of its own comes back as NXM has it.
            if version > Version::V10 {
                assert!(again.is_ok(), "{it:?} {again:?}");
            }
        }
        now_ns += 1_000_000_000;
        for answer in bridge.hear(&mut connection, &message, &mut Nowhere, now_ns) {
            assert_eq!(usize::from(u16::from_be_bytes([answer[2], answer[3]])), answer.len());
        }
        bridge.expire(now_ns);
        for event in bridge.take_events() {
            connection.tell(&event);
        }
        connection.take_owed();
    }
});
