//! LISP: packets of sites between their locators (RFC 9300, 5.1), and how the locators of a site
//! are found (RFC 9301).
//!
//! ```text
//!  │ IP of locators │ UDP, to 4341 │ LISP │ IP of endpoints …
//!
//! ┌─┬─┬─┬─┬─┬─┬───┬───────────────────────────────────────────────┐
//! │N│L│E│V│I│R│K K│            nonce, or map versions              │  0
//! ├─┴─┴─┴─┴─┴─┴───┴───────────────────────────────┬───────────────┤
//! │        instance (with I)                      │ status bits   │  4
//! └───────────────────────────────────────────────┴───────────────┘  8: the packet inside
//!
//!  │ IP │ UDP, to 4342 │ a message of the control plane
//! ```

mod address;
mod cursor;
mod eid;
mod encapsulated;
mod message;
mod record;
mod registration;
mod request;

pub use address::Address;
pub use eid::{Eid, MAX_INSTANCE};
pub use encapsulated::{Encapsulated, encapsulate};
pub use message::{Message, kind};
pub use record::{Action, Locator, MapRecord, Record, Records, ttl};
pub use registration::{Algorithm, Registration, RegistrationHead};
pub use request::{Reply, Request, RequestHead, reply};

view! {
    /// The header of a packet between locators.
    Header, HeaderMut: 8 octets {
        /// [`flag`]s.
        flags, set_flags: u8 = 0;
        /// Flags, and a nonce of 24 bits or map versions.
        first_word, set_first_word: u32 = 0;
        /// The instance in its upper 24 bits with [`flag::INSTANCE`], locator status bits below.
        second_word, set_second_word: u32 = 4;
    }
}

/// Flags of the data header.
pub mod flag {
    /// N: there is a nonce.
    pub const NONCE: u8 = 0x80;
    /// L: locator status bits count.
    pub const STATUS: u8 = 0x40;
    /// E: the nonce is to be echoed.
    pub const ECHO: u8 = 0x20;
    /// V: map versions stand in the place of the nonce.
    pub const VERSION: u8 = 0x10;
    /// I: there is an instance.
    pub const INSTANCE: u8 = 0x08;
    /// KK: what follows is encrypted with a key of this number (RFC 8061).
    pub const KEYS: u8 = 0x03;
}

impl Header<'_> {
    /// The instance; 0 where none is said.
    #[inline]
    pub fn instance(self) -> u32 {
        if self.flags() & flag::INSTANCE != 0 { self.second_word() >> 8 } else { 0 }
    }

    /// Whether a nonce and map versions are not said at once (RFC 9300, 5.3).
    #[inline]
    pub fn is_sound(self) -> bool {
        const BOTH: u8 = flag::NONCE | flag::VERSION;
        self.flags() & BOTH != BOTH
    }

    /// Whether what follows is encrypted.
    #[inline]
    pub fn is_encrypted(self) -> bool {
        self.flags() & flag::KEYS != 0
    }
}

/// The whole header with a nonce of 24 bits, for an instance; of instance 0 nothing is said.
pub const fn header(nonce: u32, instance: u32) -> [u8; 8] {
    let [_, a, b, c] = nonce.to_be_bytes();
    let [_, i, j, k] = instance.to_be_bytes();
    let flags = if instance == 0 { flag::NONCE } else { flag::NONCE | flag::INSTANCE };
    [flags, a, b, c, i, j, k, 0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_the_octets_of_the_rfc() {
        assert_eq!(header(0x0012_3456, 0), [0x80, 0x12, 0x34, 0x56, 0, 0, 0, 0]);
        let bytes = header(0xff00_0001, 0x00ab_cdef);
        assert_eq!(bytes, [0x88, 0, 0, 1, 0xab, 0xcd, 0xef, 0]);
        assert_eq!(Header::of(&bytes).instance(), 0x00ab_cdef);
    }

    #[test]
    fn without_its_flag_an_instance_is_no_instance() {
        let bytes = [0x40, 0, 0, 0, 1, 2, 3, 4];
        assert_eq!(Header::of(&bytes).instance(), 0);
    }

    #[test]
    fn flags_that_contradict_each_other_are_found() {
        let sound = |flags| Header::of(&[flags, 0, 0, 0, 0, 0, 0, 0]).is_sound();
        assert_eq!([0x00, 0x80, 0x10, 0x90, 0xf8].map(sound), [true, true, true, false, false]);
        let encrypted = |flags| Header::of(&[flags, 0, 0, 0, 0, 0, 0, 0]).is_encrypted();
        assert_eq!([0x88, 0x89, 0x82, 0x84].map(encrypted), [false, true, true, false]);
    }
}
