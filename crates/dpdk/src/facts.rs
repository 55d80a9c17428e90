//! What a driver says of its port, and DPDK's numbers that have names.

use crate::{ffi, stats};

/// What a driver says of its port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortFacts {
    /// The driver's name.
    pub driver: String,
    /// Most receive queues.
    pub max_rx_queues: u16,
    /// Most transmit queues.
    pub max_tx_queues: u16,
    /// Largest packet without its Ethernet header.
    pub max_mtu: u16,
    /// Can spread flows over queues.
    pub rss: bool,
    /// The Linux device below, 0 if none.
    pub if_index: u32,
    /// The memory it is next to.
    pub socket: i32,
}

pub(crate) fn constants() -> ffi::Constants {
    let mut constants = ffi::Constants::default();
    // SAFETY: the result is ours.
    unsafe { ffi::volley_constants(&mut constants) };
    constants
}

pub(crate) fn raw(number: u16) -> Result<ffi::PortFacts, i32> {
    // SAFETY: numbers and an array of them: zeroes are valid.
    let mut raw: ffi::PortFacts = unsafe { core::mem::zeroed() };
    // SAFETY: the result is ours.
    match unsafe { ffi::volley_port_facts(number, &mut raw) } {
        0 => Ok(raw),
        code => Err(code),
    }
}

impl From<&ffi::PortFacts> for PortFacts {
    fn from(raw: &ffi::PortFacts) -> Self {
        Self {
            driver: stats::text(&raw.driver),
            max_rx_queues: raw.max_rx_queues,
            max_tx_queues: raw.max_tx_queues,
            max_mtu: raw.max_mtu,
            rss: raw.rss_functions != 0,
            if_index: raw.if_index,
            socket: raw.socket,
        }
    }
}
