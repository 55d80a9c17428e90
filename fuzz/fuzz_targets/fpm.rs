//! What zebra may send, on any bytes: frames, messages, routes and next hops, and what is learned
//! of them.
#![no_main]

use kernel::fpm::Learned;
use libfuzzer_sys::fuzz_target;
use netlink::{Messages, fpm};
use std::collections::HashSet;

fuzz_target!(|bytes: &[u8]| {
    let mut learned = Learned::default();
    hear(&mut learned, bytes);
    learned.begin();
    // Half of it is told again, and the rest is swept.
    hear(&mut learned, &bytes[..bytes.len() / 2]);
    learned.sweep();
    tell(&mut learned);
    learned.begin();
    learned.sweep();
    assert_eq!(learned.routes(), 0);
});

/// Hears a stream until it ends, or says something wrong.
fn hear(learned: &mut Learned, mut bytes: &[u8]) {
    while let Ok(Some((payload, length))) = fpm::frame(bytes) {
        assert!(payload.len() + fpm::HEADER == length && length <= fpm::LONGEST);
        for message in Messages::new(payload) {
            let heard = message.and_then(|message| learned.hear(&message));
            tell(learned);
            if heard.is_err() {
                return;
            }
        }
        bytes = &bytes[length..];
    }
}

/// Each route is told once.
fn tell(learned: &mut Learned) {
    let updates = learned.take_updates();
    let keys: HashSet<_> = updates.iter().map(|update| update.key).collect();
    assert_eq!(keys.len(), updates.len());
}
