//! What bridges compare: identifiers, and how good a way to the root is (section 17.5).

use std::fmt;

/// A bridge: its priority in the upper 16 bits, its address in the others. The lowest is the root.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BridgeId(pub u64);

impl BridgeId {
    /// The bridge of a priority and an address.
    pub fn new(priority: u16, address: [u8; 6]) -> Self {
        let [a, b, c, d, e, f] = address;
        let [x, y] = priority.to_be_bytes();
        Self(u64::from_be_bytes([x, y, a, b, c, d, e, f]))
    }

    /// Its priority.
    pub fn priority(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// Its address.
    pub fn address(self) -> [u8; 6] {
        let [_, _, address @ ..] = self.0.to_be_bytes();
        address
    }
}

/// As Open vSwitch writes it: `8.000.0242ac110002`, the priority in two parts.
impl fmt::Display for BridgeId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(all) = self;
        write!(out, "{:x}.{:03x}.{:012x}", all >> 60, all >> 48 & 0xfff, all & 0xffff_ffff_ffff)
    }
}

/// How good what somebody says is: the lower, the better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Vector {
    /// The root.
    pub root: BridgeId,
    /// What the way there costs.
    pub cost: u32,
    /// Who says so.
    pub bridge: BridgeId,
    /// By which of its ports.
    pub port: u16,
}

impl Vector {
    /// Whether `self`, which was heard, is to replace `known`: it is better, or comes from whoever
    /// said that (section 17.6).
    pub(crate) fn supersedes(&self, known: &Self) -> bool {
        let number = |vector: &Self| vector.port & 0x0fff;
        let is_same_sender =
            self.bridge.address() == known.bridge.address() && number(self) == number(known);
        self < known || (self != known && is_same_sender)
    }
}

/// The times that the root has all bridges use, in seconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// How many bridges it came through.
    pub message_age: u8,
    /// Through how many it is believed.
    pub max_age: u8,
    /// Between two messages.
    pub hello: u8,
    /// How long a port waits in each state, where nobody agrees to more.
    pub forward_delay: u8,
}

impl Default for Times {
    fn default() -> Self {
        Self { message_age: 0, max_age: 20, hello: crate::HELLO_S, forward_delay: 15 }
    }
}

impl Times {
    /// The same within what the standard allows (table 17-1): a neighbour that says less would have
    /// loops, one that says more would have nothing go on.
    pub(crate) fn within_bounds(self) -> Self {
        Self {
            message_age: self.message_age,
            max_age: self.max_age.clamp(6, 40),
            hello: self.hello.clamp(1, 10),
            forward_delay: self.forward_delay.clamp(4, 30),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bridge_is_told_as_open_vswitch_tells_it() {
        let id = BridgeId::new(0x8001, [2, 0, 0, 0, 0xab, 0xcd]);
        assert_eq!(id.to_string(), "8.001.02000000abcd");
        assert_eq!((id.priority(), id.address()), (0x8001, [2, 0, 0, 0, 0xab, 0xcd]));
    }

    #[test]
    fn what_is_better_or_from_the_same_port_replaces_what_is_known() {
        let of = |root, cost, bridge, port| Vector {
            root: BridgeId(root),
            cost,
            bridge: BridgeId(bridge),
            port,
        };
        let known = of(5, 10, 7, 0x8001);
        assert!(of(4, 99, 9, 1).supersedes(&known) && of(5, 9, 9, 1).supersedes(&known));
        assert!(of(5, 10, 6, 1).supersedes(&known) && of(5, 10, 7, 0x7001).supersedes(&known));
        // Worse, but said by the same port: its word holds.
        assert!(of(6, 0, 7, 0x9001).supersedes(&known));
        assert!(!of(6, 0, 7, 0x8002).supersedes(&known) && !known.supersedes(&known));
    }
}
