//! Our own words behind the mbuf header. The forwarding path reads them of packets alone whose
//! tunnel lets each have ends of its own.

use std::net::{IpAddr, Ipv6Addr};

/// Bytes DPDK pools must reserve behind each mbuf header.
pub const PRIVATE_BYTES: usize = 64;

/// What the engine and the memory source remember of a buffer.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub(crate) struct Private {
    /// Number of the trace that follows this packet; 0: none. Meaningful while tracing is on.
    pub(crate) trace: u32,
    /// Which template's bytes the buffer holds, plus one; 0: none. The memory source's.
    pub(crate) template: u32,
    /// The interface the packet came in by, for who took it out of its frame.
    pub(crate) rx: u16,
    /// The interface it is to leave by.
    pub(crate) tx: u16,
    /// The queue that it is to wait in, and when the pass of the graph began in which that was
    /// said: what another pass says is of another packet.
    pub(crate) queue: u32,
    pub(crate) queue_tsc: u64,
    /// The other end of its tunnel, as IPv6 has addresses (those of IPv4 by RFC 4291 section
    /// 2.5.5.2), or 0: of tunnels whose packets each have their own. Whoever leads it to one who
    /// asks says it.
    pub(crate) remote: u128,
    /// Our end of it, likewise.
    pub(crate) local: u128,
}

/// The address that an end of a tunnel is told as, if one was.
pub(crate) fn end_of(told: u128) -> Option<IpAddr> {
    (told != 0).then(|| IpAddr::V6(Ipv6Addr::from(told)).to_canonical())
}

/// How an end of a tunnel is told.
pub(crate) fn told_of(end: Option<IpAddr>) -> u128 {
    end.map_or(0, |end| match end {
        IpAddr::V4(end) => end.to_ipv6_mapped().into(),
        IpAddr::V6(end) => end.into(),
    })
}

const _: () = assert!(core::mem::size_of::<Private>() == PRIVATE_BYTES);
