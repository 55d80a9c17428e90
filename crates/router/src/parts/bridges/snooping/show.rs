//! What bridges that know who listens are shown as. Workers are told first.

use super::super::Bridges;
use super::{Listening, Snoopings};
use crate::core::Core;
use control::engine::EngineError;
use control::view;
use std::net::IpAddr;

/// What a family's protocol is called.
const PROTOCOLS: [&str; 2] = ["igmp", "mld"];

impl Bridges {
    pub(crate) fn show_snooping(&mut self, core: &mut Core) -> Vec<view::Snooping> {
        self.snooping.publish(core);
        let all = self.snooping.bridges.values();
        all.flat_map(|it| [0, 1].map(|which| it.show(core, which))).collect()
    }

    pub(crate) fn show_groups(
        &mut self,
        core: &mut Core,
        filter: &view::GroupFilter,
    ) -> Result<view::Groups, EngineError> {
        if let Some(name) = filter.bridge.as_deref() {
            self.bridge_id(name)?;
        }
        let group = filter.group.as_deref().map(|text| {
            let wrong = || EngineError::Conflict(format!("{text:?} is not an IP address"));
            text.parse::<IpAddr>().map_err(|_| wrong())
        });
        self.snooping.publish(core);
        Ok(self.snooping.show_groups(core, filter, group.transpose()?))
    }
}

impl Snoopings {
    fn show_groups(
        &self,
        core: &Core,
        filter: &view::GroupFilter,
        only: Option<IpAddr>,
    ) -> view::Groups {
        let limit = filter.limit.unwrap_or(usize::MAX);
        let mut shown = view::Groups::default();
        let is_wanted =
            |it: &&Listening| filter.bridge.as_deref().is_none_or(|name| name == it.name.as_str());
        for listening in self.bridges.values().filter(is_wanted) {
            let mut add = |group: view::Group| {
                shown.total += 1;
                if shown.groups.len() < limit {
                    shown.groups.push(group);
                }
            };
            let fixed = listening.fixed.iter().filter(|it| only.is_none_or(|it_| it_ == it.group));
            fixed.for_each(|it| {
                add(view::Group {
                    bridge: listening.name.to_string(),
                    group: it.group.to_string(),
                    port: it.port.to_string(),
                    remote: None,
                    version: None,
                    left_s: None,
                });
            });
            let learned = listening.families.iter().flat_map(|family| &family.groups);
            for (group, ports) in learned.filter(|(group, _)| only.is_none_or(|it| it == **group)) {
                for (id, membership) in ports {
                    let (port, remote) = place(core, *id);
                    let left_ns = membership.until_ns.saturating_sub(core.now_ns());
                    let lasts = membership.until_ns != u64::MAX;
                    add(view::Group {
                        bridge: listening.name.to_string(),
                        group: group.to_string(),
                        port,
                        remote,
                        version: Some(membership.version),
                        left_s: lasts.then_some(left_ns.div_ceil(1_000_000_000)),
                    });
                }
            }
        }
        shown
    }
}

/// The port of an interface, and which of its remotes it is.
fn place(core: &Core, id: u16) -> (String, Option<String>) {
    let Some((name, port)) = core.port_of(id) else { return ("?".to_owned(), None) };
    let remote = port.remotes.iter().find(|(_, remote)| remote.id == id);
    (name.to_string(), remote.map(|(to, _)| to.to_string()))
}

impl Listening {
    fn show(&self, core: &Core, which: usize) -> view::Snooping {
        let family = &self.families[which];
        let groups = self.groups(core);
        view::Snooping {
            bridge: self.name.to_string(),
            protocol: PROTOCOLS[which].to_owned(),
            active: family.is_asked,
            asks: family.asks(),
            querier: family.querier.map(|it| it.address.to_string()),
            querier_port: family.querier.map(|it| place(core, it.port).0),
            routers: self.routers(core, family).into_iter().map(|id| place(core, id).0).collect(),
            groups: groups.keys().filter(|group| usize::from(group.is_ipv6()) == which).count(),
            groups_limit: self.config.groups_limit,
            reports: family.reports,
            questions: family.questions,
            asked: self.asked[which],
            refused: family.refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::part::Hears;
    use crate::router::Router;
    use control::config::field::Field;
    use control::config::objects::port::PortName;
    use control::config::{Config, Host, Source, parse};
    use nodes::tables::GroupsSaid;
    use std::sync::Arc;
    use wire::{checksum, craft, igmp, ip};

    const TEXT: &str = "workers = { mode = \"single-thread\" }\n\
        memory = { buffers = 4096, hugepages = \"never\" }\n\
        port.p1 = { kind = \"memory\" }\n\
        port.p2 = { kind = \"memory\" }\n\
        bridge.lan = { ports = [\"p1\", \"p2\"], snooping = {} }\n";
    const GROUP: [u8; 4] = [239, 1, 1, 1];

    /// `p1` says that it listens to the group.
    fn join(router: &mut Router) {
        let mut report = [&[igmp::message::REPORT2, 0, 0, 0][..], &GROUP].concat();
        let sum = checksum::of(&report).to_be_bytes();
        report[2..4].copy_from_slice(&sum);
        let frame = craft::ethernet([2, 0, 0, 0, 0, 9], [1, 0, 0x5e, 1, 1, 1])
            .ipv4([10, 0, 9, 1], GROUP)
            .ttl(1)
            .protocol(ip::protocol::IGMP)
            .payload(&report)
            .build();
        let port = PortName::from_text("p1").unwrap();
        let interface = router.core.ports.id_of(&port).unwrap();
        let packet = router.core.pool.cache().copy_of(&frame).unwrap();
        let bridge = *router.parts.bridges.snooping.bridges.keys().next().unwrap();
        router.parts.bridges.hear(&mut router.core, GroupsSaid { bridge, interface, packet });
    }

    #[test]
    fn who_is_shown_to_listen_is_known_to_workers() {
        let config = parse(&Source::new("router.toml", TEXT), &Host::any()).unwrap();
        let mut router = Router::start(&config, Arc::new(|| ())).unwrap();
        router.apply_all(&Config::diff(&Config::default(), &config)).unwrap();
        router.turn();
        join(&mut router);
        let shown = router.parts.bridges.show_groups(&mut router.core, &Default::default());
        let shown = shown.unwrap().groups;
        let shown: Vec<_> = shown.iter().map(|it| (&*it.group, &*it.port)).collect();
        assert_eq!(shown, [("239.1.1.1", "p1")]);
        let now_ns = router.core.now_ns();
        let families = router.parts.bridges.snooping.bridges.values_mut();
        let mut families = families.flat_map(|it| &mut it.families);
        assert!(!families.any(|family| family.take_change(now_ns)), "something is untold");
    }
}
