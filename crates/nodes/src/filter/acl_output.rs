//! Holds what interfaces send to their access lists: as it will be sent, our own packets and the
//! kernel's too.
//!
//! ```text
//!  interface_output, (a feature) ─▶ acl_output ┬▶ (the next feature), interface_leave
//!                                              └▶ drop     denied
//! ```
//! Lists speak of IP packets alone: ARP and what else there is passes.

use crate::filter::Judge;
use crate::tables::{Feature, Sent};

/// See the module.
pub enum AclOutput {}

impl Feature for AclOutput {
    const NAME: &'static str = "acl-output";
    const ABOUT: &'static str = "holds what is sent to access lists";
    const PLACE: u8 = 20;
    type Side = Sent;
    type Work = Judge;
}
