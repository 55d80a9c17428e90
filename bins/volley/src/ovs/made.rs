//! What was made of the router here, so that nothing is taken away that is somebody else's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Objects by their names, with the words that they were made by.
pub(super) type Objects = BTreeMap<String, String>;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Made {
    pub(super) bridges: Objects,
    pub(super) ports: Objects,
    /// Policers of ports, of what they receive: `PORT.in`.
    pub(super) police_in: Objects,
    /// The same of what they send: `PORT.out`.
    pub(super) police_out: Objects,
    /// Schedulers of ports.
    pub(super) schedulers: Objects,
    /// Exporters.
    pub(super) exports: Objects,
    /// Exporters that bridges name.
    pub(super) exported: Objects,
    /// Exporters that flows of bridges may sample to.
    pub(super) sampled: Objects,
    /// Mirrors.
    pub(super) mirrors: Objects,
    /// Ports in bridges, as `BRIDGE PORT`.
    pub(super) members: Objects,
}
