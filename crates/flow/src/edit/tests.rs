use super::*;
use crate::extract::{extract, tests::udp};
use crate::key::Key;
use proptest::prelude::*;

fn sum(bytes: &[u8], start: u32) -> u16 {
    let mut sum = start;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |it| u32::from(*it));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The frame with checksums made anew, by adding up.
fn summed(mut frame: Vec<u8>) -> Vec<u8> {
    let at = if word(&frame, 12) == Some(0x8100) { 18 } else { 14 };
    let is_ip4 = word(&frame, at - 2) == Some(0x800);
    let head = if is_ip4 { 20 } else { 40 };
    let proto = u32::from(frame[at + if is_ip4 { 9 } else { 6 }]);
    if is_ip4 {
        frame[at + 10..at + 12].fill(0);
        let made = !sum(&frame[at..at + 20], 0);
        frame[at + 10..at + 12].copy_from_slice(&made.to_be_bytes());
    }
    let addresses = if is_ip4 { at + 12..at + 20 } else { at + 8..at + 40 };
    let place =
        at + head + [(6, 16), (17, 6), (1, 2), (58, 2)].iter().find(|it| it.0 == proto).unwrap().1;
    frame[place..place + 2].fill(0);
    let upper = frame.len() - at - head;
    let pseudo = match proto {
        1 => 0,
        _ => u32::from(sum(&frame[addresses], proto + upper as u32)),
    };
    let made = !sum(&frame[at + head..], pseudo);
    let made = if proto == 17 && made == 0 { 0xffff } else { made };
    frame[place..place + 2].copy_from_slice(&made.to_be_bytes());
    frame
}

fn ip6(proto: u8) -> Vec<u8> {
    let mut frame = udp(1, 1)[..12].to_vec();
    frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 24, proto, 64]);
    frame.extend([0x20; 32]);
    frame.extend([135, 0, 0, 0, 0, 0, 0, 0].iter().chain(&[7; 16]));
    frame
}

pub(crate) fn frames() -> Vec<Vec<u8>> {
    let mut tcp = udp(1, 1);
    tcp[23] = 6;
    tcp.extend([0; 12]);
    (tcp[17], tcp[46]) = (44, 0x50);
    let mut icmp = udp(1, 1);
    icmp[23] = 1;
    let mut tagged = udp(1, 1);
    tagged.splice(12..12, [0x81, 0, 0, 5]);
    [udp(1, 1), tcp, icmp, tagged, ip6(58), ip6(17)].into_iter().map(summed).collect()
}

proptest! {
    #[test]
    fn what_is_written_is_there_and_checksums_hold(
        which in 0..6usize, field in 0..Field::ALL.len(), value in any::<u128>(), mask in any::<u128>(),
    ) {
        let (mut frame, field) = (frames().swap_remove(which), Field::ALL[field]);
        let (before, mut key) = (frame.clone(), Key::default());
        extract(&frame, 1, &mut key);
        let (had, has) = (key.get(field), crate::has_field(&key, field) && is_of_packet(field));
        let mask = mask & field.ones() & if matches!(field, Field::VlanTci | Field::VlanVid) { 0xefff } else { u128::MAX };
        let done = write_field(&mut frame, field, value, mask);
        if !done {
            prop_assert_eq!(&frame, &before);
            // Options of discovery alone may be missing where the field could be.
            prop_assert!(!has || matches!(field, Field::NdSll | Field::NdTll)
                || field.needs() == openflow::Needs::Nothing, "{field:?}");
            return Ok(());
        }
        extract(&frame, 1, &mut key);
        let is_kind = matches!(field, Field::Icmp6Type | Field::Icmp6Code);
        if has && !is_kind {
            prop_assert_eq!(key.get(field), had & !mask | value & mask, "{:?}", field);
        }
        prop_assert_eq!(&summed(frame.clone()), &frame, "{:?}", field);
    }

    #[test]
    fn any_bytes_bear_any_field(bytes in proptest::collection::vec(any::<u8>(), 0..100), field in 0..Field::ALL.len()) {
        let (mut frame, length) = (bytes.clone(), bytes.len());
        write_field(&mut frame, Field::ALL[field], u128::MAX, u128::MAX);
        prop_assert_eq!(frame.len(), length);
    }
}

#[test]
fn a_tag_comes_between_addresses_and_type() {
    let mut frame = [&[0; 4][..], &udp(7, 53)].concat();
    assert!(push_vlan_into(&mut frame, 0x8100, 0x7005));
    assert_eq!(frame[12..18], [0x81, 0, 0x60, 5, 8, 0]);
    assert_eq!(frame[..12], udp(7, 53)[..12]);
}

#[test]
fn labels_are_pushed_behind_tags_written_and_popped() {
    let tagged = frames().swap_remove(3);
    let mut frame = [&[0; 4], &tagged[..]].concat();
    assert!(push_mpls_into(&mut frame, 0x8847, 0x0001_1140, 1));
    let wanted = [&tagged[..16], &[0x88, 0x47, 0, 1, 0x11, 0x40], &tagged[18..]].concat();
    assert_eq!(frame, wanted);
    assert!(write_field(&mut frame, Field::MplsLabel, 0xf_fffe, 0xf_ffff));
    assert!(write_field(&mut frame, Field::MplsTc, 5, 7));
    assert!(write_field(&mut frame, Field::MplsTtl, 9, 0xff));
    assert_eq!(frame[18..22], [0xff, 0xff, 0xeb, 9]);
    // What is behind a label is not looked at; where there is none, none is written.
    assert!(!write_field(&mut frame, Field::IpTtl, 9, 0xff));
    assert!(!write_field(&mut tagged.clone(), Field::MplsTtl, 9, 0xff));
    assert!(pop_mpls_from(&mut frame, 0x0800, 1));
    assert_eq!(frame[4..], tagged);
    // Cut short, nothing changes.
    let mut short = tagged[..17].to_vec();
    assert!(!pop_mpls_from(&mut short, 0x0800, 1) && !push_mpls_into(&mut short, 0x8847, 1, 1));
    assert_eq!(short, tagged[..17]);
}
