//! A plain poptrie (Asai and Ohara, SIGCOMM 2015), as a reference: built at once, never changed.
//!
//! ```text
//!   root, 2^16 or 2^18 words: an answer, or a node
//!   node: 64 bits "slot i leads to a node", 64 bits "slot i begins a run of equal answers",
//!         where its nodes begin, where its answers begin
//! ```

#![allow(unsafe_code)] // Without the instruction a bit count is a dozen others.

/// A route of the poptrie: the address stands in the high bits.
pub(crate) type Route = (u128, u8, u32);

const STRIDE: u32 = 6;
const IS_NODE: u32 = 1 << 31;

#[derive(Clone, Copy, Default)]
struct Node {
    nodes: u64,
    runs: u64,
    first_node: u32,
    first_answer: u32,
}

/// See the module's drawing.
pub(crate) struct Poptrie {
    root_bits: u32,
    root: Vec<u32>,
    nodes: Vec<Node>,
    answers: Vec<u32>,
}

/// A binary trie, from which the poptrie is built: two children and an answer a vertex.
struct Binary(Vec<([u32; 2], u32)>);

impl Binary {
    fn new(routes: &[Route]) -> Binary {
        let mut trie = Binary(vec![([0; 2], 0)]);
        for &(key, length, to) in routes {
            let mut at = 0;
            for bit in 0..length {
                let side = (key >> (127 - bit) & 1) as usize;
                if trie.0[at].0[side] == 0 {
                    trie.0[at].0[side] = trie.0.len() as u32;
                    trie.0.push(([0; 2], 0));
                }
                at = trie.0[at].0[side] as usize;
            }
            trie.0[at].1 = to;
        }
        trie
    }

    /// What lies `bits` below `vertex` at `path`: a vertex with children, if there is one, and the
    /// answer there, `inherited` from above if none is nearer.
    fn descend(&self, vertex: u32, path: u32, bits: u32, inherited: u32) -> (Option<u32>, u32) {
        let (mut at, mut answer) = (vertex, inherited);
        for bit in (0..bits).rev() {
            at = self.0[at as usize].0[(path >> bit & 1) as usize];
            if at == 0 {
                return (None, answer);
            }
            answer = match self.0[at as usize].1 {
                0 => answer,
                nearer => nearer,
            };
        }
        let leads_on = self.0[at as usize].0 != [0; 2];
        (leads_on.then_some(at), answer)
    }
}

impl Poptrie {
    /// Builds `routes`, whose answers are neither 0 nor above 2^31.
    pub(crate) fn new(routes: &[Route], root_bits: u32) -> Poptrie {
        let binary = Binary::new(routes);
        let mut trie = Poptrie { root_bits, root: vec![], nodes: vec![], answers: vec![] };
        for path in 0..1 << root_bits {
            let word = match binary.descend(0, path, root_bits, binary.0[0].1) {
                (None, answer) => answer,
                (Some(vertex), answer) => {
                    let node = trie.nodes.len();
                    trie.nodes.push(Node::default());
                    trie.fill(node, &binary, vertex, answer);
                    IS_NODE | node as u32
                }
            };
            trie.root.push(word);
        }
        trie
    }

    fn fill(&mut self, node: usize, binary: &Binary, vertex: u32, inherited: u32) {
        let slots: Vec<_> =
            (0..64).map(|path| binary.descend(vertex, path, STRIDE, inherited)).collect();
        let mut built = Node {
            first_node: self.nodes.len() as u32,
            first_answer: self.answers.len() as u32,
            ..Node::default()
        };
        let mut last = None;
        for (slot, (below, answer)) in slots.iter().enumerate() {
            if below.is_some() {
                built.nodes |= 1 << slot;
            } else if last != Some(*answer) {
                built.runs |= 1 << slot;
                self.answers.push(*answer);
                last = Some(*answer);
            }
        }
        let count = built.nodes.count_ones() as usize;
        self.nodes.resize(self.nodes.len() + count, Node::default());
        self.nodes[node] = built;
        let below = slots.iter().filter_map(|(below, answer)| below.map(|at| (at, *answer)));
        for (place, (vertex, answer)) in below.enumerate() {
            self.fill(built.first_node as usize + place, binary, vertex, answer);
        }
    }

    /// Bytes that lookups read.
    pub(crate) fn bytes(&self) -> usize {
        4 * (self.root.len() + self.answers.len()) + size_of::<Node>() * self.nodes.len()
    }

    /// Looks up `keys`, whose addresses stand in their high bits, one step of all at a time.
    pub(crate) fn lookup_bulk(&self, keys: &[u128], out: &mut [u32]) {
        if is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the machine has the instructions.
            unsafe { self.lookup_popcnt(keys, out) }
        } else {
            self.lookup_steps(keys, out);
        }
    }

    #[target_feature(enable = "popcnt,bmi2")]
    fn lookup_popcnt(&self, keys: &[u128], out: &mut [u32]) {
        self.lookup_steps(keys, out);
    }

    #[inline(always)]
    fn lookup_steps(&self, keys: &[u128], out: &mut [u32]) {
        let mut going: [u16; 256] = std::array::from_fn(|place| place as u16);
        let mut count = 0;
        for (place, (key, out)) in keys.iter().zip(out.iter_mut()).enumerate().take(256) {
            *out = self.root[(key >> (128 - self.root_bits)) as usize];
            going[count] = place as u16;
            count += usize::from(*out & IS_NODE != 0);
        }
        let mut offset = self.root_bits;
        while count > 0 {
            let here = count;
            count = 0;
            for position in 0..here {
                let place = going[position];
                let (key, out) = (keys[usize::from(place)], &mut out[usize::from(place)]);
                let node = &self.nodes[(*out & !IS_NODE) as usize];
                let slot = (key << offset >> (128 - STRIDE)) as u32;
                let up_to = u64::MAX >> (63 - slot);
                *out = if node.nodes >> slot & 1 == 1 {
                    IS_NODE | (node.first_node + (node.nodes & up_to).count_ones() - 1)
                } else {
                    let run = (node.runs & up_to).count_ones() - 1;
                    self.answers[(node.first_answer + run) as usize]
                };
                going[count] = place;
                count += usize::from(*out & IS_NODE != 0);
            }
            offset += STRIDE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_route_wins_at_every_depth() {
        let key = |a: u128| a << 96;
        let routes = [
            (0, 0, 1),
            (key(0x0a00_0000), 8, 2),
            (key(0x0a01_0200), 24, 3),
            (key(0x0a01_0203), 32, 4),
        ];
        let trie = Poptrie::new(&routes, 18);
        let keys = [0x0101_0101, 0x0a02_0000, 0x0a01_0201, 0x0a01_0203].map(key);
        let mut out = [0; 4];
        trie.lookup_bulk(&keys, &mut out);
        assert_eq!(out, [1, 2, 3, 4]);
    }
}
