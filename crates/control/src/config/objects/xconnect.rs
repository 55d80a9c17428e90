//! `[[xconnect]]`: two ports wired together; what comes in at one leaves by the other.

use std::collections::HashMap;
use std::fmt;

use super::port::{Port, check_exists};
use super::port_name::PortName;
use super::{Config, Object};
use crate::config::declare::{Declared, object};
use crate::config::field::Field;
use crate::config::host::Host;
use crate::config::info::Info;
use crate::config::key::{Key, field_key};
use crate::config::listed::Listed;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;
use crate::config::write::Fields;

/// Two ports, the lesser name first: a cross-connect has no direction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortPair {
    first: PortName,
    second: PortName,
}

impl PortPair {
    /// The pair of two ports.
    pub fn of(a: PortName, b: PortName) -> Self {
        if a <= b { Self { first: a, second: b } } else { Self { first: b, second: a } }
    }

    /// Both ports.
    pub fn ports(&self) -> [&PortName; 2] {
        [&self.first, &self.second]
    }
}

impl fmt::Display for PortPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.first, self.second)
    }
}

impl Declared for PortPair {
    const ABOUT: &'static str = "Two ports";

    fn read(table: &mut TableReader<'_>) -> Option<Self> {
        if !table.has("ports") {
            table.required::<PortName>("ports");
            return None;
        }
        let given = table.list::<PortName>("ports");
        if let [a, b] = &given[..] {
            return Some(Self::of(a.clone(), b.clone()));
        }
        let problem = Problem::new(table.field("ports"), format!("{} ports", given.len()));
        table.report().push(problem.expected("two port names, as in [\"p0\", \"p1\"]"));
        None
    }

    fn write(&self, fields: Fields) -> Fields {
        fields.list("ports", &self.ports().map(Clone::clone), &[])
    }

    fn paths(&self, _: &mut Vec<std::path::PathBuf>) {}

    fn describe(out: &mut Vec<Info>) {
        let ports =
            Info::new("ports", &["The two"], "peer guest").taking::<PortName>(|words, _| {
                let mut one = || <PortName as Field>::take(words, "a port name");
                Ok(Some(format!("[{}, {}]", one()?, one()?)))
            });
        out.push(Info { word: "port port", is_required: true, is_list: true, ..ports });
    }
}
field_key!(PortPair, 1, |pair| format!("{}+{}", pair.first, pair.second));

object! {
    /// Two ports wired together, both ways
    pub struct Xconnect {}
}

impl Row for Xconnect {
    const KIND: &'static str = "xconnect";
}

/// Cross-connects.
pub type Xconnects = Table<PortPair, Xconnect>;

impl Listed for Xconnect {
    type Key = PortPair;
}

impl Object for Xconnects {
    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let mut used: HashMap<&PortName, &PortPair> = HashMap::new();
        for (pair, _) in self.iter() {
            let field = format!("{}.ports", pair.path(Xconnect::KIND));
            if pair.first == pair.second {
                let message = format!("{} is connected to itself", pair.first);
                report.push(Problem::new(field, message).expected("two different ports"));
                continue;
            }
            for name in pair.ports() {
                check_exists(&field, name, &config.ports, report);
                if let Some(other) = used.insert(name, pair) {
                    let message = format!("{name} is in the xconnect {other} already");
                    report
                        .push(Problem::new(&field, message).expected("each port in one xconnect"));
                }
                let unfit = |port: &Port| port.kind.is_point_to_point() || port.kind.has_remotes();
                if config.ports.get(name).is_some_and(unfit) {
                    let message =
                        format!("{name} carries IP packets, or is a tunnel with several remotes");
                    report.push(
                        Problem::new(&field, message)
                            .expected("a port that carries Ethernet frames"),
                    );
                }
                if config.ports.get(name).is_some_and(|port| port.kind.is_for_copies()) {
                    let message = format!("{name} carries a mirror's copies alone");
                    report.push(
                        Problem::new(&field, message)
                            .expected("a port that carries Ethernet frames"),
                    );
                }
                if let Some(why) = config.ports.get(name).and_then(Port::why_it_routes) {
                    let message = format!("{name} {why} and is in an xconnect");
                    report.push(
                        Problem::new(&field, message)
                            .expected("a port that either routes or is connected through")
                            .help(format!("take that from port.{name}, or remove this xconnect")),
                    );
                }
            }
        }
    }
}
