//! Packets of a TCP stream that leave in a row, put together where the port takes large frames
//! (what Linux calls GRO).
//!
//! ```text
//!  ▪ ▪ 1 2 3 ▪ ─▶ ▪ ▪ 123 ▪        1 2 3: one stream, one behind the other
//! ```
//! What it costs, a look at each header, a sum and a copy of each payload, is less than what Linux
//! or a virtual machine does for each packet that it is given. Nobody waits for a packet to come.

use crate::driver::TakesLarge;
use packet::{Burst, PacketBuf, PacketCache};
use sockets::mark_of;
use wire::cut::{LEAST_PAYLOAD, Merge};

/// Whether it is worth a look: two packets in a row have payload enough.
#[inline]
pub(crate) fn pays(packets: &[PacketBuf]) -> bool {
    let is_long = |packet: &PacketBuf| usize::from(packet.mbuf().data_len) > LEAST_PAYLOAD;
    packets.windows(2).any(|pair| pair.iter().all(is_long))
}

/// Whether the first two are put together.
pub(crate) fn goes_on(packets: &[PacketBuf], takes: &TakesLarge) -> bool {
    let [first, next, ..] = packets else { return false };
    let Some(merge) = Merge::begin(first.bytes()) else { return false };
    merge.is_followed_by(first.bytes(), next.bytes()) && takes(merge.cut(), first)
}

/// Takes as many as are put together off the front; none, and nothing taken, where there is no
/// buffer, or a checksum is wrong.
pub(crate) fn put_together(
    packets: &mut Burst<'_>,
    cache: &mut dyn PacketCache,
    large: &mut dyn PacketCache,
) -> Option<PacketBuf> {
    let first = packets.first()?.bytes();
    let mut merge = Merge::begin(first).filter(|merge| merge.is_right(first))?;
    let mut whole = large.allocate_one()?;
    let mut told = None;
    whole.fill_by(|room| {
        let Some(place) = room.get_mut(..first.len()) else { return 0 };
        place.copy_from_slice(first);
        for next in packets[1..].iter().map(PacketBuf::bytes) {
            let follows = merge.is_followed_by(first, next) && merge.is_right(next);
            if !follows || !merge.append(room, next) {
                break;
            }
        }
        let (length, count) = (merge.length(), merge.packets());
        if count > 1 {
            told = Some((merge.finish(&mut room[..length]), count));
        }
        length
    });
    let marked =
        told.and_then(|(cut, count)| whole.set_large(Some(mark_of(&cut))).then_some(count));
    let Some(count) = marked else {
        large.release_one(whole);
        return None;
    };
    cache.release(packets.take_front(count));
    Some(whole)
}
