//! Echo requests that the router itself sends: by which identifiers workers know what is said of
//! them, and what that is.
//!
//! ```text
//!  control thread ── EchoIds ──▶ workers        who asks, at this moment
//!                 ◀─ EchoHeard ─ workers        answers and errors, each a punt
//! ```
//! One cache line, read where an answer or an error comes that is for us; one load where nobody
//! asks. Written by the control thread alone.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};

/// What somebody said of an echo request of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EchoHeard {
    /// The interface that heard it; where a request did not leave, the one that it was sent as of.
    pub interface: u16,
    /// The request's source, one of our addresses.
    pub source: IpAddr,
    /// Whom it was for.
    pub target: IpAddr,
    /// Its identifier.
    pub identifier: u16,
    /// Its number.
    pub sequence: u16,
    /// Who says it; our own address, if the request did not leave.
    pub from: IpAddr,
    /// TTL or hop limit of what was heard.
    pub ttl: u8,
    /// What is said.
    pub said: EchoSaid,
    /// When a worker had it before it, on the time-stamp counter.
    pub heard_tsc: u64,
}

/// See [`EchoHeard`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EchoSaid {
    /// An answer.
    Reply {
        /// Octets of its ICMP message.
        bytes: u16,
    },
    /// An error, of the request's family.
    Error {
        /// Type and code, as [`icmp_cause`](crate::local::icmp_cause) writes them.
        cause: u16,
        /// Octets 4 to 7 of the message.
        rest: u32,
    },
}

/// Who may ask at once.
pub const MOST_ECHOES: usize = 15;

/// A slot that holds an identifier has this bit.
const TAKEN: u32 = 1 << 16;

/// The identifiers of those who ask now.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct EchoIds {
    count: AtomicU32,
    slots: [AtomicU32; MOST_ECHOES],
}

impl EchoIds {
    /// Takes an identifier; false if it is taken, or if there is no room for one more.
    pub fn take(&self, identifier: u16) -> bool {
        let free = self.slots.iter().find(|slot| slot.load(Ordering::Relaxed) == 0);
        let Some(free) = free.filter(|_| !self.has(identifier)) else { return false };
        free.store(u32::from(identifier) | TAKEN, Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Gives one back.
    pub fn give_back(&self, identifier: u16) {
        let held = u32::from(identifier) | TAKEN;
        if let Some(slot) = self.slots.iter().find(|slot| slot.load(Ordering::Relaxed) == held) {
            slot.store(0, Ordering::Relaxed);
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether anybody asks.
    #[inline]
    pub fn are_any(&self) -> bool {
        self.count.load(Ordering::Relaxed) != 0
    }

    /// Whether an identifier is one of ours.
    pub fn has(&self, identifier: u16) -> bool {
        let held = u32::from(identifier) | TAKEN;
        self.slots.iter().any(|slot| slot.load(Ordering::Relaxed) == held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_taken_once_and_so_many_at_most() {
        let ids = EchoIds::default();
        assert!(!ids.are_any() && !ids.has(0));
        assert!(ids.take(0) && !ids.take(0) && ids.has(0) && ids.are_any());
        assert!((1..MOST_ECHOES as u16).all(|id| ids.take(id)));
        assert!(!ids.take(999));
        ids.give_back(0);
        ids.give_back(0);
        assert!(!ids.has(0) && ids.take(999) && ids.has(999));
        (1..1000).for_each(|id| ids.give_back(id));
        assert!(!ids.are_any());
        assert_eq!(size_of::<EchoIds>(), 64);
    }
}
