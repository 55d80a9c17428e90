//! Many routes at once, a slice at a time: between two slices the control thread does its other work.
//!
//! ```text
//!  control: [slice] turn [slice] turn …      slice ─▶ RIB ─▶ what changed ─▶ forwarding table
//!                                            what does not fit is taken out again
//! ```

use crate::router::Router;
use crate::routing::{Family, LinkOf, Routes, Routing};
use control::bulk::BulkRoute;
use control::engine::EngineError;
use fib::rib::{Source, SourceCount};
use fib::route_file::FilePrefix;
use fib::{FibError, Prefix};

/// Prefixes looked at in one turn of a sweep.
const SWEEP: usize = 512;

impl Router {
    pub(crate) fn add_bulk(
        &mut self,
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
        let (added, outcome) = self.change_routes(|routes, link| {
            let (added4, outcome4) = routes.ip4.add_all(ip4, source, link);
            if outcome4.is_err() {
                return (added4, outcome4);
            }
            let (added6, outcome6) = routes.ip6.add_all(ip6, source, link);
            (added4 + added6, outcome6)
        });
        (added, outcome.map_err(conflict))
    }

    pub(crate) fn sweep_bulk(
        &mut self,
        source: Source,
        from: FilePrefix,
        wanted: &dyn Fn(FilePrefix) -> bool,
    ) -> Result<(usize, Option<FilePrefix>), EngineError> {
        match from {
            FilePrefix::V4(from) => {
                let swept = |routes: &mut Routes, link: LinkOf<'_>| {
                    sweep(
                        &mut routes.ip4,
                        source,
                        from,
                        |prefix| wanted(FilePrefix::V4(prefix)),
                        link,
                    )
                };
                let (removed, next) = self.change_routes(swept).map_err(conflict)?;
                // IPv6 comes after IPv4.
                let next = next.map_or(FilePrefix::V6(Prefix::all()), FilePrefix::V4);
                Ok((removed, Some(next)))
            }
            FilePrefix::V6(from) => {
                let swept = |routes: &mut Routes, link: LinkOf<'_>| {
                    sweep(
                        &mut routes.ip6,
                        source,
                        from,
                        |prefix| wanted(FilePrefix::V6(prefix)),
                        link,
                    )
                };
                let (removed, next) = self.change_routes(swept).map_err(conflict)?;
                Ok((removed, next.map(FilePrefix::V6)))
            }
        }
    }

    pub(crate) fn count_bulk(&self, source: Source) -> SourceCount {
        let (ip4, ip6) = (self.routing.ip4.rib.count(source), self.routing.ip6.rib.count(source));
        SourceCount { routes: ip4.routes + ip6.routes, active: ip4.active + ip6.active }
    }
}

/// Removes what is not wanted of the next [`SWEEP`] routes of `source`; how many, and where to go on.
fn sweep<A: Family>(
    routing: &mut Routing<A>,
    source: Source,
    from: Prefix<A>,
    wanted: impl Fn(Prefix<A>) -> bool,
    link: LinkOf<'_>,
) -> Result<(usize, Option<Prefix<A>>), FibError> {
    let (mut found, next) = routing.rib.of_source(source, from, SWEEP);
    found.retain(|prefix| !wanted(*prefix));
    let (removed, outcome) = routing.remove_all(found, source, link);
    outcome.map(|()| (removed, next))
}

fn conflict(error: FibError) -> EngineError {
    EngineError::Conflict(error.to_string())
}
