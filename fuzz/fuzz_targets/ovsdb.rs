//! Bytes that a database's server says: cut into messages, read, and taken in as updates of rows.
//! Nothing breaks; a message that is read and written reads back as it was; what is refused changes
//! nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ovsdb::{Frames, Message, Rows};

fuzz_target!(|bytes: &[u8]| {
    let (mut frames, mut rows) = (Frames::default(), Rows::default());
    // Wherever the bytes are cut, the messages are the same.
    for part in bytes.chunks(usize::from(bytes.first().copied().unwrap_or(0)) + 1) {
        if frames.push(part).is_err() {
            return;
        }
        loop {
            let value = match frames.take() {
                Ok(Some(value)) => value,
                Ok(None) => break,
                Err(_) => return,
            };
            let Ok(message) = Message::read(value) else { continue };
            let again = Message::read(message.write()).expect("what was written");
            assert_eq!(again, message);
            let updates = match message {
                Message::Told { params, .. } | Message::Request { params, .. } => params,
                Message::Answer { outcome, .. } => outcome.into_iter().collect(),
            };
            for update in updates {
                let had = rows.clone();
                if rows.update(&update).is_err() {
                    assert_eq!(rows, had);
                }
            }
        }
    }
});
