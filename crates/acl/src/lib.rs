//! Access lists: the first of many rules that a packet matches.
//!
//! ```text
//!  [Rule], earliest first ─▶ Acl ──┐
//!  Fields of a packet ─▶ Key ──────┴▶ classify ─▶ Verdict: the rule's number, and what it says
//! ```
//! Rules ask for prefixes, ports, protocol, ICMP messages, TCP flags, VLAN and source MAC, and some
//! for [`More`]: class of service, TTL, fragments, inner VLAN, destination MAC. A list costs nearly
//! the same however many rules it has, because trees of cuts, chosen by the rules themselves, leave
//! few to compare.

mod cell;
mod counters;
mod cut;
mod error;
mod key;
mod list;
mod more;
mod record;
mod rule;
pub mod synthetic;
#[cfg(test)]
mod tests;
mod tree;
mod verdict;

pub use counters::RuleCounters;
pub use error::AclError;
pub use key::{CELLS4, CELLS6, Family, Fields, Key, Transport, WIDE4, WIDE6};
pub use list::{Acl, Acl4, Acl6, Shape, Wide4, Wide6};
pub use more::{More, MoreFields, Piece, Pieces};
pub use rule::{Action, Icmp, Ports, Rule, TcpFlags};
pub use verdict::Verdict;
