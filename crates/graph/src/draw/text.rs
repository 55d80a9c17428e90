//! A node a paragraph, an exit a line.

use crate::layout::Layout;
use std::fmt::Write;

/// The graph for a terminal: each node with its exits and where they lead.
pub fn draw_text<S>(layout: &Layout<S>) -> String {
    let mut text = String::new();
    let widest = layout.nodes.iter().flat_map(|node| &node.edges).map(|edge| edge.name.len()).max();
    let width = widest.unwrap_or_default();
    for node in &layout.nodes {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{}  {}", node.spec.name, node.spec.about);
        for edge in &node.edges {
            let to = layout.nodes[edge.target].spec.name;
            let _ = writeln!(text, "  {:width$} ▶ {to}", edge.name);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::draw::testing::small_graph;

    #[test]
    fn a_node_is_followed_by_its_exits() {
        let text = super::draw_text(&small_graph());
        let wanted = "source  brings packets in\n  work      ▶ work\n  bypass    ▶ output\n";
        assert!(text.starts_with(wanted), "{text}");
        assert!(text.contains("  too-short ▶ drop\n"));
    }
}
