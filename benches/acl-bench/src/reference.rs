//! DPDK's access lists, called through the C file in `reference/`.

#![allow(unsafe_code)] // Every call crosses into C.

use acl::{Fields, Ports, Rule, Transport};
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

/// A packet as DPDK reads it: the numbers in network order.
#[repr(C)]
pub(crate) struct Packet {
    protocol: u8,
    none: [u8; 3],
    source: u32,
    destination: u32,
    source_port: u16,
    destination_port: u16,
}

#[repr(C)]
struct Row {
    source: u32,
    destination: u32,
    ports: [u16; 4],
    source_length: u8,
    destination_length: u8,
    protocol: u8,
    protocol_mask: u8,
}

mod c {
    use super::{Packet, Row, c_int, c_void};

    unsafe extern "C" {
        pub(super) fn reference_start() -> c_int;
        pub(super) fn reference_new(rules: *const Row, count: u32) -> *mut c_void;
        pub(super) fn reference_classify(
            list: *mut c_void,
            packets: *const *const Packet,
            found: *mut u32,
            count: u32,
            algorithm: c_int,
        ) -> c_int;
    }
}

/// How DPDK classifies, as its header numbers them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Algorithm {
    Scalar = 1,
    Avx2 = 3,
    Avx512 = 7,
}

/// Starts DPDK in this process's own memory.
pub(crate) fn start() -> Result<(), String> {
    // SAFETY: called once, before any other call, from the only thread.
    match unsafe { c::reference_start() } {
        0.. => Ok(()),
        status => Err(format!("DPDK does not start: {status}")),
    }
}

/// One of DPDK's lists. It lives until the process ends.
pub(crate) struct List(NonNull<c_void>);

impl List {
    /// A list of rules that ask for nothing but addresses, ports and protocol.
    pub(crate) fn new(rules: &[(u32, Rule<u32>)]) -> Result<Self, String> {
        let row = |(_, rule): &(u32, Rule<u32>)| {
            let [from, to] = [rule.source_ports, rule.destination_ports];
            let [from, to] = [from, to].map(|ports| ports.unwrap_or(Ports::ALL));
            Row {
                source: rule.source.address(),
                destination: rule.destination.address(),
                ports: [from.first(), from.last(), to.first(), to.last()],
                source_length: rule.source.length(),
                destination_length: rule.destination.length(),
                protocol: rule.protocol.unwrap_or(0),
                protocol_mask: if rule.protocol.is_some() { u8::MAX } else { 0 },
            }
        };
        let rows: Vec<Row> = rules.iter().map(row).collect();
        // SAFETY: as many rows as it is told; DPDK copies them.
        let made = unsafe { c::reference_new(rows.as_ptr(), rows.len() as u32) };
        NonNull::new(made).map(Self).ok_or_else(|| format!("rte_acl refuses {} rules", rows.len()))
    }

    /// Writes each packet's rule, counted from 1, or 0; says whether this machine has the
    /// algorithm.
    pub(crate) fn classify(
        &self,
        packets: &[*const Packet],
        found: &mut [u32],
        by: Algorithm,
    ) -> bool {
        let count = packets.len().min(found.len()) as u32;
        // SAFETY: the list is one of DPDK's, the pointers are of live packets, and `found` has room
        // for each.
        let status = unsafe {
            let list = self.0.as_ptr();
            c::reference_classify(list, packets.as_ptr(), found.as_mut_ptr(), count, by as c_int)
        };
        status == 0
    }
}

impl From<&Fields<u32>> for Packet {
    fn from(fields: &Fields<u32>) -> Self {
        let (source_port, destination_port) = match fields.transport {
            Transport::Ports(source, destination) => (source, destination),
            Transport::Unknown | Transport::Icmp(..) => (0, 0),
        };
        Self {
            protocol: fields.protocol,
            none: [0; 3],
            source: fields.source.to_be(),
            destination: fields.destination.to_be(),
            source_port: source_port.to_be(),
            destination_port: destination_port.to_be(),
        }
    }
}
