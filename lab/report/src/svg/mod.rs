//! A small SVG writer: just what scientific figures need, the same bytes for the same data.
//!
//! ```text
//! canvas   shapes and text as markup            scale   values to places, and its ticks
//! plot     axes, grid, labels, legend           palette colours and markers
//! ```

pub mod canvas;
pub mod palette;
pub mod plot;
pub mod scale;

pub use canvas::{Anchor, Canvas};
pub use plot::Plot;
pub use scale::Scale;
