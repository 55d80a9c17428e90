//! CONTRIBUTING.md shows how a node and a feature of ports are added: its examples are compiled,
//! tested and wired here.

#[path = "../../../docs/example/min_ttl_input.rs"]
pub mod min_ttl_input;
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

#[test]
fn one_line_more_and_the_feature_takes_its_turn() {
    let feature = graph::spec::<crate::interface::InTurn<min_ttl_input::MinTtlInput>>();
    let layout = graph::Layout::new(&[crate::ALL, &[feature]].concat()).unwrap();
    let leads = |from: &str, to: &str| {
        let node = &layout.nodes[layout.slot(from).unwrap()];
        node.edges.iter().any(|edge| Some(edge.target) == layout.slot(to))
    };
    assert!(leads("interface-input", "min-ttl-input") && leads("acl-input", "min-ttl-input"));
    assert!(leads("min-ttl-input", "policer-input") && leads("min-ttl-input", "interface-enter"));
    assert!(!leads("min-ttl-input", "acl-input") && !leads("policer-input", "min-ttl-input"));
}
