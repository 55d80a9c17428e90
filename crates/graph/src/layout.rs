//! Node specs, checked and wired into slots by name: the one shape that all workers' graphs share.
//!
//! Slots stand in rank order: every edge leads to a higher slot but those that close a loop, so
//! running the lowest pending slot first shows each node the packets of all its inputs at once.

use crate::exit::{ExitIndex, To, kebab};
use crate::node::{Attach, NodeSpec, Role, Turn};
use std::collections::HashMap;

/// Most nodes in a graph: the pending set is one 128-bit word.
const MOST_NODES: usize = 128;

/// Most exits of a node, demultiplexed ones included.
const MOST_EXITS: usize = 250;

/// The node that frees what nobody wants.
const DROP: &str = "drop";

/// Set in the cause of an edge to a node that tells senders: the rest is the number of the reason.
const ANSWERED: u16 = 1 << 15;

/// The number of the reason that an edge with this cause, to a node that tells senders, has.
#[inline(always)]
pub const fn answered_reason(cause: u16) -> Option<u16> {
    if cause & ANSWERED != 0 { Some(cause & !ANSWERED) } else { None }
}

/// A wired graph, before any worker runs it.
pub struct Layout<S: 'static> {
    /// Nodes by slot.
    pub nodes: Vec<LayoutNode<S>>,
    /// Why packets go no further: every exit that leads to the drop node, by its cause, or to a
    /// node that tells the sender ([`answered_reason`]).
    pub reasons: Vec<Reason>,
}

/// One node in its slot.
pub struct LayoutNode<S: 'static> {
    /// What it is.
    pub spec: NodeSpec<S>,
    /// Its exits: the declared ones, then one for each attached node.
    pub edges: Vec<Edge>,
    pub(crate) attached: Vec<(u32, ExitIndex)>,
}

/// One exit, wired.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The exit's name, as people read it.
    pub name: String,
    /// What it means.
    pub about: String,
    /// The slot that it leads to.
    pub target: usize,
    /// What the target is told, if it listens to causes at all.
    pub cause: Option<u16>,
}

/// A reason for a drop, or for an answer instead of what was wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// The node that decided.
    pub node: &'static str,
    /// Its exit.
    pub exit: String,
    /// What that means.
    pub about: String,
    /// What can be done about it.
    pub mend: &'static str,
    /// What the node that it leads to tells the sender, as both know it; none where the packet is
    /// dropped.
    pub answer: Option<u16>,
}

/// Why specs make no graph.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LayoutError {
    /// Two nodes share a name.
    #[error("two nodes are named `{0}`")]
    Twice(&'static str),
    /// An exit leads nowhere.
    #[error("exit `{exit}` of node `{node}` leads to `{to}`, and there is no such node")]
    NoSuchTarget {
        /// Whose exit.
        node: &'static str,
        /// The exit, as people read it.
        exit: String,
        /// The name that nobody has.
        to: &'static str,
    },
    /// A node attaches to nothing.
    #[error("node `{node}` attaches to `{of}`, and there is no such node")]
    NoSuchDemux {
        /// Who attaches.
        node: &'static str,
        /// To what.
        of: &'static str,
    },
    /// Two nodes want the same packets.
    #[error("nodes `{first}` and `{second}` both attach to `{of}` for {key:#x}")]
    AttachedTwice {
        /// Who has it.
        first: &'static str,
        /// Who wants it too.
        second: &'static str,
        /// The node that both attach to.
        of: &'static str,
        /// The packets that both want: an ethertype, a protocol, a port.
        key: u32,
    },
    /// An exit leads to an input.
    #[error(
        "exit `{exit}` of node `{node}` leads to `{to}`, which is an input and takes no packets"
    )]
    IntoInput {
        /// Whose exit.
        node: &'static str,
        /// The exit, as people read it.
        exit: String,
        /// The input.
        to: &'static str,
    },
    /// More than the engine's tables hold.
    #[error("{what}: {count}, and at most {most} are possible")]
    TooMany {
        /// Of what.
        what: String,
        /// How many.
        count: usize,
        /// The bound.
        most: usize,
    },
}

impl<S> Layout<S> {
    /// Wires the specs.
    pub fn new(specs: &[NodeSpec<S>]) -> Result<Self, LayoutError> {
        at_most("nodes", specs.len(), MOST_NODES)?;
        let mut by_name = HashMap::new();
        for (index, spec) in specs.iter().enumerate() {
            if by_name.insert(spec.name, index).is_some() {
                return Err(LayoutError::Twice(spec.name));
            }
        }
        let mut nodes: Vec<_> = specs.iter().map(|spec| unwired(*spec)).collect();
        let mut reasons = Vec::new();
        for node in &mut nodes {
            wire_declared(node, specs, &by_name, &mut reasons)?;
        }
        for spec in specs {
            for attach in spec.attach {
                wire_attached(&mut nodes, spec, attach, &by_name)?;
            }
            for attach in turns_before(spec, specs) {
                wire_attached(&mut nodes, spec, &attach, &by_name)?;
            }
        }
        tell_causes_where_some_listen(&mut nodes);
        Ok(Self { nodes: in_rank_order(nodes), reasons })
    }

    /// The slot of a node.
    pub fn slot(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.spec.name == name)
    }
}

/// What brings a node its turn: the arc's first node, and each other one of the arc before it.
fn turns_before<S>(spec: &NodeSpec<S>, specs: &[NodeSpec<S>]) -> Vec<Attach> {
    let Some(Turn { arc, place }) = spec.turn else { return Vec::new() };
    let is_before =
        |other: &&NodeSpec<S>| other.turn.is_some_and(|turn| turn.arc == arc && turn.place < place);
    let before = specs.iter().filter(is_before).map(|other| other.name);
    std::iter::once(arc).chain(before).map(|of| Attach { of, key: place }).collect()
}

fn at_most(what: &str, count: usize, most: usize) -> Result<(), LayoutError> {
    if count <= most {
        return Ok(());
    }
    Err(LayoutError::TooMany { what: what.to_owned(), count, most })
}

fn unwired<S>(spec: NodeSpec<S>) -> LayoutNode<S> {
    LayoutNode { spec, edges: Vec::new(), attached: Vec::new() }
}

fn wire_declared<S>(
    node: &mut LayoutNode<S>,
    specs: &[NodeSpec<S>],
    by_name: &HashMap<&'static str, usize>,
    reasons: &mut Vec<Reason>,
) -> Result<(), LayoutError> {
    let from = node.spec.name;
    for exit in node.spec.exits {
        let (name, about) = (kebab(exit.name), exit.about.trim().to_owned());
        let mut reason = |answer| {
            let (exit_name, about) = (name.clone(), about.clone());
            reasons.push(Reason { node: from, exit: exit_name, about, mend: exit.mend, answer });
            reasons.len() as u16 - 1
        };
        let (to, cause) = match exit.to {
            To::Node(to, cause) => (to, cause),
            To::Answer(to, told) => (to, ANSWERED | reason(Some(told))),
            To::Drop => (DROP, reason(None)),
        };
        let Some(&target) = by_name.get(to) else {
            return Err(LayoutError::NoSuchTarget { node: from, exit: name, to });
        };
        if specs[target].role == Role::Input {
            return Err(LayoutError::IntoInput { node: from, exit: name, to });
        }
        let cause = (cause != 0 || to == DROP).then_some(cause);
        node.edges.push(Edge { name, about, target, cause });
    }
    at_most(&format!("exits of node `{from}`"), node.edges.len(), MOST_EXITS)
}

fn wire_attached<S>(
    nodes: &mut [LayoutNode<S>],
    spec: &NodeSpec<S>,
    attach: &Attach,
    by_name: &HashMap<&'static str, usize>,
) -> Result<(), LayoutError> {
    let Attach { of, key } = *attach;
    let Some(&demux) = by_name.get(of) else {
        return Err(LayoutError::NoSuchDemux { node: spec.name, of });
    };
    let holder = nodes[demux].attached.iter().find(|(taken, _)| *taken == key).map(|found| found.1);
    if let Some(exit) = holder {
        let first = nodes[nodes[demux].edges[usize::from(exit.0)].target].spec.name;
        return Err(LayoutError::AttachedTwice { first, second: spec.name, of, key });
    }
    let target = by_name[spec.name];
    let node = &mut nodes[demux];
    at_most(&format!("exits of node `{of}`"), node.edges.len() + 1, MOST_EXITS)?;
    // Two keys for one node share the exit.
    let declared = node.spec.exits.len();
    let shared = node.edges.iter().skip(declared).position(|edge| edge.target == target);
    let index = shared.map_or(node.edges.len(), |position| declared + position);
    if shared.is_none() {
        let about = spec.about.to_owned();
        node.edges.push(Edge { name: spec.name.to_owned(), about, target, cause: None });
    }
    node.attached.push((key, ExitIndex(index as u8)));
    Ok(())
}

/// A node that some edge tells a cause hears one from every edge: causes do not travel further.
fn tell_causes_where_some_listen<S>(nodes: &mut [LayoutNode<S>]) {
    let mut listens = vec![false; nodes.len()];
    for edge in nodes.iter().flat_map(|node| &node.edges) {
        listens[edge.target] |= edge.cause.is_some();
    }
    for edge in nodes.iter_mut().flat_map(|node| &mut node.edges) {
        if listens[edge.target] && edge.cause.is_none() {
            edge.cause = Some(0);
        }
    }
}

/// Sorts nodes so that edges lead upwards, inputs first; edges that close a loop are left alone,
/// those of nodes at which packets begin again in any case.
fn in_rank_order<S>(nodes: Vec<LayoutNode<S>>) -> Vec<LayoutNode<S>> {
    fn visit<S>(at: usize, nodes: &[LayoutNode<S>], seen: &mut [bool], finished: &mut Vec<usize>) {
        if std::mem::replace(&mut seen[at], true) {
            return;
        }
        let LayoutNode { spec, edges, .. } = &nodes[at];
        for edge in edges.iter().filter(|_| !spec.begins_again) {
            visit(edge.target, nodes, seen, finished);
        }
        finished.push(at);
    }
    let mut seen = vec![false; nodes.len()];
    let mut finished = Vec::with_capacity(nodes.len());
    let inputs = (0..nodes.len()).filter(|&at| nodes[at].spec.role == Role::Input);
    for at in inputs.chain(0..nodes.len()) {
        visit(at, &nodes, &mut seen, &mut finished);
    }
    finished.reverse();
    let mut slot_of = vec![0; nodes.len()];
    for (slot, &old) in finished.iter().enumerate() {
        slot_of[old] = slot;
    }
    let mut sorted: Vec<_> = nodes.into_iter().map(Some).collect();
    let take = |old: usize| sorted[old].take();
    let mut ordered: Vec<LayoutNode<S>> = finished.into_iter().filter_map(take).collect();
    for edge in ordered.iter_mut().flat_map(|node| &mut node.edges) {
        edge.target = slot_of[edge.target];
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::ExitSpec;
    use crate::harness::TEST_DROP;
    use crate::node::DynNode;

    fn made(_: &()) -> Box<dyn DynNode> {
        unreachable!("a layout makes no nodes")
    }

    fn node(name: &'static str, turn: Option<u32>) -> NodeSpec<()> {
        let turn = turn.map(|place| Turn { arc: "begin", place });
        let (about, role) = ("stands in a test", Role::Inner);
        NodeSpec {
            name,
            about,
            role,
            attach: &[],
            turn,
            begins_again: false,
            exits: &[],
            make: made,
        }
    }

    #[test]
    fn every_node_of_an_arc_leads_to_those_behind_it_wherever_they_are_listed() {
        let [late, begin] = [node("late", Some(9)), node("begin", None)];
        let specs = [TEST_DROP, late, begin, node("soon", Some(2)), node("first", Some(0))];
        let layout = Layout::new(&specs).unwrap();
        let ways = |name: &str| {
            let node = &layout.nodes[layout.slot(name).unwrap()];
            let to =
                |exit: ExitIndex| layout.nodes[node.edges[usize::from(exit.0)].target].spec.name;
            node.attached.iter().map(|&(key, exit)| (key, to(exit))).collect::<Vec<_>>()
        };
        assert_eq!(ways("begin"), [(9, "late"), (2, "soon"), (0, "first")]);
        assert_eq!(ways("first"), [(9, "late"), (2, "soon")]);
        assert_eq!(ways("soon"), [(9, "late")]);
        assert_eq!(ways("late"), []);
    }

    #[test]
    fn what_begins_again_stands_behind_what_leads_to_it() {
        const WRAP: &[ExitSpec] =
            &[ExitSpec { name: "Rewrite", about: "", to: To::Node("rewrite", 0), mend: "" }];
        const REWRITE: &[ExitSpec] =
            &[ExitSpec { name: "Output", about: "", to: To::Node("output", 0), mend: "" }];
        const OUTPUT: &[ExitSpec] =
            &[ExitSpec { name: "Wrap", about: "", to: To::Node("wrap", 0), mend: "" }];
        let begins_again = true;
        let specs = [
            TEST_DROP,
            NodeSpec { exits: OUTPUT, ..node("output", None) },
            NodeSpec { exits: REWRITE, ..node("rewrite", None) },
            NodeSpec { exits: WRAP, begins_again, ..node("wrap", None) },
        ];
        let layout = Layout::new(&specs).unwrap();
        let slots = ["rewrite", "output", "wrap"].map(|name| layout.slot(name).unwrap());
        assert!(slots.is_sorted(), "{slots:?}");
    }

    #[test]
    fn one_place_of_an_arc_is_one_nodes() {
        let specs = [TEST_DROP, node("begin", None), node("a", Some(1)), node("b", Some(1))];
        let (first, second, of) = ("a", "b", "begin");
        let refused = LayoutError::AttachedTwice { first, second, of, key: 1 };
        assert_eq!(Layout::new(&specs).err(), Some(refused));
    }
}
