//! Drawings of the graph.

use std::sync::OnceLock;

/// Made once each: the graph stays as it is, and an SVG takes a processor for seconds.
#[derive(Default)]
pub(crate) struct Drawn {
    pub(crate) text: OnceLock<String>,
    pub(crate) dot: OnceLock<String>,
    pub(crate) svg: OnceLock<String>,
}
