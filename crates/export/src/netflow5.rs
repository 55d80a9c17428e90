//! NetFlow 5: records of one kind, of IPv4 alone.
//!
//! ```text
//!  │ 5 │ records │ uptime │ seconds │ nanoseconds │ sequence: records before │ engine 2 │ sampling 2 │      24 octets
//!  │ source │ destination │ next hop │ in 2 │ out 2 │ packets │ octets │ first │ last │
//!  │ ports 2 2 │ 0 │ flags │ protocol │ class │ AS 2 2 │ masks 1 1 │ 0 2 │                                 48 octets, 30 at most
//! ```

use crate::Now;
use crate::cache::Ended;
use crate::flow::Hosts;
use crate::out::Out;
use std::net::Ipv4Addr;

/// Records of a datagram.
const MOST: usize = 30;
/// Packets are taken at random: two bits in front of the interval.
const RANDOM: u16 = 2 << 14;

/// Bits of an interface's number, where the engine's lowest seven are in front of it.
const INTERFACE_BITS: u32 = 9;

/// Who tells.
#[derive(Clone, Copy)]
pub(crate) struct Who {
    /// The engine's kind and number.
    pub(crate) engine: u16,
    /// One of so many packets is counted.
    pub(crate) sample: u32,
    /// Numbers of interfaces have the engine's in front.
    pub(crate) is_in_interfaces: bool,
}

impl Who {
    fn interface(self, number: u32) -> u16 {
        match self.is_in_interfaces {
            true => self.engine << INTERFACE_BITS | number as u16 & ((1 << INTERFACE_BITS) - 1),
            false => number as u16,
        }
    }
}

/// The datagrams that tell of these flows, and of how many.
pub(crate) fn write(
    now: Now,
    flows: &[Ended],
    who: Who,
    sequence: &mut u32,
) -> (Vec<Vec<u8>>, usize) {
    let of_ip4 = |ended: &Ended| match ended.key.hosts {
        Hosts::V4(source, destination) => Some((*ended, source, destination)),
        Hosts::V6(..) | Hosts::Other(_) => None,
    };
    let flows: Vec<_> = flows.iter().filter_map(of_ip4).collect();
    let datagrams = flows.chunks(MOST).map(|some| {
        let mut out = Out::default();
        out.u16(5);
        out.u16(some.len() as u16);
        out.u32(now.uptime_ms as u32);
        out.u32((now.unix_ms / 1000) as u32);
        out.u32((now.unix_ms % 1000) as u32 * 1_000_000);
        out.u32(*sequence);
        out.u16(who.engine);
        out.u16(if who.sample > 1 { RANDOM | (who.sample.min(0x3fff) as u16) } else { 0 });
        for (ended, source, destination) in some {
            record(ended, (*source, *destination), who, &mut out);
        }
        *sequence = sequence.wrapping_add(some.len() as u32);
        out.0
    });
    (datagrams.collect(), flows.len())
}

fn record(ended: &Ended, (source, destination): (Ipv4Addr, Ipv4Addr), who: Who, out: &mut Out) {
    let Ended { key, flow, .. } = ended;
    let word = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    out.bytes(&source.octets());
    out.bytes(&destination.octets());
    out.u32(0);
    out.u16(who.interface(key.place.input));
    out.u16(who.interface(key.place.output));
    out.u32(word(flow.packets));
    out.u32(word(flow.bytes));
    out.u32(flow.first_ms as u32);
    out.u32(flow.last_ms as u32);
    out.u16(key.source_port);
    out.u16(key.destination_port);
    out.u8(0);
    out.u8(flow.tcp_flags);
    out.u8(key.protocol);
    out.u8(key.class);
    out.u32(0);
    out.u32(0);
}
