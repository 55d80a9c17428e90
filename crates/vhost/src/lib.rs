//! A guard in front of DPDK's vhost-user: what the other side says is read and checked, then handed
//! on, or the connection ends.
//!
//! ```text
//!  machine ══ /run/vm.sock ══ guard ══ /run/vm.sock.dpdk ══ DPDK's library
//!     ║                                                        ║
//!     ╚══════════════ memory, and rings in it ═════════════════╝   packets: not by the guard
//! ```
//! message: what is said; rules: what may be said, and when; behind: what stands behind a
//! descriptor; channel: how it goes over; guard: a thread between the two sockets; door: who
//! connects to whom; inside: where the library is; call: wakes a peer; kicks: who is woken by one;
//! zeroes: what becomes of memory that a peer takes away.
//!
//! What the library (22.11 to 25.07, by its source) does with what it is told, and what the guard
//! makes of it:
//!
//! | it is told | it would | the guard |
//! |---|---|---|
//! | half a message | wait for the rest, and all vhost ports with it | hands on whole ones |
//! | of a ring: another size while it runs, or none | read and write behind the ring | ends it |
//! | of a ring: addresses and no size after it was stopped | write to address 0 | ends it |
//! | other features while rings are set up | take a ring for one of another kind | ends it |
//! | memory that is no memory, or shorter than told | read what is not there: SIGBUS | ends it |
//! | an eventfd that is full, or none but a pipe | wait, in the midst of a burst | gives it one of ours |
//! | of packets in flight (`GET_INFLIGHT_FD`): any number of rings | write so many gigabytes | ends it |
//! | to wait for a machine that moves here (`POSTCOPY_LISTEN`) | wait, with all rings locked | ends it |
//! | of pages written (`SET_LOG_BASE`) at an offset | write behind what it mapped | ends it |
//!
//! It also knows what features a peer chose, which the library tells nobody of in time.
// Sockets that carry descriptors, and a handler of a signal: `channel`, `behind` and `zeroes` are
// the wall.
#![allow(unsafe_code)]

pub mod behind;
mod call;
mod channel;
mod door;
mod guard;
mod inside;
mod kicks;
pub mod message;
mod refusal;
pub mod rules;
mod zeroes;

pub use guard::Guard;
pub use inside::Inside;
pub use kicks::Kicks;
pub use refusal::Refusal;
