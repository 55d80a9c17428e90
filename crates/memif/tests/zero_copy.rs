//! Packets that are not copied: where they lie, when their buffers are free again, and what a
//! server may write.
#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]
#![allow(unsafe_code, reason = "a peer maps what it was handed")]

use memif::probe::{Lied, Peer, Probe};
use memif::{Endpoint, Role, Settings, SharedBuffers};
use packet::{
    Burst, HEADROOM_BYTES, HeapPool, PacketBuf, PacketCache, Pool, RxQueue, TxQueue, Wakes,
};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

const LOG2: u8 = 3;
const SIZE: u16 = 1 << LOG2;
/// Buffers of a pool several of whose caches fill themselves.
const ENOUGH: usize = 4096;
/// Five lines of cache, the headroom among them.
const FRAME: u16 = 192;
/// Where the ring to us begins; that from us is the first.
const FROM_US: usize = 0;
const TO_US: usize = 128 + 16 * SIZE as usize;

/// A pool that somebody else keeps, too.
struct Kept(Arc<HeapPool>);

impl Pool for Kept {
    fn cache(&self) -> Box<dyn PacketCache> {
        self.0.cache()
    }

    fn usage(&self) -> packet::PoolUsage {
        self.0.usage()
    }
}

/// Buffers to share, and the pool that counts them.
fn shared(count: usize) -> (SharedBuffers, Arc<HeapPool>) {
    let pool = Arc::new(HeapPool::new(count, 0).unwrap());
    (SharedBuffers::new(Box::new(Kept(Arc::clone(&pool))), FRAME).unwrap(), pool)
}

struct Rig {
    probe: Option<Probe>,
    /// The server's sight of the rings, and of the packets.
    rings: Peer,
    packets: Peer,
    buffers: SharedBuffers,
    shared: Arc<HeapPool>,
    /// For packets in it.
    cache: Box<dyn PacketCache>,
    /// Buffers of another pool.
    others: HeapPool,
}

impl Rig {
    fn new(count: usize) -> Self {
        let (buffers, shared) = shared(count);
        let probe = Probe::zero_copy(LOG2, &buffers).unwrap();
        // SAFETY: it is open as long as the buffers are.
        let fd = unsafe { BorrowedFd::borrow_raw(buffers.fd()) }.try_clone_to_owned().unwrap();
        let packets = Peer::of(&fd, buffers.bytes()).unwrap();
        let (rings, cache) = (probe.peer(), buffers.cache());
        let others = HeapPool::new(ENOUGH, 1024).unwrap();
        Self { probe: Some(probe), rings, packets, buffers, shared, cache, others }
    }

    fn probe(&mut self) -> &mut Probe {
        self.probe.as_mut().unwrap()
    }

    fn head(&self, ring: usize) -> u16 {
        u16::from_ne_bytes(self.rings.read(ring + 6).unwrap())
    }

    fn set_tail(&self, ring: usize, value: u16) {
        self.rings.write(ring + 64, &value.to_ne_bytes());
    }

    /// Flags, region, length and offset of a slot.
    fn told(&self, ring: usize, slot: u16) -> (u16, u16, u32, u32) {
        let at = ring + 128 + usize::from(slot % SIZE) * 16;
        let short = |at| u16::from_ne_bytes(self.rings.read(at).unwrap());
        let long = |at| u32::from_ne_bytes(self.rings.read(at).unwrap());
        (short(at), short(at + 2), long(at + 4), long(at + 8))
    }

    /// As a server fills a slot: its buffer, then flags and length.
    fn fill(&self, slot: u16, bytes: &[u8], flags: u16, length: u32) {
        let (_, _, _, offset) = self.told(TO_US, slot);
        self.packets.write(offset as usize, bytes);
        let at = TO_US + 128 + usize::from(slot % SIZE) * 16;
        self.rings.write(at, &flags.to_ne_bytes());
        self.rings.write(at + 4, &length.to_ne_bytes());
    }

    fn receive(&mut self) -> Result<Vec<PacketBuf>, Lied> {
        let (mut packets, mut cache) = (Vec::new(), self.others.cache());
        self.probe().receive(&mut *cache, 64, &mut packets).map(|()| packets)
    }

    /// How many are taken.
    fn send(&mut self, packets: &mut Vec<PacketBuf>) -> Result<usize, Lied> {
        let (mut outcome, mut cache) = (Ok(false), self.others.cache());
        let probe = self.probe();
        let done = Burst::offer(packets, |burst| outcome = probe.transmit(&mut *cache, burst));
        outcome.map(|_| done)
    }

    /// Ends the connection: nothing is lost.
    fn end(mut self, mut held: Vec<PacketBuf>) {
        self.cache.release(Burst::of(&mut held));
        drop(self.probe.take());
        drop(self.cache);
        for pool in [self.shared.usage(), self.others.usage()] {
            assert_eq!(pool.free, pool.total);
        }
    }
}

#[test]
fn a_packet_goes_on_in_the_buffer_that_the_server_wrote() {
    let mut rig = Rig::new(ENOUGH);
    assert_eq!(rig.head(TO_US), SIZE, "each slot has a buffer");
    let (flags, region, length, offset) = rig.told(TO_US, 0);
    assert_eq!((flags, region, length), (0, 1, FRAME.into()));
    rig.fill(0, b"written by the server", 0, 21);
    rig.set_tail(TO_US, 1);
    let mut packets = rig.receive().unwrap();
    assert_eq!(packets[0].bytes(), b"written by the server");
    assert!(rig.buffers.has(&packets[0]));
    rig.packets.write(offset as usize, b"changed");
    assert_eq!(packets[0].bytes(), b"changed by the server", "it is the same memory");
    // The slot has another buffer, and the server may have it.
    assert_eq!(rig.head(TO_US), SIZE + 1);
    assert_ne!(rig.told(TO_US, SIZE).3, offset);
    // Nor are its headers touched by what it writes in front of a frame.
    rig.packets.write(offset as usize - HEADROOM_BYTES, &[0xff; HEADROOM_BYTES]);
    assert_eq!(packets[0].bytes().len(), 21);
    // Out again: handed over as it lies.
    assert_eq!(rig.send(&mut packets), Ok(1));
    assert_eq!(rig.told(FROM_US, 0), (0, 1, 21, offset));
    let (received, sent) = rig.probe().counters();
    assert_eq!([received, sent].map(|it| (it.packets, it.bytes, it.wrong)), [(1, 21, 0); 2]);
    rig.end(packets);
}

#[test]
fn a_buffer_is_free_once_the_server_has_read_it() {
    let mut rig = Rig::new(ENOUGH);
    let mut packets: Vec<_> = (0..10u8).map(|n| rig.cache.copy_of(&[n; 60]).unwrap()).collect();
    let headers: Vec<_> = packets.iter().map(PacketBuf::as_ptr).collect();
    // SAFETY: a pool's headers are there as long as the pool.
    let lengths = || headers.iter().map(|&it| unsafe { (*it).data_len }).collect::<Vec<_>>();
    assert_eq!(rig.send(&mut packets), Ok(usize::from(SIZE)), "the ring is full");
    assert_eq!(rig.send(&mut packets), Ok(0));
    for slot in 0..SIZE {
        let (_, _, length, offset) = rig.told(FROM_US, slot);
        assert_eq!((length, rig.packets.read(offset as usize)), (60, Some([slot as u8; 4])));
    }
    assert_eq!(lengths(), [60; 10]);
    rig.set_tail(FROM_US, 5);
    assert_eq!(rig.send(&mut packets), Ok(2));
    // What is free looks new.
    assert_eq!(lengths(), [0, 0, 0, 0, 0, 60, 60, 60, 60, 60]);
    rig.end(packets);
}

#[test]
fn what_lies_elsewhere_is_copied_and_a_long_one_into_several_buffers() {
    let mut rig = Rig::new(ENOUGH);
    let long: Vec<u8> = (0..500u16).map(|n| n as u8).collect();
    let mut cache = rig.others.cache();
    let mut packets = vec![cache.copy_of(b"short").unwrap(), cache.copy_of(&long).unwrap()];
    drop(cache);
    assert_eq!(rig.send(&mut packets), Ok(2));
    assert_eq!(rig.others.usage().free, ENOUGH, "the sender has its buffers back");
    let mut read = Vec::new();
    for slot in 0..4 {
        let (flags, region, length, offset) = rig.told(FROM_US, slot);
        read.push((flags, region, length));
        let first = if slot == 0 { b's' } else { long[usize::from(slot - 1) * usize::from(FRAME)] };
        assert_eq!(rig.packets.read(offset as usize), Some([first]));
    }
    let frame = u32::from(FRAME);
    assert_eq!(read, [(0, 1, 5), (1, 1, frame), (1, 1, frame), (0, 1, 500 - 2 * frame)]);
    // One that no ring holds is lost, and counted; what is behind it goes.
    let mut cache = rig.others.cache();
    let huge = HeapPool::new(1, 2 * usize::from(SIZE * FRAME)).unwrap();
    let huge_packet = huge.cache().copy_of(&vec![1; usize::from(SIZE * FRAME) + 1]).unwrap();
    let mut packets = vec![huge_packet, cache.copy_of(b"next").unwrap()];
    drop(cache);
    assert_eq!(rig.send(&mut packets), Ok(2));
    assert_eq!(rig.probe().counters().1.errors, 1);
    assert_eq!(rig.told(FROM_US, 4).2, 4);
    drop(rig.probe.take());
}

#[test]
fn lengths_that_cannot_be_are_counted_and_their_buffers_stay() {
    let mut rig = Rig::new(ENOUGH);
    for (slot, length) in [(0, 0), (1, u32::from(FRAME) + 1), (2, u32::MAX), (3, 4)] {
        rig.fill(slot, b"good", 0, length);
    }
    rig.set_tail(TO_US, 4);
    let packets = rig.receive().unwrap();
    assert_eq!(packets.iter().map(PacketBuf::bytes).collect::<Vec<_>>(), [b"good"]);
    assert_eq!(rig.probe().counters().0.wrong, 3);
    assert_eq!(rig.head(TO_US), SIZE + 4, "each slot has a buffer again");
    rig.end(packets);
}

#[test]
fn a_packet_in_several_slots_is_put_together_and_one_without_an_end_is_not() {
    let mut rig = Rig::new(ENOUGH);
    let frame = vec![7; FRAME.into()];
    rig.fill(0, &frame, 1, FRAME.into());
    rig.fill(1, b"and more", 0, 8);
    rig.fill(2, b"good", 0, 4);
    rig.fill(3, b"begun", 1, 5);
    rig.set_tail(TO_US, 4);
    let mut packets = rig.receive().unwrap();
    let both = [&frame[..], b"and more"].concat();
    assert_eq!(packets.iter().map(PacketBuf::bytes).collect::<Vec<_>>(), [&both[..], b"good"]);
    assert!(!rig.buffers.has(&packets[0]), "a buffer of the router's own");
    assert_eq!(rig.probe().counters().0.wrong, 1);
    let mut cache = rig.others.cache();
    cache.release_one(packets.remove(0));
    drop(cache);
    rig.end(packets);
}

#[test]
fn slots_go_without_while_there_is_no_buffer() {
    let mut rig = Rig::new(4);
    assert_eq!(rig.head(TO_US), 4);
    for slot in 0..4 {
        rig.fill(slot, b"held", 0, 4);
    }
    rig.set_tail(TO_US, 4);
    let mut packets = rig.receive().unwrap();
    assert_eq!((packets.len(), rig.head(TO_US)), (4, 4));
    assert_eq!(rig.probe().counters().0.no_buffers, 1);
    // More than it was given: it cannot have filled that.
    rig.set_tail(TO_US, 5);
    assert_eq!(rig.receive(), Err(Lied));
    rig.set_tail(TO_US, 4);
    rig.cache.release(Burst::of(&mut packets));
    // They are in that thread's cache, which goes with it.
    rig.cache = rig.buffers.cache();
    assert!(rig.receive().unwrap().is_empty());
    assert_eq!(rig.head(TO_US), 8);
    rig.end(packets);
}

#[test]
fn tails_that_jump_end_the_connection() {
    for value in [SIZE + 1, 0x8000, u16::MAX] {
        let mut rig = Rig::new(ENOUGH);
        rig.set_tail(TO_US, value);
        assert_eq!(rig.receive(), Err(Lied));
        rig.set_tail(FROM_US, value);
        let mut packets = vec![rig.cache.copy_of(b"x").unwrap()];
        assert_eq!(rig.send(&mut packets), Err(Lied));
        rig.end(packets);
    }
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
fn whatever_a_server_writes_no_buffer_is_lost() {
    let mut rig = Rig::new(ENOUGH);
    let (mut came, mut wrong, mut lies) = (0, 0, 0);
    for seed in seeds().take(40_000) {
        let ring = if seed & 8 == 0 { FROM_US } else { TO_US };
        let slot = ring + 128 + (seed >> 8) as usize % usize::from(SIZE) * 16;
        let rings = &rig.rings;
        match seed & 7 {
            // What an honest server might say, or nearly.
            0..=3 => {
                let step = (seed >> 8) as u16 % (SIZE + 1);
                rig.set_tail(ring, rig.head(ring).wrapping_sub(step));
            }
            4 => rings.write(slot + 4, &((seed >> 16) as u32 % 300).to_ne_bytes()),
            5 => rings.write(slot, &((seed >> 16) as u16 & 1).to_ne_bytes()),
            6 => rings.write(slot + 8, &((seed >> 16) as u32).to_ne_bytes()),
            _ => rings.write((seed >> 8) as usize % rings.bytes(), &(seed >> 16).to_ne_bytes()),
        }
        let received = rig.receive();
        let mut is_lie = received.is_err();
        let mut packets = received.unwrap_or_default();
        came += packets.len();
        assert!(packets.iter().all(|packet| (1..=1024).contains(&packet.bytes().len())));
        is_lie |= rig.send(&mut packets).is_err();
        let (buffers, mut others) = (rig.buffers.clone(), rig.others.cache());
        for packet in packets {
            let its = if buffers.has(&packet) { &mut rig.cache } else { &mut others };
            its.release_one(packet);
        }
        if is_lie {
            // The connection ends, and another begins.
            lies += 1;
            wrong += rig.probe().counters().0.wrong;
            rig.probe = Some(Probe::zero_copy(LOG2, &rig.buffers).unwrap());
            rig.rings = rig.probe().peer();
        }
    }
    assert!(came > 1_000 && wrong > 500 && lies > 1_000, "{came}, {wrong}, {lies}");
    rig.end(Vec::new());
}

#[test]
fn memory_with_a_packet_out_stays() {
    let (buffers, pool) = shared(4);
    let packet = pool.cache().copy_of(b"it is still here").unwrap();
    assert!(buffers.has(&packet));
    drop(buffers);
    assert_eq!(packet.bytes(), b"it is still here");
    pool.cache().release_one(packet);
    assert!(SharedBuffers::new(Box::new(HeapPool::new(0, 0).unwrap()), FRAME).is_err());
    let most = SharedBuffers::most(FRAME) as usize;
    assert!((1 << 20..2 << 20).contains(&most), "{most}");
}

fn settings(role: Role, name: &str, zero_copy: Option<SharedBuffers>) -> Settings {
    let name = format!("memif-zero-copy-{name}-{}", std::process::id());
    Settings {
        role,
        socket: std::env::temp_dir().join(name),
        id: 0,
        secret: [0; 24],
        ring_log2: 6,
        buffer_bytes: 2048,
        rx_queues: 1,
        tx_queues: 1,
        zero_copy,
    }
}

#[test]
fn a_server_lends_no_buffers() {
    let error = Endpoint::open(settings(Role::Server, "server", Some(shared(4).0))).err().unwrap();
    assert!(error.to_string().contains("zero copy is a client's"), "{error}");
    let none = Settings { buffer_bytes: 0, ..settings(Role::Client, "none", None) };
    assert!(Endpoint::open(none).is_err());
}

/// Two servers that copy, and a client of each, which passes on what comes: as a router does.
#[test]
fn packets_pass_from_one_server_to_another_without_a_copy() {
    let (buffers, pool) = shared(ENOUGH);
    let own = HeapPool::new(ENOUGH, 1024).unwrap();
    let open = |role, name, zero_copy| {
        let endpoint = Endpoint::open(settings(role, name, zero_copy)).unwrap();
        endpoint.start();
        endpoint
    };
    let servers = ["left", "right"].map(|name| open(Role::Server, name, None));
    let clients = ["left", "right"].map(|name| open(Role::Client, name, Some(buffers.clone())));
    let mut rx: Vec<_> = servers.iter().chain(&clients).map(|it| it.receiver(0).unwrap()).collect();
    let mut tx: Vec<_> = servers.iter().chain(&clients).map(|it| it.sender(0).unwrap()).collect();
    let patience = Duration::from_secs(20);
    let began = Instant::now();
    while !servers.iter().chain(&clients).all(Endpoint::is_up) {
        assert!(began.elapsed() < patience);
        std::thread::yield_now();
    }
    let mut cache = own.cache();
    // Longer than a buffer of the memory, too: it is put together on its way.
    let frames: Vec<Vec<u8>> =
        (0..600usize).map(|n| vec![n as u8; 60 + n * 37 % (usize::from(FRAME) + 20)]).collect();
    let (mut sent, mut came, mut waiting) = (0, Vec::new(), Vec::new());
    while came.len() < frames.len() {
        assert!(began.elapsed() < patience, "{sent} sent, {} came", came.len());
        let mut more: Vec<_> =
            frames[sent..].iter().take(16).map_while(|frame| cache.copy_of(frame)).collect();
        sent += tx[0].send(&mut *cache, &mut more);
        cache.release(Burst::of(&mut more));
        let first = waiting.len();
        rx[2].receive(&mut *cache, 32, &mut waiting);
        for packet in &waiting[first..] {
            assert_eq!(buffers.has(packet), packet.bytes().len() <= FRAME.into());
        }
        tx[3].send(&mut *cache, &mut waiting);
        let mut packets = Vec::new();
        rx[1].receive(&mut *cache, 32, &mut packets);
        came.extend(packets.iter().map(|packet| packet.bytes().to_vec()));
        cache.release(Burst::of(&mut packets));
    }
    assert!(came == frames);
    drop((rx, tx, servers, clients, cache));
    let is_home = || [pool.usage(), own.usage()].iter().all(|it| it.free == it.total);
    while !is_home() {
        assert!(began.elapsed() < patience, "{:?} {:?}", pool.usage(), own.usage());
        std::thread::yield_now();
    }
}

#[test]
fn who_rests_is_woken_while_each_slot_has_a_buffer_and_looks_by_itself_while_not() {
    // As many as the ring has slots.
    let (buffers, _pool) = shared(64);
    let own = HeapPool::new(ENOUGH, 1024).unwrap();
    let server = Endpoint::open(settings(Role::Server, "rests", None)).unwrap();
    let client = Endpoint::open(settings(Role::Client, "rests", Some(buffers.clone()))).unwrap();
    let (mut tx, mut rx) = (server.sender(0).unwrap(), client.receiver(0).unwrap());
    server.start();
    client.start();
    let began = Instant::now();
    while !(server.is_up() && client.is_up()) {
        assert!(began.elapsed().as_secs() < 20);
        std::thread::yield_now();
    }
    let (mut cache, mut packets) = (own.cache(), Vec::new());
    assert!(matches!(rx.before_rest(), Wakes::Either(..)));
    let mut one = vec![cache.copy_of(b"one").unwrap()];
    assert_eq!(tx.send(&mut *cache, &mut one), 1);
    rx.receive(&mut *cache, 32, &mut packets);
    assert_eq!((packets.len(), rx.before_rest()), (1, Wakes::Unseen));
    buffers.cache().release(Burst::of(&mut packets));
    rx.receive(&mut *cache, 32, &mut packets);
    assert!(matches!(rx.before_rest(), Wakes::Either(..)));
}
