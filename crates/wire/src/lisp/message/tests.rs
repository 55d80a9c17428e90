//! Messages as RFC 9301 draws them, octet by octet, and any octets at all.

use super::super::{
    Action, Address, Algorithm, Eid, Locator, MapRecord, RegistrationHead, RequestHead,
    encapsulate, reply,
};
use super::*;
use proptest::prelude::*;
use std::net::IpAddr;

const NONCE: u64 = 0x0102_0304_0506_0708;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn eid(instance: u32, text: &str, length: u8) -> Eid {
    Eid::new(instance, ip(text), length).unwrap()
}

fn record() -> MapRecord {
    MapRecord {
        ttl_minutes: 1440,
        eid: eid(0, "10.2.0.0", 16),
        action: Action::None,
        is_authoritative: true,
        locators: vec![Locator::new(ip("192.0.2.2"), 1, 50)],
    }
}

#[test]
fn a_request_has_the_octets_of_the_rfc() {
    let head = RequestHead { nonce: NONCE, is_solicited: true, ..RequestHead::default() };
    let source = Address::Ip(0, ip("10.1.0.9"));
    let bytes = head.write(source, &[ip("192.0.2.1"), ip("::2")], eid(0, "10.2.0.0", 16));
    let mut wanted = vec![0x10, 0x40, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 10, 1, 0, 9];
    wanted.extend([0, 1, 192, 0, 2, 1, 0, 2]);
    wanted.extend(2_u128.to_be_bytes());
    wanted.extend([0, 16, 0, 1, 10, 2, 0, 0]);
    assert_eq!(bytes, wanted);
    let Ok(Message::Request(read)) = Message::parse(&bytes) else { panic!("{bytes:x?}") };
    assert_eq!((read.head, read.source), (head, source));
    assert!(read.askers().eq([ip("192.0.2.1"), ip("::2")]));
    assert!(read.networks().eq([eid(0, "10.2.0.0", 16)]));
}

#[test]
fn probes_and_solicitations_are_told_by_their_bits() {
    let bits = |is_probe, solicits| {
        let head = RequestHead { is_probe, solicits, ..RequestHead::default() };
        let bytes = head.write(Address::None, &[ip("192.0.2.1")], eid(0, "10.2.0.0", 16));
        let Ok(Message::Request(read)) = Message::parse(&bytes) else { panic!("{bytes:x?}") };
        assert_eq!(read.head, head);
        bytes[0]
    };
    assert_eq!([bits(true, false), bits(false, true)], [0x12, 0x11]);
}

#[test]
fn a_reply_has_the_octets_of_the_rfc() {
    let bytes = reply(NONCE, false, &[record()]);
    let mut wanted = vec![0x20, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 5, 160, 1, 16, 0x10, 0];
    wanted.extend([0, 0, 0, 1, 10, 2, 0, 0, 1, 50, 255, 0, 0, 5, 0, 1, 192, 0, 2, 2]);
    assert_eq!(bytes, wanted);
    let Ok(Message::Reply(read)) = Message::parse(&bytes) else { panic!("{bytes:x?}") };
    assert_eq!((read.nonce, read.is_probe), (NONCE, false));
    assert!(read.records.map(|it| it.to_owned().unwrap()).eq([record()]));
    assert_eq!(reply(NONCE, true, &[])[0], 0x28);
}

#[test]
fn an_instance_stands_in_a_canonical_address() {
    let network = MapRecord { eid: eid(7, "2001:db8::", 32), ..record() };
    let bytes = reply(0, false, std::slice::from_ref(&network));
    let lcaf = [0x40, 3, 0, 0, 2, 0, 0, 22, 0, 0, 0, 7, 0, 2, 0x20, 1, 0x0d, 0xb8];
    assert_eq!(bytes[22..40], lcaf);
    let Ok(Message::Reply(mut read)) = Message::parse(&bytes) else { panic!("{bytes:x?}") };
    assert_eq!(read.records.next().unwrap().to_owned(), Some(network));
}

#[test]
fn a_negative_reply_says_what_to_do() {
    for (action, octet) in
        [(Action::None, 0), (Action::Native, 0x20), (Action::Ask, 0x40), (Action::Drop, 0x60)]
    {
        let negative =
            MapRecord { action, is_authoritative: false, locators: Vec::new(), ..record() };
        let mut bytes = reply(0, false, std::slice::from_ref(&negative));
        assert_eq!(bytes[18], octet);
        let Ok(Message::Reply(mut read)) = Message::parse(&bytes) else { panic!() };
        assert_eq!(read.records.next().unwrap().to_owned(), Some(negative));
        // Policy and authentication are reasons to drop, too.
        bytes[18] = 0xa0;
        let Ok(Message::Reply(mut read)) = Message::parse(&bytes) else { panic!() };
        assert_eq!(read.records.next().unwrap().action, Action::Drop);
    }
}

#[test]
fn a_registration_leaves_room_for_its_proof() {
    let head = RegistrationHead {
        kind: kind::REGISTER,
        nonce: NONCE,
        answers: true,
        wants_notice: true,
        key: 0,
        algorithm: Algorithm::Sha256,
    };
    let (mut bytes, proof) = head.write(32, &[record()]);
    assert_eq!(bytes[..16], [0x38, 0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0, 2, 0, 32]);
    assert_eq!(proof, 16..48);
    bytes[proof].fill(9);
    bytes.extend([1, 2, 3]);
    let Ok(Message::Registration(read)) = Message::parse(&bytes) else { panic!("{bytes:x?}") };
    assert_eq!((read.head, read.proof), (head, &[9; 32][..]));
    let (before, zeroes, behind) = read.proved();
    assert_eq!((before.len(), zeroes, behind.len()), (16, 32, 28));
    assert_eq!(behind, &reply(0, false, &[record()])[12..]);
    let told = RegistrationHead { kind: kind::NOTIFY, ..head };
    assert_eq!(told.write(20, &[]).0[..4], [0x40, 0, 0, 0]);
    bytes[13] = 3;
    assert!(Message::parse(&bytes).unwrap_err().to_string().contains("algorithm: 3"));
}

#[test]
fn identifiers_behind_the_records_are_part_of_what_is_proved() {
    let head = RegistrationHead {
        kind: kind::REGISTER,
        nonce: 1,
        answers: false,
        wants_notice: false,
        key: 0,
        algorithm: Algorithm::Sha1,
    };
    let (mut bytes, _) = head.write(20, &[record()]);
    bytes[0] |= 2;
    assert!(Message::parse(&bytes).is_err(), "they are not there");
    bytes.extend([5; 24]);
    let Ok(Message::Registration(read)) = Message::parse(&bytes) else { panic!("{bytes:x?}") };
    assert!(read.proved().2.ends_with(&[5; 24]));
}

#[test]
fn a_message_in_a_packet_comes_out_with_where_its_answer_goes() {
    for (from, to) in [("192.0.2.1", "10.2.0.9"), ("2001:db8::1", "2001:db8:9::9")] {
        let bytes = encapsulate(ip(from), 4342, ip(to), b"inside");
        assert_eq!(bytes[..4], [0x80, 0, 0, 0]);
        let Ok(Message::Encapsulated(read)) = Message::parse(&bytes) else { panic!("{bytes:x?}") };
        assert_eq!((read.source, read.source_port, read.message), (ip(from), 4342, &b"inside"[..]));
    }
    let bytes = encapsulate(ip("192.0.2.1"), 4342, ip("2001:db8::1"), b"");
    let Ok(Message::Encapsulated(read)) = Message::parse(&bytes) else { panic!() };
    assert_eq!(read.source, ip("::"));
    assert!(Message::parse(&[0x88, 0, 0, 0, 0x45]).is_err(), "secured by what nobody speaks");
}

#[test]
fn what_is_not_known_is_read_over_or_refused_with_its_value() {
    let mut bytes = reply(0, false, &[record()]);
    // The locator as a canonical address of another type, with four octets.
    bytes.splice(34.., [0x40, 3, 0, 0, 5, 0, 0, 4, 1, 2, 3, 4]);
    let Ok(Message::Reply(mut read)) = Message::parse(&bytes) else { panic!("{bytes:x?}") };
    let locator = read.records.next().unwrap().locators().next().unwrap();
    assert_eq!((locator.address, locator.usable()), (None, None));
    bytes[35] = 4;
    assert!(Message::parse(&bytes).unwrap_err().to_string().contains("16388"));
    let mut long = reply(0, false, &[record()]);
    long[17] = 33;
    assert!(Message::parse(&long).unwrap_err().to_string().contains("33"));
    assert!(Message::parse(&[0x70, 0]).unwrap_err().to_string().contains("7"));
    assert!(Message::parse(&[]).is_err());
}

proptest! {
    #[test]
    fn any_octets_are_read_or_refused(kind in 0_u8..16, bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = kind << 4 | *first & 15;
        }
        match Message::parse(&bytes) {
            Ok(Message::Request(it)) => {
                prop_assert!(it.askers().count() <= 32);
                prop_assert!(it.networks().count() <= 255);
            }
            Ok(Message::Reply(it)) => {
                for record in it.records {
                    prop_assert!(record.locators().count() <= 255);
                }
            }
            Ok(Message::Registration(it)) => {
                let (before, proof, behind) = it.proved();
                prop_assert!(before.len() + proof + behind.len() <= bytes.len());
            }
            Ok(Message::Encapsulated(it)) => prop_assert!(it.message.len() < bytes.len()),
            Err(_) => {}
        }
    }

    #[test]
    fn a_message_that_is_cut_anywhere_is_refused(at in 0_usize..68) {
        let two = [record(), MapRecord { eid: eid(9, "10.3.0.0", 16), ..record() }];
        let bytes = reply(NONCE, false, &two);
        prop_assume!(at < bytes.len());
        prop_assert!(Message::parse(&bytes[..at]).is_err());
    }

    #[test]
    fn records_are_read_back(ttl_minutes: u32, instance in 0..=0xff_ffff_u32, address: u32, length in 0_u8..=32, locators in prop::collection::vec((any::<u128>(), any::<u8>(), any::<u8>(), any::<bool>()), 0..9)) {
        let locators = locators.into_iter().map(|(address, priority, weight, is_reachable)| {
            let address = if address & 1 == 0 { IpAddr::V4((address as u32).into()) } else { IpAddr::V6(address.into()) };
            Locator { is_reachable, ..Locator::new(address, priority, weight) }
        });
        let eid = Eid::new(instance, IpAddr::V4(address.into()), length).unwrap();
        let record = MapRecord { ttl_minutes, eid, locators: locators.collect(), ..record() };
        let bytes = reply(1, false, std::slice::from_ref(&record));
        let Ok(Message::Reply(mut read)) = Message::parse(&bytes) else { panic!() };
        prop_assert_eq!(read.records.next().unwrap().to_owned(), Some(record));
    }
}
