//! What a memif peer may say, in either role, and what it may write into rings.
//!
//! ```text
//!  first byte   0: to a server, 1: to a client   the rest: messages of 1 + 128 bytes, the first of
//!                                                them says whether a descriptor comes along
//!               2: into a server's rings, 3: into a client's   steps of 12 bytes: where, what, then
//!               4: into those of a client that copies nothing  a burst
//! ```
#![no_main]

use libfuzzer_sys::fuzz_target;
use memif::control::{
    Carries, Client, ClientStep, MAX_SHARED_BYTES, MESSAGE_BYTES, Message, Server, ServerStep,
    Wish, ring_bytes,
};
use memif::probe::{Peer, Probe};
use memif::{Role, Shape, SharedBuffers};
use packet::{Burst, HeapPool, PacketCache, Pool};

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind % 5 {
        0 => to_server(rest),
        1 => to_client(rest),
        2 => into_rings(Role::Server, rest),
        3 => into_rings(Role::Client, rest),
        _ => into_rings_without_a_copy(rest),
    }
});

fn messages(bytes: &[u8]) -> impl Iterator<Item = (bool, Message)> + '_ {
    bytes.chunks(1 + MESSAGE_BYTES).map_while(|chunk| {
        let (first, rest) = chunk.split_first()?;
        let mut whole = [0; MESSAGE_BYTES];
        whole[..rest.len()].copy_from_slice(rest);
        let message = Message::read(&whole).ok()?;
        assert_eq!(Message::read(&message.write()), Ok(message));
        Some((first % 2 == 1, message))
    })
}

fn to_server(bytes: &[u8]) {
    let mut server = Server::new(3, 2);
    for (carries, message) in messages(bytes) {
        match server.receive(&message, carries.then_some(())) {
            Ok(ServerStep::Ack) => {}
            Ok(ServerStep::Connect(told)) => {
                let all: u64 = told.regions.iter().map(|region| region.bytes).sum();
                assert!(all <= MAX_SHARED_BYTES);
                assert!((1..=3).contains(&told.to_server.len()));
                assert!((1..=2).contains(&told.to_client.len()));
                for ring in told.to_server.iter().chain(&told.to_client) {
                    let region = &told.regions[usize::from(ring.region)];
                    let end = u64::from(ring.offset) + ring_bytes(ring.ring_log2);
                    assert!(end <= region.bytes && ring.ring_log2 <= 14);
                }
            }
            Ok(ServerStep::Left(words)) => assert!(!words.contains(char::is_control)),
            Err(_) => return,
        }
    }
}

fn to_client(bytes: &[u8]) {
    let shape = Shape { to_server: 3, to_client: 2, ring_log2: 10, buffer_bytes: 2048 };
    let packet_bytes = bytes.first().filter(|first| *first % 2 == 1).map(|_| 1 << 20);
    let wish = Wish { id: 0, secret: [0; 24], shape, packet_bytes };
    let mut client = Client::new(wish, "fuzz");
    for (_, message) in messages(bytes) {
        match client.receive(&message) {
            Ok(ClientStep::Say(said, carries)) => {
                assert_eq!(Message::read(&said.write()), Ok(said));
                let needs = matches!(said, Message::AddRegion(_) | Message::AddRing(_));
                assert_eq!(needs, carries != Carries::Nothing);
                assert!(client.shape().is_some_and(|shape| shape.is_possible()));
            }
            Ok(ClientStep::Connected) => {}
            Ok(ClientStep::Left(words)) => assert!(!words.contains(char::is_control)),
            Err(_) => return,
        }
    }
}

fn into_rings(role: Role, bytes: &[u8]) {
    const LOG2: u8 = 3;
    let Ok(mut probe) = Probe::new(role, LOG2, 64) else { return };
    let (Ok(pool), peer) = (HeapPool::new(32, 256), probe.peer()) else { return };
    steps(bytes, &mut probe, &peer, &mut *pool.cache(), 256);
    let usage = pool.usage();
    assert_eq!(usage.free, usage.total);
}

fn into_rings_without_a_copy(bytes: &[u8]) {
    const LOG2: u8 = 3;
    let Ok(pool) = HeapPool::new(1024, 0) else { return };
    let Ok(buffers) = SharedBuffers::new(Box::new(pool), 192) else { return };
    let Ok(mut probe) = Probe::zero_copy(LOG2, &buffers) else { return };
    let peer = probe.peer();
    steps(bytes, &mut probe, &peer, &mut *buffers.cache(), 192);
}

fn steps(
    bytes: &[u8],
    probe: &mut Probe,
    peer: &Peer,
    cache: &mut dyn PacketCache,
    longest: usize,
) {
    for step in bytes.chunks_exact(12) {
        let at = usize::from(u16::from_le_bytes([step[0], step[1]])) % peer.bytes();
        peer.write(at, &step[4..4 + usize::from(step[2] % 9)]);
        let mut packets = Vec::new();
        let _ = probe.receive(cache, usize::from(step[3] % 16), &mut packets);
        for packet in &packets {
            assert!((1..=longest).contains(&packet.bytes().len()));
        }
        Burst::offer(&mut packets, |burst| {
            let _ = probe.transmit(cache, burst);
        });
        cache.release(Burst::of(&mut packets));
    }
}
