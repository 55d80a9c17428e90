//! What tells flows apart, where several next hops share them.
//!
//! ```text
//!  control thread ── two words, stored one after the other ──▶ workers: one load a vector
//! ```
//! A worker may see the words of two changes that follow each other for a moment: its flows go one
//! way or another, and nothing else depends on them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use wire::udp;

/// UDP ports that VXLAN is looked for at, at most.
pub const MOST_VXLAN_PORTS: usize = 4;

/// Bits of a [`FlowRule`].
pub mod flow_field {
    /// The source address.
    pub const SOURCE: u32 = 1;
    /// The destination address.
    pub const DESTINATION: u32 = 1 << 1;
    /// The protocol, or the next header.
    pub const PROTOCOL: u32 = 1 << 2;
    /// The source port of TCP, UDP and SCTP.
    pub const SOURCE_PORT: u32 = 1 << 3;
    /// Their destination port.
    pub const DESTINATION_PORT: u32 = 1 << 4;
    /// The flow label of IPv6.
    pub const FLOW_LABEL: u32 = 1 << 5;
    /// The interface that it came in by.
    pub const INGRESS: u32 = 1 << 6;
    /// Not a field: of what a tunnel carries, not of the tunnel.
    pub const INNER: u32 = 1 << 7;
    /// Not a field: both directions are one flow.
    pub const SYMMETRIC: u32 = 1 << 8;
    /// Those that are looked at unless told otherwise.
    pub const USUAL: u32 =
        SOURCE | DESTINATION | PROTOCOL | SOURCE_PORT | DESTINATION_PORT | FLOW_LABEL;
}

/// What is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowRule {
    /// Bits of [`flow_field`].
    pub bits: u32,
    /// UDP ports of VXLAN; 0: none.
    pub vxlan_ports: [u16; MOST_VXLAN_PORTS],
}

impl FlowRule {
    /// The one that there is unless told otherwise.
    pub const USUAL: Self =
        Self { bits: flow_field::USUAL, vxlan_ports: [udp::port::VXLAN, 0, 0, 0] };

    /// Whether all of these bits are set.
    #[inline]
    pub fn has(&self, bits: u32) -> bool {
        self.bits & bits == bits
    }

    /// Whether the usual fields are looked at, of a packet's outer header.
    #[inline]
    pub fn is_usual(&self) -> bool {
        self.bits == flow_field::USUAL
    }
}

/// The rule that all workers share; the control thread changes it at any time.
#[derive(Debug)]
pub struct FlowRules {
    bits: AtomicU32,
    vxlan_ports: AtomicU64,
}

impl Default for FlowRules {
    fn default() -> Self {
        let rules = Self { bits: AtomicU32::new(0), vxlan_ports: AtomicU64::new(0) };
        rules.set(FlowRule::USUAL);
        rules
    }
}

impl FlowRules {
    /// The rule of now.
    #[inline]
    pub fn get(&self) -> FlowRule {
        let ports = self.vxlan_ports.load(Ordering::Relaxed);
        let vxlan_ports = std::array::from_fn(|at| (ports >> (16 * at)) as u16);
        FlowRule { bits: self.bits.load(Ordering::Relaxed), vxlan_ports }
    }

    /// From now on it is this one.
    pub fn set(&self, rule: FlowRule) {
        let ports = rule.vxlan_ports.iter().rev();
        let ports = ports.fold(0, |word, port| word << 16 | u64::from(*port));
        self.vxlan_ports.store(ports, Ordering::Relaxed);
        self.bits.store(rule.bits, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_what_workers_get() {
        let rules = FlowRules::default();
        assert_eq!(rules.get(), FlowRule::USUAL);
        assert!(rules.get().is_usual());
        let rule =
            FlowRule { bits: flow_field::USUAL | flow_field::INNER, vxlan_ports: [1, 2, 3, 65535] };
        rules.set(rule);
        assert_eq!(rules.get(), rule);
        assert!(!rules.get().is_usual());
    }
}
