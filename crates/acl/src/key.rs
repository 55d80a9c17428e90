//! What is known of a packet, and how it lies in the cells that rules are compared with.
//!
//! ```text
//!  cell   0 … A-1      A … 2A-1        2A                              2A+1        2A+2      2A+3
//!        ┌────────────┬───────────────┬────────┬─────┬───────┬───────┬─────┬─────┬─────────┬──────┬──────┐
//!        │ source     │ destination   │protocol│ has │ flags │   0   │VLAN │ MAC │ MAC     │source│dest. │
//!        └────────────┴───────────────┴────────┴─────┴───────┴───────┴─────┴─────┴─────────┴──────┴──────┘
//!         A words: 1 of IPv4, 4 of IPv6  8       8     8       8      16    16    32         16     16
//! ```
//! Keys of lists that ask for more have three cells in front of the last four (`more`).
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
    /// All cells: those of the addresses, the highest bits first, then the others. Of a wide key
    /// those that few lists ask for are still to come, in between.
    fn laid_out(source: Self, destination: Self, others: [u32; OTHERS]) -> [u32; N];
}

impl Family<CELLS4> for u32 {
    #[inline]
    fn laid_out(source: u32, destination: u32, [a, b, c, d]: [u32; OTHERS]) -> [u32; CELLS4] {
        [source, destination, a, b, c, d]
    }
}

impl Family<CELLS6> for u128 {
    #[inline]
    fn laid_out(source: u128, destination: u128, others: [u32; OTHERS]) -> [u32; CELLS6] {
        let ([s0, s1, s2, s3], [d0, d1, d2, d3]) = (words(source), words(destination));
        let [a, b, c, d] = others;
        [s0, s1, s2, s3, d0, d1, d2, d3, a, b, c, d]
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
        let others = [kind_cell(packet.protocol, has, flags), pair(packet.vlan, high), low, last];
        Self(A::laid_out(packet.source, packet.destination, others))
    }
}

/// The cell of what kind of packet it is.
#[inline]
pub(crate) fn kind_cell(protocol: u8, has: u32, flags: u8) -> u32 {
    u32::from(protocol) << 24 | has << 16 | u32::from(flags) << 8
}

/// Cells of neither addresses nor what few lists ask for.
pub(crate) const OTHERS: usize = 4;

/// Puts the cells that few lists ask for in front of the last ones.
pub(crate) fn widen<const N: usize>(cells: &mut [u32; N], more: [u32; MORE_CELLS]) {
    let behind = N - OTHERS;
    cells.copy_within(behind - MORE_CELLS..N - MORE_CELLS, behind);
    cells[behind - MORE_CELLS..behind].copy_from_slice(&more);
}
