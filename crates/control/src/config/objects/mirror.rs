//! `[mirror.NAME]`: copies of what ports receive or send leave by another port as well, for who
//! listens there.
//!
//! ```text
//!  source ── what it receives, sends, or both ──▶ destination, which carries nothing else:
//!            a port        as they are
//!            a VLAN        with its tag: through switches to who listens (RSPAN)
//!            gre, vxlan    in a tunnel of frames
//!            erspan        in a tunnel that tells session, VLAN and number
//! ```

use std::collections::{HashMap, HashSet};

use super::name::name_field;
use super::port::check_exists;
use super::port_kind::PortKind;
use super::port_kind::vlan::Vid;
use super::port_name::PortName;
use super::{Config, Object};
use crate::config::declare::{as_field, object};
use crate::config::field::word_field;
use crate::config::host::Host;
use crate::config::listed::Listed;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::table::Table;

name_field! {
    /// A mirror's name.
    MirrorName = "a mirror name" of "mirror"
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

object! {
    /// A port whose frames are copied
    pub struct Source {
        /// Which port
        pub port: PortName as "lan",
        /// Which of its frames
        pub direction: Direction as "rx" = Direction::Both,
    }
    also {
        "rx": direction = "\"rx\"", "tx": direction = "\"tx\"", "both": direction = "\"both\"",
    }
}
as_field!(Source or port: PortName => Source::new);

object! {
    /// What some ports carry leaves by another port, too, which carries nothing else
    pub struct Mirror {
        /// Where the copies leave
        pub destination: PortName as "spy",
        /// Whose frames are copied
        pub sources: Vec<Source> as "lan rx" = Vec::new(),
        /// Octets of each frame that are copied at most; all when left out
        pub truncate: Option<u16> as "128" [LEAST_TRUNCATED..=MOST_TRUNCATED] = None,
        /// One of so many frames is copied, of each worker and source
        pub sample: u32 [1..=MOST_SAMPLED] = 1,
    }
    by { "to": destination, "from": sources }
}

/// Octets of the shortest copy: a whole frame that is no longer than any must be.
const LEAST_TRUNCATED: u16 = 60;
/// Of the longest: no frame is longer.
const MOST_TRUNCATED: u16 = 9_238;
/// The fewest frames that are copied.
const MOST_SAMPLED: u32 = 1_000_000;

impl Direction {
    /// Both directions, of which it may mean one.
    const EACH: [Self; 2] = [Self::Received, Self::Sent];

    /// True if it is, or contains, `other`.
    pub fn covers(self, other: Self) -> bool {
        self == other || self == Self::Both
    }
}

impl Mirror {
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
        } else if !takes_copies(&port.kind) {
            match &port.kind {
                PortKind::Vlan(_) => "has no tag of its own to put on copies",
                PortKind::Bvi => "is the router's own station in a bridge",
                kind if kind.has_remotes() => "has several other ends: copies go to one",
                _ => "carries IP packets, not Ethernet frames",
            }
        } else if port.has_addresses() {
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
        report.push(problem.expected("a port, a VLAN or a tunnel that nothing else uses"));
    }
}

/// Whether copies may leave by a port of a kind.
fn takes_copies(kind: &PortKind) -> bool {
    match kind {
        PortKind::Vlan(vlan) => matches!(vlan.vlan, Vid::Exact(_)) && vlan.inner != Some(Vid::Any),
        PortKind::Bvi => false,
        kind => !kind.is_point_to_point() && !kind.has_remotes(),
    }
}

impl Row for Mirror {
    const KIND: &'static str = "mirror";
}

/// Mirrors by name.
pub type Mirrors = Table<MirrorName, Mirror>;

impl Listed for Mirror {
    type Key = MirrorName;
}

impl Object for Mirrors {
    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let mut copied: HashMap<(&PortName, &str), &MirrorName> = HashMap::new();
        for (name, mirror) in self.iter() {
            let field = format!("mirror.{name}");
            mirror.check_destination(&field, config, report);
            if mirror.sources.is_empty() {
                let problem = Problem::new(format!("{field}.sources"), "the mirror has no sources");
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
                if kind.is_some_and(PortKind::is_for_copies) {
                    let message =
                        format!("{port} carries a mirror's copies alone: they would be copied");
                    report.push(Problem::new(&field, message).expected("another port"));
                }
                if kind.is_some_and(PortKind::is_point_to_point) {
                    let message = format!("{port} carries IP packets, not Ethernet frames");
                    report.push(
                        Problem::new(&field, message)
                            .expected("a port that carries Ethernet frames"),
                    );
                }
                if !named.insert(port) {
                    let problem = Problem::new(&field, format!("{port} is listed twice"));
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
}
