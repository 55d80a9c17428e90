//! The figures of a report, each a function from data to SVG.

pub mod bars;
pub mod curves;
pub mod forest;
pub mod histogram;
pub mod loss;
pub mod percentiles;
pub mod throughput;
pub mod timeline;
