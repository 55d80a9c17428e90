use super::*;
use crate::cache::{End, Flow};
use crate::flow::{Hosts, Key, Place};

const REFRESH_MS: u64 = 30_000;
const NOW: Now = Now { unix_ms: 1_700_000_000_500, uptime_ms: 90_000 };

fn ended(hosts: Hosts) -> Ended {
    let key = Key {
        place: Place { input: 3, output: 4, is_sent: true },
        vlan: 7,
        stations: ([2; 6], [4; 6]),
        hosts,
        protocol: 17,
        class: 0xb8,
        source_port: 1000,
        destination_port: 53,
        observed: (0, 0),
    };
    let flow = Flow { packets: 2, bytes: 300, tcp_flags: 0, first_ms: 1000, last_ms: 2000 };
    Ended { key, flow, end: End::Silent }
}

fn v4() -> Ended {
    ended(Hosts::V4([10, 0, 0, 1].into(), [10, 0, 0, 2].into()))
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from(word(bytes, at)) << 16 | u32::from(word(bytes, at + 2))
}

/// The sets of a datagram: number and content.
fn sets(bytes: &[u8], header: usize) -> Vec<(u16, Vec<u8>)> {
    let (mut at, mut all) = (header, Vec::new());
    while at < bytes.len() {
        let length = usize::from(word(bytes, at + 2));
        all.push((word(bytes, at), bytes[at + 4..at + length].to_vec()));
        at += length;
    }
    assert_eq!(at, bytes.len());
    all
}

#[test]
fn ipfix_tells_templates_first_and_then_flows() {
    let mut records = Records::new(Protocol::Ipfix, 9, 100, REFRESH_MS);
    assert_eq!(records.write(NOW, &[]), Vec::<Vec<u8>>::new());
    let all = records.write(NOW, &[ended(Hosts::Other(0x0806)), v4()]);
    let [datagram] = &all[..] else { panic!("{all:?}") };
    assert_eq!((word(datagram, 0), usize::from(word(datagram, 2))), (10, datagram.len()));
    assert_eq!((long(datagram, 4), long(datagram, 8), long(datagram, 12)), (1_700_000_000, 0, 9));
    let sets = sets(datagram, 16);
    let numbers: Vec<u16> = sets.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [2, 3, 300, 256, 258]);
    assert_eq!(sets[2].1[..9], [0, 0, 0, 9, 0, 0, 0, 100, 2]);
    let flow = &sets[3].1;
    assert_eq!(flow[..15], [10, 0, 0, 1, 10, 0, 0, 2, 17, 0xb8, 0x03, 0xe8, 0, 53, 0]);
    assert_eq!(flow[15..26], [0, 0, 0, 3, 0, 0, 0, 4, 1, 0, 7]);
    assert_eq!((long(flow, 30), long(flow, 38)), (300, 2));
    let first = u64::from(long(flow, 42)) << 32 | u64::from(long(flow, 46));
    assert_eq!((first, flow[58]), (1_700_000_000_500 - 89_000, 1));
    // The next ones count the records before, and have no templates until it is time.
    let next = records.write(NOW, &[v4()]).remove(0);
    assert_eq!((long(&next, 8), super::tests::sets(&next, 16)[0].0), (3, 256));
    let later = Now { uptime_ms: NOW.uptime_ms + REFRESH_MS, ..NOW };
    let again = records.write(later, &[]).remove(0);
    assert_eq!((long(&again, 8), super::tests::sets(&again, 16)[0].0), (4, 2));
}

#[test]
fn netflow_9_counts_datagrams_and_its_times_begin_with_the_exporter() {
    let mut records = Records::new(Protocol::NetFlow9, 9, 1, REFRESH_MS);
    let v6 = ended(Hosts::V6(1.into(), 2.into()));
    let datagram = records.write(NOW, &[v6, v4()]).remove(0);
    // Three templates, one of options, one of its records, two flows.
    assert_eq!((word(&datagram, 0), word(&datagram, 2), long(&datagram, 4)), (9, 7, 90_000));
    let numbers: Vec<u16> = sets(&datagram, 20).iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [0, 1, 300, 256, 257]);
    let flow = &sets(&datagram, 20)[3].1;
    assert_eq!((long(flow, 42), long(flow, 46)), (1000, 2000));
    assert_eq!(long(&records.write(NOW, &[v4()])[0], 12), 1);
}

#[test]
fn netflow_5_tells_of_ip4_alone() {
    let mut records = Records::new(Protocol::NetFlow5, 9, 100, REFRESH_MS);
    let flows: Vec<_> = (0..31).map(|_| v4()).chain([ended(Hosts::Other(1))]).collect();
    let all = records.write(NOW, &flows);
    assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [24 + 30 * 48, 24 + 48]);
    assert_eq!((records.told, records.left_out), (31, 1));
    let last = &all[1];
    assert_eq!((word(last, 0), word(last, 2), long(last, 16), word(last, 22)), (5, 1, 30, 0x8064));
    assert_eq!(last[24..32], [10, 0, 0, 1, 10, 0, 0, 2]);
    assert_eq!((word(last, 36), word(last, 38), long(last, 40), long(last, 44)), (3, 4, 2, 300));
    assert_eq!(last[56..64], [0x03, 0xe8, 0, 53, 0, 0, 17, 0xb8]);
}

#[test]
fn datagrams_are_no_longer_than_links_take() {
    let mut records = Records::new(Protocol::Ipfix, 1, 1, REFRESH_MS);
    let flows: Vec<_> = (0..200).map(|_| ended(Hosts::V6(1.into(), 2.into()))).collect();
    let all = records.write(NOW, &flows);
    assert!(all.len() > 10 && all.iter().all(|datagram| datagram.len() <= MOST_BYTES));
    let octets = Shape::V6.octets(Style::Ipfix);
    let told = all.iter().flat_map(|datagram| sets(datagram, 16));
    let told = told.filter(|(number, _)| *number == 257).map(|(_, set)| set.len() / octets);
    assert_eq!(told.sum::<usize>(), 200);
}

#[test]
fn all_flows_are_told_of_the_point_that_ipfix_is_told_of() {
    let told = |records: Records| {
        let mut records = records.at_point(0xff00_0001);
        let datagram = records.write(NOW, &[v4(), v4()]).remove(0);
        let points = datagram.windows(4).filter(|it| *it == [0xff, 0, 0, 1]).count();
        (datagram.windows(4).any(|field| field == [0, 138, 0, 4]), points)
    };
    assert_eq!(told(Records::new(Protocol::Ipfix, 9, 1, REFRESH_MS)), (true, 2));
    assert_eq!(told(Records::new(Protocol::NetFlow9, 9, 1, REFRESH_MS)), (false, 0));
}

#[test]
fn netflow_5_may_tell_interfaces_with_the_engine_in_front() {
    let interfaces = |records: &mut Records| {
        let datagram = records.write(NOW, &[v4()]).remove(0);
        (word(&datagram, 24 + 12), word(&datagram, 24 + 14))
    };
    let records = || Records::new(Protocol::NetFlow5, 0x0581, 1, REFRESH_MS);
    assert_eq!(interfaces(&mut records()), (3, 4));
    // Seven bits of the engine's, nine of the interface's.
    let mut with = records().with_engine_in_interfaces();
    assert_eq!(interfaces(&mut with), (1 << 9 | 3, 1 << 9 | 4));
    let mut far = v4();
    far.key.place.input = 0x2ff;
    let datagram = with.write(NOW, &[far]).remove(0);
    assert_eq!(word(&datagram, 24 + 12), 1 << 9 | 0xff);
}
