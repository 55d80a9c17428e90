//! Ports as people write them, opened.
//!
//! ```text
//! memory[:FAULTS]          a link of our own: both ends      ring    what is sent comes back
//! af_packet:DEVICE         af_xdp:DEVICE         tap:NAME
//! memif:SOCKET[#ID]        …as server            memif-client:SOCKET[#ID]
//! vhost:SOCKET             virtio_user:SOCKET
//! pcap:IN+OUT              either may be missing           pci:0000:01:00.0
//! ```

use std::time::{Duration, Instant};

use dpdk::kinds::{AfPacket, AfXdp, Memif, Pcap, Pci, Ring, Tap, Vhost, VirtioUser};
use dpdk::{DpdkPool, Eal, EalOptions, MemifRole, MemoryChoice, Port, PortOptions, PortSpec};
use packet::{Pool, RxQueue};

use super::end::End;
use super::queues::{QueueCounts, Several};
use super::stream::FRAME_BYTES;
use crate::Error;

/// Reads a port; `memory` is no such port.
pub fn parse(text: &str) -> Result<PortSpec, Error> {
    let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
    let refuse = || Error::Text {
        what: "port",
        text: text.to_owned(),
        allowed: "af_packet:DEVICE, af_xdp:DEVICE, tap:NAME, memif:SOCKET, memif-client:SOCKET, \
                  vhost:SOCKET, virtio_user:SOCKET, pcap:IN+OUT, pci:ADDRESS, ring, or memory"
            .into(),
    };
    if rest.is_empty() && kind != "ring" {
        return Err(refuse());
    }
    let memif = |role| {
        let (socket, id) = rest.split_once('#').unwrap_or((rest, "0"));
        let id = id.parse().map_err(|_| refuse())?;
        Ok(Memif::usual(role, socket.into(), id).into())
    };
    Ok(match kind {
        "af_packet" => PortSpec::AfPacket(AfPacket::usual(rest.into())),
        "af_xdp" => {
            PortSpec::AfXdp(AfXdp { device: rest.into(), first_queue: 0, force_copy: false })
        }
        "tap" => PortSpec::Tap(Tap { name: rest.into() }),
        "memif" | "memif-server" => memif(MemifRole::Server)?,
        "memif-client" => memif(MemifRole::Client)?,
        "vhost" => PortSpec::Vhost(Vhost { socket: rest.into(), client: false }),
        "virtio_user" => PortSpec::VirtioUser(VirtioUser { path: rest.into(), server: false }),
        "pci" => PortSpec::Pci(Pci { address: rest.into() }),
        "ring" => PortSpec::Ring(Ring),
        "pcap" => {
            let (rx, tx) = rest.split_once('+').unwrap_or((rest, ""));
            let path = |text: &str| (!text.is_empty()).then(|| text.into());
            PortSpec::Pcap(Pcap { rx: path(rx), tx: path(tx), repeat: false })
        }
        _ => return Err(refuse()),
    })
}

/// DPDK, and the buffers of all ports.
pub struct Ports {
    eal: Eal,
    received: DpdkPool,
    max_frame_bytes: u16,
    port_times: bool,
    toward_hosts: bool,
}

/// Buffers that frames are received into.
const RECEIVED: u32 = 16_384;
/// Buffers of each end that frames are sent from: what a port's ring holds, and some.
const SENT: u32 = 8_192;
/// Ends that are open at a time: two of each of two devices, which are measured in turn.
const ENDS: u32 = 4;

/// Longest wait for a link that somebody else makes.
pub const LINK_PATIENCE: Duration = Duration::from_secs(20);

/// Octets of a buffer that holds such a frame in one piece: cards want room for tags and for a
/// header of their own, and some count in KiB.
pub fn buffer_bytes(frame_bytes: u16) -> u16 {
    const BESIDE_BYTES: u16 = 64;
    let most = *FRAME_BYTES.end();
    (frame_bytes.min(most) + BESIDE_BYTES).next_multiple_of(1_024).max(2_048)
}

impl Ports {
    /// Starts DPDK for frames of up to this size, with checksum.
    pub fn start(max_frame_bytes: u16, pci: bool) -> Result<Self, Error> {
        let room = buffer_bytes(max_frame_bytes);
        let buffers = u64::from(RECEIVED + ENDS * SENT) * (u64::from(room) + 512);
        let options = EalOptions {
            memory_mib: 64 + (buffers >> 20) as usize,
            memory: MemoryChoice::Auto,
            pci,
            file_prefix: format!("volley-lab-{}", std::process::id()),
            log: None,
        };
        let eal = Eal::start(options).map_err(refused("DPDK"))?;
        let received = DpdkPool::new(&eal, RECEIVED, room).map_err(refused("buffers"))?;
        Ok(Self { eal, received, max_frame_bytes, port_times: false, toward_hosts: false })
    }

    /// Ports opened from now on tell when they received each packet, or are refused.
    #[must_use]
    pub fn with_port_times(self, wanted: bool) -> Self {
        Self { port_times: wanted, ..self }
    }

    /// At the other ends of ports opened from now on may be Linux hosts that leave work to cards.
    /// It costs a quarter of what a veth can carry (see `dpdk::offloads`); devices that the lab
    /// starts leave nothing.
    #[must_use]
    pub fn toward_hosts(self) -> Self {
        Self { toward_hosts: true, ..self }
    }

    /// Opens a port and starts it.
    pub fn open(&self, spec: &PortSpec) -> Result<End, Error> {
        self.open_wide(spec, 1)
    }

    /// The same with so many receive queues, for a peer that sends by as many.
    pub fn open_wide(&self, spec: &PortSpec, rx_queues: u16) -> Result<End, Error> {
        let name = spec.to_string();
        let room = buffer_bytes(self.max_frame_bytes);
        let sent = DpdkPool::new(&self.eal, SENT, room).map_err(refused(&name))?;
        let mut options = PortOptions { rx_queues, ..PortOptions::new(self.received.clone()) };
        options.receive_times = self.port_times;
        options.peer_offloads = self.toward_hosts;
        if self.max_frame_bytes > 1_522 {
            options.mtu = Some(self.max_frame_bytes - 18);
        }
        let mut port = Port::open(&self.eal, spec, options).map_err(refused(&name))?;
        // What is counted and timed are frames of the link.
        port.keep_whole(false);
        port.start().map_err(refused(&name))?;
        let gone = || Error::Port { port: name.clone(), reason: "it has no queue".into() };
        let tx = port.tx(0).ok_or_else(gone)?;
        let (rx, queues): (Box<dyn RxQueue>, QueueCounts) = if rx_queues > 1 {
            let wanted = (0..rx_queues).map(|queue| port.rx(queue).ok_or_else(gone));
            let several = Several::new(wanted.collect::<Result<_, _>>()?);
            let counts = several.counts();
            (Box::new(several), counts)
        } else {
            (Box::new(port.rx(0).ok_or_else(gone)?), QueueCounts::default())
        };
        let (tx, cache, came) = (Box::new(tx), sent.cache(), Vec::new());
        Ok(End { name, rx, queues, tx, cache, came, port: Some(port) })
    }

    /// DPDK's version and memory.
    pub fn facts(&self) -> String {
        self.eal.facts().to_string()
    }
}

/// Waits until all links are up.
pub fn wait_for_links(ends: &mut [End], patience: Duration) -> Result<(), Error> {
    let began = Instant::now();
    for end in ends {
        let Some(port) = &end.port else { continue };
        while !port.link().map_err(refused(&end.name))?.up {
            if began.elapsed() > patience {
                let reason = format!("no link within {} s", patience.as_secs());
                return Err(Error::Port { port: end.name.clone(), reason });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    Ok(())
}

fn refused(port: &str) -> impl Fn(dpdk::Error) -> Error {
    let port = port.to_owned();
    move |error| Error::Port { port: port.clone(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_hold_a_frame_with_what_cards_put_beside_it() {
        assert_eq!([64, 1_518, 1_984].map(buffer_bytes), [2_048; 3]);
        assert_eq!([1_985, 9_018, 9_022, u16::MAX].map(buffer_bytes), [3_072, 9_216, 9_216, 9_216]);
    }

    #[test]
    fn ports_are_read_as_they_are_written() {
        assert_eq!(
            parse("af_packet:veth0").unwrap(),
            PortSpec::AfPacket(AfPacket::usual("veth0".into()))
        );
        let memif = parse("memif-client:/run/m#3").unwrap();
        assert!(matches!(memif, PortSpec::Memif(Memif { role: MemifRole::Client, id: 3, .. })));
        let pcap = PortSpec::Pcap(Pcap { rx: None, tx: Some("b".into()), repeat: false });
        assert_eq!(parse("pcap:+b").unwrap(), pcap);
        assert_eq!(parse("ring").unwrap(), PortSpec::Ring(Ring));
        for wrong in ["", "af_packet", "wifi:wlan0", "memif:/s#x"] {
            assert!(parse(wrong).unwrap_err().to_string().contains("af_packet:DEVICE"), "{wrong}");
        }
    }
}
