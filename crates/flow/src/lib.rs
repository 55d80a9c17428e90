//! The flow switch without devices: what flows match and do, and caches of what they came to.
//!
//! ```text
//!  frame ─▶ Key ─▶ Cache (exact ─▶ megaflows) ─────────────────────────▶ Verdict: steps, counters
//!                      └ a miss ─▶ Translation over a Snapshot ─▶ Verdict + mask ─┘
//!  flow_mods ─▶ Tables ─▶ Snapshot: shares all that did not change
//! ```
//! A [`Snapshot`] is a value: who publishes it to other threads shares its parts with what it
//! writes next, so that a change copies the way to what changed and nothing else. Nothing that
//! looks up takes a lock or changes what others see, counters aside. A [`Cache`] is one thread's
//! own. All memory is bounded by what the caller allows.
#![forbid(unsafe_code)]

mod cache;
mod classifier;
mod edit;
mod exact;
mod extract;
mod filter;
mod flow;
mod groups;
mod index;
mod key;
mod labels;
mod megaflows;
mod meter;
#[cfg(test)]
mod naive;
mod place;
mod plain;
mod rewrite;
mod snapshot;
mod steps;
mod track;
mod trail;
mod translate;
mod trie;
mod tunnel;
mod wide;
pub mod words;

pub use cache::{Cache, Found};
pub use classifier::Classifier;
pub use edit::{
    MOST_GROWTH, network_of, pop_mpls_from, push_mpls_into, push_vlan_into, write_field,
};
pub use extract::extract;
pub use flow::{Counters, Flow};
pub use groups::Group;
pub use key::{Key, Sparse, WORDS};
pub use megaflows::Remembered;
pub use meter::Meter;
pub use place::has_field;
pub use plain::Plain;
pub use rewrite::Rewrite;
pub use snapshot::{Fragments, PortEntry, Snapshot, Table};
pub use steps::{Does, Step, Told, Verdict};
pub use track::{Frozen, Origin, Track, Tracked, ct_state, helper};
pub use trail::{Event, Looked, What};
pub use translate::{
    Traced, explain, trace, trace_again, translate, translate_actions, translate_again,
};
pub use tunnel::{Asks, CameBy, InTunnel};
