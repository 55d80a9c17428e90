//! One packet's buffer header, byte for byte DPDK 22.11's `rte_mbuf`.
//!
//! ```text
//!   0        64       128           192             192+128
//!   ├ line 0 ┼ line 1 ┼ private area ┼ headroom 128 B ┼ frame bytes …
//!   │ rx/tx  │ next   │ ours         │ grows headers  │
//! ```
//! The `dpdk` crate's C shim asserts every offset at compile time.

use core::sync::atomic::AtomicU16;

/// Bytes of the mbuf header itself: two cache lines.
pub const MBUF_HEADER_BYTES: usize = 128;

/// Free bytes in front of a received frame, DPDK's default; encapsulation grows into it.
pub const HEADROOM_BYTES: usize = 128;

/// The buffer header. Fields that we never use are reserved space.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Mbuf {
    /// First byte of the buffer (the headroom's start).
    pub buf_addr: *mut u8,
    /// Bus address of the same byte; drivers' business.
    pub buf_iova: u64,
    /// Where the frame starts, counted from `buf_addr`.
    pub data_off: u16,
    /// How many hold this buffer; atomic in DPDK, too.
    pub refcnt: AtomicU16,
    /// Segments in the chain; the router's packets have one.
    pub nb_segs: u16,
    /// DPDK port the packet came from.
    pub port: u16,
    /// Offload flags.
    pub ol_flags: u64,
    /// What the driver says of the packet's type.
    pub packet_type: u32,
    /// Frame length over all segments.
    pub pkt_len: u32,
    /// Frame length in this segment.
    pub data_len: u16,
    /// VLAN tag stripped by the driver.
    pub vlan_tci: u16,
    /// RSS hash, if the driver gives one.
    pub hash_rss: u32,
    pub(crate) hash_rest: u32,
    pub(crate) vlan_tci_outer: u16,
    /// Bytes from `buf_addr` to the buffer's end.
    pub buf_len: u16,
    /// The pool the buffer belongs to.
    pub pool: *mut core::ffi::c_void,
    /// Next segment (second cache line).
    pub next: *mut Mbuf,
    pub(crate) tx_offload: u64,
    pub(crate) shinfo: *mut core::ffi::c_void,
    pub(crate) priv_size: u16,
    pub(crate) timesync: u16,
    pub(crate) dynfield: [u32; 9],
}

const _: () = {
    use core::mem::{offset_of, size_of};
    assert!(size_of::<Mbuf>() == MBUF_HEADER_BYTES);
    assert!(offset_of!(Mbuf, data_off) == 16);
    assert!(offset_of!(Mbuf, ol_flags) == 24);
    assert!(offset_of!(Mbuf, pkt_len) == 36);
    assert!(offset_of!(Mbuf, hash_rss) == 44);
    assert!(offset_of!(Mbuf, buf_len) == 54);
    assert!(offset_of!(Mbuf, pool) == 56);
    assert!(offset_of!(Mbuf, next) == 64);
    assert!(offset_of!(Mbuf, priv_size) == 88);
};
