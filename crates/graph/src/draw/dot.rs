//! For Graphviz: `volley graph --format dot | dot -Tsvg`.

use crate::layout::Layout;
use crate::node::Role;
use std::fmt::Write;

/// The graph in Graphviz' language; exits to the drop node are left out, as in the picture.
pub fn draw_dot<S>(layout: &Layout<S>) -> String {
    let mut dot = String::from("digraph volley {\n  rankdir=LR;\n  node [shape=box];\n");
    for node in &layout.nodes {
        let shape = if node.spec.role == Role::Input { " style=bold" } else { "" };
        // Writing into a String cannot fail.
        let _ = writeln!(dot, "  {:?} [tooltip={:?}{shape}];", node.spec.name, node.spec.about);
        for edge in &node.edges {
            let to = layout.nodes[edge.target].spec.name;
            if to != "drop" {
                let _ = writeln!(dot, "  {:?} -> {to:?} [label={:?}];", node.spec.name, edge.name);
            }
        }
    }
    dot.push_str("}\n");
    dot
}

#[cfg(test)]
mod tests {
    use crate::draw::testing::small_graph;

    #[test]
    fn every_exit_is_an_edge_but_those_that_drop() {
        let dot = super::draw_dot(&small_graph());
        assert!(dot.starts_with("digraph volley {\n") && dot.ends_with("}\n"));
        assert!(dot.contains("  \"work\" -> \"output\" [label=\"better\"];\n"));
        assert!(dot.contains("[tooltip=\"brings packets in\" style=bold];"));
        assert!(dot.contains("weighs <packets> & \\\"judges\\\" them"));
        assert!(!dot.contains("-> \"drop\""));
    }
}
