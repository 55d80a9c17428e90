//! Ports that need neither rights nor other processes: ring, null, pcap.

#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]

mod rig;

use dpdk::kinds::{Null, Pcap, Ring};
use dpdk::{Port, PortSpec};
use packet::{Burst, Pool, RxQueue, TxQueue};
use rig::{Opened, frames, rig, wait_until};
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[test]
fn a_ring_gives_back_what_it_got() {
    let mut rig = rig();
    let mut ring = rig.open(&PortSpec::Ring(Ring));
    let sent = frames(32);
    rig.send(&mut ring, &sent);
    assert_eq!(rig.expect(&mut ring, 32), sent);
    drop(ring);
    assert!(rig.nothing_leaked());
}

#[test]
fn two_ports_of_one_kind_are_two() {
    let mut rig = rig();
    let (mut one, mut other) = (rig.open(&PortSpec::Ring(Ring)), rig.open(&PortSpec::Ring(Ring)));
    rig.send(&mut one, &frames(3));
    assert!(rig.receive(&mut other).is_empty());
    assert_eq!(rig.expect(&mut one, 3).len(), 3);
}

#[test]
fn a_null_port_receives_for_ever_and_swallows_what_is_sent() {
    let mut rig = rig();
    let mut null = rig.open(&PortSpec::Null(Null { packet_bytes: 64 }));
    let mut packets = Vec::new();
    for _ in 0..50 {
        null.rx.receive(&mut *rig.cache, 256, &mut packets);
        assert!(!packets.is_empty());
        assert!(packets.iter().all(|packet| packet.bytes().len() == 64));
        null.tx.send(&mut *rig.cache, &mut packets);
        assert!(packets.is_empty());
    }
    drop(null);
    assert!(rig.nothing_leaked());
}

#[test]
fn a_pcap_file_goes_in_and_comes_out_byte_for_byte() {
    let mut rig = rig();
    let folder = std::env::temp_dir().join(format!("dpdk-pcap-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (input, output) = (folder.join("in.pcap"), folder.join("out.pcap"));
    let sent = frames(40);
    fs::write(&input, pcap(&sent)).unwrap();
    let spec = PortSpec::Pcap(Pcap { rx: Some(input), tx: Some(output.clone()), repeat: false });
    let mut port = rig.open(&spec);
    let received = rig.expect(&mut port, 40);
    assert_eq!(received, sent);
    rig.send(&mut port, &received);
    drop(port);
    assert_eq!(records(&fs::read(&output).unwrap()), sent);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_repeating_pcap_file_has_no_end() {
    let mut rig = rig();
    let file = std::env::temp_dir().join(format!("dpdk-pcap-{}.pcap", std::process::id()));
    let sent = frames(4);
    fs::write(&file, pcap(&sent)).unwrap();
    let spec = PortSpec::Pcap(Pcap { rx: Some(file.clone()), tx: None, repeat: true });
    let mut port = Port::open(&rig.eal, &spec, rig.options()).unwrap();
    port.start().unwrap();
    let (rx, tx) = (port.rx(0).unwrap(), port.tx(0).unwrap());
    let mut opened = rig::Opened { rx, tx, port };
    let received = rig.expect(&mut opened, 10);
    assert_eq!(received[..8], [&sent[..], &sent[..]].concat());
    fs::remove_file(&file).unwrap();
}

#[test]
fn a_file_that_is_not_there_is_an_error_that_names_it() {
    let rig = rig();
    let spec = PortSpec::Pcap(Pcap { rx: Some("/no/such.pcap".into()), tx: None, repeat: false });
    let error = Port::open(&rig.eal, &spec, rig.options()).err().unwrap().to_string();
    assert!(error.contains("/no/such.pcap"), "{error}");
}

/// The classic format, nanoseconds no, snap length 64 KiB, Ethernet.
fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 1] {
        file.extend(word.to_le_bytes());
    }
    for frame in frames {
        let length = frame.len() as u32;
        for word in [0, 0, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

fn records(file: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = &file[24..];
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        frames.push(rest[16..16 + length].to_vec());
        rest = &rest[16 + length..];
    }
    frames
}

#[test]
fn a_port_closes_under_a_worker_that_polls_it() {
    let rig = rig();
    for _ in 0..20 {
        let null = rig.open(&PortSpec::Null(Null { packet_bytes: 64 }));
        let Opened { mut rx, mut tx, port } = null;
        let (received, stop) = (AtomicU64::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut cache = rig.pool.cache();
                while !stop.load(Ordering::Relaxed) {
                    let mut packets = Vec::new();
                    rx.receive(&mut *cache, 32, &mut packets);
                    received.fetch_add(packets.len() as u64, Ordering::Relaxed);
                    tx.send(&mut *cache, &mut packets);
                    cache.release(Burst::of(&mut packets));
                }
            });
            wait_until("packets flow", || received.load(Ordering::Relaxed) > 1000);
            drop(port);
            let after = received.load(Ordering::Relaxed);
            std::thread::yield_now();
            // At most the burst that was being counted.
            assert!(received.load(Ordering::Relaxed) <= after + 32);
            stop.store(true, Ordering::Relaxed);
        });
    }
    assert!(rig.nothing_leaked());
}
