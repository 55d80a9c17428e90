//! LISP, as people see it.

use super::Lisp;
use super::forwarding::{Use, uses};
use crate::core::Core;
use control::config::objects::vrf::name_of;
use control::view;
use lisp::Origin;
use wire::lisp::{Action, Eid, Locator};

const SECOND: u64 = 1_000_000_000;

impl Lisp {
    pub(crate) fn show(&self, core: &Core) -> view::Lisp {
        let now_ns = core.now_ns();
        let instances = core.ports.iter().filter_map(|(name, port)| {
            let lisp = super::lisp_of(port)?;
            let own = self.eids.keys().filter(|key| key.port == *name);
            let locators = lisp.locators.iter();
            Some(view::LispInstance {
                port: name.to_string(),
                instance_id: lisp.instance_id,
                vrf: name_of(port.config.vrf.as_ref()).to_owned(),
                underlay_vrf: name_of(lisp.underlay_vrf.as_ref()).to_owned(),
                locators: locators.map(|own| own.address.to_string()).collect(),
                eids: own.map(|key| key.prefix.to_string()).collect(),
            })
        });
        let registrations = self.registrar.each().map(|(server, it)| view::LispRegistration {
            server: server.to_string(),
            state: match it.heard_ns {
                _ if !self.own.has_news() => "nothing to tell",
                Some(heard) if now_ns.saturating_sub(heard) < 180 * SECOND => "registered",
                _ if it.tries > 3 => "refused",
                _ => "asking",
            }
            .to_owned(),
            age_s: it.heard_ns.map(|heard| now_ns.saturating_sub(heard) / SECOND),
        });
        let message =
            |(message, count): (&str, u64)| view::LispCount { message: message.to_owned(), count };
        view::Lisp {
            instances: instances.collect(),
            registrations: registrations.collect(),
            pending: self.asker.len() as u64,
            held_packets: self.held.values().map(|held| held.len() as u64).sum(),
            messages: self.told.each().map(message).collect(),
        }
    }

    pub(crate) fn show_cache(&self, core: &Core) -> Vec<view::LispEntry> {
        let now_ns = core.now_ns();
        let is_silent = |locator| self.prober.is_silent(locator);
        let entry = |(eid, origin, entry): (&Eid, Origin, &lisp::Entry)| {
            let (port, link) = self.forwarding.port_of(eid.instance())?;
            let uses = uses(link, entry, core, &is_silent);
            let vrf = core.ports.get(port).and_then(|port| port.config.vrf.as_ref());
            let rlocs = entry.locators.iter().zip(uses);
            Some(view::LispEntry {
                eid: format!("{}/{}", eid.address(), eid.length()),
                instance_id: eid.instance(),
                port: port.to_string(),
                vrf: name_of(vrf).to_owned(),
                origin: match origin {
                    Origin::Static => view::LispOrigin::Static,
                    Origin::Learned => view::LispOrigin::Learned,
                },
                action: match entry.action {
                    _ if !entry.locators.is_empty() => "forward",
                    Action::Native => "native",
                    Action::Ask => "ask",
                    Action::Drop | Action::None => "drop",
                }
                .to_owned(),
                rlocs: rlocs.map(|(locator, of)| rloc(locator, of)).collect(),
                expires_s: entry.expires_ns.map(|at| at.saturating_sub(now_ns) / SECOND),
            })
        };
        self.cache.each().filter_map(entry).collect()
    }

    pub(crate) fn show_sites(&self, core: &Core) -> Vec<view::LispRegistered> {
        let now_ns = core.now_ns();
        let shown = self.server.each().into_iter().map(|it| {
            let (told_by, rlocs, proxy_reply, expires_s) = match it.told {
                Some((by, record, answers, expires)) => (
                    Some(by.to_string()),
                    record.locators.iter().filter_map(|it| it.address).collect(),
                    answers,
                    Some(expires.saturating_sub(now_ns) / SECOND),
                ),
                None => (None, Vec::new(), false, None),
            };
            view::LispRegistered {
                site: it.site,
                eid: format!("{}/{}", it.eid.address(), it.eid.length()),
                instance_id: it.eid.instance(),
                told_by,
                rlocs: rlocs.iter().map(ToString::to_string).collect(),
                proxy_reply,
                expires_s,
            }
        });
        shown.collect()
    }
}

fn rloc(locator: &Locator, of: Use) -> view::LispRloc {
    view::LispRloc {
        address: locator.address.map_or("unknown kind".to_owned(), |it| it.to_string()),
        priority: locator.priority,
        weight: locator.weight,
        state: match of {
            Use::Used => "used",
            Use::Standby => "standby",
            Use::Unused => "unused",
            Use::Unreachable => "unreachable",
            Use::Silent => "silent",
            Use::NoRoute => "no route",
            Use::NoFamily => "no locator of ours",
        }
        .to_owned(),
    }
}
