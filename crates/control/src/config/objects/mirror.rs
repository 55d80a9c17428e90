//! `[mirror.NAME]`: copies of what ports receive or send leave by another port as well, for who
//! listens there.
//!
//! ```text
//!  source ── what it receives, sends, or both ──▶ destination: a port that carries nothing else
//! ```

use std::collections::{HashMap, HashSet};

use toml::de::DeValue;

use super::name::name_field;
use super::port::{PortName, check_exists};
use super::port_kind::PortKind;
use super::{Config, Object};
use crate::config::edit::{Command, Words};
use crate::config::field::{Field, word_field};
use crate::config::host::Host;
use crate::config::read::{TableReader, read_table, read_value};
use crate::config::report::{Problem, Report};
use crate::config::table::{Delta, Row, Table};
use crate::config::write::{Fields, Writer, quoted};

name_field! {
    /// A mirror's name.
    MirrorName = "mirror"
}

word_field! {
    /// Which of a source's frames are copied.
    Direction {
        /// What it receives.
        Received = "rx",
        /// What it sends.
        Sent = "tx",
        /// All.
        Both = "both",
    }
}

/// A port whose frames are copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Which.
    pub port: PortName,
    /// Which of its frames.
    pub direction: Direction,
}

/// A mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// Where the copies leave.
    pub destination: PortName,
    /// Whose frames are copied.
    pub sources: Vec<Source>,
}

impl Direction {
    /// Both directions, of which it may mean one.
    const EACH: [Self; 2] = [Self::Received, Self::Sent];

    /// True if it is, or contains, `other`.
    pub fn covers(self, other: Self) -> bool {
        self == other || self == Self::Both
    }
}

impl Source {
    fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let port = table.required("port");
        let direction = table.or("direction", Direction::Both);
        Some(Self { port: port?, direction })
    }

    fn to_toml(&self) -> String {
        match self.direction {
            Direction::Both => self.port.to_toml(),
            _ => Fields::new().with("port", &self.port).with("direction", &self.direction).inline(),
        }
    }
}

impl Mirror {
    fn read(table: &mut TableReader<'_>) -> Option<Self> {
        let destination = table.required("destination");
        let sources = read_sources(table);
        Some(Self { destination: destination?, sources })
    }

    fn check_destination(&self, field: &str, config: &Config, report: &mut Report) {
        let name = &self.destination;
        let field = format!("{field}.destination");
        check_exists(&field, name, &config.ports, report);
        let Some(port) = config.ports.get(name) else { return };
        let is_parent =
            |kind: &PortKind| matches!(kind, PortKind::Vlan(vlan) if vlan.parent == *name);
        let mut sources = config.mirrors.iter().flat_map(|(_, mirror)| &mirror.sources);
        let wrong = if sources.any(|source| source.port == *name) {
            "is mirrored itself: its copies would be copied"
        } else if port.kind.is_virtual() {
            "stands on other ports: copies would pass those"
        } else if !port.addresses.is_empty() {
            "has addresses: it carries packets of its own"
        } else if config.bridges.iter().any(|(_, bridge)| bridge.member(name).is_some()) {
            "is in a bridge: it carries frames of its own"
        } else if config.xconnects.iter().any(|(pair, _)| pair.ports().contains(&name)) {
            "is in an xconnect: it carries frames of its own"
        } else if config.ports.iter().any(|(_, other)| is_parent(&other.kind)) {
            "has sub-interfaces: it carries frames of their own"
        } else {
            return;
        };
        let problem = Problem::new(field, format!("{name} {wrong}"));
        report.push(problem.expected("a port with a device that nothing else uses"));
    }
}

fn read_sources(table: &mut TableReader<'_>) -> Vec<Source> {
    let Some(value) = table.value("sources") else { return Vec::new() };
    let field = table.field("sources");
    let report = table.report();
    let items = match value.get_ref() {
        DeValue::Array(items) => items.iter().collect(),
        _ => vec![value],
    };
    let mut sources = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let field = format!("{field}[{index}]");
        report.place(&field, item.span());
        let both = |port| Source { port, direction: Direction::Both };
        sources.extend(match item.get_ref() {
            DeValue::Table(_) => read_table(item, field, report, Source::read).flatten(),
            _ => read_value(item, &field, report).map(both),
        });
    }
    sources
}

impl Row for Mirror {
    const KIND: &'static str = "mirror";

    fn fields(&self) -> Fields {
        let sources: Vec<String> = self.sources.iter().map(Source::to_toml).collect();
        let fields = Fields::new().with("destination", &self.destination);
        fields.raw("sources", format!("[{}]", sources.join(", ")))
    }
}

/// Mirrors by name.
pub type Mirrors = Table<MirrorName, Mirror>;

impl Object for Mirrors {
    type Change = Delta<MirrorName, Mirror>;

    const COMMANDS: &'static [Command] = &[
        Command {
            noun: "mirror",
            verb: "add",
            usage: "NAME to PORT [from PORT [rx|tx|both]]...",
            about: "Have what ports receive or send leave by another port as well",
            run: mirror_add,
        },
        Command {
            noun: "mirror",
            verb: "del",
            usage: "NAME",
            about: "Copy no more",
            run: mirror_del,
        },
    ];

    fn read(root: &mut TableReader<'_>) -> Self {
        let mut mirrors = Self::default();
        root.each_table("mirror", |name, span, table| {
            let mirror = Mirror::read(table);
            match (MirrorName::from_text(name), mirror) {
                (Ok(name), Some(mirror)) => {
                    mirrors.insert(name, mirror);
                }
                (Ok(_), None) => {}
                (Err(refusal), _) => table.report().push(
                    Problem::new(format!("mirror.{name}"), refusal.message.unwrap_or_default())
                        .expected(MirrorName::EXPECTED)
                        .at(span),
                ),
            }
        });
        mirrors
    }

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let mut copied: HashMap<(&PortName, &str), &MirrorName> = HashMap::new();
        for (name, mirror) in self.iter() {
            let field = format!("mirror.{name}");
            mirror.check_destination(&field, config, report);
            if mirror.sources.is_empty() {
                let problem = Problem::new(format!("{field}.sources"), "it copies nothing");
                report.push(problem.expected("the ports whose frames are copied"));
            }
            let mut named = HashSet::new();
            for (index, source) in mirror.sources.iter().enumerate() {
                let (field, port) = (format!("{field}.sources[{index}]"), &source.port);
                check_exists(&field, port, &config.ports, report);
                let kind = config.ports.get(port).map(|port| &port.kind);
                if kind == Some(&PortKind::Bvi) {
                    let message = format!("{port} is the router's own station in a bridge");
                    let problem = Problem::new(&field, message);
                    report.push(problem.expected("the bridge's ports"));
                }
                if kind.is_some_and(PortKind::is_point_to_point) {
                    let message = format!("{port} carries packets, not frames");
                    report.push(Problem::new(&field, message).expected("a port of frames"));
                }
                if !named.insert(port) {
                    let problem = Problem::new(&field, format!("{port} stands here twice"));
                    report.push(problem.expected("each source once, with `direction`"));
                    continue;
                }
                for direction in Direction::EACH {
                    if !source.direction.covers(direction) {
                        continue;
                    }
                    if let Some(other) = copied.insert((port, direction.word()), name) {
                        let word = direction.word();
                        let message = format!("{port} {word} is copied by mirror {other} already");
                        report.push(
                            Problem::new(&field, message).expected("each port in one mirror"),
                        );
                    }
                }
            }
        }
    }

    fn write(&self, writer: &mut Writer) {
        for (name, mirror) in self.iter() {
            let bare = !name.as_str().contains('.');
            let key = if bare { name.to_string() } else { quoted(name.as_str()) };
            writer.section(&format!("[mirror.{key}]"), &mirror.fields());
        }
    }

    fn diff(old: &Self, new: &Self) -> Vec<Self::Change> {
        Self::delta(old, new)
    }
}

fn mirror_add(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: MirrorName = words.next("a mirror name")?;
    words.must("to")?;
    let destination = words.next("a port name")?;
    let mut sources = Vec::new();
    while words.take("from") {
        let port = words.next("a port name")?;
        let taken = [Direction::Received, Direction::Sent, Direction::Both]
            .into_iter()
            .find(|direction| words.take(direction.word()));
        sources.push(Source { port, direction: taken.unwrap_or(Direction::Both) });
    }
    if config.mirrors.contains(&name) {
        let message = format!("mirror {name} is there already");
        return Err(Problem::new(format!("mirror.{name}"), message));
    }
    config.mirrors.insert(name, Mirror { destination, sources });
    Ok(())
}

fn mirror_del(config: &mut Config, words: &mut Words<'_>) -> Result<(), Problem> {
    let name: MirrorName = words.next("a mirror name")?;
    match config.mirrors.remove(&name) {
        Some(_) => Ok(()),
        None => Err(Problem::new("mirror", format!("there is no mirror `{name}`"))),
    }
}
