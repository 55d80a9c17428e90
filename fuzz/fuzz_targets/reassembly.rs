//! Pieces of packets, as any bytes say: no panic, no more held than may be, and what is whole says
//! its own length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use reassembly::{Limits, Piece, Reassembly, cut};
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::{craft, ip, ipv4, ipv6};

const LIMITS: Limits = Limits { datagrams: 4, pieces: 8, bytes: 8_000 };

fuzz_target!(|bytes: &[u8]| {
    let mut table = Reassembly::new(LIMITS);
    // The bytes as they are, and as pieces that only they place.
    take(&mut table, 0, bytes);
    for (now_ns, said) in (0..).zip(bytes.chunks_exact(4)) {
        let packet = piece(said);
        take(&mut table, now_ns * 5_000_000_000, &packet);
    }
    table.expire(u64::MAX);
    assert_eq!(table.held(), (0, 0));
});

/// `said`: which family and datagram, where, how long, and whether more follow.
fn piece(said: &[u8]) -> Vec<u8> {
    let (offset, more) =
        ((usize::from(said[1]) * 8) | (usize::from(said[2] & 3) << 14), said[2] & 4 != 0);
    let (identification, payload) = (said[0] >> 5, vec![said[2] >> 3; usize::from(said[3]) * 4]);
    if said[0] & 1 == 0 {
        let packet = craft::ipv4(Ipv4Addr::LOCALHOST, Ipv4Addr::BROADCAST).protocol(17);
        let packet = packet.identification(identification.into()).fragment(offset, more);
        return packet.payload(&payload).build();
    }
    let packet = craft::ipv6(Ipv6Addr::LOCALHOST, Ipv6Addr::UNSPECIFIED);
    let packet = packet.fragment_header(offset, more, identification.into()).next_header(17);
    packet.payload(&payload).build()
}

fn take(table: &mut Reassembly, now_ns: u64, packet: &[u8]) {
    let Ok(piece) = Piece::of(packet, 0) else { return };
    let whole = table.accept(now_ns, 1, &piece);
    let (datagrams, held) = table.held();
    assert!(datagrams <= LIMITS.datagrams && held <= LIMITS.bytes);
    table.expire(now_ns);
    let Some(whole) = whole else { return };
    let said = match ip::version(&whole) {
        6 => ipv6::Header::LEN + usize::from(ipv6::Header::new(&whole).unwrap().payload_len()),
        _ => usize::from(ipv4::Header::new(&whole).unwrap().total_len()),
    };
    assert_eq!(said, whole.len());
    let lengths: usize = cut(&whole, 1280, 1).iter().map(Vec::len).sum();
    assert!(lengths >= whole.len());
}
