//! Frames as flow export reads and counts them, and what collectors are told, by every protocol.
//! Nothing breaks; each packet is told once; datagrams fit links, and sets and lengths in them add
//! up.
#![no_main]

use export::{
    Begins, Cache, Flow, Key, MOST_BYTES, Now, Packet, Place, Protocol, Records, Samples, Seen,
    Tally, Times,
};
use libfuzzer_sys::fuzz_target;

const PROTOCOLS: [(Protocol, usize); 3] =
    [(Protocol::Ipfix, 16), (Protocol::NetFlow9, 20), (Protocol::NetFlow5, 24)];

fuzz_target!(|bytes: &[u8]| {
    let place = Place { input: 1, output: 2, is_sent: bytes.len() % 2 == 0 };
    let step = usize::from(bytes.first().copied().unwrap_or(0)) + 14;
    let mut cache = Cache::new(Times { active_ms: 40, inactive_ms: 20, most: 5 });
    let mut tally = Tally::of_flows(1, bytes.len() as u64);
    let mut samples = Samples::new([192, 0, 2, 1].into(), 0, 10);
    let now = Now { unix_ms: 1 << 40, uptime_ms: 0 };
    let (mut counted, mut told, mut ended) = (0, 0, Vec::new());
    for (at, frame) in bytes.chunks(step).enumerate() {
        let now_ms = at as u64 * 7;
        let header = &frame[..frame.len().min(128)];
        if let Some(packet) = Packet::read(header, frame.len() as u32, place) {
            // By a tally of one flow, or where it is full at once.
            if !tally.count(now_ms, &packet) {
                empty(&mut tally, &mut cache);
                assert!(tally.count(now_ms, &packet));
            }
            counted += 1;
        }
        if let Some(packet) = Packet::read_ip(header, place) {
            cache.count(now_ms, &packet);
            counted += 1;
        }
        ended.extend(cache.take_ended(now_ms));
        let length = frame.len() as u32;
        let begins = Begins::Ethernet;
        let seen =
            Seen { source: 1, input: 1, output: 0, pool: 0, drops: 0, begins, length, header };
        if let Some(full) = samples.packet(now, &seen) {
            told += check_samples(&full);
        }
    }
    told += samples.flush(now).map_or(0, |last| check_samples(&last));
    assert_eq!(told, bytes.chunks(step).count() as u64);
    empty(&mut tally, &mut cache);
    ended.extend(cache.take_all());
    let packets: u64 = ended.iter().map(|it| it.flow.packets).sum();
    assert_eq!(packets, counted);
    for (protocol, header) in PROTOCOLS {
        let mut records = Records::new(protocol, 1, 1, 30_000);
        for datagram in records.write(now, &ended) {
            assert!(datagram.len() <= MOST_BYTES + 64, "{} octets", datagram.len());
            match protocol {
                Protocol::NetFlow5 => assert_eq!((datagram.len() - header) % 48, 0),
                _ => check_sets(&datagram[header..]),
            }
        }
        assert_eq!(records.told + records.left_out, ended.len() as u64);
    }
});

/// Hands over what a tally counted.
fn empty(tally: &mut Tally, cache: &mut Cache) {
    for it in tally.counted() {
        let (packets, bytes, tcp_flags) = (it.packets, it.bytes, it.tcp_flags);
        let flow = Flow { packets, bytes, tcp_flags, first_ms: it.first, last_ms: it.last };
        cache.add(Key::from_words(it.words), flow);
    }
    tally.clear();
}

fn check_sets(mut sets: &[u8]) {
    while let Some(&[_, _, high, low]) = sets.first_chunk::<4>() {
        let length = usize::from(u16::from_be_bytes([high, low]));
        assert!(length >= 4, "a set of {length} octets");
        sets = &sets[length..];
    }
    assert!(sets.is_empty());
}

/// How many samples a datagram has.
fn check_samples(datagram: &[u8]) -> u64 {
    let word =
        |at: usize| u32::from_be_bytes(datagram[at..at + 4].try_into().expect("four octets"));
    let (mut at, mut count) = (28, 0);
    while at < datagram.len() {
        at += 8 + word(at + 4) as usize;
        count += 1;
    }
    assert_eq!((at, count), (datagram.len(), word(24)));
    count.into()
}
