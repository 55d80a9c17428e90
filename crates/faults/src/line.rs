//! A link in memory: what a device of the simulated world has at its other end.
//!
//! ```text
//!  the plan ── to_router ──▶ │ device │ ──▶ worker
//!  the plan ◀─ from_router ─ │        │ ◀── worker
//!                link up, gone, refusing to open, full
//! ```

use crate::hosts;
use control::config::objects::port::Port;
use control::config::objects::port_kind::PortKind;
use dataplane::PortQueues;
use packet::{Burst, PacketBuf, PacketCache, RxQueue, TxQueue};
use router::{GivenDevice, GivenLink, Opener};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Frames that a link takes from the router between two looks at it, unless it is full.
pub(crate) const USUAL_ROOM: usize = 4096;

/// One link's state.
#[derive(Debug)]
pub(crate) struct Line {
    /// Frames on their way in.
    pub(crate) to_router: VecDeque<Vec<u8>>,
    /// Frames that came out.
    pub(crate) from_router: Vec<Vec<u8>>,
    /// Its light is on.
    pub(crate) up: bool,
    /// There is such a device.
    pub(crate) there: bool,
    /// So many times it will refuse to be opened.
    pub(crate) refuses: usize,
    /// How many frames more it takes.
    pub(crate) room: usize,
    /// Frames that the router has received.
    pub(crate) given: u64,
    /// Frames that the router has got rid of.
    pub(crate) taken: u64,
    /// Frames that found no buffer.
    pub(crate) missed: u64,
    /// Answers about neighbours among them.
    pub(crate) missed_answers: u64,
    mac: [u8; 6],
}

/// A link that is shared with the router's device.
#[derive(Clone, Debug)]
pub(crate) struct SharedLine(Arc<Mutex<Line>>);

impl SharedLine {
    fn new(number: u8) -> Self {
        let line = Line {
            to_router: VecDeque::new(),
            from_router: Vec::new(),
            up: true,
            there: true,
            refuses: 0,
            room: USUAL_ROOM,
            given: 0,
            taken: 0,
            missed: 0,
            missed_answers: 0,
            mac: [2, 0, 0, 0, 1, number],
        };
        Self(Arc::new(Mutex::new(line)))
    }

    /// Its state.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Line> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All links of a world by number, each with the name of its device.
#[derive(Clone, Debug)]
pub(crate) struct Lines(Arc<Vec<(String, SharedLine)>>);

impl Lines {
    /// So many, d0 and on.
    pub(crate) fn new(count: u8) -> Self {
        let line = |number: u8| (format!("d{number}"), SharedLine::new(number));
        Self(Arc::new((0..count).map(line).collect()))
    }

    /// One of them.
    pub(crate) fn at(&self, number: usize) -> &SharedLine {
        &self.0[number].1
    }

    /// Every one, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&String, &SharedLine)> {
        self.0.iter().map(|(name, line)| (name, line))
    }

    fn named(&self, device: &str) -> Option<&SharedLine> {
        self.all().find(|(name, _)| *name == device).map(|(_, line)| line)
    }

    /// Links and devices of another world stand as these do from now on.
    pub(crate) fn liken(&self, others: &Self) {
        for ((_, these), (_, line)) in self.all().zip(others.all()) {
            let (these, mut line) = (these.lock(), line.lock());
            (line.up, line.there) = (these.up, these.there);
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u8 {
        self.0.len() as u8
    }
}

impl Opener for Lines {
    fn open(
        &self,
        port: &Port,
        workers: usize,
    ) -> Result<(Box<dyn GivenDevice>, PortQueues), String> {
        let PortKind::AfPacket(it) = &port.kind else {
            return Err(format!("nothing of the kind {:?} is in this world", port.kind.name()));
        };
        let name = it.device.as_str();
        let shared = self.named(name).ok_or_else(|| format!("there is no device {name}"))?;
        let mut line = shared.lock();
        if !line.there {
            return Err(format!("device {name} is gone"));
        }
        if line.refuses != 0 {
            line.refuses -= 1;
            return Err(format!("device {name} refuses"));
        }
        line.to_router.clear();
        let rx = |_| Box::new(Receives(shared.clone())) as Box<dyn RxQueue>;
        let tx = |_| Box::new(Sends(shared.clone())) as Box<dyn TxQueue>;
        let queues = PortQueues {
            rx: (0..port.rx_queues).map(rx).collect(),
            tx: (0..workers).map(tx).collect(),
        };
        Ok((Box::new(Opened(shared.clone())), queues))
    }
}

struct Opened(SharedLine);

impl GivenDevice for Opened {
    fn link(&self) -> GivenLink {
        let line = self.0.lock();
        GivenLink { up: line.up && line.there, gone: !line.there }
    }

    fn mac(&self) -> [u8; 6] {
        self.0.lock().mac
    }

    fn readdress(&mut self, _: [u8; 6]) -> Result<(), String> {
        let mut line = self.0.lock();
        if line.refuses != 0 {
            line.refuses -= 1;
            return Err("the device keeps its address".to_owned());
        }
        Ok(())
    }
}

struct Receives(SharedLine);

impl RxQueue for Receives {
    fn receive(&mut self, cache: &mut dyn PacketCache, most: usize, into: &mut Vec<PacketBuf>) {
        let mut line = self.0.lock();
        if !line.up || !line.there {
            line.to_router.clear();
        }
        for _ in 0..most {
            let Some(frame) = line.to_router.pop_front() else { return };
            match cache.copy_of(&frame) {
                Some(packet) => {
                    into.push(packet);
                    line.given += 1;
                }
                None => {
                    line.missed += 1;
                    line.missed_answers += u64::from(hosts::tells_of_neighbour(&frame));
                }
            }
        }
    }
}

struct Sends(SharedLine);

impl TxQueue for Sends {
    fn transmit(&mut self, cache: &mut dyn PacketCache, packets: &mut Burst<'_>) {
        let mut line = self.0.lock();
        let sent = packets.take_front(line.room);
        line.room -= sent.len();
        line.taken += sent.len() as u64;
        if line.up && line.there {
            line.from_router.extend(sent.iter().map(|packet| packet.bytes().to_vec()));
        }
        cache.release(sent);
    }
}
