//! Peers that keep no rule, against open interfaces: in either role the process lives, another
//! interface goes on, what was done is counted, and an honest peer that comes afterwards is served.
#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]
#![allow(unsafe_code, reason = "memory and descriptors of a peer")]

use memif::control::{AddRegion, AddRing, Init, Message, VERSION, text};
use memif::probe::Peer;
use memif::socket::{Channel, Heard, Listener};
use memif::{Endpoint, Receiver, Role, Sender, Settings};
use packet::{Burst, HeapPool, PacketCache, Pool, RxQueue, TxQueue};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);
const LOG2: u8 = 4;
/// One ring each way.
const RINGS: u64 = 2 * (128 + (16 << LOG2));

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::yield_now();
    }
}

fn path(name: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("memif-{name}-{}-{number}", std::process::id()))
}

fn open(role: Role, socket: &Path, id: u32) -> Endpoint {
    let endpoint = Endpoint::open(Settings {
        role,
        socket: socket.to_owned(),
        id,
        secret: [0; 24],
        ring_log2: LOG2,
        buffer_bytes: 2048,
        rx_queues: 1,
        tx_queues: 1,
        zero_copy: None,
    });
    let endpoint = endpoint.unwrap();
    endpoint.start();
    endpoint
}

/// An interface in a worker's hands.
struct Port {
    endpoint: Endpoint,
    rx: Receiver,
    tx: Sender,
    pool: HeapPool,
    cache: Box<dyn PacketCache>,
}

impl Port {
    fn open(role: Role, socket: &Path) -> Self {
        let endpoint = open(role, socket, 0);
        let (rx, tx) = (endpoint.receiver(0).unwrap(), endpoint.sender(0).unwrap());
        let pool = HeapPool::new(64, 2048).unwrap();
        Self { endpoint, rx, tx, cache: pool.cache(), pool }
    }

    fn receive(&mut self) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        self.rx.receive(&mut *self.cache, 32, &mut packets);
        let frames = packets.iter().map(|packet| packet.bytes().to_vec()).collect();
        self.cache.release(Burst::of(&mut packets));
        frames
    }

    fn send(&mut self, frame: &[u8]) -> bool {
        let mut packets = vec![self.cache.copy_of(frame).unwrap()];
        self.tx.send(&mut *self.cache, &mut packets);
        let sent = packets.is_empty();
        self.cache.release(Burst::of(&mut packets));
        sent
    }

    fn wait_for_link(&self, up: bool) {
        wait_until("the link changes", || self.endpoint.is_up() == up);
    }

    fn lost(&self) -> usize {
        let usage = self.pool.usage();
        usage.total - usage.free
    }
}

fn exchange(one: &mut Port, other: &mut Port) {
    one.wait_for_link(true);
    other.wait_for_link(true);
    for _ in 0..40 {
        for (from, to) in [(true, b"there"), (false, b"back!")] {
            let (from, into) =
                if from { (&mut *one, &mut *other) } else { (&mut *other, &mut *one) };
            wait_until("a frame is sent", || from.send(to));
            wait_until("it arrives", || into.receive() == [to]);
        }
    }
}

/// Two interfaces of ours that have nothing to do with the hostile peer.
fn bystanders() -> [Port; 2] {
    let socket = path("bystanders");
    let server = Port::open(Role::Server, &socket);
    let client = Port::open(Role::Client, &socket);
    let mut both = [server, client];
    let [server, client] = &mut both;
    exchange(server, client);
    both
}

fn memfd(bytes: u64, flags: u32) -> OwnedFd {
    // SAFETY: a fresh descriptor.
    unsafe {
        let fd = OwnedFd::from_raw_fd(libc::memfd_create(c"hostile".as_ptr(), flags));
        assert_eq!(libc::ftruncate(fd.as_raw_fd(), bytes as i64), 0);
        fd
    }
}

fn eventfd() -> OwnedFd {
    // SAFETY: a fresh descriptor.
    unsafe { OwnedFd::from_raw_fd(libc::eventfd(0, 0)) }
}

fn hear(channel: &Channel) -> Message {
    let mut heard = None;
    wait_until("it answers", || {
        match channel.hear() {
            Ok(Heard::Message { bytes, .. }) => heard = Some(Message::read(&bytes).unwrap()),
            Ok(Heard::Closed) | Err(_) => heard = Some(Message::disconnect("closed")),
            Ok(Heard::Nothing) => {}
        }
        heard.is_some()
    });
    heard.unwrap()
}

fn say(channel: &Channel, message: &Message, fd: Option<RawFd>) {
    // What was turned away meanwhile cannot be told.
    let _ = channel.say(&message.write(), fd);
}

/// A client that connects to us: what it describes is up to the test.
struct HostileClient {
    channel: Channel,
    memory: OwnedFd,
    bell: OwnedFd,
}

impl HostileClient {
    fn at(socket: &Path) -> Self {
        Self::with(socket, memfd(RINGS + 64 * 2048, libc::MFD_ALLOW_SEALING), eventfd())
    }

    fn with(socket: &Path, memory: OwnedFd, bell: OwnedFd) -> Self {
        // The one before it may not have been buried yet.
        let began = Instant::now();
        loop {
            let channel = Channel::connect(socket).unwrap();
            assert!(matches!(hear(&channel), Message::Hello(_)));
            let init = Init { version: VERSION, id: 0, mode: 0, secret: [0; 24], name: text("h") };
            say(&channel, &Message::Init(init), None);
            if hear(&channel) == Message::Ack {
                return Self { channel, memory, bell };
            }
            assert!(began.elapsed() < PATIENCE, "it is never admitted");
        }
    }

    fn region(&self, size: u64) -> bool {
        let region = Message::AddRegion(AddRegion { index: 0, size });
        say(&self.channel, &region, Some(self.memory.as_raw_fd()));
        hear(&self.channel) == Message::Ack
    }

    fn ring(&self, to_server: bool, region: u16, offset: u32, ring_log2: u8) -> bool {
        let ring = AddRing { to_server, index: 0, region, offset, ring_log2, private_bytes: 0 };
        say(&self.channel, &Message::AddRing(ring), Some(self.bell.as_raw_fd()));
        hear(&self.channel) == Message::Ack
    }

    fn memory(&self) -> Peer {
        Peer::of(&self.memory, RINGS + 64 * 2048).unwrap()
    }

    fn describe(&self) {
        let cookie = 0x03e3_1f20u32.to_ne_bytes();
        let memory = self.memory();
        memory.write(0, &cookie);
        memory.write(RINGS as usize / 2, &cookie);
        assert!(self.region(RINGS + 64 * 2048));
        assert!(self.ring(true, 0, 0, LOG2) && self.ring(false, 0, RINGS as u32 / 2, LOG2));
    }

    fn connect(&self) -> bool {
        say(&self.channel, &Message::Connect([0; 32]), None);
        matches!(hear(&self.channel), Message::Connected(_))
    }

    /// One that has all that it takes.
    fn connected(socket: &Path) -> Self {
        let client = Self::at(socket);
        client.describe();
        assert!(client.connect());
        client
    }
}

#[test]
fn a_client_that_describes_what_cannot_be_is_turned_away() {
    let mut others = bystanders();
    let socket = path("describes");
    let port = Port::open(Role::Server, &socket);
    let size = RINGS + 64 * 2048;
    // Regions.
    for bytes in [0, u64::MAX, 1 << 31] {
        assert!(!HostileClient::at(&socket).region(bytes), "{bytes}");
    }
    // Rings.
    for (region, offset, log2) in [
        (1, 0, LOG2),
        (u16::MAX, 0, LOG2),
        (0, size as u32 - 64, LOG2),
        (0, u32::MAX - 7, LOG2),
        (0, 3, LOG2),
        (0, 0, 15),
        (0, 0, 255),
        (0, 0, 14),
    ] {
        let client = HostileClient::at(&socket);
        assert!(client.region(size));
        assert!(!client.ring(true, region, offset, log2), "{region} {offset} {log2}");
    }
    // Memory that is none, that is shorter than told, that can be shortened, rings without cookie.
    let bad = [
        OwnedFd::from(File::open("/proc/self/exe").unwrap()),
        memfd(4096, libc::MFD_ALLOW_SEALING),
        memfd(size, 0),
        memfd(size, libc::MFD_ALLOW_SEALING),
    ];
    for memory in bad {
        let client = HostileClient::with(&socket, memory, eventfd());
        assert!(client.region(size));
        assert!(client.ring(true, 0, 0, LOG2) && client.ring(false, 0, RINGS as u32 / 2, LOG2));
        assert!(!client.connect());
    }
    // A bell that is a file.
    let file = OwnedFd::from(File::options().write(true).open("/dev/null").unwrap());
    let client = HostileClient::with(&socket, memfd(size, libc::MFD_ALLOW_SEALING), file);
    client.describe();
    assert!(!client.connect());
    assert_eq!(port.endpoint.refused(), 3 + 8 + 4 + 1);
    // Words without sense, too short, too long; descriptors where none should be, or none.
    let ack = Message::Ack.write();
    for words in [&[0xff; 128][..], &[9, 0], &[1; 129], &ack, &[]] {
        let client = HostileClient::at(&socket);
        let _ = client.channel.say(words, Some(client.bell.as_raw_fd()));
        assert!(matches!(hear(&client.channel), Message::Disconnect(_)), "{words:?}");
    }
    let client = HostileClient::at(&socket);
    say(&client.channel, &Message::AddRegion(AddRegion { index: 0, size }), None);
    assert!(matches!(hear(&client.channel), Message::Disconnect(_)));
    // Strangers.
    for words in [&[0xff; 128][..], &ack, &[]] {
        let channel = Channel::connect(&socket).unwrap();
        assert!(matches!(hear(&channel), Message::Hello(_)));
        let _ = channel.say(words, None);
        assert!(matches!(hear(&channel), Message::Disconnect(_)), "{words:?}");
    }
    let [server, client] = &mut others;
    exchange(server, client);
    drop(HostileClient::connected(&socket));
    let (mut port, mut honest) = (port, Port::open(Role::Client, &socket));
    exchange(&mut port, &mut honest);
}

#[test]
fn one_that_stops_in_the_middle_is_not_waited_for() {
    let socket = path("stops");
    let mut port = Port::open(Role::Server, &socket);
    let client = HostileClient::at(&socket);
    assert!(client.region(RINGS));
    // Strangers who say nothing, more than there is room for, hold up nobody.
    let strangers: Vec<_> = (0..40).map(|_| Channel::connect(&socket)).collect();
    let began = Instant::now();
    let mut honest = Port::open(Role::Client, &socket);
    exchange(&mut port, &mut honest);
    assert!(began.elapsed() < PATIENCE);
    drop((client, strangers));
}

#[test]
fn memory_that_is_shortened_after_connecting_stays() {
    let socket = path("shortened");
    let mut port = Port::open(Role::Server, &socket);
    let client = HostileClient::connected(&socket);
    port.wait_for_link(true);
    // SAFETY: a descriptor of ours.
    let code = unsafe { libc::ftruncate(client.memory.as_raw_fd(), 0) };
    assert_eq!((code, port.receive().len(), port.send(b"x")), (-1, 0, false));
    // Nor does a hole hurt: there are zeroes.
    // SAFETY: as above.
    unsafe {
        let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        assert_eq!(libc::fallocate(client.memory.as_raw_fd(), how, 0, RINGS as i64), 0);
    }
    assert_eq!((port.receive().len(), port.send(b"x")), (0, false));
}

#[test]
fn a_ring_that_lies_ends_the_connection_and_the_next_peer_is_served() {
    let mut others = bystanders();
    let socket = path("lies");
    let mut port = Port::open(Role::Server, &socket);
    for round in 1..=4 {
        let client = HostileClient::connected(&socket);
        port.wait_for_link(true);
        let memory = client.memory();
        if round % 2 == 0 {
            memory.write(6, &0x8000u16.to_ne_bytes());
            wait_until("the lie is seen", || port.receive().is_empty() && !port.endpoint.is_up());
        } else {
            memory.write(RINGS as usize / 2 + 6, &17u16.to_ne_bytes());
            wait_until("the lie is seen", || !port.send(b"x") && !port.endpoint.is_up());
        }
        assert_eq!(port.endpoint.lies(), round);
        assert!(matches!(hear(&client.channel), Message::Disconnect(_)));
    }
    // A wild descriptor alone is a packet that is dropped.
    let client = HostileClient::connected(&socket);
    port.wait_for_link(true);
    let memory = client.memory();
    memory.write(128, &u64::MAX.to_ne_bytes());
    memory.write(136, &u64::MAX.to_ne_bytes());
    memory.write(6, &1u16.to_ne_bytes());
    let wrong = |port: &Port| port.endpoint.received().next().unwrap().wrong;
    wait_until("it is counted", || port.receive().is_empty() && wrong(&port) == 1);
    assert!(port.endpoint.is_up());
    drop(client);
    let [server, client] = &mut others;
    exchange(server, client);
    let mut honest = Port::open(Role::Client, &socket);
    exchange(&mut port, &mut honest);
    assert_eq!((port.lost(), honest.lost()), (0, 0));
}

#[test]
fn a_hostile_server_gets_no_further() {
    let mut others = bystanders();
    let socket = path("server");
    let listener = Listener::bind(&socket).unwrap();
    let mut port = Port::open(Role::Client, &socket);
    let accept = || {
        let mut channel = None;
        wait_until("the client comes", || {
            channel = listener.accept();
            channel.is_some()
        });
        channel.unwrap()
    };
    // Words without sense, out of turn, with a descriptor.
    let hello = memif::control::Server::<()>::hello("hostile", 1, 1);
    let fd = eventfd();
    for (words, descriptor) in [
        (vec![0xff; 128], None),
        (vec![2; 7], None),
        (Message::Ack.write().to_vec(), None),
        (Message::Connected([0; 32]).write().to_vec(), None),
        (hello.write().to_vec(), Some(fd.as_raw_fd())),
    ] {
        let channel = accept();
        channel.say(&words, descriptor).unwrap();
        assert!(matches!(hear(&channel), Message::Disconnect(_)));
    }
    // Takes the memory and says what cannot be in it.
    for round in 1..=3 {
        let (channel, mut memory) = (accept(), None);
        say(&channel, &hello, None);
        loop {
            match channel.hear().unwrap() {
                Heard::Nothing => {}
                Heard::Closed => panic!("it left"),
                Heard::Message { bytes, descriptor, .. } => match Message::read(&bytes).unwrap() {
                    Message::AddRegion(region) => {
                        let fd = descriptor.unwrap();
                        // SAFETY: a descriptor of ours.
                        assert_eq!(unsafe { libc::ftruncate(fd.as_raw_fd(), 0) }, -1);
                        memory = Peer::of(&fd, region.size).ok();
                        say(&channel, &Message::Ack, None);
                    }
                    Message::Connect(_) => break,
                    _ => say(&channel, &Message::Ack, None),
                },
            }
        }
        say(&channel, &Message::Connected([0; 32]), None);
        port.wait_for_link(true);
        let memory = memory.unwrap();
        let to_client = RINGS as usize / 2;
        if round < 3 {
            let at = if round == 1 { to_client + 64 } else { 64 };
            memory.write(at, &0x9000u16.to_ne_bytes());
            wait_until("the lie is seen", || {
                port.send(b"x");
                port.receive().is_empty() && !port.endpoint.is_up()
            });
            assert_eq!(port.endpoint.lies(), round);
        } else {
            // Longer than the slot, and somewhere else.
            memory.write(to_client + 128, &[0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
            memory.write(to_client + 64, &1u16.to_ne_bytes());
            let wrong = |port: &Port| port.endpoint.received().next().unwrap().wrong;
            wait_until("it is counted", || port.receive().is_empty() && wrong(&port) == 1);
        }
    }
    let [server, client] = &mut others;
    exchange(server, client);
    drop(listener);
    std::fs::remove_file(&socket).unwrap();
    let mut honest = Port::open(Role::Server, &socket);
    exchange(&mut honest, &mut port);
    assert_eq!((port.lost(), honest.lost()), (0, 0));
}

#[test]
fn who_wants_to_be_woken_is_and_a_full_bell_holds_up_nobody() {
    let socket = path("bell");
    let mut port = Port::open(Role::Server, &socket);
    let client = HostileClient::connected(&socket);
    port.wait_for_link(true);
    let (memory, to_client) = (client.memory(), RINGS as usize / 2);
    let hand_out = |slot: u16| {
        let at = to_client + 128 + usize::from(slot) * 16;
        memory.write(at, &(2048u64 << 32).to_ne_bytes());
        memory.write(at + 8, &(RINGS + u64::from(slot) * 2048).to_ne_bytes());
        memory.write(to_client + 6, &(slot + 1).to_ne_bytes());
    };
    hand_out(0);
    assert!(port.send(b"wake up"));
    let mut count = [0u8; 8];
    // SAFETY: a blocking read of an eventfd into eight bytes.
    let read = unsafe { libc::read(client.bell.as_raw_fd(), count.as_mut_ptr().cast(), 8) };
    assert_eq!((read, u64::from_ne_bytes(count) > 0), (8, true));
    // Full, and such that writing waits.
    let full = (u64::MAX - 1).to_ne_bytes();
    // SAFETY: eight bytes of ours.
    unsafe { libc::write(client.bell.as_raw_fd(), full.as_ptr().cast(), 8) };
    for slot in 1..10 {
        hand_out(slot);
        assert!(port.send(b"again"));
    }
    drop(client);
    port.wait_for_link(false);
    let mut honest = Port::open(Role::Client, &socket);
    exchange(&mut port, &mut honest);
}

#[test]
fn nothing_is_left_of_interfaces_that_come_and_go() {
    let socket = path("cycles");
    let sockets = || {
        let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let mine = std::fs::read_to_string("/proc/self/net/unix").unwrap();
        let here = mine.lines().filter(|line| line.contains(socket.to_str().unwrap())).count();
        (open.count(), here)
    };
    // Other tests have descriptors of their own meanwhile: only what is at this socket counts.
    for _ in 0..200 {
        let mut server = Port::open(Role::Server, &socket);
        let mut client = Port::open(Role::Client, &socket);
        server.wait_for_link(true);
        client.wait_for_link(true);
        wait_until("it is sent", || client.send(b"x"));
        wait_until("it arrives", || server.receive() == [b"x"]);
    }
    wait_until("all is closed", || sockets().1 == 0);
    assert!(!socket.exists());
}
