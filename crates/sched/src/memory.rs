//! What a configuration takes: the packets that can wait, and the memory that is reserved for them.

use crate::config::Config;
use crate::plan::Shape;
use crate::tree::LEAF_PACKETS;
use crate::units::Size;

/// The most slots that are reserved unless the configuration asks for more.
const POOL_PACKETS: u64 = 131_072;

/// Of every scheduler: room for packets that come back from a device, and names.
const ROOT_BYTES: u64 = 8192;

/// What a scheduler of this configuration reserves at most, for handles of 8 bytes: slots, flows,
/// classes, maps.
pub fn memory(config: &Config) -> Size {
    let slot_bytes = match config.root {
        // Alone it keeps all that it is told of a packet, in a ring.
        Shape::Pfifo(_) | Shape::Bfifo(_) => 48,
        _ => 32,
    };
    Size(u64::from(pool_packets(config)) * slot_bytes + state_bytes(&config.root) + ROOT_BYTES)
}

/// How many slots for packets.
pub(crate) fn pool_packets(config: &Config) -> u32 {
    let by_limits = limit_packets(&config.root).clamp(1, POOL_PACKETS) as u32;
    config.pool_packets.unwrap_or(by_limits)
}

/// The most packets that can wait, one more for each discipline that takes one in before it drops
/// another.
fn limit_packets(shape: &Shape) -> u64 {
    let below = shape.plan().leaves().into_iter();
    let below = below.map(|leaf| leaf.map_or(u64::from(LEAF_PACKETS), limit_packets) + 1);
    below.fold(shape.plan().limit_packets() + 1, u64::saturating_add)
}

/// The most packets that one of its queues may hold.
pub fn longest_queue(shape: &Shape) -> u64 {
    let below = shape.plan().leaves().into_iter();
    let below = below.map(|leaf| leaf.map_or(u64::from(LEAF_PACKETS), longest_queue));
    below.fold(shape.plan().limit_packets(), u64::max)
}

fn state_bytes(shape: &Shape) -> u64 {
    let below = shape.plan().leaves().into_iter().flatten().map(state_bytes);
    below.fold(shape.plan().state_bytes() + 512, u64::saturating_add)
}
