//! Pieces of crafted packets, in and out of order.

use crate::{Counters, Fault, Late, Limits, Piece, Reassembly, cut};
use proptest::prelude::*;
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::craft::{self, Craft, Ipv4, Ipv6};

const HOST: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
const US: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const HOST6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);
const US6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const SECOND_NS: u64 = 1_000_000_000;

fn of4() -> Craft<Ipv4> {
    craft::ipv4(HOST, US).identification(77).protocol(17)
}

fn of6() -> Craft<Ipv6> {
    craft::ipv6(HOST6, US6)
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 7 % 251) as u8).collect()
}

/// One piece, of the IPv4 datagram `bytes(…)`.
fn piece4(from: usize, to: usize, more: bool) -> Vec<u8> {
    of4().fragment(from, more).payload(&bytes(to)[from..]).build()
}

fn give(table: &mut Reassembly, packet: &[u8]) -> Option<Vec<u8>> {
    table.accept(0, 3, &Piece::of(packet, 0).unwrap())
}

fn table() -> Reassembly {
    Reassembly::new(Limits::default())
}

#[test]
fn pieces_of_both_families_become_the_packet_that_was_cut() {
    let four = of4().payload(&bytes(4000)).build();
    let six = of6().next_header(17).payload(&bytes(4000)).build();
    for whole in [four, six] {
        let (pieces, mut table) = (cut(&whole, 1280, 9), table());
        assert!(pieces.len() == 4 && pieces.iter().all(|piece| piece.len() <= 1280));
        for piece in pieces.iter().skip(1).rev() {
            assert_eq!(give(&mut table, piece), None);
        }
        assert_eq!(give(&mut table, &pieces[0]), Some(whole));
        assert_eq!((table.held(), table.next_due_ns()), ((0, 0), None));
        assert_eq!(table.counters, Counters { pieces: 4, whole: 1, ..Counters::default() });
    }
}

#[test]
fn pieces_that_are_cut_are_the_crafted_ones() {
    let packet = of4().payload(&bytes(40)).build();
    assert_eq!(
        cut(&packet, 36, 0),
        [piece4(0, 16, true), piece4(16, 32, true), piece4(32, 40, false)]
    );
    assert_eq!(cut(&packet, 60, 0), std::slice::from_ref(&packet));
    assert!(cut(&packet, 27, 0).is_empty());
    let packet = of6().next_header(17).payload(&bytes(26)).build();
    let piece = |from: usize, to, more| {
        of6().fragment_header(from, more, 9).next_header(17).payload(&bytes(to)[from..]).build()
    };
    assert_eq!(cut(&packet, 65, 9), [piece(0, 16, true), piece(16, 26, false)]);
}

#[test]
fn extension_headers_before_the_fragment_header_are_kept() {
    let first = of6().destination_options(&[]).fragment_header(0, true, 1);
    let last = of6().destination_options(&[]).fragment_header(16, false, 1);
    let mut table = table();
    assert_eq!(give(&mut table, &last.next_header(17).payload(&bytes(20)[16..]).build()), None);
    let whole = give(&mut table, &first.next_header(17).payload(&bytes(16)).build());
    let expected = of6().destination_options(&[]).next_header(17).payload(&bytes(20)).build();
    assert_eq!(whole, Some(expected));
}

#[test]
fn a_piece_that_came_before_changes_nothing() {
    let mut table = table();
    give(&mut table, &piece4(0, 8, true));
    give(&mut table, &piece4(8, 24, true));
    let held = table.held();
    give(&mut table, &piece4(0, 8, true));
    give(&mut table, &piece4(0, 16, true));
    assert_eq!((table.counters.duplicates, table.held()), (2, held));
    assert!(give(&mut table, &piece4(24, 30, false)).is_some());
}

#[test]
fn an_overlap_discards_the_datagram_and_what_comes_of_it_later() {
    let other = of4().fragment(8, true).payload(&[9; 8]).build();
    let overlaps = [piece4(0, 16, true), piece4(8, 24, true), piece4(16, 23, false), other];
    for overlap in overlaps {
        let mut table = table();
        give(&mut table, &piece4(8, 16, true));
        give(&mut table, &piece4(24, 32, false));
        assert_eq!(give(&mut table, &overlap), None);
        for late in [piece4(0, 8, true), piece4(16, 24, true)] {
            assert_eq!(give(&mut table, &late), None);
        }
        assert_eq!(table.counters.overlapping, 3, "{overlap:x?}");
        assert_eq!(table.expire(u64::MAX), []);
    }
}

#[test]
fn what_is_late_is_told_with_its_first_piece_and_only_with_that() {
    let (mut table, first) = (table(), piece4(0, 8, true));
    give(&mut table, &first);
    give(&mut table, &of4().identification(78).fragment(8, true).payload(&bytes(8)).build());
    assert_eq!(
        (table.next_due_ns(), table.expire(30 * SECOND_NS - 1)),
        (Some(30 * SECOND_NS), vec![])
    );
    assert_eq!(table.expire(30 * SECOND_NS), [Late { rx: 3, first }]);
    assert_eq!((table.counters.timed_out, table.held()), (2, (0, 0)));
    let first = of6().fragment_header(0, true, 1).next_header(17).payload(&bytes(8)).build();
    give(&mut table, &first);
    assert_eq!(table.expire(60 * SECOND_NS), [Late { rx: 3, first }]);
}

#[test]
fn packets_that_are_no_pieces_to_hold_are_told_apart() {
    let piece = |from, more, payload: &[u8]| {
        of6().fragment_header(from, more, 1).next_header(17).payload(payload).build()
    };
    for (packet, fault) in [
        (piece(0, true, &bytes(9)), Fault::NotWholeEights),
        (piece(65528, false, &bytes(8)), Fault::TooLong { at: 42 }),
        (piece(0, false, &bytes(8)), Fault::Malformed),
        (piece(8, false, &[]), Fault::Malformed),
        (of6().next_header(17).payload(&bytes(8)).build(), Fault::Malformed),
        (
            of6().fragment_header(0, true, 1).destination_options(&[]).next_header(17).build(),
            Fault::HeadersMissing,
        ),
        (of4().fragment(8, true).payload(&bytes(7)).build(), Fault::Malformed),
        (of4().payload(&bytes(7)).build(), Fault::Malformed),
    ] {
        assert_eq!(Piece::of(&packet, 0).unwrap_err(), fault, "{packet:x?}");
    }
}

#[test]
fn nothing_longer_than_packets_are_is_put_together() {
    let mut table = table();
    let mut piece = |from: usize, len, more| {
        give(&mut table, &of4().fragment(from, more).payload(&bytes(len)).build())
    };
    for from in (0..64_512).step_by(1024) {
        assert_eq!(piece(from, 1024, true), None);
    }
    assert_eq!((piece(64_512, 1016, true), piece(65_528, 8, false)), (None, None));
    assert_eq!((table.counters.too_long, table.held()), (1, (0, 0)));
}

#[test]
fn a_flood_keeps_to_the_bounds_and_the_oldest_go() {
    let limits = Limits { datagrams: 10, pieces: 4, bytes: 20_000 };
    let mut table = Reassembly::new(limits);
    for number in 0..1000u16 {
        let (identification, from) = (number / 5, usize::from(number % 5) * 1008);
        give(
            &mut table,
            &of4()
                .identification(identification)
                .fragment(from, true)
                .payload(&bytes(1000))
                .build(),
        );
        let (datagrams, held) = table.held();
        assert!(datagrams <= limits.datagrams && held <= limits.bytes, "{datagrams} {held}");
    }
    assert_eq!(table.counters.too_many_pieces, 200);
    assert_eq!(table.counters.evicted as usize, 200 - table.held().0);
    for identification in 0..1000 {
        let piece =
            of4().identification(identification).fragment(8, true).payload(&bytes(8)).build();
        give(&mut table, &piece);
    }
    assert_eq!(table.held().0, limits.datagrams);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_order_gives_the_packet(len in 1usize..9000, mtu in 576usize..1500, six: bool, seed: u64) {
        let whole = match six {
            true => of6().next_header(17).payload(&bytes(len)).build(),
            false => of4().payload(&bytes(len)).build(),
        };
        prop_assume!(whole.len() > mtu);
        let mut pieces = cut(&whole, mtu, 5);
        let mut turn = seed;
        pieces.sort_by_cached_key(|_| {
            turn = turn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            turn >> 33
        });
        let (mut table, mut got) = (table(), None);
        for piece in &pieces {
            prop_assert!(got.is_none());
            got = give(&mut table, piece);
        }
        prop_assert_eq!(got, Some(whole));
    }
}
