//! Ends in containers of a Docker engine: the host's programs and kernel, in control groups,
//! namespaces and a root of their own.
//!
//! ```text
//! ip, ethtool, tc        in the container's network namespace, by the lab: it may nothing itself
//! iperf3, volley-lab     docker exec
//! ```

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use lab_record::axes::Endpoint;

use super::engine::Engine;
use super::site::{Plan, Site};
use crate::Error;
use crate::place::{Inside, Place, Process, child};

/// No two ends of a lab are called the same.
static NEXT: AtomicU32 = AtomicU32::new(0);

pub(super) struct Container;

/// One that runs; it goes with this.
struct Running {
    engine: Arc<Engine>,
    name: String,
    pid: u32,
}

impl Site for Container {
    fn endpoint(&self) -> Endpoint {
        Endpoint::Container
    }

    fn refusal(&self) -> Option<String> {
        Engine::refusal().map(str::to_owned)
    }

    fn place(&self, plan: &Plan<'_>) -> Result<Place, Error> {
        let engine = Engine::shared()?;
        let name = format!("end{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let pid = engine.run(&name)?;
        Place::within(plan.folder, plan.cores, Box::new(Running { engine, name, pid }))?.quiet()
    }
}

impl Inside for Running {
    fn pid(&self) -> u32 {
        self.pid
    }

    fn start(&self, cores: &str, line: &str, out: File) -> Result<Box<dyn Process>, Error> {
        let mut words = self.engine.client();
        words.extend(["exec", "-i", &self.name].map(str::to_owned));
        child(&words, cores, line, out)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that the engine does not know any more has gone.
        let _ = self.engine.says(&["rm", "-f", &self.name]);
    }
}
