//! Configuration, its diff and application, the API, the slow path.

pub mod config;
pub mod engine;
pub mod view;
