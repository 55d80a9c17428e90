//! Mirrors: which ports get copies of what others carry.

use crate::interfaces::OpenPort;
use crate::router::Router;
use control::config::objects::mirror::{Direction, Mirror, MirrorName};
use control::config::objects::port::PortName;
use control::view;
use dataplane::MirroredTotals;
use nodes::interface::MirrorTo;
use std::collections::{BTreeMap, HashMap};

/// All mirrors.
#[derive(Default)]
pub(crate) struct Mirroring {
    mirrors: BTreeMap<MirrorName, Mirror>,
}

impl Mirroring {
    /// Makes, changes or removes a mirror.
    pub(crate) fn set(&mut self, name: &MirrorName, config: Option<&Mirror>) {
        match config {
            Some(config) => drop(self.mirrors.insert(name.clone(), config.clone())),
            None => drop(self.mirrors.remove(name)),
        }
    }

    /// Where copies go of what a port carries in a direction.
    pub(crate) fn of(
        &self,
        port: &PortName,
        ids: &HashMap<PortName, u16>,
        direction: Direction,
    ) -> Option<MirrorTo> {
        let copies = |mirror: &&Mirror| {
            let mut sources = mirror.sources.iter();
            sources.any(|source| source.port == *port && source.direction.covers(direction))
        };
        let mirror = self.mirrors.values().find(copies)?;
        ids.get(&mirror.destination).copied().map(MirrorTo)
    }
}

impl Router {
    pub(crate) fn show_mirrors(&self) -> Vec<view::Mirror> {
        let mirrors = self.mirroring.mirrors.iter();
        mirrors
            .map(|(name, mirror)| view::Mirror {
                name: name.to_string(),
                destination: mirror.destination.to_string(),
                sources: mirror
                    .sources
                    .iter()
                    .map(|source| {
                        let now = self.mirrored_since_cleared(&source.port);
                        view::MirrorSource {
                            port: source.port.to_string(),
                            direction: source.direction.word().to_owned(),
                            received: now.received,
                            sent: now.sent,
                            lost: now.lost,
                        }
                    })
                    .collect(),
            })
            .collect()
    }

    /// Copies of a port's frames since counters were cleared, over all its interfaces.
    fn mirrored_since_cleared(&self, port: &PortName) -> MirroredTotals {
        let mut sum = MirroredTotals::default();
        for id in self.ports.get(port).into_iter().flat_map(OpenPort::rows) {
            let now = self.dataplane.mirrored_totals(id);
            let then = self.cleared.mirrored.get(&id).copied().unwrap_or_default();
            sum.received += now.received - then.received;
            sum.sent += now.sent - then.sent;
            sum.lost += now.lost - then.lost;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::config::field::Field;
    use control::config::objects::mirror::Source;

    #[test]
    fn each_direction_of_a_port_has_its_destination() {
        let port = |name: &str| PortName::from_text(name).unwrap();
        let name = |name: &str| MirrorName::from_text(name).unwrap();
        let of = |to: &str, from: &str, direction| Mirror {
            destination: port(to),
            sources: vec![Source { port: port(from), direction }],
        };
        let ids = HashMap::from([(port("a"), 1), (port("b"), 2), (port("c"), 3)]);
        let mut mirroring = Mirroring::default();
        mirroring.set(&name("m"), Some(&of("b", "a", Direction::Received)));
        mirroring.set(&name("n"), Some(&of("c", "a", Direction::Sent)));
        let both = |mirroring: &Mirroring, name: &str| {
            let to = |direction| mirroring.of(&port(name), &ids, direction).map(|to| to.0);
            [Direction::Received, Direction::Sent].map(to)
        };
        assert_eq!(both(&mirroring, "a"), [Some(2), Some(3)]);
        mirroring.set(&name("n"), None);
        assert_eq!(both(&mirroring, "a"), [Some(2), None]);
        assert_eq!(both(&mirroring, "b"), [None, None]);
        mirroring.set(&name("m"), Some(&of("b", "a", Direction::Both)));
        assert_eq!(both(&mirroring, "a"), [Some(2), Some(2)]);
    }
}
