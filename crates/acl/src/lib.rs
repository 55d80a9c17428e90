//! Access lists: the first of many rules that a packet matches.
//!
//! ```text
//!  [Rule], earliest first ─▶ Acl ──┐
//!  Fields of a packet ─▶ Key ──────┴▶ classify ─▶ Verdict: the rule's number, and what it says
//! ```
//! Rules ask for prefixes, ports, protocol, ICMP messages, TCP flags, VLAN and source MAC, and some
//! for [`More`]: class of service, TTL, fragments, inner VLAN, destination MAC. A list costs nearly
//! the same however many rules it has, because trees of cuts, chosen by the rules themselves, leave
//! few to compare. A list of which a few rules change is not made anew: its next version shares the
//! rest.

mod amend;
mod arena;
mod cell;
mod counters;
mod cut;
mod error;
mod ground;
mod key;
mod lean;
mod list;
mod more;
mod places;
mod record;
mod rule;
pub mod synthetic;
#[cfg(test)]
mod tests;
mod tree;
mod verdict;
mod walk;

pub use amend::Edit;
pub use counters::RuleCounters;
pub use error::AclError;
pub use key::{CELLS4, CELLS6, Family, Fields, Key, Transport, WIDE4, WIDE6};
pub use list::{Acl, Acl4, Acl6, Shape, Wide4, Wide6};
pub use more::{More, MoreFields, Piece, Pieces};
pub use places::Places;
pub use rule::{Action, Icmp, Ports, Rule, TcpFlags};
pub use verdict::Verdict;
