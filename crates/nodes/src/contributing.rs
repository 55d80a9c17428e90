//! CONTRIBUTING.md shows how a node is added: its example is compiled, tested and wired here.

#[path = "../../../docs/example/udp4_discard.rs"]
pub mod udp4_discard;

#[test]
fn the_example_in_contributing_is_the_file_that_is_compiled() {
    let page = include_str!("../../../CONTRIBUTING.md");
    let file = include_str!("../../../docs/example/udp4_discard.rs");
    assert!(page.contains(&format!("```rust\n{file}```\n")));
}

#[test]
fn one_line_more_and_the_node_is_in_the_graph() {
    let specs = [crate::ALL, &[graph::spec::<udp4_discard::Udp4Discard>()]].concat();
    let layout = graph::Layout::new(&specs).unwrap();
    let udp = &layout.nodes[layout.slot("udp4-local").unwrap()];
    assert!(udp.edges.iter().any(|edge| edge.name == "udp4-discard"));
}
