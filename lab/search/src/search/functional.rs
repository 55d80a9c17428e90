//! Does a device do what its function says, at a rate that anything carries? Nothing is searched
//! for.

use super::kind::{Kind, Manner};

/// As scenarios name it. Trials at loads cannot carry it out.
pub const KIND: Kind =
    Kind { manner: Manner::Checks, ..Kind::new("functional", |_, _| Err(KIND.refuse())) };
