//! `[vrf.NAME]`: a routing table of its own for the ports that are in it (virtual routing and
//! forwarding). Networks of two VRFs may be the same.

use std::fmt;

use super::port::PortName;
use super::{Config, Object};
use crate::config::edit::{Command, Words};
use crate::config::field::{Field, Refusal};
use crate::config::host::Host;
use crate::config::nearest;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::table::{Delta, Row, Table};
use crate::config::write::{Fields, Writer, quoted};

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

    fn from_text(text: &str) -> Result<Self, Refusal> {
        if text == DEFAULT_NAME {
            let message = Some("`default` is the VRF of what names none".to_owned());
            return Err(Refusal { message, suggestion: Some("leave `vrf` out".to_owned()) });
        }
        PortName::from_text(text).map(Self).map_err(|_| Refusal {
            message: Some(format!("`{text}` is no VRF name")),
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

/// A VRF: all there is to it is its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vrf;

impl Row for Vrf {
    const KIND: &'static str = "vrf";

    fn fields(&self) -> Fields {
        Fields::new()
    }
}

/// All VRFs but the default one, by name.
pub type Vrfs = Table<VrfName, Vrf>;

impl Object for Vrfs {
    type Change = Delta<VrfName, Vrf>;

    const COMMANDS: &'static [Command] = &[
        Command {
            noun: "vrf",
            verb: "add",
            usage: "NAME",
            about: "Add a VRF: a routing table of its own for some ports",
            run: vrf_add,
        },
        Command {
            noun: "vrf",
            verb: "del",
            usage: "NAME",
            about: "Remove a VRF that no port and no route names",
            run: vrf_del,
        },
    ];

    fn read(root: &mut TableReader<'_>) -> Self {
        let mut vrfs = Self::default();
        root.each_table("vrf", |name, span, table| match VrfName::from_text(name) {
            Ok(name) => {
                vrfs.insert(name, Vrf);
            }
            Err(refusal) => {
                let message = refusal.message.unwrap_or_default();
                let problem = Problem::new(format!("vrf.{name}"), message);
                table.report().lose_row();
                table.report().push(problem.expected(VrfName::EXPECTED).at(span));
            }
        });
        vrfs
    }

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        if self.len() > MAX_VRFS {
            let problem = Problem::new("vrf", format!("{} VRFs", self.len()));
            report.push(problem.expected(format!("at most {MAX_VRFS}")));
        }
        for (port, row) in config.ports.iter() {
            let underlay = row.kind.ends().and_then(|ends| ends.underlay_vrf.as_ref());
            for (key, vrf) in [("vrf", row.vrf.as_ref()), ("underlay_vrf", underlay)] {
                check_exists(&format!("port.{port}.{key}"), vrf, self, report);
            }
        }
    }

    fn write(&self, writer: &mut Writer) {
        for (name, vrf) in self.iter() {
            let bare = !name.as_str().contains('.');
            let key = if bare { name.to_string() } else { quoted(name.as_str()) };
            writer.section(&format!("[vrf.{key}]"), &vrf.fields());
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Self::delta(old, new)
    }
}

/// Complains about a VRF that is not there.
pub(crate) fn check_exists(field: &str, name: Option<&VrfName>, vrfs: &Vrfs, report: &mut Report) {
    let Some(name) = name.filter(|name| !vrfs.contains(name)) else { return };
    let mut problem = Problem::new(field, format!("there is no VRF `{name}`"));
    problem = match nearest(name.as_str(), vrfs.iter().map(|(name, _)| name.as_str())) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.expected("the name of a VRF"),
    };
    report.push_missing(problem);
}

/// Reads `vrf NAME` where a command has it.
pub(crate) fn take_vrf(words: &mut Words<'_>) -> Result<Option<VrfName>, Problem> {
    if words.take("vrf") { vrf_or_default(words) } else { Ok(None) }
}

/// Reads a VRF's name; `default` is none.
pub(crate) fn vrf_or_default(words: &mut Words<'_>) -> Result<Option<VrfName>, Problem> {
    if words.take(DEFAULT_NAME) { Ok(None) } else { words.next("a VRF name").map(Some) }
}

fn vrf_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: VrfName = words.next("a VRF name")?;
    if config.vrfs.contains(&name) {
        return Err(Problem::new(format!("vrf.{name}"), format!("VRF {name} is there already")));
    }
    config.vrfs.insert(name, Vrf);
    Ok(())
}

fn vrf_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: VrfName = words.next("a VRF name")?;
    match config.vrfs.remove(&name) {
        Some(_) => Ok(()),
        None => Err(Problem::new(format!("vrf.{name}"), format!("there is no VRF `{name}`"))),
    }
}
