//! How a packet leaves: the adjacency's ready-made link header is copied in front of it.

use fib::adjacency::{AdjacencyEntry, AdjacencyFields, AdjacencyId, AdjacencyTable};
use graph::{Exit, Exits};
use packet::{Frame, Group, PacketView, Selection, alike, prefetch_read};

/// How many packets before its turn an adjacency is asked for: it may have to come from memory, and
/// a packet takes some 15 cycles.
pub(super) const AHEAD: usize = 24;

/// Has `decide` name the exit of each packet, given its adjacency; `unresolved` if there is none.
#[inline(always)]
pub fn each_with_adjacency<E: Exit>(
    frame: &mut Frame,
    exits: &mut Exits<'_, E>,
    table: &AdjacencyTable,
    unresolved: E,
    decide: impl Fn(&mut PacketView<'_>, &AdjacencyEntry) -> E,
) {
    let entries = table.entries();
    let ask = |id: u32| prefetch_read(entries.as_ptr().wrapping_add(id as usize));
    frame.adjacencies().iter().take(AHEAD).for_each(|id| ask(*id));
    exits.each(frame, |packet| {
        ask(packet.adjacency_ahead::<AHEAD>());
        match entries.get(packet.adjacency() as usize) {
            Some(entry) => decide(packet, entry),
            None => unresolved,
        }
    });
}

/// Puts the link header of the adjacency, whose small fields are `fields`, in front of the packet
/// and names its interface; false where the buffer has no room for it.
#[inline(always)]
pub fn leave_by(
    packet: &mut PacketView<'_>,
    adjacency: &AdjacencyEntry,
    fields: AdjacencyFields,
) -> bool {
    adjacency.mark_used();
    let length = fields.rewrite_len();
    packet.set_tx(fields.interface());
    if !packet.prepend(length) {
        return false;
    }
    write_link_header(packet.header_mut(), adjacency, length);
    true
}

/// Octets of a link header without tags.
pub(super) const PLAIN: usize = 14;

/// Such a header, as two overlapping words.
#[derive(Clone, Copy, Default)]
pub struct PlainHeader {
    first: u64,
    last: u64,
}

impl PlainHeader {
    #[inline(always)]
    pub(super) fn of(adjacency: &AdjacencyEntry) -> Self {
        let [first, second, _] = adjacency.rewrite();
        Self { first, last: u64::from_le(first) >> 48 | u64::from_le(second) << 16 }
    }

    #[inline(always)]
    pub(super) fn write(self, front: &mut [u8; PLAIN]) {
        front[6..].copy_from_slice(&self.last.to_le_bytes());
        front[..8].copy_from_slice(&self.first.to_ne_bytes());
    }
}

/// Copies the link header in front of the packet. The usual one goes as two words straight from the
/// adjacency's: a copy through memory would wait for its own narrower stores.
#[inline(always)]
fn write_link_header(front: &mut [u8], adjacency: &AdjacencyEntry, length: usize) {
    if length == PLAIN
        && let Some(front) = front.first_chunk_mut()
    {
        PlainHeader::of(adjacency).write(front);
        return;
    }
    front[..length].copy_from_slice(&adjacency.rewrite_bytes()[..length]);
}

/// Sends the packets of a vector that leaves by one next hop, as long as that takes the longest of
/// them now; false, and nothing done, of any other. `count_down` has a header that the packet is to
/// leave with, or says why it does not leave.
#[inline(always)]
pub fn leave_by_sole_next_hop<E: Exit, const HEADER: usize>(
    frame: &mut Frame,
    exits: &mut Exits<'_, E>,
    table: &AdjacencyTable,
    (output, no_headroom): (E, E),
    count_down: impl Fn(&mut [u8; HEADER]) -> Option<E>,
) -> bool {
    let Some((entry, next_hop)) = SoleNextHop::of(frame, 0, table) else { return false };
    // Nearly always there is a link header in front of each: the one that it came with.
    let has_room = frame.give_back(PLAIN as u16);
    let all = Selection::first(frame.len());
    let mut leaving = all;
    frame.each(|mut packet| {
        let refused = match has_room {
            true => next_hop.leave_in_place(&mut packet, &count_down, no_headroom),
            false => next_hop.leave(&mut packet, &count_down, no_headroom),
        };
        if let Some(refused) = refused {
            exits.set(packet.index(), refused);
            leaving.take(packet.index());
        }
    });
    if leaving == all {
        frame.tx_mut().fill(next_hop.interface);
        exits.all(output);
    } else {
        leaving.each(|slot| frame.tx_mut()[slot] = next_hop.interface);
        exits.group(&Group::Some(leaving), output);
    }
    if !leaving.is_empty() {
        entry.mark_used();
    }
    true
}

/// The next hop that all packets of a vector leave by, whose link header has no tags: what is the
/// same of all of them is looked at once.
pub(super) struct SoleNextHop {
    pub(super) header: PlainHeader,
    pub(super) interface: u16,
}

impl SoleNextHop {
    /// Of packets behind so many octets of `link` header.
    #[inline(always)]
    pub(super) fn of<'a>(
        frame: &Frame,
        link: usize,
        table: &'a AdjacencyTable,
    ) -> Option<(&'a AdjacencyEntry, Self)> {
        let adjacency = table.entry(AdjacencyId(alike(frame.adjacencies())?))?;
        let fields = adjacency.fields();
        let takes_all = fields.is_complete()
            && fields.rewrite_len() == PLAIN
            && frame.longest() <= u32::from(fields.mtu()) + link as u32;
        let (header, interface) = (PlainHeader::of(adjacency), fields.interface());
        takes_all.then_some((adjacency, Self { header, interface }))
    }

    /// Puts the link header in front of a packet, unless that is not to leave.
    #[inline(always)]
    fn leave<E, const HEADER: usize>(
        &self,
        packet: &mut PacketView<'_>,
        count_down: impl Fn(&mut [u8; HEADER]) -> Option<E>,
        no_headroom: E,
    ) -> Option<E> {
        let Some(header) = packet.header_mut().first_chunk_mut() else { return Some(no_headroom) };
        if let Some(refused) = count_down(header) {
            return Some(refused);
        }
        if !packet.prepend(PLAIN) {
            return Some(no_headroom);
        }
        if let Some(front) = packet.header_mut().first_chunk_mut() {
            self.header.write(front);
        }
        None
    }

    /// The same where its old link header is in front of it; and is not, if it does not leave.
    #[inline(always)]
    fn leave_in_place<E, const HEADER: usize>(
        &self,
        packet: &mut PacketView<'_>,
        count_down: impl Fn(&mut [u8; HEADER]) -> Option<E>,
        no_headroom: E,
    ) -> Option<E> {
        let front = packet.header_mut().split_first_chunk_mut();
        let header = front.and_then(|(link, rest)| Some((link, rest.first_chunk_mut()?)));
        let refused = match header {
            Some((link, header)) => {
                let refused = count_down(header);
                if refused.is_none() {
                    self.header.write(link);
                }
                refused
            }
            None => Some(no_headroom),
        };
        if refused.is_some() {
            packet.advance(PLAIN);
        }
        refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;
    use fib::adjacency::{Adjacency, MAX_REWRITE};
    use packet::{Frame, HeapPool, Pool};

    #[test]
    fn link_headers_of_every_length_are_written() {
        let table = &World::new().setup.shared.adjacencies;
        let pool = HeapPool::new(1, 256).unwrap();
        let mut cache = pool.cache();
        let rewrite: [u8; MAX_REWRITE] = std::array::from_fn(|at| at as u8 + 1);
        for length in 0..=MAX_REWRITE {
            let next_hop = std::net::Ipv4Addr::LOCALHOST.into();
            let rewrite_len = length as u8;
            let made = Adjacency { interface: 7, mtu: 1500, next_hop, rewrite, rewrite_len };
            let id = table.allocate(&made).unwrap();
            table.complete_as_is(id);
            let mut frame = Frame::new();
            frame.push(cache.copy_of(b"packet").unwrap(), 0);
            let mut packet = frame.view(0);
            let entry = table.entry(id).unwrap();
            assert!(leave_by(&mut packet, entry, entry.fields()));
            assert_eq!(packet.header(), [&rewrite[..length], b"packet"].concat());
            assert_eq!(packet.tx(), 7);
            assert!(table.take_used(id));
            cache.release(frame.take_all());
            table.free(id);
        }
    }
}
