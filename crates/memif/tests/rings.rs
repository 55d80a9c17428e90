//! What a peer may write into rings, and what becomes of it: both roles, each field.
#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]

use memif::Role;
use memif::probe::{Lied, Peer, Probe};
use packet::{Burst, HeapPool, PacketCache, Pool};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

const LOG2: u8 = 3;
const BUFFER: u16 = 256;
const SIZE: u16 = 1 << LOG2;
/// From one of a client's buffers to the next: an odd number of cache lines.
const STRIDE: u32 = 320;
/// Where the memory's rings end, and the buffers of the first begin.
const BUFFERS: u32 = 2 * (128 + 16 * SIZE as u32);

struct Rig {
    probe: Probe,
    peer: Peer,
    pool: HeapPool,
    cache: Box<dyn PacketCache>,
    /// Where the ring is out of which we receive, and that into which we send.
    incoming: usize,
    outgoing: usize,
    role: Role,
}

impl Rig {
    fn new(role: Role) -> Self {
        let pool = HeapPool::new(64, 512).unwrap();
        let (to_server, to_client) = (0, Probe::to_client(LOG2));
        let (incoming, outgoing) = match role {
            Role::Server => (to_server, to_client),
            Role::Client => (to_client, to_server),
        };
        let probe = Probe::new(role, LOG2, BUFFER).unwrap();
        let peer = probe.peer();
        Self { probe, peer, cache: pool.cache(), pool, incoming, outgoing, role }
    }

    /// The counter that the peer moves of a ring: a client the head, a server the tail.
    fn move_to(&self, ring: usize, value: u16) {
        let at = if self.role == Role::Server { ring + 6 } else { ring + 64 };
        self.peer.write(at, &value.to_ne_bytes());
    }

    fn describe(&self, ring: usize, slot: u16, flags: u16, region: u16, length: u32, offset: u32) {
        let mut bytes = [0; 16];
        bytes[..2].copy_from_slice(&flags.to_ne_bytes());
        bytes[2..4].copy_from_slice(&region.to_ne_bytes());
        bytes[4..8].copy_from_slice(&length.to_ne_bytes());
        bytes[8..12].copy_from_slice(&offset.to_ne_bytes());
        self.peer.write(ring + 128 + usize::from(slot % SIZE) * 16, &bytes);
    }

    /// Buffers that did not come back.
    fn lost(&self) -> usize {
        let usage = self.pool.usage();
        usage.total - usage.free
    }

    fn receive(&mut self) -> Result<Vec<Vec<u8>>, Lied> {
        let mut packets = Vec::new();
        let outcome = self.probe.receive(&mut *self.cache, 64, &mut packets);
        let frames = packets.iter().map(|packet| packet.bytes().to_vec()).collect();
        self.cache.release(Burst::of(&mut packets));
        outcome.map(|()| frames)
    }

    fn send(&mut self, frames: &[&[u8]]) -> Result<usize, Lied> {
        let mut packets: Vec<_> =
            frames.iter().map(|frame| self.cache.copy_of(frame).unwrap()).collect();
        let (probe, cache) = (&mut self.probe, &mut *self.cache);
        let mut outcome = Ok(false);
        let done = Burst::offer(&mut packets, |burst| outcome = probe.transmit(cache, burst));
        self.cache.release(Burst::of(&mut packets));
        outcome.map(|_| done)
    }
}

const ROLES: [Role; 2] = [Role::Server, Role::Client];

#[test]
fn a_packet_in_a_slot_is_received_and_one_sent_stands_there() {
    for role in ROLES {
        let mut rig = Rig::new(role);
        let offset = if role == Role::Server { BUFFERS } else { BUFFERS + 8 * STRIDE };
        rig.peer.write(offset as usize, b"a frame of some bytes");
        rig.describe(rig.incoming, 0, 0, 0, 21, offset);
        rig.move_to(rig.incoming, 1);
        assert_eq!(rig.receive().unwrap(), [b"a frame of some bytes"], "{role:?}");
        let (received, _) = rig.probe.counters();
        assert_eq!((received.packets, received.bytes, received.wrong), (1, 21, 0));
        if role == Role::Server {
            rig.describe(rig.outgoing, 0, 0, 0, BUFFER.into(), BUFFERS);
            rig.move_to(rig.outgoing, 1);
        }
        assert_eq!(rig.send(&[b"another"]), Ok(1));
        assert_eq!(rig.peer.read(BUFFERS as usize), Some(*b"another"), "{role:?}");
        let length = rig.peer.read(rig.outgoing + 128 + 4).map(u32::from_ne_bytes);
        assert_eq!(length, Some(7));
    }
}

#[test]
fn descriptors_that_lie_outside_are_counted_and_what_is_behind_them_arrives() {
    let end = BUFFERS + 16 * STRIDE;
    for (region, length, offset) in [
        (1, 64, 0),
        (u16::MAX, 64, 0),
        (0, 64, end - 63),
        (0, 64, u32::MAX),
        (0, u32::MAX, 0),
        (0, u32::MAX, u32::MAX),
        (0, 0, 0),
        (0, 513, 0),
    ] {
        let mut rig = Rig::new(Role::Server);
        rig.peer.write(BUFFERS as usize, b"good");
        rig.describe(rig.incoming, 0, 0, region, length, offset);
        rig.describe(rig.incoming, 1, 0, 0, 4, BUFFERS);
        rig.move_to(rig.incoming, 2);
        let mut came = rig.receive().unwrap();
        came.extend(rig.receive().unwrap());
        assert_eq!(came, [b"good"], "{region} {length} {offset}");
        assert_eq!(rig.probe.counters().0.wrong, 1);
        assert_eq!(rig.lost(), 0);
    }
}

#[test]
fn of_a_clients_own_buffers_a_server_says_the_length_alone() {
    let mut rig = Rig::new(Role::Client);
    let mine = BUFFERS + 8 * STRIDE;
    rig.peer.write(mine as usize, b"good");
    rig.describe(rig.incoming, 0, 0, 77, 4, u32::MAX);
    rig.describe(rig.incoming, 1, 0, 0, u32::from(BUFFER) + 1, mine);
    rig.describe(rig.incoming, 2, 0, 0, u32::MAX, mine);
    rig.move_to(rig.incoming, 3);
    let mut came = rig.receive().unwrap();
    came.extend(rig.receive().unwrap());
    assert_eq!(came, [b"good"]);
    assert_eq!(rig.probe.counters().0.wrong, 2);
}

#[test]
fn counters_that_jump_end_the_connection() {
    for role in ROLES {
        for value in [SIZE + 1, 0x8000, u16::MAX] {
            let mut rig = Rig::new(role);
            rig.move_to(rig.incoming, value);
            assert_eq!(rig.receive(), Err(Lied), "{role:?} {value}");
            rig.move_to(rig.outgoing, value);
            assert_eq!(rig.send(&[b"x"]), Err(Lied), "{role:?} {value}");
        }
        // Nothing was sent: no slot can have been emptied, nor more handed out than there are.
        let mut rig = Rig::new(role);
        let most = if role == Role::Server { SIZE + 1 } else { 1 };
        rig.move_to(rig.outgoing, most);
        assert_eq!(rig.send(&[b"x"]), Err(Lied), "{role:?}");
    }
}

#[test]
fn chains_are_put_together_and_those_without_end_dropped() {
    const MORE: u16 = 1;
    let mut rig = Rig::new(Role::Server);
    rig.peer.write(BUFFERS as usize, b"oneandtwo");
    rig.describe(rig.incoming, 0, MORE, 0, 3, BUFFERS);
    rig.describe(rig.incoming, 1, MORE, 0, 3, BUFFERS + 3);
    rig.describe(rig.incoming, 2, 0, 0, 3, BUFFERS + 6);
    rig.move_to(rig.incoming, 3);
    assert_eq!(rig.receive().unwrap(), [b"oneandtwo"]);
    // Every slot goes on in the next, round and round.
    for slot in 3..3 + SIZE {
        rig.describe(rig.incoming, slot, MORE, 0, 3, BUFFERS);
    }
    rig.move_to(rig.incoming, 3 + SIZE);
    assert!(rig.receive().unwrap().is_empty() && rig.receive().unwrap().is_empty());
    assert_eq!(rig.probe.counters().0.wrong, 1);
    // Longer than a buffer of ours, all of it inside.
    for slot in 3..8 {
        rig.describe(rig.incoming, slot, if slot == 7 { 0 } else { MORE }, 0, 150, BUFFERS);
    }
    rig.move_to(rig.incoming, 3 + SIZE + 5);
    assert!(rig.receive().unwrap().is_empty());
    assert_eq!(rig.probe.counters().0.wrong, 2);
}

#[test]
fn a_long_packet_goes_into_several_slots_past_one_that_cannot_be() {
    let mut rig = Rig::new(Role::Server);
    for slot in 0..4 {
        let offset = if slot == 1 { u32::MAX } else { BUFFERS + u32::from(slot) * 256 };
        rig.describe(rig.outgoing, slot, 0, 0, 256, offset);
    }
    rig.move_to(rig.outgoing, 4);
    let frame: Vec<u8> = (0..500u16).map(|n| n as u8).collect();
    assert_eq!(rig.send(&[&frame]), Ok(1));
    let words = |slot: usize| {
        let at = rig.outgoing + 128 + slot * 16;
        let flags = rig.peer.read(at).map(u16::from_ne_bytes).unwrap();
        (flags, rig.peer.read(at + 4).map(u32::from_ne_bytes).unwrap())
    };
    assert_eq!([words(0), words(1), words(2)], [(1, 256), (1, 0), (0, 244)]);
    assert_eq!(rig.peer.read(BUFFERS as usize + 512), Some([0, 1, 2, 3]));
    assert_eq!(rig.probe.counters().1.wrong, 1);
    // What is handed out is too little: it waits.
    assert_eq!(rig.send(&[&frame]), Ok(0));
}

#[test]
fn a_full_ring_of_ours_takes_no_more_and_a_packet_for_no_ring_is_dropped() {
    let mut rig = Rig::new(Role::Client);
    let eight: Vec<&[u8]> = vec![b"x"; 12];
    assert_eq!(rig.send(&eight), Ok(8));
    rig.move_to(rig.outgoing, 8);
    let huge = vec![1; 500];
    let mut small = Probe::new(Role::Client, 0, 64).unwrap();
    let mut packets = vec![rig.cache.copy_of(&huge).unwrap()];
    let cache = &mut *rig.cache;
    Burst::offer(&mut packets, |burst| assert_eq!(small.transmit(cache, burst), Ok(false)));
    assert!(packets.is_empty());
    assert_eq!(small.counters().1.errors, 1);
}

/// The same ones at each run.
fn seeds() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(0x9e37_79b9_7f4a_7c15u64), |seed| {
        let seed = seed ^ (seed << 13);
        let seed = seed ^ (seed >> 7);
        Some(seed ^ (seed << 17))
    })
}

#[test]
fn what_changes_under_us_stays_inside() {
    for role in ROLES {
        let mut rig = Rig::new(role);
        let stop = AtomicBool::new(false);
        let peer = rig.peer.clone();
        let (mut came, mut lies) = (0, 0);
        std::thread::scope(|scope| {
            let (stop, incoming, outgoing) = (&stop, rig.incoming, rig.outgoing);
            scope.spawn(move || {
                let (ours, theirs) = if role == Role::Server { (64, 6) } else { (6, 64) };
                for seed in seeds().take_while(|_| !stop.load(Ordering::Relaxed)) {
                    let ring = if seed & 8 == 0 { incoming } else { outgoing };
                    let slot = ring + 128 + (seed >> 8) as usize % usize::from(SIZE) * 16;
                    let word = (seed >> 16).to_ne_bytes();
                    match seed & 7 {
                        // What an honest peer might say, or nearly.
                        0..=2 => {
                            let now = peer.read(ring + ours).map_or(0, u16::from_ne_bytes);
                            let step = (seed >> 8) as u16 % (SIZE + 1);
                            peer.write(ring + theirs, &now.wrapping_add(step).to_ne_bytes());
                        }
                        3 => peer.write(slot + 4, &((seed >> 16) as u32 % 300).to_ne_bytes()),
                        4 => peer.write(slot + 8, &((seed >> 16) as u32 % 5_000).to_ne_bytes()),
                        5 => peer.write(slot, &((seed >> 16) as u32 & 0x1_0001).to_ne_bytes()),
                        6 => peer.write(slot + (seed >> 32) as usize % 9, &word),
                        _ => peer.write(ring + theirs, &word[..2]),
                    }
                }
            });
            let (began, enough) = (Instant::now(), 1_000);
            while came < enough || lies < enough || rig.probe.counters().0.wrong < enough as u64 {
                assert!(began.elapsed().as_secs() < 20, "{role:?}: {came} came, {lies} lies");
                let mut packets = Vec::new();
                lies += usize::from(rig.probe.receive(&mut *rig.cache, 16, &mut packets).is_err());
                came += packets.len();
                let (probe, cache) = (&mut rig.probe, &mut *rig.cache);
                Burst::offer(&mut packets, |burst| {
                    let _ = probe.transmit(cache, burst);
                });
                rig.cache.release(Burst::of(&mut packets));
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(rig.lost(), 0);
    }
}
