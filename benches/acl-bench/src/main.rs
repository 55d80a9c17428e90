//! `acl-bench`: our access lists beside DPDK's, in one run, over the same rules and packets.
//!
//! ```text
//!   a case: flavour, rules       round 1: volley, rte_acl scalar, AVX2, AVX-512   round 2: …
//!   a figure is the median over all vectors of 256 packets, each classified alone
//! ```
//! Each packet is made for a rule drawn at random, so that no rule stays in a cache by itself; rows
//! go to `target/bench-acl.json`, or a file that is named. `--quick` is a smoke run, `--edits`
//! measures changes of one rule.

mod edits;
mod reference;

use acl::synthetic::{self, Flavour, Made, Numbers};
use acl::{Acl, Action, CELLS4, CELLS6, Family, Fields, Key, Rule, Transport, Verdict};
use reference::{Algorithm, List, Packet};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io;
use std::process::ExitCode;

const VECTOR: usize = 256;
/// Vectors of packets that are classified in turn.
const VECTORS: usize = 128;
const ROUNDS: usize = 15;
/// What a list of ours may take.
const ROOM: usize = 1 << 30;
const COUNTS: [usize; 4] = [100, 1_000, 10_000, 50_000];
const ALGORITHMS: [Algorithm; 3] = [Algorithm::Scalar, Algorithm::Avx2, Algorithm::Avx512];

const USE: &str = "acl-bench [--quick | --edits] [FILE.json]";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("acl-bench: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let (flags, files): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let (usual, measure): (_, fn() -> _) = match flags[..] {
        [] => ("target/bench-acl.json", || measure(ROUNDS)),
        ["--quick"] => ("target/bench-acl.json", || measure(1)),
        ["--edits"] => ("target/bench-acl-edits.json", edits::measure),
        _ => return Err(format!("`{}` is unknown. Use: {USE}", flags.join(" "))),
    };
    let path = match &files[..] {
        [] => usual,
        [file] => file,
        _ => return Err(format!("more than one file. Use: {USE}")),
    };
    let fail = |error: io::Error| format!("{path}: {error}");
    // Before minutes go by; what an earlier run wrote stays until there is something new.
    File::options().create(true).append(true).open(path).map_err(fail)?;
    fs::write(path, format!("{:#}\n", Value::from(measure()?))).map_err(fail)
}

fn measure(rounds: usize) -> Result<Vec<Value>, String> {
    reference::start()?;
    let mut rows = Vec::new();
    for flavour in [Flavour::Acl, Flavour::Firewall, Flavour::Chain] {
        for count in COUNTS {
            rows.push(case::<u32, CELLS4>(flavour, count, rounds, beside_dpdk)?);
            rows.push(case::<u128, CELLS6>(flavour, count, rounds, |_, _| Ok(Vec::new()))?);
        }
    }
    Ok(rows)
}

/// Classifies the packets of a vector.
type Contestant<'a> = (String, Box<dyn FnMut(usize, &mut [u32]) -> bool + 'a>);

/// Who classifies the same packets by the same rules.
type Others<A> = fn(&[(u32, Rule<A>)], &[Fields<A>]) -> Result<Vec<Contestant<'static>>, String>;

/// DPDK's, and its packets.
fn beside_dpdk(
    rules: &[(u32, Rule<u32>)],
    packets: &[Fields<u32>],
) -> Result<Vec<Contestant<'static>>, String> {
    let contestant = |by: Algorithm| -> Result<Contestant<'static>, String> {
        let list = List::new(rules)?;
        let packets: Vec<Packet> = packets.iter().map(Packet::from).collect();
        let classify = move |vector: usize, found: &mut [u32]| {
            let vector = &packets[vector * VECTOR..][..VECTOR];
            let pointers: [*const Packet; VECTOR] = std::array::from_fn(|n| &raw const vector[n]);
            list.classify(&pointers, found, by)
        };
        Ok((format!("rte_acl {by:?}").to_lowercase(), Box::new(classify)))
    };
    ALGORITHMS.into_iter().map(contestant).collect()
}

fn case<A: Made + Family<N>, const N: usize>(
    flavour: Flavour,
    count: usize,
    rounds: usize,
    others: Others<A>,
) -> Result<Value, String> {
    let rules: Vec<_> =
        synthetic::rules::<A>(flavour, count, 5).into_iter().map(of_five_fields).collect();
    let mut numbers = Numbers::new(6);
    let packets: Vec<Fields<A>> = (0..VECTORS * VECTOR)
        .map(|_| with_ports(synthetic::packet(&rules, &mut numbers)))
        .collect();
    let list = Acl::<N>::new(&rules, Action::Deny, ROOM).map_err(|error| error.to_string())?;
    let keys: Vec<Key<N>> = packets.iter().map(Key::new).collect();
    let mut verdicts = [Verdict::none(Action::Deny); VECTOR];
    let ours = |vector: usize, found: &mut [u32]| {
        list.classify(&keys[vector * VECTOR..][..VECTOR], &mut verdicts);
        for (found, verdict) in found.iter_mut().zip(&verdicts) {
            *found = verdict.number().map_or(0, |number| number + 1);
        }
        true
    };
    let mut contestants: Vec<Contestant<'_>> = vec![("volley".to_owned(), Box::new(ours))];
    contestants.extend(others(&rules, &packets)?);
    let figures = race(&mut contestants, rounds)?;
    let shape = list.shape();
    let family = if A::BITS == 32 { "IPv4" } else { "IPv6" };
    let mut row = json!({ "flavour": format!("{flavour:?}"), "family": family, "rules": count,
        "bytes": shape.bytes, "trees": shape.trees });
    let mut line = format!("{flavour:?} {family} {count} rules, {} KiB:", shape.bytes >> 10);
    for (name, cycles) in figures {
        line += &format!("  {name} {cycles:.1}");
        row[name] = json!((cycles * 10.0).round() / 10.0);
    }
    eprintln!("{line}");
    Ok(row)
}

/// DPDK knows nothing of messages and flags.
fn of_five_fields<A: Made>((number, rule): (u32, Rule<A>)) -> (u32, Rule<A>) {
    (number, Rule { icmp: None, tcp_flags: None, ..rule })
}

/// Nor of packets without ports: it reads zeros there, which ours shall see, too.
fn with_ports<A>(packet: Fields<A>) -> Fields<A> {
    let transport = match packet.transport {
        Transport::Ports(..) => packet.transport,
        Transport::Unknown | Transport::Icmp(..) => Transport::Ports(0, 0),
    };
    Fields { transport, tcp_flags: None, ..packet }
}

/// Cycles a packet, one contestant after the other again and again. All must find the same.
fn race(
    contestants: &mut Vec<Contestant<'_>>,
    rounds: usize,
) -> Result<Vec<(String, f64)>, String> {
    let mut found = [0; VECTOR];
    contestants.retain_mut(|(_, classify)| classify(0, &mut found));
    let mut figures = vec![Vec::with_capacity(rounds * VECTORS); contestants.len()];
    for _ in 0..rounds {
        let mut first = Vec::new();
        for ((name, classify), figures) in contestants.iter_mut().zip(&mut figures) {
            let mut all = Vec::with_capacity(VECTORS * VECTOR);
            for vector in 0..VECTORS {
                let before = time_stamp();
                classify(vector, &mut found);
                figures.push((time_stamp() - before) as f64 / VECTOR as f64);
                all.extend_from_slice(&found);
            }
            if first.is_empty() {
                first = all;
            } else if first != all {
                return Err(format!("{name} finds other rules"));
            }
        }
    }
    let median = |mut figures: Vec<f64>| {
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    };
    let names = contestants.iter().map(|(name, _)| name.clone());
    Ok(names.zip(figures.into_iter().map(median)).collect())
}

#[allow(unsafe_code)] // Reads the clock.
fn time_stamp() -> u64 {
    // SAFETY: every x86-64 machine has it, and it touches nothing.
    unsafe { std::arch::x86_64::_rdtsc() }
}
