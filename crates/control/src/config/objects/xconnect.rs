//! `[[xconnect]]`: two ports wired together; what comes in at one leaves by the other.

use std::collections::HashMap;
use std::fmt;

use super::port::{Port, PortName, check_exists};
use super::{Config, Object};
use crate::config::edit::{Command, Words};
use crate::config::host::Host;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::table::{Delta, Row, Table};
use crate::config::write::{Fields, Writer};

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

/// A cross-connect: all there is to it is its key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Xconnect;

impl Row for Xconnect {
    const KIND: &'static str = "xconnect";

    fn fields(&self) -> Fields {
        Fields::new()
    }
}

/// Cross-connects.
pub type Xconnects = Table<PortPair, Xconnect>;

impl Object for Xconnects {
    type Change = Delta<PortPair, Xconnect>;

    const COMMANDS: &'static [Command] = &[
        Command {
            noun: "xconnect",
            verb: "add",
            usage: "PORT PORT",
            about: "Wire two ports together",
            run: xconnect_add,
        },
        Command {
            noun: "xconnect",
            verb: "del",
            usage: "PORT PORT",
            about: "Take two ports apart",
            run: xconnect_del,
        },
    ];

    fn read(root: &mut TableReader<'_>) -> Self {
        let mut xconnects = Self::default();
        root.each_item("xconnect", |table| {
            if !table.has("ports") {
                table.required::<PortName>("ports");
                return;
            }
            let given = table.list::<PortName>("ports");
            let [a, b] = &given[..] else {
                let message = format!("{} ports", given.len());
                let problem = Problem::new(table.field("ports"), message)
                    .expected("two port names, as in [\"p0\", \"p1\"]");
                table.report().push(problem);
                return;
            };
            let pair = PortPair::of(a.clone(), b.clone());
            table.rename(field_of(&pair));
            if xconnects.insert(pair, Xconnect).is_some() {
                let problem =
                    Problem::new(table.field("ports"), "the same xconnect stands here twice");
                table.report().push(problem.expected("each pair once"));
            }
        });
        xconnects
    }

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let mut used: HashMap<&PortName, &PortPair> = HashMap::new();
        for (pair, _) in self.iter() {
            let field = format!("{}.ports", field_of(pair));
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
                    let message = format!("{name} carries packets, or has several other ends");
                    report.push(Problem::new(&field, message).expected("a port of frames"));
                }
                let routed = config.ports.get(name).is_some_and(Port::has_addresses);
                if routed {
                    let message = format!("{name} has addresses and is in an xconnect");
                    report.push(
                        Problem::new(&field, message)
                            .expected("a port that either routes or is connected through")
                            .help(format!("remove port.{name}.addresses or this xconnect")),
                    );
                }
            }
        }
    }

    fn write(&self, writer: &mut Writer) {
        for (pair, _) in self.iter() {
            let ports = [pair.first.clone(), pair.second.clone()];
            writer.section("[[xconnect]]", &Fields::new().list("ports", &ports));
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Self::delta(old, new)
    }
}

fn field_of(pair: &PortPair) -> String {
    format!("xconnect.{}+{}", pair.first, pair.second)
}

fn xconnect_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let pair = PortPair::of(words.next("a port name")?, words.next("a port name")?);
    config.xconnects.insert(pair, Xconnect);
    Ok(())
}

fn xconnect_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let pair = PortPair::of(words.next("a port name")?, words.next("a port name")?);
    match config.xconnects.remove(&pair) {
        Some(_) => Ok(()),
        None => Err(Problem::new(field_of(&pair), format!("there is no xconnect {pair}"))),
    }
}
