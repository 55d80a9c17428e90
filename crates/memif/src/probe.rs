//! One ring each way over memory that the caller writes, as a peer would: for tests and fuzzers.

use crate::bell::eventfd;
use crate::control::ring_bytes;
use crate::counts::Counts;
use crate::queue::{InEnd, OutEnd};
use crate::region::{Region, RegionError};
use crate::ring::{Buffers, Memory, Ring};
use crate::shape::{Direction, Shape};
use crate::zero_copy::{Handing, Lending, SharedBuffers};
use crate::{Counters, Role, receive, transmit};
use packet::{Burst, PacketBuf, PacketCache};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// A ring said what cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lied;

/// Both rings of an interface, and their memory.
pub struct Probe {
    memory: Memory,
    bytes: usize,
    incoming: InEnd,
    outgoing: OutEnd,
    received: Counts,
    sent: Counts,
}

impl Probe {
    /// Empty rings, as that role has them. The memory is laid out as a client of ours does it.
    pub fn new(role: Role, ring_log2: u8, buffer_bytes: u16) -> io::Result<Self> {
        Self::laid_out(ring_log2, buffer_bytes, |shape, to_server, to_client, bell| {
            let own = |direction| shape.buffers(direction, 0);
            let (incoming, outgoing) = match role {
                Role::Server => ((to_server, Buffers::Peers), (to_client, Buffers::Peers)),
                Role::Client => {
                    ((to_client, own(Direction::ToClient)), (to_server, own(Direction::ToServer)))
                }
            };
            (
                Box::new(receive::Copying::new(incoming.0, incoming.1, bell)),
                Box::new(transmit::Copying::new(outgoing.0, outgoing.1)),
            )
        })
    }

    /// The same of a client whose packets lie in these buffers.
    pub fn zero_copy(ring_log2: u8, buffers: &SharedBuffers) -> io::Result<Self> {
        Self::laid_out(ring_log2, 0, |_, to_server, to_client, bell| {
            (
                Box::new(Lending::new(to_client, buffers.clone(), bell)),
                Box::new(Handing::new(to_server, buffers.clone())),
            )
        })
    }

    fn laid_out(
        ring_log2: u8,
        buffer_bytes: u16,
        ends: impl FnOnce(Shape, Ring, Ring, OwnedFd) -> (InEnd, OutEnd),
    ) -> io::Result<Self> {
        let shape = Shape { to_server: 1, to_client: 1, ring_log2, buffer_bytes };
        let (region, _fd) = Region::create(shape.bytes())?;
        let memory: Memory = Arc::from([region]);
        let no_ring = || io::Error::other("a ring outside of its memory");
        let ring = |direction| {
            let offset = shape.ring_offset(direction, 0);
            let ring = Ring::at(&memory, 0, offset, ring_log2).ok_or_else(no_ring)?;
            ring.clear();
            Ok::<_, io::Error>(ring)
        };
        let (to_server, to_client) = (ring(Direction::ToServer)?, ring(Direction::ToClient)?);
        let (incoming, outgoing) = ends(shape, to_server, to_client, eventfd()?);
        let bytes = shape.bytes() as usize;
        let (received, sent) = (Counts::default(), Counts::default());
        Ok(Self { memory, bytes, incoming, outgoing, received, sent })
    }

    /// Where the second ring begins: packets to the client.
    pub fn to_client(ring_log2: u8) -> usize {
        ring_bytes(ring_log2) as usize
    }

    /// The other side of the memory.
    pub fn peer(&self) -> Peer {
        Peer { memory: Arc::clone(&self.memory), bytes: self.bytes }
    }

    /// As a queue's.
    pub fn receive(
        &mut self,
        cache: &mut dyn PacketCache,
        most: usize,
        into: &mut Vec<PacketBuf>,
    ) -> Result<(), Lied> {
        self.incoming.receive(cache, most, into, &self.received).map_err(|_| Lied)
    }

    /// As a queue's; whether the peer waits to be woken.
    pub fn transmit(
        &mut self,
        cache: &mut dyn PacketCache,
        packets: &mut Burst<'_>,
    ) -> Result<bool, Lied> {
        self.outgoing.transmit(cache, packets, &self.sent).map_err(|_| Lied)
    }

    /// What was received, and what was sent.
    pub fn counters(&self) -> (Counters, Counters) {
        (self.received.told(), self.sent.told())
    }
}

/// Who writes and reads the memory at any time.
#[derive(Clone)]
pub struct Peer {
    memory: Memory,
    bytes: usize,
}

impl Peer {
    /// Maps memory that somebody shares.
    pub fn of(fd: &OwnedFd, bytes: u64) -> Result<Self, RegionError> {
        let region = Region::adopt(fd, bytes)?;
        Ok(Self { memory: Arc::from([region]), bytes: bytes as usize })
    }

    /// Bytes of the memory.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes; what is outside is left out.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        let count = self.bytes.saturating_sub(at).min(bytes.len());
        if let Some(place) = self.memory[0].part(at as u32, count as u32) {
            // SAFETY: inside of memory that lives as long as this.
            unsafe { core::ptr::copy(bytes.as_ptr(), place, count) };
        }
    }

    /// Reads.
    pub fn read<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        let place = self.memory[0].part(u32::try_from(at).ok()?, N as u32)?;
        // SAFETY: inside of memory that lives as long as this.
        Some(unsafe { place.cast::<[u8; N]>().read_unaligned() })
    }
}
