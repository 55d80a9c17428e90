//! What is drawn: boxes, and the ways between them, made from a layout by looking at all of it, at
//! one part, or from afar.
//!
//! ```text
//!  whole      every node
//!  part       the part's nodes │ (where packets come from) and (where they go) by the part's name
//!  overview   one box a group of nodes; groups stand in the order that packets pass them
//! ```
//! Exits to the drop node would cover everything: they are counted in the box of their node.

use crate::layout::{Layout, LayoutNode};
use crate::node::Role;
use std::collections::BTreeMap;

/// A picture before anything has a place. A way to a box that stands earlier leads back.
pub(super) struct Picture {
    pub(super) title: String,
    pub(super) boxes: Vec<Drawn>,
    pub(super) ways: Vec<Way>,
}

/// A node, or several.
pub(super) struct Drawn {
    pub(super) name: String,
    /// Shown where the pointer rests on it.
    pub(super) about: String,
    /// What its colour says.
    pub(super) class: &'static str,
    /// A second line, and what is shown where the pointer rests on that.
    pub(super) note: Option<Note>,
}

pub(super) struct Note {
    pub(super) class: &'static str,
    pub(super) text: String,
    pub(super) about: String,
}

/// All exits of one box that lead to the same other one.
pub(super) struct Way {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) exits: Vec<String>,
}

/// Some nodes of a graph, as one box.
pub struct Group<'a> {
    /// What stands in it.
    pub name: &'a str,
    /// Its nodes.
    pub nodes: Vec<&'a str>,
}

impl Picture {
    /// Every node but `drop`.
    pub(super) fn whole<S>(layout: &Layout<S>) -> Self {
        let title = format!("The packet-processing graph: {} nodes", layout.nodes.len());
        let slots: Vec<_> =
            (0..layout.nodes.len()).filter(|&slot| is_drawn(layout, slot)).collect();
        let box_of = |slot| slots.binary_search(&slot).ok();
        let boxes = slots.iter().map(|&slot| node_box(layout, &layout.nodes[slot])).collect();
        Self { title, boxes, ways: ways(layout, box_of, |_, _, exit| exit.to_owned()) }
    }

    /// The nodes of one part, and the other parts that packets come from and go to.
    pub(super) fn part<S>(layout: &Layout<S>, part: &str, of: impl Fn(&str) -> String) -> Self {
        let parts: Vec<_> = layout.nodes.iter().map(|node| of(node.spec.name)).collect();
        let inside: Vec<_> = (0..parts.len())
            .filter(|&slot| parts[slot] == part && is_drawn(layout, slot))
            .collect();
        let is_in = |slot: usize| inside.binary_search(&slot).is_ok();
        // Where packets come from and go to, other parts by name.
        let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
        for (from, node) in layout.nodes.iter().enumerate() {
            for edge in node.edges.iter().filter(|edge| is_drawn(layout, edge.target)) {
                match (is_in(from), is_in(edge.target)) {
                    (false, true) => _ = before.insert(&parts[from], 0),
                    (true, false) => _ = after.insert(&parts[edge.target], 0),
                    _ => {}
                }
            }
        }
        before.values_mut().enumerate().for_each(|(index, at)| *at = index);
        let first_after = before.len() + inside.len();
        after.values_mut().enumerate().for_each(|(index, at)| *at = first_after + index);
        let other = |name: &&String| Drawn {
            name: (*name).clone(),
            about: "another family".to_owned(),
            class: "outside",
            note: None,
        };
        let boxes = before.keys().map(other);
        let boxes = boxes.chain(inside.iter().map(|&slot| node_box(layout, &layout.nodes[slot])));
        let boxes = boxes.chain(after.keys().map(other)).collect();
        let box_of = |slot: usize| inside.binary_search(&slot).ok().map(|at| before.len() + at);
        let mut all: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
        for (from, node) in layout.nodes.iter().enumerate() {
            for edge in node.edges.iter().filter(|edge| is_drawn(layout, edge.target)) {
                let to = edge.target;
                let (ends, exit) = match (box_of(from), box_of(to)) {
                    (Some(from), Some(to)) => ((from, to), edge.name.clone()),
                    (None, Some(into)) => (
                        (before[&parts[from]], into),
                        format!("{} of {}", edge.name, node.spec.name),
                    ),
                    (Some(out), None) => {
                        let name = layout.nodes[to].spec.name;
                        ((out, after[&parts[to]]), format!("{} to {name}", edge.name))
                    }
                    (None, None) => continue,
                };
                all.entry(ends).or_default().push(exit);
            }
        }
        let ways = all.into_iter().map(|((from, to), exits)| Way { from, to, exits }).collect();
        Self { title: format!("The nodes of the family {part}"), boxes, ways }
    }

    /// Groups of nodes, and the ways between them; nodes of no group are left out.
    pub(super) fn overview<S>(layout: &Layout<S>, title: &str, groups: &[Group<'_>]) -> Self {
        let group_of = |slot: usize| {
            let name = layout.nodes[slot].spec.name;
            groups.iter().position(|group| group.nodes.contains(&name))
        };
        let name = |slot: usize| layout.nodes[slot].spec.name;
        let label = |from, to, exit: &str| format!("{} to {} ({exit})", name(from), name(to));
        let mut ways = ways(layout, group_of, label);
        ways.retain(|way| way.from != way.to);
        let boxes = groups.iter().enumerate().map(|(index, group)| {
            let of_group = |role: Role| {
                layout
                    .nodes
                    .iter()
                    .any(|it| it.spec.role == role && group.nodes.contains(&it.spec.name))
            };
            let ends = ways.iter().all(|way| way.from != index);
            Drawn {
                name: group.name.to_owned(),
                about: group.nodes.join(", "),
                class: match () {
                    () if of_group(Role::Input) => "input",
                    () if ends => "output",
                    () => "inner",
                },
                note: Some(Note {
                    class: "count",
                    text: match group.nodes.len() {
                        1 => "1 node".to_owned(),
                        several => format!("{several} nodes"),
                    },
                    about: group.nodes.join("\n"),
                }),
            }
        });
        Self { title: title.to_owned(), boxes: boxes.collect(), ways }
    }
}

fn is_drawn<S>(layout: &Layout<S>, slot: usize) -> bool {
    layout.nodes[slot].spec.name != "drop"
}

/// The ways between boxes, from the edges between their nodes.
fn ways<S>(
    layout: &Layout<S>,
    box_of: impl Fn(usize) -> Option<usize>,
    label: impl Fn(usize, usize, &str) -> String,
) -> Vec<Way> {
    let mut ways: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (from, node) in layout.nodes.iter().enumerate() {
        for edge in &node.edges {
            let to = edge.target;
            if let (Some(out), Some(into)) = (box_of(from), box_of(to)) {
                ways.entry((out, into)).or_default().push(label(from, to, &edge.name));
            }
        }
    }
    ways.into_iter().map(|((from, to), exits)| Way { from, to, exits }).collect()
}

fn node_box<S>(layout: &Layout<S>, node: &LayoutNode<S>) -> Drawn {
    let is_drop = |target: usize| !is_drawn(layout, target);
    let dropped = node.edges.iter().filter(|edge| is_drop(edge.target));
    let drops: Vec<_> = dropped.map(|edge| format!("{}: {}", edge.name, edge.about)).collect();
    Drawn {
        name: node.spec.name.to_owned(),
        about: format!("{}: {}", node.spec.name, node.spec.about),
        class: match node.spec.role {
            Role::Input => "input",
            _ if node.edges.iter().all(|edge| is_drop(edge.target)) => "output",
            _ => "inner",
        },
        note: (!drops.is_empty()).then(|| Note {
            class: "drops",
            text: match drops.len() {
                1 => "1 drop reason".to_owned(),
                several => format!("{several} drop reasons"),
            },
            about: drops.join("\n"),
        }),
    }
}
