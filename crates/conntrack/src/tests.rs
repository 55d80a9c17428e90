//! The table against a list, its bounds, and translations as the RFCs want them.

use crate::naive::{Fate, Naive};
use crate::*;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use wire::ip::protocol::{ICMP4, TCP, UDP};
use wire::tcp::flag;

const INSIDE: u32 = 0x0a00_0001;
const OUTSIDE: u32 = 0xcb00_7101;
const REMOTE: u32 = 0xc633_6404;

/// Without slack in times, so that both end at the same second: all timeouts below 32 s.
fn short() -> Timeouts {
    Timeouts {
        tcp_syn_sent: 12,
        tcp_syn_received: 6,
        tcp_established: 31,
        tcp_unanswered: 30,
        tcp_fin_wait: 12,
        tcp_close_wait: 6,
        tcp_last_ack: 3,
        tcp_time_wait: 12,
        tcp_close: 1,
        udp: 3,
        udp_stream: 12,
        icmp: 3,
        other: 20,
        tcp_loose: true,
    }
}

/// A packet through the table, as a node does it.
fn packet(table: &Table, tuple: &Tuple, seen: Seen, timeouts: &Timeouts, now_s: u32) -> Fate {
    if let Some(found) = table.find(tuple, now_s) {
        match table.advance(&found, tuple.protocol(), seen, timeouts, now_s) {
            Verdict::Passes(status) => {
                return Fate::Known(found.direction, status.tcp(), status.is_answered());
            }
            Verdict::Invalid => return Fate::Invalid,
            Verdict::Anew => assert!(table.end_found(&found)),
        }
    }
    match table.create(tuple, &tuple.inverse(), seen, timeouts, None, now_s) {
        Ok(found) => Fate::New(found.status.tcp()),
        Err(Refused::Invalid) => Fate::Invalid,
        Err(refused) => panic!("{refused:?}"),
    }
}

fn any_packet() -> impl Strategy<Value = (Tuple, Seen)> {
    let side = (0..3u8, 0..2u16);
    let flags = prop::sample::select(vec![
        flag::SYN,
        flag::SYN | flag::ACK,
        flag::ACK,
        flag::FIN | flag::ACK,
        flag::RST,
        flag::RST | flag::ACK,
        flag::SYN | flag::FIN,
        0,
    ]);
    (side.clone(), side, 0..5u8, flags, 0..2u16, any::<bool>()).prop_map(
        |(from, to, kind, flags, zone, asks)| {
            let ends = |protocol, is_long: bool| match is_long {
                false => Tuple::ip4((from.0.into(), from.1), (to.0.into(), to.1), protocol, zone),
                true => Tuple::ip6(
                    (u128::from(from.0) << 64 | 1, from.1),
                    (u128::from(to.0) << 64 | 1, to.1),
                    protocol,
                    zone,
                ),
            };
            match kind {
                0 | 1 => (ends(TCP, kind == 1), Seen::Tcp(flags)),
                2 | 3 => (ends(UDP, kind == 3), Seen::Other),
                _ => {
                    let kind = if asks { 8 << 8 } else { 0 };
                    let (from, to) = ((from.0.into(), 7), (to.0.into(), kind));
                    let seen = if asks { Seen::Question } else { Seen::Other };
                    (Tuple::ip4(from, to, ICMP4, zone), seen)
                }
            }
        },
    )
}

proptest! {
    #[test]
    fn a_table_says_what_a_list_says(
        packets in prop::collection::vec((any_packet(), 0..3u32, 0..9u8), 1..300),
        seed: u64,
    ) {
        let (table, mut naive, timeouts) = (Table::new(4096, seed), Naive::default(), short());
        let (mut now_s, mut swept) = (1000, 0);
        for ((tuple, seen), passes, sweeps) in packets {
            now_s += passes;
            if sweeps == 0 {
                swept = table.sweep(swept, 1000, now_s);
            }
            let expected = naive.packet(&tuple, seen, &timeouts, now_s);
            let found = packet(&table, &tuple, seen, &timeouts, now_s);
            prop_assert_eq!(found, expected, "{:?} {:?} at {}", tuple, seen, now_s);
        }
        for from in (0..4096).step_by(1024) {
            table.sweep(from, 1024, u32::MAX);
        }
        let counted = table.counters();
        prop_assert_eq!(counted.begun, counted.ended);
    }
}

fn udp(from: (u32, u16), to: (u32, u16)) -> Tuple {
    Tuple::ip4(from, to, UDP, 0)
}

#[test]
fn a_full_table_gives_up_who_was_not_answered_and_never_who_was() {
    let (table, timeouts) = (Table::new(64, 7), Timeouts::default());
    let create = |n: u16| {
        let tuple = udp((INSIDE, n), (REMOTE, 53));
        table.create(&tuple, &tuple.inverse(), Seen::Other, &timeouts, None, 10).map(|_| tuple)
    };
    for n in 0..64 {
        let tuple = create(n).unwrap();
        if n % 2 == 0 {
            let found = table.find(&tuple.inverse(), 10).unwrap();
            table.advance(&found, UDP, Seen::Other, &timeouts, 10);
        }
    }
    let refused = (64..2000).filter(|n| create(*n).is_err()).count() as u64;
    let counted = table.counters();
    // Who made room for one whose buckets were full all the same, went for nothing.
    assert!(counted.evicted + refused >= 2000 - 64 && refused < 10, "{counted:?}");
    assert!(counted.evicted > 100 && counted.refused == refused, "{counted:?}");
    for n in (0..64).step_by(2) {
        assert!(table.find(&udp((INSIDE, n), (REMOTE, 53)), 10).is_some(), "{n}");
    }
    assert_eq!(counted.begun - counted.ended, 64);
}

#[test]
fn a_table_without_an_unanswered_one_refuses() {
    let (table, timeouts) = (Table::new(4, 7), Timeouts::default());
    let create = |n: u16| {
        let tuple = udp((INSIDE, n), (REMOTE, 53));
        let made = table.create(&tuple, &tuple.inverse(), Seen::Other, &timeouts, None, 10);
        made.map(|_| table.find(&tuple.inverse(), 10).unwrap())
    };
    for n in 0..4 {
        table.advance(&create(n).unwrap(), UDP, Seen::Other, &timeouts, 10);
    }
    assert_eq!(create(4).unwrap_err(), Refused::Full);
    // When they are over there is room again.
    table.sweep(0, 4, 10 + timeouts.udp_stream);
    assert!(create(5).is_ok());
}

#[test]
fn one_tuple_in_two_zones_is_two_connections() {
    let (table, timeouts) = (Table::new(64, 7), Timeouts::default());
    let of = |zone| Tuple::ip4((INSIDE, 1), (REMOTE, 2), UDP, zone);
    let create = |t: &Tuple| table.create(t, &t.inverse(), Seen::Other, &timeouts, None, 10);
    let found = create(&of(1)).unwrap();
    assert_eq!(table.find(&of(2), 10), None);
    let other = create(&of(2)).unwrap();
    table.set_mark(&found, 7);
    assert_eq!((table.mark(&found), table.mark(&other)), (Some(7), Some(0)));
}

#[test]
fn an_entry_that_got_another_connection_is_not_changed_by_who_found_the_old_one() {
    let (table, timeouts) = (Table::new(1, 7), Timeouts::default());
    let create = |n| {
        let tuple = udp((INSIDE, n), (REMOTE, 53));
        table.create(&tuple, &tuple.inverse(), Seen::Other, &timeouts, None, 10).unwrap()
    };
    let old = create(1);
    assert!(table.end_found(&old));
    let new = create(2);
    assert_eq!(old.slot, new.slot);
    let reply = Found { direction: Direction::Reply, ..old };
    table.advance(&reply, UDP, Seen::Other, &timeouts, 20);
    assert_eq!(table.translation(&old), None);
    assert!(!table.end_found(&old));
    let now = table.find(&udp((INSIDE, 2), (REMOTE, 53)), 20).unwrap();
    assert!(!now.status.is_answered() && now.status.expires_s() == 40);
}

#[test]
fn workers_that_make_the_same_connection_make_one() {
    let (table, timeouts) = (Table::new(1 << 12, 7), Timeouts::default());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..1000 {
                    let tuple = udp((INSIDE, n), (REMOTE, 53));
                    let reply = tuple.inverse();
                    let create = || table.create(&tuple, &reply, Seen::Other, &timeouts, None, 10);
                    while create() == Err(Refused::Busy) {}
                    assert!(table.find(&reply, 10).is_some());
                }
            });
        }
    });
    assert_eq!(table.counters().begun, 1000);
}

#[test]
fn workers_that_make_and_end_connections_lose_none_and_leave_none() {
    let (table, timeouts) = (Table::new(512, 7), Timeouts::default());
    std::thread::scope(|scope| {
        for worker in 0..4u32 {
            let table = &table;
            scope.spawn(move || {
                for n in 0..5000u32 {
                    let tuple = udp((INSIDE + worker, (n % 64) as u16), (REMOTE, 53));
                    let reply = tuple.inverse();
                    if let Ok(found) = table.create(&tuple, &reply, Seen::Other, &timeouts, None, n)
                    {
                        let to = table.translation(&found);
                        assert!(to.is_none_or(|to| to == tuple), "{to:?}");
                        if n % 3 == 0 {
                            table.end_found(&found);
                        }
                    }
                }
            });
        }
    });
    table.sweep(0, 512, u32::MAX);
    let counted = table.counters();
    assert_eq!(counted.begun, counted.ended);
    let again = (0..512).filter(|n| {
        let tuple = udp((9, *n), (REMOTE, 53));
        table.create(&tuple, &tuple.inverse(), Seen::Other, &timeouts, None, 10).is_ok()
    });
    assert!(again.count() >= 510);
}

fn pool(ports: std::ops::RangeInclusive<u16>) -> Pool {
    Pool { addresses: vec![OUTSIDE..=OUTSIDE], ports, reserved: Vec::new() }
}

#[test]
fn an_endpoint_looks_the_same_to_all_and_keeps_its_port() {
    let (table, timeouts) = (Table::new(4096, 7), Timeouts::default());
    let nat = Nat { table: &table, timeouts: &timeouts, now_s: 10 };
    let pool = pool(1024..=65535);
    for remote in 0..20 {
        let sent = udp((INSIDE, 4000), (REMOTE + remote, 53));
        let begun = nat.from_inside(&sent, Seen::Other, &pool).unwrap();
        assert_eq!(begun.to, udp((OUTSIDE, 4000), (REMOTE + remote, 53)));
        let back = table.find(&begun.to.inverse(), 10).unwrap();
        assert_eq!(table.translation(&back), Some(sent.inverse()));
    }
    assert_eq!(nat.inside_of(&udp((1, 1), (OUTSIDE, 4000))), Some((INSIDE, 4000)));
}

#[test]
fn no_two_endpoints_share_a_port_and_parity_stays() {
    let (table, timeouts) = (Table::new(1 << 14, 7), Timeouts::default());
    let nat = Nat { table: &table, timeouts: &timeouts, now_s: 10 };
    let pool = pool(2001..=4000);
    let mut owners = HashMap::new();
    for host in 0..50 {
        for port in [4001u16, 4002, 999, 80] {
            let sent = udp((INSIDE + host, port), (REMOTE, 53));
            let to = nat.from_inside(&sent, Seen::Other, &pool).unwrap().to;
            assert!(pool.ports.contains(&to.source_port()), "{to:?}");
            assert_eq!(to.source_port() % 2, port % 2);
            assert_eq!(owners.insert(to.source_port(), (host, port)), None);
        }
    }
}

#[test]
fn a_pool_without_a_port_left_refuses_and_reserved_ones_are_nobodys() {
    let (table, timeouts) = (Table::new(4096, 7), Timeouts::default());
    let nat = Nat { table: &table, timeouts: &timeouts, now_s: 10 };
    let reserved = vec![(OUTSIDE, UDP, 5000..=5003)];
    let pool = Pool { reserved, ..pool(5000..=5007) };
    let mut begin = |port| nat.from_inside(&udp((INSIDE, port), (REMOTE, 53)), Seen::Other, &pool);
    let got: Vec<_> = [5000, 5002, 5001, 5003].map(&mut begin).into_iter().collect();
    let ports: HashSet<_> = got.iter().map(|it| it.unwrap().to.source_port()).collect();
    assert_eq!(ports, HashSet::from([5004, 5005, 5006, 5007]));
    assert_eq!(begin(6000).unwrap_err(), Refused::NoPort);
    let tcp = Tuple::ip4((INSIDE, 5000), (REMOTE, 80), TCP, 0);
    assert_eq!(nat.from_inside(&tcp, Seen::Tcp(flag::SYN), &pool).unwrap().to.source_port(), 5000);
}

#[test]
fn an_endpoint_lives_as_long_as_a_connection_of_it() {
    let (table, timeouts) = (Table::new(64, 7), Timeouts::default());
    let pool = pool(1024..=65535);
    let sent = Tuple::ip4((INSIDE, 4000), (REMOTE, 80), TCP, 0);
    let at = |now_s| Nat { table: &table, timeouts: &timeouts, now_s };
    let begun = at(10).from_inside(&sent, Seen::Tcp(flag::SYN), &pool).unwrap();
    for (tuple, flags) in [(begun.to.inverse(), flag::SYN | flag::ACK), (sent, flag::ACK)] {
        let found = table.find(&tuple, 10).unwrap();
        table.advance(&found, TCP, Seen::Tcp(flags), &timeouts, 10);
    }
    table.sweep(0, 64, 100_000);
    let inside = at(100_000).inside_of(&Tuple::ip4((1, 1), (OUTSIDE, 4000), TCP, 0));
    assert_eq!(inside, Some((INSIDE, 4000)));
    table.sweep(0, 64, 500_000);
    assert_eq!(table.counters().ended, 2);
}

#[test]
fn who_speaks_with_a_neighbour_by_its_outer_address_is_seen_by_its_own() {
    let (table, timeouts) = (Table::new(64, 7), Timeouts::default());
    let nat = Nat { table: &table, timeouts: &timeouts, now_s: 10 };
    let pool = pool(1024..=65535);
    let server = (INSIDE + 9, 80);
    let sent = Tuple::ip4((INSIDE, 4000), (OUTSIDE, 8080), TCP, 0);
    let begun = nat.hairpin(&sent, Seen::Tcp(flag::SYN), server, &pool).unwrap();
    assert_eq!(begun.to, Tuple::ip4((OUTSIDE, 4000), server, TCP, 0));
    let back = table.find(&begun.to.inverse(), 10).unwrap();
    assert_eq!(table.translation(&back), Some(sent.inverse()));
}

#[test]
fn echoes_are_told_apart_by_their_identifier() {
    let (table, timeouts) = (Table::new(64, 7), Timeouts::default());
    let nat = Nat { table: &table, timeouts: &timeouts, now_s: 10 };
    let pool = pool(1..=65535);
    let ask = |host| {
        let sent = Tuple::ip4((INSIDE + host, 77), (REMOTE, 8 << 8), ICMP4, 0);
        (sent, nat.from_inside(&sent, Seen::Question, &pool).unwrap().to)
    };
    let (one, two) = (ask(0), ask(1));
    assert_eq!(one.1.source_port(), 77);
    assert_ne!(two.1.source_port(), 77);
    for (sent, to) in [one, two] {
        let back = table.find(&to.inverse(), 10).unwrap();
        assert_eq!(table.translation(&back), Some(sent.inverse()));
    }
    let answer = Tuple::ip4((INSIDE, 5), (REMOTE, 0), ICMP4, 0);
    assert_eq!(nat.from_inside(&answer, Seen::Other, &pool), Err(Refused::Invalid));
}

#[test]
fn pieces_are_of_the_connection_of_their_first_one_while_that_is_there() {
    let (table, timeouts) = (Table::new(64, 7), Timeouts::default());
    let tuple = udp((INSIDE, 1), (REMOTE, 53));
    let found = table.create(&tuple, &tuple.inverse(), Seen::Other, &timeouts, None, 10).unwrap();
    let whose = Tuple::pieces4(INSIDE, REMOTE, 9, UDP, 0);
    assert_eq!(table.find_pieces(&whose, 10), None);
    table.remember_pieces(&whose, &found, 10);
    let of = table.find_pieces(&whose, 10).unwrap();
    assert_eq!(table.translation(&of), Some(tuple));
    assert_eq!(table.find_pieces(&whose, 40), None);
    table.end_found(&found);
    assert_eq!(table.find_pieces(&whose, 11), None);
}

#[test]
fn what_is_shown_is_what_there_is_and_what_is_picked_ends() {
    let (table, timeouts) = (Table::new(64, 7), Timeouts::default());
    for n in 0..10 {
        let tuple = udp((INSIDE, n), (REMOTE, 53));
        table.create(&tuple, &tuple.inverse(), Seen::Other, &timeouts, None, 10).unwrap();
    }
    let mut ports = Vec::new();
    let next = table.each(0, 64, 10, |shown| {
        ports.push(shown.original.source_port());
        shown.original.source_port() < 4
    });
    ports.sort_unstable();
    assert_eq!((next, ports), (0, (0..10).collect()));
    let mut left = 0;
    table.each(0, 64, 10, |_| {
        left += 1;
        false
    });
    assert_eq!(left, 6);
}
