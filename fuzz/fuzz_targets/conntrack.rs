//! Packets of any bytes, through a small table with a translation: no panic, no more entries than
//! there is room for, and a translated packet is the one that it was to be. And lines of FTP: what
//! they tell stands in them.
#![no_main]

use conntrack::ftp::{self, Said};
use conntrack::{
    Nat, Pool, Read, Table, Timeouts, Verdict, read4, read6, translate_error4, translate4,
};
use libfuzzer_sys::fuzz_target;

const ROOM: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    for from in [(true, false), (false, false), (true, true), (false, true)] {
        told(bytes, from);
    }
    let (table, timeouts) = (Table::new(ROOM, 1), Timeouts::default());
    let pool = Pool { addresses: vec![1..=2], ports: 1000..=1003, reserved: Vec::new() };
    let (mut rest, mut now_s) = (bytes, 1);
    // A byte that says from where and how much later, one that says how long, and a packet.
    while let [how, length, behind @ ..] = rest {
        let (packet, next) = behind.split_at(usize::from(*length).min(behind.len()));
        rest = next;
        now_s += u32::from(how >> 2);
        let nat = Nat { table: &table, timeouts: &timeouts, now_s };
        take(&nat, &pool, how & 1 == 0, packet);
        read6(packet, 0);
        table.sweep(usize::from(how & 3), ROOM / 2, now_s);
        let counted = table.counters();
        assert!(counted.begun - counted.ended <= ROOM as u64, "{counted:?}");
    }
    table.sweep(0, ROOM, u32::MAX);
    assert_eq!(table.counters().begun, table.counters().ended);
});

/// What a line of a client or a server tells, over IPv4 or IPv6.
fn told(line: &[u8], (is_client, is_ip6): (bool, bool)) {
    let Said::Waits(told) = ftp::read(line, is_client, is_ip6) else { return };
    if let Some((address, place)) = told.address {
        assert!(!line[place].is_empty());
        assert_eq!(address.is_ipv6(), is_ip6);
    }
}

fn take(nat: &Nat<'_>, pool: &Pool, is_inside: bool, packet: &[u8]) {
    let mut packet = packet.to_vec();
    let found = |tuple| nat.table.find(tuple, nat.now_s);
    match read4(&packet, 0) {
        Read::Flow { tuple, seen, pieces } => {
            let known = found(&tuple).filter(|it| {
                let verdict =
                    nat.table.advance(it, tuple.protocol(), seen, nat.timeouts, nat.now_s);
                matches!(verdict, Verdict::Passes(_))
            });
            let to = match (known, is_inside) {
                (Some(found), _) => nat.table.translation(&found).map(|to| (found, to)),
                (None, true) => {
                    nat.from_inside(&tuple, seen, pool).ok().map(|begun| (begun.found, begun.to))
                }
                (None, false) => {
                    // Who has no ports is forwarded without one.
                    let port = if matches!(tuple.protocol(), 1 | 6 | 17) { 9 } else { 0 };
                    nat.to_inside(&tuple, seen, (9, port)).ok().map(|begun| (begun.found, begun.to))
                }
            };
            let Some((found, to)) = to else { return };
            if let Some(whose) = pieces {
                nat.table.remember_pieces(&whose, &found, nat.now_s);
            }
            translate4(&mut packet, &to);
            let Read::Flow { tuple, .. } = read4(&packet, 0) else { panic!("no packet any more") };
            assert_eq!(tuple, to);
        }
        Read::Piece(whose) => {
            let to = nat.table.find_pieces(&whose, nat.now_s);
            let Some(to) = to.and_then(|found| nat.table.translation(&found)) else { return };
            translate4(&mut packet, &to);
        }
        Read::Error(inner) => {
            let to = found(&inner.tuple.inverse());
            let Some(to) = to.and_then(|found| nat.table.translation(&found)) else { return };
            translate_error4(&mut packet, inner.at, 7, to.destination4(), &to.inverse());
            let Read::Error(told) = read4(&packet, 0) else { panic!("no error any more") };
            assert_eq!(told.tuple, to.inverse());
        }
        Read::Broken => {}
    }
}
