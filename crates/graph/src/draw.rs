//! The graph as text, for Graphviz, and as a picture.

mod dot;
mod place;
mod plan;
mod svg;
mod text;

pub use dot::draw_dot;
pub use svg::draw_svg;
pub use text::draw_text;

#[cfg(test)]
mod testing;
