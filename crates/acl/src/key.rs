//! What is known of a packet, and how it lies in the cells that rules are compared with.
//!
//! ```text
//!  cell         0                        1 … A    A+1 … 2A      2A+1          2A+2        2A+3
//!        ┌─────┬────────┬───────┬───┬────────────┬───────────┬──────┬──────┬─────┬─────┬─────────┐
//!        │ has │protocol│ flags │ 0 │ source     │destination│source│dest. │VLAN │ MAC │ MAC     │
//!        └─────┴────────┴───────┴───┴────────────┴───────────┴──────┴──────┴─────┴─────┴─────────┘
//!          8       8        8     8  A words: 1 of IPv4, 4 of IPv6  16  16    16    16     32
//! ```
//! Keys of lists that ask for more have three cells behind these (`more`). The first four of a
//! plain IPv4 packet lie as its headers do: from the hops left to the ports.
//! An ICMP message's type and code lie where the ports do; `has` tells which of them there are.

use crate::cell::{halves, pair};
use crate::more::{MORE_CELLS, MoreFields};
use fib::Address;

/// Cells of an IPv4 packet.
pub const CELLS4: usize = 6;
/// Cells of an IPv6 packet.
pub const CELLS6: usize = 12;
/// Cells of an IPv4 packet of which all is known.
pub const WIDE4: usize = CELLS4 + MORE_CELLS;
/// Cells of an IPv6 packet of which all is known.
pub const WIDE6: usize = CELLS6 + MORE_CELLS;

/// `has`: the last cell holds two ports.
pub(crate) const PORTS: u32 = 1;
/// `has`: the last cell holds an ICMP message's type and code.
pub(crate) const ICMP: u32 = 2;
/// `has`: there are TCP flags.
pub(crate) const TCP: u32 = 4;

/// What a transport header begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Nothing that is known: it is another protocol's, or lies in the packet's first fragment.
    Unknown,
    /// Source and destination port.
    Ports(u16, u16),
    /// Type and code of an ICMP message.
    Icmp(u8, u8),
}

/// What a list may ask about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields<A> {
    /// Where it comes from.
    pub source: A,
    /// Where it goes.
    pub destination: A,
    /// The protocol; of IPv6, that behind the extension headers.
    pub protocol: u8,
    /// What its transport header begins with.
    pub transport: Transport,
    /// The TCP flags.
    pub tcp_flags: Option<u8>,
    /// The outer VLAN; 0: none.
    pub vlan: u16,
    /// The station that sent it.
    pub source_mac: [u8; 6],
}

/// An address family, with its packets in `N` cells.
pub trait Family<const N: usize>: Address {
    /// All cells: between the first one and the last three those of the addresses, the highest
    /// bits first. Of a wide key those that few lists ask for are still to come, behind.
    fn laid_out(source: Self, destination: Self, others: [u32; OTHERS]) -> [u32; N];
}

impl Family<CELLS4> for u32 {
    #[inline]
    fn laid_out(source: u32, destination: u32, [a, b, c, d]: [u32; OTHERS]) -> [u32; CELLS4] {
        [a, source, destination, b, c, d]
    }
}

impl Family<CELLS6> for u128 {
    #[inline]
    fn laid_out(source: u128, destination: u128, others: [u32; OTHERS]) -> [u32; CELLS6] {
        let ([s0, s1, s2, s3], [d0, d1, d2, d3]) = (words(source), words(destination));
        let [a, b, c, d] = others;
        [a, s0, s1, s2, s3, d0, d1, d2, d3, b, c, d]
    }
}

impl Family<WIDE4> for u32 {
    fn laid_out(source: u32, destination: u32, others: [u32; OTHERS]) -> [u32; WIDE4] {
        longer(<u32 as Family<CELLS4>>::laid_out(source, destination, others))
    }
}

impl Family<WIDE6> for u128 {
    fn laid_out(source: u128, destination: u128, others: [u32; OTHERS]) -> [u32; WIDE6] {
        longer(<u128 as Family<CELLS6>>::laid_out(source, destination, others))
    }
}

#[inline]
fn words(address: u128) -> [u32; 4] {
    [96, 64, 32, 0].map(|shift| (address >> shift) as u32)
}

fn longer<const SHORT: usize, const N: usize>(cells: [u32; SHORT]) -> [u32; N] {
    let mut all = [0; N];
    all[..SHORT].copy_from_slice(&cells);
    all
}

/// Whether keys of so many cells hold all that may be known of a packet.
pub(crate) const fn is_wide(cells: usize) -> bool {
    matches!(cells, WIDE4 | WIDE6)
}

/// A packet's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(8))]
pub struct Key<const N: usize>(pub(crate) [u32; N]);

impl<const N: usize> Default for Key<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> Key<N> {
    /// The cells of a packet of which all is known.
    pub fn wide<A: Family<N>>(packet: &Fields<A>, more: &MoreFields) -> Self {
        let mut key = Self::new(packet);
        if is_wide(N) {
            widen(&mut key.0, more.cells());
        }
        key
    }

    /// The cells of a packet.
    #[inline]
    pub fn new<A: Family<N>>(packet: &Fields<A>) -> Self {
        let (last, mut has) = match packet.transport {
            Transport::Unknown => (0, 0),
            Transport::Ports(source, destination) => (pair(source, destination), PORTS),
            Transport::Icmp(kind, code) => (pair(kind.into(), code.into()), ICMP),
        };
        if packet.tcp_flags.is_some() {
            has |= TCP;
        }
        let flags = packet.tcp_flags.unwrap_or_default();
        let (high, low) = halves(packet.source_mac);
        let others = [kind_cell(packet.protocol, has, flags), last, pair(packet.vlan, high), low];
        Self(A::laid_out(packet.source, packet.destination, others))
    }
}

impl Key<CELLS4> {
    /// The cells of a TCP or UDP packet whose IPv4 header has no options. `headers` are those from
    /// the hops left to the ports; the VLAN and the station are as in [`Fields`].
    #[inline(always)]
    pub fn plain(
        headers: &[u8; 16],
        tcp_flags: Option<u8>,
        vlan: u16,
        source_mac: [u8; 6],
    ) -> Self {
        let words = headers.as_chunks::<4>().0;
        let [hops, source, destination, ports] =
            std::array::from_fn(|at| u32::from_be_bytes(words[at]));
        let has = PORTS | if tcp_flags.is_some() { TCP } else { 0 };
        let protocol = (hops >> 16) as u8;
        let kind = kind_cell(protocol, has, tcp_flags.unwrap_or_default());
        let (high, low) = halves(source_mac);
        Self([kind, source, destination, ports, pair(vlan, high), low])
    }
}

/// The cell of what kind of packet it is.
#[inline]
pub(crate) fn kind_cell(protocol: u8, has: u32, flags: u8) -> u32 {
    has << 24 | u32::from(protocol) << 16 | u32::from(flags) << 8
}

/// Cells of neither addresses nor what few lists ask for.
pub(crate) const OTHERS: usize = 4;

/// The cell of the ports.
pub(crate) const fn ports_cell(cells: usize) -> usize {
    cells - if is_wide(cells) { 3 + MORE_CELLS } else { 3 }
}

/// Puts the cells that few lists ask for behind the others.
pub(crate) fn widen<const N: usize>(cells: &mut [u32; N], more: [u32; MORE_CELLS]) {
    cells[N - MORE_CELLS..].copy_from_slice(&more);
}
