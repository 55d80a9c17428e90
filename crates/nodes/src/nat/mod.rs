//! Address translation, where packets come from outside and leave for it: of IPv4, and of IPv6 to
//! IPv4.
//!
//! ```text
//!  interface_input ─▶ … ─▶ nat44_input ─▶ …       to outer addresses: back to whom they stand for
//!  interface_output ─▶ … ─▶ nat44_output ─▶ …     from inside: as if an outer address had sent it
//!  interface_input ─▶ … ─▶ nat64_input ─▶ …       IPv6 to hosts of IPv4, and what comes back
//!                                └▶ nat64_cut     what is too long on the way back
//!  icmp4_error, icmp6_error ─▶ nat64_error ─▶ …   what we tell of a packet that was translated
//! ```
//! Both look at the same table of connections ([`conntrack`]); ports that are neither inside nor
//! outside have no part in it.

mod nat44;
mod nat64;
mod packet;
#[cfg(test)]
mod tests;
mod together;

pub use nat44::{Forward, Nat44, Translated, Untranslated};
pub use nat64::Uncrossed;
pub use packet::{ip4_at, ip6_at};

nodes! {
    nat44_input::Nat44Input as feature,
    nat44_output::Nat44Output as feature,
    nat64_input::Nat64Input as feature,
    nat64_cut::Nat64Cut,
    nat64_error::Nat64Error,
}
