//! Searches: which load to try next, and when enough is known. Pure, on any stand that carries out
//! trials.
//!
//! ```text
//! scenario: search = "…"  ─▶ ALL ─▶ Kind { name, parameters, pursue } ─▶ Findings: rates, quantities
//!                                                      │ ▲
//!                                              a trial ▼ │ its outcome
//!                                                     Stand      real devices, or simulated ones
//! ```
//! A search is one file here, its `pub mod` and its line of the list: its name in scenarios, its
//! own parameters, how it is carried out and what the report says beside its numbers all stand in
//! that file. Those of RFC 2544, section 26, are throughput 26.1, latency 26.2, frame loss rate
//! 26.3, back-to-back frames 26.4, system recovery 26.5 and reset 26.6.

pub mod back_to_back;
pub mod frame_loss;
pub mod functional;
pub mod goal;
pub mod kind;
pub mod largest_table;
pub mod latency;
pub mod loss_scan;
pub mod max_rate;
pub mod mlr;
pub mod reconfigure;
pub mod recovery;
pub mod ref_ndr;
pub mod reset;
pub mod soak;
pub mod stand;
pub mod strategy;
pub mod stream;
pub mod terms;
pub mod throughput;

pub use kind::{Findings, Found, Kind, Manner, Quantity};
pub use lab_record::{Changed, Latency, Outcome, Overload, Trial};
pub use stand::{Resumed, Stand, Table};
pub use strategy::{Budget, Search, Step, run};
pub use terms::{Parameter, Terms};

/// Every search, in the order in which messages and reports tell of them.
pub static ALL: &[&Kind] = &[
    &mlr::KIND,
    &max_rate::KIND,
    &ref_ndr::KIND,
    &throughput::KIND,
    &latency::KIND,
    &frame_loss::KIND,
    &back_to_back::KIND,
    &recovery::KIND,
    &reset::KIND,
    &loss_scan::KIND,
    &soak::KIND,
    &reconfigure::KIND,
    &largest_table::KIND,
    &stream::KIND,
    &functional::KIND,
];

/// The search of a name.
pub fn named(name: &str) -> Option<&'static Kind> {
    ALL.iter().copied().find(|kind| kind.name == name)
}

/// The names of all.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|kind| kind.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_searches_or_parameters_share_a_name() {
        let parameters = ALL.iter().flat_map(|kind| kind.parameters).map(|it| it.name);
        let all: Vec<&str> = names().chain(parameters).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
        assert_eq!(named("loss-scan").map(|kind| kind.name), Some("loss-scan"));
        assert!(named("loss_scan").is_none());
    }
}
