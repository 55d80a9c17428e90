//! Why an address forwards as it does: the route that matched, and what it cost to find.

use super::Ip4Table;
use super::nodes::{NODE_BITS, NODE_ENTRIES};
use crate::sync::Ordering;
use crate::{Forward, Ip4Prefix, Prefix};

/// How one address is looked up. Whose route it is, and over which next hop, the routing table
/// knows: [`Rib::active`](crate::rib::Rib::active) of the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip4Match {
    /// The longest route that holds the address; none if there is no route.
    pub prefix: Option<Ip4Prefix>,
    /// What it forwards to.
    pub to: Forward,
    /// Steps of the lookup: the root, and each node below it.
    pub depth: u8,
    /// Cache lines that the lookup touches, one a step; the words of short routes, which a vector
    /// reads once, are not counted.
    pub cache_lines: u8,
    /// Bits of the address that those steps decided.
    pub bits: u8,
}

impl Ip4Table {
    /// Explains the lookup of `address`. Writers wait meanwhile, so that route and word agree.
    pub fn explain(&self, address: u32) -> Ip4Match {
        let record = self.record();
        let (mut depth, mut bits) = (1, self.options.layout.root_bits());
        let root = self.root.get((address >> (32 - bits)) as usize);
        let mut word = root.map_or(0, |entry| entry.load(Ordering::Relaxed));
        while let Some(node) = self.nodes.node(word) {
            (depth, bits) = (depth + 1, bits + NODE_BITS);
            let entry = &node[(address >> (32 - bits)) as usize % NODE_ENTRIES];
            word = entry.load(Ordering::Relaxed);
        }
        word = self.view().or_short(word, address);
        Ip4Match {
            prefix: record.cover(Prefix::host(address), true).map(|(prefix, _)| prefix),
            to: Forward::from_bits(word),
            depth,
            cache_lines: depth,
            bits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip4::{Ip4Layout, Ip4Nodes, Ip4Options};
    use crate::pages::PageSize;
    use crate::quiesce::Quiescence;

    #[test]
    fn the_match_names_its_route_and_its_cost() {
        let nodes = Ip4Nodes::new(100, PageSize::Small, &Quiescence::new()).unwrap();
        for (layout, depths) in
            [(Ip4Layout::Wide, [1, 1, 3, 2]), (Ip4Layout::Compact, [1, 2, 4, 3])]
        {
            let options = Ip4Options { layout, page_size: PageSize::Small, max_routes: 10 };
            let table = Ip4Table::new(&nodes, options).unwrap();
            assert_eq!((table.explain(7).prefix, table.explain(7).to), (None, Forward::NONE));
            let routes = ["0.0.0.0/0", "10.0.0.0/23", "10.0.2.1/32", "10.0.2.16/28"];
            for (id, text) in routes.iter().enumerate() {
                table.insert(text.parse().unwrap(), Forward::new(1, id as u32 + 1)).unwrap();
            }
            for ((id, text), depth) in routes.iter().enumerate().zip(depths) {
                let prefix: Ip4Prefix = text.parse().unwrap();
                let found = table.explain(prefix.address());
                assert_eq!(found.prefix, Some(prefix), "{layout:?}");
                assert_eq!(found.to, Forward::new(1, id as u32 + 1));
                assert_eq!(found.to, table.lookup(prefix.address()));
                assert_eq!((found.depth, found.cache_lines), (depth, depth), "{layout:?} {text}");
            }
        }
    }
}
