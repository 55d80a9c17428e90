//! The graph as text, for Graphviz, and as a picture.

mod dot;
mod picture;
mod place;
mod plan;
mod svg;
mod text;

pub use dot::draw_dot;
pub use picture::Group;
pub use svg::{draw_overview, draw_part, draw_svg};
pub use text::draw_text;

#[cfg(test)]
mod testing;
