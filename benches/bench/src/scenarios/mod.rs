//! What is measured, a family of scenarios a file.

mod acl;
mod flows;
mod ip4;
mod ip6;
mod l2;
mod links;
mod mixed;
mod police;
pub(crate) mod setting;
mod urpf;

use crate::scenario::Scenario;
use std::path::Path;

/// Every scenario; those of real tables where `data` is the folder that has them.
pub(crate) fn all(data: Option<&Path>) -> Vec<Scenario> {
    [
        l2::xconnects(),
        ip4::all(data),
        l2::all(),
        links::all(),
        mixed::all(),
        ip6::all(data),
        acl::all(),
        urpf::all(),
        police::all(),
        flows::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
