//! The same flows and packets for us and for Open vSwitch's own daemon: the same errors, the same
//! packets out, the same verdict as its `ofproto/trace` has.
//!
//! `OVS_CASES=20000` plays so many (300 when nothing is said), from `OVS_SEED` on; what differs is
//! made as small as it still differs, and shown with what the daemon says about it.

mod case;
mod chance;
mod connections;
mod exceptions;
mod generate;
mod ours;
mod packets;
mod peer;
mod shrink;
mod talks;
mod trace;

use case::{Case, Outcome};
use ours::Ours;
use peer::{BRIDGES, Peer};

/// Frames of a case by one port, at most: the daemon's ports hold no more.
const MOST_SENT: usize = 80;

fn number(name: &str, unsaid: u64) -> u64 {
    let Ok(text) = std::env::var(name) else { return unsaid };
    text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number"))
}

#[test]
fn flows_do_what_open_vswitch_does() {
    compare("flows", generate::case, 5);
}

#[test]
fn flows_track_connections_as_open_vswitch_does() {
    compare("connections", connections::case, 0);
}

#[test]
fn flows_know_who_began_a_connection_as_open_vswitch_does() {
    compare("origins", connections::case_of_origins, 0);
}

/// Plays cases of a kind, which have errors in so many of a hundred at least.
fn compare(kind: &str, case_of: fn(u64) -> Case, wrong: u64) {
    if !peer::is_there() {
        assert!(std::env::var("CI").is_err(), "scripts/setup installs ovs-vswitchd");
        println!("skipped: no ovs-vswitchd");
        return;
    }
    let (first, count) = (number("OVS_SEED", 1), number("OVS_CASES", 300));
    let most = number("OVS_DIFFERENCES", 1) as usize;
    let (mut peer, mut ours) = (Peer::start(kind), Ours::new());
    let mut found = 0;
    let seeds: Vec<u64> = (first..first + count).collect();
    let (mut packets, mut errors, mut sent) = (0, 0, 0);
    for seeds in seeds.chunks(BRIDGES) {
        let cases: Vec<Case> = seeds.iter().map(|seed| case_of(*seed)).collect();
        let mine: Vec<Outcome> = cases.iter().map(|case| ours.play(case)).collect();
        let (cases, mine): (Vec<_>, Vec<_>) =
            cases.into_iter().zip(mine).filter(|it| is_bounded(&it.1)).unzip();
        let theirs = peer.play(&cases, |_, _, _| ());
        for ((case, mine), theirs) in cases.iter().zip(&mine).zip(&theirs) {
            packets += case.packets.len();
            errors += mine.errors.len();
            sent += mine.packets.iter().flat_map(|it| &it.sent).map(Vec::len).sum::<usize>();
            if !mine.is(theirs) {
                explain(&mut peer, &mut ours, case);
                found += 1;
                assert!(found < most, "{found} cases differ: see above");
            }
        }
    }
    assert_eq!(found, 0, "cases differ: see above");
    println!(
        "{kind}: {count} cases from {first}: {packets} packets in, {sent} out, {errors} errors"
    );
    // A generator that makes nothing that passes, or nothing that is wrong, would prove nothing.
    let least = count * wrong / 100;
    assert!(sent as u64 > count && errors as u64 >= least, "{sent} packets, {errors} errors");
}

fn is_bounded(outcome: &Outcome) -> bool {
    let by = |port: usize| outcome.packets.iter().map(|fate| fate.sent[port].len()).sum::<usize>();
    (0..case::PORTS.into()).all(|port| by(port) < MOST_SENT)
}

/// Makes a case smaller as long as it differs, and shows it.
fn explain(peer: &mut Peer, ours: &mut Ours, case: &Case) {
    let mut case = case.clone();
    'again: loop {
        for smaller in shrink::smaller(&case).chunks(BRIDGES) {
            let mine: Vec<Outcome> = smaller.iter().map(|it| ours.play(it)).collect();
            let theirs = peer.play(smaller, |_, _, _| ());
            let differs = (0..smaller.len()).find(|at| !mine[*at].is(&theirs[*at]));
            if let Some(at) = differs {
                case = smaller[at].clone();
                continue 'again;
            }
        }
        break;
    }
    let mine = ours.play(&case);
    let mut told = Vec::new();
    let theirs = peer.play(std::slice::from_ref(&case), |_, _, text| told.push(text.to_owned()));
    println!("=== seed {} differs, version {:?}", case.seed, case.version);
    case.groups.iter().for_each(|it| println!("group {it:?}"));
    case.flows.iter().for_each(|it| {
        println!(
            "flow table {:?} priority {} {:?}\n     {:?}",
            it.table, it.priority, it.matching, it.program
        );
    });
    if mine.errors != theirs[0].errors {
        println!("errors: ours {:02x?}\n      theirs {:02x?}", mine.errors, theirs[0].errors);
    }
    for (at, (number, frame)) in case.packets.iter().enumerate() {
        let (mine, theirs) = (&mine.packets[at], &theirs[0].packets[at]);
        if mine == theirs {
            continue;
        }
        println!("packet in {number}: {}", shown(frame));
        println!("  verdict: ours {:?}, theirs {:?}", mine.verdict, theirs.verdict);
        for port in 0..case::PORTS.into() {
            if mine.sent[port] != theirs.sent[port] {
                let all = |it: &[Vec<u8>]| {
                    it.iter().map(|it| shown(it)).collect::<Vec<_>>().join("\n    ")
                };
                println!(
                    "  port {}: ours\n    {}\n  theirs\n    {}",
                    port + 1,
                    all(&mine.sent[port]),
                    all(&theirs.sent[port])
                );
            }
        }
        println!("{}", told[at]);
    }
}

fn shown(frame: &[u8]) -> String {
    frame.iter().map(|byte| format!("{byte:02x}")).collect()
}
