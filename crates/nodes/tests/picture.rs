//! The picture in docs/ shows the nodes that there are.

#[test]
fn the_picture_is_fresh() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/graph.svg");
    let layout = graph::Layout::new(nodes::ALL).unwrap();
    let there = std::fs::read_to_string(file).unwrap_or_default();
    assert!(there == graph::draw_svg(&layout), "docs/graph.svg is stale: run `make graph`");
}
