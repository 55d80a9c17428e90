//! What ports open they close: nothing is left of it after many cycles.
//!
//! Linux takes its time to let go of a device or a socket, some tens of milliseconds, so that a
//! test of every day does as many as fit; `PORT_CYCLES=1000` does that many, however long it takes
//! (`make soak`).
#![allow(unsafe_code, reason = "namespaces and packet sockets")]
#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]

mod rig;

use dpdk::kinds::{AfPacket, AfXdp, Memif, Tap};
use dpdk::{MemifRole, Port, PortSpec};
use packet::Pool;
use rig::network::{own_namespace, run, veth};
use rig::{Rig, rig, wait_until};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// So many cycles, or as many as fit.
const CYCLES: usize = 1_000;
const PATIENCE: Duration = Duration::from_secs(4);

/// How many cycles, and how long they may take.
fn wanted() -> (usize, Duration) {
    let Ok(said) = std::env::var("PORT_CYCLES") else { return (CYCLES, PATIENCE) };
    (said.parse().unwrap(), Duration::MAX)
}

/// How many descriptors of each sort this process has: sockets by family, BPF objects by kind.
fn descriptors() -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for entry in std::fs::read_dir("/proc/self/fd").unwrap().flatten() {
        let Ok(target) = std::fs::read_link(entry.path()) else { continue };
        let target = target.to_string_lossy().into_owned();
        let number = entry.file_name().to_string_lossy().parse().unwrap();
        let sort = match target.split_once(":[") {
            Some((sort, _)) => format!("{sort} {}", family(number)),
            None => target,
        };
        *counts.entry(sort).or_insert(0) += 1;
    }
    counts
}

fn family(socket: i32) -> i32 {
    let (mut family, mut size) = (0, 4);
    // SAFETY: four bytes of ours.
    unsafe {
        let value = (&raw mut family).cast();
        libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_DOMAIN, value, &mut size);
    }
    family
}

/// Nothing more is open after many cycles than after the first, which opens what stays for all.
fn nothing_is_left(what: &str, mut cycle: impl FnMut()) {
    cycle();
    let (before, start) = (descriptors(), Instant::now());
    let ((most, patience), mut cycles) = (wanted(), 0);
    while cycles < most && start.elapsed() < patience {
        cycle();
        cycles += 1;
    }
    let took = start.elapsed();
    assert_eq!(descriptors(), before, "after {cycles} cycles of {what}");
    assert!(cycles >= 5.min(most), "{cycles} cycles in {took:?}");
    let open: usize = before.values().sum();
    eprintln!("{what}: {cycles} cycles in {took:.1?}, {open} descriptors before and after");
}

fn opened_and_closed(rig: &Rig, what: &str, spec: impl Into<PortSpec>) {
    let spec = spec.into();
    nothing_is_left(what, || drop(rig.open(&spec)));
    assert!(rig.nothing_leaked(), "buffers of {what}");
}

#[test]
fn xdp_ports_leave_no_maps_nor_programs() {
    if !own_namespace() {
        return;
    }
    let rig = rig();
    let spec = PortSpec::from(AfXdp::usual("v0".into()));
    // A device of its own for each: the kernel lets go of a queue some time after its socket.
    let cycle = |between: &[&str]| {
        veth("v0", "v1");
        let opened = rig.open(&spec);
        between.iter().for_each(|command| run(command));
        drop(opened);
        run("ip link del v0");
    };
    nothing_is_left("af_xdp", || cycle(&[]));
    nothing_is_left("af_xdp over a link that flaps", || {
        cycle(&["ip link set v1 down", "ip link set v1 up"]);
    });
    assert!(rig.nothing_leaked());
}

#[test]
fn xdp_ports_that_cannot_be_opened_take_nothing() {
    if !own_namespace() {
        return;
    }
    let rig = rig();
    veth("v0", "v1");
    let refused = |first_queue| {
        let spec = AfXdp { first_queue, ..AfXdp::usual("v0".into()) }.into();
        Port::open(&rig.eal, &spec, rig.options()).err().expect("no such queue")
    };
    refused(7);
    let before = descriptors();
    // A pool has room for four of them.
    (0..5).for_each(|_| drop(refused(7)));
    assert!(rig.nothing_leaked(), "{:?}", rig.pool.usage());
    // One whose queue another has, beside that other: what is in use stays in use.
    let opened = rig.open(&AfXdp::usual("v0".into()).into());
    let in_use = rig.pool.usage().free;
    (0..5).for_each(|_| drop(refused(0)));
    assert_eq!(rig.pool.usage().free, in_use);
    drop(opened);
    assert!(rig.nothing_leaked(), "{:?}", rig.pool.usage());
    assert_eq!(descriptors(), before);
}

#[test]
fn packet_sockets_and_taps_leave_nothing() {
    if !own_namespace() {
        return;
    }
    let rig = rig();
    veth("v0", "v1");
    opened_and_closed(&rig, "af_packet", AfPacket::usual("v0".into()));
    opened_and_closed(&rig, "tap", Tap { name: "vt0".into() });
}

#[test]
fn both_ends_of_a_memif_leave_nothing() {
    let rig = rig();
    let socket = std::env::temp_dir().join(format!("dpdk-cycles-{}.sock", std::process::id()));
    let end = |role| PortSpec::from(Memif::usual(role, socket.clone(), 0));
    let (server, client) = (end(MemifRole::Server), end(MemifRole::Client));
    nothing_is_left("memif", || {
        let (server, client) = (rig.open(&server), rig.open(&client));
        let up = |port: &dpdk::Port| port.link().unwrap().up;
        wait_until("both are up", || up(&server.port) && up(&client.port));
    });
    nothing_is_left("a memif without a peer", || drop(rig.open(&client)));
    assert!(rig.nothing_leaked());
    assert!(!socket.exists());
}
