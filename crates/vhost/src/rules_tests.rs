//! Conversations, in order and out of it.

use super::*;

const MEMORY: Behind = Behind::Memory { bytes: 0x10000 };
const REGION: Region = Region { guest: 0, bytes: 0x10000, front: 0x7000_0000, offset: 0 };
const AT: Addresses =
    Addresses { descriptors: 0x7000_0000, used: 0x7000_2000, available: 0x7000_1000 };

fn size(ring: u32, size: u32) -> Message {
    Message::RingSize { ring, size }
}

fn place(ring: u32, at: Addresses) -> Message {
    Message::RingPlace { ring, at }
}

fn kick(ring: u32) -> Message {
    Message::Kick(Bell { ring, comes: true })
}

fn call(ring: u32) -> Message {
    Message::Call(Bell { ring, comes: true })
}

/// What becomes of the last of these, said to a port with four rings, each with the descriptors
/// that belong to it.
fn said(messages: &[Message]) -> Result<Verdict, Refusal> {
    let mut rules = Rules::new(4);
    let mut last = Ok(Verdict::Pass);
    for message in messages {
        assert_eq!(last, Ok(Verdict::Pass), "before {message:?}");
        let behind = match message {
            Message::Memory(regions) => vec![MEMORY; regions.len()],
            Message::Log { .. } => vec![MEMORY],
            Message::Kick(_) | Message::Call(_) | Message::LogBell => vec![Behind::Eventfd],
            _ => vec![],
        };
        last = rules.take(99, message, &behind);
    }
    last
}

/// The same behind what a front end begins with.
fn then(messages: &[Message]) -> Result<Verdict, Refusal> {
    let begun = [Message::Features(0), Message::Memory(vec![REGION])];
    said(&[&begun, messages].concat())
}

#[test]
fn what_machines_say_passes() {
    let ring = |ring| [size(ring, 256), Message::Ring(ring), place(ring, AT), kick(ring)];
    let begun: Vec<_> = [call(0), call(1)].into_iter().chain(ring(0)).chain(ring(1)).collect();
    assert_eq!(then(&begun), Ok(Verdict::Pass));
    // It stops a ring, and begins it with another size.
    let anew = [Message::StopRing(0), size(0, 1024), place(0, AT), kick(0)];
    assert_eq!(then(&[&begun[..], &anew].concat()), Ok(Verdict::Pass));
    // It moves to another host meanwhile, and gets more memory.
    let log = Message::Log { bytes: 4096, offset: 0 };
    let more = Region { guest: 0x10000, front: 0x8000_0000, ..REGION };
    let moves = [log, Message::Features(LOG_ALL), Message::Memory(vec![more, REGION])];
    assert_eq!(then(&[&begun[..], &moves].concat()), Ok(Verdict::Pass));
    // More rings, packed ones and of any size, and each as its own.
    let more = [Message::Features(SEVERAL_PAIRS | PACKED), size(3, 3), place(3, AT), kick(3)];
    assert_eq!(then(&more), Ok(Verdict::Pass));
    assert_eq!(then(&[Message::ResetOwner]), Ok(Verdict::Ignore));
}

#[test]
fn a_ring_begins_when_all_is_known_of_it() {
    let unknown = Err(Refusal::RingUnknown(0));
    assert_eq!(then(&[place(0, AT)]), unknown);
    assert_eq!(then(&[kick(0)]), unknown);
    assert_eq!(then(&[size(0, 256), kick(0)]), unknown);
    // What was known is not known any more.
    let begun = [size(0, 256), place(0, AT), kick(0), Message::StopRing(0)];
    assert_eq!(then(&[&begun[..], &[kick(0)]].concat()), unknown);
    assert_eq!(then(&[&begun[..], &[place(0, AT)]].concat()), unknown);
    assert_eq!(said(&[size(0, 256), place(0, AT)]), Err(Refusal::RingOutside(0)));
}

#[test]
fn a_ring_does_not_change_while_it_is_used() {
    let begun = [size(0, 2), place(0, AT)];
    assert_eq!(then(&[&begun[..], &[size(0, 32_768)]].concat()), Err(Refusal::RingInUse(0)));
    for features in [PACKED, EVENT_INDEX, 1] {
        let told = then(&[size(0, 2), Message::Features(features)]);
        assert_eq!(told, Err(Refusal::Features(features)));
    }
    let gone = Region { front: 0x9000_0000, ..REGION };
    let told = then(&[&begun[..], &[Message::Memory(vec![gone])]].concat());
    assert_eq!(told, Err(Refusal::RingOutside(0)));
}

#[test]
fn sizes_and_rings_that_cannot_be_are_refused() {
    for wrong in [0, 3, 65_536, u32::MAX] {
        assert_eq!(then(&[size(0, wrong)]), Err(Refusal::RingSize(wrong)));
    }
    for ring in [4, 255, u32::MAX] {
        let every =
            [size(ring, 2), kick(ring), call(ring), Message::Ring(ring), Message::StopRing(ring)];
        for message in every {
            assert_eq!(then(&[message]), Err(Refusal::NoRing(ring)));
        }
    }
    // Without several pairs there are two.
    assert_eq!(then(&[size(2, 2)]), Err(Refusal::NoRing(2)));
}

#[test]
fn a_ring_lies_whole_in_one_region() {
    let outside = Err(Refusal::RingOutside(0));
    let end = 0x7001_0000;
    for at in [
        Addresses { descriptors: end - 16, ..AT },
        Addresses { descriptors: AT.descriptors - 16, ..AT },
        Addresses { descriptors: 0, ..AT },
        Addresses { descriptors: u64::MAX - 15, ..AT },
        Addresses { descriptors: AT.descriptors + 8, ..AT },
        Addresses { available: end - 4 - 2 * 256 + 2, ..AT },
        Addresses { available: AT.available + 1, ..AT },
        Addresses { used: end - 4 - 8 * 256 + 4, ..AT },
        Addresses { used: end, ..AT },
    ] {
        assert_eq!(then(&[size(0, 256), place(0, at)]), outside, "{at:x?}");
    }
    // Just inside; and the two bytes of the event index count where there are some.
    let last = Addresses { used: end - 4 - 8 * 256, ..AT };
    assert_eq!(then(&[size(0, 256), place(0, last)]), Ok(Verdict::Pass));
    let told = [Message::Features(EVENT_INDEX), size(0, 256), place(0, last)];
    assert_eq!(then(&told), outside);
    // Two regions side by side are two.
    let half = Region { bytes: 0x1000, ..REGION };
    let other = Region { guest: 0x1000, front: 0x7000_1000, bytes: 0x8000, offset: 0x1000 };
    let regions = Message::Memory(vec![half, other]);
    assert_eq!(said(&[regions.clone(), size(0, 256), place(0, AT)]), Ok(Verdict::Pass));
    assert_eq!(said(&[regions, size(0, 512), place(0, AT)]), outside);
}

#[test]
fn regions_are_of_memory_that_is_there() {
    for (number, regions) in [
        (0, vec![Region { bytes: 0x10001, ..REGION }]),
        (0, vec![Region { bytes: 0, ..REGION }]),
        (0, vec![Region { offset: 1, ..REGION }]),
        (0, vec![Region { offset: u64::MAX, ..REGION }]),
        (0, vec![Region { guest: u64::MAX, ..REGION }]),
        (0, vec![Region { front: u64::MAX - 9, ..REGION }]),
        (1, vec![REGION, REGION]),
        (1, vec![REGION, Region { guest: 0x20000, front: 0x7000_ffff, ..REGION }]),
        (1, vec![REGION, Region { guest: 0xffff, front: 0x8000_0000, ..REGION }]),
    ] {
        let told = said(&[Message::Memory(regions.clone())]);
        assert_eq!(told, Err(Refusal::Region(number)), "{regions:x?}");
    }
    for behind in [Behind::Something, Behind::Eventfd, Behind::Memory { bytes: 0 }] {
        let told = Rules::new(2).take(5, &Message::Memory(vec![REGION]), &[behind]);
        assert_eq!(told, Err(Refusal::Region(0)));
    }
    for (bytes, offset) in [(0, 0), (0x10001, 0), (0x1000, 0x1000), (u64::MAX, 0)] {
        assert_eq!(said(&[Message::Log { bytes, offset }]), Err(Refusal::Log));
    }
}

#[test]
fn descriptors_are_as_many_as_belong_to_a_message_and_bells_are_eventfds() {
    let mut rules = Rules::new(2);
    let mut take = |message: &Message, behind: &[Behind]| rules.take(7, message, behind);
    let amiss = |there| Err(Refusal::Descriptors { request: 7, there });
    assert_eq!(take(&Message::Plain, &[Behind::Eventfd]), amiss(1));
    assert_eq!(take(&Message::Memory(vec![REGION]), &[]), amiss(0));
    assert_eq!(take(&Message::Memory(vec![REGION]), &[MEMORY, MEMORY]), amiss(2));
    assert_eq!(take(&call(0), &[]), amiss(0));
    let none = Message::Call(Bell { ring: 0, comes: false });
    assert_eq!(take(&none, &[Behind::Eventfd]), amiss(1));
    assert_eq!(take(&none, &[]), Ok(Verdict::Pass));
    for behind in [Behind::Something, MEMORY] {
        assert_eq!(take(&call(1), &[behind]), Err(Refusal::NoEventfd(1)));
        let error = Message::Error(Bell { ring: 1, comes: true });
        assert_eq!(take(&error, &[behind]), Err(Refusal::NoEventfd(1)));
        assert_eq!(take(&Message::LogBell, &[behind]), Err(Refusal::NoEventfd(0)));
    }
}

#[test]
fn features_that_were_not_offered_are_refused() {
    let told = said(&[Message::ProtocolFeatures(1 << 12)]);
    assert_eq!(told, Err(Refusal::ProtocolFeatures(1 << 12)));
    assert_eq!(said(&[Message::ProtocolFeatures(PROTOCOL_FEATURES)]), Ok(Verdict::Pass));
}
