//! Routes, written down as they come and go.
//!
//! ```text
//!  RIBs ── journal, each turn ──▶ current log ── more changes than routes? ──▶ another is begun:
//!       └─ walk, a slice a turn ─▶ fresh log ◀── journal, too ──┘        whole, it takes its place
//! ```
//! Both logs are in the order in which things happened, so that the last word on a route is right
//! whenever the walk came by.

use super::protocols::number_of;
use crate::core::Core;
use crate::routing::{Family, VrfRoutes};
use fib::Prefix;
use fib::rib::{NextHop, Route, SharedId, Source, Target, Told};
use fib::route_file::FilePrefix;
use nodes::tables::VrfId;
use state::routes::{Hop, Key, Routes, Writer};
use state::{Keeper, Log, routes};
use std::collections::{HashMap, HashSet};

/// Prefixes that one turn looks at.
const SLICE: usize = 1024;
/// Changes that a log may have beside its routes before another one is begun.
const SPARE: u64 = 1 << 16;

/// Addresses of a family, as routing and as state have them.
pub(super) trait Kept: Family + state::routes::Family {}
impl Kept for u32 {}
impl Kept for u128 {}

/// One log.
struct OneLog {
    writer: Writer,
    which: Log,
    /// What targets are called in it. A port that comes or goes makes others of them.
    targets: HashMap<Target, u32>,
    /// Groups that it tells of.
    groups: HashSet<(bool, u16, u32)>,
}

impl OneLog {
    fn new(writer: Writer, which: Log) -> Self {
        Self { writer, which, targets: HashMap::new(), groups: HashSet::new() }
    }

    /// False if there are more targets than a log may have.
    fn route<A: Kept>(
        &mut self,
        core: &Core,
        vrf: &str,
        (prefix, source): (Prefix<A>, Source),
        route: Option<&Route>,
    ) -> bool {
        let Some(protocol) = number_of(source.protocol) else { return true };
        let Some(vrf) = self.writer.vrf(vrf) else { return false };
        let target = match route {
            Some(route) => match self.target(core, &route.target) {
                Some(target) => Some(target),
                None => return false,
            },
            None => None,
        };
        let (address, length) = (prefix.address(), prefix.length());
        let key = Key { vrf, address, length, preference: source.preference, protocol };
        self.writer.route(key, target);
        true
    }

    fn group<A: Kept>(
        &mut self,
        core: &Core,
        vrf: &str,
        id: SharedId,
        target: Option<&Target>,
    ) -> bool {
        let Some(vrf) = self.writer.vrf(vrf) else { return false };
        self.groups.insert((A::BITS == 128, vrf, id.0));
        let target = match target {
            Some(target) => match self.target(core, target) {
                Some(target) => Some(target),
                None => return false,
            },
            None => None,
        };
        self.writer.group::<A>(vrf, id.0, target);
        true
    }

    fn target(&mut self, core: &Core, target: &Target) -> Option<u32> {
        if let Some(number) = self.targets.get(target) {
            return Some(*number);
        }
        let number = self.writer.target(&kept(core, target))?;
        self.targets.insert(target.clone(), number);
        Some(number)
    }
}

/// A target by names. A port that is gone is none of its ways.
fn kept(core: &Core, target: &Target) -> routes::Target {
    let name = |id: u16| Some(core.ports.owner(id)?.0.as_str().to_owned());
    let hop = |hop: &NextHop| {
        let port = match hop.interface {
            Some(id) => Some(name(id)?),
            None => None,
        };
        Some(Hop { address: hop.address, port, weight: hop.weight })
    };
    match target {
        Target::Via(hops) => routes::Target::Via(hops.iter().filter_map(hop).collect()),
        Target::Shared(id) => routes::Target::Shared(id.0),
        Target::Unreachable => routes::Target::Unreachable,
        Target::Prohibit => routes::Target::Prohibit,
        // Others do not come to the router while it runs.
        Target::Blackhole | Target::Local | Target::Table(_) => routes::Target::Blackhole,
    }
}

/// See the module.
pub(super) struct RouteLog {
    current: Option<OneLog>,
    fresh: Option<(OneLog, Walk)>,
    /// Another is to be begun.
    is_stale: bool,
}

/// How far routes are written anew.
struct Walk {
    vrfs: Vec<VrfId>,
    from: FilePrefix,
}

impl RouteLog {
    /// Goes on with what was read, or begins.
    pub(super) fn new(core: &mut Core, read: Option<(&Routes, usize)>, keeper: &Keeper) -> Self {
        core.routing.keep_journals();
        let current = read.map(|(routes, end)| {
            keeper.go_on(end);
            OneLog::new(Writer::go_on(routes), Log::Current)
        });
        Self { is_stale: current.is_none(), current, fresh: None }
    }

    /// What is written is not all there is, or more.
    pub(super) fn begin_anew(&mut self) {
        self.is_stale = true;
    }

    /// A port came, changed or went.
    pub(super) fn ports_differ(&mut self) {
        for log in self.logs() {
            log.targets.clear();
        }
    }

    fn logs(&mut self) -> impl Iterator<Item = &mut OneLog> {
        self.current.iter_mut().chain(self.fresh.as_mut().map(|(log, _)| log))
    }

    /// Writes what came and went, and a slice of what is written anew; true if there is more.
    pub(super) fn turn(&mut self, core: &mut Core, keeper: &Keeper) -> bool {
        if keeper.take_broken() {
            (self.current, self.fresh, self.is_stale) = (None, None, true);
        }
        self.write_journals(core);
        self.is_stale |= core.routing.take_lost_routes();
        let routes = core.routing.brought() as u64;
        let is_long = |log: &OneLog| log.writer.entries() > routes.saturating_mul(2) + SPARE;
        self.is_stale |= self.fresh.is_none() && self.current.as_ref().is_some_and(is_long);
        if std::mem::take(&mut self.is_stale) {
            keeper.begin();
            let vrfs = core.vrfs.all().collect();
            let walk = Walk { vrfs, from: FilePrefix::first() };
            self.fresh = Some((OneLog::new(Writer::default(), Log::Fresh), walk));
        }
        let more = self.walk(core);
        let mut gave_up = false;
        for log in self.logs() {
            let bytes = log.writer.take();
            gave_up |= !bytes.is_empty() && !keeper.append(log.which, bytes);
        }
        if gave_up {
            return false;
        }
        if !more && let Some((mut log, _)) = self.fresh.take() {
            keeper.commit();
            log.which = Log::Current;
            self.current = Some(log);
        }
        more
    }

    fn write_journals(&mut self, core: &mut Core) {
        let ip4 = core.routing.ip4.take_journals();
        let ip6 = core.routing.ip6.take_journals();
        ip4.into_iter().for_each(|(vrf, told)| self.write_journal(core, vrf, told));
        ip6.into_iter().for_each(|(vrf, told)| self.write_journal(core, vrf, told));
    }

    fn write_journal<A: Kept>(&mut self, core: &Core, vrf: VrfId, told: Vec<Told<A>>) {
        let vrf = core.vrfs.name(vrf);
        let mut fit = true;
        for log in self.logs() {
            for told in &told {
                fit &= match told {
                    Told::Route(prefix, source, route) => {
                        log.route(core, vrf, (*prefix, *source), route.as_ref())
                    }
                    Told::Group(id, target) => log.group::<A>(core, vrf, *id, target.as_ref()),
                };
            }
        }
        // With the numbers of targets that nobody has any more.
        self.is_stale |= !fit;
    }

    /// Writes the next routes of those that are written anew; true if there are more.
    fn walk(&mut self, core: &Core) -> bool {
        let Some((log, walk)) = &mut self.fresh else { return false };
        let Some(vrf) = walk.vrfs.last().copied() else { return false };
        let next = match walk.from {
            FilePrefix::V4(from) => {
                let next = slice(log, core, vrf, core.routing.ip4.vrf(vrf), from);
                Some(next.map_or(FilePrefix::V6(Prefix::all()), FilePrefix::V4))
            }
            FilePrefix::V6(from) => {
                slice(log, core, vrf, core.routing.ip6.vrf(vrf), from).map(FilePrefix::V6)
            }
        };
        if next.is_none() {
            walk.vrfs.pop();
        }
        walk.from = next.unwrap_or(FilePrefix::first());
        !walk.vrfs.is_empty()
    }
}

fn slice<A: Kept>(
    log: &mut OneLog,
    core: &Core,
    vrf: VrfId,
    routes: Option<&VrfRoutes<A>>,
    from: Prefix<A>,
) -> Option<Prefix<A>> {
    let (rib, name) = (&routes?.rib, core.vrfs.name(vrf));
    let (routes, next) = rib.routes_from(from, SLICE);
    for view in routes.filter(|view| view.source.protocol.is_brought()) {
        if let Target::Shared(id) = view.route.target
            && let Some(number) = log.writer.vrf(name)
            && !log.groups.contains(&(A::BITS == 128, number, id.0))
        {
            log.group::<A>(core, name, id, rib.shared_target(id));
        }
        log.route(core, name, (view.prefix, view.source), Some(view.route));
    }
    next
}
