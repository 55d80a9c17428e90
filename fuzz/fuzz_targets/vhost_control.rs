//! What a front end of vhost-user may say to the guard in front of the library.
//!
//! ```text
//!  first byte   how many pairs of rings
//!  messages     which, how many descriptors, what stands behind them, how many words; the words
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;
use vhost::behind::Behind;
use vhost::message::{Header, MOST_BYTES, Message, Region};
use vhost::rules::{PROTOCOL_FEATURES, Rules};

/// What a file has.
const BYTES: u64 = 0x10000;
/// `VIRTIO_F_RING_PACKED`, `VHOST_F_LOG_ALL`.
const PACKED: u64 = 1 << 34;
const LOG_ALL: u64 = 1 << 26;

/// What the library was let hear, as far as it stands on it.
#[derive(Default)]
struct Heard {
    features: u64,
    regions: Vec<Region>,
    /// By ring: its size since it was stopped, and where its parts begin.
    rings: [(u32, Option<[u64; 3]>); 4],
}

fuzz_target!(|bytes: &[u8]| {
    let Some((pairs, mut rest)) = bytes.split_first() else { return };
    let pairs = 1 + u32::from(pairs % 2);
    let (mut rules, mut heard) = (Rules::new(2 * pairs), Heard::default());
    while let Some((&[request, count, kind, words], behind)) = rest.split_first_chunk() {
        let length = (4 * usize::from(words)).min(MOST_BYTES).min(behind.len());
        let (payload, next) = behind.split_at(length);
        rest = next;
        let header = Header { request: request.into(), flags: 1, bytes: length as u32 };
        let Ok(message) = Message::read(header, payload) else { return };
        let all = [Behind::Memory { bytes: BYTES }, Behind::Eventfd, Behind::Something];
        let behind = vec![all[usize::from(kind) % 3]; usize::from(count % 9)];
        if rules.take(header.request, &message, &behind).is_err() {
            return;
        }
        heard.take(&message, &behind);
    }
});

impl Heard {
    fn take(&mut self, message: &Message, behind: &[Behind]) {
        let is_bell = behind.iter().all(|behind| *behind == Behind::Eventfd);
        match message {
            Message::Features(features) => {
                let begun = self.rings.iter().any(|(size, _)| *size > 0);
                assert!(!begun || (features ^ self.features) & !LOG_ALL == 0);
                self.features = *features;
            }
            Message::ProtocolFeatures(features) => assert_eq!(features & !PROTOCOL_FEATURES, 0),
            Message::Memory(regions) => {
                assert_eq!(behind.len(), regions.len());
                for region in regions {
                    assert!(region.bytes > 0 && region.offset + region.bytes <= BYTES);
                }
                self.regions.clone_from(regions);
                self.check();
            }
            Message::RingSize { ring, size } => {
                let (known, at) = &mut self.rings[*ring as usize];
                assert!((1..=32_768).contains(size) && at.is_none());
                *known = *size;
            }
            Message::RingPlace { ring, at } => {
                let parts = [at.descriptors, at.available, at.used];
                self.rings[*ring as usize].1 = Some(parts);
                self.check();
            }
            Message::StopRing(ring) => self.rings[*ring as usize] = (0, None),
            Message::Kick(bell) => {
                assert!(self.rings[bell.ring as usize].1.is_some() && is_bell);
            }
            Message::Call(_) | Message::Error(_) | Message::LogBell => assert!(is_bell),
            _ => {}
        }
    }

    /// All rings lie in memory.
    fn check(&self) {
        let are_there = |start: u64, bytes: u64| {
            let bytes = u128::from(bytes);
            self.regions.iter().any(|region| {
                let (begin, start) = (u128::from(region.front), u128::from(start));
                begin <= start && start + bytes <= begin + u128::from(region.bytes)
            })
        };
        for (size, parts) in &self.rings {
            let Some([descriptors, available, used]) = *parts else { continue };
            let size = u64::from(*size);
            assert!(size > 0 && are_there(descriptors, 16 * size));
            let packed = self.features & PACKED != 0;
            assert!(are_there(available, if packed { 4 } else { 4 + 2 * size }));
            assert!(are_there(used, if packed { 4 } else { 4 + 8 * size }));
        }
    }
}
