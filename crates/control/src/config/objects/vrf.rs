//! `[vrf.NAME]`: a routing table of its own for the ports that are in it (virtual routing and
//! forwarding). Networks of two VRFs may be the same.

use std::fmt;

use super::port_name::PortName;
use super::vrf_twin::VrfTwin;
use super::{Config, Object};
use crate::config::declare::object;
use crate::config::field::{Field, Refusal};
use crate::config::form::Form;
use crate::config::host::Host;
use crate::config::key::name_key;
use crate::config::listed::{self, Listed};
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;

/// Most VRFs beside the default one.
const MAX_VRFS: usize = 1024;
/// What the VRF is called that is always there.
pub const DEFAULT_NAME: &str = "default";

/// A VRF's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VrfName(PortName);

impl VrfName {
    /// The name.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for VrfName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Field for VrfName {
    const EXPECTED: &'static str =
        "a VRF name: a letter, then up to 14 letters, digits, `-`, `_` or `.`";
    const FORM: Form = PortName::FORM;
    const NAMES: &'static str = "vrf";

    fn from_text(text: &str) -> Result<Self, Refusal> {
        if text == DEFAULT_NAME {
            let message = Some("`default` is the VRF of what names none".to_owned());
            return Err(Refusal { message, suggestion: Some("leave `vrf` out".to_owned()) });
        }
        PortName::from_text(text).map(Self).map_err(|_| Refusal {
            message: Some(format!("`{text}` is not a VRF name")),
            suggestion: None,
        })
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }
}

/// What a VRF is called that may be the default one.
pub fn name_of(vrf: Option<&VrfName>) -> &str {
    vrf.map_or(DEFAULT_NAME, VrfName::as_str)
}

name_key!(VrfName = "a VRF name");

object! {
    /// A routing table of its own for the ports that are in it
    pub struct Vrf {
        /// The kernel's VRF that stands for it, for routing daemons
        pub twin: Option<Box<VrfTwin>> as "1001" = None,
    }
}

impl Row for Vrf {
    const KIND: &'static str = "vrf";
    const CALLED: &'static str = "VRF";
}

/// All VRFs but the default one, by name.
pub type Vrfs = Table<VrfName, Vrf>;

impl Listed for Vrf {
    type Key = VrfName;
}

impl Object for Vrfs {
    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        if self.len() > MAX_VRFS {
            let problem = Problem::new("vrf", format!("{} VRFs", self.len()));
            report.push(problem.expected(format!("at most {MAX_VRFS}")));
        }
        for (name, vrf) in self.iter() {
            if let Some(twin) = &vrf.twin {
                twin.check(name, self, config, report);
            }
        }
        for (port, row) in config.ports.iter() {
            let underlay = row.kind.underlay_vrf();
            for (key, vrf) in [("vrf", row.vrf.as_ref()), ("underlay_vrf", underlay)] {
                check_exists(&format!("port.{port}.{key}"), vrf, self, report);
            }
        }
    }
}

/// Complains about a VRF that is not there.
pub(crate) fn check_exists(field: &str, name: Option<&VrfName>, vrfs: &Vrfs, report: &mut Report) {
    if let Some(name) = name {
        listed::check_exists(field, name, vrfs, report);
    }
}
