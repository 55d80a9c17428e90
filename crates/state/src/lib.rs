//! What a router leaves to the one that is started after it.
//!
//! ```text
//!  control thread ── bytes ──▶ keeper (a thread) ── append, or anew and renamed ──▶ folder
//!                                                                                    │
//!  the next process:  checked: whose, which version, which boot, how old, whole? ◀───┘
//! ```
//! Files of a folder are memory of both processes: what was written is there after kill -9. After
//! another start of the machine it is void. A file that is not to be believed is refused alone, and
//! told; the others are taken.
//!
//! Thread rules: whoever keeps state hands bytes over and waits for nobody.

pub mod bytes;
pub mod counters;
mod error;
mod file;
mod folder;
mod keeper;
pub mod mappings;
pub mod neighbors;
pub mod policers;
pub mod remotes;
pub mod routes;
pub mod stations;

pub use error::{Refused, Wrong};
pub use file::{Blocks, Boot, Table, VERSION, block, header, snapshot};
pub use folder::Folder;
pub use keeper::{Keeper, Log};
