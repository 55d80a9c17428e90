//! TCP throughput and request/response round trips between endpoints: no load is searched for, TCP
//! finds its own.
//!
//! ```text
//! write_bytes = 256         a stream whose program writes so little at once, socket_bytes of buffer at each end
//! transaction_bytes = 1     requests and answers over one TCP connection, one after the other
//! datagram_mbps = 95        UDP of a steady rate, datagram_bytes each: jitter where it arrives (RFC 3550)
//! ```
//! Each of the three is measured where it is asked for, as netperf and iperf do it.

use super::kind::{Kind, Manner};
use super::terms::Parameter;

/// As scenarios name it. Trials at loads cannot carry it out.
pub const KIND: Kind = Kind {
    repeats: Some(1),
    manner: Manner::Streams,
    parameters: &[WRITE_BYTES, SOCKET_BYTES, TRANSACTION_BYTES, DATAGRAM_MBPS, DATAGRAM_BYTES],
    reading: "Between endpoints: small writes, transactions over TCP, datagrams one way.",
    ..Kind::new("stream", |_, _| Err(KIND.refuse()))
};

const fn octets(name: &'static str, range: std::ops::RangeInclusive<u64>, usual: u64) -> Parameter {
    Parameter { name, what: "octets", range, usual: Some(usual) }
}

/// Octets that a program writes at once; 0: no such stream is measured.
pub const WRITE_BYTES: Parameter = octets("write_bytes", 0..=1 << 20, 0);
/// Octets of the socket's buffers at both ends of that stream; 0: as the kernel has them.
pub const SOCKET_BYTES: Parameter = octets("socket_bytes", 0..=1 << 26, 0);
/// Octets of a request, and of its answer, over TCP; 0: none is measured.
pub const TRANSACTION_BYTES: Parameter = octets("transaction_bytes", 0..=1 << 16, 0);
/// Rate of datagrams one way; 0: none are sent.
pub const DATAGRAM_MBPS: Parameter =
    Parameter { name: "datagram_mbps", what: "Mbit/s", range: 0..=100_000, usual: Some(0) };
/// Octets of each.
pub const DATAGRAM_BYTES: Parameter = octets("datagram_bytes", 16..=65_507, 1_470);
