//! Many routes at once, a slice at a time: between two slices the control thread does its other
//! work.
//!
//! ```text
//!  control: [slice] turn [slice] turn …      slice ─▶ RIB ─▶ what changed ─▶ forwarding table
//!                                            what does not fit is taken out again
//! ```

use crate::core::Core;
use crate::routing::{Family, InVrf, LinkOf, Routes, VrfRoutes};
use control::bulk::BulkRoute;
use control::engine::EngineError;
use fib::rib::{Route, Source, SourceCount};
use fib::route_file::FilePrefix;
use fib::{FibError, Prefix};
use nodes::tables::VrfId;

/// Prefixes looked at in one turn of a sweep.
const SWEEP: usize = 512;

/// Adds routes of a source to a VRF; says how many.
pub(crate) fn add(
    core: &mut Core,
    vrf: VrfId,
    source: Source,
    routes: Vec<BulkRoute>,
) -> (usize, Result<(), EngineError>) {
    let (mut ip4, mut ip6) = (Vec::with_capacity(routes.len()), Vec::new());
    for (prefix, route) in routes {
        match prefix {
            FilePrefix::V4(prefix) => ip4.push((prefix, route)),
            FilePrefix::V6(prefix) => ip6.push((prefix, route)),
        }
    }
    let (added, outcome) = core.change_routes(|routes, link| {
        let (added4, outcome4) = add_to(routes.ip4.in_vrf(vrf, link), ip4, source);
        if outcome4.is_err() {
            return (added4, outcome4);
        }
        let (added6, outcome6) = add_to(routes.ip6.in_vrf(vrf, link), ip6, source);
        (added4 + added6, outcome6)
    });
    (added, outcome.map_err(conflict))
}

/// Removes what is not wanted of the next routes of a source; how many, and where to go on.
pub(crate) fn sweep(
    core: &mut Core,
    vrf: VrfId,
    source: Source,
    from: FilePrefix,
    wanted: &dyn Fn(FilePrefix) -> bool,
) -> Result<(usize, Option<FilePrefix>), EngineError> {
    match from {
        FilePrefix::V4(from) => {
            let swept = |routes: &mut Routes, link: LinkOf<'_>| {
                let wanted = |prefix| wanted(FilePrefix::V4(prefix));
                sweep_in(routes.ip4.in_vrf(vrf, link), source, from, wanted)
            };
            let (removed, next) = core.change_routes(swept).map_err(conflict)?;
            // IPv6 comes after IPv4.
            let next = next.map_or(FilePrefix::V6(Prefix::all()), FilePrefix::V4);
            Ok((removed, Some(next)))
        }
        FilePrefix::V6(from) => {
            let swept = |routes: &mut Routes, link: LinkOf<'_>| {
                let wanted = |prefix| wanted(FilePrefix::V6(prefix));
                sweep_in(routes.ip6.in_vrf(vrf, link), source, from, wanted)
            };
            let (removed, next) = core.change_routes(swept).map_err(conflict)?;
            Ok((removed, next.map(FilePrefix::V6)))
        }
    }
}

/// How many routes of a source there are in a VRF.
pub(crate) fn count(core: &Core, vrf: VrfId, source: Source) -> SourceCount {
    let ip4 = count_in(core.routing.ip4.vrf(vrf), source);
    let ip6 = count_in(core.routing.ip6.vrf(vrf), source);
    SourceCount { routes: ip4.routes + ip6.routes, active: ip4.active + ip6.active }
}

fn count_in<A: Family>(routes: Option<&VrfRoutes<A>>, source: Source) -> SourceCount {
    routes.map_or_else(SourceCount::default, |routes| routes.rib.count(source))
}

/// Adds routes to a VRF; none if it is gone meanwhile.
fn add_to<A: Family>(
    routes: Option<InVrf<'_, A>>,
    new: Vec<(Prefix<A>, Route)>,
    source: Source,
) -> (usize, Result<(), FibError>) {
    routes.map_or((0, Ok(())), |mut routes| routes.add_all(new, source))
}

/// Removes what is not wanted of the next [`SWEEP`] routes of `source`; how many, and where to go
/// on.
fn sweep_in<A: Family>(
    routes: Option<InVrf<'_, A>>,
    source: Source,
    from: Prefix<A>,
    wanted: impl Fn(Prefix<A>) -> bool,
) -> Result<(usize, Option<Prefix<A>>), FibError> {
    let Some(mut vrf) = routes else { return Ok((0, None)) };
    let (mut found, next) = vrf.routes.rib.of_source(source, from, SWEEP);
    found.retain(|prefix| !wanted(*prefix));
    let (removed, outcome) = vrf.remove_all(found, source);
    outcome.map(|()| (removed, next))
}

fn conflict(error: FibError) -> EngineError {
    EngineError::Conflict(error.to_string())
}
