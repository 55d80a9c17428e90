//! Sets of addresses, as ranges side by side: few lines of memory, found by halving.
//!
//! ```text
//!  10.0.0.0/8, 10.1.0.0/16, 192.0.2.0/24  ─▶  10.0.0.0 – 10.255.255.255 │ 192.0.2.0 – 192.0.2.255
//! ```
//! A look takes as many steps as their number has bits.

use fib::{Address, Prefix};

/// Addresses of one family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges<A>(Box<[(A, A)]>);

impl<A: Address> Ranges<A> {
    /// The addresses of these networks.
    pub fn of(networks: impl IntoIterator<Item = Prefix<A>>) -> Self {
        let last = |network: &Prefix<A>| network.address() | !A::mask(network.length());
        let mut all: Vec<(A, A)> =
            networks.into_iter().map(|network| (network.address(), last(&network))).collect();
        // A network that holds another stands before it.
        all.sort_unstable_by(|one, other| (one.0, other.1).cmp(&(other.0, one.1)));
        let mut ranges: Vec<(A, A)> = Vec::new();
        for (first, last) in all {
            if ranges.last().is_none_or(|&(_, known)| known < first) {
                ranges.push((first, last));
            }
        }
        Self(ranges.into())
    }

    /// Whether it is one of them.
    #[inline]
    pub fn contains(&self, address: A) -> bool {
        let behind = self.0.partition_point(|&(first, _)| first <= address);
        self.0[..behind].last().is_some_and(|&(_, last)| address <= last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_hold_what_some_network_holds(
            networks in prop::collection::vec((any::<u32>(), 0..=32u8), 0..20),
            addresses in prop::collection::vec(any::<u32>(), 20),
        ) {
            let inside = |(address, length): (u32, u8)| {
                Prefix::new(address & u32::mask(length), length).unwrap()
            };
            let networks: Vec<_> = networks.into_iter().map(inside).collect();
            let ranges = Ranges::of(networks.iter().copied());
            // Those at the edges are the ones to be wrong about.
            let edges = networks.iter().flat_map(|network| {
                let (first, last) = (network.address(), network.address() | !u32::mask(network.length()));
                [first, last, first.wrapping_sub(1), last.wrapping_add(1)]
            });
            for address in addresses.into_iter().chain(edges) {
                let held = networks.iter().any(|it| address & u32::mask(it.length()) == it.address());
                prop_assert_eq!(ranges.contains(address), held, "{}", address);
            }
        }
    }
}
