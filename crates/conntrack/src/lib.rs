//! Connections: who speaks with whom, in which state, and as whom the other side knows them.
//!
//! ```text
//!  packet ─▶ Read (tuple, flags) ─▶ Table::find ─┬─ found ─▶ Table::advance ─▶ state, translation
//!                                                └─ new ──▶ Nat::begin, Table::create
//! ```
//! One table is shared by all workers: what comes back may come to another worker than what went
//! out. A packet of a known connection reads one or two cache lines of the index and one or two of
//! its entry, and writes nothing but, once in a while, one word; it locks nothing. Only who makes a
//! connection takes two of many small locks, by trying, never by waiting long. All memory is taken
//! when the table is made.

pub mod cross;
mod entry;
pub mod ftp;
mod hash;
mod help;
mod index;
mod nat;
mod packet;
mod rewrite;
mod status;
mod stripes;
mod table;
mod tcp;
mod timeouts;
mod tuple;
mod usual;

#[cfg(test)]
mod naive;
#[cfg(test)]
mod tests;

pub use help::{Begins, Expected, Helper};
pub use nat::{Begun, Nat, Pool, Refused};
pub use packet::{Inner, Read, Seen, read4, read6, read6_in_pieces};
pub use rewrite::{translate_error4, translate_error6, translate4};
pub use status::{Direction, End, Kind, Status};
pub use table::{Counters, Found, Parent, Shown, Table, Verdict};
pub use tcp::TcpState;
pub use timeouts::Timeouts;
pub use tuple::{Family, Tuple};
pub use usual::{Asked, translate_usual4, usual4};
