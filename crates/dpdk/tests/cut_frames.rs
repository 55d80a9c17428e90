//! Frames that a card cuts into several buffers as they come. The card is a ring, which brings
//! buffers as they were sent.

#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]

mod rig;

use dpdk::kinds::Ring;
use dpdk::{PortOptions, PortSpec};
use packet::{Burst, PacketBuf, RxQueue, TxQueue};
use rig::{Opened, Rig, frame, rig, wait_until};
use wire::craft;

/// The first bytes of a frame of two buffers.
const FIRST_BYTES: usize = 1_792;

impl Rig {
    /// A ring for packets of so many bytes, in buffers of 2 KiB.
    fn ring(&self, mtu: u16) -> Opened {
        self.open_with(&PortSpec::Ring(Ring), PortOptions { mtu: Some(mtu), ..self.options() })
    }

    /// Sends frames, of which the longer ones lie in two buffers.
    fn send_cut(&mut self, port: &mut Opened, frames: &[&[u8]]) {
        let mut packet = |bytes| self.cache.copy_of(bytes).unwrap();
        let mut packets: Vec<_> = frames
            .iter()
            .map(|frame| {
                let Some((first, rest)) = frame.split_at_checked(FIRST_BYTES) else {
                    return packet(frame);
                };
                let mut whole = packet(first);
                assert!(whole.chain(packet(rest)).is_ok());
                whole
            })
            .collect();
        port.tx.send(&mut *self.cache, &mut packets);
        assert!(packets.is_empty());
    }

    /// So many packets that come next.
    fn packets(&mut self, port: &mut Opened, count: usize) -> Vec<PacketBuf> {
        let mut packets = Vec::new();
        wait_until("packets come", || {
            port.rx.receive(&mut *self.cache, 64, &mut packets);
            packets.len() >= count
        });
        packets
    }

    fn give_back(&mut self, mut packets: Vec<PacketBuf>) {
        self.cache.release(Burst::of(&mut packets));
    }
}

fn counted(port: &Opened, name: &str) -> u64 {
    let all = port.port.extended_stats().unwrap();
    all.into_iter().find(|(it, _)| it == name).map_or(0, |(_, count)| count)
}

fn in_one_buffer(packets: &[PacketBuf]) -> Vec<&[u8]> {
    assert!(packets.iter().all(|packet| packet.mbuf().nb_segs == 1 && packet.large().is_none()));
    packets.iter().map(PacketBuf::bytes).collect()
}

#[test]
fn frames_in_several_buffers_come_in_one_as_they_were_and_in_their_order() {
    let mut rig = rig();
    let mut ring = rig.ring(9_000);
    // A frame whose checksum is wrong is no business of a card's.
    let mut wrong = craft::ethernet([2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 4])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2])
        .tcp(1, 2)
        .payload(&[7; 2_000])
        .build();
    wrong[14 + 20 + 16] ^= 1;
    let (short, long, longest) = (frame(1, 60), frame(2, 3_000), frame(3, FIRST_BYTES + 2_048));
    let sent = [&short[..], &long, &short, &wrong, &longest, &short];
    for _ in 0..3 {
        rig.send_cut(&mut ring, &sent);
        let came = rig.packets(&mut ring, sent.len());
        assert_eq!(in_one_buffer(&came), sent);
        rig.give_back(came);
    }
    assert_eq!(counted(&ring, "rx_gathered_frames"), 9);
    let stats = ring.port.stats().unwrap();
    assert_eq!((stats.rx_errors, stats.rx_no_buffers), (0, 0));
    drop(ring);
    assert!(rig.nothing_leaked());
}

#[test]
fn a_cut_frame_without_a_buffer_or_longer_than_one_is_lost_alone() {
    let mut rig = rig();
    let mut ring = rig.ring(9_000);
    let (short, long) = (frame(1, 60), frame(2, 3_000));
    // All large buffers there are.
    let mut held = Vec::new();
    loop {
        rig.send_cut(&mut ring, &[&long, &short]);
        let came = rig.packets(&mut ring, 1);
        let is_last = came.len() == 1;
        assert!(held.len() < 10_000);
        held.extend(came);
        if is_last {
            break;
        }
    }
    assert_eq!(held.last().unwrap().bytes(), short);
    assert_eq!(ring.port.stats().unwrap().rx_no_buffers, 1);
    rig.give_back(held);
    // Of large buffers the first two that are free.
    let huge = frame(4, 60_000);
    let mut whole = rig.cache.copy_of(&huge).unwrap();
    assert!(whole.chain(rig.cache.copy_of(&huge).unwrap()).is_ok());
    ring.tx.send(&mut *rig.cache, &mut vec![whole]);
    rig.send_cut(&mut ring, &[&short, &long]);
    let came = rig.packets(&mut ring, 2);
    assert_eq!(in_one_buffer(&came), [&short[..], &long]);
    rig.give_back(came);
    assert_eq!(ring.port.stats().unwrap().rx_errors, 1);
    assert_eq!(counted(&ring, "rx_mbuf_allocation_errors"), 1);
    drop(ring);
    assert!(rig.nothing_leaked());
}

#[test]
fn a_running_port_that_gets_a_larger_mtu_brings_such_frames_from_then_on() {
    let mut rig = rig();
    let mut ring = rig.ring(1_500);
    let long = frame(2, 3_000);
    rig.send_cut(&mut ring, &[&long]);
    let came = rig.packets(&mut ring, 1);
    assert_eq!(came[0].mbuf().nb_segs, 2, "who needs no such frames pays nothing for them");
    rig.give_back(came);
    ring.port.set_mtu(9_000).unwrap();
    rig.send_cut(&mut ring, &[&long]);
    let came = rig.packets(&mut ring, 1);
    assert_eq!(in_one_buffer(&came), [&long[..]]);
    rig.give_back(came);
    drop(ring);
    assert!(rig.nothing_leaked());
}
