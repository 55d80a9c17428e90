//! A large frame cut into buffers, where it leaves by a link that takes none, and the mark that
//! says how one is to be cut.

use packet::{Large, PacketBuf, PacketCache};
use wire::cut::Cut;

/// What a packet is to keep of how it is cut. Places that are too far are none: they are refused.
pub fn mark_of(cut: &Cut) -> Large {
    let place = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
    let (transport, payload) = (place(cut.transport_at()), place(cut.payload_at()));
    Large { transport, payload, size: place(cut.size()) }
}

/// How a packet is to be cut that is said to be large, and still is.
pub fn cut_of(packet: &PacketBuf) -> Option<Cut> {
    let large = packet.large()?;
    Cut::new(packet.bytes(), Some(large.transport.into()), large.size.into())
}

/// Appends the packets that a large frame is cut into; says how many. Fewer than there are where
/// buffers ran out, or are too small.
pub fn cut_into(
    cut: &Cut,
    frame: &[u8],
    cache: &mut dyn PacketCache,
    into: &mut Vec<PacketBuf>,
) -> usize {
    let first = into.len();
    for number in 0..cut.packets() {
        let Some(mut packet) = cache.allocate_one() else { break };
        if !write(cut, frame, number, &mut packet) {
            cache.release_one(packet);
            break;
        }
        into.push(packet);
    }
    into.len() - first
}

/// Makes `packet` that of this number; false if it has no room for it.
pub(crate) fn write(cut: &Cut, frame: &[u8], number: usize, packet: &mut PacketBuf) -> bool {
    let mut written = None;
    packet.fill_by(|room| {
        written = cut.write(frame, number, room);
        written.unwrap_or(0)
    }) && written.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::{Burst, HeapPool, Pool};
    use wire::craft;

    #[test]
    fn all_packets_are_made_or_as_many_as_there_are_buffers() {
        let frame = craft::ethernet([2; 6], [4; 6])
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2])
            .tcp(1, 2)
            .payload(&[7; 5000])
            .build();
        let cut = Cut::new(&frame, None, 1400).unwrap();
        for (buffers, bytes, made) in [(9, 2048, 4), (3, 2048, 3), (9, 1000, 0)] {
            let pool = HeapPool::new(buffers, bytes).unwrap();
            let mut cache = pool.cache();
            let mut packets = Vec::new();
            assert_eq!(cut_into(&cut, &frame, &mut *cache, &mut packets), made);
            let lengths: Vec<_> = packets.iter().map(|packet| packet.bytes().len()).collect();
            assert_eq!(lengths, [1454, 1454, 1454, 854][..made]);
            cache.release(Burst::of(&mut packets));
            drop(cache);
            assert_eq!(pool.usage().free, buffers);
        }
    }
}
