//! What the tests of real ports share: one environment a process, one test at a time.
#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(unsafe_code, reason = "namespaces and packet sockets")]
#![allow(clippy::unwrap_used, reason = "test code outside of #[test] functions")]

use dpdk::{
    DpdkPool, Eal, EalOptions, MemoryChoice, Port, PortOptions, PortSpec, RxHandle, TxHandle,
};
use packet::{Burst, PacketCache, Pool, RxQueue, TxQueue};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub(crate) mod network;

/// Long enough for a machine that stalls; only ever waited for in full when a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Rig {
    pub(crate) eal: Eal,
    pub(crate) pool: DpdkPool,
    pub(crate) cache: Box<dyn PacketCache>,
    _turn: MutexGuard<'static, ()>,
}

/// The environment, for one test at a time.
pub(crate) fn rig() -> Rig {
    static TURN: Mutex<()> = Mutex::new(());
    static EAL: OnceLock<Eal> = OnceLock::new();
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let memory = MemoryChoice::Ordinary;
    let eal = EAL.get_or_init(|| {
        Eal::start(EalOptions { memory_mib: 128, memory, ..EalOptions::default() }).unwrap()
    });
    let pool = DpdkPool::new(eal, 8192, 2048).unwrap();
    Rig { eal: eal.clone(), cache: pool.cache(), pool, _turn: turn }
}

/// A running port and its first queues.
pub(crate) struct Opened {
    pub(crate) rx: RxHandle,
    pub(crate) tx: TxHandle,
    pub(crate) port: Port,
}

impl Rig {
    pub(crate) fn options(&self) -> PortOptions {
        PortOptions::new(self.pool.clone())
    }

    pub(crate) fn open(&self, spec: &PortSpec) -> Opened {
        self.open_with(spec, self.options())
    }

    pub(crate) fn open_with(&self, spec: &PortSpec, options: PortOptions) -> Opened {
        self.started(Port::open(&self.eal, spec, options).unwrap())
    }

    pub(crate) fn started(&self, mut port: Port) -> Opened {
        port.start().unwrap();
        Opened { rx: port.rx(0).unwrap(), tx: port.tx(0).unwrap(), port }
    }

    /// Sends all frames, trying for as long as the port is slow.
    pub(crate) fn send(&mut self, port: &mut Opened, frames: &[Vec<u8>]) {
        let mut packets: Vec<_> = frames.iter().map(|f| self.cache.copy_of(f).unwrap()).collect();
        wait_until("frames are sent", || {
            port.tx.send(&mut *self.cache, &mut packets);
            packets.is_empty()
        });
    }

    /// What is there to receive now, up to 64 frames.
    pub(crate) fn receive(&mut self, port: &mut Opened) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        port.rx.receive(&mut *self.cache, 64, &mut packets);
        let frames = packets.iter().map(|packet| packet.bytes().to_vec()).collect();
        self.cache.release(Burst::of(&mut packets));
        frames
    }

    /// Nothing is there to receive.
    pub(crate) fn receive_nothing(&self, port: &mut Opened) -> bool {
        let mut packets = Vec::new();
        port.rx.receive(&mut *self.pool.cache(), 64, &mut packets);
        packets.is_empty()
    }

    /// Receives until `count` of our frames came (others, as the kernel sends them, are left out).
    pub(crate) fn expect(&mut self, port: &mut Opened, count: usize) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        wait_until("frames arrive", || {
            frames.extend(self.receive(port).into_iter().filter(|frame| is_ours(frame)));
            frames.len() >= count
        });
        frames
    }

    /// All buffers are back in the pool.
    pub(crate) fn nothing_leaked(&self) -> bool {
        let usage = self.pool.usage();
        usage.free == usage.total
    }
}

/// Our ethertype, for local experiments.
const OURS: [u8; 2] = [0x88, 0xb5];

/// `count` different frames of sizes 60 to 1514.
pub(crate) fn frames(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|n| frame(n as u8, 60 + (n * 149) % 1455)).collect()
}

pub(crate) fn frame(fill: u8, bytes: usize) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, 1]);
    frame.extend(OURS);
    frame.extend((frame.len()..bytes).map(|n| (n as u8).wrapping_mul(7) ^ fill));
    frame
}

pub(crate) fn is_ours(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&OURS)
}

pub(crate) fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::yield_now();
    }
}
