//! Mirrors: which ports get copies of what others carry.

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::{Makes, Part};
use control::config::Delta;
use control::config::objects::mirror::{Direction, Mirror, MirrorName};
use control::config::objects::port::PortName;
use control::engine::ApplyError;
use control::view;
use nodes::interface::{ForCopies, MirrorInput, MirrorOutput, MirrorPart, MirrorParts, MirrorTo};
use nodes::tables::Interface;
use std::collections::BTreeMap;

/// All mirrors.
#[derive(Default)]
pub(crate) struct Mirroring {
    mirrors: BTreeMap<MirrorName, Mirror>,
}

impl Mirroring {
    /// Makes, changes or removes a mirror.
    fn set(&mut self, name: &MirrorName, config: Option<&Mirror>) {
        match config {
            Some(config) => drop(self.mirrors.insert(name.clone(), config.clone())),
            None => drop(self.mirrors.remove(name)),
        }
    }

    /// The mirror that copies what a port carries in a direction.
    fn mirror_of(&self, port: &PortName, direction: Direction) -> Option<&Mirror> {
        let copies = |mirror: &&Mirror| {
            let mut sources = mirror.sources.iter();
            sources.any(|source| source.port == *port && source.direction.covers(direction))
        };
        self.mirrors.values().find(copies)
    }

    /// Where copies go of what a port carries in a direction.
    fn of(
        &self,
        port: &PortName,
        id_of: &dyn Fn(&PortName) -> Option<u16>,
        direction: Direction,
    ) -> Option<MirrorTo> {
        id_of(&self.mirror_of(port, direction)?.destination).map(MirrorTo)
    }

    /// What is copied of the frames of a port.
    fn parts_of(&self, port: &PortName) -> MirrorParts {
        let part = |direction| {
            let mirror = self.mirror_of(port, direction);
            mirror.map_or_else(MirrorPart::default, |mirror| MirrorPart {
                most: mirror.truncate.map_or(u32::MAX, u32::from),
                one_of: mirror.sample,
            })
        };
        MirrorParts { received: part(Direction::Received), sent: part(Direction::Sent) }
    }

    /// Whether copies leave by a port, put into tags or a tunnel.
    fn is_for_copies(&self, name: &PortName, port: &OpenPort) -> bool {
        port.config.kind.is_virtual()
            && self.mirrors.values().any(|mirror| mirror.destination == *name)
    }
}

impl Part for Mirroring {
    fn row(&self, core: &Core, name: &PortName, port: &OpenPort, row: &mut Interface) {
        let to = |direction| self.of(name, &|port| core.ports.id_of(port), direction);
        row.set::<MirrorInput>(to(Direction::Received));
        row.set::<MirrorOutput>(to(Direction::Sent));
        let parts = self.parts_of(name);
        row.put((parts != MirrorParts::default()).then_some(parts));
        row.put(self.is_for_copies(name, port).then_some(ForCopies));
    }
}

impl Makes<Delta<MirrorName, Mirror>> for Mirroring {
    fn make(
        &mut self,
        core: &mut Core,
        change: &Delta<MirrorName, Mirror>,
    ) -> Result<(), ApplyError> {
        let (name, config) = change.outcome();
        self.set(name, config);
        core.touch_rows();
        Ok(())
    }
}

impl Mirroring {
    pub(crate) fn show(&self, core: &Core) -> Vec<view::Mirror> {
        self.mirrors
            .iter()
            .map(|(name, mirror)| view::Mirror {
                name: name.to_string(),
                destination: mirror.destination.to_string(),
                truncate: mirror.truncate,
                sample: mirror.sample,
                sources: mirror
                    .sources
                    .iter()
                    .map(|source| {
                        let now = core.mirrored_since_cleared(&source.port);
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
            sources: vec![Source { port: port(from), direction }],
            truncate: (direction == Direction::Sent).then_some(100),
            sample: if direction == Direction::Sent { 7 } else { 1 },
            ..Mirror::new(port(to))
        };
        let ids = BTreeMap::from([(port("a"), 1), (port("b"), 2), (port("c"), 3)]);
        let id_of = |name: &PortName| ids.get(name).copied();
        let mut mirroring = Mirroring::default();
        mirroring.set(&name("m"), Some(&of("b", "a", Direction::Received)));
        mirroring.set(&name("n"), Some(&of("c", "a", Direction::Sent)));
        let both = |mirroring: &Mirroring, name: &str| {
            let to = |direction| mirroring.of(&port(name), &id_of, direction).map(|to| to.0);
            [Direction::Received, Direction::Sent].map(to)
        };
        assert_eq!(both(&mirroring, "a"), [Some(2), Some(3)]);
        let parts =
            MirrorParts { sent: MirrorPart { most: 100, one_of: 7 }, ..MirrorParts::default() };
        assert_eq!(mirroring.parts_of(&port("a")), parts);
        assert_eq!(mirroring.parts_of(&port("b")), MirrorParts::default());
        mirroring.set(&name("n"), None);
        assert_eq!(both(&mirroring, "a"), [Some(2), None]);
        assert_eq!(both(&mirroring, "b"), [None, None]);
        mirroring.set(&name("m"), Some(&of("b", "a", Direction::Both)));
        assert_eq!(both(&mirroring, "a"), [Some(2), Some(2)]);
    }
}
