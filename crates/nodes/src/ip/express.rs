//! How a vector of one family is forwarded at once, or not at all.
//!
//! ```text
//!  read      link header and IP header of each, once: words into arrays
//!  check     the arrays, many packets at once
//!  look up   destinations; all must lead to next hops, whose link headers are plain
//!  write     new link header, one hop less
//! ```

use super::ip4_headers::Ip4Headers;
use super::ip6_headers::Ip6Headers;
use super::link_header::{AHEAD, PLAIN, PlainHeader, SoleNextHop};
use super::{NextHopCount, RouteAddress, RouteLookup};
use crate::l2::{destination_word, mac_word};
use crate::pause::Pause;
use crate::tables::{Interfaces, Ip4Rules, Kind, Setup};
use fib::adjacency::AdjacencyTable;
use graph::{Context, Exits, Node, Published};
use packet::{Frame, VECTOR, prefetch_read, vectorized};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::ethernet::ethertype;
use wire::{ipv4, ipv6};

/// What is different of the two families.
pub trait Family: Send + 'static {
    /// What is looked up.
    type Address: RouteAddress + Send;
    /// As the link header says it.
    const ETHERTYPE: u16;
    /// The node of those among others, and what it does.
    const NODE: (&'static str, &'static str);

    /// Nothing read yet.
    fn new(setup: &Setup) -> Self;

    /// Reads all headers, and where the packets go to; false if one has none. `show` gets each
    /// link header.
    fn read(
        &mut self,
        frame: &Frame,
        destinations: &mut [Self::Address; VECTOR],
        show: impl FnMut(usize, &[u8; PLAIN]),
    ) -> bool;

    /// Whether all may be forwarded, as far as their headers tell; if so, they are without padding.
    fn check(&mut self, frame: &mut Frame) -> bool;

    /// Writes what each leaves with: `link` gives the link header by what the lookup found. False,
    /// and nothing written, where others may hold a packet.
    fn write(&self, frame: &mut Frame, link: impl FnMut(u32) -> PlainHeader) -> bool;
}

/// IPv4, as [`Family`].
pub struct Ip4 {
    headers: Ip4Headers,
    rules: Arc<Ip4Rules>,
}

impl Family for Ip4 {
    type Address = u32;
    const ETHERTYPE: u16 = ethertype::IPV4;
    const NODE: (&'static str, &'static str) =
        ("ip4-express", "forwards plain IPv4 packets out of mixed vectors");

    fn new(setup: &Setup) -> Self {
        Self { headers: Ip4Headers::new(), rules: Arc::clone(&setup.shared.ip4) }
    }

    #[inline(always)]
    fn read(
        &mut self,
        frame: &Frame,
        destinations: &mut [u32; VECTOR],
        mut show: impl FnMut(usize, &[u8; PLAIN]),
    ) -> bool {
        let all = frame.each_front::<{ PLAIN + ipv4::Header::LEN }>(|slot, front| {
            let (link, header) = halves(front);
            show(slot, link);
            self.headers.put(slot, header);
        });
        self.headers.destinations(&mut destinations[..frame.len()]);
        all
    }

    #[inline(always)]
    fn check(&mut self, frame: &mut Frame) -> bool {
        let class_e = self.rules.class_e.load(Ordering::Relaxed);
        let are_good = self.headers.are_good(PLAIN as u32, frame.lengths(), class_e)
            && self.headers.count_down(frame.len());
        if are_good {
            frame.truncate(self.headers.totals());
        }
        are_good
    }

    #[inline(always)]
    fn write(&self, frame: &mut Frame, mut link: impl FnMut(u32) -> PlainHeader) -> bool {
        const THIRD: usize = PLAIN + 8;
        frame.each_front_mut::<{ THIRD + 4 }>(|slot, found, front| {
            let (front, hops) = (front.split_at_mut(PLAIN), self.headers.third_word(slot));
            write_link(front.0, link(found));
            front.1[THIRD - PLAIN..].copy_from_slice(&hops);
        })
    }
}

/// IPv6, as [`Family`].
pub struct Ip6(Ip6Headers);

impl Family for Ip6 {
    type Address = u128;
    const ETHERTYPE: u16 = ethertype::IPV6;
    const NODE: (&'static str, &'static str) =
        ("ip6-express", "forwards plain IPv6 packets out of mixed vectors");

    fn new(_: &Setup) -> Self {
        Self(Ip6Headers::new())
    }

    #[inline(always)]
    fn read(
        &mut self,
        frame: &Frame,
        destinations: &mut [u128; VECTOR],
        mut show: impl FnMut(usize, &[u8; PLAIN]),
    ) -> bool {
        frame.each_front::<{ PLAIN + ipv6::Header::LEN }>(|slot, front| {
            let (link, header) = halves(front);
            show(slot, link);
            self.0.put(slot, header);
            destinations[slot % VECTOR] = ipv6::Header::of(header).destination();
        })
    }

    #[inline(always)]
    fn check(&mut self, frame: &mut Frame) -> bool {
        let are_good = self.0.are_good(PLAIN as u32, frame.lengths());
        if are_good {
            frame.truncate(self.0.totals());
        }
        are_good
    }

    #[inline(always)]
    fn write(&self, frame: &mut Frame, mut link: impl FnMut(u32) -> PlainHeader) -> bool {
        const SECOND: usize = PLAIN + 4;
        frame.each_front_mut::<{ SECOND + 4 }>(|slot, found, front| {
            let (front, hops) = (front.split_at_mut(PLAIN), self.0.second_word(slot));
            write_link(front.0, link(found));
            front.1[SECOND - PLAIN..].copy_from_slice(&hops);
        })
    }
}

/// The link header, and the one behind it.
#[inline(always)]
fn halves<const BOTH: usize, const HEADER: usize>(
    front: &[u8; BOTH],
) -> (&[u8; PLAIN], &[u8; HEADER]) {
    const { assert!(BOTH == PLAIN + HEADER) };
    let (link, header) = front.split_first_chunk().unwrap_or((&[0; PLAIN], &[]));
    (link, header.first_chunk().unwrap_or(&[0; HEADER]))
}

#[inline(always)]
fn write_link(front: &mut [u8], link: PlainHeader) {
    if let Some(front) = front.first_chunk_mut() {
        link.write(front);
    }
}

/// Forwards the packets of one family that came among others.
pub struct OneFamily<F: Family>(Express<F>);

graph::exits! {
    /// The way of a vector.
    pub enum Exit {
        /// All are forwarded.
        Output => node "interface-output",
        /// To be looked at one by one.
        Ordinary => node "ethernet-input",
    }
}

impl<F: Family> Node for OneFamily<F> {
    const NAME: &'static str = F::NODE.0;
    const ABOUT: &'static str = F::NODE.1;
    type Exit = Exit;
    type Setup = Setup;

    fn new(setup: &Setup) -> Self {
        Self(Express::new(setup))
    }

    fn process(
        &mut self,
        frame: &mut Frame,
        exits: &mut Exits<'_, Exit>,
        context: &mut Context<'_>,
    ) {
        let tried = self.0.forward(frame, &mut exits.bytes().0, context);
        exits.all(if tried == Tried::Done { Exit::Output } else { Exit::Ordinary });
    }
}

/// What became of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tried {
    /// All are forwarded.
    Done,
    /// Not all are of the family: nothing was done.
    Mixed,
    /// Nothing was done, but for padding that was cut off.
    InVain,
}

/// Forwarding of one family.
pub(super) struct Express<F: Family> {
    headers: F,
    lookup: RouteLookup<F::Address>,
    interfaces: Published<Interfaces>,
    adjacencies: Arc<AdjacencyTable>,
    count: NextHopCount,
    pause: Pause,
}

impl<F: Family> Express<F> {
    /// As all workers forward.
    pub(super) fn new(setup: &Setup) -> Self {
        Self {
            headers: F::new(setup),
            lookup: RouteLookup::new(setup),
            interfaces: setup.shared.interfaces.clone(),
            adjacencies: Arc::clone(&setup.shared.adjacencies),
            count: NextHopCount::new(setup),
            pause: Pause::default(),
        }
    }

    /// Forwards all packets, or none. `kinds` is room for the kinds of routes.
    #[inline(always)]
    pub(super) fn forward(
        &mut self,
        frame: &mut Frame,
        kinds: &mut [u8],
        context: &Context<'_>,
    ) -> Tried {
        if !self.pause.is_over() {
            return Tried::InVain;
        }
        let tried = self.try_to(frame, kinds, context);
        self.pause.note(tried != Tried::InVain);
        tried
    }

    #[inline(always)]
    fn try_to(&mut self, frame: &mut Frame, kinds: &mut [u8], context: &Context<'_>) -> Tried {
        match self.read(frame, context) {
            Tried::Done if self.headers.check(frame) => (),
            Tried::Mixed => return Tried::Mixed,
            Tried::Done | Tried::InVain => return Tried::InVain,
        }
        self.lookup.find(frame, PLAIN, kinds, context);
        let kinds = &kinds[..frame.len()];
        let other = || kinds.iter().fold(0, |other, kind| other | (kind ^ Kind::Rewrite as u8));
        if vectorized(other) != 0 || !self.leave(frame) {
            return Tried::InVain;
        }
        if self.count.is_on() {
            self.count_all(frame);
        }
        Tried::Done
    }

    /// Counts what leaves by its next hop, from its IP header on.
    #[inline(never)]
    fn count_all(&self, frame: &Frame) {
        for (id, length) in frame.adjacencies().iter().zip(frame.lengths()) {
            self.count.add(*id, *length as usize - PLAIN);
        }
    }

    /// Reads all headers, of frames that are all for us and of the family.
    #[inline(always)]
    fn read(&mut self, frame: &Frame, context: &Context<'_>) -> Tried {
        let interfaces = self.interfaces.get(context);
        let rx = frame.rx();
        let mut last = rx[0];
        let mut ours = mac_word(interfaces.get(last));
        let (mut not_ours, mut other) = (0, 0);
        let read = self.headers.read(frame, self.lookup.destinations_mut(), |slot, link| {
            if rx[slot] != last {
                last = rx[slot];
                ours = mac_word(interfaces.get(last));
            }
            not_ours |= destination_word(link) ^ ours;
            other |= u16::from_be_bytes([link[12], link[13]]) ^ F::ETHERTYPE;
        });
        match (read, other == 0, not_ours == 0) {
            (true, true, true) => Tried::Done,
            (true, false, _) => Tried::Mixed,
            _ => Tried::InVain,
        }
    }

    /// Sends all packets by the next hops that were found, if each can leave by its own as it is.
    #[inline(always)]
    fn leave(&mut self, frame: &mut Frame) -> bool {
        if let Some((entry, hop)) = SoleNextHop::of(frame, PLAIN, &self.adjacencies) {
            let is_written = self.headers.write(frame, |_| hop.header);
            if is_written {
                frame.tx_mut().fill(hop.interface);
                entry.mark_used();
            }
            return is_written;
        }
        self.leave_by_many(frame)
    }

    #[inline(never)]
    fn leave_by_many(&mut self, frame: &mut Frame) -> bool {
        let entries = self.adjacencies.entries();
        let ask = |id: u32| prefetch_read(entries.as_ptr().wrapping_add(id as usize));
        let count = frame.len();
        let mut interfaces = [0; VECTOR];
        frame.adjacencies().iter().take(AHEAD).for_each(|id| ask(*id));
        let mut all_take = true;
        for (slot, tx) in interfaces.iter_mut().enumerate().take(count) {
            let id = frame.adjacencies()[slot];
            if let Some(ahead) = frame.adjacencies().get(slot + AHEAD) {
                ask(*ahead);
            }
            let Some(entry) = entries.get(id as usize) else { return false };
            let fields = entry.fields();
            *tx = fields.interface();
            all_take &= fields.is_complete()
                & (fields.rewrite_len() == PLAIN)
                & (frame.lengths()[slot] <= u32::from(fields.mtu()) + PLAIN as u32);
        }
        let is_written = all_take
            && self.headers.write(frame, |found| match entries.get(found as usize) {
                Some(entry) => {
                    entry.mark_used();
                    PlainHeader::of(entry)
                }
                None => PlainHeader::default(),
            });
        if is_written {
            frame.tx_mut().copy_from_slice(&interfaces[..count]);
        }
        is_written
    }
}
