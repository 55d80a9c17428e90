//! Frames to groups, as a switch that knows who listens looks at them: messages of IGMP and MLD,
//! also such as have a sound checksum whatever they say. Nothing breaks; records are of groups, and
//! no more than there are bytes for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::net::IpAddr;
use wire::listeners::{Malformed, Message, Seen, look};
use wire::{checksum, igmp, ip::protocol, mld};

const LINK: u128 = 0xfe80 << 112 | 1;
const GROUP: u128 = 0xff02 << 112 | 0x16;

fuzz_target!(|bytes: &[u8]| {
    if let Seen::Said { message, .. } = look(bytes) {
        check(&message, bytes.len());
    }
    let mut sound = bytes.to_vec();
    if let Some(sum) = sound.get_mut(2..4) {
        sum.fill(0);
        let sum = checksum::of(&sound).to_be_bytes();
        sound[2..4].copy_from_slice(&sum);
    }
    read(igmp::parse(&sound), sound.len(), false);
    if let Some(sum) = sound.get_mut(2..4) {
        sum.fill(0);
        let pseudo = checksum::pseudo6(LINK, GROUP, protocol::ICMP6, sound.len() as u32);
        let sum = pseudo.bytes(&sound).checksum().to_be_bytes();
        sound[2..4].copy_from_slice(&sum);
    }
    read(mld::parse(&sound, LINK, GROUP), sound.len(), true);
});

fn read(read: Result<Message<'_>, Malformed>, length: usize, is_ip6: bool) {
    let Ok(message) = read else { return };
    check(&message, length);
    if let Message::Records(records) = message {
        assert!(records.iter().all(|record| record.group.is_ipv6() == is_ip6));
    }
}

fn check(message: &Message<'_>, length: usize) {
    match message {
        Message::Records(records) => {
            let groups: Vec<IpAddr> = records.iter().map(|record| record.group).collect();
            assert!(groups.iter().all(IpAddr::is_multicast));
            assert!(groups.len() <= length / 8, "{} of {length} bytes", groups.len());
        }
        Message::Question(question) => {
            assert!(question.group.is_none_or(|group| group.is_multicast()));
        }
        Message::Router | Message::Other => {}
    }
}
