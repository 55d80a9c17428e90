//! Forwards between two ports, both ways, on one core: what the I/O alone costs.
//!
//! ```text
//!  io_forward null                       two null ports
//!  io_forward memif SOCKET               both ends of a memif
//!  io_forward memif-server SOCKET        a memif to itself: what comes in goes out again
//!  io_forward memif-client SOCKET        the same at the other end, and makes the first packets
//!  io_forward vhost SOCKET               a machine's port to itself: what comes in goes out again
//!  io_forward af_packet DEVICE DEVICE    between two Linux devices (for iperf3)
//!  io_forward af_xdp DEVICE DEVICE       the same through XDP sockets
//! ```
//! Says every second how many million packets and cycles a packet it forwarded.

use dpdk::kinds::{AfPacket, AfXdp, Memif, Null, Vhost};
use dpdk::{
    DpdkPool, Eal, EalOptions, LogLevel, MemifRole, Port, PortOptions, PortSpec, RxHandle, TxHandle,
};
use packet::{Burst, PacketBuf, PacketCache, Pool, RxQueue, TxQueue};
use std::error::Error;
use std::time::{Duration, Instant};

const BURST: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (specs, first_packets) = ports(&words).ok_or("see the head of this file for arguments")?;
    // Hosts would not know packets with swapped addresses.
    let swap = !matches!(specs[0], PortSpec::AfPacket(_) | PortSpec::AfXdp(_));
    let log = Box::new(|level: LogLevel, line: &str| eprintln!("dpdk {level}: {line}"));
    let options = EalOptions { log: Some((LogLevel::Warning, log)), ..EalOptions::default() };
    let eal = Eal::start(options)?;
    println!("{}", eal.facts());
    let pool = DpdkPool::new(&eal, 16_384, 2048)?;
    let mut ends = Vec::new();
    for spec in &specs {
        let mut port = Port::open(&eal, spec, PortOptions::new(pool.clone()))?;
        port.start()?;
        println!("{spec}: {:?} {:?}", port.facts(), port.remarks());
        let rx = port.rx(0).ok_or("no receive queue")?;
        let tx = port.tx(0).ok_or("no transmit queue")?;
        ends.push(End { port, rx, tx });
    }
    let mut cache = pool.cache();
    if let ["memif", _] = words[..] {
        while !ends.iter().all(|end| end.port.link().is_ok_and(|link| link.up)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        // DPDK's client hands its buffers out when it receives.
        ends.iter_mut().for_each(|end| end.rx.receive(&mut *cache, 0, &mut Vec::new()));
    }
    if first_packets {
        make_packets(&mut ends[0], &mut *cache);
    }
    loop {
        measure(&mut ends, &mut *cache, swap);
    }
}

struct End {
    port: Port,
    rx: RxHandle,
    tx: TxHandle,
}

/// The ports that the words ask for, and whether the first makes packets to begin with.
fn ports(words: &[&str]) -> Option<(Vec<PortSpec>, bool)> {
    let memif = |role, socket: &str| PortSpec::from(Memif::usual(role, socket.into(), 0));
    let null = PortSpec::Null(Null { packet_bytes: 64 });
    let linux = |device: &str| PortSpec::AfPacket(AfPacket::usual(device.into()));
    let xdp = |device: &str| {
        PortSpec::AfXdp(AfXdp { device: device.into(), first_queue: 0, force_copy: false })
    };
    match words {
        ["null"] => Some((vec![null.clone(), null], false)),
        ["memif", socket] => {
            Some((vec![memif(MemifRole::Server, socket), memif(MemifRole::Client, socket)], true))
        }
        ["memif-server", socket] => Some((vec![memif(MemifRole::Server, socket)], false)),
        ["memif-client", socket] => Some((vec![memif(MemifRole::Client, socket)], true)),
        ["vhost", socket] => {
            let port = PortSpec::Vhost(Vhost { socket: socket.into(), client: false });
            Some((vec![port], false))
        }
        ["af_packet", one, other] => Some((vec![linux(one), linux(other)], false)),
        ["af_xdp", one, other] => Some((vec![xdp(one), xdp(other)], false)),
        _ => None,
    }
}

/// Sends until as many packets are on their way as a burst or four hold.
fn make_packets(end: &mut End, cache: &mut dyn PacketCache) {
    let mut left = 4 * BURST;
    while left > 0 {
        let Some(packet) = cache.copy_of(&[0xff; 60]) else { return };
        let mut packets = vec![packet];
        left -= end.tx.send(cache, &mut packets);
        if !packets.is_empty() {
            cache.release(Burst::of(&mut packets));
            end.rx.receive(cache, 0, &mut packets);
        }
    }
}

fn measure(ends: &mut [End], cache: &mut dyn PacketCache, swap: bool) {
    let (start, start_cycles) = (Instant::now(), cycles());
    let mut packets = 0;
    let mut burst = Vec::with_capacity(BURST);
    while start.elapsed() < Duration::from_secs(1) {
        for _ in 0..100 {
            for from in 0..ends.len() {
                packets += forward(ends, from, cache, swap, &mut burst);
            }
        }
    }
    let spent = cycles() - start_cycles;
    let mpps = packets as f64 / start.elapsed().as_secs_f64() / 1e6;
    println!("{mpps:.2} Mpps, {:.1} cycles/packet", spent as f64 / packets.max(1) as f64);
}

/// One burst from end `from` to the next; what cannot be sent is dropped.
fn forward(
    ends: &mut [End],
    from: usize,
    cache: &mut dyn PacketCache,
    swap: bool,
    packets: &mut Vec<PacketBuf>,
) -> usize {
    ends[from].rx.receive(cache, BURST, packets);
    if swap {
        swap_addresses(packets);
    }
    let to = (from + 1) % ends.len();
    let sent = ends[to].tx.send(cache, packets);
    cache.release(Burst::of(packets));
    sent
}

/// What testpmd's `macswap` does, so that both touch the packets alike.
fn swap_addresses(packets: &mut [PacketBuf]) {
    for packet in packets {
        let bytes = packet.bytes_mut();
        if let Some((to, from)) = bytes.get_mut(..12).and_then(|both| both.split_at_mut_checked(6))
        {
            to.swap_with_slice(from);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn cycles() -> u64 {
    // SAFETY: every x86-64 processor has it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn cycles() -> u64 {
    0
}
