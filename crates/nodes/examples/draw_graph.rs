//! Prints the picture of the router's graph, as SVG; `make graph` puts it into docs/.

fn main() -> Result<(), graph::LayoutError> {
    print!("{}", graph::draw_svg(&graph::Layout::new(nodes::ALL)?));
    Ok(())
}
