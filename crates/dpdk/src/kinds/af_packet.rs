//! `af_packet`: a Linux device through packet sockets.
//!
//! What DPDK's driver of it does not do is in `packet_sockets`, `packet_rings`, `packet_slots` and
//! `offloads`.

use crate::Error;
use crate::arguments::Arguments;
use crate::device::{Device, Shape};
use crate::driver::Driver;
use crate::eth_dev::EthDev;
use crate::kind::{Attendant, Kind, MtuOf};
use crate::linux::LinuxDevice;
use crate::packet_rings::PacketRings;
use crate::packet_slots::{PacketSlots, RingShape};
use crate::privilege::Right;
use packet::Wakes;
use std::fmt;
use std::sync::Arc;

/// A Linux device through packet sockets. The kernel keeps seeing its packets, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfPacket {
    /// The device.
    pub device: String,
}

impl Kind for AfPacket {
    fn name(&self) -> &'static str {
        "af_packet"
    }

    fn driver(&self, shape: Shape) -> Result<Box<dyn Driver>, Error> {
        let RingShape { slots, slot_bytes } = ring(shape);
        let arguments = Arguments::default()
            .device("iface", &self.device)?
            .with("qpairs", shape.queues)
            .with("blocksz", slot_bytes * SLOTS_A_BLOCK)
            .with("framesz", slot_bytes)
            .with("framecnt", slots)
            .with("qdisc_bypass", 0);
        let alone = shape.queues == 1;
        Ok(EthDev::of(Device { alone, ..Device::of_driver("net_af_packet", arguments) }))
    }

    fn rights(&self) -> &'static [Right] {
        &[Right::NetRaw, Right::IpcLock]
    }

    fn linux_device(&self) -> Option<&str> {
        Some(&self.device)
    }

    fn has_room_for_program(&self) -> bool {
        true
    }

    fn has_queue_pairs(&self) -> bool {
        true
    }

    fn leaves_out_checksums(&self) -> bool {
        true
    }

    /// DPDK takes this driver's largest frame for 1518 bytes.
    fn mtu_is_of(&self) -> MtuOf {
        MtuOf::Linux
    }

    fn attendant(&self) -> Box<dyn Attendant> {
        Box::new(Sockets::default())
    }
}

impl fmt::Display for AfPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.device)
    }
}

/// The packet sockets of an open port.
#[derive(Default)]
struct Sockets {
    rings: Arc<PacketRings>,
}

impl Attendant for Sockets {
    fn opened(&mut self, linux: Option<&LinuxDevice>) {
        if let Some(linux) = linux {
            self.rings = Arc::new(PacketRings::on(linux.index()));
        }
    }

    fn stopping(&mut self) {
        self.rings.let_go();
    }

    fn rings(&self) -> Arc<PacketRings> {
        Arc::clone(&self.rings)
    }

    fn wakes(&self, queue: u16) -> Wakes {
        self.rings.socket(queue).map_or(Wakes::Unseen, Wakes::Readable)
    }

    fn packet_slots(&self, shape: Shape) -> Vec<Option<PacketSlots>> {
        let inodes = self.rings.inodes().into_iter();
        inodes.map(|inode| PacketSlots::of(inode, ring(shape))).collect()
    }

    fn tells_times(&self) -> bool {
        true
    }
}

/// The receive ring of a packet socket; that for sending is as large.
fn ring(shape: Shape) -> RingShape {
    let slot_bytes = slot_bytes(shape.mtu);
    RingShape { slots: slots(shape.descriptors, slot_bytes), slot_bytes }
}

/// A slot of a packet socket's ring holds a header of its own, the frame, and a tag to spare. Its
/// size is a quarter of something in pages, as the driver knows no gap at a block's end; and the
/// driver wants the port's buffers to hold all of it but 32 bytes.
fn slot_bytes(mtu: u16) -> u32 {
    const HEADER_BYTES: u32 = 66;
    (HEADER_BYTES + 14 + 4 + u32::from(mtu)).next_multiple_of(1024).max(2048)
}

/// Linux allocates a ring in blocks.
const SLOTS_A_BLOCK: u32 = 4;

/// A host bursts as fast as it can copy while we may be waiting for its core: 4096 usual frames.
const RING_BYTES: u32 = 8 << 20;

fn slots(descriptors: Option<u16>, slot_bytes: u32) -> u32 {
    let wanted = descriptors.map_or(RING_BYTES / slot_bytes, u32::from);
    wanted.max(1).next_multiple_of(SLOTS_A_BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_packet_sockets_hold_the_mtu_and_fill_blocks() {
        let sizes = [1500, 1964, 1965, 9000, u16::MAX].map(slot_bytes);
        assert_eq!(sizes, [2048, 2048, 3072, 9216, 66_560]);
        assert_eq!([None, Some(0), Some(9)].map(|wanted| slots(wanted, 2048)), [4096, 4, 12]);
    }
}
