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
