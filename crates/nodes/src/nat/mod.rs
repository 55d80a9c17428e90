//! Address translation of IPv4, where packets come from outside and leave for it.
//!
//! ```text
//!  interface_input ─▶ … ─▶ nat44_input ─▶ …       to outer addresses: back to whom they stand for
//!  interface_output ─▶ … ─▶ nat44_output ─▶ …     from inside: as if an outer address had sent it
//! ```
//! Both look at the same table of connections ([`conntrack`]); ports that are neither inside nor
//! outside have no part in it.

mod nat44;
mod packet;
#[cfg(test)]
mod tests;

pub use nat44::{Forward, Nat44, Translated, Untranslated};
pub use packet::ip4_at;

nodes! {
    nat44_input::Nat44Input as feature,
    nat44_output::Nat44Output as feature,
}
