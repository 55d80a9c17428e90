//! Configuration, its diff and application, the API, the slow path.
//!
//! ```text
//!  volley (CLI), curl, Prometheus
//!     │ HTTP/JSON over a Unix socket, or TCP with TLS and token
//!     ▼
//!  api ──▶ control_loop ──▶ transaction ──▶ engine (trait) ──▶ the running router
//!             │                 │
//!           view             config: parse, check, diff, edit, render
//! ```

#[cfg(feature = "server")]
pub mod api;
pub mod bulk;
#[cfg(feature = "server")]
pub mod changing;
pub mod config;
#[cfg(test)]
mod contributing;
#[cfg(feature = "server")]
pub mod control_loop;
pub mod engine;
// Nothing of the product: tests' own, here and of those that stand in front of a router.
#[cfg(any(test, feature = "fake"))]
#[path = "../tests/fake/mod.rs"]
pub mod fake;
#[cfg(feature = "server")]
pub mod lab;
#[cfg(feature = "server")]
mod opening;
#[cfg(feature = "server")]
pub mod pace;
pub mod save;
#[cfg(feature = "server")]
mod topology;
pub mod transaction;
pub mod view;
