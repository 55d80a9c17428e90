//! TCP throughput and request/response round trips between endpoints: no load is searched for, TCP
//! finds its own.

use super::kind::{Kind, Manner};

/// As scenarios name it. Trials at loads cannot carry it out.
pub const KIND: Kind =
    Kind { manner: Manner::Streams, ..Kind::new("stream", |_, _| Err(KIND.refuse())) };
