//! What is sent and when: gaps between packets, sizes, header fields. All seeded, all pure.
//!
//! ```text
//! gaps     CBR |  |  |  |     Poisson | ||   |     on/off ||||    ||||     burst ||||||      trace
//! sizes    one, a list, or an IMIX genome (RFC 6985)
//! fields   fixed, counting up, seeded random, a permutation of N without a table
//! ```

pub mod field;
pub mod gaps;
pub mod imix;

pub use field::Field;
pub use gaps::{Gaps, Process};
pub use imix::Imix;
