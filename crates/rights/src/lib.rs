//! Who may do what, as the kernel has it.
//!
//! ```text
//!  Folders       files that others name: below these folders, no links, no devices, nothing of others
//!  peer_groups   in which groups the process at the other end of a Unix socket is
//!  write_whole   a file in one step, through no link
//!  capabilities  what this process may do, and gives up
//!  filter        which calls the kernel takes from it
//! ```

pub mod capabilities;
pub mod filter;
mod folders;
mod peer;
mod whole;

pub use capabilities::Capability;
pub use folders::{Folders, path_of};
pub use peer::{own_user, peer_groups};
pub use whole::{read_plain, write_whole};
