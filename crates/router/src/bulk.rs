//! Many routes at once, a slice at a time: between two slices the control thread does its other work.
//!
//! ```text
//!  control: [slice] turn [slice] turn …      slice ─▶ RIB ─▶ what changed ─▶ forwarding table
//!                                            what does not fit is taken out again
//! ```

use crate::router::Router;
use control::bulk::BulkRoute;
use control::engine::EngineError;
use fib::FibError;
use fib::rib::{Source, SourceCount};
use fib::route_file::FilePrefix;

/// Prefixes looked at in one turn of a sweep.
const SWEEP: usize = 512;

impl Router {
    pub(crate) fn add_bulk(
        &mut self,
        source: Source,
        routes: Vec<BulkRoute>,
    ) -> (usize, Result<(), EngineError>) {
        let mut ip4 = Vec::with_capacity(routes.len());
        for (prefix, route) in routes {
            match prefix {
                FilePrefix::V4(prefix) => ip4.push((prefix, route)),
                FilePrefix::V6(prefix) => {
                    let refusal = format!("{prefix}: IPv6 is not forwarded by this version");
                    return (0, Err(EngineError::Conflict(refusal)));
                }
            }
        }
        let (added, outcome) =
            self.change_routes(|routing, link| routing.add_all(ip4, source, link));
        (added, outcome.map_err(conflict))
    }

    pub(crate) fn sweep_bulk(
        &mut self,
        source: Source,
        from: FilePrefix,
        wanted: &dyn Fn(FilePrefix) -> bool,
    ) -> Result<(usize, Option<FilePrefix>), EngineError> {
        let FilePrefix::V4(from) = from else { return Ok((0, None)) };
        let (mut found, next) = self.routing.rib.of_source(source, from, SWEEP);
        found.retain(|prefix| !wanted(FilePrefix::V4(*prefix)));
        let (removed, outcome) =
            self.change_routes(|routing, link| routing.remove_all(found, source, link));
        outcome.map_err(conflict)?;
        Ok((removed, next.map(FilePrefix::V4)))
    }

    pub(crate) fn count_bulk(&self, source: Source) -> SourceCount {
        self.routing.rib.count(source)
    }
}

fn conflict(error: FibError) -> EngineError {
    EngineError::Conflict(error.to_string())
}
