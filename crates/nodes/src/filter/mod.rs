//! Features that let frames of an interface pass, or do not: access lists, allowed sources, reverse
//! path, policers.
//!
//! ```text
//!  interface_input  ─▶ allow_input ─▶ acl_input ─▶ urpf_input ─▶ policer_input ─▶ …
//!  interface_output ─▶ acl_output ─▶ policer_output ─▶ …
//! ```
//! Lists of an interface whose rules have answers come back keep its connections ([`Reflecting`]).

mod access;
mod judge;
mod marking;
mod more;
mod policing;
mod ranges;
mod reflecting;
mod source;
mod source_lookup;
mod verdict_on;

pub use access::{Access, AccessList, Question, WideList};
pub use judge::{Judge, PacketJudge, Refusal};
pub use marking::{Mark, colour_of};
#[cfg(test)]
pub(crate) use policing::testing as testing_police;
pub use policing::{Exceeds, NamedPolicer, Policed, Policing, Treatment};
pub use ranges::Ranges;
pub use reflecting::{Belongs, Moment, Reflecting, Sight};
pub use source::Source;
pub use source_lookup::SourceLookup;
pub use verdict_on::verdict_on;

nodes! {
    allow_input::AllowInput as feature,
    acl_input::AclInput as feature,
    urpf_input::UrpfInput as feature,
    policer_input::PolicerInput as feature,
    acl_output::AclOutput as feature,
    policer_output::PolicerOutput as feature,
}
